"""Who reads what a household, or an employee, is told: at which address, in which language, and whether he wants it.

A household is told at the address that it is reached by, and so are the owners and admins of its organization, whose
addresses are proved; viewers look, and are told nothing. Whoever has both is told once. Each reads in the language of
his account; the household's own address, where nobody signs in with it, in English. An employee reads in the language
of her record.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple, get_args
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import EMPLOYEES, EMPLOYERS
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.languages.catalogue import Say, say_in
from hearthpay.mail.bounces import hash_of_address
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import Notice

Topic = Literal["payday", "duties", "documents"]
"""What a person may do without: all else is about money that is in danger, or about who gets at the account."""
TOPICS: Final[tuple[Topic, ...]] = get_args(Topic)


class _PlaceRow(NamedTuple):
    place: UUID
    address: str
    person_id: UUID | None
    language: str
    muted: list[str]


# Who signs in with the household's own address is the person that reads it, whatever he is in the organization.
_HOUSEHOLDS: Final = query(
    _PlaceRow,
    "SELECT e.id AS place, p.email AS address, p.id AS person_id, p.language, p.muted_notices AS muted "
    "FROM {employers} e JOIN memberships m ON m.organization_id = e.organization_id AND m.ended_at IS NULL "
    "AND m.role IN ('owner', 'admin') JOIN people p ON p.id = m.person_id WHERE e.id = ANY(:places) "
    "UNION "
    "SELECT e.id, coalesce(p.email, e.email), p.id, coalesce(p.language, 'en'), coalesce(p.muted_notices, '{}') "
    "FROM {employers} e LEFT JOIN people p ON p.email = lower(e.email) "
    "WHERE e.id = ANY(:places) AND e.email IS NOT NULL ORDER BY 1, 3 NULLS FIRST",
    employers=EMPLOYERS,
)


class _FormerRow(NamedTuple):
    place: UUID
    address: str
    language: str


# The worker deletes them once they are told no more.
_FORMER: Final = query(
    _FormerRow,
    "SELECT f.employer_id AS place, lower(f.address) AS address, 'en' AS language FROM former_addresses f "
    "WHERE f.employer_id = ANY(:places) AND f.employee_id IS NULL AND f.taken_back_at IS NULL "
    "UNION SELECT e.id, f.address, p.language "
    "FROM {employers} e JOIN memberships m ON m.organization_id = e.organization_id AND m.ended_at IS NULL "
    "AND m.role IN ('owner', 'admin') JOIN people p ON p.id = m.person_id "
    "JOIN former_person_addresses f ON f.person_id = p.id AND f.taken_back_at IS NULL "
    "WHERE e.id = ANY(:places) ORDER BY 1, 2",
    employers=EMPLOYERS,
)
_EMPLOYEES: Final = query(
    _PlaceRow,
    "SELECT e.id AS place, e.email AS address, CAST(NULL AS uuid) AS person_id, e.language, "
    "coalesce(p.muted_notices, '{}') AS muted "
    "FROM {employees} e LEFT JOIN people p ON p.email = lower(e.email) "
    "WHERE e.id = ANY(:places) AND e.email IS NOT NULL",
    employees=EMPLOYEES,
)


class _OperatorsRow(NamedTuple):
    address: str
    language: str
    person_id: UUID


# By the index of operators; who has the address of the settings is written to once.
_OPERATORS: Final = query(
    _OperatorsRow,
    "SELECT email AS address, language, id AS person_id FROM people WHERE operator_since IS NOT NULL ORDER BY id",
)


@dataclass(frozen=True, slots=True)
class NoticeReader:
    """Somebody who is told: where, in which language, who it is where he signs in, and what he does without."""

    address: str
    language: str = "en"
    person_id: UUID | None = None
    muted: frozenset[str] = frozenset()
    former: bool = False
    """Whether it is an address that was changed within a week: told what may have to be stopped, and no news."""

    @property
    def say(self) -> Say:
        """Say it in the reader's language."""
        return say_in(self.language)


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads what one household is told, and its employees, those that have an address."""

    household: tuple[NoticeReader, ...]
    employees: Mapping[UUID, NoticeReader]


async def readers_of(session: AsyncSession, household: UUID, employees: Collection[UUID]) -> Readers:
    """Return who reads what the household is told, and these of its employees; the session is the worker's."""
    found = await readers_of_households(session, [household])
    return Readers(found.get(household, ()), await readers_of_employees(session, employees))


async def readers_of_households(
    session: AsyncSession, households: Collection[UUID]
) -> Mapping[UUID, tuple[NoticeReader, ...]]:
    """Return who reads what each of the households is told; the session is the worker's."""
    found = dict(await _read(session, households, of_employees=False))
    if not households:
        return found
    for row in await fetch_all(session, _FORMER, {"places": list(households)}):
        there = found.get(row.place, ())
        if row.address not in {each.address.lower() for each in there}:
            found[row.place] = (*there, NoticeReader(row.address, row.language, former=True))
    return found


async def readers_of_employees(
    session: AsyncSession, employees: Collection[UUID]
) -> Mapping[UUID, NoticeReader]:
    """Return those of the employees who have an address; the session is the worker's."""
    found = await _read(session, employees, of_employees=True)
    return {place: readers[0] for place, readers in found.items()}


async def readers_of_installation(session: AsyncSession, operator: str | None) -> tuple[NoticeReader, ...]:
    """Return who reads what operators are told: these people, and the `operator` of the settings; the session is
    the worker's."""
    people = [
        NoticeReader(row.address, row.language, row.person_id) for row in await fetch_all(session, _OPERATORS)
    ]
    known = {each.address.lower() for each in people}
    if operator is None or operator.lower() in known:
        return tuple(people)
    return (NoticeReader(operator), *people)


async def _read(
    session: AsyncSession, places: Collection[UUID], *, of_employees: bool
) -> Mapping[UUID, tuple[NoticeReader, ...]]:
    if not places:
        return {}
    rows = await fetch_all(session, _EMPLOYEES if of_employees else _HOUSEHOLDS, {"places": list(places)})
    found: dict[UUID, list[NoticeReader]] = {}
    for row in rows:
        reader = NoticeReader(row.address, row.language, row.person_id, frozenset(row.muted))
        found.setdefault(row.place, []).append(reader)
    return {place: tuple(readers) for place, readers in found.items()}


def _own_key(key: str, reader: NoticeReader) -> str:
    if reader.former:
        return f"{key}:{hash_of_address(reader.address).hex()[:16]}"
    return key if reader.person_id is None else f"{key}:{reader.person_id}"


def addressed(
    notice: Notice,
    readers: Iterable[NoticeReader],
    write: Callable[[NoticeReader], Mail],
    topic: Topic | None = None,
) -> list[Notice]:
    """Return the notice for each reader, with a key of his own; without one, the notice that nobody can be told.

    Who does without the `topic` is not written to; that he was not stands in the outbox.
    """
    found = [
        replace(
            notice,
            key=_own_key(notice.key, each),
            mail=write(each),
            wanted=topic not in each.muted,
        )
        for each in readers
        if topic is None or not each.former
    ]
    return found or [notice]
