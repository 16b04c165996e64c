"""`hearthpay mcp`: the tools over standard input and output, for an agent on the same machine.

It needs the API's address and a key, and nothing else of an installation: no database, no data directory. Slow
imports are in `main`.
"""

from __future__ import annotations

import asyncio
import gc
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hearthpay.mcp.http_caller import HttpCaller
    from hearthpay.mcp.server import Context


def main() -> None:
    """Serve until standard input ends."""
    gc.disable()  # nothing of what is imported becomes garbage, and looking for it would take a tenth of the start
    from hearthpay.mcp import http_caller, server  # noqa: F401 - imported while nothing is collected

    gc.freeze()
    gc.enable()
    asyncio.run(_serve())


async def _serve() -> None:
    from mcp.server.stdio import stdio_server

    from hearthpay.mcp.http_caller import ApiEndpoint, HttpCaller
    from hearthpay.mcp.server import agents_server, client_of

    connection = ApiEndpoint.of(os.environ)
    callers: dict[str | None, HttpCaller] = {}

    def caller_of(context: Context) -> HttpCaller:
        client = _plain(client_of(context))
        return callers.setdefault(client, HttpCaller(connection, client))

    server = agents_server(caller_of)
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        for caller in callers.values():
            await caller.close()


def _plain(name: str | None) -> str | None:
    """Return a client's name in a form that a header can carry."""
    if name is None:
        return None
    return "".join(
        each if each.isascii() and each.isprintable() and each not in "()" else "_" for each in name
    )
