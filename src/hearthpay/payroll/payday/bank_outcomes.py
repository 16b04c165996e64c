"""Applies the bank's outcomes to payrolls: funded, paid, or returned and then reversed.

Every function works within one transaction with the settlement or the return that it follows from.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.calendar import (
    CUT_OFF,
    add_banking_days,
    banking_day_on_or_before,
    next_banking_day,
    previous_banking_day,
)
from hearthpay.banking.debit_days import DEBIT_WAITS
from hearthpay.banking.entries import (
    Credit,
    Debit,
    Refund,
    cancel,
    cancel_refunds,
    cancel_unsent,
    collect,
    lock_debits,
    lock_held,
    pay_out,
    refund,
    refunded,
)
from hearthpay.banking.return_codes import return_codes
from hearthpay.banking.return_handling import ReturnedEntry
from hearthpay.banking.reversals import SettledReversal
from hearthpay.banking.settlement import RETURN_DAYS
from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.audit import ActorKind
from hearthpay.database.relations import BANK_ENTRIES
from hearthpay.database.statements import statement
from hearthpay.database.typed_rows import fetch_all, fetch_one, query
from hearthpay.payroll.issues import failures
from hearthpay.payroll.issues.failures import FailureKind, StoredFailure
from hearthpay.payroll.ledger.posting import Posting
from hearthpay.payroll.lifecycle import Cause, PayrollStatus, move
from hearthpay.payroll.payday.reversed_deposits import not_taken_back, reversed_for_good
from hearthpay.payroll.set_asides import escrow
from hearthpay.payroll.years.reversal import release_periods, reverse_paychecks

_log = structlog.get_logger("hearthpay.payroll")


class _StandingRow(NamedTuple):
    id: UUID
    payroll_id: UUID
    net_pay: int
    pay_date: datetime.date


_STANDING: Final = query(
    _StandingRow,
    "SELECT c.id, c.payroll_id, c.net_pay, p.pay_date FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
    "WHERE c.payroll_id = ANY(:payrolls) AND c.payment_method = 'direct_deposit' AND c.reverses IS NULL "
    "AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id) ORDER BY c.id",
)


class _LockRow(NamedTuple):
    id: UUID
    status: PayrollStatus
    tax_year: int
    pay_date: datetime.date
    failure: dict[str, Any] | None


_LOCK: Final = query(
    _LockRow,
    "SELECT id, status, tax_year, pay_date, failure FROM payrolls WHERE id = :id FOR NO KEY UPDATE",
)
_DEPOSITS_TO_UNDO: Final = text(
    "SELECT id FROM paychecks c WHERE payroll_id = :id AND payment_method = 'direct_deposit' AND reverses IS NULL "
    "AND NOT EXISTS (SELECT FROM paycheck_remedies r WHERE r.paycheck_id = c.id AND r.action = 'pay_by_check')"
)
"""The direct deposits to reverse, except those whose wages the household paid by check when the deposit couldn't be
sent.
"""

_ALL_ON_BANK: Final = text(
    "SELECT NOT EXISTS (SELECT FROM payroll_entries WHERE payroll_id = :id AND payment_method <> 'direct_deposit') "
    "AND NOT EXISTS (SELECT FROM paycheck_remedies WHERE payroll_id = :id AND action = 'pay_by_check')"
)
_COLLECTED: Final = statement(
    "SELECT EXISTS (SELECT FROM {bank_entries} bank_entries "
    "WHERE payroll_id = :id AND kind = 'debit' AND status IN ('sent', 'settled'))",
    bank_entries=BANK_ENTRIES,
)
"""Whether the debit is still collected: a debit that the household's bank took back can't be refunded."""

_UNCOLLECTED: Final = statement(
    "SELECT DISTINCT payroll_id FROM {bank_entries} e WHERE kind = 'debit' AND status = 'pending' "
    "AND send_on <= :by AND (id = ANY(:held) OR sandbox) ORDER BY payroll_id",
    bank_entries=BANK_ENTRIES,
)
_COLLECTED_AFTER_ALL: Final = text(
    "UPDATE payrolls SET failure = NULL WHERE id = ANY(:ids) AND failure IS NOT NULL"
)
_NOTE_FAILURE: Final = text("UPDATE payrolls SET failure = CAST(:failure AS jsonb) WHERE id = :id")


async def fund(
    session: AsyncSession, payrolls: Sequence[UUID], day: datetime.date, now: datetime.datetime
) -> list[UUID]:
    """Begin to pay the employees of payrolls whose debit has settled; `day` is the next or current cut-off.

    Return the payrolls moved to `processing`. The money is sent one business day before the pay date, or at once if
    that has passed. If it could then only arrive in another year, the deposit keeps its dates, isn't sent, and is
    recreated (`payroll.payday.year_end`).
    """
    moved = await move(session, payrolls, "pending_funding", "processing", Cause("system", now))
    await session.execute(_COLLECTED_AFTER_ALL, {"ids": moved})
    due, unpaid = [], set(moved)
    for row in await fetch_all(session, _STANDING, {"payrolls": moved}):
        if not row.net_pay:
            continue
        unpaid.discard(row.payroll_id)
        settle_on = banking_day_on_or_before(row.pay_date)
        send_on = max(previous_banking_day(settle_on), day)
        arrives = max(settle_on, next_banking_day(send_on))
        if arrives.year != row.pay_date.year:
            send_on, arrives = previous_banking_day(settle_on), settle_on
        due.append(Credit(row.id, row.net_pay, send_on, arrives))
    paid = await pay_out(session, now, due)
    for credit in due:
        if credit.paycheck_id not in paid:
            _log.error("a paycheck has no account to be paid to", paycheck_id=str(credit.paycheck_id))
    if unpaid:  # all of it was set aside
        await complete(session, sorted(unpaid), now)
    return moved


async def complete(session: AsyncSession, payrolls: Sequence[UUID], now: datetime.datetime) -> list[UUID]:
    """Complete payrolls whose direct deposits have all settled; return those completed."""
    return await move(session, payrolls, "processing", "completed", Cause("system", now))


async def apply_returns(
    session: AsyncSession, returned: Sequence[ReturnedEntry], day: datetime.date, now: datetime.datetime
) -> None:
    """Process entries that the bank has returned; `day` is the next cut-off at which money can be sent.

    A debit is presented again if its code allows; otherwise its payroll fails and employees not yet paid aren't paid.
    A direct deposit is reversed, what was collected for it is refunded to the household, and the payroll has failed
    for that employee. A refund is sent again as soon as the household has another account.
    """
    for entry in returned:
        if entry.kind == "debit":
            await _debit_returned(session, entry, day, now)
        elif entry.kind == "credit":
            await _credit_returned(session, entry, day, now)
        elif entry.kind == "reversal":
            await _reversal_returned(session, entry)
        elif entry.kind == "refund":
            await _refund_returned(session, entry, day, now)
    payouts = [entry.entry_id for entry in returned if entry.kind == "payout"]
    if payouts:
        await escrow.return_payouts(session, now, payouts)


async def _debit_returned(
    session: AsyncSession, entry: ReturnedEntry, day: datetime.date, now: datetime.datetime
) -> None:
    assert entry.payroll_id is not None
    payroll = await fetch_one(session, _LOCK, {"id": entry.payroll_id})
    if payroll.status == "pending_funding" and _may_be_presented_again(entry, day, payroll.tax_year):
        again = Debit(entry.payroll_id, entry.amount, day, next_banking_day(day), entry.attempt + 1)
        if entry.payroll_id in await collect(session, now, [again]):
            await _note(session, entry.payroll_id, _presented_again(entry, day, payroll.tax_year))
            return
    failure = _failure(entry, ())
    if payroll.status in ("pending_funding", "processing") and await cancel_unsent(
        session, now, [entry.payroll_id]
    ):
        await cancel_refunds(session, now, entry.payroll_id)
        await _nobody_is_paid(session, entry.payroll_id, payroll.status, failure, now)
        return
    # Employees' money is on its way or paid and can't be recalled: the household owes it. The rest stays
    # here.
    await cancel_refunds(session, now, entry.payroll_id)
    held = await lock_held(session, entry.payroll_id)
    await cancel(session, now, [credit.entry_id for credit in held])
    await reverse_paychecks(session, entry.payroll_id, now, only=[credit.paycheck_id for credit in held])
    _log.error("a debit was returned after the payroll was paid", payroll_id=str(entry.payroll_id))
    if held:
        unpaid = tuple(credit.employee_id for credit in held)
        failure = _failure(entry, (*employees_of(payroll.failure), *unpaid))
        await fail(session, entry.payroll_id, payroll.status, failure, now)
    else:
        await _note(session, entry.payroll_id, _not_covered(failure))


async def _nobody_is_paid(
    session: AsyncSession,
    payroll_id: UUID,
    status: PayrollStatus,
    failure: StoredFailure,
    now: datetime.datetime,
) -> None:
    """Reverse a payroll's direct deposits, none of which will be sent, and fail it; pay by hand stays as it is."""
    deposits = list(await session.scalars(_DEPOSITS_TO_UNDO, {"id": payroll_id}))
    await reverse_paychecks(session, payroll_id, now, only=deposits)
    if await session.scalar(_ALL_ON_BANK, {"id": payroll_id}):
        await release_periods(session, payroll_id)
    await fail(session, payroll_id, status, failure, now)


async def uncollected(session: AsyncSession, held: Sequence[UUID], cut_off: datetime.date) -> list[UUID]:
    """Return the payrolls whose debit couldn't be sent by the day the wages were due.

    ``held`` are the real entries that the file of ``cut_off`` has left out. The simulated bank has taken all it could
    by then, so what still waits in a sandbox counts as held too.
    """
    by = add_banking_days(cut_off, -DEBIT_WAITS)
    return list(await session.scalars(_UNCOLLECTED, {"by": by, "held": list(held)}))


async def expire(session: AsyncSession, payroll_id: UUID, now: datetime.datetime) -> bool:
    """Fail a payroll for good if its debit still waits; return False if it no longer does."""
    payroll = await fetch_one(session, _LOCK, {"id": payroll_id})
    waiting = [debit.id for debit in await lock_debits(session, payroll_id) if debit.status == "pending"]
    if payroll.status != "pending_funding" or not waiting:
        return False
    await cancel(session, now, waiting)
    await _nobody_is_paid(session, payroll_id, payroll.status, failures.debit_expired(), now)
    return True


def _may_be_presented_again(entry: ReturnedEntry, day: datetime.date, tax_year: int) -> bool:
    """Return whether a debit may be presented again with its wages still paid within their tax year."""
    if entry.return_class != "retry" or entry.attempt > return_codes().attempts:
        return False
    return _arrives(day).year == tax_year


def _arrives(day: datetime.date) -> datetime.date:
    """Return when wages arrive whose debit is sent at the cut-off of `day`."""
    funded = add_banking_days(next_banking_day(day), RETURN_DAYS)
    return next_banking_day(funded)


async def _credit_returned(
    session: AsyncSession, entry: ReturnedEntry, day: datetime.date, now: datetime.datetime
) -> None:
    assert entry.payroll_id is not None
    assert entry.paycheck_id is not None
    payroll = await fetch_one(session, _LOCK, {"id": entry.payroll_id})
    undone = await reverse_paychecks(session, entry.payroll_id, now, only=[entry.paycheck_id])
    await refund_debit(session, entry.payroll_id, undone, day, now)
    earlier = employees_of(payroll.failure)
    employees = earlier if entry.employee_id is None else (*earlier, entry.employee_id)
    await fail(session, entry.payroll_id, payroll.status, _failure(entry, employees), now)


def employees_of(failure: Mapping[str, Any] | None) -> tuple[UUID, ...]:
    """Return the employees affected by an earlier failure of the payroll."""
    return tuple(UUID(found) for found in (failure or {}).get("employees", ()))


async def _refund_returned(
    session: AsyncSession, entry: ReturnedEntry, day: datetime.date, now: datetime.datetime
) -> None:
    """Send a refund again, unless the household's bank has taken the debit back since.

    The account that returned it has failed, so the refund is on hold until there is another one.
    """
    assert entry.payroll_id is not None
    assert entry.paycheck_id is not None
    await fetch_one(session, _LOCK, {"id": entry.payroll_id})
    _log.error("a refund was returned", entry_id=str(entry.entry_id), code=entry.code)
    if await session.scalar(_COLLECTED, {"id": entry.payroll_id}):
        again = Refund(entry.paycheck_id, entry.amount, day, next_banking_day(day), entry.attempt + 1)
        await refund(session, now, [again])


async def _reversal_returned(session: AsyncSession, entry: ReturnedEntry) -> None:
    assert entry.payroll_id is not None
    payroll = await fetch_one(session, _LOCK, {"id": entry.payroll_id})
    await _note(session, entry.payroll_id, not_taken_back(entry, payroll.status))
    _log.error("a reversal was returned", entry_id=str(entry.entry_id), code=entry.code)


async def undo_reversed(
    session: AsyncSession, settled: Sequence[SettledReversal], day: datetime.date, now: datetime.datetime
) -> None:
    """Reverse the paychecks whose deposits have been reversed; `day` is the next cut-off at which money can be
    sent.

    What was collected for them is refunded to the household, and the payroll has failed for these employees.
    """
    for reversal in settled:
        payroll = await fetch_one(session, _LOCK, {"id": reversal.payroll_id})
        undone = await reverse_paychecks(session, reversal.payroll_id, now, only=[reversal.paycheck_id])
        await refund_debit(session, reversal.payroll_id, undone, day, now)
        earlier = employees_of(payroll.failure)
        failure = reversed_for_good(reversal, earlier)
        await fail(session, reversal.payroll_id, payroll.status, failure, now)


async def refund_debit(
    session: AsyncSession,
    payroll_id: UUID,
    undone: Sequence[Posting],
    day: datetime.date,
    now: datetime.datetime,
) -> None:
    """Refund to the household what was collected, and not returned, for reversed paychecks.

    `day` is the next cut-off at which money can be sent.
    """
    undone_deposits = {
        posting.reverses: -posting.paycheck.net_pay - posting.paycheck.set_aside.amount
        for posting in undone
        if posting.reverses is not None and posting.paycheck.payment_method == "direct_deposit"
    }
    await refund_up_to(session, payroll_id, undone_deposits, day, now)


async def refund_up_to(
    session: AsyncSession,
    payroll_id: UUID,
    amounts: Mapping[UUID, int],
    day: datetime.date,
    now: datetime.datetime,
) -> None:
    """Refund each paycheck's collected money until the total refunded, earlier refunds included, is the given amount
    in cents.
    """
    if not amounts or not await session.scalar(_COLLECTED, {"id": payroll_id}):
        return
    before = await refunded(session, amounts)
    back = []
    for paycheck_id, amount in amounts.items():
        earlier = before.get(paycheck_id)
        rest = amount - earlier.amount if earlier else amount
        attempt = earlier.attempt + 1 if earlier else 1
        if rest > 0:
            back.append(Refund(paycheck_id, rest, day, next_banking_day(day), attempt))
    await refund(session, now, back)


def _failure(entry: ReturnedEntry, employees: tuple[UUID, ...]) -> StoredFailure:
    debit = entry.kind == "debit"
    reason = return_codes().reason(entry.code)
    explanation = reason.explain(debit=debit)
    kind: FailureKind = "debit_returned" if debit else "deposit_returned"
    return StoredFailure(entry.code, explanation.happened, explanation.action, employees, kind, reason.title)


def _presented_again(entry: ReturnedEntry, day: datetime.date, tax_year: int) -> StoredFailure:
    """Return a returned debit that is collected again at the cut-off of `day`; `until` is the last cut-off it may
    have.

    Each time it settles a business day later, and is returned at the latest when the return period ends.
    """
    left = return_codes().attempts - entry.attempt
    days = [day]
    for _ in range(left):
        later = add_banking_days(days[-1], 1 + RETURN_DAYS)
        if _arrives(later).year != tax_year:
            break
        days.append(later)
    return replace(_failure(entry, ()), next_try=_cut_off(day), until=_cut_off(days[-1]))


def _not_covered(failure: StoredFailure) -> StoredFailure:
    """Return the failure of a debit that was returned after the wages had been paid."""
    return replace(
        failure,
        kind="wages_not_covered",
        message=f"{failure.message} The wages had been paid by then and cannot be called back.",
    )


def _cut_off(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, CUT_OFF, BUSINESS_TIME).astimezone(datetime.UTC)


async def fail(
    session: AsyncSession,
    payroll_id: UUID,
    status: PayrollStatus,
    failure: StoredFailure,
    now: datetime.datetime,
    *,
    by: tuple[ActorKind, UUID | None] = ("system", None),
) -> None:
    """Fail the payroll for this reason, or record the reason if it has already failed or is voided; its row is
    locked.
    """
    await _note(session, payroll_id, failure)
    if status not in ("failed", "voided"):
        cause = Cause(by[0], now, by[1], failure.code)
        moved = await move(session, [payroll_id], status, "failed", cause)
        assert moved, "the row is locked"


async def _note(session: AsyncSession, payroll_id: UUID, failure: StoredFailure) -> None:
    await session.execute(
        _NOTE_FAILURE, {"id": payroll_id, "failure": orjson.dumps(failure.as_json()).decode()}
    )
