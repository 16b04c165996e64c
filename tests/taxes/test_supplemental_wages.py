"""What each state's tax takes of a bonus: the same alone, with the week's hours and after them."""

import datetime
from decimal import Decimal
from typing import Any, Final

import pytest

from hearthpay.taxes import FederalCertificate, PaycheckInput, calculate_paycheck
from hearthpay.taxes.errors import RuleError
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.paycheck import Paycheck
from hearthpay.taxes.paycheck.request import OtherPay
from hearthpay.taxes.rule_file import RuleTable, parse_toml
from hearthpay.taxes.supplemental_wages import read_supplemental_rules, supplemental_rule
from tests.cases import every_case

WAGES, BONUS = Decimal(1200), Decimal(1000)
NO_INCOME_TAX: Final = frozenset(("AK", "FL", "NH", "NV", "SD", "TN", "TX", "WA", "WY"))
NOT_WITHHELD: Final = frozenset(("AZ",))
"""A state that keeps household employment out of withholding."""

BY_HAND: Final[dict[str, str]] = {
    # The flat rate of the state's law on 1,000.
    "IA": "38.00", "IL": "49.50", "IN": "29.50", "KS": "50.00", "MI": "42.50", "ME": "50.00", "MN": "62.50",
    "MO": "47.00", "MT": "50.00", "ND": "15.00", "NE": "35.00", "NM": "59.00", "NY": "117.00", "OH": "27.50",
    "OK": "45.00", "OR": "80.00", "PA": "30.70", "RI": "59.90", "VT": "66.00",
    # Together with 1,200 a week, where all of the bonus is in one row of the tables: the row's rate on 1,000.
    "CO": "44.00", "DC": "85.00", "GA": "49.90", "ID": "53.00", "KY": "35.00", "LA": "30.90", "MS": "40.00",
    "SC": "60.00", "VA": "57.50",
    # Across rows. CA: 2,090 gives 67.77 + 10.23 % of 691 = 138.46; 1,090 gives 21.61 + 6.6 % of 293 = 40.95.
    "CA": "97.51",
    # DE: 62,400 - 3,250 = 59,150 a year; 850 at 5.55 % and 51,150 at 6.6 %, by 52.
    "DE": "65.83",
}  # fmt: skip
"""The state's tax on the bonus. The others' is by the published method, whose examples stand in `examples/`."""


def _paycheck(state: str, **given: Any) -> Paycheck:
    agreed = {} if state in NO_INCOME_TAX else {"state": {"elected": True}}
    request = {
        "pay_date": datetime.date(2026, 11, 27),
        "pay_frequency": "weekly",
        "work_state": state,
        "regular_wages": Decimal(0),
        "supplemental_method": "by_rule",
        "withheld_before": frozenset({"US-FIT", f"{state}-SIT"}),
    }
    return calculate_paycheck(PaycheckInput(**(request | agreed | given)), explain=True)


def _taxes(paycheck: Paycheck, *codes: str) -> Decimal:
    return sum((line.amount for line in paycheck.lines if line.code in codes), Decimal(0))


def _all(paycheck: Paycheck) -> dict[str, Decimal]:
    return {line.code: line.amount for line in paycheck.lines}


def test_what_each_state_takes_of_a_bonus_alone_with_hours_and_after_them():
    with every_case() as case:
        for state in sorted(STATES):
            code, federal = f"{state}-SIT", ("US-FIT", "US-FIT-SUP")
            hours = _paycheck(state, regular_wages=WAGES)
            alone = _paycheck(
                state,
                supplemental_wages=BONUS,
                other_pay=OtherPay(last_regular_wages=WAGES, pay_frequency="weekly"),
            )
            after = _paycheck(
                state,
                supplemental_wages=BONUS,
                other_pay=OtherPay(regular_wages=WAGES, taxes=_all(hours), pay_frequency="weekly"),
            )
            together = _paycheck(state, regular_wages=WAGES, supplemental_wages=BONUS)
            found = (_taxes(alone, code), _taxes(after, code), _taxes(together, code) - _taxes(hours, code))
            with case(state):
                assert found == pytest.approx((found[0],) * 3, abs=Decimal("0.01"))
                if state in BY_HAND:
                    assert found[0] == Decimal(BY_HAND[state])
                assert (found[0] == 0) == (state in NO_INCOME_TAX | NOT_WITHHELD)
                assert _taxes(alone, *federal) == _taxes(after, *federal) == 220
                assert _taxes(together, *federal) == 220 + _taxes(hours, *federal)
            with case(state, "explains each cent"):
                for paycheck in (alone, after, together):
                    for line, explained in zip(paycheck.lines, paycheck.explanations, strict=True):
                        assert line.code == explained.code
                        if line.code == code:
                            last = [each.value for each in explained.steps if each.label.startswith("tax of")]
                            assert last[-1] == line.amount


def test_every_state_with_a_flat_method_has_a_rate_and_a_state_without_income_tax_none():
    with every_case() as case:
        for state in sorted(STATES):
            rule = supplemental_rule(state)
            with case(state):
                assert (rule.method == "none") == (state in NO_INCOME_TAX)
                assert rule.note
                assert rule.sources


def test_without_tax_on_regular_wages_the_flat_rate_stays_unused():
    """Treas. Reg. 31.3402(g)-1(a)(7)(i)(A), Okla. Admin. Code 710:90-1-6(b)(2)."""
    nothing = frozenset[str]()
    low = OtherPay(last_regular_wages=Decimal(100), pay_frequency="weekly")
    bonus = _paycheck("OK", supplemental_wages=BONUS, withheld_before=nothing, other_pay=low)
    assert "US-FIT-SUP" not in _all(bonus)
    # 1,100 x 52 - 8,600 = 48,600: 1,240 + 12 % of 28,700 = 4,684, by 52.
    assert _taxes(bonus, "US-FIT") == Decimal("90.08")
    total = _paycheck("OK", regular_wages=Decimal(1100))
    assert _taxes(bonus, "OK-SIT") == _taxes(total, "OK-SIT")


def test_nothing_is_withheld_from_the_bonus_of_an_exempt_employee():
    for other in (None, OtherPay(last_regular_wages=WAGES, pay_frequency="weekly")):
        exempt = FederalCertificate(exempt=True)
        bonus = _paycheck("TX", supplemental_wages=BONUS, federal=exempt, other_pay=other)
        assert _taxes(bonus, "US-FIT", "US-FIT-SUP") == 0


def test_a_salary_of_a_month_gives_its_frequency_to_a_bonus_of_a_week():
    """5,000 a month and 5,000 more: the flat rate, and together by the month's tables."""
    monthly = OtherPay(last_regular_wages=Decimal(5000), pay_frequency="monthly")
    bonus = Decimal(5000)
    assert _taxes(_paycheck("TX", supplemental_wages=bonus, other_pay=monthly), "US-FIT-SUP") == 1100
    together = _paycheck("TX", supplemental_wages=bonus, other_pay=monthly, withheld_before=frozenset())
    # 120,000 - 8,600 = 111,400: 5,800 + 22 % of 53,500 = 17,570; 51,400: 5,020; the difference by 12.
    assert _taxes(together, "US-FIT") == pytest.approx(Decimal("1045.83"), abs=Decimal("0.01"))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ('state = "TX"\nmethod = "none"', "twice"),
        ('state = "AL"\nmethod = "none"\nneeds_withholding = true', "flat rate"),
        ('state = "AL"\nmethod = "sometimes"', "method"),
    ],
)
def test_a_mistake_in_the_rules_is_named(change: str, what: str):
    source = 'source = "a"\nconfidence = "low"\n'
    texas = f'[[state]]\nstate = "TX"\nmethod = "none"\n{source}'
    named = '[sources.a]\ntitle = "A"\nurl = "https://example.com/a"\ndate = "2026"\n'
    text = f"{named}{texas}[[state]]\n{change}\n{source}"
    with pytest.raises(RuleError, match=what):
        read_supplemental_rules(RuleTable.of("a.toml", parse_toml("a.toml", text), 2026))
