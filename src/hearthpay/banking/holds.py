"""Holds: what keeps a payment from being sent, recorded on the payment from the moment it is found until it is gone.

A hold isn't a state: the payment is tried again at every cut-off. It is logged when it begins or its reason changes,
and once a day while it lasts.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from uuid import UUID

import orjson
import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import fetch_all, query

HoldCode = Literal[
    "account_failed",
    "account_verifying",
    "account_not_usable",
    "not_authorized",
    "name_not_readable",
    "arrives_in_other_year",
    "internal",
]
"""Why a payment can't be sent. `internal`: something that only the operator can fix."""

HOLD_OF_ACCOUNT: Final[tuple[HoldCode, ...]] = ("account_failed", "account_verifying", "account_not_usable")
"""Holds caused by the state of the bank account; they end with that state."""

HELD_AS: Final = Fragment(
    "coalesce(e.hold_code, CASE WHEN b.status = 'failed' THEN 'account_failed' "
    "WHEN e.held_reason IS NOT NULL THEN 'internal' END)"
)
"""SQL: the hold code of the entry `e` of the account `b`; null if there is none."""


@dataclass(frozen=True, slots=True)
class PaymentHold:
    """The hold of one payment: a code, its parameters, and words for the operator's log."""

    code: HoldCode
    reason: str
    params: Mapping[str, str | int] | None = None


LOG_AGAIN: Final = datetime.timedelta(days=1)
"""How often a lasting hold is logged."""

# A payment for a later day is on hold already if its account has failed; whether it will be verified by then
# is open.
_BY_ACCOUNT: Final = text(
    "WITH found AS MATERIALIZED (SELECT e.id, s.reason, s.code FROM bank_entries e "
    "JOIN bank_accounts b ON b.id = e.bank_account_id CROSS JOIN LATERAL (SELECT "
    "CASE WHEN b.status = 'failed' OR b.status <> 'active' AND e.send_on <= :cut_off "
    "THEN 'the bank account is ' || b.status END AS reason, "
    "CASE WHEN b.status = 'failed' THEN 'account_failed' WHEN b.status = 'active' OR e.send_on > :cut_off THEN NULL "
    "WHEN b.status = 'verifying' THEN 'account_verifying' ELSE 'account_not_usable' END AS code) s "
    "WHERE e.status = 'pending' AND e.kind <> 'prenote' AND (s.code <> coalesce(e.hold_code, '') "
    "OR s.code IS NULL AND e.hold_code = ANY(:of_account)) "
    "ORDER BY e.id FOR NO KEY UPDATE OF e SKIP LOCKED) "
    "UPDATE bank_entries e SET held_reason = found.reason, hold_code = found.code, hold_params = NULL, "
    "held_logged_at = NULL, "
    "held_since = CASE WHEN found.reason IS NULL THEN NULL ELSE coalesce(e.held_since, :now) END, "
    "held_told = CASE WHEN found.reason IS NULL THEN NULL ELSE e.held_told END "
    "FROM found WHERE e.id = found.id RETURNING e.id"
)
_BY_FILE: Final = text(
    "UPDATE bank_entries e SET held_reason = r.reason, hold_code = r.code, hold_params = CAST(r.params AS jsonb), "
    "held_since = coalesce(e.held_since, :now), "
    "held_logged_at = CASE WHEN e.held_reason = r.reason THEN e.held_logged_at END "
    "FROM unnest(CAST(:ids AS uuid[]), CAST(:reasons AS text[]), CAST(:codes AS text[]), CAST(:params AS text[])) "
    "AS r(id, reason, code, params) WHERE e.id = r.id"
)


class _LogRow(NamedTuple):
    id: UUID
    hold_code: str | None
    held_reason: str | None
    held_since: datetime.datetime


_LOG: Final = query(
    _LogRow,
    "WITH due AS MATERIALIZED (SELECT id FROM bank_entries WHERE status = 'pending' AND held_reason IS NOT NULL "
    "AND (held_logged_at IS NULL OR held_logged_at <= :before) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) "
    "UPDATE bank_entries e SET held_logged_at = :now FROM due WHERE e.id = due.id "
    "RETURNING e.id, e.hold_code, e.held_reason, e.held_since",
)
_TOLD: Final = text(
    "UPDATE bank_entries SET held_told = held_reason WHERE payroll_id = :payroll AND status = 'pending' "
    "AND held_reason IS NOT NULL"
)
_log = structlog.get_logger("hearthpay.banking")


async def note_account_holds(session: AsyncSession, now: datetime.datetime, cut_off: datetime.date) -> int:
    """Record which payments are on hold for lack of a usable account, and which no longer are; return how many.

    `cut_off` is the last one that passed: what was due by then should have been sent.
    """
    rows = await session.execute(
        _BY_ACCOUNT, {"now": now, "cut_off": cut_off, "of_account": list(HOLD_OF_ACCOUNT)}
    )
    return len(rows.all())


async def note_file_holds(
    session: AsyncSession, now: datetime.datetime, holds: Mapping[UUID, PaymentHold]
) -> None:
    """Record what the cut-off's file had to leave out, and why."""
    if holds:
        found = list(holds.values())
        columns = {
            "ids": list(holds),
            "reasons": [each.reason for each in found],
            "codes": [each.code for each in found],
            "params": [None if each.params is None else orjson.dumps(each.params).decode() for each in found],
        }
        await session.execute(_BY_FILE, {"now": now, **columns})


async def record_hold_notice(session: AsyncSession, payroll_id: UUID) -> None:
    """Record that people were notified of the holds on the payroll's payments."""
    await session.execute(_TOLD, {"payroll": payroll_id})


async def log_holds(session: AsyncSession, now: datetime.datetime) -> None:
    """Log the holds that haven't been logged for a day."""
    for row in await fetch_all(session, _LOG, {"now": now, "before": now - LOG_AGAIN}):
        _log.warning(
            "bank_entry.held",
            entry_id=str(row.id),
            code=row.hold_code,
            reason=row.held_reason,
            since=row.held_since.isoformat(),
        )
