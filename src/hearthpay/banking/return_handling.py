"""Handles returned payments: updates the entry, the account and the authorization.

The consequences for a payroll or a set-aside are decided by the layers above, in the same transaction.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking import authorizations
from hearthpay.banking.accounts import fail_accounts
from hearthpay.banking.return_codes import Handling, return_codes
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.database.worker_audit import WorkerAuditEntry, record_worker_audit


class _ReturnRow(NamedTuple):
    id: UUID
    kind: str
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    bank_account_id: UUID
    payroll_id: UUID | None
    paycheck_id: UUID | None
    escrow_movement_id: UUID | None
    employee_id: UUID | None
    amount: int
    attempt: int
    return_code: str
    was_settled: bool


# The rows are locked before they change: was_settled is what another transaction has left, not what it began with.
_RETURN: Final = query(
    _ReturnRow,
    "UPDATE bank_entries e SET status = 'returned', return_code = r.code, updated_at = :now "
    "FROM (SELECT id, status FROM bank_entries "
    "WHERE id = ANY(CAST(:ids AS uuid[])) AND status IN ('sent', 'settled') FOR UPDATE) AS before "
    "JOIN unnest(CAST(:ids AS uuid[]), CAST(:codes AS text[])) AS r(id, code) ON r.id = before.id "
    "WHERE e.id = before.id "
    "RETURNING e.id, e.kind, e.organization_id, e.employer_id, e.sandbox, e.bank_account_id, e.payroll_id, "
    "e.paycheck_id, e.escrow_movement_id, e.employee_id, e.amount, e.attempt, e.return_code, "
    "before.status = 'settled' AS was_settled",
)


@dataclass(frozen=True, slots=True)
class ReturnedEntry:
    """A returned payment. `amount` is cents; `message` tells the household what happened and what to do."""

    entry_id: UUID
    kind: str
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    payroll_id: UUID | None
    paycheck_id: UUID | None
    escrow_movement_id: UUID | None
    employee_id: UUID | None
    amount: int
    attempt: int
    code: str
    return_class: Handling
    message: str
    was_settled: bool


async def mark_returned(
    session: AsyncSession, now: datetime.datetime, codes: Mapping[UUID, str]
) -> tuple[ReturnedEntry, ...]:
    """Mark the entries in progress as returned, each with its code, and update accounts and authorizations.

    An account that a payment couldn't reach has failed. For a debit it depends: insufficient funds change nothing about
    the account, and an objection of the household ends its authorization.
    """
    if not codes:
        return ()
    rows = await fetch_all(session, _RETURN, {"now": now, "ids": list(codes), "codes": list(codes.values())})
    table = return_codes()
    failed: dict[UUID, str] = {}
    stopped: set[UUID] = set()
    returned: list[ReturnedEntry] = []
    for row in rows:
        reason = table.reason(row.return_code)
        words = reason.explain(debit=row.kind == "debit")
        returned.append(
            ReturnedEntry(
                entry_id=row.id,
                kind=row.kind,
                organization_id=row.organization_id,
                employer_id=row.employer_id,
                sandbox=row.sandbox,
                payroll_id=row.payroll_id,
                paycheck_id=row.paycheck_id,
                escrow_movement_id=row.escrow_movement_id,
                employee_id=row.employee_id,
                amount=row.amount,
                attempt=row.attempt,
                code=row.return_code,
                return_class=reason.handling,
                message=f"{words.happened} {words.action}",
                was_settled=row.was_settled,
            )
        )
        if row.kind not in ("debit", "reversal") or reason.handling == "fail":
            failed[row.bank_account_id] = f"{reason.title} ({row.return_code})."
        elif reason.handling == "stop":
            stopped.add(row.bank_account_id)
    await fail_accounts(session, now, failed)
    await authorizations.revoke(session, now, stopped)
    await record_worker_audit(
        session,
        "bank_entry.return",
        [
            WorkerAuditEntry(
                entry.organization_id,
                entry.employer_id,
                entry.sandbox,
                entry.entry_id,
                {"kind": entry.kind, "code": entry.code},
            )
            for entry in returned
        ],
    )
    return tuple(returned)
