"""Local taxes: who bears them, by whose choice, in force when; the amounts of places lie in ``examples/local-*``."""

import datetime
from decimal import Decimal

import pytest

from hearthpay.taxes import (
    EmployerProfile,
    FederalCertificate,
    PaycheckInput,
    TaxInputError,
    calculate_paycheck,
    rulebook_for,
)
from hearthpay.taxes.coverage import law_behind
from hearthpay.taxes.errors import RuleError
from hearthpay.taxes.local import LocalTaxes, read_local_taxes
from hearthpay.taxes.localities import list_localities
from hearthpay.taxes.rule_file import RuleTable

DAY = datetime.date(2026, 6, 5)
RULEBOOK = rulebook_for(DAY)
UNELECTED = FederalCertificate(elected=False)


def _paycheck(work_state: str, /, *localities: str, explain: bool = False, **entries):
    given = {
        "pay_date": DAY,
        "pay_frequency": "weekly",
        "regular_wages": Decimal("1000"),
        "work_state": work_state,
        "localities": localities,
        "federal": UNELECTED,
    }
    return calculate_paycheck(PaycheckInput(**(given | entries)), explain=explain)


def _amounts(paycheck) -> dict[str, Decimal]:
    return {line.code: line.amount for line in paycheck.lines}


def _compiled(*taxes: dict, state: str = "PA") -> LocalTaxes:
    common = {
        "locality": "X",
        "code": "PA-X",
        "name": "X",
        "agency": "us-irs",
        "effective_from": datetime.date(2026, 1, 1),
        "source": "law",
        "confidence": "high",
        "method": "flat_rate",
        "figures": {"rate": Decimal("0.01")},
    }
    content = {
        "state": state,
        "sources": {"law": {"title": "Law", "date": "2026"}},
        "local": [common | tax for tax in taxes],
    }
    return read_local_taxes(state, RuleTable.of("local/PA.toml", content), RULEBOOK.pay_periods)


# --- choosing ----------------------------------------------------------------------------------------------------


def test_unknown_locality_names_its_place_in_the_list():
    with pytest.raises(TaxInputError) as caught:
        _paycheck("PA", "PHILADELPHIA", "Springfield")
    assert caught.value.field == "localities[1]"
    assert "PITTSBURGH" in str(caught.value)


@pytest.mark.parametrize("state", ["TX", "VT"])
def test_a_state_without_local_taxes_knows_no_locality(state):
    with pytest.raises(TaxInputError) as caught:
        _paycheck(state, "AUSTIN")
    assert caught.value.field == "localities[0]"


@pytest.mark.parametrize(
    ("state", "name", "reason"),
    [
        ("OR", "TriMet", "private home"),
        ("NJ", "newark", "private residence"),
        ("WA", "Seattle", "payroll"),
        ("NY", "MCTMT", "312,500"),
        ("CO", "Aurora", "repealed"),
        ("KY", "Kenton County", "private homes"),
    ],
)
def test_a_tax_that_no_household_owes_is_refused_with_the_reason(state, name, reason):
    with pytest.raises(TaxInputError, match=reason) as caught:
        _paycheck(state, name)
    assert caught.value.field == "localities[0]"


@pytest.mark.parametrize("name", ["PHILADELPHIA", "philadelphia", " PA-Philadelphia ", "Philly"])
def test_code_and_alias_in_any_case_choose_the_same(name):
    assert _amounts(_paycheck("PA", name))["PA-PHILADELPHIA-LIT"] == Decimal("37.40")


@pytest.mark.parametrize(
    ("state", "names"),
    [
        ("PA", ("PHILADELPHIA", "PHILADELPHIA-NONRESIDENT")),
        ("IN", ("MARION-COUNTY", "LAKE-COUNTY")),
        ("PA", ("READING", "SCRANTON-NONRESIDENT")),
    ],
)
def test_places_that_exclude_each_other_are_refused(state, names):
    with pytest.raises(TaxInputError, match="exclude each other") as caught:
        _paycheck(state, *names)
    assert caught.value.field == "localities[1]"


def test_the_same_place_twice_is_taxed_once():
    lines = _paycheck("PA", "PHILADELPHIA", "PHILLY").lines
    assert [line.code for line in lines].count("PA-PHILADELPHIA-LIT") == 1


def test_a_named_county_goes_before_the_certificate():
    amounts = _amounts(
        _paycheck("IN", "PORTER-COUNTY", state={"elected": True, "county_of_residence_jan1": "49"})
    )
    assert amounts["IN-64-LIT"] == Decimal("5.00")
    assert "IN-49-LIT" not in amounts


def test_the_county_of_residence_goes_before_that_of_work():
    amounts = _amounts(
        _paycheck(
            "IN",
            state={"elected": True, "county_of_residence_jan1": "64", "county_of_work_jan1": "49"},
        )
    )
    assert amounts["IN-64-LIT"] == Decimal("5.00")
    assert "IN-49-LIT" not in amounts


# --- Michigan: cities by the certificate --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({"city_resident": "Detroit"}, {"MI-DETROIT-LIT": "24.00"}),
        ({"city_work": "Detroit"}, {"MI-DETROIT-NR-LIT": "12.00"}),
        ({"city_resident": "Battle Creek", "city_work": "none"}, {"MI-BATTLE-CREEK-LIT": "10.00"}),
        # Who lives and works in one city is a resident there.
        ({"city_resident": "Detroit", "city_work": "Detroit"}, {"MI-DETROIT-LIT": "24.00"}),
        # MCL 141.651(1)(a)(ii): 1.5 % less Detroit's 1.2 %; 1 % less Detroit's 1.2 % is nothing.
        (
            {"city_resident": "Grand Rapids", "city_work": "Detroit"},
            {"MI-DETROIT-NR-LIT": "12.00", "MI-GRAND-RAPIDS-LIT": "3.00"},
        ),
        (
            {"city_resident": "Lansing", "city_work": "Detroit"},
            {"MI-DETROIT-NR-LIT": "12.00", "MI-LANSING-LIT": "0.00"},
        ),
        ({"city_resident": "none", "city_work": "none"}, {}),
        ({}, {}),
    ],
)
@pytest.mark.parametrize("year", [2025, 2026])
def test_the_cities_of_the_michigan_certificate_are_withheld(entries, expected, year):
    amounts = _amounts(_paycheck("MI", state=entries, pay_date=datetime.date(year, 6, 5)))
    assert {code: str(tax) for code, tax in amounts.items() if code.endswith("-LIT")} == expected


def test_a_city_chosen_twice_is_taxed_once_and_a_named_locality_goes_before_the_certificate():
    twice = _amounts(_paycheck("MI", "DETROIT", state={"city_resident": "Detroit"}))
    assert twice["MI-DETROIT-LIT"] == Decimal("24.00")
    named = _amounts(_paycheck("MI", "DETROIT-NONRESIDENT", state={"city_resident": "Detroit"}))
    assert named["MI-DETROIT-NR-LIT"] == Decimal("12.00")
    assert "MI-DETROIT-LIT" not in named


def test_named_michigan_cities_of_home_and_work_share_the_rate_as_those_of_the_certificate_do():
    amounts = _amounts(_paycheck("MI", "GRAND-RAPIDS", "DETROIT-NONRESIDENT"))
    assert (amounts["MI-GRAND-RAPIDS-LIT"], amounts["MI-DETROIT-NR-LIT"]) == (
        Decimal("3.00"),
        Decimal("12.00"),
    )


def test_the_lower_rate_at_home_counts_exemptions_and_flat_supplemental_pay():
    paycheck = _paycheck(
        "MI",
        supplemental_wages=Decimal("500"),
        supplemental_method="flat",
        state={"city_resident": "Grand Rapids", "city_work": "Detroit", "exemptions": 2},
    )
    # 1,000 less two exemptions of 11.54, and a bonus of 500 without: 0.3 % at home, 1.2 % in Detroit.
    assert _amounts(paycheck)["MI-GRAND-RAPIDS-LIT"] == Decimal("4.43")
    assert _amounts(paycheck)["MI-DETROIT-NR-LIT"] == Decimal("17.72")


def test_nobody_lives_in_two_cities():
    with pytest.raises(TaxInputError, match="lives in one") as caught:
        _paycheck("MI", "GRAND-RAPIDS", state={"city_resident": "Detroit"})
    assert caught.value.field == "localities"


def test_every_city_of_the_michigan_certificate_has_its_taxes():
    rules = RULEBOOK.state("MI")
    values = set(rules.income_tax.form.fields["city_resident"].choices.values()) - {"none"}
    assert len(values) == 24
    for field in ("city_resident", "city_work"):
        chosen = {tax.certificate_value for tax in rules.local_taxes if tax.certificate_fields == (field,)}
        assert chosen == values


# --- Ohio: a school district ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["2501", "", 2501])
@pytest.mark.parametrize("year", [2025, 2026, 2027])
def test_an_ohio_school_district_is_refused_with_what_to_do(number, year):
    with pytest.raises(TaxInputError, match="SD 100") as caught:
        _paycheck("OH", state={"school_district_number": number}, pay_date=datetime.date(year, 6, 4))
    assert caught.value.field == "state.school_district_number"


def test_no_school_district_is_no_entry():
    assert _paycheck("OH", state={"school_district_number": None}).lines == _paycheck("OH").lines
    with pytest.raises(TaxInputError) as caught:
        _paycheck("OH", state={"school_distrikt": "2501"})
    assert "school_district_number" not in caught.value.message


def test_the_law_behind_ohios_line_says_what_its_certificate_does_not_take():
    (law, *_) = law_behind("OH-SIT", RULEBOOK, "OH")
    facts = dict(law.facts)
    assert "school_district_number" not in facts["Certificate"]
    assert "SD 100" in facts["Not taken: school_district_number"]


def test_an_ohio_resident_under_an_agreement_meets_the_same_refusal():
    with pytest.raises(TaxInputError, match="SD 100") as caught:
        _paycheck(
            "KY",
            state={"reciprocity_certificate_on_file": True},
            residence_state="OH",
            residence={"school_district_number": "2501"},
        )
    assert caught.value.field == "residence.school_district_number"


# --- Maryland: a county within the state's line --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code"), [("MONTGOMERY-COUNTY", "16"), ("Baltimore City", "04"), ("11", "11")]
)
def test_a_maryland_county_is_the_county_of_the_certificate(name, code):
    by_name = _paycheck("MD", name, state={"elected": True})
    by_certificate = _paycheck("MD", state={"elected": True, "county_of_residence": code})
    assert by_name.lines == by_certificate.lines


def test_a_maryland_county_that_disagrees_with_the_certificate_is_refused():
    with pytest.raises(TaxInputError, match="disagrees") as caught:
        _paycheck("MD", "MONTGOMERY-COUNTY", state={"county_of_residence": "04"})
    assert caught.value.field == "localities[0]"
    with pytest.raises(TaxInputError) as caught:
        _paycheck("MD", "MONTGOMERY-COUNTY", "HOWARD-COUNTY")
    assert caught.value.field == "localities[1]"


# --- who decides -------------------------------------------------------------------------------------------------


def test_a_required_tax_does_not_wait_for_an_agreement_on_the_states():
    amounts = _amounts(_paycheck("MO", "KANSAS CITY", state={"elected": False}))
    assert amounts["MO-SIT"] == 0
    assert amounts["MO-KC-LIT"] == Decimal("10.00")


def test_exemption_from_the_states_tax_is_none_from_the_citys():
    assert _amounts(_paycheck("PA", "PHILADELPHIA", state={"exempt": True}))[
        "PA-PHILADELPHIA-LIT"
    ] == Decimal("37.40")


def test_a_tax_that_follows_the_states_is_shown_with_nothing():
    paycheck = _paycheck("NY", "NYC", state={"elected": False}, explain=True)
    line = next(line for line in paycheck.lines if line.code == "NY-NYC-LIT")
    assert (line.amount, line.taxable_wages, line.subject_wages) == (0, 0, Decimal("1000.00"))
    explanation = next(found for found in paycheck.explanations if found.code == "NY-NYC-LIT")
    assert explanation.steps[0].label == "nothing is withheld"


def test_reciprocity_lifts_the_states_tax_but_not_the_county_of_work():
    paycheck = _paycheck(
        "IN",
        residence_state="OH",
        state={"elected": True, "reciprocity_certificate_on_file": True, "county_of_work_jan1": "64"},
    )
    amounts = _amounts(paycheck)
    assert "IN-SIT" not in amounts
    assert amounts["IN-64-LIT"] == Decimal("5.00")


def test_reciprocity_leaves_a_required_city_tax():
    paycheck = _paycheck(
        "PA",
        "PHILADELPHIA-NONRESIDENT",
        residence_state="NJ",
        state={"reciprocity_certificate_on_file": True},
    )
    assert _amounts(paycheck)["PA-PHILADELPHIA-NR-LIT"] == Decimal("34.30")


def test_the_employers_share_is_a_cost_and_no_deduction():
    day = datetime.date(2026, 6, 5)
    with_tax = _paycheck("CO", "DENVER", pay_date=day)
    without = _paycheck("CO", pay_date=day)
    payers = {line.code: line.payer for line in with_tax.lines}
    assert payers["CO-DENVER-OPT-EE"] == "employee"
    assert payers["CO-DENVER-OPT-ER"] == "employer"
    assert without.net_pay - with_tax.net_pay == Decimal("5.75")
    assert with_tax.employer_taxes - without.employer_taxes == Decimal("4.00")


def test_a_fee_never_makes_net_pay_negative():
    paycheck = _paycheck(
        "WV",
        "HUNTINGTON",
        regular_wages=Decimal("3.00"),
        employer=EmployerProfile(fica_liable=False),
        state={"elected": False},
    )
    assert paycheck.net_pay == 0
    assert _amounts(paycheck)["WV-HUNTINGTON-CSF"] == Decimal("3.00")
    assert _amounts(_paycheck("WV", "HUNTINGTON", regular_wages=Decimal(0)))["WV-HUNTINGTON-CSF"] == 0


# --- the year ----------------------------------------------------------------------------------------------------


def test_the_local_services_tax_ends_at_its_maximum():
    def withheld(before: str) -> Decimal:
        return _amounts(_paycheck("PA", "LST", ytd_tax={"PA-LST": Decimal(before)}))["PA-LST"]

    assert withheld("51.00") == Decimal("1.00")
    assert withheld("51.40") == Decimal("0.60")
    assert withheld("52.00") == 0


@pytest.mark.parametrize("frequency", ["weekly", "biweekly", "semimonthly"])
def test_a_tax_of_the_month_is_taken_once_in_every_month(frequency):
    if frequency == "semimonthly":
        paydays = [datetime.date(2026, month, day) for month in range(1, 13) for day in (15, 28)]
    else:
        step = {"weekly": 7, "biweekly": 14}[frequency]
        paydays = [datetime.date(2026, 1, 2) + datetime.timedelta(days=step * n) for n in range(364 // step)]
    months = [
        day.month
        for day in paydays
        if _amounts(_paycheck("CO", "DENVER", pay_date=day, pay_frequency=frequency))["CO-DENVER-OPT-EE"]
    ]
    assert months == list(range(1, 13))


def test_a_tax_of_the_month_cannot_be_taken_from_daily_pay():
    with pytest.raises(TaxInputError) as caught:
        _paycheck("CO", "DENVER", pay_frequency="daily")
    assert caught.value.field == "pay_frequency"


def test_philadelphia_changes_on_the_first_of_july():
    def withheld(day: datetime.date, locality: str) -> Decimal:
        paycheck = _paycheck("PA", locality, pay_date=day)
        return next(line.amount for line in paycheck.lines if line.code.startswith("PA-PHILADELPHIA"))

    assert withheld(datetime.date(2025, 6, 30), "PHILADELPHIA") == Decimal("37.50")
    assert withheld(datetime.date(2025, 7, 1), "PHILADELPHIA") == Decimal("37.40")
    assert withheld(datetime.date(2025, 6, 30), "PHILADELPHIA-NONRESIDENT") == Decimal("34.40")
    assert withheld(datetime.date(2025, 7, 1), "PHILADELPHIA-NONRESIDENT") == Decimal("34.30")


def test_a_figure_that_is_not_confirmed_is_said_to_be():
    sure = _paycheck("MI", "DETROIT")
    unsure = _paycheck("MI", "BENTON-HARBOR")
    assert not any("-LIT" in text for text in sure.limitations)
    assert any(
        text.startswith("MI-BENTON-HARBOR-LIT: The value of an exemption was not found")
        for text in unsure.limitations
    )


def test_a_place_whose_tax_has_ended_bears_none():
    ended = {"effective_to": datetime.date(2026, 3, 31)}
    taxes = _compiled(ended)
    assert len(taxes.choose(("X",), {}, datetime.date(2026, 3, 31))[1]) == 1
    assert taxes.choose(("X",), {}, datetime.date(2026, 4, 1))[1] == []


# --- the rule files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"payer": "city"},
        {"household": "maybe"},
        {"method": "guess"},
        {"figures": {"rate": Decimal("0.01"), "floor": 5}},
        {"unknown": 1},
    ],
)
def test_a_mistake_in_a_rule_file_is_refused(wrong):
    with pytest.raises(RuleError):
        _compiled(wrong)


@pytest.mark.parametrize("year", [2025, 2026])
def test_every_local_tax_is_whole_and_listed(year):
    day = datetime.date(year, 8, 7)
    rulebook = rulebook_for(day)
    for state in rulebook.supported_states:
        local = rulebook.state(state).local_taxes
        listed = list_localities(state, day)
        assert len(listed) == sum(tax.in_force(day) for tax in local) + len(local.places)
        for tax in local:
            assert tax.code.startswith(f"{state}-")
            for amount in (tax.supplemental_rate, tax.year_maximum):
                assert amount is None or type(amount) is int
        for entry in listed:
            assert entry.rate
            assert entry.sources
            assert entry.household in ("required", "voluntary", "follows_state")
            if entry.household == "voluntary":
                assert entry.note
            paycheck = calculate_paycheck(
                PaycheckInput(
                    pay_date=day,
                    pay_frequency="weekly",
                    regular_wages=Decimal("1000"),
                    work_state=state,
                    localities=(entry.locality,),
                )
            )
            line = next(line for line in paycheck.lines if line.code == entry.code)
            assert type(line.amount_cents) is int
            assert line.amount > 0


def test_a_listing_says_what_a_person_needs_to_know():
    entry = next(
        entry for entry in list_localities("MI", DAY) if entry.locality == "GRAND-RAPIDS-NONRESIDENT"
    )
    assert entry.rate == "0.75 % of wages after $600.00 a year for each exemption"
    assert (entry.applies_to, entry.household, entry.payer) == ("nonresidents", "voluntary", "employee")
    assert [entry.locality for entry in list_localities("MD", DAY)][15] == "MONTGOMERY-COUNTY"
    assert list_localities("TX", DAY) == ()
    with pytest.raises(TaxInputError) as caught:
        list_localities("XX", DAY)
    assert caught.value.field == "state"
