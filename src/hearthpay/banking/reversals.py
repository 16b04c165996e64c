"""Reversals: a direct deposit that was paid by mistake is debited from the employee's account.

Only a mistake may be reversed: a duplicate, the wrong person, amount or date; only in full, within five banking days
of the payment's settlement, and after notifying the employee (Nacha Operating Rules, 2.9). A reversal is a debit of
the employee's account, and is complete when no bank has returned it in time.
"""

import datetime
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import TAKE_BACK, allow
from hearthpay.access.refusal import Refusal
from hearthpay.banking.calendar import add_banking_days
from hearthpay.banking.entries import dates_from, effective_by
from hearthpay.banking.settlement import RETURN_DAYS
from hearthpay.banking.unread_files import IN_QUESTION
from hearthpay.database.relations import PAYCHECKS
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query
from hearthpay.database.worker_audit import WorkerAuditEntry, record_worker_audit

ReversalReason = Literal["duplicate", "wrong_receiver", "wrong_amount", "wrong_date"]
REASONS: Final[tuple[ReversalReason, ...]] = get_args(ReversalReason)

REVERSAL_DAYS: Final = 5
"""Banking days after the settlement of a payment within which its reversal must reach the bank (Nacha Operating
Rules, 2.9). Here the reversal must also settle within them, which is stricter.
"""


class _CreditRow(NamedTuple):
    id: UUID
    amount: int
    status: str
    effective_date: datetime.date | None
    payroll_id: UUID
    paycheck_id: UUID
    employee_id: UUID
    employer_id: UUID
    account: str
    last_four: str
    undone: bool
    reversed: bool


_CREDIT: Final = query(
    _CreditRow,
    "SELECT e.id, e.amount, e.status, e.effective_date, e.payroll_id, e.paycheck_id, e.employee_id, e.employer_id, "
    "b.status AS account, b.last_four, EXISTS (SELECT FROM {paychecks} r WHERE r.reverses = e.paycheck_id) AS undone, "
    "EXISTS (SELECT FROM bank_entries r WHERE r.reverses = e.id AND r.kind = 'reversal') AS reversed "
    "FROM bank_entries e JOIN bank_accounts b ON b.id = e.bank_account_id WHERE e.payroll_id = :payroll "
    "AND e.employee_id = :employee AND e.kind = 'credit' FOR UPDATE OF e",
    paychecks=PAYCHECKS,
)
_INSERT: Final = text(
    "INSERT INTO bank_entries (id, organization_id, employer_id, sandbox, kind, bank_account_id, employee_id, "
    "payroll_id, paycheck_id, reverses, reversal_reason, amount, attempt, status, send_on, settle_on, created_at, "
    "updated_at) SELECT :id, organization_id, employer_id, sandbox, 'reversal', bank_account_id, employee_id, "
    "payroll_id, paycheck_id, id, :reason, amount, 1, 'pending', :send_on, :settle_on, :now, :now "
    "FROM bank_entries WHERE id = :credit"
)


class _SettleRow(NamedTuple):
    id: UUID
    payroll_id: UUID
    paycheck_id: UUID
    employee_id: UUID
    reversal_reason: ReversalReason


_SETTLE: Final = query(
    _SettleRow,
    "WITH due AS MATERIALIZED (SELECT id FROM bank_entries e WHERE kind = 'reversal' AND status = 'sent' "
    "AND effective_date <= :by AND NOT {in_question} ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED) "
    "UPDATE bank_entries e SET status = 'settled', updated_at = :now FROM due WHERE e.id = due.id "
    "RETURNING e.id, e.payroll_id, e.paycheck_id, e.employee_id, e.reversal_reason",
    in_question=IN_QUESTION,
)


class _PendingRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    payroll_id: UUID
    employee_id: UUID
    effective_date: datetime.date


# The payment's own day counts, and so does the first day on which a file built now can move money.
_PENDING: Final = query(
    _PendingRow,
    "SELECT e.id, e.organization_id, e.employer_id, e.sandbox, e.payroll_id, e.employee_id, c.effective_date "
    "FROM bank_entries e "
    "JOIN bank_entries c ON c.id = e.reverses WHERE e.kind = 'reversal' AND e.status = 'pending' "
    "ORDER BY e.id FOR UPDATE OF e SKIP LOCKED",
)
_CANCEL: Final = text(
    "UPDATE bank_entries SET status = 'cancelled', updated_at = :now WHERE id = ANY(:ids) AND status = 'pending'"
)


@dataclass(frozen=True, slots=True)
class Reversible:
    """A direct deposit that may be reversed; `amount` is cents, `by` the last day on which the reversal may settle."""

    entry_id: UUID
    amount: int
    payroll_id: UUID
    employee_id: UUID
    employer_id: UUID
    last_four: str
    by: datetime.date
    send_on: datetime.date
    settle_on: datetime.date


@dataclass(frozen=True, slots=True)
class SettledReversal:
    """A reversed deposit."""

    entry_id: UUID
    payroll_id: UUID
    paycheck_id: UUID
    employee_id: UUID
    reason: ReversalReason


async def find_reversible(
    session: AsyncSession, payroll_id: UUID, employee_id: UUID, now: datetime.datetime
) -> Reversible:
    """Return the employee's deposit of the payroll, locked; raises `not_found`, and `invalid_state` with the reason."""
    row = await fetch_optional(session, _CREDIT, {"payroll": payroll_id, "employee": employee_id})
    if row is None:
        raise Refusal("not_found", "The payroll has no direct deposit of this employee.")
    if row.status not in ("sent", "settled"):
        raise _refused("it has not left for the bank" if row.status == "pending" else f"it is {row.status}")
    if row.undone or row.reversed:
        raise _refused("it is taken back already")
    if row.account != "active":
        raise _refused(f"the account that it went to is {row.account}")
    assert row.effective_date is not None, "it has left"
    send_on, settle_on = dates_from(now)
    by = last_day_of(row.effective_date)
    if settle_on > by:
        raise _refused(f"it could only be taken back on {settle_on}, and the last day for it is {by}")
    return Reversible(
        row.id,
        row.amount,
        row.payroll_id,
        row.employee_id,
        row.employer_id,
        row.last_four,
        by,
        send_on,
        max(settle_on, add_banking_days(row.effective_date, 1)),
    )


async def send_reversal(
    session: AsyncSession, actor: Actor, found: Reversible, reason: ReversalReason, now: datetime.datetime
) -> UUID:
    """Put the reversal of the deposit into the next file; return its id. Raises what `allow` raises."""
    allow(actor, TAKE_BACK, found.employer_id)
    reversal_id = uuid7()
    await session.execute(
        _INSERT,
        {
            "id": reversal_id,
            "credit": found.entry_id,
            "reason": reason,
            "send_on": found.send_on,
            "settle_on": found.settle_on,
            "now": now,
        },
    )
    await record_audit(
        session,
        actor,
        "bank_entry.reverse",
        employer_id=found.employer_id,
        subject_id=found.entry_id,
        details={"reversal": reversal_id, "reason": reason, "settles_on": str(found.settle_on)},
    )
    return reversal_id


async def settle_reversals(
    session: AsyncSession, now: datetime.datetime, *, limit: int
) -> list[SettledReversal]:
    """Settle the reversals that can no longer be returned for insufficient funds; the layers above handle the
    consequences.
    """
    by = effective_by(now, RETURN_DAYS)
    rows = await fetch_all(session, _SETTLE, {"now": now, "by": by, "limit": limit})
    return [SettledReversal(*row) for row in rows]


async def cancel_late_reversals(
    session: AsyncSession, now: datetime.datetime, earliest: datetime.date
) -> list[tuple[UUID, UUID]]:
    """Cancel unsent reversals that would settle too late, on `earliest` at best.

    Return the payroll and employee of each.
    """
    late = [row for row in await fetch_all(session, _PENDING) if earliest > last_day_of(row.effective_date)]
    if late:
        await session.execute(_CANCEL, {"now": now, "ids": [row.id for row in late]})
        entries = [
            WorkerAuditEntry(
                row.organization_id, row.employer_id, row.sandbox, row.id, {"reason": "too_late"}
            )
            for row in late
        ]
        await record_worker_audit(session, "bank_entry.cancel", entries)
    return [(row.payroll_id, row.employee_id) for row in late]


def last_day_of(settled_on: datetime.date) -> datetime.date:
    """Return the last day on which a payment of that day may be reversed."""
    return add_banking_days(settled_on, REVERSAL_DAYS)


def _refused(why: str) -> Refusal:
    return Refusal("invalid_state", f"This direct deposit cannot be reversed: {why}.")
