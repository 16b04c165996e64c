"""What may be asked of the ledgers of tax payments and filings."""

import datetime
from dataclasses import dataclass
from typing import Final, Literal, get_args
from uuid import UUID

TaxPaymentMethod = Literal["bank_account", "card", "check", "wire", "cash", "other"]
"""How an agency was paid; ``bank_account``: it, or its site, debited the household's account."""

METHODS: Final[tuple[TaxPaymentMethod, ...]] = get_args(TaxPaymentMethod)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTaxPayment:
    """Something paid to a tax agency. ``agency`` is its id or name, ``state_code`` its state (None: to be found)."""

    agency: str
    account_type: str
    period: str
    amount: int
    """In cents."""

    paid_on: datetime.date
    method: TaxPaymentMethod
    state_code: str | None = None
    confirmation: str | None = None
    employer_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFiling:
    """Something filed: the key of the calendar's item, the day, and the agency's confirmation number."""

    key: str
    filed_on: datetime.date
    confirmation: str | None = None
    employer_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class LedgerQuery:
    """A page of one household's payments or filings."""

    employer_id: UUID | None = None
    cursor: UUID | None = None
    limit: int = 25
