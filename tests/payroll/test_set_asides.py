"""Set-asides: the standing rule, the wish for one paycheck, skipping; and that no tax ever knows of them."""

from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.payroll.calculation import calculate_payroll, set_aside_of
from hearthpay.payroll.ledger.rows import SetAside
from hearthpay.payroll.ledger.years import History
from hearthpay.payroll.orders import Payee, PayrollEntry, SettledOrder
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.payroll.set_asides.rules import LARGEST_SET_ASIDE, SetAsideRule
from tests.cases import every_case
from tests.taxes.strategies import steady

FIVE_PERCENT = SetAsideRule(rate=Decimal("0.05"))
FIFTY_DOLLARS = SetAsideRule(amount_cents=5_000)

rules = st.one_of(
    st.none(),
    st.builds(
        SetAsideRule,
        rate=st.decimals(Decimal("0.000001"), Decimal(1), places=6, allow_nan=False, allow_infinity=False),
    ),
    st.builds(SetAsideRule, amount_cents=st.integers(1, LARGEST_SET_ASIDE)),
)
wishes = st.one_of(st.none(), st.integers(0, LARGEST_SET_ASIDE))


def of(rule=None, *, skip=False, wished=None, gross=100_000, after_taxes=80_000, balance=0) -> SetAside:
    return set_aside_of(
        rule,
        skip=skip,
        wished_cents=wished,
        gross_cents=gross,
        after_taxes_cents=after_taxes,
        balance_cents=balance,
    )


SET_ASIDES = [
    (of(balance=700), SetAside(0, "none", 700)),
    (of(FIVE_PERCENT, balance=700), SetAside(5_000, "rule", 5_700)),
    (of(FIFTY_DOLLARS), SetAside(5_000, "rule", 5_000)),
    (of(FIFTY_DOLLARS, wished=2_000), SetAside(2_000, "override", 2_000)),
    (of(FIFTY_DOLLARS, wished=0), SetAside(0, "override", 0)),
    (of(FIFTY_DOLLARS, skip=True, balance=1), SetAside(0, "skipped", 1)),
    (of(FIFTY_DOLLARS, skip=True, wished=2_000), SetAside(0, "skipped", 0)),
    (of(skip=True), SetAside(0, "skipped", 0)),
    (of(FIFTY_DOLLARS, after_taxes=1_234), SetAside(1_234, "rule", 1_234)),
    (of(wished=9_000, after_taxes=0, balance=5), SetAside(0, "override", 5)),
    (
        of(wished=9_000, after_taxes=-1),
        SetAside(0, "override", 0),
    ),  # never below zero, whatever taxes took
    (
        of(SetAsideRule(rate=Decimal(1)), gross=10**9, after_taxes=10**9),
        SetAside(999_900, "rule", 999_900),
    ),
    (of(FIFTY_DOLLARS, balance=-8_000), SetAside(5_000, "rule", -3_000)),  # first makes good what is owed
]


def test_what_is_set_aside():
    with every_case() as case:
        for set_aside, expected in SET_ASIDES:
            with case(set_aside, expected):
                assert set_aside == expected


@pytest.mark.parametrize(
    ("rate", "gross", "cents"),
    [
        ("0.05", 10, 1),  # half a cent goes up
        ("0.05", 9, 0),
        ("0.05", 11, 1),
        ("0.033333", 100_000, 3_333),
        ("0.000001", 500_000, 1),
        ("0.000001", 499_999, 0),
        ("1", 12_345, 12_345),
    ],
)
def test_a_rate_of_gross_pay_is_rounded_to_the_nearest_cent_halves_up(rate, gross, cents):
    assert of(SetAsideRule(rate=Decimal(rate)), gross=gross, after_taxes=gross).amount == cents


NO_RULES = [
    (None, None),
    (Decimal("0.05"), 100),
    (Decimal(0), None),
    (Decimal("-0.05"), None),
    (Decimal("1.000001"), None),
    (Decimal("0.0000001"), None),
    (Decimal("NaN"), None),
    (Decimal("sNaN"), None),
    (Decimal("Infinity"), None),
    (None, 0),
    (None, -1),
    (None, LARGEST_SET_ASIDE + 1),
]


def test_a_rule_that_is_none_cannot_be_made():
    with every_case() as case:
        for rate, amount in NO_RULES:
            with case(rate, amount), pytest.raises(ValueError, match=r"must be|may have|is either"):
                SetAsideRule(rate, amount)


@pytest.mark.parametrize("wished", [-1, LARGEST_SET_ASIDE + 1])
def test_a_wish_out_of_bounds_is_refused(wished):
    with pytest.raises(ValueError, match=r"between 0 and 9,999"):
        of(wished=wished)


@steady(300)
@given(
    rule=rules,
    skip=st.booleans(),
    wished=wishes,
    gross=st.integers(0, 10**10),
    taxes=st.integers(0, 10**9),
    balance=st.integers(-(10**9), 10**9),
)
def test_whatever_is_asked_net_pay_stays_at_zero_or_above(rule, skip, wished, gross, taxes, balance):
    after_taxes = max(gross - taxes, 0)
    result = of(rule, skip=skip, wished=wished, gross=gross, after_taxes=after_taxes, balance=balance)
    assert 0 <= result.amount <= min(after_taxes, LARGEST_SET_ASIDE)
    assert result.balance - balance == result.amount
    if skip:
        assert (result.amount, result.source) == (0, "skipped")
    elif wished is not None:
        assert (result.amount, result.source) == (min(wished, after_taxes), "override")
    else:
        assert result.source == ("none" if rule is None else "rule")


EMPLOYEE = UUID(int=1)


def paycheck_of(state, hours, *, rule=None, skip=False, wished=None, balance=0):
    payee = Payee(
        id=EMPLOYEE,
        first_name="Rosa",
        last_name="Diaz",
        work_state=state,
        residence_state=state,
        localities=[],
        pay_rate=Decimal("28.50"),
        overtime_rate=Decimal("42.75"),
        payment_method="check",
        relationship="none",
        federal_withholding={},
        state_withholding={},
    )
    order = SettledOrder(
        employer_id=UUID(int=2),
        dates=PayDates(date(2026, 6, 1), date(2026, 6, 7), date(2026, 6, 12), False),
        pay_frequency="weekly",
        notes=None,
        entries=(PayrollEntry(EMPLOYEE, "check", hours, Decimal(0), Decimal(0), Decimal(0), skip, wished),),
    )
    history = History(set_aside_balance=balance, set_aside_rule=rule)
    (paycheck,) = calculate_payroll(order, {EMPLOYEE: payee}, {EMPLOYEE: history}, {}).paychecks
    return paycheck


@steady(60)
@given(
    state=st.sampled_from(["CA", "TX", "NY", "PA", "NJ", "MD", "OR", "MA"]),
    hours=st.decimals(Decimal("0.25"), Decimal(60), places=2, allow_nan=False, allow_infinity=False),
    rule=rules,
    skip=st.booleans(),
    wished=wishes,
    balance=st.integers(0, 10**7),
)
def test_taxes_are_the_same_whatever_is_set_aside(state, hours, rule, skip, wished, balance):
    plain = paycheck_of(state, hours)
    kept = paycheck_of(state, hours, rule=rule, skip=skip, wished=wished, balance=balance)
    assert kept.lines == plain.lines
    assert kept.employee_taxes == plain.employee_taxes
    assert kept.employer_taxes == plain.employer_taxes
    assert kept.gross_pay == plain.gross_pay
    assert kept.total_cost == plain.total_cost
    assert kept.ytd.employee_taxes == plain.ytd.employee_taxes
    assert kept.ytd.gross_pay == plain.ytd.gross_pay
    assert kept.net_pay == plain.net_pay - kept.set_aside.amount
    assert kept.net_pay >= 0
    assert kept.set_aside == of(
        rule,
        skip=skip,
        wished=wished,
        gross=plain.gross_pay,
        after_taxes=plain.net_pay,
        balance=balance,
    )
