"""Which paychecks of a year other rules would change, and by how much: those paid under an earlier edition.

A paycheck names the rulebook that it was calculated by. If that is no longer the one in force, the year of each
person is calculated again from its first paycheck on, by the rules in force and as if only the standing paychecks had
ever existed: a correction of earlier wages is then no part of any line. A line with a different amount differs
because of the rules, unless the rules in force give the recorded amount with the year as it was when it was paid:
then only a void changed it.

The household's assigned rates are those of the paychecks. Certificates, localities, the relationship and how
thresholds count are those of today, which is the one other reason why a line can differ. What a paycheck corrected of
earlier wages is left out as far as its line shows it. In a year with voids or with several editions, a difference of
a line whose cap was changed may still contain such a correction, and if its rate was changed too, the cap's share is
left out. Nothing is written.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employees.models import Employee
from hearthpay.employers.assigned_rates import TaxTerms, tax_terms
from hearthpay.payroll.calculation import calculate_payroll
from hearthpay.payroll.ledger.earlier_pay import earlier_pay_of, read_withheld, records_of_person
from hearthpay.payroll.ledger.histories import read_histories
from hearthpay.payroll.ledger.paychecks import PostedInYear, read_year
from hearthpay.payroll.ledger.rows import LineRow, PaycheckRow
from hearthpay.payroll.ledger.years import History
from hearthpay.payroll.orders import Payee, PayrollEntry, SettledOrder, payee_of, read_entries
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.payroll.stored_explanations import history_before, standing_wages
from hearthpay.payroll.years.household_year import HouseholdYear, read_household_year
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.money import RATE_SCALE, scaled_rate
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rulebook import rulebook_of

CorrectionWay = Literal["next_paycheck", "not_taken_again", "not_settled"]
"""What happens to a difference. ``next_paycheck``: the next paycheck charges or refunds it. ``not_taken_again``: a
tax that was withheld stays as it is, and new tables apply from the next paycheck on. ``not_settled``: nothing
settles it."""

_CONCERNED: Final = text(
    "SELECT DISTINCT p.employer_id FROM payrolls p WHERE p.tax_year = :tax_year "
    "AND p.rulebook_version <> :version AND (CAST(:employer AS uuid) IS NULL OR p.employer_id = :employer) "
    "AND EXISTS (SELECT FROM paychecks c WHERE c.payroll_id = p.id) ORDER BY 1"
)


class _OutdatedRow(NamedTuple):
    id: UUID
    rulebook_version: str


_OUTDATED: Final = query(
    _OutdatedRow,
    "SELECT id, rulebook_version FROM payrolls "
    "WHERE employer_id = :employer AND tax_year = :tax_year AND rulebook_version <> :version",
)


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A line of a paycheck whose amount changes; cents."""

    code: str
    name: str
    payer: str
    charged: int
    """The charge on the wages of this paycheck, without its corrections of earlier ones."""

    by_rules_in_force: int
    settled: CorrectionWay

    @property
    def difference(self) -> int:
        """How much more the rules in force charge."""
        return self.by_rules_in_force - self.charged


@dataclass(frozen=True, slots=True)
class ChangedPaycheck:
    """A paycheck with at least one changed line."""

    paycheck_id: UUID
    payroll_id: UUID
    employee_id: UUID
    pay_date: datetime.date
    rulebook_version: str
    lines: tuple[ChangedLine, ...]


@dataclass(frozen=True, slots=True)
class NotCalculated:
    """A paycheck that can't be calculated with today's facts, and why."""

    paycheck_id: UUID
    employee_id: UUID
    field: str
    message: str


@dataclass(slots=True)
class HouseholdImpact:
    """What the rules in force change in a household's year."""

    employer_id: UUID
    changed: list[ChangedPaycheck] = field(default_factory=list)
    unchanged: int = 0
    """How many paychecks under other rules keep the same amounts."""

    not_calculated: list[NotCalculated] = field(default_factory=list)


class LineSum(NamedTuple):
    """The totals of one line across all paychecks that change; cents."""

    code: str
    settled: CorrectionWay
    paychecks: int
    charged: int
    by_rules_in_force: int

    @property
    def difference(self) -> int:
        """How much more the rules in force charge."""
        return self.by_rules_in_force - self.charged


async def concerned_households(
    session: AsyncSession, tax_year: int, employer_id: UUID | None = None
) -> list[UUID]:
    """Return the households with paychecks of the year under rules other than those in force; or only the given one,
    if it has any.

    The session must see every tenant. Raises `TaxInputError` for a year without rules.
    """
    which = {"tax_year": tax_year, "version": rulebook_of(tax_year).version, "employer": employer_id}
    return list(await session.scalars(_CONCERNED, which))


async def household_impact(session: AsyncSession, employer_id: UUID, tax_year: int) -> HouseholdImpact:
    """Return the paychecks of a household's year that the rules in force change, in the order they were posted."""
    which = {"employer": employer_id, "tax_year": tax_year, "version": rulebook_of(tax_year).version}
    outdated = {row.id: row.rulebook_version for row in await fetch_all(session, _OUTDATED, which)}
    year = await _read(session, employer_id, tax_year)
    impact = HouseholdImpact(employer_id)
    for paychecks in _rounds(year):
        again = _calculate_again(year, paychecks)
        for posted in paychecks:
            person = year.persons[posted.paycheck.employee_id]
            found = again if isinstance(again, TaxInputError) else again.get(posted.paycheck.employee_id)
            if not isinstance(found, PaycheckRow):
                year.add(person, posted.paycheck)
                if isinstance(found, TaxInputError) and posted.payroll_id in outdated:
                    impact.not_calculated.append(
                        NotCalculated(posted.id, posted.paycheck.employee_id, found.field, found.message)
                    )
                continue
            if posted.payroll_id in outdated:
                corrected = _follows_another_edition(year, posted, outdated)
                lines = _changed_lines(year, posted, found, corrected=corrected)
                if lines:
                    impact.changed.append(
                        ChangedPaycheck(
                            posted.id,
                            posted.payroll_id,
                            posted.paycheck.employee_id,
                            posted.pay_date,
                            outdated[posted.payroll_id],
                            lines,
                        )
                    )
                else:
                    impact.unchanged += 1
            year.add(person, found)
    return impact


def sums_by_line(changed: Iterable[ChangedPaycheck]) -> list[LineSum]:
    """Return the sums of the lines that change, by code and by how the difference is settled."""
    sums: dict[tuple[str, CorrectionWay], LineSum] = {}
    for paycheck in changed:
        for line in paycheck.lines:
            so_far = sums.get((line.code, line.settled), LineSum(line.code, line.settled, 0, 0, 0))
            sums[line.code, line.settled] = LineSum(
                line.code,
                line.settled,
                so_far.paychecks + 1,
                so_far.charged + line.charged,
                so_far.by_rules_in_force + line.by_rules_in_force,
            )
    return [sums[key] for key in sorted(sums)]


@dataclass(slots=True)
class _Year:
    """A household's year: the posted paychecks, the standing ones, and the recalculated totals so far, by person."""

    employer_id: UUID
    tax_year: int
    posted: Sequence[PostedInYear]
    standing: Sequence[PostedInYear]
    payees: Mapping[UUID, Payee]
    entries: Mapping[UUID, Mapping[UUID, PayrollEntry]]
    """The orders' entries, by payroll and employee."""

    terms: TaxTerms
    today: Mapping[UUID, History]
    """The current histories, by record: prior wages and set-asides."""

    persons: Mapping[UUID, UUID]
    household: HouseholdYear
    withheld: Mapping[UUID, Mapping[str, datetime.date]]
    """Income taxes withheld from regular wages otherwise than by the year's paychecks, by record."""

    again: dict[UUID, History] = field(default_factory=dict)

    def history(self, person: UUID) -> History:
        """Return the totals of the person's year so far by the rules in force."""
        if person not in self.again:
            now = self.today.get(person)
            self.again[person] = History(prior=None if now is None else now.prior)
        return self.again[person]

    def add(self, person: UUID, paycheck: PaycheckRow) -> None:
        """Count one more paycheck."""
        self.again[person] = self.history(person).with_paycheck(paycheck)


async def _read(session: AsyncSession, employer_id: UUID, tax_year: int) -> _Year:
    posted = await read_year(session, employer_id, tax_year)
    reversed_ones = {each.reverses for each in posted}
    standing = [each for each in posted if each.reverses is None and each.id not in reversed_ones]
    employees = (await session.scalars(select(Employee).where(Employee.employer_id == employer_id))).all()
    terms = await tax_terms(session, employer_id, tax_year)
    today = await read_histories(session, employees, tax_year)
    orders = await read_entries(session, list(dict.fromkeys(each.payroll_id for each in standing)))
    household = await read_household_year(session, employer_id, tax_year, terms.threshold_bases, today)
    return _Year(
        employer_id=employer_id,
        tax_year=tax_year,
        posted=posted,
        standing=standing,
        payees={each.id: payee_of(each) for each in employees},
        entries={
            payroll: {entry.employee_id: entry for entry in entries} for payroll, entries in orders.items()
        },
        terms=terms,
        today=today,
        persons=household.persons,
        household=household,
        withheld=await read_withheld(
            session, today, tax_year - 1, tax_year, paid_until=datetime.date(tax_year - 1, 12, 31)
        ),
    )


def _rounds(year: _Year) -> Iterable[list[PostedInYear]]:
    """Yield the standing paychecks, grouped by payroll, with a person's second one in a separate group."""
    together: list[PostedInYear] = []
    people: set[UUID] = set()
    for each in year.standing:
        person = year.persons[each.paycheck.employee_id]
        if together and (together[0].payroll_id != each.payroll_id or person in people):
            yield together
            together, people = [], set()
        together.append(each)
        people.add(person)
    if together:
        yield together


def _calculate_again(
    year: _Year, paychecks: Sequence[PostedInYear], histories: Mapping[UUID, History] | None = None
) -> dict[UUID, PaycheckRow] | TaxInputError:
    """Return paychecks of one payroll by the rules in force, by employee; those that pay no wages are left out.

    Without ``histories``, the year so far is the recalculated one. If a paycheck can't be calculated, the error is
    returned.
    """
    first = paychecks[0]
    paid = [each for each in paychecks if each.paycheck.gross_pay > 0]
    if not paid:
        return {}
    entries = tuple(year.entries[first.payroll_id][each.paycheck.employee_id] for each in paid)
    payees = {
        each.paycheck.employee_id: year.payees[each.paycheck.employee_id]._replace(
            work_state=each.paycheck.work_state, residence_state=each.paycheck.residence_state
        )
        for each in paid
    }
    if histories is None:
        before: Sequence[PostedInYear] = year.standing
        histories = {each: year.history(year.persons[each]) for each in payees}
    else:
        before = year.posted
    before = before[: next(at for at, each in enumerate(before) if each.id == first.id)]
    dates = PayDates(first.period_start, first.period_end, first.pay_date, defaulted=False)
    order = SettledOrder(year.employer_id, dates, first.pay_frequency, None, entries)
    thresholds = _thresholds(year, before, histories)
    people = {each: records_of_person(each, year.today.get(each)) for each in payees}
    earlier = earlier_pay_of(before, people, year.withheld)
    try:
        record = calculate_payroll(order, payees, histories, _assigned(year, paid), thresholds, earlier)
    except TaxInputError as error:
        return error
    return {each.employee_id: each for each in record.paychecks}


def _thresholds(
    year: _Year, before: Sequence[PostedInYear], histories: Mapping[UUID, History]
) -> HouseholdYear | None:
    """Return the household's year as it was then, if lines have thresholds in it."""
    refunded = {year.persons[each] for each, history in histories.items() if history.fica_repaid}
    if not (year.terms.threshold_bases or refunded):
        return None
    return replace(year.household, standing=standing_wages(before, year.persons), refunded=refunded)


def _assigned(year: _Year, paychecks: Sequence[PostedInYear]) -> dict[str, Decimal]:
    """Return the household's assigned rates by state, as the paychecks used them: no edition changes these."""
    rates: dict[str, Decimal] = {}
    for each in paychecks:
        state = each.paycheck.work_state
        if state not in year.terms.sui_rates:
            continue
        lines = rulebook_of(year.tax_year).state(state).contributions_by_code(each.pay_date)
        charged = [
            line.rate
            for line in each.paycheck.lines
            if line.rate is not None and line.code in lines and lines[line.code].assigned_rate
        ]
        rates[state] = charged[0] if charged else year.terms.sui_rates[state]
    return rates


def _changed_lines(
    year: _Year, posted: PostedInYear, again: PaycheckRow, *, corrected: bool
) -> tuple[ChangedLine, ...]:
    """Return the lines whose amounts differ; ``corrected`` says that they may include corrections of earlier rules."""
    charged = {line.code: line for line in posted.paycheck.lines}
    right = {line.code: line for line in again.lines}
    differing = [
        code for code in dict.fromkeys((*charged, *right)) if _amount(charged, code) != _amount(right, code)
    ]
    if not differing:
        return ()
    as_it_stood = _as_it_stood(year, posted)
    voided = any(each.reverses is not None for each in year.posted)
    found = []
    for code in differing:
        line = charged.get(code) or right[code]
        before, amount = _amount(charged, code), _amount(right, code)
        if voided and code in right and line.rate is not None and line.rate != right[code].rate:
            # Without the void it would have taxed the same wages as now, at its own rate.
            before = half_up(right[code].taxable_wages * scaled_rate(line.rate), RATE_SCALE)
        elif as_it_stood is not None and _amount(as_it_stood, code) == before:
            continue
        elif corrected:
            before = _without_correction(line, before)
        if before == amount:
            continue
        settled = _settled(posted, line, right.get(code))
        found.append(ChangedLine(code, line.name, line.payer, before, amount, settled))
    return tuple(found)


def _follows_another_edition(year: _Year, posted: PostedInYear, outdated: Mapping[UUID, str]) -> bool:
    """Return whether the person was paid earlier in the year under rules other than this paycheck's.

    Then it may have settled what those had charged too little or too much.
    """
    person, version = year.persons[posted.paycheck.employee_id], outdated[posted.payroll_id]
    return any(
        outdated.get(each.payroll_id) != version
        for each in year.posted
        if each.id < posted.id and year.persons[each.paycheck.employee_id] == person
    )


def _without_correction(line: LineRow, amount: int) -> int:
    """Return what a line charged on the paycheck's own wages, if all of them were taxed; otherwise its amount."""
    if line.rate is None or line.taxable_wages != line.subject_wages:
        return amount
    own = half_up(line.taxable_wages * scaled_rate(line.rate), RATE_SCALE)
    return own if abs(own - amount) > 1 else amount


def _as_it_stood(year: _Year, posted: PostedInYear) -> Mapping[str, LineRow] | None:
    """Return the paycheck's lines by the rules in force, with the year as it was when it was paid."""
    at = next(at for at, each in enumerate(year.posted) if each.payroll_id == posted.payroll_id)
    before = year.posted[:at]
    together = [each for each in year.standing if each.payroll_id == posted.payroll_id]
    histories = {
        employee: history_before(employee, year.today.get(employee), before, year.tax_year)
        for employee in (each.paycheck.employee_id for each in together)
    }
    again = _calculate_again(year, together, histories)
    if isinstance(again, TaxInputError):
        return None
    return {line.code: line for line in again[posted.paycheck.employee_id].lines}


def _settled(posted: PostedInYear, line: LineRow, right: LineRow | None) -> CorrectionWay:
    """Return how a line's difference is settled, as `settle_rule_changes` settles it."""
    if line.category.endswith("income_tax"):
        return "not_taken_again"
    rules = rulebook_of(posted.pay_date.year).state(posted.paycheck.work_state)
    law = rules.contributions_by_code(posted.pay_date).get(line.code)
    if law is None:  # a local tax, or one that is no longer charged
        return "not_taken_again" if line.payer == "employee" else "not_settled"
    capped = law.is_capped or law.follows is not None
    if line.code in posted.paycheck.provisional and (capped or law.period_maximum is None):
        return "next_paycheck"
    same_rate = right is None or right.rate == line.rate
    return "next_paycheck" if capped and same_rate else "not_settled"


def _amount(lines: Mapping[str, LineRow], code: str) -> int:
    return lines[code].amount if code in lines else 0
