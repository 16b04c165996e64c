"""Sees to it that nobody waits for another server while holding a connection to the database.

Every transaction of ours is counted in the context of its task, which tasks begun within it inherit. Whoever opens a
connection to another server then (mail, bank, rate limits: all use the event loop's), or speaks to a bank's gateway,
fails on the spot.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.gateways.gateway import DirectoryGateway
from hearthpay.database.session import Database, Tenant
from hearthpay.mail.mailer import Mailer

_HELD: ContextVar[int] = ContextVar("connections held", default=0)

ELSEWHERE: tuple[tuple[type, str], ...] = (
    (asyncio.BaseEventLoop, "create_connection"),
    (Mailer, "send"),
    (DirectoryGateway, "pick_up"),
    (DirectoryGateway, "acknowledge"),
    (DirectoryGateway, "deliver"),
)
"""Every way to another server."""


class ConnectionHeldError(AssertionError):
    """Another server was turned to within a transaction."""


@contextmanager
def nobody_waits_holding_a_connection() -> Iterator[None]:
    """Raise ConnectionHeldError, for the length of the block, where another server is turned to in a transaction."""
    entered = Database.transaction

    @asynccontextmanager
    async def counted(database: Database, tenant: Tenant | None) -> AsyncIterator[AsyncSession]:
        _HELD.set(_HELD.get() + 1)
        try:
            async with entered(database, tenant) as session:
                yield session
        finally:
            _HELD.set(_HELD.get() - 1)

    def guarded(name: str, way: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(way)
        def turned_to(*args: Any, **kwargs: Any) -> Any:
            if _HELD.get():
                raise ConnectionHeldError(f"{name} was called within a transaction")
            return way(*args, **kwargs)

        return turned_to

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "transaction", counted)
        for owner, name in ELSEWHERE:
            patch.setattr(owner, name, guarded(f"{owner.__name__}.{name}", getattr(owner, name)))
        yield
