"""A household's employment taxes in each installment of Form 1040-ES, or by the parents' own withholding.

Household employment taxes go with the parents' own return (Schedule H), and so into their estimated tax; withholding
counts as paid evenly over the year whenever it is withheld (26 U.S.C. 6654(g)), so that extra withholding covers
earlier quarters too. Amounts in the ledger are separate from what is expected for the rest of the year.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_REPORTS, allow
from hearthpay.clock import Clock
from hearthpay.documents.availability import not_available, require_year
from hearthpay.documents.figures.books import BookedPaycheck, PersonBooks
from hearthpay.documents.year_books import YearOnRecord, read_year_on_record
from hearthpay.duties.office_days import office_day_on_or_after
from hearthpay.duties.periods import AfterPeriod, Partition, Period, day_of_month
from hearthpay.duties.rules import HouseholdDuty, duties_of
from hearthpay.employees.models import Employee
from hearthpay.employers.service import resolve_employer
from hearthpay.payroll.ledger.federal_year import (
    FederalMonth,
    LastPaycheck,
    read_federal_months,
    read_last_paychecks,
)
from hearthpay.payroll.years.prior_wages import read_prior_year
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.wire.answer_fields import HouseholdIdentifier, YearOfTaxes
from hearthpay.wire.money import Dollars

_INSTALMENTS: Final = "estimated-tax"
_DAYS_BETWEEN: Final = {"weekly": 7, "biweekly": 14}
_DAYS_OF_MONTH: Final = {"semimonthly": (15, 31), "monthly": (31,)}
_LATE_FACTOR: Final = 2
"""An employee whose last paycheck is more than two pay periods ago isn't expected to be paid again."""

_WHAT: Final = (
    "These are the household employment taxes alone: federal income tax withheld from the employees, both shares of "
    "Social Security and Medicare, FUTA. Income tax of your own comes on top."
)
_HOW_EXPECTED: Final = (
    "`expected` takes it that whoever works for you now is paid as last time until the end of the year; FUTA and "
    "Social Security end at their wage bases."
)
_CENT: Final = Decimal(1).scaleb(-2)


@dataclass(frozen=True, slots=True)
class EstimatedInstalment:
    """The household employment taxes on what is paid in the months of one installment, and its due date."""

    period_start: datetime.date
    """First day of the installment's months."""

    period_end: datetime.date
    """Last day of the installment's months."""

    due_date: datetime.date
    """By when the IRS must have the installment, moved where it falls on a weekend or holiday."""

    from_ledger: Dollars
    """Household employment taxes on what was paid in these months."""

    expected: Dollars
    """The same on what is expected to be paid in the rest of these months; 0 for months that have passed."""

    total: Dollars
    """`from_ledger` plus `expected`."""


@dataclass(frozen=True, slots=True)
class ExtraWithholding:
    """Extra withholding that covers the whole year's total, on each of the parent's own remaining paychecks.

    It goes into step 4(c) of the Form W-4 that a parent gives their own employer. Use one of the four, by how often
    that employer pays. Null if no such paycheck remains this year.
    """

    weekly: Dollars | None
    """On each of the remaining weekly paychecks."""

    biweekly: Dollars | None
    """On each of the remaining biweekly paychecks."""

    semimonthly: Dollars | None
    """On each of the remaining semimonthly paychecks."""

    monthly: Dollars | None
    """On each of the remaining monthly paychecks."""


@dataclass(frozen=True, slots=True)
class EstimatedTax:
    """A household's employment taxes of a year by installments, and the withholding that can replace them."""

    employer_id: HouseholdIdentifier
    tax_year: YearOfTaxes
    instalments: list[EstimatedInstalment]
    """The year's four installments of Form 1040-ES, in order."""

    from_ledger: Dollars
    """Household employment taxes of the year on what was paid so far."""

    expected: Dollars
    """The same on what is expected until the end of the year."""

    total: Dollars
    """`from_ledger` plus `expected`."""

    extra_withholding: ExtraWithholding
    """What a parent can have withheld at their own job in place of the installments."""

    notes: list[str]
    """What the figures contain and how they were expected, in English."""


class _Payment(NamedTuple):
    """Federal taxes, in cents, of one pay date, or of a month by a day in it."""

    day: datetime.date
    cents: int


@dataclass(frozen=True, slots=True)
class _PersonYear:
    """What is needed of the year of a person who was paid."""

    paid: Sequence[_Payment]
    active: bool
    last: LastPaycheck | None
    subject_wages: Mapping[str, int]
    """The cents subject to each federal line of the last paycheck so far."""


async def estimate_tax(
    session: AsyncSession, actor: Actor, clock: Clock, employer_id: UUID | None, tax_year: int
) -> EstimatedTax:
    """Return the amount of each installment of a year.

    Raises what `allow` and `resolve_employer` raise, and `document_not_available` for a future year, one without
    rules, and one in which nobody was paid.
    """
    allow(actor, READ_REPORTS)
    employer = await resolve_employer(session, actor, employer_id)
    today = clock.today()
    require_year(tax_year, today)
    if tax_year not in supported_years():
        raise not_available(
            "form_not_published", f"The law of {tax_year} is not known here.", tax_year=tax_year
        )
    everyone = await _read_everyone(session, employer.id, tax_year)
    if not everyone:
        raise not_available(
            "no_wages",
            f"Nobody was paid by this household in {tax_year}.",
            employer_id=employer.id,
            tax_year=tax_year,
        )
    paid = [payment for person in everyone for payment in person.paid]
    expected = [payment for person in everyone for payment in _expected(person, tax_year, today)]
    return _estimated_tax(employer.id, tax_year, today, paid, expected)


async def _read_everyone(session: AsyncSession, employer_id: UUID, tax_year: int) -> list[_PersonYear]:
    """Return the year of everyone who was paid, from the sums of its months and everyone's last paycheck.

    Only where prior wages were entered, all paychecks are read: the state of those wages follows from them.
    """
    if await read_prior_year(session, employer_id, tax_year):
        year = await read_year_on_record(session, employer_id, tax_year)
        return [_of_books(year, person) for person in year.books.everyone()]
    statement = select(Employee.id, Employee.person_id, Employee.status)
    people: dict[UUID, list[UUID]] = {}
    active: set[UUID] = set()
    for row in await session.execute(statement.where(Employee.employer_id == employer_id)):
        people.setdefault(row.person_id or row.id, []).append(row.id)
        if row.status == "active":
            active.add(row.id)
    months: dict[UUID, list[FederalMonth]] = {}
    for month in await read_federal_months(session, employer_id, tax_year):
        months.setdefault(month.employee_id, []).append(month)
    last = {each.employee_id: each for each in await read_last_paychecks(session, employer_id, tax_year)}
    found = (
        _of_months(
            tax_year,
            [month for record in records for month in months.get(record, ())],
            [last[record] for record in records if record in last],
            active=not active.isdisjoint(records),
        )
        for records in people.values()
    )
    return [each for each in found if each.last is not None or any(paid.cents for paid in each.paid)]


def _of_months(
    tax_year: int, months: Sequence[FederalMonth], last: Sequence[LastPaycheck], *, active: bool
) -> _PersonYear:
    latest = max(last, key=_by_day, default=None)
    return _PersonYear(
        [_Payment(datetime.date(tax_year, month.month, 1), sum(month.amounts.values())) for month in months],
        active,
        latest,
        {
            code: sum(month.subject_wages.get(code, 0) for month in months)
            for code in (latest.codes if latest else ())
        },
    )


def _of_books(year: YearOnRecord, person: PersonBooks) -> _PersonYear:
    """Return the same from all paychecks and prior wages."""
    wages = [_last_paycheck(booked) for booked in person.paychecks if not booked.paycheck.is_refund]
    latest = max(wages, key=_by_day, default=None)
    return _PersonYear(
        [*_paid(person)],
        any(record.status == "active" for record in year.records[person.person.id]),
        latest,
        {
            code: sum(part.cents for part in person.subject(code))
            for code in (latest.codes if latest else ())
            if _federal(code)
        },
    )


def _last_paycheck(booked: BookedPaycheck) -> LastPaycheck:
    lines = booked.paycheck.lines
    return LastPaycheck(
        booked.paycheck.employee_id,
        booked.id,
        booked.pay_date,
        booked.pay_frequency,
        booked.paycheck.work_state,
        [line.code for line in lines],
        [line.subject_wages for line in lines],
        [line.amount for line in lines],
    )


def _by_day(paycheck: LastPaycheck) -> tuple[datetime.date, UUID]:
    return paycheck.pay_date, paycheck.id


def _paid(person: PersonBooks) -> Iterable[_Payment]:
    """Return the federal taxes in the ledger: both shares, FUTA, and withheld income tax."""
    for booked in person.paychecks:
        yield _Payment(
            booked.pay_date, sum(line.amount for line in booked.paycheck.lines if _federal(line.code))
        )
    for entry in person.prior:
        yield _Payment(entry.as_of, sum(line.amount for line in entry.lines if _federal(line.code)))


def _federal(code: str) -> bool:
    return code.startswith("US-")


def _expected(person: _PersonYear, tax_year: int, today: datetime.date) -> Iterable[_Payment]:
    """Return what the rest of the year brings if everyone still working is paid as last time.

    Contributions end at their wage base; income tax is assumed to be that of the last paycheck.
    """
    last = person.last
    if last is None or not person.active or tax_year != today.year:
        return
    rules = rulebook_of(tax_year)
    of_the_state = rules.state(last.work_state).contributions
    laws = {law.code: law for law in (*rules.contributions, *of_the_state) if _federal(law.code)}
    lines = list(zip(last.codes, last.subject_wages, last.amounts, strict=True))
    subject = dict(person.subject_wages)
    income_tax = (rules.income_tax.code, rules.income_tax.supplemental_code)
    withheld = sum(amount for code, _, amount in lines if code in income_tax)
    for day in _days_to_come(last, today):
        cents = withheld
        for code, wages, _ in lines:
            law = laws.get(code)
            if law is None or not wages:
                continue
            before = subject[code]
            subject[code] = before + wages
            cents += law.tax(law.due(subject[code]) - law.due(before), law.rate)
        yield _Payment(day, cents)


def _days_to_come(last: LastPaycheck, today: datetime.date) -> list[datetime.date]:
    """Return the pay dates that follow one in its year, by its frequency; none once they have stopped."""
    days = _following(last.pay_date, last.pay_frequency)
    if len(days) >= _LATE_FACTOR and days[_LATE_FACTOR - 1] < today:
        return []
    return days


def _following(day: datetime.date, frequency: str) -> list[datetime.date]:
    found = []
    year = day.year
    if frequency in _DAYS_BETWEEN:
        step = datetime.timedelta(days=_DAYS_BETWEEN[frequency])
        day += step
        while day.year == year:
            found.append(day)
            day += step
        return found
    for month in range(day.month, 13):
        for number in _DAYS_OF_MONTH[frequency]:
            each = day_of_month(year, month, number)
            if each > day:
                found.append(each)
    return found


def _estimated_tax(
    employer_id: UUID,
    tax_year: int,
    today: datetime.date,
    paid: Sequence[_Payment],
    expected: Sequence[_Payment],
) -> EstimatedTax:
    duty = next(each for each in duties_of("US").duties if each.id == _INSTALMENTS)
    assert isinstance(duty.partition, Partition)
    instalments = [_instalment(duty, period, paid, expected) for period in duty.partition.periods(tax_year)]
    total = sum(each.cents for each in (*paid, *expected))
    notes = [
        _WHAT,
        "What you already paid of it this year is not known here: take it off.",
        "No instalment is needed where withholding from wages or a pension of your own covers your whole tax.",
    ]
    if expected:
        notes.append(_HOW_EXPECTED)
    return EstimatedTax(
        employer_id,
        tax_year,
        instalments,
        from_cents(sum(each.cents for each in paid)),
        from_cents(sum(each.cents for each in expected)),
        from_cents(total),
        _withholding(total, today, tax_year),
        notes,
    )


def _instalment(
    duty: HouseholdDuty, period: Period, paid: Sequence[_Payment], expected: Sequence[_Payment]
) -> EstimatedInstalment:
    assert isinstance(duty.due, AfterPeriod)
    due = duty.due.date(period)
    ledger, to_come = (
        sum(each.cents for each in payments if period.covers(each.day.year, each.day.month))
        for payments in (paid, expected)
    )
    return EstimatedInstalment(
        period.start,
        period.end,
        office_day_on_or_after(due, duty.moving.offices) if duty.moving.moves else due,
        from_cents(ledger),
        from_cents(to_come),
        from_cents(ledger + to_come),
    )


def _withholding(total: int, today: datetime.date, tax_year: int) -> ExtraWithholding:
    per_paycheck = {}
    for frequency in ("weekly", "biweekly", "semimonthly", "monthly"):
        left = len(_following(today, frequency)) if today.year == tax_year else 0
        amount = (from_cents(max(0, total)) / left).quantize(_CENT, ROUND_UP) if left else None
        per_paycheck[frequency] = amount
    return ExtraWithholding(**per_paycheck)
