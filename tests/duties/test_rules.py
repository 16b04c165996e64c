"""The files of duties: sound, complete, and every line of a paycheck is paid by one of them."""

import copy
from fnmatch import fnmatchcase

import pytest

from hearthpay.duties.rules import FOLDER, PAID, duties_of, read_duties
from hearthpay.taxes.agencies import agencies
from hearthpay.taxes.errors import RuleError
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rule_file import RuleTable, read_toml
from hearthpay.taxes.rulebook import rulebook_of

INSURED = {"NY-DBL-EE", "NY-PFL-EE", "HI-TDI-EE"}
"""Premiums that an insurer bills, on no date of the law."""

NOT_YET = {"AL-SIT", "AR-SIT", "AZ-SIT", "OK-SIT", "SC-SIT"}
"""Income tax of states that register no household for withholding: no due date is known for it."""

STATE_FILES = sorted((FOLDER / "states").glob("*.toml"))


def test_every_state_has_its_file():
    assert [path.stem for path in STATE_FILES] == sorted(STATES)


@pytest.mark.parametrize("state", STATES)
def test_every_line_is_paid_once_whatever_the_frequency(state):
    duties = duties_of(state)
    rules = rulebook_of(2026).state(state)
    lines = {line.code for line in rules.contributions if line.code.startswith(f"{state}-")}
    if rules.income_tax is not None:
        lines.add(rules.income_tax.code)
    for line in lines - INSURED - NOT_YET:
        paying = [
            duty
            for duty in duties.duties
            if duty.kind in PAID and any(fnmatchcase(line, pattern) for pattern in duty.lines)
        ]
        assert len({duty.account for duty in paying}) == 1, line
        by = [duty.frequency for duty in paying]
        account = paying[0].account
        wanted = (None,) if account is None else duties.account(account).frequencies
        assert sorted(map(str, by)) == sorted(map(str, wanted)), line


@pytest.mark.parametrize("jurisdiction", ["US", *STATES])
def test_every_line_named_is_a_line(jurisdiction):
    codes = {line.code for line in rulebook_of(2026).contributions} | {"US-FIT"}
    for year in (2026, 2027):
        for state in STATES if jurisdiction == "US" else (jurisdiction,):
            rules = rulebook_of(year).state(state)
            codes |= {line.code for line in rules.contributions} | {tax.code for tax in rules.local_taxes}
            codes |= {rules.income_tax.code} if rules.income_tax is not None else set()
    for duty in duties_of(jurisdiction).duties:
        for pattern in (*duty.lines, *duty.without_lines):
            assert any(fnmatchcase(code, pattern) for code in codes), pattern


@pytest.mark.parametrize("state", STATES)
def test_relatives_are_exempt_from_premiums_as_the_engine_has_it(state):
    exempt = {
        line.code: frozenset(line.exempt_relationships)
        for year in (2026, 2027)
        for line in rulebook_of(year).state(state).contributions
        if line.liability == "always"
    }
    for duty in duties_of(state).duties:
        for code in set(duty.lines) & set(exempt):
            assert duty.exempt_relationships == exempt[code]


def test_offices_are_named_in_full():
    assert duties_of("CA").duties[0].agency == agencies()["ca-edd"].full_name
    for jurisdiction in ("US", *STATES):
        for duty in duties_of(jurisdiction).duties:
            assert duty.agency
            assert duty.sources
            for source in duty.sources:
                assert source.title
                assert source.url.startswith(("https://", "http://"))


@pytest.mark.parametrize("jurisdiction", ["XX", "", "../us", "ca"])
def test_a_place_without_duties_is_a_key_error(jurisdiction):
    with pytest.raises(KeyError):
        duties_of(jurisdiction)


def _set(key, value):
    def damage(duty):
        duty[key] = value

    return damage


def _drop(key):
    def damage(duty):
        del duty[key]

    return damage


@pytest.mark.parametrize(
    ("damage", "key"),
    [
        (_set("wen", ["sui"]), "wen"),
        (_set("when", []), "when"),
        (_set("when", ["rain"]), "when"),
        (_set("kind", "favour"), "kind"),
        (_set("agency", "ny-nys-dol"), "agency"),
        (_set("agency", "nobody"), "agency"),
        (_set("period", "week"), "period"),
        (_set("frequency", "monthly"), "frequency"),
        (_set("account", "other"), "frequency"),
        (_drop("frequency"), "account"),
        (_drop("account"), "account"),
        (_set("source", "hearsay"), "source"),
        (_drop("source"), "source"),
        (_set("confidence", "sure"), "confidence"),
        (_set("link", "http://edd.ca.gov"), "link"),
        (_set("due", {"months_after": 0, "day": 31}), "due.months_after"),
        (_set("due", {"months_after": 1, "day": 32}), "due.day"),
        (_set("due", {"months_after": 1, "day": 31, "hour": 5}), "due.hour"),
        (_set("due", {"years_after": 3, "month": 1, "day": 1}), "due.years_after"),
        (_set("due", {"days_after": 20}), "due.years_after"),
        (_set("id", "wages-annual"), "duty"),
    ],
)
def test_a_mistake_is_named(damage, key):
    content = copy.deepcopy(read_toml(FOLDER / "states" / "CA.toml"))
    read_duties(RuleTable.of("CA.toml", content), "CA")
    damage(content["duty"][0])
    with pytest.raises(RuleError) as refused:
        read_duties(RuleTable.of("CA.toml", content), "CA")
    assert "CA.toml" in str(refused.value)
    assert key in str(refused.value)


def test_instalments_end_with_the_year():
    content = read_toml(FOLDER / "us.toml")
    content["duty"][0]["instalment"].pop()
    with pytest.raises(RuleError, match="the last in December"):
        read_duties(RuleTable.of("us.toml", content), "US")
