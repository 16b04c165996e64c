"""Carries direct deposits held past New Year's into the new year: reverses the old paycheck and creates a new one.

Wages belong to the year in which they arrive. The bank file omits a deposit that would arrive in another year than
its paycheck's. Here such a paycheck is reversed, what was collected for it is refunded, and a payroll of the new
year, under its law and year to date, collects and pays it. All of it is one transaction.
"""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.calendar import earliest_pay_date, next_banking_day, submission_day
from hearthpay.banking.entries import (
    Debit,
    HeldCredit,
    cancel,
    collect,
    lock_left_over,
    payrolls_left_over,
)
from hearthpay.banking.files import earliest_settlement
from hearthpay.banking.readiness import account_blockers
from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.database.worker_audit import WorkerAuditEntry, record_worker_audit
from hearthpay.employers.assigned_rates import tax_terms
from hearthpay.payroll.approval import debit_of
from hearthpay.payroll.calculation import calculate_payroll
from hearthpay.payroll.issues import failures
from hearthpay.payroll.kinds import PayrollKind
from hearthpay.payroll.ledger.earlier_pay import read_earlier_pay
from hearthpay.payroll.ledger.histories import read_histories
from hearthpay.payroll.ledger.payrolls import NewPayroll, insert_payroll
from hearthpay.payroll.ledger.posting import post_paychecks, postings_of
from hearthpay.payroll.ledger.rows import Owner
from hearthpay.payroll.lifecycle import PayrollStatus
from hearthpay.payroll.orders import SettledOrder, read_entries, read_payees
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.payroll.payday.bank_outcomes import fail, refund_debit
from hearthpay.payroll.years.household_year import lock_household, measure_household, read_household_year
from hearthpay.payroll.years.reversal import reverse_paychecks
from hearthpay.taxes import TaxInputError

_log = structlog.get_logger("hearthpay.payroll")


class _LockRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    status: PayrollStatus
    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    pay_date_defaulted: bool
    pay_frequency: str
    notes: str | None
    kind: PayrollKind
    metadata: dict[str, str]
    tax_year: int
    failure: dict[str, Any] | None
    approved_at: datetime.datetime


_LOCK: Final = query(
    _LockRow,
    "SELECT id, organization_id, employer_id, sandbox, status, period_start, period_end, pay_date, pay_date_defaulted, "
    "pay_frequency, notes, kind, metadata, tax_year, failure, "
    "coalesce(approved_at, created_at) AS approved_at FROM payrolls WHERE id = :id FOR NO KEY UPDATE SKIP LOCKED",
)


@dataclass(frozen=True, slots=True)
class YearEndReport:
    """How many payrolls were recreated, and why others couldn't be."""

    moved: int = 0
    problems: tuple[str, ...] = ()


class _NotYetError(Exception):
    """The paycheck of the new year can't be created; nothing is changed, and the deposit keeps waiting."""


async def carry_over(
    database: Database, clock: Clock, *, stopping: Callable[[], bool] = lambda: False
) -> YearEndReport:
    """Recreate every direct deposit that hasn't been sent and would arrive in another year than its paycheck's.

    `database` acts as the worker's role. One that can't be recreated while the law of the new year is incomplete
    waits and is reported as a problem. Raises DatabaseUnavailable.
    """
    year = earliest_settlement(clock.now()).year
    async with database.transaction(None) as session:
        left_over = await payrolls_left_over(session, year)
    moved, problems = 0, []
    for payroll_id in left_over:
        if stopping():
            break
        try:
            async with database.transaction(None) as session:
                moved += await _make_anew(session, payroll_id, year, clock.now())
        except DatabaseUnavailable:
            raise
        except _NotYetError as error:
            problems.append(f"payroll {payroll_id} cannot be paid in {year} yet: {error}")
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
            _log.error("making a payroll anew failed", payroll_id=str(payroll_id), exc_info=error)
            problems.append(f"payroll {payroll_id} cannot be paid in {year} yet: {type(error).__name__}")
    return YearEndReport(moved, tuple(problems))


async def _make_anew(session: AsyncSession, payroll_id: UUID, year: int, now: datetime.datetime) -> bool:
    old = await fetch_optional(session, _LOCK, {"id": payroll_id})
    if old is None:  # somebody else is at it
        return False
    held = await lock_left_over(session, payroll_id, year)
    if not held:
        return False
    undone = await reverse_paychecks(session, payroll_id, now, only=[credit.paycheck_id for credit in held])
    await cancel(session, now, [credit.entry_id for credit in held])
    await refund_debit(session, payroll_id, undone, submission_day(now), now)
    new_payroll = await _pay_in_the_new_year(session, old, held, now)
    employees = tuple(credit.employee_id for credit in held)
    earlier = tuple(UUID(found) for found in (old.failure or {}).get("employees", ()))
    failure = failures.year_passed(old.tax_year, new_payroll, (*earlier, *employees))
    await fail(session, payroll_id, old.status, failure, now)
    deed = WorkerAuditEntry(
        old.organization_id,
        old.employer_id,
        old.sandbox,
        payroll_id,
        {
            "tax_year": old.tax_year,
            "made_anew_as": str(new_payroll) if new_payroll else None,
            "employees": [str(employee) for employee in employees],
        },
    )
    await record_worker_audit(session, "payroll.year_passed", [deed])
    return new_payroll is not None


async def _pay_in_the_new_year(
    session: AsyncSession, old: _LockRow, held: Sequence[HeldCredit], now: datetime.datetime
) -> UUID | None:
    """Create the payroll that pays the same work in the new year, and collect its amount; return its id.

    Returns None if the household has no account to collect from: then the household must run the payroll again.
    """
    if await account_blockers(session, households=[old.employer_id]):
        return None
    employees = [credit.employee_id for credit in held]
    entries = (await read_entries(session, [old.id]))[old.id]
    dates = PayDates(
        old.period_start,
        old.period_end,
        earliest_pay_date(now),
        old.pay_date_defaulted,
        asked=old.pay_date,
    )
    order = SettledOrder(
        old.employer_id,
        dates,
        old.pay_frequency,
        old.notes,
        tuple(entry for entry in entries if entry.employee_id in employees),
        old.kind,
        old.metadata,
    )
    bases = await lock_household(session, old.employer_id, employees)
    payees = await read_payees(session, employees)
    year = dates.pay_date.year
    histories = await read_histories(session, payees.values(), year)
    terms = await tax_terms(session, old.employer_id, year)
    thresholds = None
    if bases or any(history.fica_repaid for history in histories.values()):
        thresholds = await read_household_year(session, old.employer_id, year, bases, histories)
    earlier = await read_earlier_pay(session, [order], histories)
    try:
        record = calculate_payroll(order, payees, histories, terms.sui_rates, thresholds, earlier)
    except TaxInputError as error:
        raise _NotYetError(f"{error.field} {error.message}") from error
    if record.unknown:
        missing = ", ".join(each.code for each in record.unknown)
        raise _NotYetError(f"figures of {year} are not published: {missing}")
    owner = Owner(old.organization_id, old.employer_id, old.sandbox)
    amount = debit_of(record)
    status: PayrollStatus = "pending_funding" if amount else "completed"
    new = NewPayroll(owner, order, record, status, ("system", None), old.approved_at)
    new_payroll = await insert_payroll(session, new, now)
    await post_paychecks(session, postings_of(owner, new_payroll, record, histories), now)
    if bases:
        await measure_household(session, old.employer_id, year, bases)
    if amount:
        day = submission_day(now)
        collected = await collect(session, now, [Debit(new_payroll, amount, day, next_banking_day(day))])
        assert new_payroll in collected, "the household's account was active a moment ago"
    return new_payroll
