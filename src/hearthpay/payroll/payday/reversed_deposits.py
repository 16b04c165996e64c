"""Updates a payroll for a reversal: records it while it is in progress, and reverses the paycheck once it has
settled.
"""

import datetime
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import TAKE_BACK, allow
from hearthpay.access.refusal import Refusal
from hearthpay.banking.calendar import CUT_OFF, add_banking_days
from hearthpay.banking.return_codes import return_codes
from hearthpay.banking.return_handling import ReturnedEntry
from hearthpay.banking.reversals import (
    ReversalReason,
    SettledReversal,
    find_reversible,
    send_reversal,
)
from hearthpay.banking.settlement import RETURN_DAYS
from hearthpay.clock import BUSINESS_TIME
from hearthpay.payroll.issues.failures import REVERSED_FOR, StoredFailure
from hearthpay.payroll.lifecycle import PayrollStatus

_LOCK: Final = text("SELECT status FROM payrolls WHERE id = :id FOR NO KEY UPDATE")
_NOTE: Final = text("UPDATE payrolls SET failure = CAST(:failure AS jsonb) WHERE id = :id")


async def reverse_deposit(
    session: AsyncSession,
    actor: Actor,
    payroll_id: UUID,
    employee_id: UUID,
    reason: ReversalReason,
    amount_cents: int,
    now: datetime.datetime,
) -> datetime.date:
    """Reverse the employee's direct deposit with the next bank file; return the day on which it should settle.

    `amount_cents` is what the operator confirms. The payroll shows the reversal at once, and so do the notices.
    Raises `not_found`, and `invalid_state` if the deposit can't be reversed or the amount differs.
    """
    allow(actor, TAKE_BACK)
    await session.execute(_LOCK, {"id": payroll_id})
    found = await find_reversible(session, payroll_id, employee_id, now)
    if found.amount != amount_cents:
        raise Refusal("invalid_state", "The amount that was confirmed is not that of the direct deposit.")
    await send_reversal(session, actor, found, reason, now)
    done = add_banking_days(found.settle_on, RETURN_DAYS)
    failure = StoredFailure(
        "reversed",
        f"A direct deposit was made by mistake. It is being taken back from the employee's account on "
        f"{found.settle_on:%A, %B %-d}.",
        "",
        (employee_id,),
        kind="deposit_reversed",
        reason=REVERSED_FOR[reason],
        reversed_for=reason,
        until=datetime.datetime.combine(done, CUT_OFF, BUSINESS_TIME).astimezone(datetime.UTC),
    )
    await note(session, payroll_id, failure)
    return found.settle_on


def reversed_for_good(reversal: SettledReversal, earlier: Sequence[UUID]) -> StoredFailure:
    """Return the note that a deposit has been reversed and its paycheck voided."""
    return StoredFailure(
        "reversed",
        "A direct deposit that was made by mistake has been taken back. Its paycheck is undone, and what was "
        "collected for it goes back to the household.",
        "",
        tuple(dict.fromkeys((*earlier, reversal.employee_id))),
        kind="deposit_reversed",
        reason=REVERSED_FOR[reversal.reason],
        reversed_for=reversal.reason,
    )


def not_taken_back(entry: ReturnedEntry, status: PayrollStatus) -> StoredFailure:
    """Record that the employee's bank returned the reversal: the money stays with the employee."""
    assert entry.employee_id is not None
    title = return_codes().reason(entry.code).title
    undone = " Its paycheck had been undone already." if status == "failed" and entry.was_settled else ""
    return StoredFailure(
        entry.code,
        f"A direct deposit that was made by mistake could not be taken back from the employee's account.{undone}",
        "",
        (entry.employee_id,),
        kind="reversal_returned",
        reason=title,
    )


async def note_too_late(session: AsyncSession, payroll_id: UUID, employee_id: UUID) -> None:
    """Record that a reversal couldn't be sent within the allowed days: the money stays with the employee."""
    await session.execute(_LOCK, {"id": payroll_id})
    failure = StoredFailure(
        "reversal_too_late",
        "A direct deposit that was made by mistake could not be taken back within the days that banks allow.",
        "",
        (employee_id,),
        kind="reversal_returned",
        reason="Too late to reverse",
    )
    await note(session, payroll_id, failure)


async def note(session: AsyncSession, payroll_id: UUID, failure: StoredFailure) -> None:
    """Store the failure with the payroll, whose row is locked."""
    stored = orjson.dumps(failure.as_json()).decode()
    await session.execute(_NOTE, {"id": payroll_id, "failure": stored})
