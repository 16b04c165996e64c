"""The files of the states' accounts: all there, sound, at one with the tax rules, and read strictly."""

import tomllib
from collections import Counter

import pytest

from hearthpay.registrations.accounts import FOLDER, StateAccounts, accounts_of, read_accounts
from hearthpay.taxes.errors import RuleError
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from tests.cases import every_case

#: States whose income tax is withheld from household wages by agreement alone, and the one that forbids it.
BY_AGREEMENT, FORBIDDEN = {"AL", "AR", "OK", "SC"}, "AZ"


def test_every_state_has_its_file_and_nobody_else():
    assert {path.name for path in FOLDER.iterdir()} == {f"{state}.toml" for state in STATES}
    accounts = [account for state in STATES for account in accounts_of(state).accounts]
    by_type = Counter(account.type for account in accounts)
    assert by_type.pop("local") == 64
    assert by_type.total() == 107
    assert set(by_type) == {"sui", "withholding", "sdi", "pfml"}


def test_a_withholding_account_stands_where_a_household_may_withhold():
    with every_case() as case:
        for state in STATES:
            with case(state):
                taxed = rulebook_of(2026).state(state).income_tax is not None
                account = accounts_of(state).account("withholding")
                assert (account is not None) == (taxed and state != FORBIDDEN)
                assert (account is not None and account.voluntary) == (state in BY_AGREEMENT)


@pytest.mark.completeness
def test_every_line_with_a_liability_of_its_own_has_an_account():
    """What is not reported with unemployment insurance needs an account, and no account stands for a line unknown."""
    with every_case() as case:
        for state in STATES:
            with case(state):
                reported = {line for account in accounts_of(state).accounts for line in account.lines}
                known = set()
                for year in supported_years():
                    if state in rulebook_of(year).supported_states:
                        lines = [
                            line
                            for line in rulebook_of(year).state(state).contributions
                            if line.code[:2] == state
                        ]
                        known |= {line.code for line in lines}
                        known |= {tax.code for tax in rulebook_of(year).state(state).local_taxes}
                        assert {line.code for line in lines if line.liability != "sui"} <= reported
                assert reported <= known


def test_each_file_names_where_it_is_from_and_where_to_go():
    with every_case() as case:
        for state in STATES:
            with case(state):
                _check_sources_and_links(state)


def _check_sources_and_links(state: str):
    read = accounts_of(state)
    assert read.sources
    for source in read.sources:
        assert source.title
        assert source.url.startswith(("https://", "http://"))
        assert source.date
    for account in read.accounts:
        assert account.state == state
        assert account.agency.state == state
        assert account.label == account.label.strip()
        assert account.label
    with (FOLDER / f"{state}.toml").open("rb") as file:
        cited = tomllib.load(file)
    assert set(cited["source"]) == set(cited["sources"])


def test_rows_that_share_a_number_name_one_entry():
    shared = {
        (state, number.id): tuple(
            account.type for account in accounts_of(state).accounts if account.number is number
        )
        for state in STATES
        for number in accounts_of(state).numbers
    }
    assert {entry: types for entry, types in shared.items() if len(types) > 1} == {
        ("CA", "edd"): ("sui", "withholding", "sdi"),
        ("DC", "does"): ("sui", "pfml"),
        ("MN", "ui-and-paid-leave"): ("sui", "pfml"),
        ("NJ", "taxpayer-id"): ("sui", "withholding", "sdi"),
        ("NY", "policy"): ("sdi", "pfml"),
        ("OR", "bin"): ("sui", "withholding", "pfml"),
        ("RI", "dlt"): ("sui", "sdi"),
    }


def test_policies_of_insurance_are_told_from_accounts():
    policies = {(a.state, a.type) for state in STATES for a in accounts_of(state).accounts if a.insurance}
    assert policies == {("HI", "sdi"), ("NY", "sdi"), ("NY", "pfml")}


def test_what_is_no_state_has_no_file():
    for state in ("", "ca", "PR", "../CA"):
        with pytest.raises(ValueError, match="is not a US state or DC"):
            accounts_of(state)


SOUND = """
state = "CA"
source = ["guide"]

[sources.guide]
title = "A guide"
url = "https://edd.ca.gov/"
date = "2026"

[[number]]
id = "edd"
format = "###-####-#"
pattern = '\\d{3}-?\\d{4}-?\\d'
confidence = "high"

[[account]]
type = "sdi"
agency = "ca-edd"
label = "Account"
url = "https://edd.ca.gov"
number = "edd"
lines = ["CA-SDI-EE"]
confidence = "high"

[[account]]
type = "sui"
agency = "ca-edd"
label = "Account"
url = "https://edd.ca.gov"
number = "edd"
confidence = "high"
"""


def read(text: str) -> StateAccounts:
    return read_accounts("CA", RuleTable.of("CA.toml", tomllib.loads(text)))


def test_a_sound_file_is_read_in_the_order_of_types():
    assert [account.type for account in read(SOUND).accounts] == ["sui", "sdi"]


UNSOUND = [
    ('state = "CA"', 'state = "NY"', "state: must be CA"),
    ('source = ["guide"]', 'source = ["hearsay"]', "'hearsay' is not listed under"),
    ('source = ["guide"]\n', "", "source: is missing"),
    ('title = "A guide"\n', "", "title: is missing"),
    ('id = "edd"', 'id = "edd"\ncolour = "red"', "colour: is not a key of this table"),
    ('number = "edd"\nlines', 'number = "edd"\nprocessing = "?"\nlines', "processing: is not a key"),
    ('state = "CA"', 'state = "CA"\nyear = 2026', "year: is not a key of this table"),
    ('format = "###-####-#"\n', "", "pattern: needs a format"),
    ('format = "###-####-#"', 'format = "##-####-#"', "pattern: does not match the format"),
    (r"\d{3}-?", r"(\d{3}-?", "pattern: missing"),
    ('confidence = "high"', 'confidence = "sure"', "confidence: must be one of high, medium, low"),
    ('type = "sdi"', 'type = "ett"', "type: must be one of"),
    ('type = "sdi"', 'type = "sui"', "lines: belong to every account but sui and withholding"),
    ('lines = ["CA-SDI-EE"]\n', "", "lines: belong to every account but"),
    ('lines = ["CA-SDI-EE"]', 'lines = ["NY-DBL-EE"]', "'NY-DBL-EE' is not the code of a line of CA"),
    ('lines = ["CA-SDI-EE"]', 'lines = ["CA-SDI"]', "'CA-SDI' is not the code of a line of CA"),
    ('agency = "ca-edd"', 'agency = "EDD"', "agency: is not the id of an agency of CA"),
    ('agency = "ca-edd"', 'agency = "ny-nys-dol"', "agency: is not the id of an agency of CA"),
    ('number = "edd"', 'number = "eddy"', "number: is not the id of a number of this file"),
    ('type = "sdi"', 'type = "sdi"\nvoluntary = true', "voluntary: is for withholding alone"),
    ('url = "https://edd.ca.gov"', 'url = "edd.ca.gov"', "url: must begin with https://"),
    ("[[account]]", '[[number]]\nid = "edd"\nconfidence = "low"\n[[account]]', "'edd' is listed twice"),
    ("[[account]]", '[[number]]\nid = "b"\nconfidence = "low"\n[[account]]', "no account goes by 'b'"),
    ('type = "sui"', 'type = "withholding"', "needs an account for unemployment insurance"),
]


def test_a_file_that_is_not_sound_is_refused():
    with every_case() as case:
        for sound, broken, complaint in UNSOUND:
            with case(sound, broken, complaint):
                assert sound in SOUND
                with pytest.raises(RuleError) as refused:
                    read(SOUND.replace(sound, broken, 1))
                assert complaint in str(refused.value)
                assert str(refused.value).startswith("CA.toml: ")


def test_a_type_may_stand_once():
    second = SOUND[SOUND.rindex("[[account]]") :]
    with pytest.raises(RuleError, match="'sui' is listed twice"):
        read(SOUND + second)
