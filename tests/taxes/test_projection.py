"""A year that is not final: what is published counts, the rest is last year's and says so."""

from datetime import date
from decimal import Decimal

from hearthpay.taxes import PaycheckInput, calculate_paycheck
from hearthpay.taxes.projection import project, project_local
from hearthpay.taxes.rulebook import rulebook_of

BASE = {
    "state": "XX",
    "sources": {"old": {"title": "old"}},
    "income_tax": {"code": "XX-SIT", "form": "W", "version": ["2026"]},
    "contribution": [
        {"code": "XX-A", "rate": 1},
        {"code": "XX-B", "rate": 2},
        {"code": "XX-ENDED", "effective_to": date(2026, 12, 31)},
    ],
}


def test_published_figures_replace_the_base_and_the_rest_is_kept():
    published = {
        "state": "XX",
        "sources": {"new": {"title": "new"}},
        "contribution": [{"code": "XX-A", "rate": 9}, {"code": "XX-NEW", "rate": 3}],
    }
    content, kept = project(published, BASE, 2027)
    assert [line["code"] for line in content["contribution"]] == ["XX-B", "XX-A", "XX-NEW"]
    assert kept == {"XX-SIT", "XX-B"}
    assert set(content["sources"]) == {"old", "new"}


def test_a_published_income_tax_keeps_the_form():
    content, kept = project({"income_tax": {"version": ["2027"]}}, BASE, 2027)
    assert content["income_tax"] == {"code": "XX-SIT", "form": "W", "version": ["2027"]}
    assert "XX-SIT" not in kept


def test_what_the_year_before_said_of_its_figures_does_not_stand():
    base = BASE | {"finality": [{"codes": ["XX-A"]}]}
    content, _ = project({}, base, 2027)
    assert "finality" not in content


def test_local_taxes_are_kept_by_code():
    base = {"local": [{"code": "XX-P"}, {"code": "XX-Q", "effective_to": date(2026, 12, 31)}]}
    content, kept = project_local({"local": [{"code": "XX-R"}]}, base, 2027)
    assert [tax["code"] for tax in content["local"]] == ["XX-P", "XX-R"]
    assert kept == {"XX-P"}


def test_2027_uses_what_is_published_and_names_the_rest():
    paycheck = calculate_paycheck(
        PaycheckInput(
            pay_date=date(2027, 1, 8),
            pay_frequency="weekly",
            regular_wages=Decimal(1000),
            work_state="NY",
            ytd={"US-SS-EE": Decimal("192000")},
        )
    )
    lines = {line.code: line for line in paycheck.lines}
    assert lines["US-SS-EE"].taxable_wages == 300  # 192,300 is published
    assert lines["NY-PFL-EE"].amount == Decimal("4.52")
    assert "US-FIT" in paycheck.provisional
    assert "NY-SIT" in paycheck.provisional
    assert "NY-PFL-EE" not in paycheck.provisional
    assert not paycheck.unknown
    assert any("2027" in limitation for limitation in paycheck.limitations)


def test_in_complete_years_nothing_is_provisional():
    for year in (2025, 2026):
        rulebook = rulebook_of(year)
        assert rulebook.is_final
        assert not rulebook.finality
        assert not rulebook.state("NY").unsettled


def test_an_assessment_that_ends_is_not_carried_into_the_next_year():
    codes = {line.code for line in rulebook_of(2027).state("GA").contributions}
    assert "GA-ADMIN-ER" not in codes
    assert "GA-SUI-ER" in codes
