"""The facts of a household's calendar, from its records, its ledger and its own entries.

What was paid shows where an employee worked and what was withheld; what isn't paid yet follows today's records.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Final
from uuid import UUID

from hearthpay.duties.amounts import is_among
from hearthpay.duties.household import (
    FEDERAL,
    ClosedAccount,
    EmploymentSpell,
    Filing,
    Household,
    HouseholdEmployee,
    LedgerAmount,
    PaydayAmount,
    RecordedFiling,
    RecordedPayment,
    WagesInState,
    Withholding,
)
from hearthpay.duties.periods import day_of_month
from hearthpay.duties.rules import duties_of
from hearthpay.duties.thresholds_crossed import WagesPaid, law_year, liabilities_of
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.employers.threshold_basis import ASSUME_CROSSED, basis_of
from hearthpay.payroll.ledger.months import (
    LineOfMonth,
    LineOfPayday,
    PaidPlace,
    WagesFromBefore,
    WagesOfMonth,
)
from hearthpay.registrations.accounts import lines_of_number
from hearthpay.registrations.derivation import local_lines_of, state_withheld_for
from hearthpay.registrations.records import household_facts
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.liability import QuarterlyWages, wages_by_line

_INCOME_TAXES: Final = frozenset({"federal_income_tax", "state_income_tax"})
_DAY: Final = datetime.timedelta(days=1)
_MONTH_OF_LINE: Final = attrgetter("employee_id", "year", "month")


@dataclass(frozen=True, slots=True)
class LedgerOfYears:
    """A household's ledger by month, and where its employees were paid for work."""

    lines: Sequence[LineOfMonth]
    wages: Sequence[WagesOfMonth]
    places: Sequence[PaidPlace]
    before: Sequence[WagesFromBefore]
    paydays: Sequence[LineOfPayday] = ()
    """Only of lines that a duty settles payday by payday."""

    numbers: Sequence[tuple[str, str]] = ()
    """The state account numbers on file: the state, and the number's name there."""


@dataclass(frozen=True, slots=True)
class DutyFacts:
    """What the household said of its duties, and recorded as paid and filed."""

    done: Mapping[str, datetime.date]
    filings: tuple[Filing, ...]
    closed: tuple[ClosedAccount, ...]
    payments: tuple[RecordedPayment, ...] = ()
    filed: Mapping[str, RecordedFiling] = field(default_factory=dict)


def household_of(
    employer: Employer,
    records: Sequence[Employee],
    ledger: LedgerOfYears,
    facts: DutyFacts,
    *,
    today: datetime.date,
    years: range,
) -> Household:
    """Return the facts of a household for these years; the ledger must include the year before as well.

    Several records of one person are one employee, under the id of the first.
    """
    persons = {record.id: record.person_id or record.id for record in records}
    employees = _employees(employer, records, ledger, today)
    assumed = frozenset(year for year in years if basis_of(employer.threshold_bases, year) == ASSUME_CROSSED)
    wages = WagesPaid(quarterly_wages(records, persons, ledger), assumed)
    amounts = _amounts(persons, (line for line in ledger.lines if line.year in years))
    return Household(
        id=employer.id,
        employees=employees,
        liabilities=liabilities_of(employees, wages, years[0], years[-1]),
        amounts=amounts,
        wages=_state_wages(ledger.wages),
        filings=facts.filings,
        closed=facts.closed,
        paydays=tuple(PaydayAmount(*line) for line in ledger.paydays if line.pay_date.year in years),
        open_lines=frozenset(
            line for number in ledger.numbers for line in lines_of_number(*number, today.year)
        ),
        as_of=today,
        expects_to_owe=_expects_to_owe(employer, amounts, today),
        done=facts.done,
        payments=facts.payments,
        filed=facts.filed,
    )


def codes_by_payday(codes: Iterable[str]) -> list[str]:
    """Return the codes of lines whose paydays a duty of their jurisdiction needs."""
    return [
        code
        for code in sorted(codes)
        if code[:2] in STATES and is_among(code, duties_of(code[:2]).lines_by_payday())
    ]


def _expects_to_owe(employer: Employer, amounts: Iterable[LedgerAmount], today: datetime.date) -> bool:
    """Return whether household employment taxes will be due with this year's Form 1040."""
    return basis_of(employer.threshold_bases, today.year) == ASSUME_CROSSED or any(
        amount.cents and amount.year == today.year and amount.line.startswith(f"{FEDERAL}-")
        for amount in amounts
    )


def _employees(
    employer: Employer, records: Sequence[Employee], ledger: LedgerOfYears, today: datetime.date
) -> tuple[HouseholdEmployee, ...]:
    people: dict[UUID, list[Employee]] = {}
    for record in records:
        people.setdefault(record.person_id or record.id, []).append(record)
    taxed: dict[UUID, list[LineOfMonth]] = {}
    for line in ledger.lines:
        if line.category in _INCOME_TAXES and line.taxable_wages:
            taxed.setdefault(line.employee_id, []).append(line)
    last_paid: dict[UUID, tuple[int, int]] = {}
    for wages in ledger.wages:
        if wages.cents:
            month = (wages.year, wages.month)
            last_paid[wages.employee_id] = max(month, last_paid.get(wages.employee_id, month))
    return tuple(
        _person(employer, person, own, ledger.places, taxed, last_paid, today)
        for person, own in people.items()
    )


def _person(
    employer: Employer,
    person: UUID,
    records: Sequence[Employee],
    places: Sequence[PaidPlace],
    taxed: Mapping[UUID, Sequence[LineOfMonth]],
    last_paid: Mapping[UUID, tuple[int, int]],
    today: datetime.date,
) -> HouseholdEmployee:
    latest = max(records, key=lambda record: (record.status == "active", record.start_date, record.id))
    spells = [spell for record in records for spell in _spells(record, places)]
    return HouseholdEmployee(
        id=person,
        name=latest.name,
        employments=tuple(sorted(spells, key=lambda spell: (spell.since, spell.state))),
        relationship=latest.relationship,
        withholding=tuple(
            withheld
            for record in records
            for withheld in (
                *_withheld(taxed.get(record.id, ())),
                *_agreed(employer, record, last_paid.get(record.id), today),
            )
        ),
        claims_exemption=bool(latest.federal_withholding.get("exempt", False)),
        local_lines=frozenset().union(*(_local_lines(employer, record, today) for record in records)),
    )


# Where somebody worked


def _spells(record: Employee, places: Sequence[PaidPlace]) -> Iterator[EmploymentSpell]:
    """Yield the employments of a record, each split where the work state changed."""
    paid = [place for place in places if place.employee_id == record.id]
    for earlier in record.earlier_employments:
        since = datetime.date.fromisoformat(earlier["start_date"])
        until = datetime.date.fromisoformat(earlier["end_date"])
        within = [place for place in paid if place.since <= until and place.until >= since]
        following = next((place.work_state for place in paid if place.since > until), record.work_state)
        last = within[-1].work_state if within else following
        yield from _parted(since, until, within, last)
    within = [
        place
        for place in paid
        if place.until >= record.start_date and (record.end_date is None or place.since <= record.end_date)
    ]
    yield from _parted(record.start_date, record.end_date, within, record.work_state)


def _parted(
    since: datetime.date, until: datetime.date | None, paid: Sequence[PaidPlace], at_last: str
) -> Iterator[EmploymentSpell]:
    """Yield an employment state by state, as it was paid; ``at_last`` is the state after the last paycheck."""
    state = paid[0].work_state if paid else at_last
    moves = [(place.work_state, place.since) for place in paid[1:]]
    if paid:
        moves.append((at_last, paid[-1].until + _DAY))
    for moved_to, day in moves:
        if until is not None and day > until:
            break
        if day > since and moved_to != state:
            yield EmploymentSpell(state, since, day - _DAY)
            since = day
        state = moved_to
    yield EmploymentSpell(state, since, until)


# What is withheld


def _withheld(taxed: Sequence[LineOfMonth]) -> Iterator[Withholding]:
    """Yield when income tax was withheld from pay, even if the amount was zero: whole months, joined."""
    months = {(line.code[:2], line.year, line.month) for line in taxed}
    for jurisdiction, own in groupby(sorted(months), itemgetter(0)):
        since = until = None
        for _, year, month in own:
            first = datetime.date(year, month, 1)
            if since is None or until is None or first != until + _DAY:
                if since is not None:
                    yield Withholding(jurisdiction, since, until)
                since = first
            until = day_of_month(year, month, 31)
        if since is not None:
            yield Withholding(jurisdiction, since, until)


def _local_lines(employer: Employer, record: Employee, today: datetime.date) -> frozenset[str]:
    """Return the codes of the local taxes on an active employee's pay."""
    if record.status != "active":
        return frozenset()
    (facts,) = household_facts(employer, [record], {}, (), ()).employees
    return local_lines_of(facts, today)


def _agreed(
    employer: Employer, record: Employee, last_paid: tuple[int, int] | None, today: datetime.date
) -> Iterator[Withholding]:
    """Yield what will be withheld from an active employee, from the month after the last one paid."""
    if record.status != "active":
        return
    since = record.start_date
    if last_paid is not None:
        since = max(since, day_of_month(*last_paid, 31) + _DAY)
    election = record.federal_withholding
    if election.get("elected", True) and not election.get("exempt", False):
        yield Withholding(FEDERAL, since)
    (facts,) = household_facts(employer, [record], {}, (), ()).employees
    state = state_withheld_for(facts, today)
    if state is not None:
        yield Withholding(state, since)


# What was paid


def _amounts(persons: Mapping[UUID, UUID], lines: Iterable[LineOfMonth]) -> tuple[LedgerAmount, ...]:
    of_person: dict[UUID, dict[tuple[str, int, int], int]] = {}
    for employee, own in groupby(lines, attrgetter("employee_id")):
        cents = of_person.setdefault(persons[employee], {})
        for line in own:
            place = (line.code, line.year, line.month)
            cents[place] = cents.get(place, 0) + line.amount
    return tuple(
        LedgerAmount(person, *place, amount)
        for person, cents in of_person.items()
        for place, amount in cents.items()
        if amount
    )


def _state_wages(wages: Iterable[WagesOfMonth]) -> tuple[WagesInState, ...]:
    cents: dict[tuple[str, int, int], int] = {}
    for paid in wages:
        place = (paid.work_state, paid.year, paid.month)
        cents[place] = cents.get(place, 0) + paid.cents
    return tuple(WagesInState(*place, amount) for place, amount in cents.items() if amount)


def quarterly_wages(
    records: Sequence[Employee], persons: Mapping[UUID, UUID], ledger: LedgerOfYears
) -> dict[int, QuarterlyWages]:
    """Return the wages that count for thresholds, including those of other payrolls."""
    years: dict[int, QuarterlyWages] = {}
    for (employee, tax_year, month), lines in groupby(ledger.lines, _MONTH_OF_LINE):
        wages = {line.code: line.subject_wages for line in lines if line.subject_wages}
        if wages:
            day = datetime.date(tax_year, month, 1)
            years.setdefault(tax_year, QuarterlyWages()).add(persons[employee], day, wages)
    by_id = {record.id: record for record in records}
    for prior in ledger.before:
        record = by_id[prior.employee_id]
        subject_wages = dict(zip(prior.codes, prior.subject_wages, strict=True))
        wages = wages_by_line(
            law_year(prior.tax_year, record.work_state),
            record.work_state,
            record.relationship,
            prior.gross_pay,
            subject_wages,
        )
        years.setdefault(prior.tax_year, QuarterlyWages()).add(persons[record.id], prior.as_of, wages)
    return years
