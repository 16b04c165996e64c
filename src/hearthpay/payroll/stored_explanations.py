"""Explains the lines of a recorded payroll.

What a paycheck charged is recorded to the cent; how it was calculated isn't. So the payroll is calculated again from
its order, with the year as it was before it, and a line is explained by that calculation if the result equals the
recorded figures. If it doesn't, because a certificate, a rate or the rules have changed since, the recorded figures
are shown as they are.
"""

import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_PAYROLLS, allow
from hearthpay.access.refusal import Refusal
from hearthpay.employees.models import Employee
from hearthpay.employers.assigned_rates import tax_terms
from hearthpay.payroll.calculation import calculate_payroll, paid_wages
from hearthpay.payroll.ledger.earlier_pay import (
    EarlierPay,
    earlier_pay_of,
    read_withheld,
    records_of_person,
)
from hearthpay.payroll.ledger.histories import read_histories
from hearthpay.payroll.ledger.paychecks import PostedInYear, read_year
from hearthpay.payroll.ledger.payrolls import read_payroll
from hearthpay.payroll.ledger.rows import LineRow, PaycheckRow, PayrollRecord, StoredPayroll
from hearthpay.payroll.ledger.years import History
from hearthpay.payroll.orders import SettledOrder, payee_of, read_entries
from hearthpay.payroll.years.household_year import HouseholdYear, read_household_year
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.coverage import law_behind
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.paycheck.result import LineExplanation
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.trace import Source, Step
from hearthpay.taxes.year import PaidWages

_NOT_REPRODUCED: Final = (
    "Calculated again today, this line comes to other figures: the employee's certificate, the household's rate, "
    "earlier wages of the year or the rules were changed since. The recorded figures are those that were charged."
)


@dataclass(frozen=True, slots=True)
class LineOnRecord:
    """A recorded line, and how it was calculated."""

    employee_id: UUID
    line: LineRow
    explanation: LineExplanation | None

    reproduced: bool
    """Whether today's calculation equals the recorded figures."""


@dataclass(frozen=True, slots=True)
class PayrollOnRecord:
    """A payroll with explanations of its lines."""

    payroll: StoredPayroll
    lines: tuple[LineOnRecord, ...]
    is_estimated: bool
    """Whether the payroll hasn't been sent yet: the lines show what it would be now."""

    rulebook_now: str | None
    """The current version of the year's rules; None if there are none any more."""


async def explain_stored_payroll(session: AsyncSession, actor: Actor, payroll_id: UUID) -> PayrollOnRecord:
    """Return the explanations of a payroll's lines.

    A scheduled payroll is calculated as if it were sent now. Raises what `allow` raises, `not_found` if the actor
    can't access it, and `invalid_state` for a payroll whose final amounts were never calculated.
    """
    allow(actor, READ_PAYROLLS)
    payroll = await read_payroll(session, payroll_id)
    if payroll is None or not actor.reaches(payroll.employer_id):
        raise Refusal("not_found", "Payroll not found.")
    if not payroll.paychecks and payroll.status != "scheduled":
        raise Refusal("invalid_state", "This payroll was ended before it was calculated: it paid nothing.")
    try:
        again = await _calculated_again(session, payroll)
    except TaxInputError:
        if not payroll.paychecks:
            raise
        again = None
    recorded = payroll.paychecks or (again.paychecks if again is not None else ())
    return PayrollOnRecord(
        payroll,
        tuple(each for paycheck in recorded for each in _lines_of(payroll.tax_year, paycheck, again)),
        is_estimated=not payroll.paychecks,
        rulebook_now=_version_now(payroll.tax_year),
    )


def _version_now(tax_year: int) -> str | None:
    try:
        return rulebook_of(tax_year).version
    except TaxInputError:
        return None


async def _calculated_again(session: AsyncSession, payroll: StoredPayroll) -> PayrollRecord | None:
    """Return the payroll calculated from its order; None for one that refunds taxes.

    Raises `TaxInputError` if today's facts can't be used in the calculation.
    """
    if payroll.kind == "fica_refund":
        return None
    entries = (await read_entries(session, [payroll.id]))[payroll.id]
    requested = select(Employee).where(Employee.id.in_({entry.employee_id for entry in entries}))
    employees = (await session.scalars(requested)).all()
    payees = {each.id: payee_of(each) for each in employees}
    terms = await tax_terms(session, payroll.employer_id, payroll.tax_year)
    histories: Mapping[UUID, History] = await read_histories(session, employees, payroll.tax_year)
    posted: Sequence[PostedInYear] = await read_year(session, payroll.employer_id, payroll.tax_year)
    first = next((at for at, each in enumerate(posted) if each.payroll_id == payroll.id), len(posted))
    before = posted[:first]
    earlier = await _earlier_pay(session, before, histories, payroll.tax_year)
    if payroll.paychecks:
        histories = {
            payee: history_before(payee, histories.get(payee), before, payroll.tax_year) for payee in payees
        }
    thresholds: HouseholdYear | None = None
    if terms.threshold_bases or any(history.fica_repaid for history in histories.values()):
        thresholds = await read_household_year(
            session, payroll.employer_id, payroll.tax_year, terms.threshold_bases, histories
        )
        thresholds = replace(thresholds, standing=standing_wages(before, thresholds.persons))
    order = SettledOrder(
        payroll.employer_id, payroll.dates, payroll.pay_frequency, payroll.notes, tuple(entries), payroll.kind
    )
    return calculate_payroll(order, payees, histories, terms.sui_rates, thresholds, earlier, explain=True)


async def _earlier_pay(
    session: AsyncSession, before: Sequence[PostedInYear], histories: Mapping[UUID, History], tax_year: int
) -> EarlierPay:
    """Return what had been paid around a payroll's period, from the year's paychecks ``before`` it."""
    persons = {employee: records_of_person(employee, history) for employee, history in histories.items()}
    records = {record for each in persons.values() for record in each}
    last_year = datetime.date(tax_year - 1, 12, 31)
    withheld = await read_withheld(session, records, tax_year - 1, tax_year, paid_until=last_year)
    return earlier_pay_of(before, persons, withheld)


def history_before(
    payee: UUID, now: History | None, before: Sequence[PostedInYear], tax_year: int
) -> History:
    """Return the totals of the person's year ``before`` a payroll, whichever of the person's records was paid."""
    records = {payee} if now is None or now.others is None else {payee, *now.others.ids}
    history = History(prior=None if now is None else now.prior)
    own = [each for each in before if each.paycheck.employee_id in records]
    for each in own:
        history = history.with_paycheck(each.paycheck)
    if history.prior is not None or any(each.reverses is not None for each in own):
        wages = standing_wages(own, dict.fromkeys(records, payee)).get(payee, [])
        history = history.measured_by(wages, tax_year)
    return history


def standing_wages(
    posted: Iterable[PostedInYear], persons: Mapping[UUID, UUID]
) -> dict[UUID, list[PaidWages]]:
    """Return, by person, the wages of these paychecks, except those that one of them reverses."""
    posted = list(posted)
    undone = {each.reverses for each in posted}
    standing: dict[UUID, list[PaidWages]] = {}
    for each in posted:
        if each.reverses is None and each.id not in undone and each.paycheck.gross_pay > 0:
            person = persons[each.paycheck.employee_id]
            standing.setdefault(person, []).append(paid_wages(each.paycheck, each.pay_date))
    return standing


def _lines_of(tax_year: int, paycheck: PaycheckRow, again: PayrollRecord | None) -> Iterable[LineOnRecord]:
    """Yield the lines of a recorded paycheck with their explanations."""
    same = [each for each in (again.paychecks if again else ()) if each.employee_id == paycheck.employee_id]
    lines = {line.code: line for each in same for line in each.lines}
    known = {each.code: each for other in same for each in other.explanations}
    for line in paycheck.lines:
        other = lines.get(line.code)
        if other is not None and _figures(other) == _figures(line):
            yield LineOnRecord(paycheck.employee_id, line, known.get(line.code), reproduced=True)
        else:
            explanation = _as_recorded(tax_year, paycheck, line)
            yield LineOnRecord(paycheck.employee_id, line, explanation, reproduced=False)


def _figures(line: LineRow) -> tuple[object, ...]:
    return line.subject_wages, line.taxable_wages, line.rate, line.amount


def _as_recorded(tax_year: int, paycheck: PaycheckRow, line: LineRow) -> LineExplanation:
    """Return the recorded figures as steps, with the sources that the rules of the year name for the line."""
    steps = [
        Step("subject wages", from_cents(line.subject_wages)),
        Step("taxable wages", from_cents(line.taxable_wages)),
        *([Step("rate", line.rate)] if line.rate is not None else []),
        Step("tax", from_cents(line.amount)),
    ]
    places = dict.fromkeys((line.code[:2], paycheck.work_state, paycheck.residence_state))
    sources = _sources(tax_year, line.code, [place for place in places if place in STATES])
    return LineExplanation(line.code, tuple(steps), sources, "", _NOT_REPRODUCED)


def _sources(tax_year: int, code: str, states: Collection[str]) -> tuple[Source, ...]:
    for state in (None, *states):
        try:
            laws = law_behind(code, rulebook_of(tax_year), state)
        except TaxInputError:
            continue
        return tuple(dict.fromkeys(source for law in laws for source in law.sources))
    return ()
