"""Notices about payroll issues: to the household, the employees concerned, and the operator.

What was reported is stored with the issue, so if a worker dies in between, its next round reports it, and nothing
twice. The words are those that `GET /payroll/{id}` has at that moment.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.holds import record_hold_notice
from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.relations import BANK_ENTRIES, EMPLOYEES, EMPLOYERS
from hearthpay.database.session import Database
from hearthpay.database.statements import Fragment, statement
from hearthpay.database.typed_rows import fetch_all, fetch_one, fetch_optional, query
from hearthpay.mail.notices import Notice, NotificationSettings, Recipient, queue_notice
from hearthpay.payroll.issues.notice_mail import (
    NoticeFacts,
    employee_notice,
    household_notice,
    operator_notice,
)
from hearthpay.payroll.issues.payment_status import PaymentIssue, PayrollPaymentStatus, read_payment_status
from hearthpay.payroll.issues.problem_log import NotedProblem
from hearthpay.people.recipients import Readers, addressed, readers_of
from hearthpay.security.key_ring import KeyRing
from hearthpay.time_zones import shown_in

AT_ONCE: Final = 100
"""Payrolls reported in one round."""

UNREPORTED: Final = Fragment(
    "SELECT id FROM payrolls WHERE failure IS NOT NULL "
    "AND failure_told IS DISTINCT FROM md5((status = 'failed')::text || failure::text)"
)
"""SQL: the payrolls whose failure hasn't been reported."""

_UNTOLD: Final = statement(
    "SELECT u.id FROM ({unreported} UNION SELECT payroll_id FROM {bank_entries} e WHERE status = 'pending' "
    "AND held_reason IS NOT NULL AND held_told IS DISTINCT FROM held_reason AND payroll_id IS NOT NULL) u "
    "JOIN payrolls p ON p.id = u.id ORDER BY row_number() OVER (PARTITION BY p.organization_id ORDER BY u.id), u.id "
    "LIMIT :limit",
    unreported=UNREPORTED,
    bank_entries=BANK_ENTRIES,
)


class _LockRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    pay_date: datetime.date
    failure_told: str | None
    print: str | None
    held_untold: bool


_LOCK: Final = query(
    _LockRow,
    "SELECT id, organization_id, employer_id, sandbox, pay_date, failure_told, "
    "md5((status = 'failed')::text || failure::text) AS print, EXISTS (SELECT FROM {bank_entries} e "
    "WHERE e.payroll_id = payrolls.id AND e.status = 'pending' AND e.held_reason IS NOT NULL "
    "AND e.held_told IS DISTINCT FROM e.held_reason) AS held_untold "
    "FROM payrolls WHERE id = :id FOR NO KEY UPDATE SKIP LOCKED",
    bank_entries=BANK_ENTRIES,
)


class HouseholdName(NamedTuple):
    """A household's name."""

    first_name: str
    last_name: str


HOUSEHOLD: Final = query(
    HouseholdName, "SELECT first_name, last_name FROM {employers} e WHERE id = :id", employers=EMPLOYERS
)
"""A household's name."""
_TOLD: Final = text("UPDATE payrolls SET failure_told = :print WHERE id = :id")


class _PeopleRow(NamedTuple):
    id: UUID
    first_name: str
    last_name: str
    payment_method: str


_PEOPLE: Final = query(
    _PeopleRow,
    "SELECT e.id, e.first_name, e.last_name, n.payment_method FROM payroll_entries n "
    "JOIN {employees} e ON e.id = n.employee_id WHERE n.payroll_id = :id ORDER BY n.position",
    employees=EMPLOYEES,
)
_FOR_EMPLOYEES: Final = ("debit_returned", "deposit_returned", "deposit_reversed", "held", "year_passed")
"""What employees paid by direct deposit are notified of, all of them if none is named."""

_FOR_OPERATOR: Final = ("wages_not_covered", "deposit_reversed", "reversal_returned")
"""What only the operator can fix, or must know."""

_OPERATORS_CODES: Final = ("internal_error", "tax_year_not_final", "unsupported_jurisdiction")
_log = structlog.get_logger("hearthpay.payroll")


@dataclass(frozen=True, slots=True)
class _Case:
    """An issue to report, and to whom; `episode` distinguishes one occurrence of the same issue from the next."""

    payroll: _LockRow
    household: HouseholdName
    people: Sequence[_PeopleRow]
    readers: Readers
    payment_status: PayrollPaymentStatus
    issue: PaymentIssue
    episode: str


async def find_unreported(session: AsyncSession) -> list[UUID]:
    """Return payrolls that haven't been reported; the session is the worker's."""
    return list(await session.scalars(_UNTOLD, {"limit": AT_ONCE}))


async def notify_of_payrolls(
    database: Database,
    ring: KeyRing,
    clock: Clock,
    notifications: NotificationSettings,
    payrolls: Sequence[UUID],
) -> int:
    """Queue the notices about these payrolls; return how many were reported. Raises DatabaseUnavailable.

    `database` acts as the worker's role. One that fails doesn't delay any other.
    """
    notified = 0
    for payroll_id in payrolls:
        try:
            async with database.transaction(None) as session:
                notified += await _notify_of(session, ring, notifications, payroll_id, clock.now())
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
            _log.error("telling of a payroll failed", payroll_id=str(payroll_id), exc_info=error)
    return notified


async def notify_of_problems(
    session: AsyncSession,
    ring: KeyRing,
    notifications: NotificationSettings,
    now: datetime.datetime,
    noted: Sequence[NotedProblem],
) -> None:
    """Notify the operator of each of the worker's problems when it begins."""
    for problem in noted:
        lines = [
            f"Since {problem.since:%Y-%m-%d %H:%M} UTC: {problem.problem}.",
            "It is tried again every minute and logged once a day while it lasts.",
        ]
        mail = (
            None
            if notifications.operator is None
            else operator_notice(notifications.operator, "the bank's work is held up", lines)
        )
        key = f"problem:{problem.key}:{problem.since.isoformat()}"
        await queue_notice(session, ring, notifications, now, Notice(key, "problem", "operator", mail))


async def _notify_of(
    session: AsyncSession,
    ring: KeyRing,
    notifications: NotificationSettings,
    payroll_id: UUID,
    now: datetime.datetime,
) -> bool:
    payroll = await fetch_optional(session, _LOCK, {"id": payroll_id})
    if payroll is None:  # another worker is at it
        return False
    untold = payroll.print is not None and payroll.print != payroll.failure_told
    if not untold and not payroll.held_untold:  # another worker was faster
        return False
    payment_status = await read_payment_status(session, payroll_id, now, within_tenant=False)
    household = await fetch_one(session, HOUSEHOLD, {"id": payroll.employer_id})
    people = await fetch_all(session, _PEOPLE, {"id": payroll_id})
    readers = await readers_of(session, payroll.employer_id, [each.id for each in people])
    noted = [(payment_status.stored, str(payroll.print))] if untold else []
    if payroll.held_untold and payment_status.held is not None:
        noted.append((payment_status.held, str(payment_status.held.case.hold)))
    for issue, episode in noted:
        if issue is not None:
            case = _Case(payroll, household, people, readers, payment_status, issue, episode)
            for notice in _notices(case, notifications):
                await queue_notice(session, ring, notifications, now, notice)
    await session.execute(_TOLD, {"id": payroll_id, "print": payroll.print})
    await record_hold_notice(session, payroll_id)
    return True


def _notices(case: _Case, notifications: NotificationSettings) -> list[Notice]:
    payroll, issue = case.payroll, case.issue
    what = f"{payroll.id}:{issue.kind}:{issue.code}"
    name = (case.household.first_name, case.household.last_name)

    def notice(key: str, recipient: Recipient, employee_id: UUID | None = None) -> Notice:
        return Notice(
            f"{what}:{key}",
            issue.kind,
            recipient,
            None,
            payroll.organization_id,
            payroll.employer_id,
            payroll.sandbox,
            employee_id,
            payroll.id,
        )

    concerned = tuple(
        f"{each.first_name} {each.last_name}" for each in case.people if each.id in issue.employees
    )
    everyone = tuple(f"{each.first_name} {each.last_name}" for each in case.people)
    about = NoticeFacts(name, concerned, payroll.pay_date, everyone)
    notices = addressed(
        notice(f"{case.episode}:household", "household"),
        case.readers.household,
        lambda reader: household_notice(reader, about, issue),
    )
    again = "again" if issue.next_try is not None else "for good"
    for each in _employees_to_notify(issue, case.people):
        facts = NoticeFacts(name, (each.first_name,), payroll.pay_date)
        paid = case.payment_status.paychecks.get(each.id)
        reader = case.readers.employees.get(each.id)
        with shown_in(None if reader is None else reader.time_zone):
            mail = None if reader is None else employee_notice(reader, facts, issue, paid)
        notices.append(replace(notice(f"{again}:employee:{each.id}", "employee", each.id), mail=mail))
    if _for_operator(issue):
        lines = [
            f"Payroll {payroll.id}, pay date {payroll.pay_date:%B %-d, %Y}: {issue.message}",
            f"{issue.reason} ({issue.code}).",
        ]
        mail = (
            None
            if notifications.operator is None
            else operator_notice(notifications.operator, issue.reason, lines)
        )
        notices.append(replace(notice(f"{case.episode}:operator", "operator"), mail=mail))
    return notices


def _employees_to_notify(issue: PaymentIssue, people: Sequence[_PeopleRow]) -> list[_PeopleRow]:
    by_bank = [each for each in people if each.payment_method == "direct_deposit"]
    if issue.employees and issue.kind in _FOR_EMPLOYEES:
        return [each for each in by_bank if each.id in issue.employees]
    if issue.kind == "debit_returned":
        return by_bank
    if issue.kind == "not_sent" and issue.next_try is None:
        return by_bank
    return []


def _for_operator(issue: PaymentIssue) -> bool:
    if issue.kind == "held":
        return issue.code == "payment_held"
    return issue.kind in _FOR_OPERATOR or issue.code in _OPERATORS_CODES
