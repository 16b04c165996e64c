"""The parties on a document: the household and the employee with addresses and tax numbers, and the document's marks.

Numbers come in full from the vault, and are shown in full only if a form requires it. Every other document shows the
last four digits of a Social Security number (Reg. 301.6109-4; the employer's EIN is never truncated).
"""

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hearthpay.employers.commands import PostalAddress

APPLIED_FOR: Final = "Applied For"
_BETWEEN: Final = re.compile(r"[\s-]")


def _digits(number: str | None, what: str) -> str | None:
    """Return the nine digits of a tax number; raises `ValueError`, whose text does not include it."""
    if number is None:
        return None
    digits = _BETWEEN.sub("", number)
    if len(digits) != 9 or not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"{what} has nine digits")
    return digits


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseholdIdentity:
    """The household as employer. Raises `ValueError` if a number doesn't have nine digits."""

    name: str
    address: PostalAddress | None = None
    ein: str | None = field(default=None, repr=False)
    """None if applied for but not assigned yet."""

    ssn: str | None = field(default=None, repr=False)
    """The number of the person who files Schedule H; only that form shows it."""

    phone: str | None = None
    email: str | None = None
    contact_name: str | None = None
    """The SSA's contact person; None for `name`."""

    business_number: str | None = None
    """The state's business number, where stubs show it (Oregon)."""

    state_accounts: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Withholding account by state, for box 15."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ein", _digits(self.ein, "an EIN"))
        object.__setattr__(self, "ssn", _digits(self.ssn, "a Social Security number"))

    @property
    def ein_in_full(self) -> str:
        """The number in written form, or the note that it is applied for."""
        return APPLIED_FOR if self.ein is None else f"{self.ein[:2]}-{self.ein[2:]}"

    @property
    def ssn_in_full(self) -> str:
        """The number in written form; empty if it isn't known."""
        return "" if self.ssn is None else f"{self.ssn[:3]}-{self.ssn[3:5]}-{self.ssn[5:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmployeeIdentity:
    """The employee. Raises `ValueError` if the Social Security number doesn't have nine digits."""

    first_name: str
    last_name: str
    middle_name: str = ""
    suffix: str = ""
    address: PostalAddress | None = None
    ssn: str | None = field(default=None, repr=False)
    """None if unknown; a Form W-2 then says that it is applied for."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ssn", _digits(self.ssn, "a Social Security number"))

    @property
    def name(self) -> str:
        """All names on one line."""
        return " ".join(
            part for part in (self.first_name, self.middle_name, self.last_name, self.suffix) if part
        )

    @property
    def ssn_in_full(self) -> str:
        """The number in written form, or the note that it is applied for."""
        return APPLIED_FOR if self.ssn is None else f"{self.ssn[:3]}-{self.ssn[3:5]}-{self.ssn[5:]}"

    @property
    def ssn_truncated(self) -> str:
        """The last four digits, as allowed on employee copies, or the note that it is applied for."""
        return APPLIED_FOR if self.ssn is None else f"XXX-XX-{self.ssn[5:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperMarks:
    """The marks on any document."""

    test: bool = False
    """Whether it belongs to a sandbox: each page says TEST."""

    version: int = 1
    """From 2 on, it replaces an earlier version."""

    issued_on: datetime.date | None = None


def missing_for_w2(household: HouseholdIdentity, employee: EmployeeIdentity) -> tuple[str, ...]:
    """Return the names of what a Form W-2 needs and is missing; a Social Security number may be applied for."""
    details = {
        "household.address": household.address,
        "household.ein": household.ein,
        "employee.address": employee.address,
    }
    return tuple(name for name, value in details.items() if value is None)


def missing_for_schedule_h(household: HouseholdIdentity) -> tuple[str, ...]:
    """Return the names of what Schedule H needs and is missing; an EIN may be applied for."""
    return ("household.address",) if household.address is None else ()


def address_lines(address: PostalAddress | None) -> list[str]:
    """Return an address as written on an envelope, without the name; empty if there is none."""
    if address is None:
        return []
    lines = [address.line1, address.line2 or "", f"{address.city}, {address.state} {address.zip}"]
    return [line for line in lines if line]
