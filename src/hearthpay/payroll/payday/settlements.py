"""Settling wages that left to the employees before their debit came back: what the household paid by other means.

Each payment is one row beside the payroll, never changed. What is open is reckoned from the bank's entries and these.
"""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import SETTLE_WAGES, allow
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.database.relations import BANK_ENTRIES
from hearthpay.database.typed_rows import fetch_one, fetch_optional, query
from hearthpay.taxes.money import from_cents

LONGEST_TELLER: Final = 200
"""Characters of who told of the payment."""


class _LockRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    status: str


_LOCK: Final = query(
    _LockRow,
    "SELECT id, organization_id, employer_id, sandbox, status FROM payrolls WHERE id = :id FOR NO KEY UPDATE",
)


class _BalanceRow(NamedTuple):
    owed: Decimal
    received: Decimal
    returned_on: datetime.date | None


_BALANCE: Final = query(
    _BalanceRow,
    """
    SELECT coalesce(sum(b.amount) FILTER (WHERE b.kind <> 'debit' AND b.status IN ('pending', 'sent', 'settled')), 0)
           + coalesce((SELECT sum(c.set_aside) FROM paychecks c
                        WHERE c.payroll_id = :id AND c.payment_method = 'direct_deposit' AND c.reverses IS NULL
                          AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id)), 0)
           - coalesce(sum(b.amount) FILTER (WHERE b.kind = 'debit' AND b.status IN ('pending', 'sent', 'settled')), 0)
               AS owed,
           coalesce((SELECT sum(s.amount) FROM wage_settlements s WHERE s.payroll_id = :id), 0) AS received,
           max((b.updated_at AT TIME ZONE 'America/New_York')::date)
               FILTER (WHERE b.kind = 'debit' AND b.status = 'returned') AS returned_on
      FROM {bank_entries} b WHERE b.payroll_id = :id
""",
    bank_entries=BANK_ENTRIES,
)
_INSERT: Final = text(
    "INSERT INTO wage_settlements (id, organization_id, employer_id, sandbox, payroll_id, amount, received_on, "
    "told_by, settled_by_kind, settled_by, settled_at) "
    "VALUES (:id, :organization_id, :employer_id, :sandbox, :payroll_id, :amount, "
    ":received_on, :told_by, :kind, :by, :now)"
)


@dataclass(frozen=True, slots=True)
class Settlement:
    """A payment that was noted, and what the household still owes of the payroll after it; amounts in cents."""

    id: UUID
    payroll_id: UUID
    employer_id: UUID
    amount: int
    still_owed: int


async def settle_wages(
    session: AsyncSession,
    actor: Actor,
    payroll_id: UUID,
    amount: int | None,
    received_on: datetime.date,
    told_by: str,
    now: datetime.datetime,
    today: datetime.date,
) -> Settlement:
    """Note what the household paid by other means for wages whose debit came back; without an amount all of it.

    The actor is the operator, who received the money. `amount` is cents. Raises `scope_required` for anybody else,
    `not_found` for no payroll, `invalid_state` where the household owes nothing of it, and `validation_error` for an
    amount that is none or more than is owed, a day to come or before the debit came back, and where nobody is named
    who told of it.
    """
    allow(actor, SETTLE_WAGES)
    payroll = await fetch_optional(session, _LOCK, {"id": payroll_id})
    if payroll is None:
        raise Refusal("not_found", "Payroll not found.")
    balance = await fetch_one(session, _BALANCE, {"id": payroll_id})
    owed = int(balance.owed) - int(balance.received)
    if (
        balance.returned_on is None
        or owed <= 0
        or payroll.status in ("scheduled", "firing", "pending_funding")
    ):
        raise Refusal(
            "invalid_state",
            "The household owes nothing of this payroll: no debit of it came back after the money had left, or all "
            "of it is settled.",
            details={"payroll_id": payroll_id, "status": payroll.status},
        )
    paid = owed if amount is None else amount
    if not 0 < paid <= owed:
        raise invalid("amount", f"must be more than 0 and at most what is owed, {from_cents(owed):,}")
    if not balance.returned_on <= received_on <= today:
        raise invalid(
            "received",
            f"must be a day from {balance.returned_on}, when the debit came back, to today, {today}",
        )
    teller = told_by.strip()
    if not 0 < len(teller) <= LONGEST_TELLER:
        raise invalid("told_by", f"must have 1 to {LONGEST_TELLER} characters")
    settlement = Settlement(uuid7(), payroll_id, payroll.employer_id, paid, owed - paid)
    await session.execute(
        _INSERT,
        {
            "id": settlement.id,
            "organization_id": payroll.organization_id,
            "employer_id": payroll.employer_id,
            "sandbox": payroll.sandbox,
            "payroll_id": payroll_id,
            "amount": paid,
            "received_on": received_on,
            "told_by": teller,
            "kind": actor.kind,
            "by": actor.id,
            "now": now,
        },
    )
    await record_audit(
        session,
        actor,
        "payroll.settle",
        employer_id=payroll.employer_id,
        subject_id=payroll_id,
        details={
            "amount": from_cents(paid),
            "received_on": received_on.isoformat(),
            "told_by": teller,
            "still_owed": from_cents(owed - paid),
        },
    )
    return settlement
