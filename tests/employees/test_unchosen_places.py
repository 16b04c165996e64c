"""Which employees are asked for the place of a local tax, and what their addresses say of it."""

from datetime import date
from types import SimpleNamespace

import pytest

from hearthpay.employees.missing_localities import county_of, unchosen_place

TODAY = date(2026, 11, 20)


def record(state: str, **changed: object) -> SimpleNamespace:
    facts = {
        "pay_frequency": "weekly",
        "work_state": state,
        "residence_state": state,
        "localities": [],
        "federal_withholding": {},
        "state_withholding": {},
    }
    return SimpleNamespace(**facts | changed)


@pytest.mark.parametrize(
    ("state", "city", "code", "suggested"),
    [
        ("IN", "Carmel", "county_not_chosen", "Hamilton County income tax"),
        ("IN", "South Bend", "county_not_chosen", "St. Joseph County income tax"),
        ("KY", "Louisville", "city_not_chosen", "Louisville Metro occupational license tax"),
        ("OH", "Columbus", "municipality_not_chosen", "Columbus income tax"),
        ("MO", "Kansas City", "city_not_chosen", "Kansas City earnings tax"),
    ],
)
def test_a_city_with_a_tax_that_nobody_chose_is_asked_for(
    state: str, city: str, code: str, suggested: str
) -> None:
    found = unchosen_place(record(state), [city, None], TODAY)
    assert found is not None
    assert (found.code, found.suggested) == (code, (suggested,))


def test_nothing_is_asked_where_it_is_settled_or_there_is_no_such_tax() -> None:
    assert unchosen_place(record("TX"), ["Austin"], TODAY) is None
    assert unchosen_place(record("OH", localities=["COLUMBUS"]), ["Columbus"], TODAY) is None
    elsewhere = unchosen_place(record("OH"), ["Nowhere"], TODAY)
    assert elsewhere is not None
    assert elsewhere.suggested == ()


def test_every_county_named_here_has_a_tax() -> None:
    from hearthpay.employees.missing_localities import _counties
    from hearthpay.taxes import rulebook_for

    taxes = rulebook_for(TODAY).state("IN").local_taxes
    assert [county for county in _counties()["IN"].values() if taxes.named(county) is None] == []
    assert county_of("IN", "carmel") == "HAMILTON COUNTY"
    assert county_of("OH", "Columbus") is None
