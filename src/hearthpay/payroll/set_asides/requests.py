"""Employees' set-aside requests, until the household, which keeps the money, has decided.

To stop set-asides, the employee's request is enough. A request also ends when the employee withdraws it or requests
something else.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import OWN_RECORD, READ_PAYROLLS, RUN_PAYROLL, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.database.relations import EMPLOYEES
from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query
from hearthpay.employees.links import allow_own
from hearthpay.employees.models import Employee
from hearthpay.employees.service import lock_employee
from hearthpay.payroll.set_asides.escrow import set_rule
from hearthpay.payroll.set_asides.rules import SetAsideRule

RequestDecision = Literal["approved", "declined"]

_COLUMNS: Final = Fragment(
    "r.id, r.employee_id, r.rate, r.amount, r.asked_at, e.first_name || ' ' || e.last_name AS name"
)


class _PendingRow(NamedTuple):
    id: UUID
    employee_id: UUID
    rate: Decimal | None
    amount: int | None
    asked_at: datetime.datetime
    name: str


_PENDING: Final = query(
    _PendingRow,
    "SELECT {columns} FROM set_aside_requests r JOIN {employees} e ON e.id = r.employee_id "
    "WHERE r.status = 'pending' ORDER BY r.id",
    columns=_COLUMNS,
    employees=EMPLOYEES,
)


_PENDING_OF: Final = query(
    _PendingRow,
    "SELECT {columns} FROM set_aside_requests r JOIN {employees} e ON e.id = r.employee_id "
    "WHERE r.status = 'pending' AND r.employee_id = :employee",
    columns=_COLUMNS,
    employees=EMPLOYEES,
)
_WHOSE: Final = text("SELECT employee_id FROM set_aside_requests WHERE id = :id")
_ASK: Final = text(
    "INSERT INTO set_aside_requests (id, organization_id, employer_id, sandbox, employee_id, rate, amount, asked_at) "
    "VALUES (:id, :organization, :employer, :sandbox, :employee, :rate, :amount, :now)"
)


class _EndRow(NamedTuple):
    id: UUID
    rate: Decimal | None
    amount: int | None


_END: Final = query(
    _EndRow,
    "UPDATE set_aside_requests SET status = :status, ended_at = :now, decided_by = :by "
    "WHERE employee_id = :employee AND status = 'pending' AND (CAST(:id AS uuid) IS NULL OR id = :id) "
    "RETURNING id, rate, amount",
)


@dataclass(frozen=True, slots=True)
class PendingSetAsideRequest:
    """A pending request."""

    id: UUID
    employee_id: UUID
    name: str
    rule: SetAsideRule
    asked_at: datetime.datetime


async def request_set_aside(
    session: AsyncSession, actor: Actor, clock: Clock, employee_id: UUID, rule: SetAsideRule
) -> bool:
    """Send a request to the household, replacing any earlier one; writes an audit row.

    Returns whether it is new: an identical pending request stays as it is. Raises what `allow_own` raises,
    `not_found`, and `invalid_state` for an employee who has left.
    """
    allow_own(actor, OWN_RECORD, employee_id)
    employee = await lock_employee(session, actor, employee_id)
    if employee.status != "active":
        raise Refusal("invalid_state", "This employment has ended: nothing more is set aside.")
    standing = await pending_request(session, employee.id)
    if standing is not None and standing.rule == rule:
        return False
    now = clock.now()
    await fetch_all(
        session, _END, {"status": "withdrawn", "now": now, "by": None, "employee": employee.id, "id": None}
    )
    request_id = uuid7()
    await session.execute(
        _ASK,
        {
            "id": request_id,
            "organization": employee.organization_id,
            "employer": employee.employer_id,
            "sandbox": employee.sandbox,
            "employee": employee.id,
            "rate": rule.rate,
            "amount": rule.amount_cents,
            "now": now,
        },
    )
    await record_audit(
        session,
        actor,
        "set_aside_request.ask",
        employer_id=employee.employer_id,
        subject_id=request_id,
        details={"employee_id": employee.id, "rate": rule.rate, "amount_cents": rule.amount_cents},
    )
    return True


async def withdraw_request(session: AsyncSession, actor: Actor, clock: Clock, employee_id: UUID) -> bool:
    """Withdraw the pending request; return whether there was one. Raises what `allow_own` raises."""
    allow_own(actor, OWN_RECORD, employee_id)
    employee = await lock_employee(session, actor, employee_id)
    values = {"status": "withdrawn", "now": clock.now(), "by": None, "employee": employee.id, "id": None}
    row = await fetch_optional(session, _END, values)
    if row is None:
        return False
    await _leave_trace(session, actor, employee, row.id, "withdraw")
    return True


async def pending_request(session: AsyncSession, employee_id: UUID) -> PendingSetAsideRequest | None:
    """Return the employee's pending request, if any."""
    row = await fetch_optional(session, _PENDING_OF, {"employee": employee_id})
    return None if row is None else _request(row)


async def pending_requests(session: AsyncSession, actor: Actor) -> Sequence[PendingSetAsideRequest]:
    """Return every pending request for the actor's households. Raises what `allow` raises."""
    allow(actor, READ_PAYROLLS)
    return [_request(row) for row in await fetch_all(session, _PENDING)]


async def decide_request(
    session: AsyncSession, actor: Actor, clock: Clock, request_id: UUID, decision: RequestDecision
) -> Employee:
    """Approve an employee's request, which becomes the standing rule from the next payroll on, or decline it.

    Writes an audit row. Returns the employee. Raises what `allow` raises, and `not_found`, also if the actor can't
    access it or the request has been decided or withdrawn since.
    """
    allow(actor, RUN_PAYROLL)
    employee_id = await session.scalar(_WHOSE, {"id": request_id})
    if employee_id is None:
        raise _no_request()
    employee = await lock_employee(session, actor, employee_id)
    values = {
        "status": decision,
        "now": clock.now(),
        "by": actor.id,
        "employee": employee.id,
        "id": request_id,
    }
    row = await fetch_optional(session, _END, values)
    if row is None:
        raise _no_request()
    if decision == "approved":
        await set_rule(session, actor, employee, _rule(row.rate, row.amount), request_id=request_id)
    await _leave_trace(
        session, actor, employee, request_id, "approve" if decision == "approved" else "decline"
    )
    return employee


async def _leave_trace(
    session: AsyncSession, actor: Actor, employee: Employee, request_id: UUID, verb: str
) -> None:
    await record_audit(
        session,
        actor,
        f"set_aside_request.{verb}",
        employer_id=employee.employer_id,
        subject_id=request_id,
        details={"employee_id": employee.id},
    )


def _request(row: _PendingRow) -> PendingSetAsideRequest:
    return PendingSetAsideRequest(
        row.id, row.employee_id, row.name, _rule(row.rate, row.amount), row.asked_at
    )


def _rule(rate: Decimal | None, cents: int | None) -> SetAsideRule:
    return SetAsideRule(rate=rate) if rate is not None else SetAsideRule(amount_cents=cents)


def _no_request() -> Refusal:
    return Refusal("not_found", "Request not found.")
