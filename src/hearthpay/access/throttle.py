"""Counts failed attempts, and says how long the next one must wait; for all processes of an installation together.

A tally is one moment: when all its failures will be forgiven. Each failure adds the time that forgives one.

The counts are kept in stores that every process reaches: Valkey or Redis first, if there is one, otherwise the
database. Each process also remembers the last answer. While the first store can't be reached, an attempt must pass
both what this process remembers and the next store. Without any store, the process counts alone. So no outage locks
everyone out, and none lets attempts pass uncounted.
"""

import datetime
import hashlib
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from hearthpay.clock import Clock

REFUSED_FOR: Final = datetime.timedelta(seconds=5)
"""How long a process refuses, without asking again, what a store has refused: a flood doesn't reach the store."""

_NO_TIME: Final = datetime.timedelta(0)


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """How many failures in a row are allowed, and how long it takes to forgive one."""

    burst: int
    forgiven_after: datetime.timedelta

    @property
    def allowed(self) -> datetime.timedelta:
        """The longest time to forgiveness at which one more attempt is allowed."""
        return (self.burst - 1) * self.forgiven_after


@dataclass(frozen=True, slots=True)
class Tally:
    """What is counted together: the digest of its name, and its limit."""

    name: bytes
    limit: AttemptLimit


def tally(kind: str, name: str, limit: AttemptLimit) -> Tally:
    """Return the tally of this kind and name; stores never see the name itself."""
    return Tally(hashlib.sha256(f"{kind} {name}".encode()).digest(), limit)


@dataclass(frozen=True, slots=True)
class Counted:
    """A store's answer: whether the attempt was counted, and when each tally will be forgiven."""

    admitted: bool
    forgiven_at: Mapping[bytes, datetime.datetime]


class AttemptStore(Protocol):
    """Tallies that several processes share. Its methods don't raise if it can't be reached."""

    async def count(self, tallies: Sequence[Tally], now: datetime.datetime) -> Counted | None:
        """Count one attempt for each tally, or for none if one of them must wait; None if it can't be reached."""
        ...

    async def forgive(self, once: Sequence[Tally], entirely: Sequence[Tally]) -> bool:
        """Remove one attempt, or all; return whether it could be reached."""
        ...


@dataclass(slots=True)
class _Known:
    """What this process knows of a tally; `refused_at`: when a store last refused it."""

    forgiven_at: datetime.datetime
    refused_at: datetime.datetime | None = None


class Throttle:
    """Failed attempts: the stores in their order, and this process's bounded memory."""

    def __init__(self, clock: Clock, stores: Sequence[AttemptStore] = (), *, remembered: int) -> None:
        """Remember at most `remembered` tallies in this process."""
        self._clock = clock
        self._stores = tuple(stores)
        self._remembered = remembered
        self._known: OrderedDict[bytes, _Known] = OrderedDict()

    def wait(self, tallies: Sequence[Tally]) -> int:
        """Return the seconds that the next attempt must wait, as far as this process knows; 0 if none."""
        now = self._clock.now()
        return max(self._wait(each, now) for each in tallies)

    async def admit(self, tallies: Sequence[Tally]) -> int:
        """Count one attempt for each tally and return 0, or count none and return the seconds to wait."""
        waiting = self.wait(tallies)
        if waiting and self._just_refused(tallies):
            return waiting
        for place, store in enumerate(self._stores):
            if place and waiting:
                break
            counted = await store.count(tallies, self._clock.now())
            if counted is not None:
                return self._learn(tallies, counted, outage=place > 0)
        waiting = self.wait(tallies)
        if not waiting:
            self._count(tallies)
        return waiting

    async def forgive(self, once: Sequence[Tally] = (), entirely: Sequence[Tally] = ()) -> None:
        """Remove one attempt of `once`, and all of `entirely`."""
        for each in once:
            known = self._known.get(each.name)
            if known is not None:
                known.forgiven_at -= each.limit.forgiven_after
        for each in entirely:
            self._known.pop(each.name, None)
        for store in self._stores:
            if await store.forgive(once, entirely):
                return

    def _learn(self, tallies: Sequence[Tally], counted: Counted, *, outage: bool) -> int:
        """Remember a store's answer. During an outage of the first store, what this process remembers counts too."""
        now = self._clock.now()
        if outage and counted.admitted:
            waiting = self.wait(tallies)
            if waiting:
                return waiting
            self._count(tallies)
        for each in tallies:
            told = counted.forgiven_at[each.name]
            known = self._known.get(each.name)
            if outage and known is not None:
                told = max(told, known.forgiven_at)
            refused = not counted.admitted and seconds_to_wait(each, told, now) > 0
            self._remember(each, _Known(told, now if refused else None))
        return 0 if counted.admitted else max(1, self.wait(tallies))

    def _count(self, tallies: Sequence[Tally]) -> None:
        now = self._clock.now()
        for each in tallies:
            known = self._known.get(each.name)
            before = now if known is None else max(now, known.forgiven_at)
            self._remember(each, _Known(before + each.limit.forgiven_after))

    def _remember(self, each: Tally, known: _Known) -> None:
        self._known[each.name] = known
        self._known.move_to_end(each.name)
        if len(self._known) > self._remembered:
            self._known.popitem(last=False)

    def _just_refused(self, tallies: Sequence[Tally]) -> bool:
        now = self._clock.now()
        return any(
            known is not None
            and known.refused_at is not None
            and _NO_TIME <= now - known.refused_at < REFUSED_FOR
            and self._wait(each, now) > 0
            for each in tallies
            for known in (self._known.get(each.name),)
        )

    def _wait(self, each: Tally, now: datetime.datetime) -> int:
        known = self._known.get(each.name)
        return 0 if known is None else seconds_to_wait(each, known.forgiven_at, now)


def seconds_to_wait(counted: Tally, forgiven_at: datetime.datetime, now: datetime.datetime) -> int:
    """Return the whole seconds until one more attempt is allowed; 0 if it is allowed now."""
    over = forgiven_at - now - counted.limit.allowed
    return max(0, math.ceil(over / datetime.timedelta(seconds=1)))
