"""The reduced FUTA credit: due on the wages that FUTA taxes and that were paid for work in the state, and no others.

26 USC 3302(c)(2), 3306(b)(1); Schedule H (Form 1040), Section B and Worksheet 2. California's 1.5 % of 2026 is the
potential reduction.
"""

import datetime
import random
from dataclasses import replace

import pytest

from hearthpay.payroll.ledger.rows import PaycheckRow, YearToDate
from hearthpay.payroll.ledger.years import PriorWages
from hearthpay.taxes.prior_wages import counted_year
from hearthpay.taxes.year import YearSoFar, open_lines
from tests.payroll.test_random_years import Year

CREDIT_REDUCTION = "US-FUTA-CR"
BASE, RATE = 700_000, 15  # cents, and cents per ten dollars
CA_THEN_NY = ("CA", "NY")


def reduced(paychecks: list[tuple[str, int]]) -> int:
    """Return the cents of FUTA's wages paid in California, straight from the law: the first 7,000 of the year."""
    left, there = BASE, 0
    for state, cents in paychecks:
        taken = min(left, cents)
        left -= taken
        there += taken if state == "CA" else 0
    return there


def line_of(paycheck: PaycheckRow) -> tuple[int, int]:
    found = [(line.taxable_wages, line.amount) for line in paycheck.lines if line.code == CREDIT_REDUCTION]
    return found[0] if found else (0, 0)


@pytest.mark.parametrize(
    ("paychecks", "expected"),
    [
        ([("NY", 700_000), ("CA", 700_000)], [(0, 0), (0, 0)]),
        ([("NY", 500_000), ("CA", 500_000)], [(0, 0), (200_000, 3_000)]),
        ([("CA", 500_000), ("NY", 100_000), ("CA", 500_000)], [(500_000, 7_500), (0, 0), (100_000, 1_500)]),
        ([("CA", 900_000), ("NY", 900_000), ("CA", 100)], [(700_000, 10_500), (0, 0), (0, 0)]),
    ],
)
def test_wages_above_the_base_bear_none_wherever_they_were_paid(paychecks, expected):
    year = Year(CA_THEN_NY)
    assert [
        line_of(year.run(cents, 30 + day, state == "NY")) for day, (state, cents) in enumerate(paychecks)
    ] == (expected)


def test_wages_of_a_void_move_up_and_are_charged_wherever_the_next_paycheck_is():
    for last in ("CA", "NY"):
        year = Year(CA_THEN_NY)
        year.run(700_000, 1, True)
        year.run(500_000, 2, False)
        year.void(0)
        year.run(100_000, 3, last == "NY")
        so_far = year.history.year
        expected = reduced([("CA", 500_000), (last, 100_000)])
        assert so_far.taxable_wages[CREDIT_REDUCTION] == expected
        assert so_far.taxes[CREDIT_REDUCTION] == expected * RATE // 1000
    year = Year(CA_THEN_NY)
    year.run(700_000, 1, False)
    year.run(700_000, 2, True)
    year.void(0)
    assert line_of(year.run(100_000, 3, False)) == (0, 0)
    assert year.history.year.taxes[CREDIT_REDUCTION] == 0


def test_prior_wages_use_up_the_base_before_ours():
    year = Year(CA_THEN_NY)
    told = YearSoFar({"US-FUTA": 600_000}, {"US-FUTA": 600_000}, {"US-FUTA": 3_600})
    year.history = replace(year.history, prior=PriorWages(YearToDate(), counted_year(told, 2026)))
    assert line_of(year.run(500_000, 5, False)) == (100_000, 1_500)


@pytest.mark.parametrize("seed", range(40))
def test_any_order_of_states_and_voids(seed):
    dice = random.Random(seed)
    year, standing = Year(CA_THEN_NY), []
    for day in range(12):
        if standing and dice.random() < 0.3:
            gone = dice.randrange(len(standing))
            year.void(gone)
            standing.pop(gone)
        state, cents = dice.choice(CA_THEN_NY), dice.choice((40_010, 123_457, 250_000, 800_000))
        year.run(cents, day * 20, state == "NY")
        standing.append((state, cents))
        so_far = year.history.year
        there = reduced(standing)
        # Each payment's tax is rounded; of a correction the wages are told by its tax.
        assert abs(so_far.taxes.get(CREDIT_REDUCTION, 0) - there * RATE / 1000) <= 0.5 * len(standing) + 0.5
        assert abs(so_far.taxable_wages.get(CREDIT_REDUCTION, 0) - there) <= 34 * 12
        assert CREDIT_REDUCTION not in (so_far.owed or {})


def test_nothing_is_open_of_books_that_were_charged_by_the_wages_of_the_state_alone():
    """As paychecks did before: what they charged stays, and Schedule H counts the wages anew."""
    so_far = YearSoFar(
        {"US-FUTA": 1_400_000, CREDIT_REDUCTION: 700_000, "CA-SUI-ER": 700_000, "NY-SUI-ER": 700_000},
        {"US-FUTA": 700_000, CREDIT_REDUCTION: 700_000, "CA-SUI-ER": 700_000, "NY-SUI-ER": 700_000},
        {"US-FUTA": 4_200, CREDIT_REDUCTION: 10_500, "CA-SUI-ER": 23_800, "NY-SUI-ER": 28_700},
    )
    assert CREDIT_REDUCTION not in {line.code for line in open_lines(so_far, datetime.date(2026, 12, 31))}
