"""Refunding Social Security and Medicare that were withheld in a year whose wages stay below their threshold.

An employer may withhold before the threshold is reached (Treas. Reg. 31.3102-1(b)). If a year ends below it, the pay
wasn't wages in the sense of the law (IRC 3121(a)(7)(B)), and what was withheld must be refunded (Social Security
Handbook 1406.4); the employee signs a receipt (Treas. Reg. 31.6413(a)-1(a)(1)). The household's own share wasn't due
either.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from hearthpay.access.refusal import Problem, Refusal, invalid_fields
from hearthpay.employees.models import Employee
from hearthpay.payroll.commands import Order
from hearthpay.payroll.ledger.earnings import NO_EARNINGS
from hearthpay.payroll.ledger.rows import LineRow, PaycheckRow, PayrollRecord, SetAside, YearToDate
from hearthpay.payroll.ledger.years import NO_HISTORY, History, seen_by_others
from hearthpay.payroll.orders import Payee, PayrollEntry, SettledOrder
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.payroll.years.household_year import HouseholdYear
from hearthpay.taxes import rulebook_for
from hearthpay.taxes.messages import DollarAmount, Message, message
from hearthpay.taxes.money import from_cents, rate_of
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.thresholds import liability_thresholds

_LAST_MONTH: Final = 12
"""From this month on, the year of someone still employed may be treated as ended."""


def refuse_other_pay(order: Order) -> None:
    """Raise `validation_error` naming what isn't allowed in a refund run: it pays no wages, and only by check or
    cash.
    """
    problems = []
    if order.pay_period_start.year != order.pay_period_end.year:
        problems.append(Problem("pay_period_end", "of a FICA refund must be in the year of pay_period_start"))
    for position, entry in enumerate(order.employees):
        problems += [
            Problem(f"employees[{position}].{name}", "must be 0 in a FICA refund")
            for name in ("regular_hours", "overtime_hours", "bonus", "other_earnings", "unpaid_days")
            if getattr(entry, name)
        ]
        if entry.voluntary_set_aside is not None:
            field = f"employees[{position}].voluntary_set_aside"
            problems.append(Problem(field, "must be left out of a FICA refund"))
        if entry.payment_method == "direct_deposit":
            field = f"employees[{position}].payment_method"
            problems.append(
                Problem(field, "must be check or cash: a FICA refund does not go through the bank")
            )
    if problems:
        raise invalid_fields(problems)


@dataclass(frozen=True, slots=True)
class Repayable:
    """Why an employee's Social Security and Medicare may be refunded: the year's wages and the threshold, in cents."""

    wages: int
    threshold: int


def refuse_not_due(
    employee: Employee, dates: PayDates, tax_year: int, history: History, household: HouseholdYear
) -> Repayable:
    """Return the basis of an employee's refund; raise `invalid_state` if there is none.

    The person's year must have ended: the pay date is in December or later, or after the last day of work. The wages,
    those of other payrolls and of the person's other records included, must stay below the threshold, and our
    paychecks must have charged something.
    """
    about = {"employee_id": employee.id, "tax_year": tax_year}
    if not household.has_left(employee.id, dates.pay_date) and dates.pay_date < datetime.date(
        tax_year, _LAST_MONTH, 1
    ):
        raise Refusal(
            "invalid_state",
            message("refund_year_not_over", year=tax_year),
            details=about,
        )
    threshold = liability_thresholds(employee.work_state, tax_year)[0].cents
    wages = household.fica_wages(employee.id)
    if wages >= threshold:
        raise Refusal(
            "invalid_state",
            message(
                "refund_wages_reach_threshold",
                year=tax_year,
                wages=DollarAmount(wages),
                threshold=DollarAmount(threshold),
            ),
            details=about | {"wages": from_cents(wages), "threshold": from_cents(threshold)},
        )
    if not any(_charged(history, tax_year)):
        raise Refusal(
            "invalid_state",
            message("refund_nothing_withheld", year=tax_year),
            details=about,
        )
    return Repayable(wages, threshold)


def _charged(history: History, tax_year: int) -> list[int]:
    lines = rulebook_of(tax_year).contributions
    return [history.year.taxes.get(line.code, 0) for line in lines if line.liability == "fica"]


def calculate_refund(
    order: SettledOrder,
    payees: Mapping[UUID, Payee],
    histories: Mapping[UUID, History],
    repayable: Mapping[UUID, Repayable],
) -> PayrollRecord:
    """Return the payroll that refunds what our paychecks of the year charged of both shares."""
    rulebook = rulebook_for(datetime.date(order.tax_year, 1, 1))
    paychecks = []
    for entry in order.entries:
        employee = payees[entry.employee_id]
        history = histories.get(employee.id, NO_HISTORY)
        refund = _refund(entry, employee, order.tax_year, history, repayable[employee.id])
        paychecks.append(refund)
        after = history.with_paycheck(refund)
        histories = {**histories, employee.id: after, **seen_by_others(histories, employee.id, after)}
    return PayrollRecord(
        employer_id=order.employer_id,
        dates=order.dates,
        pay_frequency=order.pay_frequency,
        paychecks=tuple(paychecks),
        rulebook_version=rulebook.version,
        tax_year=rulebook.tax_year,
        notes=order.notes,
        kind=order.kind,
    )


def _refund(
    entry: PayrollEntry, employee: Payee, tax_year: int, history: History, repayable: Repayable
) -> PaycheckRow:
    own, to_date = history.year, history.year_to_date
    lines = []
    withheld = charged = 0
    for line in rulebook_of(tax_year).contributions:
        taxed, tax = own.taxable_wages.get(line.code, 0), own.taxes.get(line.code, 0)
        if line.liability != "fica" or not (taxed or tax):
            continue
        if line.payer == "employee":
            withheld += tax
        else:
            charged += tax
        left = to_date.taxes.get(line.code, 0) - tax
        lines.append(
            LineRow(
                line.code,
                line.name,
                line.payer,
                line.agency,
                line.category,
                0,
                -taxed,
                rate_of(line.rate),
                -tax,
                left,
            )
        )
    before = history.totals_to_date
    return PaycheckRow(
        employee_id=employee.id,
        employee_name=employee.name,
        payment_method=entry.payment_method,
        earnings=NO_EARNINGS,
        gross_pay=0,
        employee_taxes=-withheld,
        employer_taxes=-charged,
        set_aside=SetAside(0, "none", history.set_aside_balance),
        lines=tuple(lines),
        ytd=YearToDate(
            before.gross_pay,
            before.net_pay + withheld,
            before.employee_taxes - withheld,
            before.employer_taxes - charged,
        ),
        warnings=(_refund_warning(tax_year, repayable),),
        residence_state=employee.residence_state,
        reciprocity_certificate=None,
        work_state=employee.work_state,
    )


def _refund_warning(tax_year: int, repayable: Repayable) -> Message:
    return message(
        "fica_repaid",
        year=tax_year,
        wages=DollarAmount(repayable.wages),
        threshold=DollarAmount(repayable.threshold),
    )
