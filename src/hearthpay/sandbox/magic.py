"""The closed lists of test values, and the test numbers that they stand for.

The sandbox's bank decides by an account's last four digits (`banking.magic_numbers`), so a value is a name for such
an ending. Nobody enters a digit here: the stored number is derived from the record's own id, so that two records
never share a number unless they should.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import UUID

from hearthpay.access.refusal import Refusal, invalid
from hearthpay.banking.accounts import AccountDetails
from hearthpay.banking.return_codes import return_codes
from hearthpay.employers.schemas import EinStatus
from hearthpay.security.vault_numbers import SecretNumber, parse_number

_T = TypeVar("_T")

ROUTING: Final = "021000021"
_ACCOUNT: Final = "9999000"
"""The start of every test account; its ending follows."""


@dataclass(frozen=True, slots=True)
class SandboxAccount:
    """A bank account of the sandbox: the bank's response to its payments, and whether it is tested first."""

    ending: str
    prenote: bool = False

    def details(self) -> AccountDetails:
        """Return the account's numbers, as its owner would enter them."""
        number = parse_number("bank_account", _ACCOUNT + self.ending)
        return AccountDetails(parse_number("bank_routing", ROUTING), number, "checking", "Sandbox Bank")


DISCONNECTED: Final = "disconnected"

_COMMON: Final[Mapping[str, SandboxAccount | None]] = {
    "verified": SandboxAccount("1000"),
    "verification_pending": SandboxAccount("1000", prenote=True),
    "verification_fails": SandboxAccount("9003", prenote=True),
    DISCONNECTED: None,
}
_CHANGES: Final[Mapping[str, SandboxAccount | None]] = {
    f"corrected_{code.lower()}": SandboxAccount(f"80{code[1:]}")
    for code in ("C01", "C02", "C03", "C05", "C06", "C07")
}


def _returned(prefix: str, *codes: str) -> dict[str, SandboxAccount | None]:
    unknown = set(codes) - set(return_codes().reasons)
    if unknown:
        raise ValueError(f"no reasons for a return: {unknown}")
    return {f"{prefix}_returned_{code.lower()}": SandboxAccount(f"90{code[1:]}") for code in codes}


HOUSEHOLD_ACCOUNTS: Final[Mapping[str, SandboxAccount | None]] = {
    **_COMMON,
    **_returned("debit", "R01", "R02", "R03", "R04", "R07", "R08", "R09", "R10", "R16", "R20", "R29"),
    **_CHANGES,
}
"""The values of a household's account; None: the account is disconnected."""

EMPLOYEE_ACCOUNTS: Final[Mapping[str, SandboxAccount | None]] = {
    **_COMMON,
    **_returned("credit", "R02", "R03", "R04", "R16", "R20", "R23"),
    **_CHANGES,
}
"""The values of an employee's account."""

EINS: Final[Mapping[str, EinStatus]] = {"applied": "pending", "refused": "none", "assigned": "approved"}
"""The IRS's answer to a household's application for a number."""

TAX_NUMBERS: Final = ("ssn", "itin", "ssn_shared")
"""An employee's own Social Security number or ITIN; or one shared by all of the household's employees with this
value.
"""


def chosen(values: Mapping[str, _T], magic: str) -> _T:
    """Return what the value stands for. Raises `validation_error` naming `magic`, with all accepted values."""
    try:
        return values[magic]
    except KeyError:
        raise _not_listed(values) from None


def not_listed_words(values: Iterable[str]) -> str:
    """Return the message for a value that isn't accepted; it repeats nothing of what was sent."""
    return f"must be one of {', '.join(values)}; real numbers are never taken here"


def _not_listed(values: Iterable[str]) -> Refusal:
    return invalid("magic", not_listed_words(values))


def ein_of(employer_id: UUID) -> SecretNumber:
    """Return the test EIN of a household: 99 and seven digits derived from its id."""
    return parse_number("ein", f"99{_digits(employer_id, 'ein', 9_999_999):07}")


def tax_number_of(magic: str, employer_id: UUID, employee_id: UUID) -> SecretNumber:
    """Return an employee's test number; raises `validation_error` for an unknown value.

    The Social Security numbers are of areas 734 to 749, from which none had been assigned when numbers became random
    in June 2011: no adult worked under one by then (SSA, "Social Security Number Randomization").
    """
    if magic not in TAX_NUMBERS:
        raise _not_listed(TAX_NUMBERS)
    if magic == "itin":
        serial = _digits(employee_id, "itin", 99 * 9999)
        return parse_number("itin", f"9{1 + serial // 9999 % 99:02}70{1 + serial % 9999:04}")
    serial = _digits(employer_id if magic == "ssn_shared" else employee_id, "ssn", 16 * 99 * 9999)
    area, rest = 734 + serial % 16, serial // 16
    return parse_number("ssn", f"{area}{1 + rest // 9999 % 99:02}{1 + rest % 9999:04}")


def _digits(whose: UUID, kind: str, most: int) -> int:
    """Return a number from 1 to `most` that is always the same for one record, and looks like no other's."""
    digest = hashlib.sha256(f"hearthpay sandbox {kind} {whose}".encode()).digest()
    return 1 + int.from_bytes(digest[:8]) % most
