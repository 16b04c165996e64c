"""Voids a payroll that hasn't been sent yet, was paid by check or cash, or whose money is held."""

from typing import Final, cast
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import RUN_PAYROLL, allow
from hearthpay.access.refusal import Refusal
from hearthpay.banking.calendar import submission_day
from hearthpay.banking.entries import cancel_payments, lock_payments
from hearthpay.clock import Clock
from hearthpay.payroll.issues.available_actions import (
    paid_by_hand,
    position_of,
    void_action,
    with_available_actions,
)
from hearthpay.payroll.ledger.payrolls import read_payroll
from hearthpay.payroll.ledger.rows import StoredPayroll
from hearthpay.payroll.lifecycle import Cause, PayrollStatus, move
from hearthpay.payroll.models import Payroll
from hearthpay.payroll.payday.bank_outcomes import refund_debit
from hearthpay.payroll.years.reversal import release_periods, reverse_paychecks

_WHY_NOT = {
    "firing": "its money is being sent at this moment",
    "pending_funding": "the household's money is already being collected",
    "processing": "direct deposits of it are already on their way",
    "voided": "it is voided already",
    "failed": "it has failed, and what failed of it is undone already",
}

_STANDING: Final = text(
    "SELECT EXISTS (SELECT FROM paychecks c WHERE c.payroll_id = :payroll AND c.reverses IS NULL "
    "AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id))"
)


async def void_payroll(
    session: AsyncSession, actor: Actor, clock: Clock, payroll_id: UUID, reason: str | None = None
) -> StoredPayroll:
    """Void a payroll as far as possible: what hasn't been sent, was paid by check or cash, or hasn't left.

    A scheduled payroll just isn't sent, nor is one whose debit waits and can't be sent. If it was paid by check or
    cash, every line is reversed. If its money is collected but no direct deposit has left, it is reversed too, so
    that the household can pay by check in time, and what was collected is refunded. Of a failed one, what was paid by
    check or cash is reversed; it is voided if nothing of it remains. Raises `not_found`, and `invalid_state` for any
    other, also if the worker was faster.
    """
    allow(actor, RUN_PAYROLL)
    # Locked first: if the payroll is being fired at this moment, wait for that; then it is no longer
    # scheduled.
    payroll = await session.scalar(select(Payroll).where(Payroll.id == payroll_id).with_for_update())
    if payroll is None or not actor.reaches(payroll.employer_id):
        raise Refusal("not_found", "Payroll not found.")
    now = clock.now()
    status = cast(PayrollStatus, payroll.status)
    await lock_payments(session, payroll_id)
    position = await position_of(session, payroll_id, now)
    way = await void_action(session, payroll_id, status, position)
    if way is None:
        why = _WHY_NOT.get(status, "its direct deposits have been paid")
        raise Refusal(
            "invalid_state",
            f"This payroll cannot be voided: {why}.",
            details={"payroll_id": payroll_id, "status": status, "direct_deposit": payroll.direct_deposit},
        )
    if way != "not_sent":
        if way != "hand_part":
            await cancel_payments(session, now, payroll_id)
        only = await paid_by_hand(session, payroll_id) if way == "hand_part" else None
        undone = await reverse_paychecks(session, payroll_id, now, only=only)
        await refund_debit(session, payroll_id, undone, submission_day(now), now)
    after: PayrollStatus = "voided"
    if way == "hand_part" and await session.scalar(_STANDING, {"payroll": payroll_id}):
        after = status
    else:
        await release_periods(session, payroll_id)
        moved = await move(session, [payroll_id], status, "voided", Cause(actor.kind, now, actor.id, reason))
        assert moved == [payroll_id], "the row is locked"
    await record_audit(
        session,
        actor,
        "payroll.void",
        employer_id=payroll.employer_id,
        subject_id=payroll_id,
        details={"status": {"before": status, "after": after}},
    )
    stored = await read_payroll(session, payroll_id)
    assert stored is not None
    return await with_available_actions(session, stored, now)


async def void_unsent(
    session: AsyncSession, actor: Actor, clock: Clock, payroll_id: UUID, reason: str
) -> PayrollStatus | None:
    """Void a payroll if nothing of it has been sent; return the status it had, or None if it no longer exists.

    It is voided only if the status is `scheduled`: if it is being fired at this moment, try again after that. For a
    service with its own permission to do so, which it has checked.
    """
    status = await session.scalar(select(Payroll.status).where(Payroll.id == payroll_id).with_for_update())
    if status != "scheduled":
        return cast("PayrollStatus | None", status)
    await release_periods(session, payroll_id)
    moved = await move(
        session, [payroll_id], "scheduled", "voided", Cause(actor.kind, clock.now(), actor.id, reason)
    )
    assert moved == [payroll_id], "the row is locked"
    employer_id = await session.scalar(select(Payroll.employer_id).where(Payroll.id == payroll_id))
    await record_audit(
        session,
        actor,
        "payroll.void",
        employer_id=employer_id,
        subject_id=payroll_id,
        details={"status": {"before": "scheduled", "after": "voided"}},
    )
    return "scheduled"
