"""Pages of households by search and order, each read by an index however many households there are.

A search is followed to a bounded number of households, and one that matches more is refused. The last part of the
order of paydays, the households without one, looks at a bounded number of households for each page.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import invalid
from hearthpay.employers import list_queries as queries
from hearthpay.employers.commands import ListHouseholds, ListPlace
from hearthpay.employers.list_queries import FIRST_NAME, MOST_FOUND, ListedHousehold, NameKey
from hearthpay.employers.metadata import with_metadata
from hearthpay.employers.models import Employer
from hearthpay.wire.metadata import Metadata

MOST_LOOKED_AT: Final = 500
"""The most households that one page looks at to find those without a payday."""

_BEFORE_ALL: Final = UUID(int=0)

Places = Sequence[tuple[ListPlace, UUID]]
"""Households with the place of each in the list."""


@dataclass(frozen=True, slots=True)
class SortedPage:
    """The households of one page in their order, and where the next one begins (None at the end)."""

    ids: Sequence[UUID]
    following: ListPlace | None


async def search_households(session: AsyncSession, actor: Actor, words: Sequence[str]) -> list[UUID]:
    """Return the households that the actor reaches and the words find.

    Raises `validation_error` naming `search` if they are more than a search is followed to.
    """
    found, crowded = await queries.found_by_words(session, queries.scope_of(actor), words)
    if crowded:
        raise invalid(
            "search", f"matches more than {MOST_FOUND} households; write more of the name, or another word"
        )
    return sorted(found)


async def _households_with_metadata(session: AsyncSession, actor: Actor, wanted: Metadata) -> list[UUID]:
    """Return the households that the actor reaches and that have this metadata.

    Raises `validation_error` naming `metadata` if they are more than a search is followed to.
    """
    statement = with_metadata(select(Employer.id), actor, "employer", Employer.id, wanted)
    if actor.households is not None:
        statement = statement.where(Employer.id.in_(actor.households))
    found = (await session.scalars(statement.limit(MOST_FOUND + 1))).all()
    if len(found) > MOST_FOUND:
        raise invalid(
            "metadata", f"matches more than {MOST_FOUND} households; leave out `sort`, or filter by more keys"
        )
    return sorted(found)


def check_place(requested: ListHouseholds) -> None:
    """Refuse a place of another list than the one requested. Raises `validation_error` naming `cursor`."""
    match requested.sort:
        case None:
            parts = {"newest"}
        case "name":
            parts = {"name"}
        case "payday":
            parts = {"found"} if requested.words or requested.metadata else {"paid", "unpaid"}
    if requested.place is not None and requested.place.part not in parts:
        raise invalid("cursor", "is of a list with another sort or search; leave it out to begin again")


async def read_sorted(
    session: AsyncSession, actor: Actor, today: datetime.date, requested: ListHouseholds
) -> SortedPage:
    """Return one page by name or by next payday from `today`, of all households in reach or those that are found by
    the words and the metadata.

    By payday, households without one come last, by name. A page of these may be short before the list ends.
    Raises `validation_error` for a search of too many, and for the place of a household that is gone.
    """
    reading = _Reading(session, actor, today, requested)
    if requested.words or requested.metadata:
        return await reading.of_found()
    return await (reading.by_name() if requested.sort == "name" else reading.by_payday())


@dataclass(frozen=True, slots=True)
class _Reading:
    session: AsyncSession
    actor: Actor
    today: datetime.date
    requested: ListHouseholds

    async def of_found(self) -> SortedPage:
        """Sort what the words and the metadata find, which is bounded, and cut out the page."""
        found = await self._found()
        lines = (await queries.lines_of(self.session, found, self.today, self.today)).values()
        if self.requested.sort == "name":
            in_order = sorted(lines, key=_name_key)
            if place := self.requested.place:
                name = await self._name_key_of(place.after)
                in_order = [line for line in in_order if _name_key(line) > name]
            return self._page([(ListPlace("name", line.id), line.id) for line in in_order])
        in_order = sorted(lines, key=_payday_key)
        if place := self.requested.place:
            key = place.day or datetime.date.max, await self._name_key_of(place.after)
            in_order = [line for line in in_order if _payday_key(line) > key]
        return self._page([(ListPlace("found", line.id, line.next_payday), line.id) for line in in_order])

    async def _found(self) -> list[UUID]:
        if not self.requested.metadata:
            return await search_households(self.session, self.actor, self.requested.words)
        found = await _households_with_metadata(self.session, self.actor, self.requested.metadata)
        if self.requested.words:
            words = await search_households(self.session, self.actor, self.requested.words)
            found = sorted(set(found).intersection(words))
        return found

    async def by_name(self) -> SortedPage:
        """Read the next households in the order of names."""
        place = self.requested.place
        key = FIRST_NAME if place is None else await self._name_key_of(place.after)
        named = await queries.after_name(
            self.session, queries.scope_of(self.actor), key, self.requested.limit + 1
        )
        return self._page([(ListPlace("name", each.id), each.id) for each in named])

    async def by_payday(self) -> SortedPage:
        """Read the next households in the order of paydays, and once they end, those without one by name."""
        place = self.requested.place
        if place is not None and place.part == "unpaid":
            return await self._without_payday([], await self._name_key_of(place.after))
        after = (self.today, _BEFORE_ALL) if place is None or place.day is None else (place.day, place.after)
        scope = queries.scope_of(self.actor)
        rows = await queries.after_payday(
            self.session, scope, self.today, datetime.date.max, after, self.requested.limit + 1
        )
        paid = [(ListPlace("paid", row.id, row.pay_date), row.employer_id) for row in rows]
        if len(paid) > self.requested.limit:
            return self._page(paid)
        return await self._without_payday(paid, FIRST_NAME)

    async def _without_payday(self, paid: Places, key: NameKey) -> SortedPage:
        """Fill the page up with households without a payday, until it is full or enough was looked at."""
        places = list(paid)
        scope = queries.scope_of(self.actor)
        limit = self.requested.limit + 1
        for _ in range(0, MOST_LOOKED_AT, limit):
            named = await queries.after_name(self.session, scope, key, limit)
            ids = [each.id for each in named]
            lines = await queries.lines_of(self.session, ids, self.today, self.today)
            places += [
                (ListPlace("unpaid", each), each)
                for each in ids
                if each in lines and lines[each].next_payday is None
            ]
            if len(places) > self.requested.limit or len(named) < limit:
                return self._page(places)
            key = named[-1]
        return SortedPage([household for _, household in places], ListPlace("unpaid", key.id))

    def _page(self, places: Places) -> SortedPage:
        """Cut off what is beyond the page."""
        shown = places[: self.requested.limit]
        ids = [household for _, household in shown]
        return SortedPage(ids, shown[-1][0] if len(places) > len(shown) else None)

    async def _name_key_of(self, household: UUID) -> NameKey:
        key = await queries.name_key_of(self.session, household) if self.actor.reaches(household) else None
        if key is None:
            raise invalid("cursor", "is after a household that is gone; leave it out to begin again")
        return key


def _name_key(line: ListedHousehold) -> NameKey:
    return NameKey(line.last_name_key, line.first_name_key, line.id)


def _payday_key(line: ListedHousehold) -> tuple[datetime.date, NameKey]:
    return line.next_payday or datetime.date.max, _name_key(line)
