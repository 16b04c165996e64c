"""Settles wages sent to employees before their debit was returned: what the household paid by other means.

Each payment is one row linked to the payroll, never changed. The open amount is calculated from the bank's entries
and these rows.
"""

import datetime
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import SETTLE_WAGES, allow
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.payroll.issues.wage_balance import read_wage_balance
from hearthpay.taxes.money import from_cents

LONGEST_TELLER: Final = 200
"""Maximum characters of the name of the person who reported the payment."""


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


_INSERT: Final = text(
    "INSERT INTO wage_settlements (id, organization_id, employer_id, sandbox, payroll_id, amount, received_on, "
    "told_by, settled_by_kind, settled_by, settled_at) "
    "VALUES (:id, :organization_id, :employer_id, :sandbox, :payroll_id, :amount, "
    ":received_on, :told_by, :kind, :by, :now)"
)


@dataclass(frozen=True, slots=True)
class Settlement:
    """A recorded payment, and what the household still owes for the payroll after it; amounts in cents."""

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
    """Record what the household paid by other means for wages whose debit was returned; without an amount, all of it.

    The actor is the operator, who received the money. `amount` is cents. Raises `scope_required` for any other actor,
    `not_found` for an unknown payroll, and `invalid_state` if the household owes nothing for it. Raises
    `validation_error` for an amount that is invalid or more than is owed, for a day in the future or before the debit
    was returned, and if nobody is named as having reported the payment.
    """
    allow(actor, SETTLE_WAGES)
    payroll = await fetch_optional(session, _LOCK, {"id": payroll_id})
    if payroll is None:
        raise Refusal("not_found", "Payroll not found.")
    balance = await read_wage_balance(session, payroll_id)
    owed = balance.still_owed
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
