"""What kinds of accounts, their frequencies and answers are called by a person."""

from collections.abc import Mapping
from typing import Final

from hearthpay.languages.catalogue import mark

ACCOUNT_WORDS: Final[Mapping[str, str]] = {
    "sui": mark("Unemployment insurance"),
    "withholding": mark("Income tax withheld"),
    "sdi": mark("Disability insurance"),
    "pfml": mark("Paid family and medical leave"),
    "other": mark("Another account"),
    "estimated-tax": mark("Estimated tax of your own (Form 1040-ES)"),
}
"""By the types of registrations, and by the names of accounts that a household files under."""

POLICY_WORDS: Final[Mapping[str, str]] = {
    "workers_compensation": mark("Workers’ compensation"),
    "disability": mark("Disability and paid family leave policy"),
}
"""By the kinds of insurance policies."""

FREQUENCY_WORDS: Final[Mapping[str, str]] = {
    "quarterly": mark("every quarter"),
    "annual": mark("once a year"),
    "monthly": mark("every month"),
    "instalments": mark("in four instalments"),
    "own_withholding": mark("by withholding from wages of your own"),
}
"""By the frequencies of the duties' rule files."""
