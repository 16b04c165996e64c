"""The SDK's transport over HTTP. One manager serves all requests that stand alone, as since protocol 2026-07-28.

A request of an older protocol starts tasks. Each gets a new manager, so that its tasks end with it and can't disturb
another request.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import Receive, Scope, Send

from hearthpay.http.json_body import LARGEST_BODY

_VERSION_HEADER: Final = b"mcp-protocol-version"


class Transport:
    """Passes requests on to the SDK's server; keeps nothing of them."""

    def __init__(self, server: Server[Any]) -> None:
        self._server: Final = server
        self._shared: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whose body the SDK reads from `receive`."""
        if stands_alone(scope):
            manager = await self._running_manager()
            await manager.handle_request(scope, receive, send)
            return
        manager = self._new_manager()
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    async def _running_manager(self) -> StreamableHTTPSessionManager:
        loop = asyncio.get_running_loop()
        if (
            self._shared is None
            or self._keeper is None
            or self._keeper.done()
            or self._shared.get_loop() != loop
        ):
            self._shared = loop.create_future()
            self._keeper = asyncio.create_task(self._keep(self._shared), name="hearthpay-mcp")
        # Shielded: a request that is canceled while it waits must not cancel the future for the others.
        return self._shared.result() if self._shared.done() else await asyncio.shield(self._shared)

    async def _keep(self, started: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        """Run a manager until the loop ends: the SDK starts and stops it in one task."""
        manager = self._new_manager()
        async with manager.run():
            started.set_result(manager)
            await asyncio.Event().wait()

    def _new_manager(self) -> StreamableHTTPSessionManager:
        return StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=LARGEST_BODY
        )


def stands_alone(scope: Scope) -> bool:
    """Return whether the request names a protocol whose requests need no introduction before them."""
    for name, value in scope["headers"]:
        if name == _VERSION_HEADER:
            return value.decode("latin-1") not in HANDSHAKE_PROTOCOL_VERSIONS
    return False
