"""Random years: the papers' figures against a second way of reckoning, from what was paid alone and from all rows."""

import datetime
import random
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import pytest

from hearthpay.documents.figures.books import BookedPaycheck
from hearthpay.documents.figures.figure import Figure
from hearthpay.documents.figures.schedule_h import schedule_h_of
from hearthpay.documents.figures.stub import stub_of
from hearthpay.documents.figures.w2 import W2, w2_of
from hearthpay.documents.figures.w3 import w3_of
from hearthpay.taxes.prior_wages import PriorLine
from hearthpay.taxes.rulebook import rulebook_of
from tests.documents.household import Household

STATES = ("CA", "TX", "NY", "NJ", "IL", "PA", "WA", "FL", "GA", "VA")
ALWAYS = 5
NO_INCOME_TAX = {"TX", "WA", "FL"}
BASE = {2025: 17_610_000, 2026: 18_450_000}
THRESHOLD = {2025: 280_000, 2026: 300_000}
NO_FICA = {"spouse", "parent", "child_18_to_20", "student_under_18"}
NO_FUTA = {"spouse", "parent", "child_18_to_20", "parent_caring_for_grandchild"}
RATES = (Decimal("0.01"), Decimal("0.0712"), Decimal("0.031"))
RELATIONS = ("none",) * 6 + (
    "spouse",
    "parent",
    "child_18_to_20",
    "student_under_18",
    "parent_caring_for_grandchild",
)


@dataclass
class Told:
    """What was paid, in plain figures."""

    payments: dict[UUID, list[tuple[datetime.date, str, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    relation: dict[UUID, str] = field(default_factory=dict)
    person: dict[UUID, UUID] = field(default_factory=dict)

    def gross(self, person: UUID) -> int:
        return sum(cents for _, _, cents in self.payments[person])


def live(seed: int) -> tuple[Household, Told]:
    """Run a year of some people with moves, voids, returns of those who left, prior wages and new rates."""
    chance = random.Random(seed)
    household, told = Household(chance.choice((2025, 2026)), as_paid=chance.random() < 0.3), Told()
    records = []
    for _ in range(chance.randint(1, 4)):
        state = chance.choice(STATES)
        relation = chance.choice(RELATIONS)
        record = household.hire(state, relationship=relation, income_tax=chance.choice((None, "0", "17.5")))
        told.relation[record], told.person[record] = relation, record
        records.append(record)
        if chance.random() < 0.25:
            gross = chance.choice((50_000, 700_000, 2_000_000))
            base, rate, exempt = unemployment(state, household.year)
            taxed = 0 if relation in exempt else min(gross, base)
            lines = [
                PriorLine(
                    f"{state}-SUI-ER", 0 if relation in exempt else gross, taxed, to_the_cent(taxed * rate)
                )
            ]
            if relation == "none":
                futa = min(gross, 700_000)
                lines += [
                    PriorLine("US-SS-EE", gross, gross, gross * 62 // 1000),
                    PriorLine("US-MED-EE", gross, gross, gross * 145 // 10_000),
                    PriorLine("US-FUTA", gross, futa, futa * 6 // 1000),
                ]
            household.bring(record, f"{household.year}-01-02", gross, lines)
            told.payments[record].append((datetime.date(household.year, 1, 2), state, gross))
        if chance.random() < 0.25:
            again = household.hire(state, relationship=relation, again=record)
            told.person[again] = record
            records.append(again)
    paid: list[tuple[BookedPaycheck, int]] = []
    for _ in range(chance.randint(3, 26)):
        record = chance.choice(records)
        if chance.random() < 0.1:
            household.move(record, chance.choice(STATES))
        if chance.random() < 0.08:
            household.rates[chance.choice(STATES)] = chance.choice(RATES)
        if paid and chance.random() < 0.15:
            booked, cents = paid.pop(chance.randrange(len(paid)))
            household.void(booked)
            own = told.payments[told.person[booked.paycheck.employee_id]]
            own.remove((booked.pay_date, booked.paycheck.work_state, cents))
            continue
        cents = chance.choice((chance.randint(1, 9_000), chance.randint(20_000, 400_000), 700_000, 8_000_000))
        day = datetime.date(household.year, 1, 3) + datetime.timedelta(days=chance.randint(0, 360))
        booked = household.pay(
            record, Decimal(cents).scaleb(-2), day, frequency="monthly", set_aside=chance.choice((None, 500))
        )
        told.payments[told.person[record]].append((day, booked.paycheck.work_state, cents))
        paid.append((booked, cents))
    return household, told


def unemployment(state: str, year: int) -> tuple[int, Fraction, frozenset[str]]:
    """The state's base in cents, the new employer's rate, and whom it leaves out."""
    lines = [line for line in rulebook_of(year).state(state).contributions if line.code == f"{state}-SUI-ER"]
    assert lines[0].wage_base is not None
    return lines[0].wage_base, Fraction(lines[0].rate, 10**9), lines[0].exempt_relationships


def posted(household: Household, codes: set[str], records: set[UUID] | None = None) -> int:
    """The tax of these lines in all rows that were ever posted, those undone and those undoing included."""
    ours = sum(
        line.amount
        for booked in household.posted
        if records is None or booked.paycheck.employee_id in records
        for line in booked.paycheck.lines
        if line.code in codes
    )
    return ours + sum(
        line.amount
        for entry in household.prior
        if records is None or entry.employee_id in records
        for line in entry.lines
        if line.code in codes
    )


def cents(figure: Figure | None) -> int:
    return 0 if figure is None else figure.cents


def to_the_cent(exact: Fraction) -> int:
    return int(exact + Fraction(1, 2))


SEEDS = range(40)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_boxes_of_a_random_year(seed):
    household, told = live(seed)
    forms = {person.person.id: w2_of(person) for person in household.books().everyone()}
    assert forms.keys() == {person for person, paid in told.payments.items() if paid}
    for person, form in forms.items():
        check_form(household, told, person, form)
    if forms:
        check_sums(household, list(forms.values()))


def check_form(household: Household, told: Told, person: UUID, form: W2) -> None:
    gross = told.gross(person)
    records = {record for record, whose in told.person.items() if whose == person}
    assert form.box_1.cents == gross
    assert cents(form.box_2) == posted(household, {"US-FIT", "US-FIT-SUP"}, records)
    owes = told.relation[person] not in NO_FICA and gross >= THRESHOLD[household.year]
    assert ("fica" in form.required_for) == owes
    if owes:
        assert cents(form.box_3) == min(gross, BASE[household.year])
        assert cents(form.box_5) == gross
        assert cents(form.box_4) == posted(household, {"US-SS-EE"}, records)
        assert cents(form.box_6) == posted(household, {"US-MED-EE", "US-ADDMED-EE"}, records)
    else:
        assert [form.box_3, form.box_4, form.box_5, form.box_6] == [None] * 4
    by_state: dict[str, int] = defaultdict(int)
    for _, state, paid in told.payments[person]:
        if state not in NO_INCOME_TAX:
            by_state[state] += paid
    if "NY" in by_state:
        by_state["NY"] = gross
    assert {row.state: row.wages.cents for row in form.states if row.wages.cents} == dict(by_state)
    for row in form.states:
        assert cents(row.tax) == posted(household, {f"{row.state}-SIT"}, records)
    for figure in (form.box_1, form.box_2, form.box_3, form.box_4, form.box_5, form.box_6):
        assert figure is None or figure.cents == sum(part.cents for part in figure.parts)


def check_sums(household: Household, forms: list[W2]) -> None:
    """Form W-3 and Schedule H say the same as the forms W-2, to the cent where they are sums."""
    summary, schedule = w3_of(forms), schedule_h_of(household.books())
    for name in ("box_1", "box_2", "box_3", "box_4", "box_5", "box_6"):
        assert cents(getattr(summary, name)) == sum(cents(getattr(form, name)) for form in forms)
    assert cents(summary.box_16) == sum(row.wages.cents for form in forms for row in form.states)
    assert cents(summary.box_17) == sum(cents(row.tax) for form in forms for row in form.states)
    if schedule.required and not schedule.answer_c:
        assert cents(schedule.line_1) == cents(summary.box_3)
        assert cents(schedule.line_3) == cents(summary.box_5)
        assert cents(schedule.line_7) == cents(summary.box_2) == posted(household, {"US-FIT", "US-FIT-SUP"})
    elif not schedule.required:
        assert not any(form.box_2 or form.box_3 for form in forms)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_schedule_of_a_random_year(seed):
    household, told = live(seed)
    schedule = schedule_h_of(household.books())
    year = household.year
    people = [person for person, paid in told.payments.items() if paid]
    owing = [p for p in people if told.relation[p] not in NO_FICA and told.gross(p) >= THRESHOLD[year]]
    quarters: dict[int, int] = defaultdict(int)
    futa_wages = 0
    for person in people:
        if told.relation[person] in NO_FUTA:
            continue
        futa_wages += min(700_000, told.gross(person))
        for day, _, paid in told.payments[person]:
            quarters[(day.month - 1) // 3] += paid
    owes_futa = max(quarters.values(), default=0) >= 100_000
    withheld = posted(household, {"US-FIT", "US-FIT-SUP"})
    assert schedule.required == bool(owing or withheld or owes_futa)
    if not schedule.required:
        return
    capped = sum(min(told.gross(person), BASE[year]) for person in owing)
    whole = sum(told.gross(person) for person in owing)
    above = sum(max(0, told.gross(person) - 20_000_000) for person in owing)
    first = 0
    if owing or withheld:
        first = (
            to_the_cent(Fraction(capped * 124, 1000))
            + to_the_cent(Fraction(whole * 29, 1000))
            + to_the_cent(Fraction(above * 9, 1000))
            + withheld
        )
        assert cents(schedule.line_8) == first
    assert schedule.total is not None
    if not owes_futa:
        assert schedule.total.cents == first
        return
    assert cents(schedule.line_15) + cents(schedule.line_20) == futa_wages
    check_credit(household, told, schedule, futa_wages, first)


def check_credit(household: Household, told: Told, schedule, futa_wages: int, first: int) -> None:
    """Whatever was paid in time earns at most 5.4 %; each state's column b is what its rows taxed."""
    reduced = 0 if schedule.worksheet_2 is None else schedule.worksheet_2.line_4
    own = schedule.line_16 or schedule.line_24
    assert to_the_cent(Fraction(futa_wages * 6, 1000)) - 1 <= cents(own)
    assert cents(own) <= to_the_cent(Fraction(futa_wages * 6, 100))
    assert schedule.total.cents == first + cents(own)
    assert reduced <= cents(own)
    paid: dict[str, int] = defaultdict(int)
    for booked in household.posted:
        for line in booked.paycheck.lines:
            if line.code == f"{line.code[:2]}-SUI-ER":
                paid[line.code[:2]] += line.amount
    for entry in household.prior:
        for told_line in entry.lines:
            if told_line.code == f"{told_line.code[:2]}-SUI-ER":
                paid[told_line.code[:2]] += told_line.amount
    if schedule.line_16 is not None:
        assert cents(schedule.line_14) == max(0, paid[schedule.line_13])
        return
    found: dict[str, int] = defaultdict(int)
    in_time: dict[str, int] = defaultdict(int)
    at_own_rate: dict[str, int] = defaultdict(int)
    for row in schedule.line_17:
        found[row.state] += row.wages.cents
        in_time[row.state] += row.paid.cents
        at_own_rate[row.state] += row.at_own_rate.cents
        assert row.wages.cents >= 0
        assert abs(row.at_own_rate.cents - row.at_own_rate.ledger_cents) <= len(household.posted)
    asked = taxed_by_states(household, told)
    assert {state: wages for state, wages in found.items() if wages} == asked
    assert in_time == {state: max(0, paid[state]) for state in found}
    unsettled = {
        remark.text.split(" unemployment")[0][-2:] for remark in schedule.remarks if "open" in remark.code
    }
    for state, product in at_own_rate.items():
        assert (abs(product - paid[state]) <= len(household.posted)) or state in unsettled


def taxed_by_states(household: Household, told: Told) -> dict[str, int]:
    """What each state taxes for unemployment: everybody's wages there, up to its base.

    Of a household that is charged as the thresholds are reached: all of the year in which a quarter reached 1,000, in
    New York what was paid from the quarter on that reached 500.
    """
    wages: dict[tuple[UUID, str], dict[int, int]] = defaultdict(lambda: defaultdict(int))
    quarters: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for person, payments in told.payments.items():
        for day, state, paid in payments:
            if told.relation[person] not in unemployment(state, household.year)[2]:
                # What another payroll has taxed stands: it is counted whatever the thresholds say.
                when = ALWAYS if day == datetime.date(household.year, 1, 2) else (day.month - 1) // 3
                wages[person, state][when] += paid
                quarters[state][(day.month - 1) // 3] += paid
    found: dict[str, int] = defaultdict(int)
    for (_, state), paid_in in wages.items():
        first = 0
        if household.as_paid:
            reached = [
                q for q, paid in quarters[state].items() if paid >= (50_000 if state == "NY" else 100_000)
            ]
            first = 4 if not reached else min(reached) if state == "NY" else 0
        base, _, _ = unemployment(state, household.year)
        found[state] += min(sum(paid for quarter, paid in paid_in.items() if quarter >= first), base)
    return {state: cents for state, cents in found.items() if cents}


@pytest.mark.parametrize("seed", range(12))
def test_the_stubs_of_a_random_year(seed):
    """The stubs that stand add up to the forms: earnings to box 1, income tax to box 2."""
    household, _ = live(seed)
    books = household.books()
    stubs = [stub_of(books, each.id) for each in household.posted if each.reverses is None]
    for stub in stubs:
        assert sum(row.current.cents for row in stub.earnings) == stub.gross_pay.cents
        assert sum(row.year_to_date.cents for row in stub.earnings) == stub.gross_pay_year.cents
        assert stub.net_pay.cents == stub.gross_pay.cents - stub.withheld_total.cents - stub.set_aside.cents
    standing = [stub for stub in stubs if not stub.voided]
    prior = sum(entry.gross_pay for entry in household.prior)
    forms = [w2_of(person) for person in books.everyone()]
    assert sum(stub.gross_pay.cents for stub in standing) + prior == sum(form.box_1.cents for form in forms)
