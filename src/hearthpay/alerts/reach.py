"""What the holder of a stop link may stop: judged when the mail is written, and again when the link is used.

The holder is the reader of an address. A member's address reaches all of the organization, a household's contact what
was done in that household, an employee's what concerns them. A former address counts as long as it may be restored;
one that was set within the week, and replaced since, stops nothing.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.alerts.sensitive_actions import SensitiveAct
from hearthpay.database.relations import EMPLOYEE_LINKS, EMPLOYEES, EMPLOYERS, PEOPLE
from hearthpay.database.session import become_person, leave_person
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query
from hearthpay.people.former_addresses import MAY_RESTORE
from hearthpay.people.stop_links import StopActs

UNSTOPPABLE: Final = frozenset(
    {
        "organization.freeze",
        "organization.unfreeze",
        "household.freeze",
        "household.unfreeze",
        "employer.restore_address",
        "employee.restore_address",
        "member.change_role_by_operator",
        "member.remove_by_operator",
    }
)
"""Actions that no link covers: a stop, and the end of a freeze, which an owner or the operator decided."""
_OWN_REMOVAL: Final = frozenset({"member.ask_to_leave", "member.change_role", "member.remove"})
"""What the member concerned may stop although they are no longer one."""


class _MemberRow(NamedTuple):
    in_force: bool


_MEMBER: Final = query(
    _MemberRow,
    "SELECT EXISTS (SELECT FROM memberships m WHERE m.organization_id = :organization AND m.person_id = p.id "
    "AND m.ended_at IS NULL AND m.role IN ('owner', 'admin')) AS in_force FROM {people} p "
    "WHERE p.id = CAST(:member AS uuid) AND (p.email = :address OR EXISTS (SELECT FROM former_person_addresses f "
    "WHERE f.person_id = p.id AND f.address = :address AND f.told_until > :now AND f.taken_back_at IS NULL "
    "AND {may_restore}))",
    people=PEOPLE,
    may_restore=MAY_RESTORE,
)


class _HouseholdRow(NamedTuple):
    id: UUID
    only_one: bool


_HOUSEHOLDS: Final = query(
    _HouseholdRow,
    "SELECT h.id, NOT EXISTS (SELECT FROM {employers} o WHERE o.organization_id = h.organization_id "
    "AND NOT o.sandbox AND o.id <> h.id) AS only_one FROM {employers} h "
    "WHERE h.organization_id = :organization AND NOT h.sandbox AND (lower(h.email) = :address "
    "OR EXISTS (SELECT FROM former_addresses f WHERE f.employer_id = h.id AND f.employee_id IS NULL "
    "AND lower(f.address) = :address AND f.told_until > :now AND f.taken_back_at IS NULL AND {may_restore}))",
    employers=EMPLOYERS,
    may_restore=MAY_RESTORE,
)


class _EmployeeRow(NamedTuple):
    id: UUID


_EMPLOYEES: Final = query(
    _EmployeeRow,
    "SELECT e.id FROM {employees} e WHERE e.id = ANY(:employees) AND (lower(e.email) = :address "
    "OR EXISTS (SELECT FROM former_addresses f WHERE f.employee_id = e.id AND lower(f.address) = :address "
    "AND f.told_until > :now AND f.taken_back_at IS NULL AND {may_restore}) "
    "OR EXISTS (SELECT FROM {links} l JOIN {people} p ON p.id = l.person_id WHERE l.employee_id = e.id "
    "AND l.ended_at IS NULL AND p.email = :address))",
    employees=EMPLOYEES,
    links=EMPLOYEE_LINKS,
    people=PEOPLE,
    may_restore=MAY_RESTORE,
)


@dataclass(frozen=True, slots=True)
class Holder:
    """What a link's holder is now: an owner or admin (`manages`), `member` with the right to keep themselves, contact
    of `households` (`of_all`: of the organization's only one), and one of these `employees`.
    """

    manages: bool
    member: UUID | None
    households: frozenset[UUID]
    of_all: bool
    employees: frozenset[UUID]

    def reaches(self, act: SensitiveAct) -> bool:
        """Return whether the holder may stop this action."""
        if act.action in UNSTOPPABLE:
            return False
        if self.manages:
            return True
        if act.action in _OWN_REMOVAL and self.member is not None and act.subject_id == self.member:
            return True
        if act.action.startswith("member."):
            return False
        if act.employer_id is None:
            return self.of_all
        return act.employer_id in self.households or act.employee_id in self.employees


async def is_the_employee_s(
    session: AsyncSession, now: datetime.datetime, employee_id: UUID, address: str
) -> bool:
    """Return whether the address is the employee's, or a former one that may be restored."""
    values = {"employees": [employee_id], "address": address, "now": now}
    return bool(await fetch_all(session, _EMPLOYEES, values))


async def holder_of(
    session: AsyncSession, now: datetime.datetime, stop: StopActs, acts: Sequence[SensitiveAct]
) -> Holder:
    """Return what the holder of this link is, as far as it concerns these actions; the session is the worker's."""
    values = _values(now, stop, acts)
    member = None if stop.member is None else await fetch_optional(session, _MEMBER, values)
    return await _holder(session, stop, values, member)


async def holder_now(
    session: AsyncSession, now: datetime.datetime, stop: StopActs, acts: Sequence[SensitiveAct]
) -> Holder:
    """Do the same when the link is used; the session is the organization's."""
    if stop.address is None:  # a link of an earlier version
        named = frozenset(act.employer_id for act in acts if act.employer_id is not None)
        return Holder(manages=False, member=None, households=named, of_all=False, employees=frozenset())
    values, member = _values(now, stop, acts), None
    if stop.member is not None:
        await become_person(session, stop.member)  # whose former addresses are theirs alone to read
        member = await fetch_optional(session, _MEMBER, values)
        await leave_person(session)
    return await _holder(session, stop, values, member)


def _values(now: datetime.datetime, stop: StopActs, acts: Sequence[SensitiveAct]) -> dict[str, object]:
    return {
        "organization": stop.organization_id,
        "address": stop.address,
        "member": stop.member,
        "now": now,
        "employees": list({act.employee_id for act in acts if act.employee_id is not None}),
    }


async def _holder(
    session: AsyncSession, stop: StopActs, values: dict[str, object], member: _MemberRow | None
) -> Holder:
    households = await fetch_all(session, _HOUSEHOLDS, values)
    employees = await fetch_all(session, _EMPLOYEES, values)
    return Holder(
        manages=member is not None and member.in_force,
        member=None if member is None else stop.member,
        households=frozenset(row.id for row in households),
        of_all=any(row.only_one for row in households),
        employees=frozenset(row.id for row in employees),
    )
