"""A payroll's current payment status: what became of each paycheck, and any issue.

Most of it is read from the payments themselves, so that it shows as soon as it happens: a payment that can't be sent,
a bank that can't be reached, a payroll that is due and not sent. What ended a payroll, or is being retried, is stored
with it (`failures`).
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, cast
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.calendar import (
    CUT_OFF,
    banking_day_on_or_before,
    previous_banking_day,
    submission_day,
)
from hearthpay.banking.holds import HELD_AS, HoldCode
from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.relations import BANK_ACCOUNTS, BANK_ENTRIES
from hearthpay.database.typed_rows import fetch_all, fetch_one, query
from hearthpay.payroll.issues.advice import (
    NOT_PAID,
    Circumstances,
    WayOut,
    hold_of,
    in_words,
    reason_of,
    what_to_do,
)
from hearthpay.payroll.issues.attempts import given_up_at
from hearthpay.payroll.issues.available_actions import available_actions_of
from hearthpay.payroll.issues.failures import FailureKind
from hearthpay.payroll.issues.open_payment_rows import read_debit_state
from hearthpay.payroll.issues.open_payments import OpenPayment, open_payments_of
from hearthpay.payroll.lifecycle import PayrollStatus

PaymentStatus = Literal[
    "scheduled", "collecting", "waiting", "held", "sent", "paid", "returned", "reversed", "undone"
]
"""The status of a paycheck's money. `waiting`: collected, and not yet in a file; `held`: it can't be sent;
`returned`: the bank returned it; `reversed`: reversed as a mistake; `undone`: it was never sent. By check or cash,
and for past pay, the household pays directly: `paid`, until it is `undone`.
"""
RefundStatus = Literal["waiting", "held", "sent", "paid", "returned"]

_LATE_AFTER: Final = datetime.timedelta(hours=1)
_SENT: Final = ("sent", "settled")


class _PayrollRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    status: PayrollStatus
    failure: dict[str, Any] | None
    attempts: int
    next_attempt_at: datetime.datetime | None
    scheduled_send_at: datetime.datetime | None
    pay_date: datetime.date
    tax_year: int
    direct_deposit: bool
    notes: str | None


_PAYROLL: Final = query(
    _PayrollRow,
    "SELECT id, organization_id, employer_id, sandbox, status, failure, attempts, next_attempt_at, scheduled_send_at, "
    "pay_date, tax_year, direct_deposit, notes FROM payrolls WHERE id = :id",
)


class _EntriesRow(NamedTuple):
    id: UUID
    kind: str
    status: str
    paycheck_id: UUID | None
    employee_id: UUID | None
    amount: int
    attempt: int
    send_on: datetime.date
    settle_on: datetime.date
    effective_date: datetime.date | None
    return_code: str | None
    hold_code: HoldCode | None
    last_four: str
    of_household: bool


_ENTRIES: Final = query(
    _EntriesRow,
    "SELECT e.id, e.kind, e.status, e.paycheck_id, e.employee_id, e.amount, e.attempt, e.send_on, e.settle_on, "
    "e.effective_date, e.return_code, {held_as} AS hold_code, b.last_four, b.employee_id IS NULL AS of_household "
    "FROM {bank_entries} e JOIN {bank_accounts} b ON b.id = e.bank_account_id WHERE e.payroll_id = :id "
    "ORDER BY e.id",
    held_as=HELD_AS,
    bank_entries=BANK_ENTRIES,
    bank_accounts=BANK_ACCOUNTS,
)


class _PaychecksRow(NamedTuple):
    id: UUID
    employee_id: UUID
    payment_method: str
    net_pay: int
    undone: bool


_PAYCHECKS: Final = query(
    _PaychecksRow,
    "SELECT c.id, c.employee_id, c.payment_method, c.net_pay, "
    "EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id) AS undone "
    "FROM paychecks c WHERE c.payroll_id = :id AND c.reverses IS NULL ORDER BY c.position",
)
_OUTAGE: Final = text("SELECT bank_outage_of(:id, :now)")


@dataclass(frozen=True, slots=True)
class RefundPaymentStatus:
    """What was collected for a paycheck and is refunded to the household; `amount` is cents."""

    amount: int
    status: RefundStatus
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Why a paycheck's money didn't arrive as usual; `code` is the bank's, if the bank gave one."""

    code: str | None
    reason: str
    refund: RefundPaymentStatus | None = None
    hold: HoldCode | None = None
    """What holds an unsent payment."""


@dataclass(frozen=True, slots=True)
class PaycheckPaymentStatus:
    """The payment status of one paycheck. `last_four` are the digits of the account it was for."""

    employee_id: UUID
    status: PaymentStatus
    outcome: Outcome | None = None
    last_four: str | None = None


@dataclass(frozen=True, slots=True)
class PaymentIssue:
    """An issue, as shown to the household; `next_try` and `until` if it is being retried."""

    kind: FailureKind
    code: str
    reason: str
    message: str
    what_to_do: str
    next_try: datetime.datetime | None
    until: datetime.datetime | None
    employees: tuple[UUID, ...]
    case: Circumstances
    """What its words depend on, to show them in another language."""

    def as_json(self) -> dict[str, Any]:
        """Return the issue as the API shows it."""
        return {
            "kind": self.kind,
            "code": self.code,
            "reason": self.reason,
            "message": self.message,
            "what_to_do": self.what_to_do,
            "next_try": self.next_try,
            "until": self.until,
            "employees": list(self.employees),
        }


@dataclass(frozen=True, slots=True)
class PayrollPaymentStatus:
    """A payroll's current status. `trouble` is what the API shows; `stored` and `held` are each reported separately."""

    issue: PaymentIssue | None
    stored: PaymentIssue | None
    held: PaymentIssue | None
    paychecks: Mapping[UUID, PaycheckPaymentStatus]

    def of_paycheck(self, employee_id: UUID, payroll_status: str) -> PaycheckPaymentStatus:
        """Return what has become of a paycheck's money; of one that was only estimated, nothing has."""
        found = self.paychecks.get(employee_id)
        if found is not None:
            return found
        over = payroll_status in ("voided", "failed")
        return PaycheckPaymentStatus(employee_id, "undone" if over else "scheduled")


async def read_payment_status(
    session: AsyncSession, payroll_id: UUID, now: datetime.datetime, *, within_tenant: bool = True
) -> PayrollPaymentStatus:
    """Return the payroll's status; the session sees it.

    `within_tenant`: the session is a tenant's, which may ask whether the bank can be reached; the worker knows.
    """
    payroll = await fetch_one(session, _PAYROLL, {"id": payroll_id})
    entries = await fetch_all(session, _ENTRIES, {"id": payroll_id})
    paychecks = await fetch_all(session, _PAYCHECKS, {"id": payroll_id})
    outage: datetime.datetime | None = None
    if within_tenant and not payroll.sandbox and entries:
        outage = await session.scalar(_OUTAGE, {"id": payroll_id, "now": now})
    available_actions = await _available_actions(session, payroll, now)
    stored = None
    if payroll.failure is not None:
        retry = await _retry(session, payroll, now)
        stored = _stored(payroll, payroll.failure, available_actions, retry, now)
    waiting = [
        entry
        for entry in entries
        if entry.status == "pending" and entry.hold_code and entry.kind != "reversal"
    ]
    held = _held(payroll, waiting, available_actions, now) if waiting else None
    over = stored is not None and payroll.status == "failed"
    in_the_way = (
        stored if over else held or stored or _of_the_service(payroll, outage, available_actions, now)
    )
    return PayrollPaymentStatus(
        in_the_way,
        stored,
        held,
        {row.employee_id: _paycheck(payroll.status, row, entries) for row in paychecks},
    )


def _paycheck(status: str, paycheck: _PaychecksRow, entries: Sequence[_EntriesRow]) -> PaycheckPaymentStatus:
    own = [entry for entry in entries if entry.paycheck_id == paycheck.id]
    credit = next((entry for entry in own if entry.kind == "credit"), None)
    reversal = next((entry for entry in own if entry.kind == "reversal"), None)
    refunds = [entry for entry in own if entry.kind == "refund" and entry.status != "cancelled"]
    refund = _refund(refunds[-1]) if refunds else None
    last_four = credit.last_four if credit is not None else None

    def stands(
        now: PaymentStatus, code: str | None = None, reason: str = "", hold: HoldCode | None = None
    ) -> PaycheckPaymentStatus:
        known_reason = reason or (reason_of(code) if code else NOT_PAID)
        outcome = Outcome(code, known_reason, refund, hold) if code or reason or refund else None
        return PaycheckPaymentStatus(paycheck.employee_id, now, outcome, last_four)

    if credit is not None and credit.status == "returned":
        return stands("returned", credit.return_code)
    if credit is not None and reversal is not None and reversal.status in ("pending", *_SENT):
        return stands("reversed" if paycheck.undone else _BY_CREDIT[credit.status], "reversed")
    if paycheck.undone or status == "voided":
        return stands("undone")
    if credit is None:
        if status == "pending_funding" and paycheck.payment_method == "direct_deposit":
            return stands("collecting")
        return stands("paid")
    if credit.status == "pending" and credit.hold_code:
        code, reason = hold_of(credit.hold_code, of_household=False)
        return stands("held", code, reason, credit.hold_code)
    return stands(_BY_CREDIT[credit.status])


_BY_CREDIT: Final[dict[str, PaymentStatus]] = {
    "pending": "waiting",
    "sent": "sent",
    "settled": "paid",
    "cancelled": "undone",
    "returned": "returned",
}
_BY_REFUND: Final[dict[str, RefundStatus]] = {
    "pending": "waiting",
    "sent": "sent",
    "settled": "paid",
    "returned": "returned",
}


def _refund(entry: _EntriesRow) -> RefundPaymentStatus:
    held = entry.status == "pending" and entry.hold_code
    return RefundPaymentStatus(entry.amount, "held" if held else _BY_REFUND[entry.status], entry.return_code)


def _of_the_service(
    payroll: _PayrollRow,
    outage: datetime.datetime | None,
    available_actions: frozenset[WayOut],
    now: datetime.datetime,
) -> PaymentIssue | None:
    """Return what delays the payroll although nothing is wrong with it."""
    if outage is not None:
        return _of(
            Circumstances("bank_unreachable", "bank_unreachable", payroll.status),
            f"The bank cannot be reached since {in_words(outage).removeprefix('on ')}; a payment waits for it.",
            next_try=now,
        )
    due = payroll.scheduled_send_at
    if payroll.status == "scheduled" and due is not None and due + _LATE_AFTER < now:
        return _of(
            Circumstances("delayed", "not_sent_yet", "scheduled", None, available_actions),
            "The payroll was to be sent "
            f"{in_words(due)} and has not been: the service was not at work, or waits to be let go.",
        )
    return None


async def _retry(session: AsyncSession, payroll: _PayrollRow, now: datetime.datetime) -> OpenPayment | None:
    """Return what is open about a debit that was returned and is tried again; None for any other payroll."""
    if payroll.status != "pending_funding":
        return None
    state = await read_debit_state(session, payroll.id, now)
    found = [] if state is None else open_payments_of(state, (), 0, now)
    return found[0] if found else None


def _stored(
    payroll: _PayrollRow,
    stored: Mapping[str, Any],
    available_actions: frozenset[WayOut],
    retry: OpenPayment | None,
    now: datetime.datetime,
) -> PaymentIssue:
    """Return what is stored with the payroll; if it has no kind, its code and its employees determine the kind."""
    code = str(stored["code"])
    employees = tuple(UUID(each) for each in stored.get("employees", ()))
    kind = cast("FailureKind", stored.get("kind") or _kind_before(code, payroll.status, employees))
    next_try, until = _time(stored.get("next_try")), _time(stored.get("until"))
    if payroll.status == "scheduled" and payroll.next_attempt_at is not None:
        next_try = next_try or payroll.next_attempt_at
        until = until or given_up_at(payroll.next_attempt_at, payroll.attempts, code)
    if kind == "debit_returned" and retry is not None:
        ahead = retry.fund_by if retry.stage in ("fund", "retry") else None
        next_try = None if ahead is None else _cut_off(ahead)
    if next_try is not None and next_try < now:
        next_try = None  # it was tried, or is as soon as a worker is there
    if until is not None and until < now and kind != "deposit_reversed":
        until = None
    if payroll.status in ("failed", "voided", "completed"):
        next_try = None
        until = until if kind == "deposit_reversed" and payroll.status != "failed" else None
    case = Circumstances(
        kind,
        code,
        payroll.status,
        next_try,
        available_actions,
        stored=str(stored["what_to_do"]),
        tax_year=payroll.tax_year,
        followed=stored["followed_by"] is not None if "followed_by" in stored else None,
        reversed_for=str(stored.get("reversed_for", "")),
        retry=retry if kind == "debit_returned" else None,
    )
    return _of(case, str(stored["message"]), next_try, until, employees, str(stored.get("reason") or ""))


def _kind_before(code: str, status: str, employees: Sequence[UUID]) -> FailureKind:
    if code == "year_passed":
        return "year_passed"
    if not (len(code) == 3 and code[0] == "R" and code[1:].isdigit()):
        return "not_sent"
    if employees:
        return "deposit_returned"
    return "debit_returned" if status in ("pending_funding", "failed") else "wages_not_covered"


def _held(
    payroll: _PayrollRow,
    held: Sequence[_EntriesRow],
    available_actions: frozenset[WayOut],
    now: datetime.datetime,
) -> PaymentIssue:
    first = held[0]
    assert first.hold_code is not None, "it is held"
    next_day = submission_day(now)
    employees = tuple(
        dict.fromkeys(entry.employee_id for entry in held if entry.employee_id and not entry.of_household)
    )
    what = {"debit": "The debit of the household", "refund": "The refund to the household"}.get(
        first.kind, "A direct deposit"
    )
    code, reason = hold_of(first.hold_code, of_household=first.of_household)
    case = Circumstances(
        "held",
        code,
        payroll.status,
        _cut_off(next_day),
        available_actions,
        first.of_household,
        hold=first.hold_code,
    )
    return _of(
        case,
        f"{what} cannot leave: {reason[0].lower()}{reason[1:]}.",
        _cut_off(next_day),
        _cut_off(_last_day(payroll.tax_year)) if first.kind == "credit" else None,
        employees,
        reason,
    )


async def _available_actions(
    session: AsyncSession, payroll: _PayrollRow, now: datetime.datetime
) -> frozenset[WayOut]:
    """Return the actions that the payroll's state allows."""
    found = await available_actions_of(session, payroll.id, payroll.status, now)
    remedies = {remedy for deposit in found.deposits.values() for remedy in deposit.remedies}
    return frozenset[WayOut](remedies | ({"void"} if "void" in found.actions else set()))


def _of(
    case: Circumstances,
    message: str,
    next_try: datetime.datetime | None = None,
    until: datetime.datetime | None = None,
    employees: tuple[UUID, ...] = (),
    reason: str = "",
) -> PaymentIssue:
    known_reason = reason or reason_of(case.code)
    return PaymentIssue(
        case.kind, case.code, known_reason, message, what_to_do(case), next_try, until, employees, case
    )


def _last_day(tax_year: int) -> datetime.date:
    """Return the last day whose file delivers a deposit within the year."""
    return previous_banking_day(banking_day_on_or_before(datetime.date(tax_year, 12, 31)))


def _cut_off(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, CUT_OFF, BUSINESS_TIME).astimezone(datetime.UTC)


def _time(stored: object) -> datetime.datetime | None:
    return datetime.datetime.fromisoformat(stored) if isinstance(stored, str) else None
