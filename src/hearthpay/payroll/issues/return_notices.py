"""Notices of returned payments that belong to no payroll: a prenote, or a payout of set-aside money.

A returned prenote makes its account unusable, and a returned payout puts its money back into the employee's balance.
Without a notice, either would show only at the next payday, or when somebody checks.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.return_codes import return_codes
from hearthpay.banking.unreported_returns import (
    UnreportedReturn,
    find_unreported_returns,
    lock_unreported_return,
    record_return_notice,
)
from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.relations import EMPLOYEES
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import fetch_one, query
from hearthpay.mail.notices import Notice, NotificationSettings, Recipient, queue_notice
from hearthpay.payroll.issues.notice_mail import (
    ReturnNoticeFacts,
    return_notice_to_employee,
    return_notice_to_household,
)
from hearthpay.payroll.issues.notices import HOUSEHOLD, HouseholdName
from hearthpay.people.recipients import Readers, addressed, readers_of
from hearthpay.security.key_ring import KeyRing
from hearthpay.taxes.money import from_cents

AT_ONCE: Final = 100
"""Returned payments reported in one round."""


class _EmployeeRow(NamedTuple):
    first_name: str
    last_name: str


_EMPLOYEE: Final = query(
    _EmployeeRow, "SELECT first_name, last_name FROM {employees} e WHERE id = :id", employees=EMPLOYEES
)
_log = structlog.get_logger("hearthpay.payroll")


@dataclass(frozen=True, slots=True)
class _People:
    household: HouseholdName
    employee: _EmployeeRow | None
    readers: Readers


async def unreported_returns(session: AsyncSession) -> Sequence[UUID]:
    """Return the payments whose return is reported in this round; the session is the worker's."""
    return await find_unreported_returns(session, limit=AT_ONCE)


async def notify_of_returns(
    database: Database,
    ring: KeyRing,
    clock: Clock,
    notifications: NotificationSettings,
    entries: Sequence[UUID],
) -> int:
    """Queue the notices about these payments; return how many were reported. Raises DatabaseUnavailable.

    `database` acts as the worker's role. One that fails doesn't delay any other.
    """
    notified = 0
    for entry_id in entries:
        try:
            async with database.transaction(None) as session:
                notified += await _notify_of(session, ring, notifications, entry_id, clock.now())
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
            _log.error("telling of a returned payment failed", entry_id=str(entry_id), exc_info=error)
    return notified


async def _notify_of(
    session: AsyncSession,
    ring: KeyRing,
    notifications: NotificationSettings,
    entry_id: UUID,
    now: datetime.datetime,
) -> bool:
    entry = await lock_unreported_return(session, entry_id)
    if entry is None:
        return False
    household = await fetch_one(session, HOUSEHOLD, {"id": entry.employer_id})
    employee = None
    if entry.employee_id is not None:
        employee = await fetch_one(session, _EMPLOYEE, {"id": entry.employee_id})
    concerned = [] if entry.employee_id is None else [entry.employee_id]
    readers = await readers_of(session, entry.employer_id, concerned)
    for notice in _notices(entry, _People(household, employee, readers)):
        await queue_notice(session, ring, notifications, now, notice)
    await record_return_notice(session, entry_id, now)
    return True


def _notices(entry: UnreportedReturn, people: _People) -> list[Notice]:
    kind = f"{entry.kind}_returned"

    def notice(recipient: Recipient) -> Notice:
        return Notice(
            f"{entry.id}:{kind}:{recipient}",
            kind,
            recipient,
            None,
            entry.organization_id,
            entry.employer_id,
            entry.sandbox,
            entry.employee_id,
        )

    reason = return_codes().reason(entry.code)
    household, employee = people.household, people.employee
    facts = ReturnNoticeFacts(
        (household.first_name, household.last_name),
        None if employee is None else (employee.first_name, employee.last_name),
        entry.last_four,
        reason.title,
        entry.code,
        None if entry.kind == "prenote" else from_cents(entry.amount),
    )
    notices = addressed(
        notice("household"),
        people.readers.household,
        lambda reader: return_notice_to_household(reader, facts),
    )
    if employee is not None:
        found = people.readers.employees.values()
        notices += addressed(
            notice("employee"), found, lambda reader: return_notice_to_employee(reader, facts)
        )
    return notices
