"""The facts of a household's calendar, from its records, its ledger and its own entries.

What was paid shows where an employee worked and what was withheld; what isn't paid yet follows today's records.
"""

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
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
    LedgerMonth,
    LineOfPayday,
    PaidPlace,
    WagesFromBefore,
    WagesOfMonth,
)
from hearthpay.registrations.accounts import lines_of_number
from hearthpay.registrations.derivation import EmployeeFacts, local_lines_of, state_withheld_for
from hearthpay.registrations.records import household_facts
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.liability import QuarterlyWages, wages_by_line

_INCOME_TAXES: Final = frozenset({"federal_income_tax", "state_income_tax"})
_DAY: Final = datetime.timedelta(days=1)

_TaxedMonth = tuple[str, int, int]
"""The jurisdiction of an income tax, with the year and the month."""


@dataclass(frozen=True, slots=True)
class LedgerOfYears:
    """A household's ledger by month, and where its employees were paid for work."""

    months: Sequence[LedgerMonth]
    wages: Sequence[WagesOfMonth]
    places: Sequence[PaidPlace]
    """Of employees who were paid for work in another state than their record's."""

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
) -> tuple[Household, WagesPaid]:
    """Return the facts of a household for these years, and its wages; the ledger must include the year before as well.

    Several records of one person are one employee, under the id of the first.
    """
    persons = {record.id: record.person_id or record.id for record in records}
    employees = _employees(employer, records, ledger, today)
    assumed = frozenset(year for year in years if basis_of(employer.threshold_bases, year) == ASSUME_CROSSED)
    wages = WagesPaid(quarterly_wages(records, persons, ledger), assumed)
    amounts = _amounts(persons, (month for month in ledger.months if month.year in years))
    household = Household(
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
    return household, wages


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
    taxed: dict[UUID, set[_TaxedMonth]] = {}
    for month in ledger.months:
        for code, category, wages in zip(
            month.lines.codes, month.lines.categories, month.taxable_wages, strict=True
        ):
            if wages and category in _INCOME_TAXES:
                taxed.setdefault(month.employee_id, set()).add((code[:2], month.year, month.month))
    places: dict[UUID, list[PaidPlace]] = {}
    for place in ledger.places:
        places.setdefault(place.employee_id, []).append(place)
    last_paid: dict[UUID, tuple[int, int]] = {}
    for paid in ledger.wages:
        if paid.cents:
            day = (paid.year, paid.month)
            last_paid[paid.employee_id] = max(day, last_paid.get(paid.employee_id, day))
    return tuple(
        _person(employer, person, own, places, taxed, last_paid, today) for person, own in people.items()
    )


def _person(
    employer: Employer,
    person: UUID,
    records: Sequence[Employee],
    places: Mapping[UUID, Sequence[PaidPlace]],
    taxed: Mapping[UUID, Set[_TaxedMonth]],
    last_paid: Mapping[UUID, tuple[int, int]],
    today: datetime.date,
) -> HouseholdEmployee:
    latest = max(records, key=lambda record: (record.status == "active", record.start_date, record.id))
    spells = [spell for record in records for spell in _spells(record, places.get(record.id, ()))]
    facts = {
        record.id: household_facts(employer, [record], {}, (), ()).employees[0]
        for record in records
        if record.status == "active"
    }
    return HouseholdEmployee(
        id=person,
        name=latest.name,
        employments=tuple(sorted(spells, key=lambda spell: (spell.since, spell.state))),
        relationship=latest.relationship,
        withholding=tuple(
            withheld
            for record in records
            for withheld in (
                *_withheld(taxed.get(record.id, frozenset())),
                *_agreed(record, facts.get(record.id), last_paid.get(record.id), today),
            )
        ),
        claims_exemption=bool(latest.federal_withholding.get("exempt", False)),
        local_lines=frozenset().union(*(local_lines_of(each, today) for each in facts.values())),
    )


# Where somebody worked


def _spells(record: Employee, paid: Sequence[PaidPlace]) -> Iterator[EmploymentSpell]:
    """Yield the employments of a record, each split where the work state changed."""
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


def _withheld(months: Set[_TaxedMonth]) -> Iterator[Withholding]:
    """Yield when income tax was withheld from pay, even if the amount was zero: whole months, joined."""
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


def _agreed(
    record: Employee, facts: EmployeeFacts | None, last_paid: tuple[int, int] | None, today: datetime.date
) -> Iterator[Withholding]:
    """Yield what will be withheld from an active employee, from the month after the last one paid."""
    if facts is None:
        return
    since = record.start_date
    if last_paid is not None:
        since = max(since, day_of_month(*last_paid, 31) + _DAY)
    election = record.federal_withholding
    if election.get("elected", True) and not election.get("exempt", False):
        yield Withholding(FEDERAL, since)
    state = state_withheld_for(facts, today)
    if state is not None:
        yield Withholding(state, since)


# What was paid


def _amounts(persons: Mapping[UUID, UUID], months: Iterable[LedgerMonth]) -> tuple[LedgerAmount, ...]:
    records = Counter(persons.values())
    found: list[LedgerAmount] = []
    shared: dict[tuple[UUID, str, int, int], int] = {}
    for employee_id, year, month, lines, amounts, _, _ in months:
        person = persons[employee_id]
        if records[person] == 1:
            found.extend(
                LedgerAmount(person, code, year, month, cents)
                for code, cents in zip(lines.codes, amounts, strict=True)
                if cents
            )
            continue
        for code, cents in zip(lines.codes, amounts, strict=True):
            place = (person, code, year, month)
            shared[place] = shared.get(place, 0) + cents
    found.extend(LedgerAmount(*place, cents) for place, cents in shared.items() if cents)
    return tuple(found)


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
    for (employee_id, year, quarter), months in groupby(ledger.months, _quarter):
        wages: dict[str, int] = {}
        for month in months:
            for code, cents in zip(month.lines.codes, month.subject_wages, strict=True):
                if cents:
                    wages[code] = wages.get(code, 0) + cents
        if wages:
            day = datetime.date(year, 3 * quarter - 2, 1)
            years.setdefault(year, QuarterlyWages()).add(persons[employee_id], day, wages)
    by_id = {record.id: record for record in records}
    for prior in ledger.before:
        record = by_id[prior.employee_id]
        subject_wages = dict(zip(prior.codes, prior.subject_wages, strict=True))
        entered = wages_by_line(
            law_year(prior.tax_year, record.work_state),
            record.work_state,
            record.relationship,
            prior.gross_pay,
            subject_wages,
        )
        years.setdefault(prior.tax_year, QuarterlyWages()).add(persons[record.id], prior.as_of, entered)
    return years


def _quarter(month: LedgerMonth) -> tuple[UUID, int, int]:
    return month.employee_id, month.year, (month.month + 2) // 3
