"""What must hold for every paycheck, in every state that has rules, whatever the certificates say."""

import dataclasses
import datetime
import functools
from collections import Counter
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from hearthpay.taxes import EmployerProfile, FederalCertificate, PaycheckInput, calculate_paycheck
from tests.cases import every_case
from tests.properties import on_examples
from tests.taxes.strategies import FREQUENCIES, RULEBOOK, STATES, YEAR, calculated, paychecks, steady

ABSURD = Decimal(999_999)
HALF_A_CENT = Fraction(1, 2)
#: The same examples on every run.
STEADY = {"derandomize": True, "database": None}


# --- one paycheck ------------------------------------------------------------------------------------------------


@on_examples(paychecks(), few=120, many=1_000, **STEADY)
def test_lines_add_up_and_are_whole_cents(request_):
    paycheck = calculated(request_)
    employee = [line for line in paycheck.lines if line.payer == "employee"]
    employer = [line for line in paycheck.lines if line.payer == "employer"]
    assert len(employee) + len(employer) == len(paycheck.lines)
    assert paycheck.gross_pay == request_.regular_wages + request_.supplemental_wages
    assert paycheck.employee_taxes == sum(line.amount for line in employee)
    assert paycheck.employer_taxes == sum(line.amount for line in employer)
    assert paycheck.net_pay + paycheck.employee_taxes == paycheck.gross_pay
    assert paycheck.total_cost == paycheck.gross_pay + paycheck.employer_taxes
    assert paycheck.net_pay_cents >= 0
    codes = [line.code for line in paycheck.lines]
    assert len(codes) == len(set(codes))
    for line in paycheck.lines:
        for cents in (line.amount_cents, line.subject_wages_cents, line.taxable_wages_cents):
            assert type(cents) is int
            assert cents >= 0
        assert line.amount.as_tuple().exponent == -2
        assert line.taxable_wages <= line.subject_wages <= paycheck.gross_pay


def test_absurd_extra_withholding_leaves_nothing_but_never_less():
    with every_case() as case:
        for state in STATES:
            with case(state):
                _check_absurd_extra_withholding(state)


def _check_absurd_extra_withholding(state):
    tax = RULEBOOK.state(state).income_tax
    certificate = {"additional_withholding": ABSURD, "elected": True} if tax is not None else {}
    for wages in ("0", "0.01", "7.30", "800", "25000"):
        paycheck = calculate_paycheck(
            PaycheckInput(
                pay_date=datetime.date(YEAR, 6, 5),
                pay_frequency="weekly",
                regular_wages=Decimal(wages),
                work_state=state,
                federal=FederalCertificate(extra_withholding=ABSURD, other_income=ABSURD),
                state=certificate,
            )
        )
        assert paycheck.net_pay_cents == 0
        # Contributions come first: they are what they are without any income tax.
        alone = calculate_paycheck(
            PaycheckInput(
                pay_date=datetime.date(YEAR, 6, 5),
                pay_frequency="weekly",
                regular_wages=Decimal(wages),
                work_state=state,
                federal=FederalCertificate(elected=False),
                state={"exempt": True} if tax is not None else {},
            )
        )
        assert _contributions(paycheck) == _contributions(alone)


def _contributions(paycheck):
    return [line for line in paycheck.lines if line.rate_scaled is not None]


@on_examples(paychecks(), few=50, many=400, **STEADY)
def test_explaining_changes_nothing_and_names_sources_and_steps(request_):
    plain = calculated(request_)
    assert plain == calculate_paycheck(dataclasses.replace(request_))
    explained = calculate_paycheck(request_, explain=True)
    assert explained.lines == plain.lines
    assert explained.limitations == plain.limitations
    assert plain.explanations == ()
    assert [explanation.code for explanation in explained.explanations] == [line.code for line in plain.lines]
    for explanation in explained.explanations:
        assert explanation.steps
        assert explanation.sources
        assert all(source.title and source.date for source in explanation.sources)


# --- a year of paychecks -----------------------------------------------------------------------------------------


@functools.cache
def _flat_lines(state: str) -> tuple:
    """Return the state's and the federal contributions that stand unchanged all year."""
    rules = RULEBOOK.state(state)
    lines = (*RULEBOOK.contributions, *rules.contributions)
    versions = Counter(line.code for line in lines)
    return tuple(
        line
        for line in lines
        if versions[line.code] == 1
        and line.effective_from <= datetime.date(YEAR, 1, 1)
        and (line.effective_to is None or line.effective_to >= datetime.date(YEAR, 12, 31))
    )


def _live_through(state: str, wages: list[int], frequency: str, sui_rate: Decimal | None, *, with_tax: bool):
    """Pay ``wages`` (cents) one after the other, feeding what was taxed forward; return taxable wages and tax."""
    taxable: Counter[str] = Counter()
    tax: Counter[str] = Counter()
    amounts = []
    for position, cents in enumerate(wages):
        day = datetime.date(YEAR, 1, 2) + datetime.timedelta(days=position * 360 // len(wages))
        paycheck = calculate_paycheck(
            PaycheckInput(
                pay_date=day,
                pay_frequency=frequency,
                regular_wages=Decimal(cents).scaleb(-2),
                work_state=state,
                federal=FederalCertificate(elected=False),
                employer=EmployerProfile(sui_rate=sui_rate),
                ytd={code: Decimal(amount).scaleb(-2) for code, amount in taxable.items()},
                ytd_tax={code: Decimal(amount).scaleb(-2) for code, amount in tax.items()}
                if with_tax
                else {},
            )
        )
        for line in paycheck.lines:
            taxable[line.code] += line.taxable_wages_cents
            tax[line.code] += line.amount_cents
        amounts.append({line.code: line.amount_cents for line in paycheck.lines})
    return taxable, tax, amounts


def _rate(line, sui_rate: Decimal | None) -> Fraction:
    if line.assigned_rate and sui_rate is not None:
        return Fraction(sui_rate)
    return Fraction(line.rate, 10**9)


def _half_up(value: Fraction) -> int:
    return int(value + HALF_A_CENT)


wages_of_a_year = st.one_of(
    st.lists(st.integers(0, 500_000), min_size=1, max_size=26),
    st.lists(st.integers(0, 6_000_000), min_size=1, max_size=24),
    st.tuples(st.integers(1, 3_000_000), st.integers(1, 52)).map(lambda pay: [pay[0]] * pay[1]),
)


@steady(150)
@given(
    st.sampled_from(STATES),
    wages_of_a_year,
    st.sampled_from(FREQUENCIES),
    st.sampled_from((None, Decimal("0.011375"), Decimal("0.0712"))),
    st.booleans(),
)
def test_caps_hold_over_a_year(state, wages, frequency, sui_rate, with_tax):
    taxable, tax, amounts = _live_through(state, wages, frequency, sui_rate, with_tax=with_tax)
    annual = sum(wages)
    for line in _flat_lines(state):
        rate = _rate(line, sui_rate)
        rounding = len(wages) * HALF_A_CENT
        if line.period_maximum is not None:
            maximum = line.period_maximum[frequency]
            assert all(paid[line.code] <= maximum for paid in amounts)
            expected = sum(min(maximum, _half_up(cents * rate)) for cents in wages)
            assert tax[line.code] == expected
        elif line.wage_floor:
            assert taxable[line.code] == max(0, annual - line.wage_floor)
            assert abs(tax[line.code] - taxable[line.code] * rate) <= rounding
        elif line.wage_base is None:
            assert taxable[line.code] == annual
            assert abs(tax[line.code] - annual * rate) <= rounding
        else:
            assert taxable[line.code] == min(annual, line.wage_base)
            most = _half_up(line.wage_base * rate)
            if with_tax:
                assert tax[line.code] <= most
            if with_tax and annual >= line.wage_base:
                assert tax[line.code] == most
            else:
                assert abs(tax[line.code] - min(annual, line.wage_base) * rate) <= rounding


def test_a_year_split_in_different_ways_bears_the_same_capped_tax():
    """200,000.04 dollars in 12, 24, 26, 52 and 9 uneven payrolls: every base below it ends on the same tax."""
    with every_case() as case:
        for state in STATES:
            with case(state):
                _check_splits_of_a_year(state)


def _check_splits_of_a_year(state):
    annual = 20_000_004
    uneven = [1, 2_345_678, 17, 9_999_999, 333, 4_000_000, 1_111_111, 50]
    uneven.append(annual - sum(uneven))
    years = [
        [annual // count] * (count - 1) + [annual - annual // count * (count - 1)]
        for count in (12, 24, 26, 52)
    ]
    capped = [line for line in _flat_lines(state) if line.wage_base is not None]
    assert capped
    assert all(line.wage_base <= annual for line in capped)
    for wages in (*years, uneven):
        taxable, tax, _ = _live_through(state, wages, "weekly", None, with_tax=True)
        for line in capped:
            assert taxable[line.code] == line.wage_base
            assert tax[line.code] == _half_up(Fraction(line.wage_base * line.rate, 10**9)), line.code


def _texan(**entries: object) -> dict[str, Decimal]:
    request = PaycheckInput(
        **{
            "pay_date": datetime.date(YEAR, 10, 2),
            "pay_frequency": "weekly",
            "regular_wages": Decimal(1000),
            "work_state": "TX",
            "federal": FederalCertificate(elected=False),
        }
        | entries
    )
    paycheck = calculate_paycheck(request)
    return {line.code: line.amount for line in paycheck.lines} | {"net": paycheck.net_pay}


def test_tax_that_was_never_withheld_is_not_caught_up_from_the_last_payment():
    """184,000 of Social Security wages without tax: the payment at the base bears its own 6.2 % and no more."""
    amounts = _texan(ytd={"US-SS-EE": Decimal(184_000)}, ytd_tax={"US-SS-EE": Decimal(0)})
    assert amounts["US-SS-EE"] == Decimal("31.00")
    assert amounts["net"] == Decimal("954.50")


def test_a_rate_that_changed_within_the_year_is_not_applied_backwards():
    """2 % until June and 4 % from July, as New Jersey's notices change in July."""
    amounts = _texan(
        work_state="NJ",
        employer=EmployerProfile(sui_rate=Decimal("0.04")),
        ytd={"NJ-SUI-ER": Decimal(43_800)},
        ytd_tax={"NJ-SUI-ER": Decimal(876)},
    )
    assert amounts["NJ-SUI-ER"] == Decimal("40.00")


def test_extra_withholding_gives_way_before_the_mandatory_rate():
    """Above a million a year 37 % is mandatory; the extra of Step 4(c) that no pay is left for is not."""
    amounts = _texan(
        supplemental_wages=Decimal(1000),
        supplemental_method="flat",
        federal=FederalCertificate(extra_withholding=Decimal(5000)),
        ytd={"US-FIT-SUP": Decimal(1_000_000)},
    )
    assert amounts["US-FIT-SUP"] == Decimal("370.00")
    assert amounts["net"] == 0
