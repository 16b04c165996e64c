"""The request that records an item of the calendar as paid: the body of `POST /tax-payments`."""

import datetime
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.payment_accounts import account_names, agency_of, payment_accounts
from hearthpay.duties.service import YEARS_BACK
from hearthpay.taxes.money import from_cents
from hearthpay.wire.money import Dollars

_METHOD: Final = "bank_account"


@dataclass(frozen=True, slots=True)
class TaxPaymentRequest:
    """The body of a `POST /tax-payments` that records what is open of the item as paid today.

    Send it as it is once the agency has been paid. Change `amount`, `paid_on` or `method` where they differ, and add
    the agency's `confirmation` number.
    """

    employer_id: UUID
    """Identifies the household that paid."""

    agency: str
    """The agency that is paid, by its full name."""

    account_type: str
    """The account with the agency, such as `sui` or `estimated-tax`."""

    state_code: str | None
    """The agency's state; null of a federal one."""

    period: str
    """What is paid for, as `period` of the item."""

    amount: Dollars
    """What is open of the item, in dollars: for a period that isn't over, what is owed so far."""

    paid_on: datetime.date
    """The household's today. The day on which it was paid may be earlier, but not before the period."""

    method: Literal["bank_account"]
    """`bank_account`: the usual way. `POST /tax-payments` lists the others."""


def account_of_item(item: CalendarItem) -> str | None:
    """Return the account to which an item is paid, as payments name it; None where it has no amount."""
    if item.amount is None:
        return None
    return account_names(item.jurisdiction)[item.key.split("/")[1]]


def payment_request_of(
    item: CalendarItem, employer_id: UUID, today: datetime.date
) -> TaxPaymentRequest | None:
    """Return the request that records what is open of an item as paid; None where nothing is to be paid.

    That is also so for a period that has not begun or was too long ago to be recorded, and for what was marked as done.
    """
    account = account_of_item(item)
    if account is None or item.open is None or item.open <= 0 or item.done_on is not None:
        return None
    agency = agency_of(item.jurisdiction, item.agency)
    period = payment_accounts(item.jurisdiction)[account].period(item.period, agency)
    if period is None or period.start > today or period.start.year < today.year - YEARS_BACK:
        return None
    return TaxPaymentRequest(
        employer_id=employer_id,
        agency=item.agency,
        account_type=account,
        state_code=None if agency.state == FEDERAL else agency.state,
        period=item.period,
        amount=from_cents(item.open),
        paid_on=today,
        method=_METHOD,
    )
