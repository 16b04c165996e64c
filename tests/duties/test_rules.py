"""The files of duties: sound, complete, and every line of a paycheck is paid by one of them."""

import copy
from fnmatch import fnmatchcase

import pytest

from hearthpay.duties.frequency import AccountLedger, months_of, stretches_of
from hearthpay.duties.rules import FOLDER, PAID, duties_of, read_duties
from hearthpay.registrations.accounts import accounts_of, lines_of_number
from hearthpay.taxes.agencies import agencies
from hearthpay.taxes.errors import RuleError
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rule_file import RuleTable, read_toml
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from tests.cases import every_case

STATE_FILES = sorted((FOLDER / "states").glob("*.toml"))


def test_every_state_has_its_file():
    assert [path.stem for path in STATE_FILES] == sorted(STATES)


def _years(state):
    return [year for year in supported_years() if state in rulebook_of(year).supported_states]


def _codes(state):
    """Every code that a rule file of any year can charge in a state, local taxes included."""
    codes = set()
    for year in _years(state):
        rules = rulebook_of(year).state(state)
        codes |= {line.code for line in rules.contributions if line.code.startswith(f"{state}-")}
        codes |= {tax.code for tax in rules.local_taxes}
        codes |= {rules.income_tax.code} if rules.income_tax is not None else set()
    return codes


def _among(code, patterns):
    return any(fnmatchcase(code, pattern) for pattern in patterns)


def test_every_line_is_paid_under_one_account_whatever_the_frequency():
    """No money without a duty: a line has a return or payment for each frequency, a payee, or may not be withheld."""
    with every_case() as case:
        for state in STATES:
            with case(state):
                _check_accounts_of_lines(state)


def _check_accounts_of_lines(state):
    duties = duties_of(state)
    for line in _codes(state):
        paying = [duty for duty in duties.duties if duty.kind in PAID and _among(line, duty.lines)]
        if _among(line, duties.prohibited) or any(_among(line, payee.lines) for payee in duties.payees):
            assert not paying, line
            continue
        assert len({duty.account for duty in paying}) == 1, line
        account = paying[0].account
        if account is not None:
            assert {each for duty in paying for each in duty.frequencies} == set(
                duties.account(account).frequencies
            ), line


def test_every_line_is_reported_under_one_registration():
    """Whatever is paid to an agency is paid under an account that the household is told to open."""
    with every_case() as case:
        for state in STATES:
            with case(state):
                _check_registrations_of_lines(state)


def _check_registrations_of_lines(state):
    duties = duties_of(state)
    numbers = {account.number.id for account in accounts_of(state).accounts}
    for year in _years(state):
        by_number = {number: lines_of_number(state, number, year) for number in numbers}
        rules = rulebook_of(year).state(state)
        codes = {line.code for line in rules.contributions if line.code.startswith(f"{state}-")}
        codes |= {tax.code for tax in rules.local_taxes}
        codes |= {rules.income_tax.code} if rules.income_tax is not None else set()
        for line in codes:
            if _among(line, duties.prohibited):
                continue
            assert sum(line in lines for lines in by_number.values()) == 1, (year, line)


def test_every_frequency_is_filed_and_can_be_reached():
    with every_case() as case:
        for jurisdiction in ["US", *STATES]:
            with case(jurisdiction):
                _check_frequencies(jurisdiction)


def _check_frequencies(jurisdiction):
    duties = duties_of(jurisdiction)
    for account in duties.accounts:
        filed = {
            each for duty in duties.duties if duty.account == account.name for each in duty.frequencies
        } | ({"own_withholding"} if jurisdiction == "US" else set())
        assert filed == set(account.frequencies), account.name
        for frequency in account.frequencies:
            chosen = stretches_of(account, frequency, AccountLedger(lambda year, month: 0), 2026)
            assert {each.frequency for each in chosen} == {frequency}
        for number, band in enumerate(account.bands):
            floor = account.bands[number - 1].below if number else 0
            months = {"month": 1, "quarter": 3, "quarter_before": 3}.get(account.measure, 12)
            monthly = floor // months + 1
            reasons = months_of(
                account, None, AccountLedger(lambda *_, paid=monthly: paid), 2026, has_number=True
            )
            if account.household_rule == "always":
                assert {each.code for each in reasons} == {"household_rule"}
            else:
                assert {each.frequency for each in reasons} == {band.frequency}, (account.name, band)


def test_every_account_is_sourced():
    with every_case() as case:
        for state in STATES:
            with case(state):
                for account in duties_of(state).accounts:
                    assert account.sources, account.name
                    assert account.confidence, account.name


def test_every_line_named_is_a_line():
    with every_case() as case:
        for jurisdiction in ["US", *STATES]:
            with case(jurisdiction):
                codes = {line.code for line in rulebook_of(2026).contributions} | {"US-FIT"}
                for year in (2026, 2027):
                    for state in STATES if jurisdiction == "US" else (jurisdiction,):
                        rules = rulebook_of(year).state(state)
                        codes |= {line.code for line in rules.contributions} | {
                            tax.code for tax in rules.local_taxes
                        }
                        codes |= {rules.income_tax.code} if rules.income_tax is not None else set()
                for duty in duties_of(jurisdiction).duties:
                    for pattern in (*duty.lines, *duty.without_lines):
                        assert any(fnmatchcase(code, pattern) for code in codes), pattern


def test_relatives_are_exempt_from_premiums_as_the_engine_has_it():
    with every_case() as case:
        for state in STATES:
            with case(state):
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


MISTAKES = [
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
]


def test_a_mistake_is_named():
    with every_case() as case:
        for position, (damage, key) in enumerate(MISTAKES):
            with case(position, key):
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
