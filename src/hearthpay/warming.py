"""Loads what the first requests of a process would have to load: rules, duties, accounts, words and templates."""

import datetime

from hearthpay.duties.rules import duties_of
from hearthpay.languages.catalogue import sentences
from hearthpay.registrations.accounts import accounts_of
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.web.pages import compile_templates


def load_for_first_requests(today: datetime.date) -> None:
    """Load the rules of this year and the next, and every state's duties and accounts; takes about a second."""
    for year in {today.year, today.year + 1} & set(supported_years()):
        rulebook_of(year)
    duties_of("US")
    for state in STATES:
        duties_of(state)
        accounts_of(state)
    sentences("es")
    compile_templates()
