"""Returned prenotes and set-aside payouts that nobody was notified of yet; they belong to no payroll."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.statements import Fragment, statement
from hearthpay.database.typed_rows import fetch_optional, query

UNREPORTED: Final = Fragment(
    "SELECT id FROM bank_entries WHERE status = 'returned' AND kind IN ('prenote', 'payout') "
    "AND return_told_at IS NULL"
)
"""SQL: the payments whose return hasn't been reported."""

_UNTOLD: Final = statement(
    "{unreported} ORDER BY row_number() OVER (PARTITION BY organization_id ORDER BY id), id LIMIT :limit",
    unreported=UNREPORTED,
)


class _LockRow(NamedTuple):
    id: UUID
    kind: Literal["prenote", "payout"]
    amount: int
    code: str
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    employee_id: UUID | None
    last_four: str


_LOCK: Final = query(
    _LockRow,
    "SELECT e.id, e.kind, e.amount, e.return_code AS code, e.organization_id, e.employer_id, e.sandbox, a.employee_id, "
    "a.last_four FROM bank_entries e JOIN bank_accounts a ON a.id = e.bank_account_id "
    "WHERE e.id = :id AND e.return_told_at IS NULL FOR NO KEY UPDATE OF e SKIP LOCKED",
)
_TOLD: Final = text("UPDATE bank_entries SET return_told_at = :now WHERE id = :id")


@dataclass(frozen=True, slots=True)
class UnreportedReturn:
    """A returned prenote or payout; `amount` in cents. Without an employee the account is the household's."""

    id: UUID
    kind: Literal["prenote", "payout"]
    amount: int
    code: str
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    employee_id: UUID | None
    last_four: str


async def find_unreported_returns(session: AsyncSession, *, limit: int) -> Sequence[UUID]:
    """Return payments whose return hasn't been reported, oldest first; the session is the worker's."""
    return list(await session.scalars(_UNTOLD, {"limit": limit}))


async def lock_unreported_return(session: AsyncSession, entry_id: UUID) -> UnreportedReturn | None:
    """Return the payment, locked for the transaction; None if another worker has it or has reported it."""
    row = await fetch_optional(session, _LOCK, {"id": entry_id})
    return None if row is None else UnreportedReturn(*row)


async def record_return_notice(session: AsyncSession, entry_id: UUID, now: datetime.datetime) -> None:
    """Record that people were notified of the payment's return."""
    await session.execute(_TOLD, {"id": entry_id, "now": now})
