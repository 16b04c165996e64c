"""What a paycheck takes for granted: said once it matters, silent once the household has settled it."""

import datetime
from decimal import Decimal

import pytest

from hearthpay.taxes import FederalCertificate, PaycheckInput, TaxInputError
from hearthpay.taxes.assumptions import assumptions_of
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from tests.cases import every_case

DAY = datetime.date(2026, 6, 5)
UNELECTED = FederalCertificate(elected=False)


def _input(work_state: str, *localities: str, **entries) -> PaycheckInput:
    given = {
        "pay_date": DAY,
        "pay_frequency": "weekly",
        "regular_wages": Decimal("1000"),
        "work_state": work_state,
        "localities": localities,
    }
    return PaycheckInput(**(given | entries))


def _codes(work_state: str, *localities: str, city: str | None = None, **entries) -> list[str]:
    return [found.code for found in assumptions_of(_input(work_state, *localities, **entries), city=city)]


ASSUMED = [
    ("AL", "city_not_chosen"),
    ("CO", "city_not_chosen"),
    ("DE", "city_not_chosen"),
    ("IN", "county_not_chosen"),
    ("KY", "city_not_chosen"),
    ("MD", "county_rate_assumed"),
    ("MI", "city_not_chosen"),
    ("MO", "city_not_chosen"),
    ("NY", "city_not_chosen"),
    ("OH", "municipality_not_chosen"),
    ("PA", "municipality_not_chosen"),
    ("WV", "city_not_chosen"),
]


def test_a_place_that_nobody_named_is_said_to_be_assumed():
    with every_case() as case:
        for state, code in ASSUMED:
            with case(state, code):
                assert _codes(state) == [code]


@pytest.mark.parametrize("year", supported_years())
def test_every_state_with_a_local_tax_of_its_own_says_what_it_assumes(year):
    """Whoever adds a locality must say what is taken for granted where nobody chooses it."""
    rulebook = rulebook_of(year)
    for state in rulebook.supported_states:
        taxes = rulebook.state(state).local_taxes
        assert bool(taxes.unchosen) == bool(taxes.taxes or taxes.places), state
        for unchosen in taxes.unchosen:
            assert unchosen.message.endswith(".")


@pytest.mark.parametrize("state", ["TX", "CA", "NJ", "OR", "WA", "VT"])
def test_nothing_is_assumed_where_no_place_can_be_chosen(state):
    assert _codes(state, city="Springfield") == []


SETTLED = [
    ("AL", "BIRMINGHAM"),
    ("DE", "WILMINGTON"),
    ("IN", "MARION-COUNTY"),
    ("KY", "LOUISVILLE"),
    ("MD", "MONTGOMERY-COUNTY"),
    ("MI", "DETROIT"),
    ("MO", "KANSAS-CITY"),
    ("NY", "NYC"),
    ("PA", "PITTSBURGH"),
    ("PA", "PHILADELPHIA-NONRESIDENT"),
    ("WV", "CHARLESTON"),
]


def test_a_locality_settles_it():
    with every_case() as case:
        for state, locality in SETTLED:
            with case(state, locality):
                assert _codes(state, locality) == []


def test_the_local_services_tax_does_not_settle_whose_earned_income_tax_is_owed():
    assert _codes("PA", "LST-52") == ["municipality_not_chosen"]


@pytest.mark.parametrize(
    ("state", "entries"),
    [
        ("IN", {"county_of_residence_jan1": "49"}),
        ("IN", {"county_of_work_jan1": "49"}),
        ("MD", {"county_of_residence": "16"}),
        ("MD", {"maryland_resident": False}),
        ("NY", {"nyc_resident": True}),
        ("NY", {"nyc_resident": False}),
        ("NY", {"yonkers": "none"}),
        ("MI", {"city_resident": "Detroit"}),
        ("MI", {"city_work": "none"}),
    ],
)
def test_the_certificate_settles_it_also_by_saying_that_there_is_none(state, entries):
    assert _codes(state, state=entries) == []


def test_an_entry_that_is_null_settles_nothing():
    assert _codes("MD", state={"county_of_residence": None}) == ["county_rate_assumed"]


@pytest.mark.parametrize("state", ["IN", "MD", "NY"])
def test_a_tax_that_goes_with_the_states_is_assumed_only_where_that_is_withheld(state):
    assert _codes(state, federal=UNELECTED) == []
    assert _codes(state, federal=UNELECTED, state={"elected": True}) != []


# --- under a reciprocity agreement --------------------------------------------------------------------------------


def test_the_county_of_a_maryland_resident_is_assumed_at_home_under_an_agreement():
    on_file = {"reciprocity_certificate_on_file": True}
    given = {"state": on_file, "residence_state": "MD"}
    assert _codes("VA", **given) == ["county_rate_assumed"]
    assert _codes("VA", **given, residence={"county_of_residence": "16"}) == []


def test_marylands_county_is_not_assumed_of_a_resident_elsewhere_under_an_agreement():
    assert _codes("MD", state={"reciprocity_certificate_on_file": True}, residence_state="VA") == []


def test_the_county_at_home_that_is_not_withheld_is_said():
    given = {"state": {"reciprocity_certificate_on_file": True}, "residence_state": "IN"}
    found = _codes("KY", "LOUISVILLE", **given, residence={"county_of_residence_jan1": "49"})
    assert found == ["home_locality_not_withheld"]


# --- a city that withholds nothing ---------------------------------------------------------------------------------


def test_a_city_whose_tax_is_voluntary_is_not_withheld_and_says_so():
    (found,) = assumptions_of(_input("OH"), city="columbus")
    assert found.code == "city_tax_voluntary"
    assert "COLUMBUS" in found.message
    assert "2.5 %" in found.message


def test_a_voluntary_city_that_was_chosen_needs_no_word():
    assert _codes("MI", "DETROIT", city="Detroit") == []
    assert _codes("MI", city="Detroit", state={"city_resident": "Detroit"}) == []
    assert _codes("MI", city="Detroit", state={"city_resident": "none"}) == ["city_tax_voluntary"]


def test_a_city_that_is_not_known_needs_no_word_where_the_place_was_said_otherwise():
    assert _codes("NY", city="Flushing", state={"nyc_resident": True}) == []
    assert _codes("NY", city="Flushing", federal=UNELECTED) == []
    assert _codes("PA", "LST-52", city="Altoona") == ["city_tax_unknown"]
    assert _codes("PA", "LST-52", "READING", city="Altoona") == []


@pytest.mark.parametrize(
    ("state", "city", "code"),
    [
        ("PA", "Altoona", "city_tax_unknown"),
        ("KY", "Paducah", "city_tax_unknown"),
        ("NJ", "Newark", "city_tax_not_owed"),
        ("CO", "Aurora", "city_tax_not_owed"),
    ],
)
def test_a_city_that_withholds_nothing_says_why(state, city, code):
    assert _codes(state, city=city) == [code]


@pytest.mark.parametrize("city", ["New York", "brooklyn", "The Bronx", "Queens", "Staten Island"])
def test_a_borough_is_new_york_city(city):
    assert rulebook_of(2026).state("NY").local_taxes.due_at(city) == ("NYC",)
    assert _codes("NY", "NYC", city=city) == []


def test_a_city_of_new_york_that_may_lie_within_the_city_says_that_nothing_is_known():
    assert _codes("NY", city="Flushing") == ["city_tax_unknown"]


@pytest.mark.parametrize(("state", "city"), [("MO", "Springfield"), ("CO", "Boulder"), ("MI", "Ann Arbor")])
def test_a_city_without_a_tax_where_all_are_known_settles_it(state, city):
    assert _codes(state, city=city) == []


def test_a_city_does_not_settle_a_county():
    assert _codes("IN", city="Bloomington") == ["county_not_chosen"]
    assert _codes("MD", city="Rockville") == ["county_rate_assumed"]


# --- a tax of the month ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("day", "wages", "ytd_tax", "codes"),
    [
        (4, "400", {}, ["month_taken_from_first_payday"]),
        (4, "500", {}, []),
        (11, "500", {}, ["month_without_first_payday"]),
        (11, "500", {"CO-DENVER-OPT-EE": "5.75", "CO-DENVER-OPT-ER": "4.00"}, []),
    ],
)
def test_denvers_month_is_assumed_from_its_first_payday(day, wages, ytd_tax, codes):
    found = _codes(
        "CO",
        "DENVER",
        pay_date=datetime.date(2026, 9, day),
        regular_wages=Decimal(wages),
        ytd_tax={code: Decimal(amount) for code, amount in ytd_tax.items()},
    )
    # Employee's and household's tax are one name: one sentence.
    assert found == codes


def test_a_state_that_is_none_is_refused():
    with pytest.raises(TaxInputError) as caught:
        assumptions_of(_input("ZZ"))
    assert caught.value.field == "work_state"
