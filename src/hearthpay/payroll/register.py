"""Calculates a payroll: each employee's earnings and year to date through the tax engine into a paycheck."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from hearthpay.employees.certificates import federal_certificate, state_entries
from hearthpay.employees.models import Employee
from hearthpay.payroll.earnings import Earnings, pay_for_hours
from hearthpay.payroll.pay_dates import PayDates
from hearthpay.payroll.records import LineRecord, PaycheckRecord, PayrollRecord, SetAside, YearToDate
from hearthpay.payroll.schemas import PayrollEmployee, PayrollRequest
from hearthpay.taxes import (
    EmployerProfile,
    Paycheck,
    PaycheckInput,
    TaxInputError,
    calculate_paycheck,
    rulebook_for,
)
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.thresholds import liability_thresholds

NOTHING_YET = YearToDate()


@dataclass(frozen=True, slots=True)
class History:
    """What an employee's earlier paychecks add up to: the year's sums by line, and the escrow balance (cents)."""

    totals: YearToDate = NOTHING_YET
    taxable_wages: Mapping[str, int] = field(default_factory=dict)
    amounts: Mapping[str, int] = field(default_factory=dict)
    set_aside_balance: int = 0


NO_HISTORY = History()


def calculate_payroll(
    request: PayrollRequest,
    employer_id: UUID,
    dates: PayDates,
    employees: Sequence[Employee],
    histories: Mapping[UUID, History],
    sui_rates: Mapping[str, Decimal],
) -> PayrollRecord:
    """Calculate every paycheck of a payroll; ``employees`` in the order of ``request.employees``.

    ``sui_rates`` are the household's assigned unemployment rates by state; elsewhere the new-employer rate applies.

    Preview and run both come through here, so that a preview is what the run will be. Raises `TaxInputError`
    with the field as the request spells it.
    """
    rulebook = rulebook_for(dates.pay_date)
    paychecks = []
    projected: dict[str, None] = {}
    for position, (entry, employee) in enumerate(zip(request.employees, employees, strict=True)):
        try:
            history = histories.get(employee.id, NO_HISTORY)
            record, paycheck = _calculate(
                request, dates, entry, employee, history, sui_rates.get(employee.work_state)
            )
            paychecks.append(record)
            projected |= dict.fromkeys(paycheck.projected)
        except TaxInputError as error:
            raise TaxInputError(f"employees[{position}].{error.field}", error.message, error.code) from error
    return PayrollRecord(
        employer_id=employer_id,
        dates=dates,
        pay_frequency=request.pay_frequency,
        paychecks=tuple(paychecks),
        rulebook_version=rulebook.version,
        tax_year=rulebook.tax_year,
        notes=request.notes,
        projected=tuple(projected),
    )


def _calculate(
    request: PayrollRequest,
    dates: PayDates,
    entry: PayrollEmployee,
    employee: Employee,
    history: History,
    sui_rate: Decimal | None,
) -> tuple[PaycheckRecord, Paycheck]:
    earnings = Earnings(
        regular_hours=entry.regular_hours,
        regular_pay=pay_for_hours(employee.pay_rate, entry.regular_hours),
        overtime_hours=entry.overtime_hours,
        overtime_pay=pay_for_hours(employee.overtime_rate, entry.overtime_hours),
        bonus=entry.bonus,
        other_earnings=entry.other_earnings,
    )
    if not earnings.gross_pay:
        raise TaxInputError(
            "regular_hours", "hours, a bonus or other earnings are needed: there is nothing to pay"
        )
    paycheck = calculate_paycheck(
        PaycheckInput(
            pay_date=dates.pay_date,
            period_start=dates.period_start,
            period_end=dates.period_end,
            pay_frequency=request.pay_frequency,
            regular_wages=earnings.regular_wages,
            supplemental_wages=earnings.bonus,
            work_state=employee.work_state,
            residence_state=employee.residence_state,
            localities=tuple(employee.localities),
            federal=federal_certificate(employee.federal_withholding),
            state=state_entries(employee.state_withholding),
            relationship=employee.relationship,
            employer=EmployerProfile(sui_rate=sui_rate),
            ytd=_dollars(history.taxable_wages),
            ytd_tax=_dollars(history.amounts),
        )
    )
    after_taxes = paycheck.net_pay_cents
    set_aside = _set_aside(entry, after_taxes, history.set_aside_balance)
    before = history.totals
    ytd = YearToDate(
        before.gross_pay + paycheck.gross_pay_cents,
        before.net_pay + after_taxes - set_aside.amount,
        before.employee_taxes + paycheck.employee_taxes_cents,
        before.employer_taxes + paycheck.employer_taxes_cents,
    )
    record = PaycheckRecord(
        employee_id=employee.id,
        employee_name=employee.name,
        payment_method=entry.payment_method,
        earnings=earnings,
        gross_pay=paycheck.gross_pay_cents,
        employee_taxes=paycheck.employee_taxes_cents,
        employer_taxes=paycheck.employer_taxes_cents,
        set_aside=set_aside,
        lines=tuple(
            LineRecord(
                code=line.code,
                name=line.name,
                payer=line.payer,
                agency=line.agency,
                category=line.category,
                subject_wages=line.subject_wages_cents,
                taxable_wages=line.taxable_wages_cents,
                rate=line.rate,
                amount=line.amount_cents,
                ytd_amount=history.amounts.get(line.code, 0) + line.amount_cents,
            )
            for line in paycheck.lines
        ),
        ytd=ytd,
        warnings=tuple(_warnings(employee, dates, entry, paycheck, ytd, set_aside)),
        residence_state=employee.residence_state,
        reciprocity_certificate=paycheck.reciprocity.certificate if paycheck.reciprocity else None,
        work_state=employee.work_state,
    )
    return record, paycheck


def _dollars(cents: Mapping[str, int]) -> dict[str, Decimal]:
    return {code: from_cents(amount) for code, amount in cents.items()}


def _set_aside(entry: PayrollEmployee, after_taxes: int, balance: int) -> SetAside:
    """Return what this paycheck sets aside: never more than what taxes leave."""
    wish = entry.voluntary_set_aside
    if wish is None:
        return SetAside(0, "none", balance)
    if wish.skip:
        return SetAside(0, "skipped", balance)
    if wish.amount is None:
        return SetAside(0, "none", balance)
    amount = min(int(wish.amount.scaleb(2)), after_taxes)
    return SetAside(amount, "override", balance + amount)


def _warnings(
    employee: Employee,
    dates: PayDates,
    entry: PayrollEmployee,
    paycheck: Paycheck,
    ytd: YearToDate,
    set_aside: SetAside,
) -> list[str]:
    warnings = list(paycheck.limitations)
    fica = liability_thresholds(employee.work_state, dates.pay_date.year)[0]
    withheld = any(line.code == "US-SS-EE" and line.amount_cents for line in paycheck.lines)
    if withheld and ytd.gross_pay < fica.cents:
        warnings.append(
            f"Social Security and Medicare are withheld although the year's wages are still below "
            f"{from_cents(fica.cents):,}. If the year ends below it, nothing was due: repay the employee."
        )
    if employee.payment_method == "direct_deposit" and entry.payment_method != "direct_deposit":
        warnings.append(
            f"The employee is set up for direct deposit; this paycheck is paid by {entry.payment_method}."
        )
    if entry.voluntary_set_aside is not None and entry.voluntary_set_aside.amount is not None:
        wished = int(entry.voluntary_set_aside.amount.scaleb(2))
        if not entry.voluntary_set_aside.skip and wished > set_aside.amount:
            warnings.append("Less was set aside than asked for: net pay cannot be negative.")
    return warnings
