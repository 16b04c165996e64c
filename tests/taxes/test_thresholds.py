"""When a household owes anything, and for whom it does not: thresholds to the cent, relationships line by line."""

import datetime
from decimal import Decimal

import pytest

from hearthpay.taxes import (
    EmployerProfile,
    PaycheckInput,
    TaxInputError,
    calculate_paycheck,
    check_thresholds,
)
from hearthpay.taxes.liability import guards_of
from hearthpay.taxes.thresholds import LiabilityThreshold, liability_thresholds, supported_threshold_years
from tests.cases import every_case
from tests.taxes.strategies import RULEBOOK, STATES, YEAR

CENT = Decimal("0.01")
FICA = {2024: Decimal(2_700), 2025: Decimal(2_800), 2026: Decimal(3_000), 2027: Decimal(3_100)}


# --- the check ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("year", "threshold"), FICA.items())
def test_the_fica_threshold_of_the_year(year, threshold):
    approaching = threshold * 8 / 10
    expected = {
        Decimal(0): "below",
        approaching - CENT: "below",
        approaching: "approaching",
        threshold - CENT: "approaching",
        threshold: "above",
        threshold + CENT: "above",
        Decimal(999_999): "above",
    }
    for wages, status in expected.items():
        check = check_thresholds("TX", wages, year)
        assert check.fica_threshold == threshold
        assert check.approaching_threshold == approaching
        assert (wages, check.federal_status) == (wages, status)
        assert check.tax_year == year


@pytest.mark.parametrize(
    ("state", "lowest", "unemployment"),
    [
        ("CA", 750, 1_000),
        ("NY", 500, 500),
        ("TX", 1_000, 1_000),
        ("GA", 1_000, 1_000),
        ("IL", 1_000, 1_000),
        ("NJ", 1_000, 1_000),
        ("OH", 1_000, 1_000),
        ("PA", 1_000, 1_000),
    ],
)
def test_the_states_quarterly_thresholds(state, lowest, unemployment):
    for name, quarterly in (("state_status", lowest), ("suta_status", unemployment)):
        year = Decimal(quarterly * 4)
        expected = {
            year * 8 / 10 - CENT: "below",
            year * 8 / 10: "approaching",
            year - CENT: "approaching",
            year: "above",
        }
        for wages, status in expected.items():
            check = check_thresholds(state, wages, YEAR)
            assert (wages, getattr(check, name)) == (wages, status)
    assert check.state_threshold_quarterly == lowest
    assert check.suta_threshold_quarterly == unemployment
    assert check.futa_quarterly_threshold == 1_000


def test_californias_explanation_says_which_tax_starts_where():
    check = check_thresholds("ca", Decimal(3_500), YEAR)
    assert (check.state, check.state_name) == ("CA", "California")
    assert (check.state_status, check.suta_status) == ("above", "approaching")
    assert "disability insurance (SDI) from 750 dollars" in check.state_explanation
    assert "unemployment insurance and employment training tax from 1,000 dollars" in check.state_explanation


def test_every_state_with_rules_has_thresholds():
    with every_case() as case:
        for state in STATES:
            with case(state):
                for year in supported_threshold_years():
                    rows = liability_thresholds(state, year)
                    assert [row.liability for row in rows[:2]] == ["fica", "futa"]
                    assert sum(row.liability == "sui" for row in rows) == 1
                    assert all(row.cents > 0 and row.sources and row.rule for row in rows)
                check = check_thresholds(state, Decimal(3_000), YEAR)
                assert check.state_name == RULEBOOK.state(state).name
                assert check.state_threshold_quarterly <= check.suta_threshold_quarterly


def test_every_liability_of_a_line_is_one_that_a_threshold_switches():
    """A liability that nothing switches off would be owed by a household of any size."""
    with every_case() as case:
        for state in STATES:
            with case(state):
                switches = {row.liability for row in liability_thresholds(state, YEAR)} | {"always"}
                assert {line.liability for line in RULEBOOK.state(state).contributions} <= switches


@pytest.mark.parametrize(
    ("state", "wages", "year", "field", "code"),
    [
        ("ZZ", "100", 2026, "state", "unsupported_jurisdiction"),
        ("", "100", 2026, "state", "unsupported_jurisdiction"),
        ("TX", "-1", 2026, "annual_wages", "validation_error"),
        ("TX", "NaN", 2026, "annual_wages", "validation_error"),
        ("TX", "Infinity", 2026, "annual_wages", "validation_error"),
        ("TX", "0.001", 2026, "annual_wages", "validation_error"),
        ("TX", "100", 2023, "tax_year", "unsupported_tax_year"),
        ("TX", "100", 2099, "tax_year", "unsupported_tax_year"),
    ],
)
def test_bad_input_names_the_field(state, wages, year, field, code):
    with pytest.raises(TaxInputError) as caught:
        check_thresholds(state, Decimal(wages), year)
    assert (caught.value.field, caught.value.code) == (field, code)


# --- what expected wages switch off ------------------------------------------------------------------------------


def _liable(state: str, expected: Decimal, **employer: bool) -> set[str]:
    """Return the liabilities that some line of a weekly paycheck of 100 dollars bears."""
    paycheck = calculate_paycheck(
        PaycheckInput(
            pay_date=datetime.date(YEAR, 6, 5),
            pay_frequency="weekly",
            regular_wages=Decimal(100),
            work_state=state,
            annual_wages_expected=expected,
            employer=EmployerProfile(**employer),
        )
    )
    liabilities = {line.code: line.liability for line in _lines_of(state)}
    for line in paycheck.lines:
        # A line that is off stays on the paycheck, without wages and without tax.
        if line.code in liabilities and line.subject_wages == 0:
            assert (line.taxable_wages, line.amount) == (0, 0)
    return {
        liabilities[line.code] for line in paycheck.lines if line.code in liabilities and line.taxable_wages
    }


def _lines_of(state: str):
    return (*RULEBOOK.contributions, *RULEBOOK.state(state).contributions)


LIABLE_FROM = [
    ("TX", "2999.99", set()),
    ("TX", "3000", {"fica"}),
    ("TX", "3999.99", {"fica"}),
    ("TX", "4000", {"fica", "futa", "sui"}),
    ("CA", "2999.99", set()),
    ("CA", "3000", {"fica", "sdi"}),
    ("CA", "3999.99", {"fica", "sdi"}),
    ("CA", "4000", {"fica", "sdi", "futa", "sui"}),
    ("NY", "1999.99", {"always"}),
    ("NY", "2000", {"always", "sui"}),
    ("NY", "3000", {"always", "sui", "fica"}),
    ("NY", "4000", {"always", "sui", "fica", "futa"}),
    ("NJ", "3999.99", {"fica"}),
    ("NJ", "4000", {"fica", "futa", "sui"}),
    ("PA", "3999.99", {"fica"}),
    ("PA", "4000", {"fica", "futa", "sui"}),
]


def test_wages_below_a_threshold_owe_nothing_of_it():
    with every_case() as case:
        for state, expected, liable in LIABLE_FROM:
            with case(state, expected):
                assert _liable(state, Decimal(expected)) == liable


def test_every_state_owes_nothing_below_and_everything_above():
    with every_case() as case:
        for state in STATES:
            with case(state):
                everything = {line.liability for line in _lines_of(state)}
                assert _liable(state, Decimal(0)) <= {"always"}
                assert _liable(state, Decimal(50_000)) == everything
                assert _liable(state, Decimal(50_000), futa_liable=False) == everything - {"futa"}
                assert _liable(state, Decimal(50_000), sui_liable=False) == everything - {"sui"}
                assert _liable(state, Decimal(50_000), fica_liable=False) == everything - {"fica"}


def test_the_fica_threshold_follows_the_year_of_the_pay_date():
    """2,800 dollars are enough in 2025 and not in 2026."""
    social_security = {}
    for year in (2025, 2026):
        paycheck = calculate_paycheck(
            PaycheckInput(
                pay_date=datetime.date(year, 6, 5),
                pay_frequency="weekly",
                regular_wages=Decimal(100),
                work_state="TX",
                annual_wages_expected=Decimal(2_800),
            )
        )
        social_security[year] = next(line.amount for line in paycheck.lines if line.code == "US-SS-EE")
    assert social_security == {2025: Decimal("6.20"), 2026: Decimal("0.00")}


# --- relationships -----------------------------------------------------------------------------------------------

FAMILY = (
    "spouse", "parent", "parent_caring_for_grandchild", "child_under_18", "child_18_to_20", "child_under_21",
)  # fmt: skip
#: Publication 926: a parent counts who cares for a grandchild; a student's principal occupation is never this.
NOT_FICA = {*FAMILY, "student_under_18"} - {"parent_caring_for_grandchild"}
#: Publication 926: no such exception, and no rule about age.
NOT_FUTA = set(FAMILY)
#: Unemployment law of most states ends a child's exemption at 18, not at 21.
UNTIL_18 = {*FAMILY} - {"child_18_to_20"}
NOT_SUI = {
    "CA": UNTIL_18,
    "IL": UNTIL_18,
    "NJ": UNTIL_18,
    "OH": UNTIL_18,
    "PA": UNTIL_18,
    "GA": set(FAMILY),
    "TX": set(FAMILY),
    # New York's labor law does not let parents out.
    "NY": {"spouse", "child_under_18", "child_18_to_20", "child_under_21", "student_under_18"},
    "DC": {*UNTIL_18, "child_18_to_20", "child_under_21", "student_under_18"},
}


def _taxed(state: str, relationship: str) -> dict[str, bool]:
    paycheck = calculate_paycheck(
        PaycheckInput(
            pay_date=datetime.date(YEAR, 6, 5),
            pay_frequency="weekly",
            regular_wages=Decimal(500),
            work_state=state,
            relationship=relationship,
        )
    )
    return {line.code: line.amount > 0 for line in paycheck.lines}


def test_who_is_not_counted():
    with every_case() as case:
        for state in sorted(NOT_SUI):
            for relationship in ["none", *FAMILY, "student_under_18"]:
                with case(state, relationship):
                    _check_who_is_counted(state, relationship)


def _check_who_is_counted(state, relationship):
    taxed = _taxed(state, relationship)
    for code in ("US-SS-EE", "US-SS-ER", "US-MED-EE", "US-MED-ER"):
        assert (code, taxed[code]) == (code, relationship not in NOT_FICA)
    assert taxed["US-FUTA"] is (relationship not in NOT_FUTA)
    unemployment = [line.code for line in RULEBOOK.state(state).contributions if line.liability == "sui"]
    assert f"{state}-SUI-ER" in unemployment
    for code in unemployment:
        assert (code, taxed[code]) == (code, relationship not in NOT_SUI[state])


def test_a_stranger_is_exempt_from_nothing_and_a_spouse_from_all_federal_taxes():
    with every_case() as case:
        for state in STATES:
            with case(state):
                assert all(
                    taxed
                    for code, taxed in _taxed(state, "none").items()
                    if code in {x.code for x in _lines_of(state)}
                )
                spouse = _taxed(state, "spouse")
                assert not any(
                    spouse[code] for code in ("US-SS-EE", "US-SS-ER", "US-MED-EE", "US-MED-ER", "US-FUTA")
                )


def test_a_relationship_does_not_touch_income_tax():
    for state in ("CA", "NY", "PA"):
        rows = {
            relationship: [
                line.amount
                for line in calculate_paycheck(
                    PaycheckInput(
                        pay_date=datetime.date(YEAR, 6, 5),
                        pay_frequency="weekly",
                        regular_wages=Decimal(900),
                        work_state=state,
                        relationship=relationship,
                    )
                ).lines
                if line.category in ("federal_income_tax", "state_income_tax")
            ]
            for relationship in ("none", "spouse", "child_under_18")
        }
        assert rows["none"] == rows["spouse"] == rows["child_under_18"]
        assert len(rows["none"]) == 2


def test_how_far_a_threshold_reaches_is_the_states_own():
    def of(state: str, liability: str) -> LiabilityThreshold:
        [row] = [row for row in liability_thresholds(state, YEAR) if row.liability == liability]
        return row

    fica, futa = of("TX", "fica"), of("TX", "futa")
    assert (fica.reaches_back_to, fica.per_employee, fica.next_year_too) == ("year", True, False)
    assert (futa.reaches_back_to, futa.per_employee, futa.next_year_too) == ("year", False, True)
    assert {state for state in STATES if of(state, "sui").reaches_back_to == "quarter"} == {"NY", "DC"}
    assert not any(of(state, "sui").per_employee for state in STATES)
    tdi = of("HI", "tdi")
    assert (tdi.reaches_back_to, tdi.per_employee, tdi.next_year_too) == ("quarter", True, False)


def test_every_line_that_waits_has_a_threshold_and_is_measured_on_one_that_waits_for_the_same():
    with every_case() as case:
        for state in sorted(STATES):
            with case(state):
                rulebook = RULEBOOK
                waits = {
                    code: guard.threshold.liability
                    for guard in guards_of(YEAR, state)
                    for code in guard.codes
                }
                for line in (*rulebook.contributions, *rulebook.state(state).contributions):
                    assert waits.get(line.code, "always") == line.liability
                    assert waits.get(line.code) == waits.get(line.ytd_code)


def test_a_line_that_is_not_due_is_subject_and_bears_nothing():
    paid = PaycheckInput(
        pay_date=datetime.date(YEAR, 6, 5),
        pay_frequency="weekly",
        regular_wages=Decimal(600),
        work_state="CA",
        not_due=frozenset({"US-FUTA", "CA-SDI-EE"}),
    )
    paycheck = calculate_paycheck(paid, explain=True)
    lines = {line.code: line for line in paycheck.lines}
    for code in ("US-FUTA", "CA-SDI-EE"):
        line = lines[code]
        assert (line.subject_wages, line.taxable_wages, line.amount) == (Decimal(600), 0, 0)
        [told] = [each for each in paycheck.explanations if each.code == code]
        assert any(step.label == "not due yet" for step in told.steps)
    assert lines["CA-SUI-ER"].amount == Decimal("20.40")
