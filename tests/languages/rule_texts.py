"""The texts of the rule files that a page, an email or a document shows, and the names among them that stay English."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from hearthpay.duties.employment_rules import employment_rules
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.rules import duties_of
from hearthpay.insurance.requirements import rules_of
from hearthpay.registrations.accounts import accounts_of
from hearthpay.taxes.agencies import agencies
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.taxes.thresholds import liability_thresholds, supported_threshold_years

PROPER_NAMES: Final = frozenset(
    {
        "Business Application and Registration (BAR)",
        "Business License Application",
        "Combined Employer Registration",
        "Delaware Business One Stop",
        "Employer Status Report",
        "Idaho Business Registration (IBR)",
        "MassTaxConnect",
        "MiUI",
        "MyBizColorado",
        "MyTax Illinois (REG-1)",
        "NEworks",
        "One Stop Business Portal",
        "Oregon Business Registry",
        "SUITS",
        "Tax 21",
        "The SOURCE",
        "UI eServices",
        "Unemployment Insurance Tax and Claims System",
        "Unemployment Tax Registration",
        "Uplink Employer Self Service",
        "myIowaUI",
    }
)
"""Names of the agencies' forms, sites and programs, which a Spanish page shows as the agency writes them."""

_WORDS_OF_SENTENCES: Final = re.compile(
    r"\b(the|a|an|or|by|household|household's|insurer|carrier|kept|employee)\b"
)
"""What no agency has in its name in lower case."""

_WORD: Final = re.compile(r"\b[a-z]{2,}")
"""A form that is called by words, such as "annual report", not by a number."""


def of_certificates() -> set[str]:
    """What the withholding form says of the states' certificates: notes, and what each entry is on the form."""
    return {text for text in _certificates() if text}


def _certificates() -> Iterator[str]:
    for year in supported_years():
        rulebook = rulebook_of(year)
        for state in rulebook.supported_states:
            tax = rulebook.state(state).income_tax
            if tax is not None:
                yield tax.household_note
                yield tax.form.form if re.search(r"[a-z]{2,}", tax.form.form) else ""
                yield from (each.note for each in tax.form.fields.values() if each.kind != "refused")


def of_state_accounts() -> set[str]:
    """What the page of state accounts says of each account."""
    found: set[str] = set()
    for state in STATES:
        for account in accounts_of(state).accounts:
            found |= {account.label, account.apply_with, account.timing, account.note, account.number.note}
    return found - {""}


def of_deadlines() -> set[str]:
    """What the calendar says of each deadline, and the names of accounts that a household files under."""
    found: set[str] = set()
    for each in (FEDERAL, *STATES):
        rules = duties_of(each)
        found |= {duty.note for duty in rules.duties}
        found |= {duty.form for duty in rules.duties if duty.form and _WORD.search(duty.form)}
        found |= {account.label for account in rules.accounts}
    hire = employment_rules()
    found |= {hire.w4.note, *(duty.note for duty in hire.at_hire)}
    found |= {rule.quit for rule in hire.last_wages.values()}
    return found - {""}


def of_insurance() -> set[str]:
    """What the page of a policy says of the law."""
    return {
        text for state in STATES for rule in rules_of(state) for text in (rule.words, rule.penalty) if text
    }


def of_thresholds() -> set[str]:
    """What the tax page says of each threshold."""
    return {
        each.rule
        for year in supported_threshold_years()
        for state in STATES
        for each in liability_thresholds(state, year)
    }


def of_recipients() -> set[str]:
    """To whom a household pays or reports, where that is no agency's name."""
    found = {name for each in agencies().values() for name in (each.name, each.full_name)}
    found |= {duty.agency for each in (FEDERAL, *STATES) for duty in duties_of(each).duties}
    found |= {rule.fund for state in STATES for rule in rules_of(state) if rule.fund}
    return {name for name in found if _WORDS_OF_SENTENCES.search(name)}


@cache
def texts_of_rule_files() -> frozenset[str]:
    """Return every text of a rule file that is shown to people."""
    return frozenset(
        of_certificates()
        | of_state_accounts()
        | of_deadlines()
        | of_insurance()
        | of_thresholds()
        | of_recipients()
    )
