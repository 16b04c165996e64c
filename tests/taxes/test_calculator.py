"""The year's estimate: sums of lines, the printed totals of a nanny's year, nothing below the thresholds."""

import datetime
from decimal import Decimal

import pytest

from hearthpay.taxes import (
    FederalCertificate,
    PaycheckInput,
    TaxInputError,
    calculate_paycheck,
    estimate_year,
    rulebook_for,
)
from tests.cases import every_case

ON = datetime.date(2026, 1, 15)
STATES = ("CA", "GA", "IL", "NJ", "NY", "OH", "PA", "TX")
PERIODS = {"weekly": 52, "biweekly": 26, "semimonthly": 24, "monthly": 12}
STATUSES = ("single", "married", "head_of_household")
CATEGORIES = (
    "federal_income_tax", "state_income_tax", "social_security", "medicare", "futa", "state_unemployment", "other",
)  # fmt: skip
WAGES = (
    "0",
    "0.01",
    "999.99",
    "2999.99",
    "3000",
    "4000",
    "12345.67",
    "35000",
    "95000.01",
    "184500",
    "250000",
    "999999",
)


def _cents(estimate, code: str) -> int:
    return sum(line.annual_cents for line in estimate.lines if line.code == code)


def test_totals_are_sums_of_lines():
    with every_case() as case:
        for frequency in PERIODS:
            for state in STATES:
                with case(frequency, state):
                    _check_totals(state, frequency)


def _check_totals(state, frequency):
    for wages in map(Decimal, WAGES):
        estimate = estimate_year(state, wages, on=ON, pay_frequency=frequency)
        assert estimate.annual_wages == wages
        assert (estimate.tax_year, estimate.state, estimate.periods) == (2026, state, PERIODS[frequency])
        assert estimate.rulebook_version == rulebook_for(ON).version
        codes = [line.code for line in estimate.lines]
        assert len(codes) == len(set(codes))
        for payer in ("employee", "employer"):
            lines = [line for line in estimate.lines if line.payer == payer]
            assert {line.category for line in lines} <= set(CATEGORIES)
            assert estimate.annual_cents(payer) == sum(line.annual_cents for line in lines)
            assert estimate.annual_cents(payer) == sum(
                estimate.annual_cents(payer, category) for category in CATEGORIES
            )
            assert estimate.per_paycheck_cents(payer) == sum(line.per_paycheck_cents for line in lines)
            for line in lines:
                assert line.annual_cents >= line.per_paycheck_cents >= 0
                # A paycheck's share times the periods is the year's tax, but for half a cent a paycheck.
                assert (
                    abs(line.per_paycheck_cents * estimate.periods - line.annual_cents) * 2
                    <= estimate.periods
                )
        assert abs(estimate.gross_per_paycheck_cents * estimate.periods - wages * 100) * 2 <= estimate.periods
        assert estimate.annual_cents("employee") <= wages * 100


def test_a_californian_year_of_35000():
    estimate = estimate_year("CA", Decimal(35_000), on=ON)
    assert estimate.annual_cents("employer", "social_security") == 2_170_00
    assert estimate.annual_cents("employee", "social_security") == 2_170_00
    assert estimate.annual_cents("employer", "medicare") == 507_50
    assert estimate.annual_cents("employee", "medicare") == 507_50
    assert estimate.annual_cents("employer", "futa") == 42_00
    assert _cents(estimate, "CA-SUI-ER") == 238_00  # 3.4 % of 7,000
    assert _cents(estimate, "CA-ETT-ER") == 7_00
    assert _cents(estimate, "CA-SDI-EE") == 455_00
    assert estimate.threshold.federal_status == "above"


@pytest.mark.parametrize(
    ("state", "wages", "expected"),
    [
        ("TX", 35_000, {"TX-SUI-ER": 243_00, "US-FUTA": 42_00}),
        ("TX", 250_000, {"US-SS-EE": 11_439_00, "US-MED-EE": 3_625_00, "US-ADDMED-EE": 450_00}),
        ("NY", 35_000, {"NY-SUI-ER": 708_40, "NY-RSF-ER": 13_20, "NY-PFL-EE": 151_20, "NY-DBL-EE": 31_20}),
        ("NY", 250_000, {"NY-PFL-EE": 411_91}),
        ("NJ", 50_000, {"NJ-SUI-EE": 171_36, "NJ-TDI-EE": 95_00, "NJ-FLI-EE": 115_00}),
        ("PA", 35_000, {"PA-SUI-EE": 24_50, "PA-SUI-ER": 382_20, "PA-SIT": 1_074_58}),
        ("IL", 35_000, {"IL-SUI-ER": 477_38}),
        ("OH", 35_000, {"OH-SUI-ER": 243_00, "OH-TCSF-ER": 13_50}),
        ("GA", 35_000, {"GA-SUI-ER": 250_80, "GA-ADMIN-ER": 5_70}),
    ],
)
def test_flat_taxes_of_a_year_by_hand(state, wages, expected):
    estimate = estimate_year(state, Decimal(wages), on=ON)
    assert {code: _cents(estimate, code) for code in expected} == expected


@pytest.mark.parametrize("state", STATES)
def test_wages_below_the_thresholds_owe_nothing(state):
    def owed(wages: str, *categories: str) -> int:
        estimate = estimate_year(state, Decimal(wages), on=ON)
        return estimate.annual_cents("employer", *categories)

    assert owed("2999.99", "social_security", "medicare") == 0
    assert owed("3000", "social_security", "medicare") == 186_00 + 43_50
    quarterly = {"NY": 500}.get(state, 1_000)
    assert owed(str(Decimal(4 * quarterly) - Decimal("0.01")), "state_unemployment") == 0
    assert owed(str(4 * quarterly), "state_unemployment") > 0
    assert owed("3999.99", "futa") == 0
    assert owed("4000", "futa") == 2_400


def test_income_tax_is_that_of_one_paycheck_times_the_periods():
    with every_case() as case:
        for status in STATUSES:
            for frequency in PERIODS:
                for state in STATES:
                    with case(status, frequency, state):
                        _check_income_tax(state, frequency, status)


def _check_income_tax(state, frequency, status):
    wages = Decimal(52_000)
    estimate = estimate_year(state, wages, on=ON, pay_frequency=frequency, filing_status=status)
    form_status = {
        "CA": {"single": "single", "married": "married", "head_of_household": "head_of_household"},
        "GA": {"single": "A", "married": "B", "head_of_household": "D"},
        "NJ": {"single": "single", "married": "married_joint", "head_of_household": "head_of_household"},
        "NY": {"single": "single", "married": "married", "head_of_household": "single"},
    }
    entry = "marital_status" if state == "GA" else "filing_status"
    paycheck = calculate_paycheck(
        PaycheckInput(
            pay_date=ON,
            pay_frequency=frequency,
            regular_wages=Decimal(estimate.gross_per_paycheck_cents).scaleb(-2),
            work_state=state,
            federal=FederalCertificate(filing_status=status),
            state={entry: form_status[state][status]} if state in form_status else {},
        )
    )
    one = {line.code: line.amount_cents for line in paycheck.lines if line.rate_scaled is None}
    for line in estimate.lines:
        if line.code in one:
            assert line.per_paycheck_cents == one[line.code]
            assert line.annual_cents == one[line.code] * PERIODS[frequency]
            assert (line.rate, line.wage_base) == (None, None)
    assert set(one) == {line.code for line in estimate.lines if line.rate is None}


def test_the_law_of_the_day_is_used():
    """Georgia's rate falls on 11 May, Ohio's table on 1 August."""
    before, after = datetime.date(2026, 5, 10), datetime.date(2026, 5, 11)
    assert _cents(estimate_year("GA", Decimal(50_000), on=before), "GA-SIT") > _cents(
        estimate_year("GA", Decimal(50_000), on=after), "GA-SIT"
    )
    before, after = datetime.date(2026, 7, 31), datetime.date(2026, 8, 1)
    assert _cents(estimate_year("OH", Decimal(50_000), on=before), "OH-SIT") > _cents(
        estimate_year("OH", Decimal(50_000), on=after), "OH-SIT"
    )


def test_a_new_jerseyan_working_in_pennsylvania():
    wages = Decimal(40_000)
    home = estimate_year("PA", wages, on=ON, residence_state="nj", reciprocity_certificate_on_file=True)
    assert home.reciprocity is not None
    assert (home.reciprocity.residence, home.reciprocity.certificate) == ("NJ", "REV-419")
    assert home.residence_state == "NJ"
    assert _cents(home, "PA-SIT") == 0
    assert _cents(home, "NJ-SIT") == _cents(estimate_year("NJ", wages, on=ON), "NJ-SIT") > 0
    assert _cents(home, "PA-SUI-EE") == 28_00  # unemployment stays where the work is

    work = estimate_year("PA", wages, on=ON, residence_state="NJ")
    assert work.reciprocity is None
    assert _cents(work, "PA-SIT") == _cents(estimate_year("PA", wages, on=ON), "PA-SIT") > 0
    assert _cents(work, "NJ-SIT") == 0
    assert any("New Jersey" in limitation for limitation in work.limitations)


@pytest.mark.parametrize("status", STATUSES)
def test_the_home_states_tax_follows_the_filing_status(status):
    wages = Decimal(80_000)
    abroad = estimate_year(
        "PA",
        wages,
        on=ON,
        filing_status=status,
        residence_state="NJ",
        reciprocity_certificate_on_file=True,
    )
    home = estimate_year("NJ", wages, on=ON, filing_status=status)
    assert _cents(abroad, "NJ-SIT") == _cents(home, "NJ-SIT") > 0


def test_assumptions_are_said():
    estimate = estimate_year("TX", Decimal(1), on=ON)
    assert [said.code for said in estimate.messages] == [
        *("same_pay_assumed", "new_employer_rate_assumed", "withholding_assumed")
    ]
    assert estimate.limitations[0] == "Assumes no wages earlier in the year and the same pay every period."


WRONG_INPUTS = [
    ("state", "validation_error", {"state": "ZZ"}),
    ("state", "validation_error", {"state": ""}),
    ("annual_wages", "validation_error", {"annual_wages": Decimal("-0.01")}),
    ("annual_wages", "validation_error", {"annual_wages": Decimal("999999.01")}),
    ("annual_wages", "validation_error", {"annual_wages": Decimal("NaN")}),
    ("annual_wages", "validation_error", {"annual_wages": Decimal("sNaN")}),
    ("annual_wages", "validation_error", {"annual_wages": Decimal("Infinity")}),
    ("annual_wages", "validation_error", {"annual_wages": Decimal("1E+308")}),
    ("annual_wages", "validation_error", {"annual_wages": Decimal("100.001")}),
    ("pay_frequency", "validation_error", {"pay_frequency": "daily"}),
    ("pay_frequency", "validation_error", {"pay_frequency": "fortnightly"}),
    ("filing_status", "validation_error", {"filing_status": "widowed"}),
    ("residence_state", "validation_error", {"residence_state": "ZZ"}),
    ("tax_year", "unsupported_tax_year", {"on": datetime.date(2019, 1, 1)}),
    (
        "reciprocity_certificate_on_file",
        "validation_error",
        {"state": "CA", "residence_state": "NY", "reciprocity_certificate_on_file": True},
    ),
]


def test_bad_input_names_the_field():
    with every_case() as case:
        for field, code, changes in WRONG_INPUTS:
            with case(field, code, changes):
                arguments = {"state": "PA", "annual_wages": Decimal(35_000), "on": ON} | changes
                with pytest.raises(TaxInputError) as caught:
                    estimate_year(**arguments)
                assert (caught.value.field, caught.value.code) == (field, code)


@pytest.mark.parametrize(
    ("state", "code", "words"),
    [
        ("IN", "county_not_chosen", "No county was chosen"),
        ("MD", "county_rate_assumed", "highest rate"),
        ("OH", "municipality_not_chosen", "No municipality"),
    ],
)
def test_an_estimate_says_which_local_tax_it_takes_for_granted(state, code, words):
    estimate = estimate_year(state, Decimal("40000"), on=datetime.date(2026, 6, 5))
    (said,) = [each for each in estimate.messages if each.code == code]
    assert words in said.text
    assert str(said.param("id")).startswith({"IN": "indiana", "MD": "maryland", "OH": "ohio"}[state])


def test_an_estimate_of_a_state_without_local_taxes_says_nothing_of_them():
    estimate = estimate_year("TX", Decimal("40000"), on=datetime.date(2026, 6, 5))
    assert not any("chosen" in text for text in estimate.limitations)
