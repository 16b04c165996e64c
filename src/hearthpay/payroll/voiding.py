"""Voiding a payroll: one that has not been sent yet, one paid by check or cash, or one whose deposits are held."""

from typing import cast
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.calendar import submission_day
from hearthpay.banking.entries import cancel_unsent
from hearthpay.clock import Clock
from hearthpay.http.actor import Actor
from hearthpay.http.errors import ApiError
from hearthpay.http.trail import leave_trace
from hearthpay.payroll.ledger import read_payroll
from hearthpay.payroll.lifecycle import Cause, Status, move
from hearthpay.payroll.models import Payroll
from hearthpay.payroll.outcomes import give_back
from hearthpay.payroll.records import StoredPayroll
from hearthpay.payroll.reversal import release_periods, reverse_paychecks

_WHY_NOT = {
    "firing": "its money is being sent at this moment",
    "pending_funding": "the household's money is already being collected",
    "processing": "direct deposits of it are already on their way",
    "voided": "it is voided already",
    "failed": "it has failed, and what failed of it is undone already",
}


async def void_payroll(
    session: AsyncSession, actor: Actor, clock: Clock, payroll_id: UUID, reason: str | None = None
) -> StoredPayroll:
    """Void a scheduled payroll that is not sent yet, or a completed one paid by check or cash.

    A scheduled one is simply not sent. Of a completed one every line is reversed. One whose money is collected but of
    which no direct deposit has left, so that the household may pay by check in time, is reversed as well, and what was
    collected goes back. Raises `not_found`, and `invalid_state` for any other, also where the worker was faster.
    """
    # Locked first: whoever fires it at this moment is waited for, and then it is no longer scheduled.
    payroll = await session.scalar(select(Payroll).where(Payroll.id == payroll_id).with_for_update())
    if payroll is None:
        raise ApiError("not_found", "There is no such payroll.")
    now = clock.now()
    status = cast(Status, payroll.status)
    recalled = status == "processing" and bool(await cancel_unsent(session, now, [payroll_id]))
    paid_by_hand = status == "completed" and not payroll.direct_deposit
    if status not in ("scheduled", "draft") and not recalled and not paid_by_hand:
        why = _WHY_NOT.get(status, "its direct deposits have been paid")
        raise ApiError(
            "invalid_state",
            f"This payroll cannot be voided: {why}.",
            details={"payroll_id": payroll_id, "status": status, "direct_deposit": payroll.direct_deposit},
        )
    if recalled or paid_by_hand:
        undone = await reverse_paychecks(session, payroll_id, now)
        if recalled:
            await give_back(session, payroll_id, undone, submission_day(now), now)
    await release_periods(session, payroll_id)
    moved = await move(session, [payroll_id], status, "voided", Cause(actor.kind, now, actor.id, reason))
    assert moved == [payroll_id], "the row is locked"
    await leave_trace(
        session,
        actor,
        "payroll.void",
        employer_id=payroll.employer_id,
        subject_id=payroll_id,
        details={"status": {"before": status, "after": "voided"}},
    )
    stored = await read_payroll(session, payroll_id)
    assert stored is not None
    return stored
