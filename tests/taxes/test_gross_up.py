"""Net to gross: the promised cent is hit, by the lowest wages that do, or the field to blame is named."""

import dataclasses
import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.taxes import (
    EmployerProfile,
    FederalCertificate,
    PaycheckInput,
    Pre2020Certificate,
    TaxInputError,
    calculate_paycheck,
    gross_up,
)
from tests.taxes.strategies import FREQUENCIES, RULEBOOK, STATES, YEAR, dollars, steady

CENT = Decimal("0.01")
#: Wages within so many cents below the found ones must not lead to the same net pay.
NEIGHBOURHOOD = 100


def _request(work_state: str, frequency: str, **entries: object) -> PaycheckInput:
    return PaycheckInput(
        pay_date=datetime.date(YEAR, 9, 4),
        pay_frequency=frequency,
        regular_wages=Decimal(0),
        work_state=work_state,
        **entries,
    )


def _assert_is_lowest(paycheck, request: PaycheckInput, target: Decimal) -> None:
    assert paycheck.net_pay == target
    regular = paycheck.gross_pay - request.supplemental_wages
    again = calculate_paycheck(dataclasses.replace(request, regular_wages=regular))
    assert again.lines == paycheck.lines
    for cents in range(1, NEIGHBOURHOOD):
        lower = regular - cents * CENT
        if lower < 0:
            break
        assert calculate_paycheck(dataclasses.replace(request, regular_wages=lower)).net_pay != target


def _near_caps(state: str, distance: Decimal) -> dict[str, Decimal]:
    """Return year-to-date wages that bring every cap ``distance`` dollars away."""
    lines = (*RULEBOOK.contributions, *RULEBOOK.state(state).contributions)
    ytd = {line.code: Decimal(line.wage_base).scaleb(-2) - distance for line in lines if line.wage_base}
    floors = {
        line.ytd_code: Decimal(line.wage_floor).scaleb(-2) - distance for line in lines if line.wage_floor
    }
    return {code: max(amount, Decimal(0)) for code, amount in (ytd | floors).items()}


certificates = st.builds(
    FederalCertificate,
    elected=st.booleans(),
    filing_status=st.sampled_from(("single", "married", "head_of_household")),
    multiple_jobs=st.booleans(),
    dependents_credit=dollars(4_000),
    extra_withholding=st.one_of(st.just(Decimal(0)), dollars(50)),
    pre_2020=st.one_of(
        st.none(), st.builds(Pre2020Certificate, marital_status=st.just("married"), allowances=st.just(2))
    ),
)


@pytest.mark.parametrize("examples", [2, pytest.param(8, marks=pytest.mark.long)])
@pytest.mark.parametrize("state", STATES)
def test_the_net_is_hit_to_the_cent_in_every_state(state, examples):
    @steady(examples)
    @given(
        target=dollars(9_000, 1),
        frequency=st.sampled_from(FREQUENCIES),
        federal=certificates,
        bonus=st.one_of(st.just(Decimal(0)), dollars(400)),
        distance=st.one_of(st.none(), dollars(3_000)),
    )
    def hits(target, frequency, federal, bonus, distance):
        ytd = {} if distance is None else _near_caps(state, distance)
        request = _request(state, frequency, federal=federal, supplemental_wages=bonus, ytd=ytd)
        skipped = None
        try:
            paycheck = gross_up(request, target + bonus)
        except TaxInputError as error:
            skipped = error
        if skipped is None:
            _assert_is_lowest(paycheck, request, target + bonus)
        else:
            assert (skipped.field, "skip" in skipped.message) == ("net_pay", True)
            _assert_skipped(request, target + bonus)

    hits()


def _assert_skipped(request: PaycheckInput, target: Decimal) -> None:
    """Assert that no wages around the crossing leave exactly ``target``."""
    low, high = 0, 10_000_000

    def net(cents: int) -> Decimal:
        wages = Decimal(cents).scaleb(-2)
        return calculate_paycheck(dataclasses.replace(request, regular_wages=wages)).net_pay

    while low < high:
        middle = (low + high) // 2
        if net(middle) < target:
            low = middle + 1
        else:
            high = middle
    assert all(net(cents) != target for cents in range(max(0, low - 2_000), low + 2_000))


def test_the_promise_of_a_plain_week():
    paycheck = gross_up(
        _request("TX", "weekly", federal=FederalCertificate(elected=False)), Decimal("923.50")
    )
    assert paycheck.gross_pay == Decimal(1000)
    assert paycheck.net_pay == Decimal("923.50")


def test_explaining_a_gross_up():
    explained = gross_up(_request("PA", "weekly"), Decimal(700), explain=True)
    assert explained.net_pay == Decimal(700)
    assert [entry.code for entry in explained.explanations] == [line.code for line in explained.lines]


def test_wages_given_are_ignored_and_nothing_is_the_lowest_wage_for_nothing():
    request = dataclasses.replace(_request("CA", "weekly"), regular_wages=Decimal(4_321))
    assert gross_up(request, Decimal(0)).gross_pay == 0
    assert gross_up(request, Decimal(600)).lines == gross_up(_request("CA", "weekly"), Decimal(600)).lines


def test_the_social_security_base_inside_the_paycheck():
    """100 dollars are left below the base: only they bear 6.2 %."""
    ytd = {"US-SS-EE": Decimal(184_400), "US-MED-EE": Decimal(100_000)}
    request = _request("TX", "weekly", federal=FederalCertificate(elected=False), ytd=ytd)
    paycheck = gross_up(request, Decimal("979.30"))
    assert paycheck.gross_pay == Decimal(1000)


def test_a_net_that_new_jerseys_table_skips_is_named():
    """At 1,346 biweekly the printed base tax falls by 54 cents: the nets in between belong to no wages."""
    request = _request(
        "NJ",
        "biweekly",
        federal=FederalCertificate(elected=False),
        state={"elected": True},
        employer=EmployerProfile(fica_liable=False, sui_liable=False),
    )
    below, above = (
        calculate_paycheck(dataclasses.replace(request, regular_wages=Decimal(wages))).net_pay
        for wages in ("1346.00", "1346.01")
    )
    assert above - below == Decimal("0.55")
    assert gross_up(request, below).gross_pay == Decimal("1346.00")
    assert gross_up(request, above).gross_pay == Decimal("1346.01")
    with pytest.raises(TaxInputError, match="skip") as caught:
        gross_up(request, below + Decimal("0.20"))
    assert (caught.value.field, caught.value.code) == ("net_pay", "validation_error")


@pytest.mark.parametrize(
    "net_pay",
    ["-0.01", "NaN", "sNaN", "Infinity", "-Infinity", "1E+308", "10.001", "1000000000", "999999999.99"],
)
def test_an_impossible_net_is_named(net_pay):
    with pytest.raises(TaxInputError) as caught:
        gross_up(_request("TX", "weekly"), Decimal(net_pay))
    assert (caught.value.field, caught.value.code) == ("net_pay", "validation_error")


def test_less_than_the_bonus_alone_leaves_is_named():
    request = _request("TX", "weekly", supplemental_wages=Decimal(1000))
    with pytest.raises(TaxInputError, match="supplemental") as caught:
        gross_up(request, Decimal(10))
    assert caught.value.field == "net_pay"


def test_other_mistakes_keep_their_own_field():
    with pytest.raises(TaxInputError) as caught:
        gross_up(_request("ZZ", "weekly"), Decimal(100))
    assert caught.value.field == "work_state"


def test_the_lowest_wages_where_californias_low_income_exemption_ends():
    """At 1,575.01 a month net pay falls by 14 dollars: wages on either side leave the same."""
    request = _request("CA", "monthly", federal=FederalCertificate(elected=False), state={"elected": True})
    for wages in ("1561.50", "1570.00", "1574.75", "1575.00"):
        net_pay = calculate_paycheck(dataclasses.replace(request, regular_wages=Decimal(wages))).net_pay
        # Rounding lets a cent or two less leave the same.
        assert 0 <= Decimal(wages) - gross_up(request, net_pay).gross_pay < Decimal("0.03")
