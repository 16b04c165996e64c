"""The households of an organization as a list to work through: searched, sorted, filtered, a page at a time.

A filter that no index knows looks at a bounded number of households for each page, and the page says how far it came.
"""

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, get_args
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_CALENDAR, READ_MEMBERS, READ_PAYROLLS, allow, may
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.duties import dues_lists
from hearthpay.duties.dues import SIX_DAYS, HouseholdDues, compute_dues
from hearthpay.duties.dues_lists import (
    MOST_COUNTED,
    DuesCounts,
    KeptDues,
    count_dues,
    oldest_payday,
    read_dues,
)
from hearthpay.employers import list_queries as rows
from hearthpay.employers.models import Employer
from hearthpay.payroll.issues.open_payment_rows import read_open_payments
from hearthpay.payroll.never_paid import read_never_paid
from hearthpay.payroll.next_payroll import read_next_payrolls
from hearthpay.todos.payday_rows import to_dos_of_never_paid
from hearthpay.todos.payment_rows import to_dos_of_payments, without_failed_people
from hearthpay.todos.records import find_recorded_to_dos
from hearthpay.todos.to_do import ToDo, ToDoKind, in_order
from hearthpay.wire.paging import decode_cursor, encode_cursor

Show = Literal["all", "run", "overdue", "missing", "to_do", "week"]
SHOWN: Final[tuple[Show, ...]] = get_args(Show)

WorklistSort = Literal["payday", "overdue", "name"]
SORTS: Final[tuple[WorklistSort, ...]] = get_args(WorklistSort)

PAGE: Final = 50
"""Households on one page."""

MOST_LOOKED_AT: Final = 500
"""The most households that one page looks at to find those of a filter."""

MOST_CALCULATED: Final = 5
"""The most households that one page calculates because their kept figures are not fresh."""

MISSING: Final[frozenset[ToDoKind]] = frozenset(
    (
        "pay_rate_missing",
        "enter_rate",
        "tax_info_missing",
        "tax_info_asked",
        "bank_account_asked",
        "ein_missing",
    )
)
"""The to-dos that are about missing data."""

_ON_ITS_DAY: Final[ToDoKind] = "check_to_hand_over"
"""What is done in passing on its day: the list of households leaves it out."""

_NEVER_PAID: Final[ToDoKind] = "first_payroll"
"""What a row of the list shows below the next payday: who was never paid, and since when."""

_CHUNK: Final = 100
_BEFORE_ALL: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class WorklistQuery:
    """Which households, in which order, and where the page begins; `cursor` is the `next_cursor` of the page before."""

    text: str = ""
    sort: WorklistSort = "payday"
    show: Show = "all"
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class WorklistItem:
    """A household with its to-dos, most urgent first; none where the actor may not read payrolls."""

    line: rows.ListedHousehold
    waits: tuple[ToDo, ...] = ()
    kept: KeptDues | None = None
    """What it has to do; None where the actor may not read that."""

    next_run: datetime.date | None = None
    """Where somebody was never paid: the next payday by hand of the others, which isn't the missed one."""

    @property
    def dues(self) -> HouseholdDues | None:
        """What it has to do, if that is known as of today."""
        return self.kept.dues if self.kept is not None and self.kept.fresh else None

    @property
    def being_checked(self) -> bool:
        """Whether what it has to do is not known yet."""
        return self.kept is not None and not self.kept.fresh and not self.kept.own_clock

    @property
    def payday_to_run(self) -> datetime.date | None:
        """The next payday that the household runs itself, if that is known as of today.

        It may be the one on which somebody should have been paid for the first time.
        """
        return None if self.dues is None else self.dues.payday_to_run

    @property
    def run_on(self) -> datetime.date | None:
        """The next payday of those who were paid before, which can be run from the list."""
        return self.next_run if self.never_paid else self.payday_to_run

    @property
    def next_payday(self) -> datetime.date | None:
        """The first payday that is planned or to be run, as far as that is known."""
        return min((day for day in (self.line.next_payday, self.run_on) if day), default=None)

    @property
    def never_paid(self) -> tuple[ToDo, ...]:
        """The to-dos about employees who were never paid, the longest first."""
        return tuple(each for each in self.waits if each.kind == _NEVER_PAID)

    @property
    def missing(self) -> tuple[ToDo, ...]:
        """The to-dos about missing data."""
        return tuple(each for each in self.waits if each.kind in MISSING)

    @property
    def others(self) -> tuple[ToDo, ...]:
        """The other to-dos."""
        return tuple(each for each in self.waits if each.kind not in MISSING and each.kind != _NEVER_PAID)


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
    counts: DuesCounts | None = None
    """None where the actor may not read what households have to do."""


class _Place(NamedTuple):
    """Where a list continues: in which part, after which id, and after which day.

    Parts are by payday, by what is overdue longest, by payday to run, by name, and what a search found.
    """

    part: Literal["p", "o", "r", "n", "s"]
    after: UUID
    day: datetime.date | None = None


async def first_households(session: AsyncSession, actor: Actor, limit: int) -> list[UUID]:
    """Return the first households by name that the actor reaches, at most `limit`. Raises what `allow` raises."""
    allow(actor, READ_MEMBERS)
    return [row.id for row in await rows.after_name(session, rows.scope_of(actor), rows.FIRST_NAME, limit)]


async def find_households(session: AsyncSession, actor: Actor, text: str) -> Collection[UUID]:
    """Return the households that the actor reaches and the text finds by their names. Raises what `allow` raises."""
    allow(actor, READ_MEMBERS)
    words = rows.words_in(text)[: rows.MOST_WORDS]
    found, _ = await rows.found_by_words(session, rows.scope_of(actor), words)
    return found


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
    dues = reads and may(actor, READ_CALENDAR)
    scope = rows.scope_of(actor)
    reading = _Reading(session, scope, clock.now(), clock.today(), requested, reads, dues)
    if requested.text:
        found = await reading.search(rows.words_in(requested.text)[: rows.MOST_WORDS], place)
    else:
        found = await reading.walk(place)
    if not dues:
        return found
    counts = await count_dues(session, scope, clock.today())
    return replace(found, counts=_with_calculated(counts, reading.calculated, clock.today() + SIX_DAYS))


@dataclass(slots=True)
class _Reading:
    session: AsyncSession
    scope: rows.ListScope
    now: datetime.datetime
    today: datetime.date
    requested: WorklistQuery
    reads_payrolls: bool
    reads_dues: bool
    attempts: int = 0
    calculated: list[HouseholdDues] = field(default_factory=list)
    """What was found of households whose kept figures are not fresh."""

    listed: set[UUID] | None = None
    """The households that were found by a day, of a list that is read from its beginning; else None."""

    async def search(self, words: Sequence[str], place: _Place | None) -> Worklist:
        """WorklistSort and filter what the words match, which is bounded, and cut out the page."""
        found, crowded = await rows.found_by_words(self.session, self.scope, words)
        seen = [await self._calculate(item) for item in await self._items(sorted(found))]
        items = sorted(filter(self._shows, seen), key=_SORT_KEYS[self.requested.sort])
        begin = 0
        if place is not None:
            begin = next((at + 1 for at, item in enumerate(items) if item.line.id == place.after), 0)
        page = items[begin : begin + PAGE]
        more = len(items) > begin + PAGE
        return Worklist(page, _cursor_of(_Place("s", page[-1].line.id)) if more else None, crowded=crowded)

    async def walk(self, place: _Place | None) -> Worklist:
        """Continue from the place, chunk by chunk, until the page is full, all was seen, or enough was looked at."""
        if place is None or place.part == "s":
            place = _Place(self._first_part(), _BEFORE_ALL)
            self.listed = set()
        kept: list[WorklistItem] = []
        looked_at = 0
        while True:
            limit = self._limit(place)
            places, households = await self._chunk(place, limit)
            if self.listed is not None and place.part != "n":
                self.listed.update(households)
            items = {item.line.id: item for item in await self._items(households)}
            for each, household in zip(places, households, strict=True):
                item = items.get(household)
                if item is not None and self._belongs(item, each.part):
                    item = await self._calculate(item)
                    if self._shows(item):
                        if len(kept) == PAGE:
                            return Worklist(kept, _cursor_of(place))
                        kept.append(item)
                place = each
            looked_at += len(places)
            if len(places) < limit:
                if place.part in ("n", "r") or self.requested.show in ("week", "overdue"):
                    return Worklist(kept, None)
                place = _Place("n", _BEFORE_ALL)
            if looked_at >= MOST_LOOKED_AT:
                return Worklist(kept, _cursor_of(place), stopped_at=looked_at)

    def _first_part(self) -> Literal["p", "o", "r", "n"]:
        """Return with which part the list begins."""
        if self.reads_dues and self.requested.show == "run":
            return "r"
        if self.reads_dues and "overdue" in (self.requested.show, self.requested.sort):
            return "o"
        return "n" if self.requested.sort == "name" or not self.reads_dues else "p"

    def _limit(self, place: _Place) -> int:
        """Return how many households to look at: one more than a page shows if all of them are shown."""
        all_belong = place.part != "n" or self.requested.sort == "name"
        return PAGE + 1 if self.requested.show == "all" and all_belong else _CHUNK

    async def _chunk(self, place: _Place, limit: int) -> tuple[list[_Place], list[UUID]]:
        """Return the next places of the part, and the household at each."""
        if place.part in ("p", "o", "r"):
            after = (place.day or oldest_payday(self.today), place.after)
            this_week = self.today + SIX_DAYS
            if place.part == "o":
                after = (place.day or datetime.date.min, place.after)
                found = await dues_lists.after_overdue(self.session, self.scope, after, limit)
            elif place.part == "r":
                found = await dues_lists.after_payday_to_run(
                    self.session, self.scope, this_week, after, limit
                )
            else:
                until = this_week if self.requested.show == "week" else datetime.date.max
                found = await dues_lists.after_payday(
                    self.session, self.scope, self.today, until, after, limit
                )
            return [_Place(place.part, row.id, row.pay_date) for row in found], [
                row.employer_id for row in found
            ]
        key = rows.FIRST_NAME
        if place.after != _BEFORE_ALL:
            key = await rows.name_key_of(self.session, place.after) or rows.FIRST_NAME
        named = [row.id for row in await rows.after_name(self.session, self.scope, key, limit)]
        return [_Place("n", each) for each in named], named

    async def _items(self, households: Sequence[UUID]) -> list[WorklistItem]:
        """Return the households with what the actor may know of them; those out of sight are left out."""
        lines = await rows.lines_of(self.session, households, self.today, self.today + SIX_DAYS)
        if not self.reads_payrolls:
            return [
                WorklistItem(line._replace(next_payday=None, payrolls_in_seven_days=0, net_in_seven_days=0))
                for line in lines.values()
            ]
        waits: dict[UUID, list[ToDo]] = {household: [] for household in lines}
        found = await find_recorded_to_dos(self.session, list(lines), self.now, self.today)
        never_paid = await read_never_paid(self.session, list(lines), self.today)
        payments = await read_open_payments(self.session, list(lines), self.now)
        found += to_dos_of_payments(payments, self.today)
        for employees in never_paid.values():
            found += to_dos_of_never_paid(without_failed_people(employees, payments))
        runs = await read_next_payrolls(self.session, never_paid, self.today) if self.reads_dues else {}
        for each in in_order(found, self.today):
            if each.kind != _ON_ITS_DAY:
                waits[each.employer_id].append(each)
        kept = await read_dues(self.session, list(lines), self.today) if self.reads_dues else {}
        return [
            WorklistItem(
                line,
                tuple(waits[household]),
                kept.get(household),
                runs[household].pay_date if household in runs else None,
            )
            for household, line in lines.items()
        ]

    async def _calculate(self, item: WorklistItem) -> WorklistItem:
        """Return the item with what it has to do, if the page may still calculate it; nothing is stored."""
        if not item.being_checked or self.attempts >= MOST_CALCULATED:
            return item
        self.attempts += 1
        try:
            employer = await self.session.get_one(Employer, item.line.id)
            dues = await compute_dues(self.session, employer, self.today)
        except (ArithmeticError, LookupError, ValueError):  # the worker reports what can't be calculated
            return item
        self.calculated.append(dues)
        return replace(item, kept=KeptDues(dues, fresh=True))

    def _belongs(self, item: WorklistItem, part: str) -> bool:
        """Return whether the household is listed in this part: those without a day come last, by name.

        What is kept may change between two statements, so a list that is read from its beginning goes by what it found.
        """
        if part != "n" or self.requested.sort == "name":
            return True
        if self.listed is not None:
            return item.line.id not in self.listed
        if self.requested.sort == "overdue":
            return item.kept is None or not item.kept.dues.overdue_count
        to_run = None if item.kept is None else item.kept.dues.payday_to_run
        return item.line.next_payday is None and (to_run is None or to_run < oldest_payday(self.today))

    def _shows(self, item: WorklistItem) -> bool:
        match self.requested.show:
            case "week":
                return item.next_payday is not None and item.next_payday <= self.today + SIX_DAYS
            case "run":
                day = item.payday_to_run
                return item.being_checked or (day is not None and day <= self.today + SIX_DAYS)
            case "overdue":
                return item.being_checked or (item.dues is not None and item.dues.overdue_count > 0)
            case "to_do":
                return bool(item.waits) or (item.dues is not None and item.dues.overdue_count > 0)
            case "missing":
                return bool(item.missing)
            case _:
                return True


def _with_calculated(
    counts: DuesCounts, calculated: Sequence[HouseholdDues], week_ends: datetime.date
) -> DuesCounts:
    """Add the households that a page calculated to what is kept of the others: they are no longer being checked.

    A count at its limit stays there: how many more there are is not known.
    """
    to_run = sum(1 for each in calculated if each.payday_to_run and each.payday_to_run <= week_ends)
    overdue = sum(1 for each in calculated if each.overdue_count)
    return DuesCounts(
        min(counts.to_run + to_run, MOST_COUNTED),
        min(counts.overdue + overdue, MOST_COUNTED),
        counts.being_checked
        if counts.being_checked >= MOST_COUNTED
        else max(counts.being_checked - len(calculated), 0),
    )


def _by_name(item: WorklistItem) -> tuple[str, str, UUID]:
    return item.line.last_name_key, item.line.first_name_key, item.line.id


def _by_payday(item: WorklistItem) -> tuple[datetime.date, tuple[str, str, UUID]]:
    days = (item.next_payday, item.payday_to_run)
    return min((day for day in days if day), default=datetime.date.max), _by_name(item)


def _by_overdue(item: WorklistItem) -> tuple[datetime.date, tuple[str, str, UUID]]:
    since = None if item.dues is None else item.dues.overdue_since
    return since or datetime.date.max, _by_name(item)


_SORT_KEYS: Final[Mapping[WorklistSort, Callable[[WorklistItem], Any]]] = {
    "payday": _by_payday,
    "overdue": _by_overdue,
    "name": _by_name,
}


def _cursor_of(place: _Place) -> str:
    day = "" if place.day is None else f"{place.day}."
    return f"{place.part}.{day}{encode_cursor(place.after)}"


def _place_in(cursor: str) -> _Place | None:
    if not cursor:
        return None
    match cursor.split("."):
        case [("p" | "o" | "r") as part, day, after]:
            with suppress(ValueError):
                return _Place(part, decode_cursor(after), datetime.date.fromisoformat(day))
        case [("n" | "s") as part, after]:
            with suppress(ValueError):
                return _Place(part, decode_cursor(after))
    raise Refusal("not_found", "Page not found.")
