"""A fair share of the service for every organization: a limit on its concurrent requests.

The rest of them wait their turn. A client that sends a hundred at once slows down only itself, and holds no more
database connections than its share.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from hearthpay.access.refusal import Refusal

SHARE_VARIABLE: Final = "HEARTHPAY_REQUESTS_AT_ONCE"
USUAL_SHARE: Final = 4
LONGEST_QUEUE: Final = 200
WAIT_AT_MOST: Final = 20.0
"""The most seconds a request waits in the queue."""

_RETRY_AFTER: Final = 1


@dataclass(slots=True)
class _Share:
    """One organization's active requests, and its waiting requests in order of arrival."""

    working: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)


class FairShare:
    """Concurrency slots by organization; not shared between event loops or processes."""

    def __init__(self, share: int = USUAL_SHARE) -> None:
        """Allow `share` concurrent requests of one organization."""
        self._places = share
        self._shares: dict[UUID, _Share] = {}

    def place(self, organization_id: UUID) -> AbstractAsyncContextManager[None]:
        """Hold a slot for the block, waiting for one if needed.

        Raises `rate_limited` if too many are waiting already, and if it takes too long.
        """
        return _Place(self, organization_id)

    async def take(self, organization_id: UUID) -> None:
        """Take a slot as `place` does, until `leave` releases it."""
        share = self._shares.get(organization_id)
        if share is None:
            share = self._shares[organization_id] = _Share()
        if share.working < self._places:
            share.working += 1
        else:
            await self._wait(share)

    def leave(self, organization_id: UUID) -> None:
        """Release a slot, to the request that has waited longest."""
        share = self._shares[organization_id]
        self._hand_on(share)
        if not share.working:
            del self._shares[organization_id]

    async def _wait(self, share: _Share) -> None:
        """Wait until a finished request passes on its slot."""
        if len(share.waiting) >= LONGEST_QUEUE:
            raise _busy()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        share.waiting.append(turn)
        try:
            async with asyncio.timeout(WAIT_AT_MOST):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._hand_on(share)  # the place came at the very moment in which the request was given up
            elif turn in share.waiting:
                share.waiting.remove(turn)
            if isinstance(error, TimeoutError):
                raise _busy() from None
            raise

    def _hand_on(self, share: _Share) -> None:
        while share.waiting:
            turn = share.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        share.working -= 1


class _Place:
    """A slot held for a block; `asynccontextmanager` would take longer than everything else here."""

    __slots__ = ("_fair_share", "_organization_id")

    def __init__(self, fair_share: FairShare, organization_id: UUID) -> None:
        self._fair_share = fair_share
        self._organization_id = organization_id

    async def __aenter__(self) -> None:
        await self._fair_share.take(self._organization_id)

    async def __aexit__(self, *_: object) -> None:
        self._fair_share.leave(self._organization_id)


def share_of(environment: Mapping[str, str]) -> int:
    """Return the setting; raises ValueError for an invalid one."""
    text = environment.get(SHARE_VARIABLE, "").strip() or str(USUAL_SHARE)
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 1_000):
        raise ValueError(f"{SHARE_VARIABLE} must be a whole number from 1 to 1000, not {text!r}")
    return int(text)


def _busy() -> Refusal:
    return Refusal(
        "rate_limited",
        "Too many requests of this account are under way at once. Try again in a moment, with fewer at a time.",
        details={"retry_after": _RETRY_AFTER},
        headers={"Retry-After": str(_RETRY_AFTER)},
    )
