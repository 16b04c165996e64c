"""The API's requests and responses about the calendar of duties."""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from pydantic import Field

from hearthpay.duties.accounts import LimitMeasure
from hearthpay.duties.calendar import CalendarItem, NextStep, TaxPaymentStatus
from hearthpay.duties.frequency import FrequencyReason, ReasonCode
from hearthpay.duties.payment_requests import TaxPaymentRequest, account_of_item, payment_request_of
from hearthpay.duties.rules import Kind
from hearthpay.duties.service import CalendarQuery, HouseholdCalendar
from hearthpay.taxes.money import from_cents
from hearthpay.wire.answer_fields import (
    FigureConfidence,
    HouseholdIdentifier,
    SourceDate,
    SourceTitle,
    SourceUrl,
)
from hearthpay.wire.fields import Day, Identifier, RequestModel
from hearthpay.wire.money import Dollars


class TaxCalendarQuery(RequestModel):
    """Of which household, and from which day to which."""

    employer_id: Identifier | None = Field(
        default=None, description="The household; left out, the one that the key remembers."
    )
    from_: Day | None = Field(
        default=None, alias="from", description="What is due from this day on; left out, today."
    )
    to: Day | None = Field(
        default=None,
        description="What is due up to this day, at most two years after the first; left out, a year after it.",
    )

    def to_command(self) -> CalendarQuery:
        """Return the invitation in plain values."""
        return CalendarQuery(self.employer_id, self.from_, self.to)


@dataclass(frozen=True, slots=True)
class DutySource:
    """Where a duty or its day is printed."""

    title: SourceTitle
    url: SourceUrl
    date: SourceDate


@dataclass(frozen=True, slots=True)
class FilingReason:
    """How often the household files under the account, and why."""

    code: ReasonCode
    """`reached` or `below` a limit of the law; `chosen` by the household, or by the agency's letter; a
    `household_rule`; `assigned` by the agency; the frequency of a `new_account`; the `only` one; `nothing_yet` was
    withheld."""

    frequency: str
    """How often it is filed, such as `quarterly` or `monthly`."""

    measure: LimitMeasure
    """What the limits are compared with: the tax of a month, of the quarter, of the quarter before, of the year, and so
    on."""

    measured: Dollars | None
    """What was withheld so far in what `measure` names; null if nothing is compared."""

    expected: Dollars | None
    """Its projected amount at the end of the quarter or year."""

    limit: Dollars | None
    """The limit that was reached; null if none was."""

    next_limit: Dollars | None
    """The next limit, which isn't reached yet; null if there is none."""

    next_frequency: str | None
    """How often it would be filed from `next_limit` on; null if there is none."""

    is_near: bool
    """Whether 80 per cent of the next limit are reached."""


@dataclass(frozen=True, slots=True)
class TaxCalendarItem:
    """Something a household must do, may choose, or must hand out, by a certain day."""

    key: str
    """Names the item for good, in its household."""

    kind: Kind
    """A `return` is filed and paid; a `payment` only paid; a `statement` goes to the employee; a `report` tells an
    agency something; an `election` is free; a `notice` is given or kept."""

    jurisdiction: str
    """`US`, or a state."""

    what: str
    """What to do, in English."""

    agency: str
    """The full name of the agency that it goes to."""

    form: str | None
    """The form's name; null if there is none."""

    employee_id: UUID | None
    """The employee it is about; null if it is about the household."""

    employee_name: str | None
    """That employee's name; null if it is about the household."""

    period: str
    """`2026`, `2026-H1`, `2026-Q3`, `2026-M12`, `2026-I2` (an installment), or a day: of the hire, or the last of the
    paydays that are paid together."""

    period_start: datetime.date
    """First day of the period it covers."""

    period_end: datetime.date
    """Last day of the period it covers."""

    due_date: datetime.date
    """The last day on which it is on time, moved as the agency moves it."""

    statutory_date: datetime.date
    """The day that the law names."""

    amount: Dollars | None
    """Of a payment, the total of the period's paychecks so far, without what other items pay of it."""

    paid_with_other_items: Dollars | None
    """What other items of the calendar pay for the same period; null where none does."""

    filing_reason: FilingReason | None
    """Why it is filed so often; null where the agency has no choice of frequencies."""

    link: str | None
    """The agency's page for it; null if none is known."""

    done: bool
    """Whether it is filed and paid in full as recorded, or the household marked it as done."""

    done_on: datetime.date | None
    """The day on which it was done; null while it isn't."""

    note: str
    """What to know about it, in English; may be empty."""

    sources: list[DutySource]
    """The law, form or page that says so."""

    confidence: FigureConfidence
    paid: Dollars | None
    """Of a payment, what the household recorded as paid of it; see `POST /tax-payments`."""

    open: Dollars | None
    """`amount` less `paid`: below zero where too much was paid."""

    filed_on: datetime.date | None
    """When it was filed, as recorded by `POST /filings`."""

    payment_status: TaxPaymentStatus | None
    """`open` until it is due, `short` where a part was paid, `late` where something is open after the due date."""

    account_type: str | None
    """The account to which it is paid, as `POST /tax-payments` takes it, such as `sui`; null where it has no amount."""

    payment_request: TaxPaymentRequest | None
    """The body of a `POST /tax-payments` that records what is open as paid; null where nothing is to be paid, or not
    yet because the period hasn't begun. It moves no money."""

    next_step: NextStep
    """`amend`: payrolls of the period changed after the return was filed. `claim_refund`: too much was paid."""


@dataclass(frozen=True, slots=True)
class TaxCalendar:
    """What a household must do from one day to another, both included, by due date."""

    employer_id: HouseholdIdentifier
    from_date: datetime.date
    """First day of the calendar: `from` of the request, or today."""

    to_date: datetime.date
    """Last day of the calendar: `to` of the request, or a year after `from_date`."""

    items: list[TaxCalendarItem]
    """What is due on these days, by due date."""


def tax_calendar(calendar: HouseholdCalendar, today: datetime.date) -> TaxCalendar:
    """Return a calendar as the API tells it on a day."""
    return TaxCalendar(
        employer_id=calendar.employer.id,
        from_date=calendar.since,
        to_date=calendar.until,
        items=[tax_calendar_item(item, calendar.employer.id, today) for item in calendar.items],
    )


def _filing_reason(reason: FrequencyReason) -> FilingReason:
    def dollars(cents: int | None) -> Decimal | None:
        return None if cents is None else from_cents(cents)

    return FilingReason(
        code=reason.code,
        frequency=reason.frequency,
        measure=reason.measure,
        measured=dollars(reason.measured),
        expected=dollars(reason.expected),
        limit=dollars(reason.limit),
        next_limit=dollars(reason.next_limit),
        next_frequency=reason.next_frequency,
        is_near=reason.is_near,
    )


def tax_calendar_item(item: CalendarItem, employer_id: UUID, today: datetime.date) -> TaxCalendarItem:
    """Return an item of a household as the API tells it on a day, its amounts in dollars."""
    return TaxCalendarItem(
        key=item.key,
        kind=item.kind,
        jurisdiction=item.jurisdiction,
        what=item.what,
        agency=item.agency,
        form=item.form,
        employee_id=item.employee_id,
        employee_name=item.employee_name,
        period=item.period,
        period_start=item.period_start,
        period_end=item.period_end,
        due_date=item.due,
        statutory_date=item.due_unmoved,
        amount=None if item.amount is None else from_cents(item.amount),
        paid_with_other_items=from_cents(item.earlier) if item.earlier else None,
        filing_reason=None if item.reason is None else _filing_reason(item.reason),
        link=item.link,
        done=item.done_on is not None,
        done_on=item.done_on,
        note=item.note,
        sources=[DutySource(*source) for source in item.sources],
        confidence=item.confidence,
        paid=None if item.paid is None else from_cents(item.paid),
        open=None if item.open is None else from_cents(item.open),
        filed_on=item.filed_on,
        payment_status=item.payment_status,
        account_type=account_of_item(item),
        payment_request=payment_request_of(item, employer_id, today),
        next_step=item.next_step,
    )
