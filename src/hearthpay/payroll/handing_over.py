"""Marks a payroll by check or cash as handed over, before its pay date."""

import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import RUN_PAYROLL, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.payroll.models import Payroll


async def mark_handed_over(
    session: AsyncSession, actor: Actor, clock: Clock, payroll_id: UUID, note: str | None = None
) -> tuple[Payroll, datetime.datetime]:
    """Record that the checks or the cash of a payroll were handed over, and return it with the time of the first mark.

    Its status, dates and taxes stay as they are. Raises `not_found`, and `invalid_state` for a payroll that isn't
    completed or is paid through the bank.
    """
    allow(actor, RUN_PAYROLL)
    payroll = await session.scalar(select(Payroll).where(Payroll.id == payroll_id).with_for_update())
    if payroll is None or not actor.reaches(payroll.employer_id):
        raise Refusal("not_found", "Payroll not found.")
    if payroll.status != "completed" or payroll.direct_deposit:
        raise Refusal(
            "invalid_state",
            "Only a payroll by check or cash can be marked as handed over.",
            details={"payroll_id": payroll_id, "status": payroll.status},
        )
    if payroll.handed_over_at is not None:
        return payroll, payroll.handed_over_at
    now = clock.now()
    payroll.handed_over_at = now
    await session.flush()
    await record_audit(
        session,
        actor,
        "payroll.hand_over",
        employer_id=payroll.employer_id,
        subject_id=payroll_id,
        details={"pay_date": payroll.pay_date, "handed_over_at": now}
        | ({} if note is None else {"note": note}),
    )
    return payroll, now
