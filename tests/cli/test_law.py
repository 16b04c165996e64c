"""`hearthpay coverage`, `explain-line`, `localities`: the law as the rule files hold it."""

from pathlib import Path

import pytest

from hearthpay.duties.coverage_page import duties_page
from hearthpay.duties.labor_coverage_page import labor_page
from hearthpay.taxes.coverage import coverage, law_behind
from hearthpay.taxes.coverage_page import coverage_page
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from tests.database.household import NOW
from tests.worlds.commands import hearthpay

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "coverage.md"


def test_the_coverage_page_is_not_stale():
    assert PAGE.read_text("utf-8") == coverage_page(), (
        "run: hearthpay coverage --markdown > docs/reference/coverage.md"
    )


def test_the_page_of_duties_is_not_stale():
    text = PAGE.with_name("coverage-duties.md").read_text("utf-8")
    assert text == duties_page(), "run: hearthpay coverage --duties > docs/reference/coverage-duties.md"
    for state, name in STATES.items():
        assert f"## {state} — {name}" in text


def test_the_page_of_labor_law_is_not_stale():
    text = PAGE.with_name("coverage-labor.md").read_text("utf-8")
    assert text == labor_page(), "run: hearthpay coverage --labor > docs/reference/coverage-labor.md"
    for row in (
        "| CA | Oakland | 2026-01-01 | 17.34 |",
        "| ID | 10 working days or the next payday, whichever is sooner |",
    ):
        assert row in text


def test_every_jurisdiction_is_covered_this_year():
    assert set(rulebook_of(2026).supported_states) == set(STATES)


def test_coverage_lists_one_state():
    result = hearthpay("coverage", "--state", "ny", "--year", "2026")
    assert result.returncode == 0
    lines = result.stdout.decode().splitlines()
    assert all(line.startswith("NY ") for line in lines)
    assert any("NY-PFL-EE" in line and "high" in line for line in lines)


@pytest.mark.parametrize("year", supported_years())
def test_every_line_has_its_law_and_sources(year):
    rulebook = rulebook_of(year)
    for row in coverage(rulebook):
        state = None if row.jurisdiction == "US" else row.jurisdiction
        laws = law_behind(row.code, rulebook, state)
        assert laws
        for law in laws:
            assert law.facts
            assert law.sources
            assert all(source.title and source.date for source in law.sources)


@pytest.mark.parametrize(
    ("code", "state", "facts"),
    [
        ("US-ADDMED-EE", None, {"On wages of a year above": "200,000.00", "Wage base of a year": "none"}),
        ("NY-DBL-EE", "NY", {"At most a week": "0.60"}),
        ("HI-TDI-EE", "HI", {"At most a week": "7.50", "Switched on by": "tdi"}),
        ("TX-SUI-ER", "TX", {"Household's own rate": "takes the place of the new-employer rate"}),
    ],
)
def test_the_law_of_a_line_tells_its_limits(code, state, facts):
    (law,) = law_behind(code, rulebook_of(2026), state)
    assert dict(law.facts).items() >= facts.items()


def test_explain_line_prints_the_law():
    result = hearthpay("explain-line", "NY-PFL-EE", "--year", "2026")
    assert result.returncode == 0
    text = result.stdout.decode()
    assert "Rate: 0.432 %" in text
    assert "95,348.76" in text
    assert "wcb.ny.gov" in text
    tables = hearthpay("explain-line", "OH-SIT", "--state", "OH", "--year", "2026").stdout.decode()
    assert tables.count("In force from") == 2
    assert "by period end" in tables


def test_an_unknown_line_is_named():
    result = hearthpay("explain-line", "ZZ-SIT", at=NOW)
    assert result.returncode == 2
    assert b"state" in result.stderr
    result = hearthpay("explain-line", "US-NONE", at=NOW)
    assert result.returncode == 2
    assert b"code" in result.stderr


def test_a_year_without_a_rulebook_is_named():
    result = hearthpay("coverage", "--year", "1999")
    assert result.returncode == 2
    assert b"year" in result.stderr


def test_localities_lists_codes_rates_and_the_household_rule():
    result = hearthpay("localities", "--state", "ny", at=NOW)
    assert result.returncode == 0
    text = result.stdout.decode()
    assert "NYC" in text
    assert "YONKERS-NONRESIDENT" in text
    assert "for a household" in text
    assert b"No local payroll tax" in hearthpay("localities", "--state", "TX", at=NOW).stdout
    assert hearthpay("localities", "--state", "ZZ", at=NOW).returncode == 2


def test_a_states_name_suggests_its_two_letters():
    result = hearthpay("calculate", "--state", "California", "--annual-wages", "45000", at=NOW)
    assert result.returncode == 2
    assert b"did you mean CA (California)?" in result.stderr


def test_an_incomplete_line_code_suggests_the_lines_that_begin_with_it():
    result = hearthpay("explain-line", "NY-PFL", "--year", "2026")
    assert result.returncode == 2
    assert b"did you mean NY-PFL-EE?" in result.stderr


def test_help_groups_the_commands_by_what_they_are_for():
    text = hearthpay("--help").stdout.decode()
    places = [text.index(group) for group in ("Run a service", "Pay people", "Look things up", "Operate")]
    assert len(places) == 4
    assert "─ Commands ─" not in text
