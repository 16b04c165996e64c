"""Who stands on a paper: the household and the employee with addresses and taxpayer numbers, and what is stamped on it.

Numbers come in full, as the vault holds them, and leave in full only where a form asks for that: every other paper
shows the last four digits of a Social Security number (Reg. 301.6109-4; the employer's EIN is never truncated).
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
    """Return the nine digits of a taxpayer number; raises `ValueError`, which does not repeat it."""
    if number is None:
        return None
    digits = _BETWEEN.sub("", number)
    if len(digits) != 9 or not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"{what} has nine digits")
    return digits


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseholdIdentity:
    """The household as employer. Raises `ValueError` where a number has not nine digits."""

    name: str
    address: PostalAddress | None = None
    ein: str | None = field(default=None, repr=False)
    """None: applied for, not assigned yet."""

    ssn: str | None = field(default=None, repr=False)
    """Of the person who files Schedule H, which alone shows it."""

    phone: str | None = None
    email: str | None = None
    contact_name: str | None = None
    """Whom the SSA may ask; None: `name`."""

    business_number: str | None = None
    """The state's number of the business, where stubs show it (Oregon)."""

    state_accounts: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Withholding account by state, for box 15."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ein", _digits(self.ein, "an EIN"))
        object.__setattr__(self, "ssn", _digits(self.ssn, "a Social Security number"))

    @property
    def ein_in_full(self) -> str:
        """The number as it is written, or that it is applied for."""
        return APPLIED_FOR if self.ein is None else f"{self.ein[:2]}-{self.ein[2:]}"

    @property
    def ssn_in_full(self) -> str:
        """The number as it is written; empty where it is not told."""
        return "" if self.ssn is None else f"{self.ssn[:3]}-{self.ssn[3:5]}-{self.ssn[5:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmployeeIdentity:
    """The employee. Raises `ValueError` where the Social Security number has not nine digits."""

    first_name: str
    last_name: str
    middle_name: str = ""
    suffix: str = ""
    address: PostalAddress | None = None
    ssn: str | None = field(default=None, repr=False)
    """None: not known; a Form W-2 then says that it is applied for."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ssn", _digits(self.ssn, "a Social Security number"))

    @property
    def name(self) -> str:
        """All names in one line."""
        return " ".join(
            part for part in (self.first_name, self.middle_name, self.last_name, self.suffix) if part
        )

    @property
    def ssn_in_full(self) -> str:
        """The number as it is written, or that it is applied for."""
        return APPLIED_FOR if self.ssn is None else f"{self.ssn[:3]}-{self.ssn[3:5]}-{self.ssn[5:]}"

    @property
    def ssn_truncated(self) -> str:
        """The last four digits, as copies for the employee may show it, or that it is applied for."""
        return APPLIED_FOR if self.ssn is None else f"XXX-XX-{self.ssn[5:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperMarks:
    """What is stamped on any paper."""

    test: bool = False
    """Whether it is of a sandbox: each page says TEST."""

    version: int = 1
    """From 2 on it replaces an earlier one."""

    issued_on: datetime.date | None = None


def missing_for_w2(household: HouseholdIdentity, employee: EmployeeIdentity) -> tuple[str, ...]:
    """Name what a Form W-2 needs and nobody has told; a Social Security number may be applied for."""
    told = {
        "household.address": household.address,
        "household.ein": household.ein,
        "employee.address": employee.address,
    }
    return tuple(name for name, value in told.items() if value is None)


def missing_for_schedule_h(household: HouseholdIdentity) -> tuple[str, ...]:
    """Name what Schedule H needs and nobody has told; an EIN may be applied for."""
    return ("household.address",) if household.address is None else ()


def address_lines(address: PostalAddress | None) -> list[str]:
    """Return an address as it is written on an envelope, without the name; nothing where there is none."""
    if address is None:
        return []
    lines = [address.line1, address.line2 or "", f"{address.city}, {address.state} {address.zip}"]
    return [line for line in lines if line]
