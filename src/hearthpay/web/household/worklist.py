"""The households of an organization as a list to work through: searched, sorted, filtered, a page at a time.

A filter that no index knows looks at a bounded number of households for each page, and the page says how far it came.
"""

import datetime
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, get_args
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_MEMBERS, READ_PAYROLLS, allow, may
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.employers import list_queries as rows
from hearthpay.employers.commands import Sort
from hearthpay.web.household.to_dos import ToDo, WaitingKind, find_to_dos
from hearthpay.wire.paging import decode_cursor, encode_cursor

Show = Literal["all", "week", "to_do", "missing"]
SHOWN: Final[tuple[Show, ...]] = get_args(Show)

PAGE: Final = 50
"""Households on one page."""

MOST_LOOKED_AT: Final = 500
"""The most households that one page looks at to find those of a filter."""

MISSING: Final[frozenset[WaitingKind]] = frozenset(
    ("pay_rate_missing", "tax_info_missing", "tax_info_asked", "bank_account_asked", "ein_missing")
)
"""The to-dos that are about missing data."""

_CHUNK: Final = 100
_SIX_DAYS: Final = datetime.timedelta(days=6)
_BEFORE_ALL: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class WorklistQuery:
    """Which households, in which order, and where the page begins; `cursor` is the `next_cursor` of the page before."""

    text: str = ""
    sort: Sort = "payday"
    show: Show = "all"
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class WorklistItem:
    """A household with its to-dos, most urgent first; none where the actor may not read payrolls."""

    line: rows.ListedHousehold
    waits: tuple[ToDo, ...] = ()

    @property
    def missing(self) -> tuple[ToDo, ...]:
        """The to-dos about missing data."""
        return tuple(each for each in self.waits if each.kind in MISSING)

    @property
    def others(self) -> tuple[ToDo, ...]:
        """The other to-dos."""
        return tuple(each for each in self.waits if each.kind not in MISSING)


@dataclass(frozen=True, slots=True)
class Worklist:
    """One page of households.

    `stopped_at` is how many households were looked at if the page ended before it was full and before all were seen;
    `crowded` says that a search matches more households than it follows.
    """

    items: Sequence[WorklistItem]
    next_cursor: str | None
    stopped_at: int | None = None
    crowded: bool = False


class _Place(NamedTuple):
    """Where a list continues: in which part, after which id, and for paydays after which day."""

    part: Literal["p", "n", "s"]
    after: UUID
    day: datetime.date | None = None


async def first_households(session: AsyncSession, actor: Actor, limit: int) -> list[UUID]:
    """Return the first households by name that the actor reaches, at most `limit`. Raises what `allow` raises."""
    allow(actor, READ_MEMBERS)
    return [row.id for row in await rows.after_name(session, rows.scope_of(actor), rows.FIRST_NAME, limit)]


async def read_worklist(
    session: AsyncSession, actor: Actor, clock: Clock, requested: WorklistQuery
) -> Worklist:
    """Return one page; an actor who may not read payrolls gets names alone.

    Raises what `allow` raises, and `not_found` for an unknown cursor.
    """
    allow(actor, READ_MEMBERS)
    place = _place_in(requested.cursor)
    reads = may(actor, READ_PAYROLLS)
    if not reads:
        requested = replace(requested, sort="name", show="all")
    reading = _Reading(session, rows.scope_of(actor), clock.now(), clock.today(), requested, reads)
    if requested.text:
        return await reading.search(rows.words_in(requested.text)[: rows.MOST_WORDS], place)
    return await reading.walk(place)


@dataclass(frozen=True, slots=True)
class _Reading:
    session: AsyncSession
    scope: rows.ListScope
    now: datetime.datetime
    today: datetime.date
    requested: WorklistQuery
    reads_payrolls: bool

    async def search(self, words: Sequence[str], place: _Place | None) -> Worklist:
        """Sort and filter what the words match, which is bounded, and cut out the page."""
        found, crowded = await rows.found_by_words(self.session, self.scope, words)
        items = sorted(
            filter(self._shows, await self._items(sorted(found))), key=_SORT_KEYS[self.requested.sort]
        )
        begin = 0
        if place is not None:
            begin = next((at + 1 for at, item in enumerate(items) if item.line.id == place.after), 0)
        page = items[begin : begin + PAGE]
        more = len(items) > begin + PAGE
        return Worklist(page, _cursor_of(_Place("s", page[-1].line.id)) if more else None, crowded=crowded)

    async def walk(self, place: _Place | None) -> Worklist:
        """Continue from the place, chunk by chunk, until the page is full, all was seen, or enough was looked at."""
        if place is None or place.part == "s":
            place = _Place("n" if self.requested.sort == "name" else "p", _BEFORE_ALL)
        kept: list[WorklistItem] = []
        looked_at = 0
        while True:
            limit = self._limit(place)
            places, households = await self._chunk(place, limit)
            items = {item.line.id: item for item in await self._items(households)}
            for each, household in zip(places, households, strict=True):
                item = items.get(household)
                if item is not None and self._belongs(item, each.part) and self._shows(item):
                    if len(kept) == PAGE:
                        return Worklist(kept, _cursor_of(place))
                    kept.append(item)
                place = each
            looked_at += len(places)
            if len(places) < limit:
                if place.part == "n" or self.requested.show == "week":
                    return Worklist(kept, None)
                place = _Place("n", _BEFORE_ALL)
            if looked_at >= MOST_LOOKED_AT:
                return Worklist(kept, _cursor_of(place), stopped_at=looked_at)

    def _limit(self, place: _Place) -> int:
        """Return how many households to look at: one more than a page shows if all of them are shown."""
        all_belong = place.part == "p" or self.requested.sort == "name"
        return PAGE + 1 if self.requested.show == "all" and all_belong else _CHUNK

    async def _chunk(self, place: _Place, limit: int) -> tuple[list[_Place], list[UUID]]:
        """Return the next places of the part, and the household at each."""
        if place.part == "p":
            until = self.today + _SIX_DAYS if self.requested.show == "week" else datetime.date.max
            after = (place.day or self.today, place.after)
            paid = await rows.after_payday(self.session, self.scope, self.today, until, after, limit)
            return [_Place("p", row.id, row.pay_date) for row in paid], [row.employer_id for row in paid]
        key = rows.FIRST_NAME
        if place.after != _BEFORE_ALL:
            key = await rows.name_key_of(self.session, place.after) or rows.FIRST_NAME
        named = [row.id for row in await rows.after_name(self.session, self.scope, key, limit)]
        return [_Place("n", each) for each in named], named

    async def _items(self, households: Sequence[UUID]) -> list[WorklistItem]:
        """Return the households with what the actor may know of them; those out of sight are left out."""
        lines = await rows.lines_of(self.session, households, self.today, self.today + _SIX_DAYS)
        if not self.reads_payrolls:
            return [
                WorklistItem(line._replace(next_payday=None, payrolls_in_seven_days=0, net_in_seven_days=0))
                for line in lines.values()
            ]
        waits: dict[UUID, list[ToDo]] = {household: [] for household in lines}
        for each in await find_to_dos(self.session, list(lines), self.now, self.today):
            waits[each.employer_id].append(each)
        return [WorklistItem(line, tuple(waits[household])) for household, line in lines.items()]

    def _belongs(self, item: WorklistItem, part: str) -> bool:
        """Return whether the household is listed in this part: by payday, those without one come last, by name."""
        return part == "p" or self.requested.sort == "name" or item.line.next_payday is None

    def _shows(self, item: WorklistItem) -> bool:
        match self.requested.show:
            case "week":
                day = item.line.next_payday
                return day is not None and day <= self.today + _SIX_DAYS
            case "to_do":
                return bool(item.waits)
            case "missing":
                return bool(item.missing)
            case _:
                return True


def _by_name(item: WorklistItem) -> tuple[str, str, UUID]:
    return item.line.last_name_key, item.line.first_name_key, item.line.id


def _by_payday(item: WorklistItem) -> tuple[datetime.date, tuple[str, str, UUID]]:
    return item.line.next_payday or datetime.date.max, _by_name(item)


_SORT_KEYS: Final[Mapping[Sort, Callable[[WorklistItem], Any]]] = {"payday": _by_payday, "name": _by_name}


def _cursor_of(place: _Place) -> str:
    day = "" if place.day is None else f"{place.day}."
    return f"{place.part}.{day}{encode_cursor(place.after)}"


def _place_in(cursor: str) -> _Place | None:
    if not cursor:
        return None
    match cursor.split("."):
        case ["p", day, after]:
            with suppress(ValueError):
                return _Place("p", decode_cursor(after), datetime.date.fromisoformat(day))
        case [("n" | "s") as part, after]:
            with suppress(ValueError):
                return _Place(part, decode_cursor(after))
    raise Refusal("not_found", "Page not found.")
