"""Sensitive actions in the audit log, and who is alerted about each."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.relations import EMPLOYEES, EMPLOYERS, ORGANIZATIONS, PEOPLE
from hearthpay.database.sensitive_actions import DELICATE_ACTS
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.people.recipients import NoticeReader
from hearthpay.time_zones import time_zone_of

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
    "coalesce(e.id, CASE WHEN a.action LIKE 'employee.%' THEN a.subject_id END) AS employee_id, "
    "e.first_name || ' ' || e.last_name AS employee, m.name AS member, "
    "h.state, h.time_zone "
    "FROM audit_log a JOIN {organizations} o ON o.id = a.organization_id "
    "LEFT JOIN {people} p ON a.actor_kind = 'user' AND p.id = a.actor_id "
    "LEFT JOIN {employers} h ON h.id = a.employer_id "
    "LEFT JOIN {employees} e ON e.employer_id = a.employer_id AND e.id = "
    "coalesce(CAST(a.details ->> 'employee_id' AS uuid), CASE WHEN a.action LIKE 'employee.%' THEN a.subject_id END) "
    "LEFT JOIN {people} m ON a.action LIKE 'member.%' AND m.id = a.subject_id "
    "WHERE a.id = ANY(:acts) ORDER BY a.id",
    organizations=ORGANIZATIONS,
    people=PEOPLE,
    employers=EMPLOYERS,
    employees=EMPLOYEES,
)


class _MembersRow(NamedTuple):
    address: str
    person_id: UUID | None
    language: str


_MEMBERS: Final = query(
    _MembersRow,
    "SELECT p.email AS address, p.id AS person_id, p.language FROM memberships m "
    "JOIN {people} p ON p.id = m.person_id WHERE m.organization_id = :organization AND m.ended_at IS NULL "
    "AND m.role IN ('owner', 'admin') "
    "UNION SELECT f.address, NULL, p.language FROM memberships m "
    "JOIN {people} p ON p.id = m.person_id JOIN former_person_addresses f ON f.person_id = p.id "
    "WHERE m.organization_id = :organization AND m.ended_at IS NULL AND m.role IN ('owner', 'admin') "
    "AND f.told_until > :now AND f.taken_back_at IS NULL ORDER BY 1",
    people=PEOPLE,
)


_VIEWERS: Final = query(
    _MembersRow,
    "SELECT p.email AS address, p.id AS person_id, p.language FROM memberships m JOIN {people} p ON p.id = m.person_id "
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
    "WHERE f.organization_id = :organization AND NOT f.sandbox AND f.employee_id IS NULL AND f.told_until > :now "
    "AND f.taken_back_at IS NULL ORDER BY 1, 2",
    employers=EMPLOYERS,
)


class _EmployeeRow(NamedTuple):
    address: str
    language: str


_EMPLOYEE: Final = query(
    _EmployeeRow,
    "SELECT lower(e.email) AS address, e.language FROM {employees} e WHERE e.id = :employee AND e.email IS NOT NULL "
    "UNION SELECT lower(f.address), e.language FROM former_addresses f JOIN {employees} e ON e.id = f.employee_id "
    "WHERE f.employee_id = :employee AND f.told_until > :now AND f.taken_back_at IS NULL "
    "UNION SELECT p.email, p.language FROM employee_links l JOIN {people} p ON p.id = l.person_id "
    "WHERE l.employee_id = :employee AND (l.ended_at IS NULL OR p.id = CAST(:unlinked AS uuid)) ORDER BY 1",
    employees=EMPLOYEES,
    people=PEOPLE,
)


class _PersonRow(NamedTuple):
    address: str
    person_id: UUID
    language: str


_PERSON: Final = query(
    _PersonRow,
    "SELECT email AS address, id AS person_id, language FROM {people} p WHERE id = :person",
    people=PEOPLE,
)


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


@dataclass(frozen=True, slots=True)
class AlertReader:
    """A person to alert, and the actions to report to them."""

    reader: NoticeReader
    acts: tuple[SensitiveAct, ...]


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

    Owners and admins are alerted about all, viewers about what concerns everyone. Each address receives one mail.
    """
    found: dict[str, tuple[NoticeReader, list[SensitiveAct]]] = {}

    def tell(act: SensitiveAct, *readers: NoticeReader) -> None:
        for reader in readers:
            _, roles = found.setdefault(reader.address.lower(), (reader, []))
            if act not in roles:
                roles.append(act)

    organization = acts[0].organization_id
    values = {"organization": organization, "now": now}
    members = [
        NoticeReader(row.address, row.language, row.person_id)
        for row in await fetch_all(session, _MEMBERS, values)
    ]
    places = [
        (row.id, NoticeReader(row.address))
        for row in await fetch_all(session, _HOUSEHOLDS, values)
        if row.address is not None
    ]
    few = len({place for place, _ in places}) <= MOST_HOUSEHOLDS
    viewers = await _viewers(session, organization, acts)
    for act in acts:
        everyone = DELICATE_ACTS[act.action].everyone
        tell(act, *members, *(viewers if everyone else ()))
        for place, reader in places:
            if act.employer_id == place or (act.employer_id is None and (few or everyone)):
                tell(act, reader)
        match DELICATE_ACTS[act.action].concerned:
            case "employee" if act.employee_id is not None:
                unlinked = act.details.get("person_id") if act.action == "employee.unlink" else None
                rows = await fetch_all(
                    session, _EMPLOYEE, {"employee": act.employee_id, "unlinked": unlinked, "now": now}
                )
                tell(act, *(NoticeReader(row.address, row.language) for row in rows))
            case "member" if act.subject_id is not None:
                people = await fetch_all(session, _PERSON, {"person": act.subject_id})
                tell(act, *(NoticeReader(row.address, row.language, row.person_id) for row in people))
            case _:
                pass
    return [AlertReader(reader, tuple(roles)) for reader, roles in found.values()]


async def _viewers(
    session: AsyncSession, organization: UUID, acts: Sequence[SensitiveAct]
) -> Sequence[NoticeReader]:
    """Return the viewers if one of the actions concerns everyone."""
    if not any(DELICATE_ACTS[act.action].everyone for act in acts):
        return ()
    rows = await fetch_all(session, _VIEWERS, {"organization": organization})
    return [NoticeReader(row.address, row.language, row.person_id) for row in rows]
