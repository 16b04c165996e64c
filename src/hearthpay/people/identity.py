"""Normalizes the addresses and names that people enter to the one form in which they are stored."""

from typing import Final, Literal

from email_validator import EmailNotValidError, validate_email

from hearthpay.access.refusal import invalid
from hearthpay.mail.wording import holds_invisible, is_control
from hearthpay.wire.secrecy import address_holds_a_secret, holds_a_secret

Language = Literal["en", "es"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "es")

_LONGEST_NAME: Final = 100
_LONGEST_ADDRESS: Final = 254


def read_address(text: str) -> str:
    """Return the address, in lower case and ASCII. Raises `validation_error` for an invalid one.

    Letters of other scripts that look like Latin ones don't make a second address: a host that has them is stored and
    shown in its Internet form (`xn--…`), and the part before the @ is ASCII.
    """
    try:
        found = validate_email(
            text.strip(),
            check_deliverability=False,
            test_environment=True,
            allow_smtputf8=False,
            strict=True,
        )
    except EmailNotValidError:
        raise invalid("email", "Enter an email address, like maria@example.com.") from None
    address = (found.ascii_email or found.normalized).lower()
    if len(address) > _LONGEST_ADDRESS:
        raise invalid("email", "Enter something shorter.")
    return address


def read_new_address(text: str) -> str:
    """Return the address as `read_address` does, for one that is stored for the first time.

    Raises `validation_error` for one that contains a Social Security number, too.
    """
    address = read_address(text)
    if address_holds_a_secret(address):
        raise invalid("email", "looks like a Social Security or bank account number")
    return address


def masked(address: str) -> str:
    """Return the address as shown to people who may not read it: the first letter, and the host."""
    before, _, host = address.rpartition("@")
    return f"{before[:1]}…@{host}"


def read_name(text: str, field: str = "name") -> str:
    """Return a name without surrounding spaces. Raises `validation_error` for an invalid one."""
    name = " ".join(text.split())
    if not 1 <= len(name) <= _LONGEST_NAME or any(is_control(each) for each in name):
        raise invalid(field, f"Use 1 to {_LONGEST_NAME} characters.")
    if holds_invisible(name):
        raise invalid(field, "Remove the characters that can't be printed.")
    if holds_a_secret(name):
        raise invalid(field, "looks like a Social Security or bank account number")
    return name


def read_language(text: str) -> Language:
    """Return the language. Raises `validation_error` for an unsupported one."""
    for language in LANGUAGES:
        if text == language:
            return language
    raise invalid("language", f"Choose one of {', '.join(LANGUAGES)}.")
