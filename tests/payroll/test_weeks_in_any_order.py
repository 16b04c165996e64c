"""A year of weeks, each paid by several payrolls in any order: no order changes an income tax of the year."""

import datetime
import random
from collections import Counter
from decimal import Decimal
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearthpay.payroll.calculation import calculate_payroll
from hearthpay.payroll.ledger.earlier_pay import EarlierPay
from hearthpay.payroll.ledger.years import NO_HISTORY
from hearthpay.payroll.orders import Payee, PayrollEntry, SettledOrder
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.taxes.jurisdictions import STATES
from tests.cases import every_case

ROSA = Payee(
    uuid4(), "Rosa", "Diaz", "TX", "TX", (), Decimal(25), Decimal("37.50"), "check", "none",
    {"extra_withholding": Decimal(12)}, {},
)  # fmt: skip
HOUSEHOLD = uuid4()
KINDS = ("hours", "bonus", "other")
MOST_ROUNDING = 1
"""Cents that the flat rate on each bonus of a week may differ from that on all of them."""

Week = dict[str, int]
weeks = st.lists(
    st.fixed_dictionaries(
        {"hours": st.integers(8, 55)},
        optional={"bonus": st.integers(20, 1500), "other": st.integers(20, 300)},
    ),
    min_size=2,
    max_size=5,
)


def income_taxes(
    state: str, paid: list[Week], dice: random.Random, *, together: bool = False
) -> Counter[str]:
    """Return the income taxes in cents of weeks that are paid in a random order, each part by a payroll of its own."""
    agreed = {} if state not in WITH_AGREEMENT else {"elected": True}
    payee = ROSA._replace(work_state=state, residence_state=state, state_withholding=agreed)
    history, earlier = NO_HISTORY, EarlierPay({payee.id: (payee.id,)})
    sums: Counter[str] = Counter()
    for number, week in enumerate(paid):
        start = datetime.date(2026, 3, 2) + datetime.timedelta(weeks=number)
        dates = PayDates(
            start, start + datetime.timedelta(days=6), start + datetime.timedelta(days=11), False
        )
        parts = [{kind: week[kind]} for kind in KINDS if kind in week]
        dice.shuffle(parts)
        for part in [week] if together else parts:
            zero = Decimal(0)
            amounts = (
                Decimal(part.get("hours", 0)),
                zero,
                Decimal(part.get("bonus", 0)),
                Decimal(part.get("other", 0)),
            )
            order = SettledOrder(
                HOUSEHOLD, dates, "weekly", None, (PayrollEntry(payee.id, "check", *amounts),)
            )
            record = calculate_payroll(order, {payee.id: payee}, {payee.id: history}, {}, earlier=earlier)
            [paycheck] = record.paychecks
            history, earlier = history.with_paycheck(paycheck), earlier.with_payroll(order, record)
            for line in paycheck.lines:
                if line.code.endswith(("-FIT", "-FIT-SUP", "-SIT")):
                    sums[line.code] += line.amount
    return sums


WITH_AGREEMENT = frozenset(
    state for state in STATES if state not in ("AK", "FL", "NH", "NV", "SD", "TN", "TX", "WA", "WY")
)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(weeks, st.sampled_from(sorted(STATES)), st.randoms(use_true_random=False))
def test_no_order_of_payrolls_changes_the_income_tax_of_a_year(
    paid: list[Week], state: str, dice: random.Random
):
    found = income_taxes(state, paid, dice)
    assert found == pytest.approx(income_taxes(state, paid, dice), abs=MOST_ROUNDING * len(paid))
    at_once = income_taxes(state, paid, dice, together=True)
    assert found == pytest.approx(at_once, abs=MOST_ROUNDING * len(paid))


def test_no_order_changes_three_weeks_in_any_state():
    paid = [{"hours": 40}, {"hours": 32, "bonus": 900, "other": 64}, {"hours": 44, "bonus": 250}]
    with every_case() as case:
        for state in sorted(STATES):
            with case(state):
                found = [income_taxes(state, paid, random.Random(seed)) for seed in range(4)]
                found.append(income_taxes(state, paid, random.Random(0), together=True))
                for other in found[1:]:
                    assert other == pytest.approx(found[0], abs=MOST_ROUNDING * 2)
                assert found[0]["US-FIT-SUP"] == pytest.approx(25_300, abs=1)
