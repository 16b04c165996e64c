"""Statuses and payment methods as a form's options: values and names."""

from collections.abc import Sequence

from hearthpay.languages.catalogue import Say
from hearthpay.web.household.payrolls.wage_form import METHODS
from hearthpay.web.status_words import status_word


def method_names(say: Say) -> list[tuple[str, str]]:
    """Return the payment methods with their names."""
    return [(each, say(status_word("method", each).word)) for each in METHODS]


def status_names(say: Say, statuses: Sequence[str]) -> list[tuple[str, str]]:
    """Return states of payrolls with their names; `completed` has that of the day on which it is paid."""
    return [(each, say(status_word("payroll", each).word)) for each in statuses]
