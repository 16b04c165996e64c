"""Delivers files to a folder until it is killed: `python -m tests.banking.deliverer BASE FIRST`."""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from pathlib import Path

from hearthpay.banking.gateways.folder import folder_gateway


def content_of(number: int) -> bytes:
    """The content of a file, another for each and long enough to be cut."""
    return f"{number:09}\n".encode() * 40_000


async def deliver_from(base: Path, first: int) -> None:
    gateway = folder_gateway(base)
    for number in count(first):
        await gateway.deliver(f"file-{number}.ach", content_of(number))
        print(number, flush=True)


if __name__ == "__main__":
    asyncio.run(deliver_from(Path(sys.argv[1]), int(sys.argv[2])))
