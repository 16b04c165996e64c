"""Whatever comes in: a paycheck comes out, or a `TaxInputError` that names the field. Nothing else, ever."""

import copy
import dataclasses
import datetime
import json
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
)
from hearthpay.taxes.interchange import read_paycheck_input, write_paycheck
from tests.cases import every_case
from tests.taxes.strategies import STATES, steady

GOOD = {
    "pay_date": "2026-06-05",
    "period_start": "2026-05-25",
    "period_end": "2026-05-31",
    "pay_frequency": "weekly",
    "regular_wages": Decimal("800.00"),
    "supplemental_wages": Decimal("50.00"),
    "work_state": "NY",
    "localities": ["NYC"],
    "annual_wages_expected": Decimal(40_000),
    "federal": {"filing_status": "single", "extra_withholding": Decimal(5)},
    "state": {"filing_status": "married", "allowances": 1},
    "employer": {"sui_rate": Decimal("0.031")},
    "relationship": "none",
    "ytd": {"US-SS-EE": Decimal(9_000)},
    "ytd_tax": {"US-SS-EE": Decimal(558)},
}


class _Removed:
    """Stands for no value at all."""

    def __repr__(self) -> str:
        return "removed"


REMOVE = _Removed()

IMPOSSIBLE_MONEY = [
    Decimal("-0.01"),
    Decimal("-1E+400"),
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("Infinity"),
    Decimal("-Infinity"),
    Decimal("1E+308"),
    Decimal("1E-30"),
    Decimal("0.001"),
    Decimal("1000000000"),
    Decimal("100.00000000000000000000000000000001"),
    Decimal("999999999.999999999999999999999999"),
    10**12,
    -5,
]
WRONG_FOR_MONEY = ["800", True, [800], {"amount": 800}, 800.0, float("nan"), float("inf")]
MONEY = [
    "regular_wages",
    "supplemental_wages",
    "annual_wages_expected",
    "federal.dependents_credit",
    "federal.other_income",
    "federal.deductions",
    "federal.extra_withholding",
    "state.additional_withholding",
    "state.nyc_additional_withholding",
    "ytd.US-SS-EE",
    "ytd.US-MED-EE",
    "ytd_tax.US-SS-EE",
]


def _with(path: str, value: object) -> dict:
    """Return the good paycheck with one entry changed or removed; ``federal.filing_status`` reaches inside."""
    data = copy.deepcopy(GOOD)
    *parents, name = path.split(".", 1)
    inner = data
    for parent in parents:
        inner = inner.setdefault(parent, {})
        if parent == "federal" and name.startswith("pre_2020."):
            inner, name = inner.setdefault("pre_2020", {}), name.removeprefix("pre_2020.")
    if value is REMOVE:
        del inner[name]
    else:
        inner[name] = value
    return data


def _calculate(data: object):
    return calculate_paycheck(read_paycheck_input(data))


def _assert_refused(data: object, field: str, code: str = "validation_error") -> None:
    with pytest.raises(TaxInputError) as caught:
        _calculate(data)
    error = caught.value
    assert (error.field, error.code) == (field, code)
    assert error.message
    assert str(error) == f"{field}: {error.message}"


def test_the_paycheck_that_the_others_break_is_good():
    assert _calculate(GOOD).gross_pay == Decimal("850.00")


def test_impossible_money():
    with every_case() as case:
        for field in MONEY:
            for value in IMPOSSIBLE_MONEY:
                with case(field, value):
                    _assert_refused(_with(field, value), field)


def test_what_is_no_number():
    with every_case() as case:
        for field in MONEY:
            for value in WRONG_FOR_MONEY:
                with case(field, value):
                    _assert_refused(_with(field, value), field)


MISTAKES = [
    ("employer.sui_rate", Decimal("-0.001")),
    ("employer.sui_rate", Decimal(1)),
    ("employer.sui_rate", Decimal("3.1")),
    ("employer.sui_rate", Decimal("NaN")),
    ("employer.sui_rate", Decimal("sNaN")),
    ("employer.sui_rate", Decimal("Infinity")),
    ("employer.sui_rate", Decimal("0.0000000001")),
    ("employer.sui_rate", "3.1%"),
    ("employer.futa_liable", "yes"),
    ("employer.sui_liable", 1),
    ("employer.fica_liable", 0),
    ("employer.waived_lines", "NY-DBL-EE"),
    ("employer.waived_lines", [1]),
    ("employer.waived_lines", ["US-SS-EE"]),
    ("employer.waived_lines", ["CA-SDI-EE"]),
    ("employer.rate", Decimal("0.03")),
    ("employer", []),
    ("employer", "none"),
    ("federal.filing_status", "widowed"),
    ("federal.filing_status", 1),
    ("federal.elected", "true"),
    ("federal.multiple_jobs", 1),
    ("federal.exempt", "no"),
    ("federal.dependants_credit", Decimal(2_000)),
    ("federal", []),
    ("federal", "single"),
    ("federal.pre_2020", "single"),
    ("federal.pre_2020.marital_status", "head_of_household"),
    ("federal.pre_2020.marital_status", 2),
    ("federal.pre_2020.allowances", -1),
    ("federal.pre_2020.allowances", 1_000),
    ("federal.pre_2020.allowances", Decimal("1.5")),
    ("federal.pre_2020.allowances", True),
    ("federal.pre_2020.allowances", "2"),
    ("federal.pre_2020.allowance", 2),
    ("state.filing_status", "widowed"),
    ("state.filing_status", 1),
    ("state.filing_status", ["married"]),
    ("state.allowances", -1),
    ("state.allowances", 1_000),
    ("state.allowances", Decimal("1.5")),
    ("state.allowances", True),
    ("state.allowances", "2"),
    ("state.nyc_resident", "yes"),
    ("state.yonkers", "somewhere"),
    ("state.elected", "maybe"),
    ("state.exempt", 1),
    ("state.county", "Kings"),
    ("state", "single"),
    ("state", [1]),
    ("relationship", "cousin"),
    ("relationship", 7),
    ("relationship", ["none"]),
    ("pay_frequency", "fortnightly"),
    ("pay_frequency", "WEEKLY"),
    ("pay_frequency", ""),
    ("pay_frequency", 52),
    ("pay_frequency", REMOVE),
    ("pay_frequency", None),
    ("regular_wages", REMOVE),
    ("regular_wages", None),
    ("work_state", REMOVE),
    ("work_state", None),
    ("work_state", 36),
    ("work_state", ""),
    ("work_state", "XX"),
    ("work_state", "New York"),
    ("work_state", "../../2025/states/TX"),
    ("work_state", "PR"),
    ("residence_state", "XX"),
    ("residence_state", 1),
    ("localities", "NYC"),
    ("localities", [1]),
    ("localities", {"NYC": True}),
    ("pay_date", REMOVE),
    ("pay_date", None),
    ("pay_date", "2026-02-30"),
    ("pay_date", "2026-6-5"),
    ("pay_date", "20260605"),
    ("pay_date", "2026-06-05T00:00:00"),
    ("pay_date", "2026-W23-5"),
    ("pay_date", "tomorrow"),
    ("pay_date", 20260605),
    ("period_start", "yesterday"),
    ("period_start", 1),
    ("period_end", "2026-13-01"),
    ("period_end", "2026-05-24"),
    ("supplemental_method", "whole"),
    ("supplemental_method", True),
    ("ytd", []),
    ("ytd", 5),
    ("ytd_tax", "none"),
    ("bonus", Decimal(10)),
    ("", "an empty name"),
]


def test_every_other_mistake():
    with every_case() as case:
        for field, value in MISTAKES:
            with case(field, value):
                _assert_refused(_with(field, value), field)


@pytest.mark.parametrize("body", [None, [], "paycheck", 5, True, [GOOD]], ids=repr)
def test_what_is_no_object(body):
    _assert_refused(body, "body")


@pytest.mark.parametrize(
    ("locality", "position"),
    [(["ALBANY"], 0), (["NYC", "ALBANY"], 1), ([""], 0), (["NYC", "YONKERS", "*"], 2)],
)
def test_an_unknown_locality_is_named_by_its_place(locality, position):
    _assert_refused(_with("localities", locality), f"localities[{position}]")


@pytest.mark.parametrize("state", ["TX", "PA"])
def test_a_locality_where_there_is_none(state):
    _assert_refused(_with("work_state", state) | {"state": {}}, "localities[0]")


@pytest.mark.parametrize("year", [1, 1999, 2023, 2099, 9999])
def test_a_year_without_rules(year):
    _assert_refused(_with("pay_date", f"{year:04}-06-05"), "pay_date", "unsupported_tax_year")


def test_reciprocity_where_there_is_no_agreement():
    data = _with("residence_state", "NJ")
    data["state"]["reciprocity_certificate_on_file"] = True
    _assert_refused(data, "state.reciprocity_certificate_on_file")


@pytest.mark.parametrize(
    ("entries", "field"),
    [
        ({"allowances": -1}, "residence.allowances"),
        ({"filing_status": "widowed"}, "residence.filing_status"),
        ({"exemptions": 1}, "residence.exemptions"),
        ([], "residence"),
    ],
)
def test_the_home_states_certificate_is_checked_where_it_counts(entries, field):
    """A New Jerseyan working in Pennsylvania: the certificate is New Jersey's."""
    data = {
        "pay_date": "2026-06-05",
        "pay_frequency": "weekly",
        "regular_wages": 800,
        "work_state": "PA",
        "residence_state": "NJ",
        "state": {"reciprocity_certificate_on_file": True},
    }
    assert _calculate(data | {"residence": {"allowances": 2}}).net_pay > 0
    _assert_refused(data | {"residence": entries}, field)


def test_certificate_entries_where_there_is_no_income_tax():
    data = _with("work_state", "TX") | {"localities": []}
    _assert_refused(data | {"state": {"filing_status": "single"}}, "state.filing_status")
    _assert_refused(data | {"state": {"additional_withholding": Decimal(5)}}, "state.additional_withholding")
    _assert_refused(data | {"state": {"elected": "yes"}}, "state.elected")
    assert _calculate(data | {"state": {"elected": False}}).gross_pay == Decimal("850.00")


def test_every_state_refuses_what_its_certificate_does_not_know():
    with every_case() as case:
        for state in STATES:
            with case(state):
                data = {
                    "pay_date": "2026-06-05",
                    "pay_frequency": "weekly",
                    "regular_wages": 800,
                    "work_state": state,
                    "state": {"favourite_colour": "green"},
                }
                _assert_refused(data, "state.favourite_colour")


GOOD_INPUT = PaycheckInput(
    pay_date=datetime.date(2026, 6, 5),
    pay_frequency="weekly",
    regular_wages=Decimal(800),
    work_state="NY",
)


WRONG_INPUTS = [
    ("regular_wages", {"regular_wages": Decimal("NaN")}),
    ("regular_wages", {"regular_wages": Decimal("-0.01")}),
    ("supplemental_wages", {"supplemental_wages": Decimal("0.001")}),
    ("annual_wages_expected", {"annual_wages_expected": Decimal("Infinity")}),
    ("pay_frequency", {"pay_frequency": "hourly"}),
    ("work_state", {"work_state": "ZZ"}),
    ("residence_state", {"residence_state": "ZZ"}),
    ("relationship", {"relationship": "aunt"}),
    ("localities[0]", {"localities": ("ALBANY",)}),
    ("federal.filing_status", {"federal": FederalCertificate(filing_status="widowed")}),
    (
        "federal.pre_2020.marital_status",
        {"federal": FederalCertificate(pre_2020=Pre2020Certificate("widowed", 0))},
    ),
    ("federal.pre_2020.allowances", {"federal": FederalCertificate(pre_2020=Pre2020Certificate("single", -1))}),
    ("federal.other_income", {"federal": FederalCertificate(other_income=Decimal(-1))}),
    ("state.exempt", {"state": {"exempt": 1}}),
    ("employer.sui_rate", {"employer": EmployerProfile(sui_rate=Decimal(3))}),
    ("employer.waived_lines", {"employer": EmployerProfile(waived_lines=frozenset({"NY-SUI-ER"}))}),
    ("ytd.NY-PFL-EE", {"ytd": {"NY-PFL-EE": Decimal(-1)}}),
    ("ytd_tax.NY-PFL-EE", {"ytd": {}, "ytd_tax": {"NY-PFL-EE": Decimal("0.001")}}),
    (
        "period_end",
        {"period_start": datetime.date(2026, 6, 2), "period_end": datetime.date(2026, 6, 1)},
    ),
]  # fmt: skip


def test_the_engine_checks_for_itself():
    """The JSON form is one way in; the engine does not count on it."""
    with every_case() as case:
        for field, changes in WRONG_INPUTS:
            with case(field, changes):
                with pytest.raises(TaxInputError) as caught:
                    calculate_paycheck(dataclasses.replace(GOOD_INPUT, **changes))
                assert (caught.value.field, caught.value.code) == (field, "validation_error")


# --- anything at all ---------------------------------------------------------------------------------------------

NAMES = sorted(
    {*GOOD, "elected", "exempt", "pre_2020", "marital_status", "allowances", "multiple_jobs", "sui_rate"}
    | {
        "fica_liable",
        "waived_lines",
        "US-SS-EE",
        "US-FIT-SUP",
        "yonkers",
        "nyc_resident",
        "supplemental_method",
    }
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.decimals(),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(("NY", "CA", "TX", "weekly", "annual", "2026-06-05", "2026-12-31", "single", "married")),
    st.sampled_from(IMPOSSIBLE_MONEY),
)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text(max_size=6)), inner, max_size=5),
    ),
    max_leaves=12,
)


def _survives(data: object) -> None:
    try:
        paycheck = _calculate(data)
    except TaxInputError as error:
        problem = error
    else:
        assert paycheck.net_pay_cents >= 0
        assert json.dumps(write_paycheck(paycheck), default=str)
        return
    assert problem.field
    assert problem.message
    assert problem.code in ("validation_error", "unsupported_jurisdiction", "unsupported_tax_year")


arbitrarily_many = pytest.mark.parametrize("examples", [150, pytest.param(600, marks=pytest.mark.long)])


@arbitrarily_many
def test_arbitrary_json_raises_nothing_else(examples):
    @steady(examples)
    @given(anything)
    def survives(data):
        _survives(data)

    survives()


@arbitrarily_many
def test_a_good_paycheck_with_arbitrary_entries_raises_nothing_else(examples):
    @steady(examples)
    @given(st.dictionaries(st.sampled_from(NAMES), anything, max_size=3), st.sampled_from(STATES))
    def survives(changes, state):
        _survives(GOOD | {"work_state": state, "localities": [], "state": {}} | changes)

    survives()


@arbitrarily_many
def test_arbitrary_certificates_and_profiles_raise_nothing_else(examples):
    @steady(examples)
    @given(
        st.sampled_from(("federal", "state", "employer", "ytd", "ytd_tax")),
        st.dictionaries(st.sampled_from(NAMES), anything, min_size=1, max_size=3),
    )
    def survives(name, entries):
        _survives(GOOD | {name: entries})

    survives()
