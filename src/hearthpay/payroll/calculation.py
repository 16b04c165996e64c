"""Calculates a payroll: turns each employee's earnings and year to date into a paycheck through the tax engine."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple, Protocol
from uuid import UUID

from hearthpay.access.refusal import Refusal
from hearthpay.employees.certificates import federal_certificate, state_entries
from hearthpay.employees.work_places import work_places
from hearthpay.payroll.ledger.earlier_pay import NO_EARLIER_PAY, EarlierPay
from hearthpay.payroll.ledger.earnings import earnings_of, left_out, rates_of
from hearthpay.payroll.ledger.rows import Carried, LineRow, PaycheckRow, PayrollRecord, SetAside, YearToDate
from hearthpay.payroll.ledger.years import NO_HISTORY, History, OtherRecords, seen_by_others
from hearthpay.payroll.orders import Payee, PayrollEntry, SettledOrder, with_salaries
from hearthpay.payroll.orders.salary_messages import salary_warnings, usual_hours
from hearthpay.payroll.set_asides.rules import LARGEST_SET_ASIDE, SetAsideRule
from hearthpay.taxes import (
    EmployerProfile,
    Paycheck,
    PaycheckInput,
    TaxInputError,
    calculate_paycheck,
    rulebook_for,
)
from hearthpay.taxes.assumptions import assumptions_of
from hearthpay.taxes.finality import Finality
from hearthpay.taxes.labor_law import HoursWorked, labor_warnings
from hearthpay.taxes.liability import guards_of, quarter_of, wages_by_line
from hearthpay.taxes.messages import DollarAmount, Message, message
from hearthpay.taxes.money import from_cents, scaled_rate, to_cents
from hearthpay.taxes.pay_periods import check_period
from hearthpay.taxes.thresholds import liability_thresholds
from hearthpay.taxes.year import LiableFrom, PaidWages, is_due


class Due(NamedTuple):
    """When lines that depend on a threshold become due for one employee, and the paychecks that count."""

    liable: LiableFrom
    standing: Sequence[PaidWages]


class Thresholds(Protocol):
    """Determines which lines are due, given what a payroll is about to pay."""

    def due(self, payments: Mapping[UUID, "Payment"]) -> Mapping[UUID, Due]:
        """Return the due dates for each employee of the payroll."""
        ...

    @property
    def as_paid(self) -> bool:
        """Whether nothing is charged before a threshold is reached."""
        ...


class Payment(NamedTuple):
    """Wages about to be paid: the day, the work state, and the cents that are subject to each line with a threshold."""

    pay_date: datetime.date
    work_state: str
    wages: Mapping[str, int]


def calculate_payroll(
    order: SettledOrder,
    payees: Mapping[UUID, Payee],
    histories: Mapping[UUID, History],
    sui_rates: Mapping[str, Decimal],
    thresholds: Thresholds | None = None,
    earlier: EarlierPay = NO_EARLIER_PAY,
    *,
    explain: bool = False,
) -> PayrollRecord:
    """Calculate every paycheck of a payroll.

    ``earlier`` is what was paid around its period: with other pay of one period income tax is calculated together.

    ``sui_rates`` are the household's assigned unemployment rates by state; elsewhere the new-employer rate applies.
    Without ``thresholds`` every line is due from the first dollar. With ``explain`` each paycheck explains its lines:
    which steps led to them, with which figures, from which source.

    Preview, run and the firing of a scheduled payroll all use this function, so that a preview matches the run.
    Raises `TaxInputError` with the field as the request spells it.
    """
    order = with_salaries(order, payees)
    dates = order.dates
    rulebook = rulebook_for(dates.pay_date)
    due: Mapping[UUID, Due] = {}
    if thresholds is not None:
        due = thresholds.due(
            {
                entry.employee_id: _payment(dates.pay_date, entry, payees[entry.employee_id])
                for entry in order.entries
            }
        )
    paychecks: list[PaycheckRow] = []
    unknown: dict[str, Finality] = {}
    for position, entry in enumerate(order.entries):
        payee = payees[entry.employee_id]
        try:
            history = histories.get(payee.id, NO_HISTORY)
            record, paycheck = _calculate(
                order,
                entry,
                payee,
                history,
                sui_rates.get(payee.work_state),
                due.get(payee.id),
                earlier,
                explain=explain,
            )
            assumed = None
            if thresholds is None or not thresholds.as_paid:
                assumed = _assumed_thresholds(record, payee.work_state, dates.pay_date)
            if assumed is not None and not any(
                warning.code == "thresholds_assumed" for each in paychecks for warning in each.warnings
            ):
                record = replace(record, warnings=(*record.warnings, assumed))
            paychecks.append(record)
            if history.others is not None:  # the person may be paid by another record too
                after = history.with_paycheck(record)
                histories = {**histories, payee.id: after, **seen_by_others(histories, payee.id, after)}
                due = _due_after(due, history.others, paid_wages(record, dates.pay_date))
                earlier = earlier.with_paycheck(order, record)
            unknown |= {each.code: each for each in paycheck.unknown}
        except TaxInputError as error:
            raise TaxInputError(
                f"employees[{position}].{error.field}", error.coded_message or error.message, error.code
            ) from error
    return PayrollRecord(
        employer_id=order.employer_id,
        dates=dates,
        pay_frequency=order.pay_frequency,
        paychecks=tuple(paychecks),
        rulebook_version=rulebook.version,
        tax_year=rulebook.tax_year,
        notes=order.notes,
        kind=order.kind,
        unknown=tuple(unknown.values()),
    )


def refuse_unknown_law(record: PayrollRecord) -> None:
    """Raise `tax_year_not_final` if a line of the payroll depends on figures that aren't known yet."""
    if not record.unknown:
        return
    lines = [each.code for each in record.unknown]
    agencies = list(dict.fromkeys(each.agency for each in record.unknown))
    raise Refusal(
        "tax_year_not_final",
        f"{' and '.join(agencies)} hasn't published the {record.tax_year} figures for {', '.join(lines)}, and nothing "
        "can stand in for them. Run this payroll once they're published and Hearthpay is updated.",
        details={"tax_year": record.tax_year, "lines": lines, "agencies": agencies},
    )


def paid_wages(paycheck: PaycheckRow, pay_date: datetime.date) -> PaidWages:
    """Return the wages for which a paycheck will count."""
    lines = {
        line.code: (line.subject_wages, None if line.rate is None else scaled_rate(line.rate))
        for line in paycheck.lines
    }
    return PaidWages(pay_date, paycheck.work_state, lines)


def _due_after(due: Mapping[UUID, Due], others: OtherRecords, paid: PaidWages) -> Mapping[UUID, Due]:
    """Return what is due for a person's other records in the same payroll once one of them has been paid."""
    return {
        **due,
        **{
            record: due[record]._replace(standing=(*due[record].standing, paid))
            for record in others.ids
            if record in due
        },
    }


def _payment(pay_date: datetime.date, entry: PayrollEntry, employee: Payee) -> Payment:
    gross = to_cents(from_cents(earnings_of(entry, employee).gross_pay), "regular_hours")
    wages = wages_by_line(pay_date.year, employee.work_state, employee.relationship, gross)
    return Payment(pay_date, employee.work_state, wages)


def _calculate(
    order: SettledOrder,
    entry: PayrollEntry,
    employee: Payee,
    history: History,
    sui_rate: Decimal | None,
    due: Due | None,
    earlier: EarlierPay,
    *,
    explain: bool,
) -> tuple[PaycheckRow, Paycheck]:
    dates = order.dates
    earnings = earnings_of(entry, employee)
    if not earnings.gross_pay:
        if entry.salary is not None:
            raise TaxInputError("unpaid_days", message("no_paid_day"))
        raise TaxInputError("regular_hours", message("nothing_to_pay"))
    not_due: frozenset[str] = frozenset()
    if due is None or not due.liable:
        year = history.year_to_date
    else:
        year = history.counted_by(due.standing, dates.pay_date.year, due.liable)
        not_due = frozenset(code for code in due.liable if not is_due(due.liable, code, dates.pay_date))
    paycheck = calculate_paycheck(
        asked := PaycheckInput(
            pay_date=dates.pay_date,
            period_start=dates.period_start,
            period_end=dates.period_end,
            pay_frequency=order.pay_frequency,
            regular_wages=from_cents(earnings.regular_wages),
            supplemental_wages=from_cents(earnings.bonus),
            supplemental_method="by_rule",
            withheld_before=earlier.withheld_before(
                employee.id, order, pays_the_period=entry.pays_the_period
            ),
            other_pay=earlier.counted_with(
                employee.id,
                order,
                regular=bool(earnings.regular_wages),
                pays_the_period=entry.pays_the_period,
            ),
            work_state=employee.work_state,
            residence_state=employee.residence_state,
            localities=tuple(employee.localities),
            federal=federal_certificate(employee.federal_withholding),
            state=state_entries(employee.state_withholding),
            relationship=employee.relationship,
            employer=EmployerProfile(sui_rate=sui_rate),
            year=year,
            not_due=not_due,
        ),
        explain=explain,
    )
    after_taxes = paycheck.net_pay_cents
    set_aside = set_aside_of(
        history.set_aside_rule,
        skip=entry.set_aside_skip,
        wished_cents=entry.set_aside_wish,
        gross_cents=paycheck.gross_pay_cents,
        after_taxes_cents=after_taxes,
        balance_cents=history.set_aside_balance,
    )
    before = history.totals_to_date
    ytd = YearToDate(
        before.gross_pay + paycheck.gross_pay_cents,
        before.net_pay + after_taxes - set_aside.amount,
        before.employee_taxes + paycheck.employee_taxes_cents,
        before.employer_taxes + paycheck.employer_taxes_cents,
    )
    taxes = year.taxes
    record = PaycheckRow(
        employee_id=employee.id,
        employee_name=employee.name,
        payment_method=entry.payment_method,
        earnings=earnings,
        gross_pay=paycheck.gross_pay_cents,
        employee_taxes=paycheck.employee_taxes_cents,
        employer_taxes=paycheck.employer_taxes_cents,
        set_aside=set_aside,
        lines=tuple(
            LineRow(
                code=line.code,
                name=line.name,
                payer=line.payer,
                agency=line.agency,
                category=line.category,
                subject_wages=line.subject_wages_cents,
                taxable_wages=line.taxable_wages_cents,
                rate=line.rate,
                amount=line.amount_cents,
                ytd_amount=taxes.get(line.code, 0) + line.amount_cents,
            )
            for line in paycheck.lines
        ),
        ytd=ytd,
        warnings=tuple(_warnings(employee, order, entry, asked, paycheck, ytd, set_aside)),
        residence_state=employee.residence_state,
        reciprocity_certificate=paycheck.reciprocity.certificate if paycheck.reciprocity else None,
        work_state=employee.work_state,
        carried=tuple(
            Carried(each.code, each.name, each.carried_cents)
            for each in paycheck.corrections
            if each.carried_cents
        ),
        left_out=left_out(entry),
        provisional=paycheck.provisional,
        salary=entry.salary,
        explanations=paycheck.explanations,
    )
    return record, paycheck


def set_aside_of(
    rule: SetAsideRule | None,
    *,
    skip: bool,
    wished_cents: int | None,
    gross_cents: int,
    after_taxes_cents: int,
    balance_cents: int,
) -> SetAside:
    """Return what one paycheck sets aside, why, and the balance including it; all in cents.

    Skipping it takes priority over an amount for this paycheck, which takes priority over the standing rule. Never
    more than is left after taxes, nor than `LARGEST_SET_ASIDE`. Raises ValueError for an amount out of these bounds.
    """
    if skip:
        return SetAside(0, "skipped", balance_cents)
    if wished_cents is not None:
        if not 0 <= wished_cents <= LARGEST_SET_ASIDE:
            raise ValueError("the amount to set aside must be between 0 and 9,999")
        source, wished = "override", wished_cents
    elif rule is not None:
        source, wished = "rule", min(rule.wished_cents(gross_cents), LARGEST_SET_ASIDE)
    else:
        source, wished = "none", 0
    amount = min(wished, max(after_taxes_cents, 0))
    return SetAside(amount, source, balance_cents + amount)


def _assumed_thresholds(paycheck: PaycheckRow, state: str, pay_date: datetime.date) -> Message | None:
    """Return the quarterly thresholds assumed to be crossed although this employee's wages don't show it yet.

    It is reported once per payroll.

    Year-to-date wages of the threshold times the number of quarters begun must have crossed it in one of them.
    """
    quarter = quarter_of(pay_date)
    open_ones = tuple(
        message("part_threshold", name=threshold.name, amount=DollarAmount(threshold.cents))
        for threshold in liability_thresholds(state, pay_date.year)
        if threshold.period == "quarter" and paycheck.ytd.gross_pay < quarter * threshold.cents
    )
    charged = any(line.amount for line in paycheck.lines if line.category in ("futa", "state_unemployment"))
    if not (open_ones and charged):
        return None
    return message("thresholds_assumed", thresholds=open_ones)


def _warnings(
    employee: Payee,
    order: SettledOrder,
    entry: PayrollEntry,
    asked: PaycheckInput,
    paycheck: Paycheck,
    ytd: YearToDate,
    set_aside: SetAside,
) -> list[Message]:
    dates = order.dates
    warnings = list(paycheck.messages)
    warnings += [assumption.coded_message for assumption in assumptions_of(asked)]
    if asked.regular_wages and (odd := _odd_period(order)) is not None:
        warnings.append(odd)
    if dates.told is not None:
        warnings.append(dates.told)
    fica = liability_thresholds(employee.work_state, dates.pay_date.year)[0]
    withheld = any(line.code == "US-SS-EE" and line.amount_cents for line in paycheck.lines)
    if withheld and ytd.gross_pay < fica.cents:
        warnings.append(message("fica_below_threshold", amount=DollarAmount(fica.cents)))
    if asked.not_due:
        warnings.append(_not_due(asked, employee.work_state))
    warnings += _corrected(paycheck)
    warnings += salary_warnings(entry.salary)
    if employee.payment_method == "direct_deposit" and entry.payment_method != "direct_deposit":
        warnings.append(message("paid_by_check" if entry.payment_method == "check" else "paid_by_cash"))
    wish = entry.set_aside_wish
    if wish is not None and not entry.set_aside_skip and wish > set_aside.amount:
        warnings.append(message("set_aside_limited"))
    warnings += [warning.coded_message for warning in labor_warnings(_hours_worked(employee, order, entry))]
    return warnings


def _hours_worked(employee: Payee, order: SettledOrder, entry: PayrollEntry) -> HoursWorked:
    """Return an entry's hours with the rates at which they are paid, for the labor law checks."""
    hourly_rate, overtime_rate = rates_of(entry, employee)
    regular_hours = entry.regular_hours
    if entry.salary is not None and not regular_hours:
        days = (order.dates.period_end - order.dates.period_start).days + 1
        regular_hours = usual_hours(entry.salary, days, entry.overtime_hours)
    return HoursWorked(
        work_state=employee.work_state,
        pay_date=order.dates.pay_date,
        period_start=order.dates.period_start,
        period_end=order.dates.period_end,
        regular_hours=regular_hours,
        overtime_hours=entry.overtime_hours,
        hourly_rate=hourly_rate,
        overtime_rate=overtime_rate,
        lives_in=employee.lives_in,
        localities=work_places(employee, employee.household_address),
        # Employees paid together are employed at the same time; the order doesn't know of others.
        employees=len(order.entries),
        salaried=entry.salary is not None,
    )


def _odd_period(order: SettledOrder) -> Message | None:
    """Return the warning that the period's length doesn't match the frequency by which regular wages are taxed.

    A period that can't be requested any more, but was approved before such were refused, is paid as approved.
    """
    try:
        odd = check_period(order.dates.period_start, order.dates.period_end, order.pay_frequency)
    except TaxInputError as error:
        period = () if error.coded_message is None else error.coded_message.params
        return Message("period_does_not_fit", (("text", error.message), *period))
    return None if odd is None else odd.coded_message


def _not_due(asked: PaycheckInput, state: str) -> Message:
    """Return what isn't charged because its threshold isn't reached, with the wages from which it will be."""
    open_ones = tuple(
        message(
            "part_threshold_of_period",
            name=guard.threshold.name,
            amount=DollarAmount(guard.threshold.cents),
            period=guard.threshold.period,
        )
        for guard in guards_of(asked.pay_date.year, state)
        if asked.not_due.intersection(guard.codes)
    )
    return message("below_thresholds", thresholds=open_ones)


def _corrected(paycheck: Paycheck) -> list[Message]:
    """Return which of the paycheck's taxes are for earlier wages of the year, and what is carried forward."""
    corrections = paycheck.corrections
    charged = [(each.code, each.amount_cents) for each in corrections if each.amount_cents > 0]
    returned = [(each.code, -each.amount_cents) for each in corrections if each.amount_cents < 0]
    carried = [(each.code, each.carried_cents) for each in corrections if each.carried_cents]
    messages = []
    if charged:
        messages.append(message("earlier_wages_charged", lines=_line_amounts(charged)))
    if returned:
        messages.append(message("earlier_wages_returned", lines=_line_amounts(returned)))
    if carried:
        messages.append(message("earlier_wages_carried", lines=_line_amounts(carried)))
    return messages


def _line_amounts(amounts: Sequence[tuple[str, int]]) -> tuple[Message, ...]:
    return tuple(
        message("part_line_amount", line=code, amount=DollarAmount(cents)) for code, cents in amounts
    )
