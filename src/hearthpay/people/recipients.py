"""Recipients of a household's or employee's notices: at which address, in which language, and whether they want them.

A household is notified at its contact address, and so are the owners and admins of its organization, whose addresses
are verified; viewers get no notices. Someone with both gets each notice once. Each reads in the language of their
account; the household's own address, if nobody signs in with it, in English. An employee reads in the language of
their record.
"""

import datetime
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple, get_args
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.relations import EMPLOYEES, EMPLOYERS, NOTICES, ORGANIZATIONS
from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.languages.catalogue import Say, say_in
from hearthpay.mail.bounces import hash_of_address
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import Notice
from hearthpay.mail.places import MailPlace, place_of_employee, place_of_household
from hearthpay.time_zones import shown_in, time_zone_of

Topic = Literal["payday", "duties", "documents"]
"""What a person may turn off: everything else is about money in danger, or about access to the account."""
TOPICS: Final[tuple[Topic, ...]] = get_args(Topic)


class _PlaceRow(NamedTuple):
    place: UUID
    address: str
    person_id: UUID | None
    language: str
    muted: list[str]
    state: str
    time_zone: str | None
    household: list[str]
    name: str | None


# The person who signs in with the household's own address is its reader, whatever their role in the
# organization.
_HOUSEHOLDS: Final = query(
    _PlaceRow,
    "SELECT e.id AS place, p.email AS address, p.id AS person_id, p.language, p.muted_notices AS muted, "
    "e.state, e.time_zone, ARRAY[e.first_name, e.last_name] AS household, p.name "
    "FROM {employers} e JOIN memberships m ON m.organization_id = e.organization_id AND m.ended_at IS NULL "
    "AND m.role IN ('owner', 'admin') JOIN people p ON p.id = m.person_id WHERE e.id = ANY(:places) "
    "UNION "
    "SELECT e.id, coalesce(p.email, e.email), p.id, coalesce(p.language, 'en'), coalesce(p.muted_notices, '{}'), "
    "e.state, e.time_zone, ARRAY[e.first_name, e.last_name], p.name "
    "FROM {employers} e LEFT JOIN people p ON p.email = lower(e.email) "
    "WHERE e.id = ANY(:places) AND e.email IS NOT NULL ORDER BY 1, 3 NULLS FIRST",
    employers=EMPLOYERS,
)


class _FormerRow(NamedTuple):
    place: UUID
    address: str
    language: str
    state: str
    time_zone: str | None


# The worker deletes them once they are no longer notified.
_FORMER: Final = query(
    _FormerRow,
    "SELECT f.employer_id AS place, lower(f.address) AS address, 'en' AS language, e.state, e.time_zone "
    "FROM former_addresses f JOIN {employers} e ON e.id = f.employer_id "
    "WHERE f.employer_id = ANY(:places) AND f.employee_id IS NULL AND f.address IS NOT NULL "
    "AND f.taken_back_at IS NULL UNION SELECT e.id, f.address, p.language, e.state, e.time_zone "
    "FROM {employers} e JOIN memberships m ON m.organization_id = e.organization_id AND m.ended_at IS NULL "
    "AND m.role IN ('owner', 'admin') JOIN people p ON p.id = m.person_id "
    "JOIN former_person_addresses f ON f.person_id = p.id AND f.taken_back_at IS NULL "
    "WHERE e.id = ANY(:places) ORDER BY 1, 2",
    employers=EMPLOYERS,
)
_EMPLOYEES: Final = query(
    _PlaceRow,
    "SELECT e.id AS place, e.email AS address, CAST(NULL AS uuid) AS person_id, e.language, "
    "coalesce(p.muted_notices, '{}') AS muted, h.state, h.time_zone, CAST('{}' AS text[]) AS household, p.name "
    "FROM {employees} e JOIN {employers} h ON h.id = e.employer_id LEFT JOIN people p ON p.email = lower(e.email) "
    "WHERE e.id = ANY(:places) AND e.email IS NOT NULL",
    employees=EMPLOYEES,
    employers=EMPLOYERS,
)


class _OperatorsRow(NamedTuple):
    address: str
    language: str
    person_id: UUID


# Uses the index of operators; an operator with the address of the settings gets one mail.
_OPERATORS: Final = query(
    _OperatorsRow,
    "SELECT email AS address, language, id AS person_id FROM people WHERE operator_since IS NOT NULL ORDER BY id",
)


@dataclass(frozen=True, slots=True)
class NoticeReader:
    """A recipient: address, language, the person if they sign in, and what they have turned off."""

    address: str
    language: str = "en"
    person_id: UUID | None = None
    muted: frozenset[str] = frozenset()
    former: bool = False
    """Whether the address was changed within the last week: it gets warnings that may need to be stopped, but no
    news.
    """
    time_zone: ZoneInfo = BUSINESS_TIME
    """Where the household is that the notice is about: times are shown as on its clocks."""

    household: tuple[str, ...] = ()
    """The name of the household whose notices they read."""

    place: MailPlace | None = None
    """Where the notice that is being written leads."""

    name: str | None = None
    """The name of the account with this address, if there is one."""

    def greeted(self, first_name: str) -> str:
        """Return whom a mail greets that is written to the household's or employee's `first_name`: whose mailbox it is,
        and nobody where that isn't known.
        """
        if self.former:
            return ""
        if self.name is None or f"{self.name} ".casefold().startswith(f"{first_name} ".casefold()):
            return first_name
        return self.name

    @property
    def say(self) -> Say:
        """The translation function for the reader's language."""
        return say_in(self.language)


@dataclass(frozen=True, slots=True)
class Readers:
    """The recipients of one household's notices, and those of its employees who have an address."""

    household: tuple[NoticeReader, ...]
    employees: Mapping[UUID, NoticeReader]


async def readers_of(session: AsyncSession, household: UUID, employees: Collection[UUID]) -> Readers:
    """Return the recipients of the household's notices, and of these employees'; the session is the worker's."""
    found = await readers_of_households(session, [household])
    return Readers(found.get(household, ()), await readers_of_employees(session, employees))


async def readers_of_households(
    session: AsyncSession, households: Collection[UUID]
) -> Mapping[UUID, tuple[NoticeReader, ...]]:
    """Return the recipients of each household's notices; the session is the worker's."""
    found = dict(await _read(session, households, of_employees=False))
    if not households:
        return found
    for row in await fetch_all(session, _FORMER, {"places": list(households)}):
        there = found.get(row.place, ())
        if row.address not in {each.address.lower() for each in there}:
            zone = time_zone_of(row.state, row.time_zone)
            found[row.place] = (
                *there,
                NoticeReader(row.address, row.language, former=True, time_zone=zone),
            )
    return found


async def readers_of_employees(
    session: AsyncSession, employees: Collection[UUID]
) -> Mapping[UUID, NoticeReader]:
    """Return those of the employees who have an address; the session is the worker's."""
    found = await _read(session, employees, of_employees=True)
    return {place: readers[0] for place, readers in found.items()}


async def readers_of_installation(session: AsyncSession, operator: str | None) -> tuple[NoticeReader, ...]:
    """Return the recipients of operators' notices: the operators, and the `operator` of the settings; the session is
    the worker's."""
    people = [
        NoticeReader(row.address, row.language, row.person_id) for row in await fetch_all(session, _OPERATORS)
    ]
    known = {each.address.lower() for each in people}
    if operator is None or operator.lower() in known:
        return tuple(people)
    return (NoticeReader(operator), *people)


class WeeklyReader(NamedTuple):
    """A member who wants the weekly summary of an organization, and the key of this week's notice to them."""

    key: str
    organization_id: UUID
    organization: str
    address: str
    language: str
    name: str


_WEEKLY: Final = query(
    WeeklyReader,
    "SELECT {key} AS key, o.id AS organization_id, o.name AS organization, p.email AS address, p.language, p.name "
    "FROM people p JOIN memberships m ON m.person_id = p.id AND m.ended_at IS NULL "
    "JOIN {organizations} o ON o.id = m.organization_id WHERE p.weekly_summary "
    "AND NOT EXISTS (SELECT FROM {notices} n WHERE n.notice_key = {key}) ORDER BY o.id, p.id LIMIT :limit",
    key=Fragment(
        "'weekly_summary:' || CAST(:monday AS text) || ':' || m.organization_id || ':' || m.person_id"
    ),
    organizations=ORGANIZATIONS,
    notices=NOTICES,
)


async def weekly_readers(session: AsyncSession, monday: datetime.date, limit: int) -> list[WeeklyReader]:
    """Return members who want the summary of the week from this Monday and have no notice of it; the session is the
    worker's."""
    return await fetch_all(session, _WEEKLY, {"monday": monday.isoformat(), "limit": limit})


async def _read(
    session: AsyncSession, places: Collection[UUID], *, of_employees: bool
) -> Mapping[UUID, tuple[NoticeReader, ...]]:
    if not places:
        return {}
    rows = await fetch_all(session, _EMPLOYEES if of_employees else _HOUSEHOLDS, {"places": list(places)})
    found: dict[UUID, list[NoticeReader]] = {}
    for row in rows:
        reader = NoticeReader(
            row.address,
            row.language,
            row.person_id,
            frozenset(row.muted),
            time_zone=time_zone_of(row.state, row.time_zone),
            household=tuple(row.household),
            name=row.name,
        )
        found.setdefault(row.place, []).append(reader)
    return {place: tuple(readers) for place, readers in found.items()}


def _own_key(key: str, reader: NoticeReader) -> str:
    if reader.former:
        return f"{key}:{hash_of_address(reader.address).hex()[:16]}"
    return key if reader.person_id is None else f"{key}:{reader.person_id}"


def _place_of(notice: Notice, reader: NoticeReader) -> MailPlace | None:
    if notice.recipient == "household" and notice.employer_id is not None:
        return place_of_household(notice.kind, notice.employer_id, notice.payroll_id, reader.household)
    return place_of_employee(notice.kind) if notice.recipient == "employee" else None


def _written(notice: Notice, write: Callable[[NoticeReader], Mail], reader: NoticeReader) -> Mail:
    with shown_in(reader.time_zone):
        return write(replace(reader, place=_place_of(notice, reader)))


def addressed(
    notice: Notice,
    readers: Iterable[NoticeReader],
    write: Callable[[NoticeReader], Mail],
    topic: Topic | None = None,
) -> list[Notice]:
    """Return the notice for each reader, with a key of their own; without readers, the notice without a recipient.

    Readers who turned off the `topic` get no mail; the outbox records that.
    """
    found = [
        replace(
            notice,
            key=_own_key(notice.key, each),
            mail=_written(notice, write, each),
            requested=topic not in each.muted,
        )
        for each in readers
        if topic is None or not each.former
    ]
    return found or [notice]
