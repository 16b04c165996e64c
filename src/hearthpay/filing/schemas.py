"""What goes over the wire about tax payments and filings."""

import datetime
from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from hearthpay.duties.calendar import NextStep, TaxPaymentStatus
from hearthpay.duties.household import FEDERAL
from hearthpay.filing.balances import PeriodBalance
from hearthpay.filing.commands import LedgerQuery, RecordFiling, RecordTaxPayment, TaxPaymentMethod
from hearthpay.filing.filings import FilingDetails
from hearthpay.filing.service import PaymentDetails
from hearthpay.taxes.agencies import agencies
from hearthpay.taxes.money import from_cents, to_cents
from hearthpay.wire.answer_fields import HouseholdIdentifier, LineCode
from hearthpay.wire.fields import Day, Identifier, RequestModel, StateCode, Text
from hearthpay.wire.money import Dollars, PositiveMoney
from hearthpay.wire.paging import Page

_CONFIRMATION = Annotated[str, Text(longest=60, digits=True)]


class LedgerPage(Page):
    """Of which household, and which page."""

    employer_id: Identifier | None = Field(
        default=None, description="The household; left out, the one that the key remembers."
    )

    def to_command(self) -> LedgerQuery:
        """Return the same in plain values."""
        return LedgerQuery(self.employer_id, self.cursor, self.limit)


class NewTaxPayment(RequestModel):
    """Something that was paid to a tax agency."""

    employer_id: Identifier | None = Field(
        default=None, description="The household; left out, the one that the key remembers."
    )
    agency: Annotated[str, Text(longest=120)] = Field(
        description="The agency's id or name, as in the tax calendar and in `GET /reports/tax-liability`."
    )
    account_type: Annotated[str, Text(longest=64)] = Field(
        description="The account: `estimated-tax` of the IRS (Form 1040-ES, and what is paid with Schedule H), "
        "`sui`, `withholding`, `pfml`, or a local tax by its name. A refusal lists those of the agency."
    )
    state_code: StateCode | None = Field(
        default=None, description="The agency's state; left out, the one that the agency's name tells."
    )
    period: Annotated[str, Text(longest=16)] = Field(
        description="What it is for, as `period` of the tax calendar: `2026-Q3`, `2026-I2`, `2026`, or a payday."
    )
    amount: PositiveMoney = Field(description="What was paid of the tax, without penalties and interest.")
    paid_on: Day = Field(description="When it was paid: today or earlier, and not before the period.")
    method: TaxPaymentMethod = Field(
        description="How it was paid; `bank_account` where the agency, or its site, debited the account."
    )
    confirmation: _CONFIRMATION | None = Field(default=None, description="The agency's confirmation number.")

    def to_command(self) -> RecordTaxPayment:
        """Return the same in plain values, the amount in cents."""
        return RecordTaxPayment(
            employer_id=self.employer_id,
            agency=self.agency,
            account_type=self.account_type,
            state_code=self.state_code,
            period=self.period,
            amount=to_cents(self.amount, "amount"),
            paid_on=self.paid_on,
            method=self.method,
            confirmation=self.confirmation,
        )


class NewFiling(RequestModel):
    """Something that was filed with an agency."""

    employer_id: Identifier | None = Field(
        default=None, description="The household; left out, the one that the key remembers."
    )
    key: Annotated[str, Text(longest=120)] = Field(description="`key` of the tax calendar's item.")
    filed_on: Day = Field(description="When it was filed: today or earlier.")
    confirmation: _CONFIRMATION | None = Field(default=None, description="The agency's confirmation number.")

    def to_command(self) -> RecordFiling:
        """Return the same in plain values."""
        return RecordFiling(
            employer_id=self.employer_id,
            key=self.key,
            filed_on=self.filed_on,
            confirmation=self.confirmation,
        )


class LedgerReversal(RequestModel):
    """Why something that was recorded is reversed."""

    reason: Annotated[str, Text(longest=200)] | None = Field(
        default=None, description="Kept in the audit log."
    )


@dataclass(frozen=True, slots=True)
class TaxBalance:
    """What is owed, paid and open of an account for a period."""

    owed: Dollars
    """The total of the period's paychecks so far, less what other items of the calendar pay of it."""

    paid: Dollars
    """What was recorded as paid, of this period or too much of another that the same return settles."""

    open: Dollars
    """`owed` less `paid`: below zero where too much was paid."""

    status: TaxPaymentStatus
    """`open` until it is due, `short` if a part was paid, `late` if something is open after the due date, `paid_late`
    if the last of it was paid after that date."""

    next_step: NextStep
    """`amend`: payrolls of the period changed after the return was filed. `claim_refund`: too much was paid."""

    due_date: datetime.date | None
    """By when it is due; null if no item of the calendar asks for it."""


@dataclass(frozen=True, slots=True)
class TaxPaymentItem:
    """Something that was paid to a tax agency, as it was recorded."""

    id: UUID
    """The payment's id, for `POST /tax-payments/{tax_payment_id}/reverse`."""

    employer_id: HouseholdIdentifier
    agency: str
    """The agency's short name, such as `IRS` or `EDD`."""

    agency_name: str
    """The agency's full name."""

    account_type: str
    """The account with the agency, such as `estimated-tax`, `sui` or `withholding`."""

    state_code: str | None
    """Null for the IRS."""

    period: str
    """The period it was paid for, as in the tax calendar: `2026-Q3`, `2026-I2`, `2026`, or a payday."""

    period_start: datetime.date
    """First day of that period."""

    period_end: datetime.date
    """Last day of that period."""

    key: str | None
    """The tax calendar's item that it was for when it was recorded; null where there was none."""

    amount: Dollars
    """What was paid of the tax, without penalties and interest."""

    paid_on: datetime.date
    """The day on which it was paid."""

    method: TaxPaymentMethod
    """How it was paid; `bank_account` if the agency, or its site, debited the account."""

    confirmation: str | None
    """The agency's confirmation number; null if none was recorded."""

    status: Literal["recorded", "reversed"]
    """`reversed` if the record was reversed, else `recorded`."""

    recorded_at: datetime.datetime
    """When it was recorded, in UTC."""

    reversed_at: datetime.datetime | None
    """When the record was reversed, in UTC; null if it wasn't."""


@dataclass(frozen=True, slots=True)
class RecordedTaxPayment:
    """A payment that was recorded or reversed, and what is open since."""

    payment: TaxPaymentItem
    """What was paid, as it is on record now."""

    balance: TaxBalance | None
    """Of the payment's period; null where nothing is owed for it."""


@dataclass(frozen=True, slots=True)
class FiledLine:
    """One tax of a return as it was filed."""

    code: LineCode
    amount: Dollars
    """What the return said of this tax."""


@dataclass(frozen=True, slots=True)
class FiledFigures:
    """The figures of a return as they were when it was filed."""

    total: Dollars | None
    """Null for what has no amounts, such as the report of a hire."""

    paid_with_other_items: Dollars | None
    """What other items of the calendar pay for the same period; null if none does."""

    lines: list[FiledLine]
    """The total by tax."""


@dataclass(frozen=True, slots=True)
class FilingItem:
    """Something that was filed with an agency, as it was recorded."""

    id: UUID
    """The filing's id, for `POST /filings/{filing_id}/reverse`."""

    employer_id: HouseholdIdentifier
    key: str
    """`key` of the tax calendar's item that was filed."""

    filed_on: datetime.date
    """The day on which it was filed."""

    confirmation: str | None
    """The agency's confirmation number; null if none was recorded."""

    figures: FiledFigures
    """The amounts as they were when it was recorded; later payrolls don't change them."""

    status: Literal["filed", "reversed"]
    """`reversed` if the record was reversed, else `filed`."""

    recorded_at: datetime.datetime
    """When it was recorded, in UTC."""

    reversed_at: datetime.datetime | None
    """When the record was reversed, in UTC; null if it wasn't."""


def tax_payment_item(details: PaymentDetails) -> TaxPaymentItem:
    """Return a payment as the API tells it."""
    row = details.payment
    agency = agencies()[row.agency]
    return TaxPaymentItem(
        id=row.id,
        employer_id=row.employer_id,
        agency=agency.name,
        agency_name=agency.full_name,
        account_type=row.account,
        state_code=None if row.jurisdiction == FEDERAL else row.jurisdiction,
        period=row.period,
        period_start=row.period_start,
        period_end=row.period_end,
        key=row.item_key,
        amount=from_cents(row.amount),
        paid_on=row.paid_on,
        method=row.method,  # type: ignore[arg-type]
        confirmation=row.confirmation,
        status="recorded" if details.reversed_at is None else "reversed",
        recorded_at=row.created_at,
        reversed_at=details.reversed_at,
    )


def recorded_tax_payment(details: PaymentDetails) -> RecordedTaxPayment:
    """Return a payment with what is open since, as the API tells it."""
    balance = None if details.balance is None else _balance(details.balance)
    return RecordedTaxPayment(tax_payment_item(details), balance)


def _balance(balance: PeriodBalance) -> TaxBalance:
    return TaxBalance(
        owed=from_cents(balance.owed),
        paid=from_cents(balance.paid),
        open=from_cents(balance.open),
        status=balance.status,
        next_step=balance.next_step,
        due_date=balance.due,
    )


def filing_item(details: FilingDetails) -> FilingItem:
    """Return a filing as the API tells it."""
    row, figures = details.filing, details.figures
    other = figures.paid_with_other_items
    return FilingItem(
        id=row.id,
        employer_id=row.employer_id,
        key=row.item_key,
        filed_on=row.filed_on,
        confirmation=row.confirmation,
        figures=FiledFigures(
            total=None if figures.total is None else from_cents(figures.total),
            paid_with_other_items=from_cents(other) if other else None,
            lines=[FiledLine(code, from_cents(cents)) for code, cents in figures.lines.items()],
        ),
        status="filed" if details.reversed_at is None else "reversed",
        recorded_at=row.created_at,
        reversed_at=details.reversed_at,
    )
