"""Settlement: a sent payment is complete when its day has come and no bank has returned it.

Each function may run in several workers at once: rows locked by another are skipped.
"""

import datetime
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.calendar import add_banking_days, banking_day_on_or_before, previous_banking_day
from hearthpay.banking.entries import effective_by
from hearthpay.banking.unread_files import IN_QUESTION
from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.relations import PAYROLLS
from hearthpay.database.statements import statement
from hearthpay.database.typed_rows import fetch_all, query

RETURN_DAYS: Final = 2
"""Banking days after settlement within which a bank returns a debit for lack of funds or of an account (Nacha
Operating Rules, 3.8.1): until then a debit doesn't count as collected."""

ANSWERS_BY: Final = datetime.time(10, 0)
"""The Eastern time by which a business day's returns have arrived. A bank returns a debit so that it is back by the
opening of the second business day after settlement (3.8.1); until then, the day hasn't passed."""

_LIMIT: Final = 5_000


class _DebitsDueRow(NamedTuple):
    id: UUID
    payroll_id: UUID
    status: str


_DEBITS_DUE: Final = query(
    _DebitsDueRow,
    "SELECT e.id, p.id AS payroll_id, p.status FROM bank_entries e JOIN {payrolls} p ON p.id = e.payroll_id "
    "WHERE e.kind = 'debit' AND e.status = 'sent' AND e.effective_date <= :by AND (e.sandbox OR :real) "
    "AND NOT {in_question} ORDER BY e.effective_date, e.id LIMIT :limit FOR UPDATE SKIP LOCKED",
    payrolls=PAYROLLS,
    in_question=IN_QUESTION,
)
_SETTLE: Final = text(
    "UPDATE bank_entries SET status = 'settled', updated_at = :now WHERE id = ANY(:ids) AND status = 'sent'"
)


class _PayrollsDueRow(NamedTuple):
    id: UUID
    status: str


_PAYROLLS_DUE: Final = query(
    _PayrollsDueRow,
    "SELECT p.id, p.status FROM {payrolls} p WHERE p.id IN "
    "(SELECT payroll_id FROM bank_entries e WHERE kind = 'credit' AND status = 'sent' AND effective_date <= :by "
    "AND NOT {in_question}) ORDER BY p.id LIMIT :limit FOR UPDATE SKIP LOCKED",
    payrolls=PAYROLLS,
    in_question=IN_QUESTION,
)
_SETTLE_CREDITS: Final = statement(
    "UPDATE bank_entries e SET status = 'settled', updated_at = :now WHERE payroll_id = ANY(:payrolls) "
    "AND kind = 'credit' AND status = 'sent' AND effective_date <= :by AND NOT {in_question} RETURNING id",
    in_question=IN_QUESTION,
)
_ALL_SETTLED: Final = text(
    "SELECT payroll_id FROM bank_entries WHERE payroll_id = ANY(:payrolls) AND kind = 'credit' "
    "GROUP BY payroll_id HAVING bool_and(status IN ('settled', 'cancelled')) ORDER BY payroll_id"
)
_SETTLE_OTHERS: Final = statement(
    "UPDATE bank_entries SET status = 'settled', updated_at = :now WHERE id IN "
    "(SELECT id FROM bank_entries e WHERE kind IN ('refund', 'payout', 'prenote') AND status = 'sent' "
    "AND effective_date <= :by AND NOT {in_question} ORDER BY id FOR UPDATE SKIP LOCKED) RETURNING id",
    in_question=IN_QUESTION,
)


@dataclass(frozen=True, slots=True)
class Settled:
    """What one call has settled. The payrolls' rows stay locked until the commit."""

    payroll_ids: list[UUID]
    entries: int
    """How many entries were settled; if none, nothing is left to do."""


def collected_by(now: datetime.datetime) -> datetime.date:
    """Return the latest effective date of debits that can no longer be returned for lack of funds at this instant."""
    local = now.astimezone(BUSINESS_TIME)
    day = banking_day_on_or_before(local.date())
    if day == local.date() and local.time() < ANSWERS_BY:
        day = previous_banking_day(day)
    return add_banking_days(day, -RETURN_DAYS)


async def settle_debits(
    session: AsyncSession, now: datetime.datetime, *, limit: int = _LIMIT, real: bool = True
) -> Settled:
    """Settle the debits that can no longer be returned for lack of funds; the payrolls are those now funded.

    Those of real households only if the bank's returns have arrived, as `real` says, and only if none of the files
    that couldn't be read may return them.
    """
    due = await fetch_all(session, _DEBITS_DUE, {"by": collected_by(now), "limit": limit, "real": real})
    if due:
        await session.execute(_SETTLE, {"now": now, "ids": [row.id for row in due]})
    return Settled([row.payroll_id for row in due if row.status == "pending_funding"], len(due))


async def settle_credits(session: AsyncSession, now: datetime.datetime, *, limit: int = _LIMIT) -> Settled:
    """Settle the credits whose day has come, of `limit` payrolls; the payrolls are those now fully paid."""
    by = effective_by(now, 0)
    due = await fetch_all(session, _PAYROLLS_DUE, {"by": by, "limit": limit})
    if not due:
        return Settled([], 0)
    payrolls = [row.id for row in due]
    settled = (await session.execute(_SETTLE_CREDITS, {"now": now, "by": by, "payrolls": payrolls})).all()
    processing = [row.id for row in due if row.status == "processing"]
    done = await session.scalars(_ALL_SETTLED, {"payrolls": processing})
    return Settled(list(done), len(settled))


async def settle_others(session: AsyncSession, now: datetime.datetime) -> int:
    """Settle the prenotes, refunds and set-aside payouts whose day has come; return how many."""
    rows = await session.execute(_SETTLE_OTHERS, {"now": now, "by": effective_by(now, 0)})
    return len(rows.all())
