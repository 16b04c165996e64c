"""The editions of the rules: recorded as they are, and their changelog made from the record."""

import datetime
from pathlib import Path

import pytest

from hearthpay.taxes.editions import editions_of, file_digests
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.taxes.rules_changelog import changelog_page
from hearthpay.taxes.rules_in_use import rules_in_use
from tests.worlds.commands import hearthpay
from tests.worlds.rule_editions import edition, published

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "rules-changelog.md"


@pytest.mark.parametrize("year", supported_years())
def test_the_newest_edition_is_the_one_in_the_files(year: int) -> None:
    newest = editions_of(year)[0]
    assert (newest.name, newest.released) == (rulebook_of(year).edition, rulebook_of(year).released)
    assert dict(newest.digests) == file_digests(year), f"run: python tools/release_rules.py {year}"


@pytest.mark.parametrize("year", supported_years())
def test_editions_are_listed_newest_first_and_name_lines_of_their_year(year: int) -> None:
    editions = editions_of(year)
    assert sorted((each.released, each.name) for each in editions) == [
        (each.released, each.name) for each in reversed(editions)
    ]
    book = rulebook_of(year)
    for change in (change for each in editions for change in each.changes):
        assert change.jurisdiction in {"US", *STATES}
        assert change.effective_from.year <= year
        assert "TODO" not in change.what + change.concerns
        known = {*book.finality, *(line.code for line in book.contributions), book.income_tax.code}
        if change.jurisdiction != "US":
            rules = book.state(change.jurisdiction)
            known |= {line.code for line in rules.contributions}
            known |= {rules.income_tax.code} if rules.income_tax is not None else set()
        assert set(change.codes) <= known, change


def test_the_changelog_page_is_not_stale() -> None:
    assert PAGE.read_text("utf-8") == changelog_page(), "run: python tools/release_rules.py 2027"
    assert hearthpay("rules", "changelog", "--markdown").stdout.decode() == changelog_page()


def test_a_changed_figure_is_no_longer_the_edition_on_record(tmp_path: Path) -> None:
    with edition(tmp_path, published("CA-SDI-EE", rate="0.011")):
        recorded, actual = editions_of(2027)[0].digests, file_digests(2027)
        assert {file for file in actual if actual[file] != recorded.get(file)} == {"2027/states/CA.toml"}


def test_the_command_lists_a_year() -> None:
    shown = hearthpay("rules", "changelog", "--year", "2027").stdout.decode()
    assert "2027.1, released 2026-11-23" in shown
    assert "2026.1" not in shown
    refused = hearthpay("rules", "changelog", "--year", "2031")
    assert (refused.returncode, b"2031" in refused.stderr) == (2, True)


def test_rules_in_use_are_as_old_as_the_days_since_their_release():
    books = {year: rulebook_of(year) for year in supported_years()}
    for book in books.values():
        ages = [
            {each.tax_year: each.age_days for each in rules_in_use(book.released + datetime.timedelta(days))}
            for days in (-1, 0, 40)
        ]
        assert [age[book.tax_year] for age in ages] == [0, 0, 40]
