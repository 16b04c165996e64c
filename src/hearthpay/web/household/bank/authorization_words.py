"""The sentences of the authorization to debit the household's account, and how they read in translation."""

from dataclasses import dataclass
from functools import cache
from typing import Final

from hearthpay.banking.authorizations import AUTHORIZATION_TEXT_VERSION, authorization_text
from hearthpay.languages.catalogue import mark

AUTHORIZATION: Final = (
    mark(
        "I authorize the originator named below to debit electronically (ACH) the bank account that I have connected, "
        "for the payrolls that I approve, and to credit it where money comes back to me."
    ),
    mark(
        "Each debit is the net pay, and what is set aside, of the payroll's employees who are paid by direct deposit. "
        "I see the amount and the pay date before I approve the payroll; the debit is made no earlier than the day on "
        "which I approve it. I agree that the amount may differ from payroll to payroll and that my approval is the "
        "notice of it."
    ),
    mark(
        "A debit that my bank returns for want of money may be presented up to two more times. A payroll whose debit "
        "fails is not paid by direct deposit, and I then still owe my employees their wages."
    ),
    mark(
        "The authorization holds for the payrolls that I approve within 30 days. I may revoke it at any time, by "
        "disconnecting the account or by writing to the originator; a debit that has already been sent is stopped "
        "only by my bank."
    ),
    mark("The account is mine, and I may authorize debits of it."),
)
"""The sentences to be read in translation; agreed to is the text as it is recorded."""


@dataclass(frozen=True, slots=True)
class AuthorizationWords:
    """The recorded sentences, how they read in the visitor's language (nothing in English), and the text's version."""

    sentences: tuple[str, ...]
    translated: tuple[str, ...]
    version: str = AUTHORIZATION_TEXT_VERSION


def authorization_words(language: str) -> AuthorizationWords:
    """Return the authorization for a page in the language."""
    return AuthorizationWords(recorded_sentences(), AUTHORIZATION if language != "en" else ())


@cache
def recorded_sentences() -> tuple[str, ...]:
    """Return the numbered sentences of the text; its title and version are shown next to them."""
    parts = [" ".join(part.split()) for part in authorization_text().split("\n\n")]
    found: list[str] = []
    for word in " ".join(part for part in parts if part[:1].isdigit()).split(" "):
        if word == f"{len(found) + 1}.":
            found.append("")
        elif found:
            found[-1] = f"{found[-1]} {word}".strip()
    return tuple(found)
