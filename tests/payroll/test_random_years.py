"""Random years without a database: runs in any order, voids, moves, prior wages and new rates end as wages demand."""

import datetime
import random
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearthpay.payroll.calculation import calculate_payroll
from hearthpay.payroll.ledger.rows import PaycheckRow, YearToDate
from hearthpay.payroll.ledger.years import NO_HISTORY, History, PriorWages
from hearthpay.payroll.orders import Payee, PayrollEntry, SettledOrder
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.payroll.years.reversal import opposite_of
from hearthpay.taxes.money import scaled_rate
from hearthpay.taxes.prior_wages import counted_year
from hearthpay.taxes.year import PaidWages, YearSoFar, open_lines
from tests.taxes.fraction_model import (
    STATES,
    YearLine,
    capped_taxes,
    part_taxed,
    to_the_cent,
    year_by_its_wages,
)

#: The eight of the model, and three with caps of their own: leave to 184,500 and 185,000, unemployment of employees.
ALL_STATES = (*STATES, "WA", "MN", "AK")
YEAR = 2026
SEEDS = 130
#: Of those and of the examples of Hypothesis, the suite lives through the first; `make test-long` through all.
SEEDS_IN_THE_SUITE = 30
EXAMPLES, EXAMPLES_IN_THE_SUITE = 30, 8
ROSA = Payee(uuid4(), "Rosa", "Diaz", "TX", "TX", (), Decimal(20), Decimal(30), "check", "none", {}, {})
HOUSEHOLD = uuid4()

wages = st.one_of(
    st.integers(1, 60_000),
    st.integers(10_000, 1_200_000),
    st.sampled_from((700_000, 900_000, 15_000_000, 18_450_000)),
    st.integers(1_000_000, 25_000_000),
)
RATES = (None, Decimal("0.011375"), Decimal("0.0712"), Decimal("0.0002"))
rates = st.sampled_from(RATES)
runs = st.tuples(st.just("run"), wages, st.integers(0, 364), st.booleans())
voids = st.tuples(st.just("void"), st.integers(0, 50))
changes = st.tuples(st.just("rate"), rates)
arrivals = st.tuples(st.just("prior"), wages)
steps = st.lists(st.one_of(runs, runs, voids, changes, arrivals), min_size=2, max_size=14)


@dataclass
class Year:
    """One employee's year as the service keeps it, and beside it what was paid in plain figures."""

    states: tuple[str, str]
    sui_rate: Decimal | None = None
    history: History = NO_HISTORY
    standing: list[tuple[PaycheckRow, dict]] = field(default_factory=list)
    prior: dict[str, Fraction] = field(default_factory=dict)
    taxed: dict[str, int] = field(default_factory=dict)

    def run(self, cents: int, day: int, elsewhere: bool) -> PaycheckRow:
        state = self.states[elsewhere]
        date = datetime.date(YEAR, 1, 1) + datetime.timedelta(days=day)
        entry = PayrollEntry(ROSA.id, "check", *[Decimal(0)] * 3, Decimal(cents).scaleb(-2))
        order = SettledOrder(HOUSEHOLD, PayDates(date, date, date, False), "weekly", None, (entry,))
        payee = ROSA._replace(work_state=state, residence_state=state, federal_withholding={"elected": False})
        rates_of_states = {} if self.sui_rate is None else {state: self.sui_rate}
        histories = {payee.id: self.history}
        [paycheck] = calculate_payroll(order, {payee.id: payee}, histories, rates_of_states).paychecks
        assert paycheck.net_pay >= 0
        self.history = self.history.with_paycheck(paycheck)
        paid = {
            "pay_date": date.isoformat(),
            "work_state": state,
            "wages": Fraction(cents, 100),
            "sui_rate": self.sui_rate,
        }
        self.standing.append((paycheck, paid))
        return paycheck

    def void(self, which: int) -> None:
        if not self.standing:
            return
        paycheck, _ = self.standing.pop(which % len(self.standing))
        self.history = self.history.without_paycheck(opposite_of(paycheck, self.history), self.left(), YEAR)

    def left(self) -> list[PaidWages]:
        return [
            PaidWages(
                datetime.date.fromisoformat(paid["pay_date"]),
                paid["work_state"],
                {
                    line.code: (line.subject_wages, None if line.rate is None else scaled_rate(line.rate))
                    for line in record.lines
                },
            )
            for record, paid in self.standing
        ]

    def bring(self, cents: int) -> None:
        """Enter wages that another payroll has paid in the first state, taxed as the law has it."""
        lines = {}
        for tax in capped_taxes(str(YEAR), self.states[0]):
            wages = Fraction(cents, 100)
            code = tax.get("ytd_code", tax["code"])
            self.prior[tax["code"]] = wages
            lines[code] = cents
            self.taxed[tax["code"]] = int(to_the_cent(part_taxed(tax, wages) * tax["rate"]) * 100)
        told = YearSoFar(lines, dict.fromkeys(lines, cents), {**dict.fromkeys(lines, 0), **self.taxed})
        self.history = replace(self.history, prior=PriorWages(YearToDate(), counted_year(told, YEAR)))
        self.history = self.history.measured_by(self.left(), YEAR)

    def demanded(self) -> dict[str, YearLine]:
        return year_by_its_wages([paid for _, paid in self.standing], self.prior)

    def assert_right(self, missing: dict[str, tuple[int, int]], told: object) -> None:
        """Every capped line, with what is missing of it in wages and tax, is what the wages demand."""
        year = self.history.year
        demanded = self.demanded()
        for code in {*demanded, *missing, *(each for each in year.taxable_wages if each in year.owed)}:
            line = demanded.get(code, YearLine("", Fraction(0), Fraction(0), Fraction(0)))
            lacking, owed = missing.get(code, (0, 0))
            taxable = Fraction(year.taxable_wages.get(code, 0) + lacking, 100)
            tax = Fraction(year.taxes.get(code, 0) + owed, 100)
            if code in self.prior and code not in demanded:
                continue  # nothing of ours
            assert taxable == line.taxable, (code, told)
            assert abs(tax - line.tax) <= line.slack, (code, float(tax), float(line.tax), told)


def live(states: tuple[str, str], sequence: list[tuple]) -> None:
    year = Year(states)
    for position, step in enumerate(sequence):
        told = (states, sequence[: position + 1])
        match step:
            case ("rate", rate):
                year.sui_rate = rate
                continue
            case ("void", which):
                year.void(which)
            case ("prior", cents):
                year.bring(cents)
            case ("run", cents, day, elsewhere):
                paycheck = year.run(cents, day, elsewhere)
                carried = {each.code: each.amount for each in paycheck.carried}
                payers = {line.code: line.payer for line in paycheck.lines}
                assert all(payers[code] == "employee" for code in carried), told
                assert not carried or paycheck.net_pay == 0, told
                assert year.history.year.owed == carried, told
        on = datetime.date(YEAR, 12, 31)
        missing = {
            each.code: (each.taxable_wages, each.tax) for each in open_lines(year.history.year_to_date, on)
        }
        year.assert_right(missing, told)
        if step[0] == "run":
            assert {code for code, (_, tax) in missing.items() if tax} <= set(carried), told


@pytest.mark.parametrize("examples", [EXAMPLES_IN_THE_SUITE, pytest.param(EXAMPLES, marks=pytest.mark.long)])
@pytest.mark.parametrize("state", ALL_STATES)
def test_every_capped_line_ends_where_the_years_wages_demand(state, examples):
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(st.sampled_from(ALL_STATES), steps)
    def ends(other, sequence):
        live((state, other), sequence)

    ends()


def sequence_of(dice: random.Random) -> list[tuple]:
    """Return a year that reaches the bases, voids what reached them, and changes rates in between.

    Hypothesis, which looks for small examples first, seldom does all three.
    """
    steps = []
    for _ in range(dice.randrange(3, 14)):
        cents = dice.choice(
            (
                dice.randrange(1, 60_000),
                dice.randrange(100_000, 1_200_000),
                dice.choice((700_000, 900_000, 15_000_000, 18_450_000)),
                dice.randrange(1_000_000, 25_000_000),
            )
        )
        match dice.choice(("run", "run", "run", "void", "void", "rate", "prior")):
            case "run":
                steps.append(("run", cents, dice.randrange(365), dice.random() < 0.25))
            case "void":
                steps.append(("void", dice.randrange(50)))
            case "rate":
                steps.append(("rate", dice.choice(RATES)))
            case "prior":
                steps.append(("prior", cents))
    return steps


@pytest.mark.parametrize("seeds", [SEEDS_IN_THE_SUITE, pytest.param(SEEDS, marks=pytest.mark.long)])
@pytest.mark.parametrize("state", ALL_STATES)
def test_years_full_of_voids_and_new_rates_end_where_the_wages_demand(state, seeds):
    for seed in range(seeds):
        dice = random.Random(f"{state} {seed}")
        live((state, dice.choice(ALL_STATES)), sequence_of(dice))


@pytest.mark.parametrize("state", ALL_STATES)
def test_after_every_void_the_year_is_as_if_the_paycheck_had_never_been(state):
    """Not only as the model has it: the very amounts of a year in which it was not run."""
    kept, plain = Year((state, state)), Year((state, state))
    for position in range(12):
        cents, day = 2_345_678 + position * 111_111, 20 + position * 28
        kept.run(cents, day, False)
        if position % 3 == 1:
            kept.void(len(kept.standing) - 2)
    for _, paid in kept.standing:
        day = (datetime.date.fromisoformat(paid["pay_date"]) - datetime.date(YEAR, 1, 1)).days
        plain.run(int(paid["wages"] * 100), day, False)
    for year in (kept, plain):
        year.run(4_000_000, 350, False)
    assert kept.history.year == replace(plain.history.year)
    assert kept.history.totals.gross_pay == plain.history.totals.gross_pay
