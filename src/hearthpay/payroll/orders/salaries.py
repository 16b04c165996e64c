"""Calculates the salaries of an order: each salaried employee's share for the period."""

import datetime
from collections.abc import Mapping
from decimal import Decimal
from uuid import UUID

from hearthpay.employees.salaries import USUAL_WORKING_DAYS, regular_rate
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.payroll.orders.salary_shares import (
    SalaryShare,
    full_share,
    prorated_pay,
    refuse_unpaid_days,
    worked_days,
)
from hearthpay.payroll.orders.settled import Payee, PayrollEntry, SettledOrder
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.money import to_cents


def with_salaries(order: SettledOrder, payees: Mapping[UUID, Payee]) -> SettledOrder:
    """Return the order with the salary that each entry pays; approved amounts don't change.

    Raises `TaxInputError` naming the entry's field for invalid unpaid days, and ``pay_frequency`` if a salary set per
    period is paid by another frequency.
    """
    entries = [
        _with_salary(order, position, entry, payees[entry.employee_id])
        for position, entry in enumerate(order.entries)
    ]
    return order._replace(entries=tuple(entries))


def _with_salary(order: SettledOrder, position: int, entry: PayrollEntry, payee: Payee) -> PayrollEntry:
    if entry.regular_pay is not None or entry.salary is not None:
        return entry
    where = f"employees[{position}]"
    if payee.pay_type != "salary":
        if entry.unpaid_days:
            raise TaxInputError(
                f"{where}.unpaid_days", "goes with a salary; this employee is paid by the hour"
            )
        return entry
    if not entry.pay_salary:
        if entry.unpaid_days:
            raise TaxInputError(
                f"{where}.unpaid_days", "must be 0 where no salary is paid (pay_salary false)"
            )
        return entry
    if payee.salary is None or payee.salary_per is None:
        return entry
    if payee.salary_per == "period" and payee.pay_frequency != order.pay_frequency:
        raise TaxInputError(
            "pay_frequency", f"must be {payee.pay_frequency}: {where} has a salary for each such period"
        )
    return entry._replace(
        salary=_share(order.dates, order.pay_frequency, entry, payee, f"{where}.unpaid_days")
    )


def _share(dates: PayDates, frequency: str, entry: PayrollEntry, payee: Payee, field: str) -> SalaryShare:
    assert payee.salary is not None, "looked at just before"
    assert payee.salary_per is not None, "stored with the salary"
    amount = to_cents(payee.salary, "salary")
    employments: list[tuple[datetime.date, datetime.date | None]] = [(payee.start_date, payee.end_date)]
    employments += [
        (datetime.date.fromisoformat(each["start_date"]), datetime.date.fromisoformat(each["end_date"]))
        for each in payee.earlier_employments
    ]
    days = worked_days(
        (dates.period_start, dates.period_end),
        frequency,
        employments,
        payee.working_days or USUAL_WORKING_DAYS,
    )
    refuse_unpaid_days(entry.unpaid_days, days, field)
    full = full_share(amount, payee.salary_per, frequency, dates.period_end)
    paid = Decimal(days.employed) - entry.unpaid_days
    return SalaryShare(
        amount=amount,
        per=payee.salary_per,
        frequency=frequency,
        full_period=full,
        working_days=days.full_period,
        paid_days=paid,
        unpaid_days=entry.unpaid_days,
        weekly_hours=payee.usual_weekly_hours,
        regular_rate=to_cents(regular_rate(payee) or Decimal(0), "salary"),
        pay=prorated_pay(full, days.full_period, paid),
    )
