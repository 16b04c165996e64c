"""The table of agencies: sound, complete, and no rule names an agency that is not in it."""

import datetime
import tomllib
from decimal import Decimal

import pytest

from hearthpay.taxes.agencies import FILE, agencies, read_agency
from hearthpay.taxes.errors import RuleError
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.rulebook import Rulebook, rulebook_of, supported_years


@pytest.mark.completeness
def test_every_agency_is_named_and_its_site_sourced():
    assert len(agencies()) > 150
    for agency in agencies().values():
        assert agency.state in (*STATES, "US")
        assert agency.name
        assert agency.full_name
        if agency.site is not None:
            assert agency.site.startswith("https://"), agency
            assert agency.source is not None
            assert agency.source.title
            assert agency.source.url.startswith(("https://", "http://"))


def test_no_two_agencies_of_a_state_have_one_name():
    names = [(agency.state, agency.name) for agency in agencies().values()]
    assert len(names) == len(set(names))


def test_every_agency_has_a_tax():
    used = set()
    for path in FILE.parent.glob("[0-9]*/**/*.toml"):
        content = tomllib.loads(path.read_text("utf-8"))
        rules = [
            *content.get("contribution", ()),
            *content.get("local", ()),
            *content.get("shared", {}).values(),
        ]
        rules.append(content.get("income_tax", {}))
        used |= {rule["agency"] for rule in rules if "agency" in rule}
    assert used == set(agencies())


def test_one_agency_is_read_as_all_are():
    for agency in agencies().values():
        assert read_agency(RuleTable("", "", {"agency": agency.id}, {}), agency.state) == agency.name
    for unknown in ("", "in", "in-dor]\n[us-irs", "sources"):
        with pytest.raises(RuleError):
            read_agency(RuleTable("", "", {"agency": unknown}, {}), "IN")


def test_lines_show_the_agencys_name():
    rules = rulebook_of(2026).state("IN")
    assert rules.income_tax is not None
    assert rules.income_tax.agency == "IN DOR" == agencies()["in-dor"].name
    assert {tax.agency for tax in rules.local_taxes} == {"IN DOR"}


@pytest.mark.parametrize(
    ("agency", "message"),
    [("IRS", "is not listed"), ("in-dor", "is an agency of IN")],
)
def test_a_rule_names_an_agency_of_its_state_or_of_the_nation(agency, message):
    with pytest.raises(RuleError, match=message):
        read_agency(RuleTable("OH.toml", "", {"agency": agency}, {}), "OH")
    assert read_agency(RuleTable("OH.toml", "", {"agency": "us-irs"}, {}), "OH") == "IRS"


# --- what rules share --------------------------------------------------------------------------------------------

_COUNTIES = """
state = "IN"

[sources.law]
title = "Law"
date = "2026"

[shared.county]
agency = "in-dor"
effective_from = 2026-01-01
source = "law"
confidence = "high"
method = "flat_rate"
supplemental_at_own_rate = true
figures = { each_exemption_rounded = true }

[[local]]
like = "county"
locality = "A"
code = "IN-A"
name = "A"
figures = { rate = 0.01 }

[[local]]
like = "county"
locality = "B"
code = "IN-B"
name = "B"
confidence = "low"
supplemental_rate = 0.03
figures = { rate = 0.02, each_exemption_rounded = false }
"""


def _counties(tmp_path, written: str):
    folder = tmp_path / "2026"
    for name in ("us.toml", "states/IN.toml"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((FILE.parent / "2026" / name).read_bytes())
    (folder / "local").mkdir()
    (folder / "local" / "IN.toml").write_text(written, "utf-8")
    return Rulebook(folder).state("IN").local_taxes.taxes


def test_a_rule_has_what_it_shares_unless_it_says_otherwise(tmp_path):
    a, b = _counties(tmp_path, _COUNTIES)
    assert (a.confidence, a.supplemental_rate, a.method.rate, a.method.each_rounded) == (
        "high",
        10**7,
        10**7,
        True,
    )
    assert (b.confidence, b.supplemental_rate, b.method.rate, b.method.each_rounded) == (
        "low",
        3 * 10**7,
        2 * 10**7,
        False,
    )
    assert b.effective_from == datetime.date(2026, 1, 1)


@pytest.mark.parametrize(
    ("written", "instead", "message"),
    [
        ('like = "county"', 'like = "country"', "is not a table under"),
        ('like = "county"\n', "", "no rule is like it"),
        ("[shared.county]", "[shared.county]\nrates = 1", "rates: is not a key"),
        ('"flat_rate"\nsupp', '"fee"\nsupp', "each_exemption_rounded|is not a key|is missing"),
    ],
)
def test_what_is_shared_is_read_as_strictly(tmp_path, written, instead, message):
    with pytest.raises(RuleError, match=message):
        _counties(tmp_path, _COUNTIES.replace(written, instead))


def test_only_a_flat_rate_is_that_of_supplemental_wages(tmp_path):
    fee = _COUNTIES.replace('"flat_rate"', '"fee"').replace(
        "figures = { rate = 0.01 }", "figures = { annual = 10 }"
    )
    fee = fee.replace("figures = { each_exemption_rounded = true }\n", "")
    with pytest.raises(RuleError, match="only a flat rate"):
        _counties(tmp_path, fee)


def test_indianas_counties_tax_supplemental_wages_at_their_rate():
    for year in supported_years():
        taxes = rulebook_of(year).state("IN").local_taxes.taxes
        assert len(taxes) == 92
        assert all(tax.supplemental_rate == tax.method.rate for tax in taxes)
        assert {tax.method.exemptions["personal_exemptions"] for tax in taxes} == {int(Decimal(1000) * 100)}
