"""A file of payments as values: the file, its batches, and the entries that debit or credit accounts."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Literal

AccountType = Literal["checking", "savings"]
EntryClass = Literal["PPD", "CCD"]
"""PPD: the account is a person's, as a household's and an employee's are. CCD: it is an organization's."""

PAYROLL: Final = "PAYROLL"
"""The description that a batch of wages must have (Nacha Operating Rules, since 20 March 2026)."""

RETRY: Final = "RETRY PYMT"
"""The description of a batch that presents returned debits again (Nacha Operating Rules, 2.12.4)."""

REVERSAL: Final = "REVERSAL"
"""The description of a batch that reverses payments made in error (Nacha Operating Rules, 2.9)."""


class TransactionCode(IntEnum):
    """What an entry does to which kind of account; a prenote moves no money and only tests the account."""

    CHECKING_CREDIT = 22
    CHECKING_CREDIT_PRENOTE = 23
    CHECKING_DEBIT = 27
    CHECKING_DEBIT_PRENOTE = 28
    SAVINGS_CREDIT = 32
    SAVINGS_CREDIT_PRENOTE = 33
    SAVINGS_DEBIT = 37
    SAVINGS_DEBIT_PRENOTE = 38

    @classmethod
    def of(cls, account_type: AccountType, *, debit: bool, prenote: bool = False) -> TransactionCode:
        """Return the code that debits, or else credits, an account of this type."""
        tens = 20 if account_type == "checking" else 30
        return cls(tens + (7 if debit else 2) + prenote)

    @property
    def account_type(self) -> AccountType:
        """The kind of account."""
        return "checking" if self < TransactionCode.SAVINGS_CREDIT else "savings"

    @property
    def is_debit(self) -> bool:
        """Whether it debits the account."""
        return self % 10 in (7, 8)

    @property
    def is_prenote(self) -> bool:
        """Whether it moves no money."""
        return self % 10 in (3, 8)


@dataclass(frozen=True, slots=True)
class Entry:
    """One payment. `amount_cents` is zero for a prenote, and only for one.

    `routing` has nine digits; `account` up to seventeen digits, letters or hyphens. `name` may be spelled in any way
    and is written in upper-case ASCII. `identification` is the payer's own number for the receiver, never a Social
    Security number. `trace` has fifteen digits, the first eight those of the batch's `odfi`. `information` goes into
    an addenda record of up to 80 characters.
    """

    code: TransactionCode
    routing: str = field(repr=False)
    account: str = field(repr=False)
    amount_cents: int
    name: str
    trace: str
    identification: str = ""
    information: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Payments of one company with one description for one day.

    `company_id` has up to ten digits or letters, as assigned by the bank (often 1 and the EIN); `odfi` is the first
    eight digits of the originating bank's routing number. `effective_date` is the day of settlement. `number` ascends
    within the file.
    """

    number: int
    company_name: str
    company_id: str
    entry_class: EntryClass
    description: str
    effective_date: datetime.date
    odfi: str
    entries: tuple[Entry, ...]
    discretionary_data: str = ""
    descriptive_date: str = ""

    @property
    def total_debit_cents(self) -> int:
        """The sum of the batch's debits."""
        return sum(entry.amount_cents for entry in self.entries if entry.code.is_debit)

    @property
    def total_credit_cents(self) -> int:
        """The sum of the batch's credits."""
        return sum(entry.amount_cents for entry in self.entries if not entry.code.is_debit)


@dataclass(frozen=True, slots=True)
class NachaFile:
    """One file for the bank.

    `destination` is the bank's routing number; `origin` nine digits or up to ten characters, as assigned by the bank.
    `modifier` (A to Z, 0 to 9) distinguishes the files of one day. `created_at` is an aware instant, written in
    Eastern time to the minute.
    """

    destination: str
    destination_name: str
    origin: str
    origin_name: str
    created_at: datetime.datetime
    modifier: str
    batches: tuple[Batch, ...]
    reference: str = ""
