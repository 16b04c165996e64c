"""Checks the portal's forms field by field.

A problem says what is wrong with a field and never repeats the entry; numbers are never put back into a page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast, get_args

from pydantic import ValidationError

from hearthpay.banking.nacha.records import AccountType
from hearthpay.employers.commands import PostalAddress
from hearthpay.employers.schemas import Address
from hearthpay.languages.catalogue import mark
from hearthpay.security.vault_numbers import InvalidNumberError, NumberKind, SecretNumber, parse_number
from hearthpay.web.refusal_words import REQUIRED, SECRET_NUMBER, problem_on_page
from hearthpay.wire.problems import problems_of

Problems = Mapping[str, str]
"""What is wrong, by field name."""

# Each is in the catalogs as it is here.
FIELD_PROBLEMS: Final = (
    REQUIRED,
    SECRET_NUMBER,
    mark("The account numbers don't match. Enter both again."),
    mark("Choose checking or savings."),
    mark("A routing number has nine digits."),
    mark("That routing number isn't valid. Check all nine digits."),
    mark("A bank account number has 4 to 17 digits."),
    mark("Enter a valid account number."),
    mark("A Social Security number has nine digits."),
    mark("That Social Security number was never issued. Check all nine digits."),
    mark("That Social Security number is a printed sample. Enter your own."),
    mark("An ITIN has nine digits."),
    mark("That ITIN isn't valid. Check all nine digits."),
    mark("Enter a ZIP code, like 94110."),
    mark("Enter a two-letter state code, like CA."),
    mark("Use 1 to 100 characters."),
    mark("Remove the characters that can't be printed."),
)
"""The problems that the parsers of numbers and addresses report."""

_SEPARATORS: Final = str.maketrans("", "", " -\u2010\u2011\u2012\u2013\u00a0")


class FormError(Exception):
    """Some fields are invalid."""

    def __init__(self, problems: Problems) -> None:
        super().__init__("the form has problems")
        self.problems: Final = problems


@dataclass(frozen=True, slots=True)
class BankAccountEntry:
    """The account that wages go to."""

    routing: SecretNumber
    account: SecretNumber
    account_type: AccountType


def read_bank_account(form: Mapping[str, str]) -> BankAccountEntry:
    """Return the bank account from the form; the account number must have been typed twice alike. Raises FormError."""
    problems: dict[str, str] = {}
    routing = _number("bank_routing", form, "routing_number", problems)
    account = _number("bank_account", form, "account_number", problems)
    repeated = _digits(form, "account_number_again")
    if not repeated:
        problems["account_number_again"] = REQUIRED
    elif account is not None and account.reveal() != repeated:
        problems["account_number_again"] = "The account numbers don't match. Enter both again."
    account_type = form.get("account_type", "")
    if account_type not in get_args(AccountType):
        problems["account_type"] = "Choose checking or savings."
    if routing is None or account is None or problems:
        raise FormError(problems)
    return BankAccountEntry(routing, account, cast(AccountType, account_type))


def read_tax_number(form: Mapping[str, str]) -> SecretNumber:
    """Return the number from the form, an ITIN if it begins with 9. Raises FormError."""
    problems: dict[str, str] = {}
    kind: NumberKind = "itin" if _digits(form, "tax_number").startswith("9") else "ssn"
    number = _number(kind, form, "tax_number", problems)
    if number is None:
        raise FormError(problems)
    return number


def read_address(form: Mapping[str, str]) -> PostalAddress:
    """Return the mailing address, which must be filled in. Raises FormError."""
    problems: dict[str, str] = {}
    address = read_postal_address(form, problems)
    if address is None:
        raise FormError(problems or missing_address())
    return address


def missing_address() -> dict[str, str]:
    """Return the problems of an address of which nothing was filled in: one for each field that is needed."""
    return {
        f"address_{name}": REQUIRED for name, field in Address.model_fields.items() if field.is_required()
    }


def read_postal_address(form: Mapping[str, str], problems: dict[str, str]) -> PostalAddress | None:
    """Return the address; None if nothing was filled in, or something is wrong, which goes into `problems`."""
    typed = {name: form.get(f"address_{name}", "").strip() for name in Address.model_fields}
    filled = {name: value for name, value in typed.items() if value}
    if not filled:
        return None
    needed = {name for name, field in Address.model_fields.items() if field.is_required()}
    try:
        return Address.model_validate(filled).to_command()
    except ValidationError as error:
        findings = error.errors(include_url=False, include_input=False)
        for each in problems_of(findings):
            missing = each.field in needed - filled.keys()
            problems[f"address_{each.field}"] = REQUIRED if missing else _sentence(problem_on_page(each))
        return None


def _number(
    kind: NumberKind, form: Mapping[str, str], field: str, problems: dict[str, str]
) -> SecretNumber | None:
    digits = _digits(form, field)
    if not digits:
        problems[field] = REQUIRED
        return None
    try:
        return parse_number(kind, digits)
    except InvalidNumberError as error:
        problems[field] = str(error)
        return None


def _sentence(problem: str) -> str:
    """Return a parser's problem as FIELD_PROBLEMS has it."""
    return f"{problem[:1].upper()}{problem[1:]}"


def _digits(form: Mapping[str, str], field: str) -> str:
    """Return the text of a field, without the spaces and hyphens that group digits."""
    return form.get(field, "").strip().translate(_SEPARATORS)
