"""Recorded payments and filings as lists show them."""

import datetime
from dataclasses import dataclass
from uuid import UUID, uuid5

from hearthpay.duties.payment_accounts import PaymentPeriod
from hearthpay.filing.filings import FilingDetails
from hearthpay.filing.models import FilingRecord, TaxPayment
from hearthpay.filing.service import PaymentDetails
from hearthpay.taxes.agencies import Agency, agencies
from hearthpay.web.household.context import HouseholdContext
from hearthpay.web.household.taxes.ledger_words import account_text, item_period_text, item_text, period_text


@dataclass(frozen=True, slots=True)
class PaymentRow:
    """A recorded payment and its words."""

    payment: TaxPayment
    reversed_at: datetime.datetime | None
    agency: Agency
    account: str
    period: str


@dataclass(frozen=True, slots=True)
class FilingRow:
    """A recorded filing and its words."""

    details: FilingDetails
    item_id: UUID
    what: str
    period: str | None

    @property
    def filing(self) -> FilingRecord:
        """What was recorded."""
        return self.details.filing


def payment_row(at: HouseholdContext, details: PaymentDetails) -> PaymentRow:
    """Return a payment in the reader's language."""
    row = details.payment
    period = PaymentPeriod(row.period, row.period_start, row.period_end)
    return PaymentRow(
        payment=row,
        reversed_at=details.reversed_at,
        agency=agencies()[row.agency],
        account=account_text(row.jurisdiction, row.account, at.say),
        period=period_text(period, at.say, at.visitor.language),
    )


def filing_row(at: HouseholdContext, details: FilingDetails) -> FilingRow:
    """Return a filing in the reader's language."""
    key = details.filing.item_key
    return FilingRow(
        details=details,
        item_id=uuid5(at.id, key),
        what=item_text(key, at.say),
        period=item_period_text(key, at.say, at.visitor.language),
    )
