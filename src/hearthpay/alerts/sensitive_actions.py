"""Sensitive actions in the audit log, and who is alerted about each."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.relations import EMPLOYEES, EMPLOYERS, ORGANIZATIONS, PEOPLE
from hearthpay.database.sensitive_actions import DELICATE_ACTS
from hearthpay.database.statements import Fragment, statement
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.people.recipients import NoticeReader
from hearthpay.time_zones import time_zone_of

SETTING_UP: Final = datetime.timedelta(days=1)
"""How long after its beginning an organization, or an employee's record, is being set up: nobody is alarmed of their
own answers.
"""
MOST_HOUSEHOLDS: Final = 3
"""In an organization with more households than this, actions that concern all of it are reported to its members only.
"""


class _ActsRow(NamedTuple):
    id: UUID
    at: datetime.datetime
    organization_id: UUID
    organization: str
    employer_id: UUID | None
    actor_kind: str
    actor_id: UUID | None
    action: str
    subject_id: UUID | None
    details: dict[str, Any]
    actor_name: str | None
    household: str | None
    employee_id: UUID | None
    employee: str | None
    member: str | None
    state: str | None
    time_zone: str | None


# They are in the order of the log. The names are the current ones.
_ACTS: Final = query(
    _ActsRow,
    "SELECT a.id, a.at, a.organization_id, o.name AS organization, a.employer_id, a.actor_kind, a.actor_id, a.action, "
    "a.subject_id, a.details, p.name AS actor_name, h.last_name AS household, "
    "coalesce(e.id, CASE WHEN {of_employee} THEN a.subject_id END) AS employee_id, "
    "e.first_name || ' ' || e.last_name AS employee, m.name AS member, "
    "h.state, h.time_zone "
    "FROM audit_log a JOIN {organizations} o ON o.id = a.organization_id "
    "LEFT JOIN {people} p ON a.actor_kind = 'user' AND p.id = a.actor_id "
    "LEFT JOIN {employers} h ON h.id = a.employer_id "
    "LEFT JOIN {employees} e ON e.employer_id = a.employer_id AND e.id = "
    "coalesce(CAST(a.details ->> 'employee_id' AS uuid), CASE WHEN {of_employee} THEN a.subject_id END) "
    "LEFT JOIN {people} m ON a.action LIKE 'member.%' AND m.id = a.subject_id "
    "WHERE a.id = ANY(:acts) ORDER BY a.id",
    of_employee=Fragment("(a.action LIKE 'employee.%' OR a.action = 'escrow.set_rule')"),
    organizations=ORGANIZATIONS,
    people=PEOPLE,
    employers=EMPLOYERS,
    employees=EMPLOYEES,
)


class _MembersRow(NamedTuple):
    address: str
    person_id: UUID
    language: str
    former: bool


_MEMBERS: Final = query(
    _MembersRow,
    "SELECT p.email AS address, p.id AS person_id, p.language, false AS former FROM memberships m "
    "JOIN {people} p ON p.id = m.person_id WHERE m.organization_id = :organization AND m.ended_at IS NULL "
    "AND m.role IN ('owner', 'admin') "
    "UNION SELECT f.address, p.id, p.language, true FROM memberships m "
    "JOIN {people} p ON p.id = m.person_id JOIN former_person_addresses f ON f.person_id = p.id "
    "WHERE m.organization_id = :organization AND m.ended_at IS NULL AND m.role IN ('owner', 'admin') "
    "AND f.told_until > :now AND f.taken_back_at IS NULL ORDER BY 4, 1",
    people=PEOPLE,
)


_VIEWERS: Final = query(
    _MembersRow,
    "SELECT p.email AS address, p.id AS person_id, p.language, false AS former FROM memberships m "
    "JOIN {people} p ON p.id = m.person_id "
    "WHERE m.organization_id = :organization AND m.ended_at IS NULL AND m.role = 'viewer' ORDER BY 1",
    people=PEOPLE,
)


class _HouseholdsRow(NamedTuple):
    id: UUID
    address: str | None


_HOUSEHOLDS: Final = query(
    _HouseholdsRow,
    "SELECT h.id, lower(h.email) AS address FROM {employers} h "
    "WHERE h.organization_id = :organization AND NOT h.sandbox "
    "UNION ALL SELECT f.employer_id, lower(f.address) FROM former_addresses f "
    "WHERE f.organization_id = :organization AND NOT f.sandbox AND f.employee_id IS NULL AND f.address IS NOT NULL "
    "AND f.told_until > :now AND f.taken_back_at IS NULL ORDER BY 1, 2",
    employers=EMPLOYERS,
)


class _EmployeeRow(NamedTuple):
    address: str
    language: str
    created_at: datetime.datetime


_EMPLOYEE: Final = query(
    _EmployeeRow,
    "SELECT lower(e.email) AS address, e.language, e.created_at FROM {employees} e "
    "WHERE e.id = :employee AND e.email IS NOT NULL "
    "UNION SELECT lower(f.address), e.language, e.created_at FROM former_addresses f "
    "JOIN {employees} e ON e.id = f.employee_id WHERE f.employee_id = :employee AND f.address IS NOT NULL "
    "AND f.told_until > :now AND f.taken_back_at IS NULL "
    "UNION SELECT p.email, p.language, e.created_at FROM employee_links l JOIN {people} p ON p.id = l.person_id "
    "JOIN {employees} e ON e.id = l.employee_id "
    "WHERE l.employee_id = :employee AND (l.ended_at IS NULL OR p.id = CAST(:unlinked AS uuid)) ORDER BY 1",
    employees=EMPLOYEES,
    people=PEOPLE,
)
# Whom a restoration concerns: also those whose address went by it, once.
_REPLACED: Final = statement(
    "SELECT DISTINCT lower(address) FROM former_addresses WHERE employer_id = :employer "
    "AND employee_id IS NOT DISTINCT FROM CAST(:employee AS uuid) AND address IS NOT NULL AND told_until > :now "
    "AND taken_back_at IS NOT NULL ORDER BY 1"
)


class _PersonRow(NamedTuple):
    address: str
    person_id: UUID
    language: str
    former: bool


_PERSON: Final = query(
    _PersonRow,
    "SELECT email AS address, id AS person_id, language, false AS former FROM {people} p WHERE id = :person "
    "UNION SELECT f.address, p.id, p.language, true FROM {people} p "
    "JOIN former_person_addresses f ON f.person_id = p.id WHERE p.id = :person AND f.told_until > :now "
    "AND f.taken_back_at IS NULL ORDER BY 4",
    people=PEOPLE,
)
_FOUNDED: Final = statement(
    "SELECT created_at FROM {organizations} o WHERE id = :organization", organizations=ORGANIZATIONS
)
_RESTORATIONS: Final = frozenset({"employer.restore_address", "employee.restore_address"})


@dataclass(frozen=True, slots=True)
class SensitiveAct:
    """One sensitive action, with the names of those concerned, if any."""

    id: UUID
    at: datetime.datetime
    organization_id: UUID
    organization: str
    employer_id: UUID | None
    actor_kind: str
    actor_id: UUID | None
    action: str
    subject_id: UUID | None
    details: Mapping[str, Any]
    actor_name: str | None
    household: str | None
    employee_id: UUID | None
    employee: str | None
    member: str | None
    zone: ZoneInfo = BUSINESS_TIME
    """The time zone of the household; Eastern time for what concerns the whole organization."""

    @property
    def changes(self) -> frozenset[str]:
        """The names of the settings that it changed."""
        return frozenset(self.details.get("before") or ())

    @property
    def removes_owner(self) -> bool:
        """Whether it removed or demoted an owner, and neither that owner nor the operator did it."""
        if self.actor_kind == "operator" or self.actor_id == self.subject_id:
            return False
        if self.action == "member.remove":
            return bool(self.details.get("role") == "owner")
        return self.action == "member.change_role" and self.details["before"]["role"] == "owner"


@dataclass(frozen=True, slots=True)
class AlertReader:
    """A person to alert, and the actions to report to them; `member` if the address is an owner's or admin's, or of
    someone who was one.
    """

    reader: NoticeReader
    acts: tuple[SensitiveAct, ...]
    member: UUID | None = None


@dataclass(slots=True)
class _Readers:
    """The readers found so far, by address."""

    found: dict[str, tuple[NoticeReader, UUID | None, list[SensitiveAct]]] = field(default_factory=dict)

    def tell(self, act: SensitiveAct, reader: NoticeReader, member: UUID | None = None) -> None:
        """Report the action to the reader."""
        known, holder, acts = self.found.get(reader.address.lower(), (reader, None, []))
        if act not in acts:
            acts.append(act)
        self.found[reader.address.lower()] = (known, holder or member, acts)

    def all(self, *, setting_up: bool) -> Sequence[AlertReader]:
        """Return the readers; while `setting_up` none who did all of it themselves."""
        return [
            AlertReader(reader, tuple(acts), member)
            for reader, member, acts in self.found.values()
            if not setting_up or any(_is_by_another(act, reader) for act in acts)
        ]


def _is_by_another(act: SensitiveAct, reader: NoticeReader) -> bool:
    return act.actor_kind != "user" or act.actor_id != reader.person_id


async def acts_of(session: AsyncSession, acts: Sequence[UUID]) -> Sequence[SensitiveAct]:
    """Return the actions with these ids that the session may see, oldest first."""
    return [
        SensitiveAct(*row[:-2], zone=time_zone_of(row.state or "", row.time_zone))
        for row in await fetch_all(session, _ACTS, {"acts": list(acts)})
    ]


async def alert_recipients(
    session: AsyncSession, now: datetime.datetime, acts: Sequence[SensitiveAct]
) -> Sequence[AlertReader]:
    """Return who is alerted about which of these actions of one organization; the session is the worker's.

    Owners and admins are alerted about all but what concerns an employee alone, viewers about what concerns everyone.
    On the organization's first day nobody is who did all of it themselves while setting up. Each address receives one
    mail.
    """
    organization = acts[0].organization_id
    values = {"organization": organization, "now": now}
    founded: datetime.datetime = (await session.execute(_FOUNDED, values)).scalar_one()
    readers = _Readers()
    members = await fetch_all(session, _MEMBERS, values)
    places = [
        (row.id, NoticeReader(row.address))
        for row in await fetch_all(session, _HOUSEHOLDS, values)
        if row.address is not None
    ]
    few = len({place for place, _ in places}) <= MOST_HOUSEHOLDS
    viewers = await _viewers(session, organization, acts)
    for act in acts:
        rule = DELICATE_ACTS[act.action]
        if not rule.concerns_only_one(act.details):
            for row in (*members, *(viewers if rule.everyone else ())):
                readers.tell(act, _member(row), row.person_id)
            for place, reader in places:
                if act.employer_id == place or (act.employer_id is None and (few or rule.everyone)):
                    readers.tell(act, reader)
        language = "en"
        match rule.concerned:
            case "employee" if act.employee_id is not None:
                language = await _tell_employee(session, now, readers, act)
            case "member" if act.subject_id is not None:
                people = await fetch_all(session, _PERSON, {"person": act.subject_id, "now": now})
                for each in people:
                    readers.tell(act, _member(each), each.person_id)
            case _:
                pass
        if act.action in _RESTORATIONS:
            for address in await _replaced(session, now, act):
                readers.tell(act, NoticeReader(address, language))
    return readers.all(setting_up=now - founded < SETTING_UP)


async def _tell_employee(
    session: AsyncSession, now: datetime.datetime, readers: _Readers, act: SensitiveAct
) -> str:
    """Report the action to the employee, and return the employee's language.

    Not reported is what concerns them alone if they did it themselves, which another notice says, or if it was entered
    on the record's first day.
    """
    unlinked = act.details.get("person_id") if act.action == "employee.unlink" else None
    rows = await fetch_all(
        session, _EMPLOYEE, {"employee": act.employee_id, "unlinked": unlinked, "now": now}
    )
    informs = DELICATE_ACTS[act.action].concerns_only_one(act.details)
    for row in rows:
        if not informs or (act.actor_kind != "employee" and now - row.created_at >= SETTING_UP):
            readers.tell(act, NoticeReader(row.address, row.language))
    return rows[0].language if rows else "en"


async def _replaced(session: AsyncSession, now: datetime.datetime, act: SensitiveAct) -> Sequence[str]:
    """Return the addresses that a restoration concerns: the replaced one, the restored one, and those between."""
    employee = act.employee_id if act.action == "employee.restore_address" else None
    values = {"employer": act.employer_id, "employee": employee, "now": now}
    between = await session.scalars(_REPLACED, values)
    own = (act.details[when].get("email") for when in ("before", "after"))
    return tuple(dict.fromkeys(each.lower() for each in (*own, *between) if each is not None))


def _member(row: _MembersRow | _PersonRow) -> NoticeReader:
    """Return the reader; a former address may be somebody else's, and what the person did isn't its own."""
    return NoticeReader(row.address, row.language, None if row.former else row.person_id)


async def _viewers(
    session: AsyncSession, organization: UUID, acts: Sequence[SensitiveAct]
) -> Sequence[_MembersRow]:
    """Return the viewers if one of the actions concerns everyone."""
    if not any(DELICATE_ACTS[act.action].everyone for act in acts):
        return ()
    return await fetch_all(session, _VIEWERS, {"organization": organization})
