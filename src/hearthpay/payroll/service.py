"""What may happen to payrolls: preview, run, read, list."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import Clock
from hearthpay.employees.models import Employee
from hearthpay.employers.assigned_rates import assigned_sui_rates
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer
from hearthpay.http.actor import Actor
from hearthpay.http.entitlements import refuse_long_payroll
from hearthpay.http.errors import ApiError, Problem, invalid_fields
from hearthpay.http.paging import page_of
from hearthpay.http.trail import leave_trace
from hearthpay.payroll.ledger import find_overlap, insert_payroll, read_histories, read_payroll
from hearthpay.payroll.models import PaycheckRow, Payroll
from hearthpay.payroll.pay_dates import PayDates, settle_pay_dates
from hearthpay.payroll.records import PayrollRecord, StoredPayroll
from hearthpay.payroll.register import calculate_payroll
from hearthpay.payroll.schemas import PayrollRequest, PayrollsQuery


async def preview_payroll(
    session: AsyncSession, actor: Actor, clock: Clock, request: PayrollRequest
) -> PayrollRecord:
    """Calculate a payroll as a run would, and check all that a run checks; nothing is created.

    Raises what `run_payroll` raises.
    """
    refuse_long_payroll(actor.terms, len(request.employees))
    employer = await resolve_employer(session, actor, request.employer_id)
    return await _prepare(session, clock, request, employer, lock=False)


async def run_payroll(
    session: AsyncSession, actor: Actor, clock: Clock, request: PayrollRequest
) -> StoredPayroll:
    """Calculate and record a payroll paid by check or cash: it is completed at once.

    Its employees are locked while it is calculated, so two runs for one employee follow each other and the
    second sees the first one's year to date. Raises `validation_error`, `duplicate_employee`,
    `employee_not_in_household`, `employee_not_started`, `invalid_state` (employment ended before the period),
    `payroll_overlap`, `direct_deposit_unavailable`, `unsupported_tax_year`, `tax_year_not_final`,
    `unsupported_jurisdiction`, `too_many_employees` for a list longer than the plan allows, and what
    `resolve_employer` raises.
    """
    refuse_long_payroll(actor.terms, len(request.employees))
    employer = await resolve_employer(session, actor, request.employer_id)
    record = await _prepare(session, clock, request, employer, lock=True)
    if record.projected:
        raise ApiError(
            "tax_year_not_final",
            f"The law of {record.tax_year} is not complete yet: a payroll paid in it can be previewed, not completed.",
            details={"tax_year": record.tax_year, "missing": list(record.projected)},
        )
    now = clock.now()
    status = "completed"
    payroll_id = await insert_payroll(session, actor, record, status, now)
    await leave_trace(
        session,
        actor,
        "payroll.run",
        employer_id=employer.id,
        subject_id=payroll_id,
        details={"status": status, "pay_date": record.dates.pay_date, "employees": len(record.paychecks)},
    )
    return StoredPayroll(payroll_id, status, now, record)


async def _prepare(
    session: AsyncSession, clock: Clock, request: PayrollRequest, employer: Employer, *, lock: bool
) -> PayrollRecord:
    dates = settle_pay_dates(
        request.pay_period_start, request.pay_period_end, request.pay_date, clock.today()
    )
    _refuse_direct_deposit(request)
    employees = await _employees(session, request, dates, lock=lock)
    ids = sorted({employee.id for employee in employees})
    overlap = await find_overlap(session, ids, dates)
    if overlap is not None:
        raise ApiError(
            "payroll_overlap",
            f"This employee has already been paid for {overlap.start} to {overlap.end}; pay periods of one employee "
            "cannot overlap.",
            details={
                "employee_id": overlap.employee_id,
                "payroll_id": overlap.payroll_id,
                "pay_period": {"start": overlap.start, "end": overlap.end},
            },
        )
    histories = await read_histories(session, ids, dates.pay_date.year)
    sui_rates = await assigned_sui_rates(session, employer.id, dates.pay_date.year)
    return calculate_payroll(request, employer.id, dates, employees, histories, sui_rates)


def _refuse_direct_deposit(request: PayrollRequest) -> None:
    wanted = [entry.employee_id for entry in request.employees if entry.payment_method == "direct_deposit"]
    if wanted:
        raise ApiError(
            "direct_deposit_unavailable",
            "Direct deposit is not available for this household: no bank account is connected. Pay by check or cash.",
            details={"employees": wanted},
        )


async def _employees(
    session: AsyncSession, request: PayrollRequest, dates: PayDates, *, lock: bool
) -> Sequence[Employee]:
    """Return the employees in the order of the request, each checked; locked in the order of their ids."""
    ids = [entry.employee_id for entry in request.employees]
    for position, employee_id in enumerate(ids):
        if employee_id in ids[:position]:
            raise ApiError(
                "duplicate_employee",
                f"employees[{position}] is in the list twice.",
                details={"employee_id": employee_id},
            )
    statement = select(Employee).where(Employee.id.in_(ids)).order_by(Employee.id)
    if lock:
        statement = statement.with_for_update(key_share=True)
    found = {employee.id: employee for employee in await session.scalars(statement)}
    problems = []
    for position, employee_id in enumerate(ids):
        employee = found.get(employee_id)
        if employee is None:
            raise ApiError(
                "employee_not_in_household",
                f"employees[{position}] is not an employee of this household.",
                details={"employee_id": employee_id},
            )
        if employee.start_date > dates.period_end:
            raise ApiError(
                "employee_not_started",
                f"employees[{position}] starts on {employee.start_date}, after the pay period.",
                details={"employee_id": employee_id, "start_date": employee.start_date},
            )
        if employee.end_date is not None and employee.end_date < dates.period_start:
            raise ApiError(
                "invalid_state",
                f"employees[{position}] left on {employee.end_date}, before the pay period.",
                details={"employee_id": employee_id, "end_date": employee.end_date},
            )
        entry = request.employees[position]
        if entry.regular_hours + entry.overtime_hours > _hours_in(dates):
            problems.append(
                Problem(
                    f"employees[{position}].regular_hours",
                    "with overtime is more than the pay period has hours",
                )
            )
    if problems:
        raise invalid_fields(problems)
    return [found[employee_id] for employee_id in ids]


def _hours_in(dates: PayDates) -> int:
    return ((dates.period_end - dates.period_start).days + 1) * 24


async def get_payroll(session: AsyncSession, payroll_id: UUID) -> StoredPayroll:
    """Return a payroll of the transaction's tenant; raises `not_found`."""
    payroll = await read_payroll(session, payroll_id)
    if payroll is None:
        raise ApiError("not_found", "There is no such payroll.")
    return payroll


async def list_payrolls(
    session: AsyncSession, actor: Actor, query: PayrollsQuery
) -> tuple[list[tuple[Payroll, int]], str | None]:
    """Return one page of payrolls with their employee counts, newest first, and the next page's cursor.

    Without ``employer_id`` they are those of the household that the key remembers, or of all its households where it
    remembers none. Raises `household_forbidden` and `key_mode_mismatch` for a household out of reach.
    """
    statement = select(Payroll)
    if query.employer_id is not None or actor.employer_id is not None or actor.employer_sandbox is not None:
        employer = await resolve_employer(session, actor, query.employer_id)
        statement = statement.where(Payroll.employer_id == employer.id)
    if query.status is not None:
        statement = statement.where(Payroll.status == query.status)
    if query.from_ is not None:
        statement = statement.where(Payroll.pay_date >= query.from_)
    if query.to is not None:
        statement = statement.where(Payroll.pay_date <= query.to)
    if query.employee_id is not None:
        paid = exists().where(
            PaycheckRow.payroll_id == Payroll.id, PaycheckRow.employee_id == query.employee_id
        )
        statement = statement.where(paid)
    payrolls, next_cursor = await page_of(session, statement, Payroll.id, query)
    counted = (
        select(PaycheckRow.payroll_id, func.count())
        .where(PaycheckRow.payroll_id.in_([payroll.id for payroll in payrolls]))
        .group_by(PaycheckRow.payroll_id)
    )
    counts = {row[0]: row[1] for row in await session.execute(counted)}
    return [(payroll, counts.get(payroll.id, 0)) for payroll in payrolls], next_cursor
