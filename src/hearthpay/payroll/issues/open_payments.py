"""What is open about a household's payments on a day: the one function that pages, to-dos, mails and the API share.

Each is a kind and a stage with amounts and days, never a sentence (`open_payment_words`). A day that is named as coming
has not passed: `today` is the bank's day, in US Eastern time, and no household's day is later.
"""

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from uuid import UUID

from hearthpay.banking.calendar import add_banking_days, banking_day_on_or_before, previous_banking_day
from hearthpay.banking.debit_days import DEBIT_WAITS, DebitDays, days_of_debit
from hearthpay.banking.files import current_cut_off
from hearthpay.banking.holds import HoldCode
from hearthpay.clock import BUSINESS_TIME

PaymentKind = Literal[
    "debit_returned", "deposit_failed", "payroll_failed", "deposit_held", "authorization_needed", "debit_due"
]
PaymentStage = Literal[
    "leaves",
    "fund",
    "retry",
    "answer_awaited",
    "answer_late",
    "unpaid",
    "owed",
    "returned",
    "reversed",
    "refunded",
    "failed",
    "choose",
    "waits",
    "verifying",
    "on_our_side",
    "connect",
    "debit_verifying",
    "debit_on_our_side",
    "authorize",
    "authorize_held",
]
"""How far a kind is. A debit is due (`leaves`); a returned one is to be covered (`fund`), is tried again (`retry`),
was tried again (`answer_awaited`, `answer_late`), ended with the wages `unpaid`, or is `owed`. A deposit was
`returned`, `reversed` or `refunded`; a held one asks to `choose`, `waits` for an account until a day, or is
`verifying` or `on_our_side`; `connect` and the two with `debit_` hold the debit instead. A debit is to be
authorized before its day (`authorize`) or is on hold until then (`authorize_held`).
"""

_OWN_ACCOUNT: Final = ("account_failed", "account_not_usable")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPayment:
    """One thing that is open about a household's payments. `amount` is cents; what a stage doesn't have is None."""

    employer_id: UUID
    kind: PaymentKind
    stage: PaymentStage
    amount: int
    payroll_id: UUID | None = None
    pay_date: datetime.date | None = None
    period: tuple[datetime.date, datetime.date] | None = None
    employees: tuple[UUID, ...] = ()
    """Those who aren't paid; none where the debit of all is meant."""

    names: tuple[str, ...] = ()
    """Their first names."""

    last_four: str | None = None
    """The last digits of the account: the household's of a debit, the employee's of a deposit."""

    debit_on: datetime.date | None = None
    """When the household's account is debited, or was."""

    fund_by: datetime.date | None = None
    answer_by: datetime.date | None = None
    """The day by which the household's bank answers."""

    arrives_on: datetime.date | None = None
    """When the pay arrives if the debit isn't returned."""

    until: datetime.date | None = None
    """The last day for it: of an authorization, or of waiting for an account."""

    return_code: str | None = None
    hold: HoldCode | None = None

    @property
    def due_on(self) -> datetime.date | None:
        """The day by which the household has to do something; None if none is known."""
        match self.stage:
            case "leaves":
                return self.debit_on
            case "fund" | "retry":
                return self.fund_by if self.stage == "fund" else self.debit_on
            case "authorize" | "authorize_held" | "waits":
                return self.until
            case "unpaid" | "returned" | "reversed" | "refunded" | "failed" | "choose":
                return self.pay_date
            case _:
                return None

    @property
    def to_employee(self) -> UUID | None:
        """The employee that it is about; None if it is about the payroll."""
        return (
            self.employees[0] if self.kind in ("deposit_failed", "deposit_held") and self.employees else None
        )


class DebitState(NamedTuple):
    """A payroll and its latest debit; before that is made, `debit` is None. Amounts are cents.

    `account` is the status of the household's account, `attempt` counts from 1.
    """

    payroll_id: UUID
    employer_id: UUID
    status: str
    pay_date: datetime.date
    period_start: datetime.date
    period_end: datetime.date
    scheduled_send_at: datetime.datetime | None
    expected: int
    failure_kind: str | None
    failure_code: str | None
    awaits_approval: bool
    account: str | None
    covered: bool
    amount: int | None
    attempt: int | None
    debit: str | None
    send_on: datetime.date | None
    settle_on: datetime.date | None
    effective_date: datetime.date | None
    hold: HoldCode | None
    last_four: str | None
    returned: str | None
    """The bank's code of the last debit that was returned."""


class DepositState(NamedTuple):
    """A paycheck by direct deposit, and how far its deposit is. `amount` is cents."""

    payroll_id: UUID
    employee_id: UUID
    first_name: str
    released: bool
    """Whether it was undone, so that its period is free."""

    paid_again: bool
    """Whether a later payroll pays the period."""

    amount: int
    credit: str | None
    hold: HoldCode | None
    last_four: str | None
    action: str | None
    until: datetime.date | None


def debit_days_of(state: DebitState, now: datetime.datetime) -> DebitDays | None:
    """Return the days of the payroll's latest or coming debit; None if there is none."""
    if state.debit is not None and state.settle_on is not None:
        return days_of_debit(state.debit, state.settle_on, state.effective_date, now)
    if state.scheduled_send_at is None:
        return None
    sent_on = state.scheduled_send_at.astimezone(BUSINESS_TIME).date()
    return days_of_debit("pending", add_banking_days(sent_on, 1), None, now)


def arrival_of(state: DebitState, days: DebitDays) -> datetime.date:
    """Return when the pay arrives if the debit isn't returned: on the pay date, or as soon as it can after that."""
    return max(banking_day_on_or_before(state.pay_date), days.earliest_arrival)


def open_payments_of(
    state: DebitState,
    deposits: Sequence[DepositState],
    owed: int,
    now: datetime.datetime,
    *,
    coming: bool = False,
) -> list[OpenPayment]:
    """Return what is open about a payroll's money at the instant `now`.

    `owed` is what the household owes for wages that were sent before the debit was returned. A debit that is due is
    listed from the business day before its day until that day; `coming`: from when it is known.
    """
    today = now.astimezone(BUSINESS_TIME).date()
    found = [] if owed <= 0 else [_of(state, "debit_returned", "owed", amount=owed)]
    debit = _debit(state, now, today, coming=coming)
    if debit is not None:
        found.append(debit)
    if state.status == "failed":
        found += _unpaid(state, [each for each in deposits if _is_unpaid(each)])
    held = (each for each in deposits if each.credit == "pending" and each.hold and not each.released)
    return [*found, *(_held(state, each, today) for each in held)]


def held_payout(
    employer_id: UUID, employee_id: UUID, first_name: str, amount: int, last_four: str, hold: HoldCode
) -> OpenPayment:
    """Return what is open about a payout of set-aside money that can't be sent."""
    stage: PaymentStage = "verifying" if hold == "account_verifying" else "on_our_side"
    return OpenPayment(
        employer_id=employer_id,
        kind="deposit_held",
        stage="choose" if hold in _OWN_ACCOUNT else stage,
        amount=amount,
        employees=(employee_id,),
        names=(first_name,),
        last_four=last_four,
        hold=hold,
    )


def _debit(
    state: DebitState, now: datetime.datetime, today: datetime.date, *, coming: bool
) -> OpenPayment | None:
    """Return what is open about the debit; None if there is nothing to show."""
    days = debit_days_of(state, now)
    if days is None or state.status not in ("scheduled", "firing", "pending_funding"):
        return None
    if state.debit in (None, "pending"):
        obstacle = _obstacle(state, now, today)
        if obstacle is not None:
            return obstacle
        if state.awaits_approval or (state.debit is None and state.failure_kind is not None):
            return None
    elif state.debit != "sent":
        return None
    if (state.attempt or 1) > 1:
        return _retry(state, days, today)
    first = datetime.date.min if coming else previous_banking_day(days.leaves_on)
    if not first <= today <= days.leaves_on:
        return None
    return _of(state, "debit_due", "leaves", days=days)


def _retry(state: DebitState, days: DebitDays, today: datetime.date) -> OpenPayment:
    stage: PaymentStage = "fund"
    if today > days.answer_by:
        stage = "answer_late"
    elif today > days.leaves_on:
        stage = "answer_awaited"
    elif today > days.fund_by:
        stage = "retry"
    return _of(state, "debit_returned", stage, days=days)


def _obstacle(state: DebitState, now: datetime.datetime, today: datetime.date) -> OpenPayment | None:
    """Return what keeps the debit from being sent: no authorization, no account, or a hold."""
    send_on = state.send_on
    if send_on is None and state.scheduled_send_at is not None:
        send_on = state.scheduled_send_at.astimezone(BUSINESS_TIME).date()
    is_late = send_on is not None and current_cut_off(now) >= send_on
    if state.account is not None and not state.covered:
        if not is_late or send_on is None:
            return _of(state, "authorization_needed", "authorize", until=send_on)
        last = add_banking_days(send_on, DEBIT_WAITS)
        known = state.debit == "pending" and last >= today
        return _of(state, "authorization_needed", "authorize_held", until=last if known else None)
    if not is_late and state.hold is None:
        return None
    if state.account == "verifying":
        return _of(state, "deposit_held", "debit_verifying", hold="account_verifying")
    if state.account != "active":
        return _of(state, "deposit_held", "connect", hold="account_failed")
    if state.hold is None or state.hold.startswith("account_") or state.hold == "not_authorized":
        return None  # what held it is settled, and the next file has it
    return _of(state, "deposit_held", "debit_on_our_side", hold=state.hold)


def _is_unpaid(each: DepositState) -> bool:
    return each.released and not each.paid_again and each.action != "pay_by_check"


def _unpaid(state: DebitState, deposits: Sequence[DepositState]) -> Iterator[OpenPayment]:
    """Yield what a failed payroll left unpaid: by employee where their own deposit failed, the others together."""
    others = []
    for each in deposits:
        stage: PaymentStage | None = None
        if each.credit == "returned":
            stage = "returned"
        elif each.credit == "settled":
            stage = "reversed"
        elif state.debit != "returned" and state.failure_kind == "deposit_refunded":
            stage = "refunded"
        if stage is None:
            others.append(each)
            continue
        yield _of_employees(state, "deposit_failed", stage, [each], each.amount, each.last_four)
    if others and state.debit == "returned":
        yield _of_employees(
            state, "debit_returned", "unpaid", others, state.amount or state.expected, state.last_four
        )
    elif others:
        amount = sum(each.amount for each in others) or state.expected
        yield _of_employees(state, "payroll_failed", "failed", others, amount, None)


def _held(state: DebitState, deposit: DepositState, today: datetime.date) -> OpenPayment:
    stage: PaymentStage = "on_our_side"
    if deposit.hold == "account_verifying":
        stage = "verifying"
    elif deposit.hold in _OWN_ACCOUNT:
        waits = deposit.action == "wait_for_account" and deposit.until is not None and deposit.until >= today
        stage = "waits" if waits else "choose"
    return _of_employees(
        state, "deposit_held", stage, [deposit], deposit.amount, deposit.last_four, hold=deposit.hold
    )


def _of_employees(
    state: DebitState,
    kind: PaymentKind,
    stage: PaymentStage,
    deposits: Iterable[DepositState],
    amount: int,
    last_four: str | None,
    hold: HoldCode | None = None,
) -> OpenPayment:
    found = tuple(deposits)
    return OpenPayment(
        employer_id=state.employer_id,
        kind=kind,
        stage=stage,
        amount=amount,
        payroll_id=state.payroll_id,
        pay_date=state.pay_date,
        period=(state.period_start, state.period_end),
        employees=tuple(each.employee_id for each in found),
        names=tuple(each.first_name for each in found),
        last_four=last_four,
        until=found[0].until if stage == "waits" else None,
        return_code=state.returned if stage == "unpaid" else None,
        hold=hold,
    )


def _of(
    state: DebitState,
    kind: PaymentKind,
    stage: PaymentStage,
    *,
    amount: int | None = None,
    days: DebitDays | None = None,
    until: datetime.date | None = None,
    hold: HoldCode | None = None,
) -> OpenPayment:
    return OpenPayment(
        employer_id=state.employer_id,
        kind=kind,
        stage=stage,
        amount=amount or state.amount or state.expected,
        payroll_id=state.payroll_id,
        pay_date=state.pay_date,
        period=(state.period_start, state.period_end),
        last_four=state.last_four,
        debit_on=None if days is None else days.leaves_on,
        fund_by=None if days is None else days.fund_by,
        answer_by=None if days is None else days.answer_by,
        arrives_on=None if days is None else arrival_of(state, days),
        until=until,
        return_code=state.returned if kind == "debit_returned" else None,
        hold=hold,
    )
