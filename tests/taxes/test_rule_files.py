"""Rule files: all that are shipped are sound, and one that is not is refused by file and key, never half used."""

import datetime
import shutil
from pathlib import Path

import pytest

import hearthpay.taxes
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.errors import RuleError
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import Rulebook, rulebook_of, supported_years
from hearthpay.taxes.thresholds import liability_thresholds
from tests.cases import every_case
from tests.worlds.rule_editions import edition

RULES = Path(hearthpay.taxes.__file__).parent / "rules"
YEAR = 2026
#: Every rule file of every year, as (year, folder, name).
STATE_FILES = sorted(RULES.glob("[0-9]*/states/*.toml"))


def _name(path: Path) -> str:
    return str(path.relative_to(RULES))


# --- what is shipped ---------------------------------------------------------------------------------------------


def test_the_years_are_named_as_they_say():
    assert YEAR in supported_years()
    for year in supported_years():
        rulebook = rulebook_of(year)
        assert rulebook.tax_year == year
        assert rulebook.version.startswith(f"{year}.")


def test_every_state_file_loads_and_says_where_its_figures_are_printed():
    with every_case() as case:
        for path in STATE_FILES:
            with case(_name(path)):
                _check_figures_are_sourced(path)


def _check_figures_are_sourced(path):
    year = int(path.parts[-3])
    rulebook = Rulebook(path.parent.parent)
    rules = rulebook.state(path.stem)
    assert rules.state == path.stem
    assert rules.name == STATES[path.stem]
    lines = [*rules.contributions, *rules.local_taxes]
    sourced = [*lines, *rules.reciprocity.values()]
    if rules.income_tax is not None:
        sourced += rules.income_tax.versions
        assert rules.income_tax.code.startswith(f"{path.stem}-")
        assert any(
            version.effective_from <= datetime.date(year, 1, 1) for version in rules.income_tax.versions
        )
    for entry in sourced:
        assert entry.sources
        assert all(source.title and source.date for source in entry.sources)
        assert all(
            not source.url or source.url.startswith(("https://", "http://")) for source in entry.sources
        )
    for line in lines:
        assert line.effective_to is None or line.effective_from <= line.effective_to
    for line in rules.contributions:
        assert 0 <= line.rate < 10**9


@pytest.mark.parametrize("year", supported_years())
def test_federal_law_says_where_its_figures_are_printed(year):
    rulebook = rulebook_of(year)
    for entry in (rulebook.income_tax, *rulebook.contributions):
        assert entry.sources
        assert all(source.title and source.url and source.date for source in entry.sources)


def test_one_code_has_one_version_on_any_day():
    with every_case() as case:
        for path in STATE_FILES:
            with case(_name(path)):
                rules = Rulebook(path.parent.parent).state(path.stem)
                days = {line.effective_from for line in rules.contributions}
                days |= {line.effective_to for line in rules.contributions if line.effective_to is not None}
                for day in {day + datetime.timedelta(days=shift) for day in days for shift in (-1, 0, 1)}:
                    codes = [line.code for line in rules.contributions_on(day)]
                    assert len(codes) == len(set(codes)), day


def test_the_version_is_a_fingerprint_of_every_file(tmp_path):
    folder = _copy(tmp_path)
    before = Rulebook(folder).version
    assert Rulebook(folder).version == before
    for name in ("us.toml", "states/TX.toml", "local/NY.toml"):
        path = folder / name
        path.write_text(path.read_text("utf-8") + "\n# one more word\n", "utf-8")
        after = Rulebook(folder).version
        assert after != before
        before = after


def test_a_new_threshold_of_a_year_changes_the_fingerprint_of_that_year_alone(tmp_path):
    before = {year: rulebook_of(year).version for year in supported_years()}

    def threshold(text: str) -> str:
        assert "cash_wages = 3100" in text
        return text.replace("cash_wages = 3100", "cash_wages = 3200")

    with edition(tmp_path, ("household_thresholds.toml", threshold)):
        after = {year: rulebook_of(year).version for year in supported_years()}
        assert liability_thresholds("TX", 2027)[0].cents == 320_000
    assert {year for year in before if after[year] != before[year]} == {2027}
    assert liability_thresholds("TX", 2027)[0].cents == 310_000

    def commented(text: str) -> str:
        return "# A remark.\n" + text

    with edition(tmp_path / "again", ("household_thresholds.toml", commented)):
        assert {year: rulebook_of(year).version for year in supported_years()} == before


def test_an_edition_says_when_it_was_released(tmp_path):
    assert rulebook_of(2026).released == datetime.date(2026, 11, 22)
    # Not the date of the year whose figures stand in.
    assert rulebook_of(2027).released == datetime.date(2026, 11, 23)
    assert rulebook_of(2027).edition == "2027.1"
    with pytest.raises(RuleError) as caught:
        Rulebook(_break(tmp_path, "us.toml", "released = 2026-11-22\n", ""))
    assert (caught.value.file, caught.value.key) == ("us.toml", "released")


# --- what is refused ---------------------------------------------------------------------------------------------


def _copy(tmp_path: Path) -> Path:
    """Return a copy of the year's federal file, a few states and New York's local taxes."""
    folder = tmp_path / str(YEAR)
    (folder / "states").mkdir(parents=True)
    (folder / "local").mkdir()
    for name in (
        "us.toml",
        "states/TX.toml",
        "states/OH.toml",
        "states/NY.toml",
        "states/GA.toml",
        "local/NY.toml",
    ):
        shutil.copy(RULES / str(YEAR) / name, folder / name)
    return folder


def _break(tmp_path: Path, name: str, old: str, new: str) -> Path:
    """Return a copy of the rules in which the first ``old`` of a file reads ``new``."""
    folder = _copy(tmp_path)
    path = folder / name
    text = path.read_text("utf-8")
    assert old in text, f"{old!r} is no longer in {name}: choose another place to break"
    path.write_text(text.replace(old, new, 1), "utf-8")
    return folder


TEXAS = "states/TX.toml"
OHIO = "states/OH.toml"
GEORGIA = "states/GA.toml"
NEW_YORK = "states/NY.toml"
#: file, what it says, what it says instead, the key that the error names
BROKEN = [
    pytest.param(TEXAS, "rate = 0.027", "rate = 0.027\nrat = 1", "contribution[0].rat", id="unknown key"),
    pytest.param(TEXAS, 'name = "Texas"', 'name = "Texas"\nnickname = "T"', "nickname", id="unknown top key"),
    pytest.param(
        OHIO, "[income_tax]", "[income_tax]\nrate = 0.1", "income_tax.rate", id="unknown in a table"
    ),
    pytest.param(
        OHIO,
        "over = true",
        "over = true\nunder = true",
        "income_tax.version[0].figures.under",
        id="unknown figure",
    ),
    pytest.param(TEXAS, "rate = 0.027", "", "contribution[0].rate", id="missing rate"),
    pytest.param(TEXAS, 'source = ["twc-rates"]', "", "contribution[0].source", id="missing source"),
    pytest.param(TEXAS, 'source = ["twc-rates"]', "source = []", "contribution[0].source", id="no source"),
    pytest.param(
        TEXAS, 'source = ["twc-rates"]', 'source = "hearsay"', "contribution[0].source", id="unlisted source"
    ),
    pytest.param(
        TEXAS, 'source = ["twc-rates"]', "source = 7", "contribution[0].source", id="source no name"
    ),
    pytest.param(TEXAS, 'date = "2025-12"', "", "sources.twc-rates.date", id="source without date"),
    pytest.param(TEXAS, 'title = "', 'titel = "', "sources.twc-rates.title", id="source without title"),
    pytest.param(
        TEXAS,
        'date = "2025-12"',
        'date = "2025-12"\npage = 3',
        "sources.twc-rates.page",
        id="source unknown key",
    ),
    pytest.param(
        TEXAS, 'confidence = "high"', 'confidence = "sure"', "contribution[0].confidence", id="confidence"
    ),
    pytest.param(TEXAS, 'confidence = "high"', "", "contribution[0].confidence", id="missing confidence"),
    pytest.param(TEXAS, "rate = 0.027", "rate = -0.027", "contribution[0].rate", id="negative rate"),
    pytest.param(TEXAS, "rate = 0.027", 'rate = "0.027"', "contribution[0].rate", id="rate as text"),
    pytest.param(TEXAS, "rate = 0.027", "rate = true", "contribution[0].rate", id="rate as flag"),
    pytest.param(TEXAS, "rate = 0.027", "rate = 0.0270000001", "contribution[0].rate", id="rate too fine"),
    pytest.param(
        TEXAS, "wage_base = 9000", "wage_base = -1", "contribution[0].wage_base", id="negative money"
    ),
    pytest.param(
        TEXAS, "wage_base = 9000", "wage_base = 9000.005", "contribution[0].wage_base", id="half cents"
    ),
    pytest.param(
        TEXAS, "wage_base = 9000", 'wage_base = "9,000"', "contribution[0].wage_base", id="money text"
    ),
    pytest.param(TEXAS, 'payer = "employer"', 'payer = "boss"', "contribution[0].payer", id="payer"),
    pytest.param(TEXAS, '"state_unemployment"', '"unemployment"', "contribution[0].category", id="category"),
    pytest.param(TEXAS, '"spouse", ', '"wife", ', "contribution[0].exempt_relationships", id="relationship"),
    pytest.param(
        TEXAS, '"spouse", ', '"none", ', "contribution[0].exempt_relationships", id="no relationship"
    ),
    pytest.param(
        TEXAS,
        "effective_from = 2026-01-01",
        'effective_from = "2026"',
        "contribution[0].effective_from",
        id="date as text",
    ),
    pytest.param(
        TEXAS,
        "effective_from = 2026-01-01",
        "effective_from = 2026-01-01T00:00:00",
        "contribution[0].effective_from",
        id="date with time",
    ),
    pytest.param(
        TEXAS, 'code = "TX-SUI-ER"', 'code = "CA-SUI-ER"', "contribution", id="code of another state"
    ),
    pytest.param(
        OHIO,
        "[26050, 0.0299, 462.39]",
        "[126050, 0.0299, 462.39]",
        "income_tax.version[0].figures.brackets.any",
        id="descending brackets",
    ),
    pytest.param(
        OHIO,
        "[26050, 0.0299, 462.39]",
        "[0, 0.0299, 462.39]",
        "income_tax.version[0].figures.brackets.any",
        id="equal brackets",
    ),
    pytest.param(
        OHIO,
        "[0, 0.01775, 0]",
        "[1, 0.01775, 0]",
        "income_tax.version[0].figures.brackets.any",
        id="brackets that begin above 0",
    ),
    pytest.param(
        OHIO,
        "[26050, 0.0299, 462.39]",
        "[26050, 2.99, 462.39]",
        "income_tax.version[0].figures.brackets.any",
        id="bracket rate in percent",
    ),
    pytest.param(
        OHIO,
        "[26050, 0.0299, 462.39]",
        "[26050, 0.0299, -462.39]",
        "income_tax.version[0].figures.brackets.any",
        id="negative base tax",
    ),
    pytest.param(
        OHIO,
        "[26050, 0.0299, 462.39]",
        "[26050, 0.0299]",
        "income_tax.version[0].figures.brackets.any",
        id="row of two",
    ),
    pytest.param(
        OHIO,
        "effective_from = 2026-08-01",
        "effective_from = 2026-01-01",
        "income_tax.version",
        id="two versions from one day",
    ),
    pytest.param(
        OHIO,
        "effective_from = 2026-01-01",
        "effective_from = 2026-09-01",
        "income_tax.version",
        id="versions in the wrong order",
    ),
    pytest.param(
        OHIO,
        "effective_from = 2026-08-01",
        "effective_from = 2027-08-01",
        "income_tax.version[1].effective_from",
        id="version of another year",
    ),
    pytest.param(
        TEXAS,
        "effective_from = 2026-01-01",
        "effective_from = 2025-01-01",
        "contribution[0].effective_from",
        id="year carried over in silence",
    ),
    pytest.param(
        OHIO,
        "[26050, 0.0299, 462.39]",
        "[26050, 0.0299, 472.39]",
        "income_tax.version[0].figures.brackets.any",
        id="base tax that does not join",
    ),
    pytest.param(
        OHIO,
        'method = "annualized"',
        'method = "guesswork"',
        "income_tax.version[0].method",
        id="unknown method",
    ),
    pytest.param(
        OHIO,
        'method = "annualized"',
        'method = "../flat"',
        "income_tax.version[0].method",
        id="method with a path",
    ),
    pytest.param(
        OHIO, 'household = "voluntary"', 'household = "maybe"', "income_tax.household", id="household rule"
    ),
    pytest.param(
        OHIO, 'selected_by = "period_end"', 'selected_by = "mood"', "income_tax.selected_by", id="selected by"
    ),
    pytest.param(
        OHIO,
        'kind = "count"',
        'kind = "number"',
        "income_tax.certificate.fields.exemptions.kind",
        id="entry kind",
    ),
    pytest.param(
        OHIO, 'certificate = "IT 4NR"', "", "reciprocity[0].certificate", id="agreement without form"
    ),
    pytest.param(OHIO, 'source = "it-4nr"', "", "reciprocity[0].source", id="agreement without source"),
    pytest.param(
        GEORGIA,
        'default = "A_single"',
        'default = "Z"',
        "income_tax.certificate.fields.marital_status.default",
        id="default that is no value",
    ),
    pytest.param(
        GEORGIA,
        'aliases = { A = "A_single"',
        'aliases = { A = "Z"',
        "income_tax.certificate.fields.marital_status.aliases",
        id="alias of no value",
    ),
    pytest.param(
        NEW_YORK,
        "weekly_maximum = 0.60",
        "weekly_maximum = -0.60",
        "contribution[0].weekly_maximum",
        id="negative maximum",
    ),
    pytest.param(
        TEXAS, "rate = 0.027", "rate = 2.7", "contribution[0].rate", id="contribution rate in percent"
    ),
    pytest.param(
        OHIO,
        "supplemental_rate = 0.0275",
        "supplemental_rate = 2.75",
        "income_tax.version[0].supplemental_rate",
        id="supplemental rate in percent",
    ),
    pytest.param(
        GEORGIA,
        "\nrate = 0.0519",
        "\nrate = 5.19",
        "income_tax.version[0].figures.rate",
        id="flat rate in percent",
    ),
    pytest.param(TEXAS, "wage_base = 9000", "wage_base = nan", "contribution[0].wage_base", id="money nan"),
    pytest.param(TEXAS, "wage_base = 9000", "wage_base = inf", "contribution[0].wage_base", id="money inf"),
    pytest.param(TEXAS, "rate = 0.027", "rate = inf", "contribution[0].rate", id="rate inf"),
    pytest.param(
        GEORGIA,
        "weekly = 76.92",
        "wekly = 76.92",
        "income_tax.version[0].figures.allowance.wekly",
        id="allowance of an unknown frequency",
    ),
    pytest.param(
        GEORGIA,
        '\nA_single = "single"',
        '\nA_sinle = "single"',
        "income_tax.version[0].figures",
        id="column of an unknown choice",
    ),
    pytest.param(
        OHIO,
        "allowances = { exemptions = 650 }",
        "allowances = { exemption = 650 }",
        "income_tax.version[0].figures",
        id="allowance of an unknown entry",
    ),
    pytest.param(
        NEW_YORK,
        'column_field = "filing_status"',
        'column_field = "status"',
        "income_tax.version[0].figures",
        id="column_field of no entry",
    ),
    pytest.param(
        NEW_YORK,
        'allowance_fields = ["allowances"]',
        'allowance_fields = ["allowance"]',
        "income_tax.version[0].figures",
        id="allowance_fields of no entry",
    ),
    pytest.param(
        GEORGIA,
        'status_field = "marital_status"',
        'status_field = "status"',
        "income_tax.certificate.status_field",
        id="status_field of no entry",
    ),
    pytest.param(
        GEORGIA,
        '{ single = "A_single",',
        '{ single = "Z",',
        "income_tax.certificate.from_federal",
        id="from_federal to no value",
    ),
    pytest.param(
        GEORGIA,
        '{ single = "A_single",',
        "{ ",
        "income_tax.certificate.from_federal.single",
        id="from_federal without a status",
    ),
    pytest.param(
        TEXAS, 'liability = "sui"', 'liability = "siu"', "contribution", id="liability that nothing switches"
    ),
    pytest.param(
        TEXAS,
        "wage_base = 9000",
        'wage_base = 9000\nytd_code = "TX-SIU"',
        "contribution",
        id="ytd_code of no line",
    ),
    pytest.param(
        TEXAS,
        "effective_from = 2026-01-01",
        "effective_from = 2026-02-01\neffective_to = 2026-01-31",
        "contribution[0].effective_to",
        id="ends before it begins",
    ),
    pytest.param(TEXAS, 'name = "Texas"', 'name = "Utah"', "name", id="name of another state"),
    pytest.param(
        OHIO, 'residence = "IN"', 'residence = "ZZ"', "reciprocity[0].residence", id="agreement with no state"
    ),
    pytest.param(
        OHIO,
        'residence = "KY"',
        'residence = "IN"',
        "reciprocity[1].residence",
        id="two agreements with one state",
    ),
    pytest.param(
        OHIO, 'code = "OH-SIT"', 'code = "PA-SIT"', "income_tax.code", id="income tax code of another state"
    ),
    pytest.param(
        OHIO,
        'code = "OH-TCSF-ER"',
        'code = "OH-SUI-ER"',
        "contribution",
        id="one code twice from the same day",
    ),
    pytest.param(
        TEXAS,
        "wage_base = 9000",
        "wage_base = 9000\nwage_floor = 100",
        "contribution[0].wage_floor",
        id="base and floor",
    ),
]


@pytest.mark.parametrize(("name", "old", "new", "key"), BROKEN)
def test_a_broken_state_file_is_refused_by_file_and_key(tmp_path, name, old, new, key):
    folder = _break(tmp_path, name, old, new)
    path = folder / name
    with pytest.raises(RuleError) as caught:
        Rulebook(folder).state(path.stem)
    error = caught.value
    assert (error.file, error.key) == (path.name, key)
    assert str(error) == f"{path.name}: {key}: {error.message}"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("tax_year = 2026", "", "tax_year"),
        ("tax_year = 2026", "tax_year = 2026.5", "tax_year"),
        ("tax_year = 2026", "tax_year = 2026\ntax_rate = 1", "tax_rate"),
        ("weekly = 52", 'weekly = "52"', "pay_periods.weekly"),
        ("allowance = 4300", "allowance = -4300", "income_tax.allowance"),
        ("supplemental_rate = 0.22", "", "income_tax.supplemental_rate"),
        ("[7500, 0.1, 0]", "[75000, 0.1, 0]", "income_tax.standard.single"),
        ("[7500, 0.1, 0]", "[7500, 10, 0]", "income_tax.standard.single"),
        ("rate = 0.062", 'rate = "6.2 %"', "contribution[0].rate"),
        ("rate = 0.062", "rate = 6.2", "contribution[0].rate"),
        ("line_1g]\nsingle = 8600", "line_1g]\nsinle = 8600", "income_tax.line_1g.sinle"),
        ("weekly = 52", "weekly = 0", "pay_periods.weekly"),
        ('source = ["pub-926", "ssa-base"]', 'source = ["pub-926", "x"]', "contribution[0].source"),
    ],
)
def test_a_broken_federal_file_is_refused_by_file_and_key(tmp_path, old, new, key):
    with pytest.raises(RuleError) as caught:
        Rulebook(_break(tmp_path, "us.toml", old, new))
    assert (caught.value.file, caught.value.key) == ("us.toml", key)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('state = "NY"', 'state = "NJ"', "state"),
        ('locality = "NYC"', "", "local[0].locality"),
        ('method = "per_period"', 'method = "magic"', "local[0].method"),
        ("rate = 0.1675", "rate = -0.1675", "local[1].figures.rate"),
        ('certificate_flag = "nyc_resident"', 'certificate_flag = "nyc"', "local"),
        ('"nyc_additional_withholding"', '"nyc_extra"', "local"),
        ('code = "NY-NYC-LIT"', 'code = "NJ-NYC-LIT"', "local"),
        (
            "{ from = 77, exclusion = 58 }",
            "{ from = 77, excl = 58 }",
            "local[2].figures.bands.weekly[1].excl",
        ),
    ],
)
def test_a_broken_local_file_is_refused_by_key(tmp_path, old, new, key):
    with pytest.raises(RuleError) as caught:
        Rulebook(_break(tmp_path, "local/NY.toml", old, new)).state("NY")
    assert (Path(caught.value.file).name, caught.value.key) == ("NY.toml", key)


@pytest.mark.parametrize("text", ["rate = = 1", "[[contribution]\n", 'state = "TX', "a = 1\na = 2", "\x00"])
def test_what_is_no_toml_is_refused_by_file(tmp_path, text):
    folder = _copy(tmp_path)
    (folder / TEXAS).write_text(text, "utf-8")
    with pytest.raises(RuleError) as caught:
        Rulebook(folder).state("TX")
    assert (caught.value.file, caught.value.key) == ("TX.toml", "(whole file)")


def test_two_versions_of_a_line_that_overlap_are_refused(tmp_path):
    folder = _copy(tmp_path)
    path = folder / TEXAS
    text = path.read_text("utf-8")
    line = text[text.index("[[contribution]]") :]
    later = line.replace("effective_from = 2026-01-01", "effective_from = 2026-07-01")
    path.write_text(f"{text}\n{later}", "utf-8")
    with pytest.raises(RuleError, match="overlap") as caught:
        Rulebook(folder).state("TX")
    assert (caught.value.file, caught.value.key) == ("TX.toml", "contribution")

    # The first ends, but after the second begins: both would be charged from July on.
    late = text.replace(
        "effective_from = 2026-01-01", "effective_from = 2026-01-01\neffective_to = 2026-12-31"
    )
    path.write_text(f"{late}\n{later}", "utf-8")
    with pytest.raises(RuleError, match="overlap"):
        Rulebook(folder).state("TX")

    ended = text.replace(
        "effective_from = 2026-01-01", "effective_from = 2026-01-01\neffective_to = 2026-06-30"
    )
    path.write_text(f"{ended}\n{later}", "utf-8")
    rules = Rulebook(folder).state("TX")
    assert len(rules.contributions) == 2
    for day, first in (
        (datetime.date(2026, 6, 30), datetime.date(2026, 1, 1)),
        (datetime.date(2026, 7, 1), datetime.date(2026, 7, 1)),
    ):
        (in_force,) = [line for line in rules.contributions_on(day) if line.code == "TX-SUI-ER"]
        assert in_force.effective_from == first


def test_a_state_without_a_file_is_not_supported_and_no_other_year_stands_in(tmp_path):
    rulebook = Rulebook(_copy(tmp_path))
    assert rulebook.supported_states == ("GA", "NY", "OH", "TX")
    with pytest.raises(TaxInputError) as caught:
        rulebook.state("CA")
    assert (caught.value.field, caught.value.code) == ("work_state", "unsupported_jurisdiction")
    with pytest.raises(TaxInputError) as caught:
        rulebook.state("PR", "residence_state")
    assert (caught.value.field, caught.value.code) == ("residence_state", "validation_error")
