"""The register of money in the wrong place: what can't be sent, and what was paid but not collected.

Each case says how much, since when, in which state, and what comes next. Doctor and reconciliation find the same
cases.
"""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, NamedTuple, get_args
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.authorizations import covers
from hearthpay.database.household_clocks import time_of
from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import Query, fetch_all

CaseKind = Literal[
    "debit_waits",
    "deposit_waits",
    "refund_waits",
    "payout_waits",
    "wages_not_collected",
    "settled_too_much",
    "set_aside_overdrawn",
    "file_unread",
]

KINDS: Final[tuple[CaseKind, ...]] = get_args(CaseKind)

_TODAY: Final = "(CAST(:now AS timestamptz) AT TIME ZONE 'America/New_York')::date"
_TIME_THERE: Final = time_of(Fragment("e.employer_id"), Fragment("CAST(:now AS timestamptz)"))
_TODAY_THERE: Final = f"({_TIME_THERE} AT TIME ZONE 'America/New_York')::date"
_COVERED: Final = covers(account="n", payroll="p", now=_TIME_THERE)
"""Who to ask, by the owner's current account; what should have been sent before today is on hold, whatever the
reason.
"""

_WAITING: Final = f"""
    SELECT CASE e.kind WHEN 'debit' THEN 'debit_waits' WHEN 'credit' THEN 'deposit_waits'
                       WHEN 'refund' THEN 'refund_waits' ELSE 'payout_waits' END AS kind,
           e.id, e.employer_id, e.payroll_id, e.employee_id, e.amount, e.send_on AS since, e.sandbox,
           concat_ws(', ', 'the ' || CASE WHEN b.employee_id IS NULL THEN 'household''s' ELSE 'employee''s' END
                     || ' account is ' || coalesce(n.status, 'not connected'),
                     CASE WHEN e.kind = 'debit' AND n.id IS NOT NULL AND NOT {_COVERED}
                          THEN 'debits of it are not authorized' END,
                     'came back as ' || last.return_code) AS state,
           d.until
      FROM bank_entries e
      JOIN bank_accounts b ON b.id = e.bank_account_id
      LEFT JOIN payrolls p ON p.id = e.payroll_id
      LEFT JOIN bank_accounts n ON n.employer_id = b.employer_id
                               AND n.employee_id IS NOT DISTINCT FROM b.employee_id AND n.status <> 'replaced'
      LEFT JOIN LATERAL (SELECT until FROM paycheck_remedies r WHERE r.paycheck_id = e.paycheck_id AND e.kind = 'credit'
                          ORDER BY r.id DESC LIMIT 1) d ON true
      LEFT JOIN LATERAL (SELECT return_code FROM bank_entries x
                          WHERE x.payroll_id = e.payroll_id AND x.kind = e.kind AND x.attempt = e.attempt - 1
                            AND x.paycheck_id IS NOT DISTINCT FROM e.paycheck_id) last ON true
     WHERE e.status = 'pending' AND e.kind <> 'prenote'
       AND (e.send_on < {_TODAY_THERE} OR coalesce(n.status, 'none') NOT IN ('active', 'verifying')
            OR e.kind = 'debit' AND NOT {_COVERED})
"""

_LATE: Final = """
    SELECT CASE WHEN q.owed > 0 THEN 'wages_not_collected' ELSE 'settled_too_much' END AS kind, q.id, q.employer_id,
           q.id AS payroll_id, CAST(NULL AS uuid) AS employee_id, abs(q.owed) AS amount,
           (q.returned_at AT TIME ZONE 'America/New_York')::date AS since, q.sandbox,
           concat('the debit came back as ', q.code, ', the payroll is ', q.status,
                  CASE WHEN q.received > 0 THEN ', ' || to_char(q.received / 100.0, 'FM99999999999999990.00')
                       || ' was paid by other means' END) AS state, CAST(NULL AS date) AS until
      FROM (SELECT p.id, p.employer_id, p.sandbox, p.status, m.returned_at, m.code, coalesce(w.received, 0) AS received,
                   m.paid + coalesce(s.held, 0) - m.collected - coalesce(w.received, 0) AS owed
              FROM (SELECT payroll_id,
                           coalesce(sum(amount) FILTER (
                               WHERE kind = 'debit' AND status IN ('pending', 'sent', 'settled')), 0) AS collected,
                           coalesce(sum(amount) FILTER (
                               WHERE kind <> 'debit' AND status IN ('pending', 'sent', 'settled')), 0) AS paid,
                           max(updated_at) FILTER (WHERE kind = 'debit' AND status = 'returned') AS returned_at,
                           (array_agg(return_code ORDER BY attempt DESC)
                               FILTER (WHERE kind = 'debit' AND status = 'returned'))[1] AS code
                      FROM bank_entries
                     WHERE payroll_id IN
                           (SELECT payroll_id FROM bank_entries WHERE kind = 'debit' AND status = 'returned')
                     GROUP BY payroll_id) m
              JOIN payrolls p ON p.id = m.payroll_id
              LEFT JOIN LATERAL (SELECT sum(c.set_aside) AS held FROM paychecks c
                                  WHERE c.payroll_id = p.id AND c.payment_method = 'direct_deposit'
                                    AND c.reverses IS NULL
                                    AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id)) s ON true
              LEFT JOIN LATERAL (SELECT sum(x.amount) AS received FROM wage_settlements x
                                  WHERE x.payroll_id = p.id) w ON true
             WHERE p.status NOT IN ('scheduled', 'firing', 'pending_funding')) q
     WHERE q.owed > 0 OR q.owed < 0 AND q.received > 0
"""
"""What was sent for a payroll, and what of it is held for employees, beyond what came in: a bank returned the debit.
What the household paid by other means since then reduces it; if a payment was returned after that, the household
paid too much."""

_OVERDRAWN: Final = """
    SELECT 'set_aside_overdrawn', a.employee_id, a.employer_id, CAST(NULL AS uuid), a.employee_id, -a.held,
           coalesce((SELECT max(m.created_at) FROM escrow_movements m
                      WHERE m.employee_id = a.employee_id AND m.kind = 'reversal') AT TIME ZONE 'America/New_York',
                    CAST(:now AS timestamptz) AT TIME ZONE 'America/New_York')::date, a.sandbox,
           'paid out before its debit or deposit came back', CAST(NULL AS date)
      FROM escrow_accounts a WHERE a.held < 0
"""

_UNREAD: Final = """
    SELECT 'file_unread', i.id, CAST(NULL AS uuid), CAST(NULL AS uuid), CAST(NULL AS uuid), coalesce(sum(h.amount), 0),
           (i.received_at AT TIME ZONE 'America/New_York')::date, false,
           concat('the bank''s file ', i.name, ' is not read and holds ', count(h.entry_id), ' payments'),
           CAST(NULL AS date)
      FROM bank_intake i LEFT JOIN held_by_bank_files() h ON h.file_id = i.id
     WHERE i.ended_at IS NULL GROUP BY i.id
"""
"""Debits whose return may lie in a file that nobody has read; a file of no household, whose amount may be zero."""

OPEN_CASES: Final = f"{_WAITING} UNION ALL {_LATE} UNION ALL {_OVERDRAWN} UNION ALL {_UNREAD}"
"""The query of every open case: its kind, its owner, the cents, its start, its state and the last day of its wait."""


class _RegisterRow(NamedTuple):
    kind: CaseKind
    id: UUID
    employer_id: UUID | None
    payroll_id: UUID | None
    employee_id: UUID | None
    amount: Decimal
    since: datetime.date
    sandbox: bool
    state: str
    until: datetime.date | None


_REGISTER: Final = Query(_RegisterRow, text(f"SELECT * FROM ({OPEN_CASES}) AS open ORDER BY since, kind, id"))

_NEXT_STEPS: Final[dict[CaseKind, str]] = {
    "debit_waits": "Connect the household's account, authorize the debit or void the payroll; it fails five banking "
    "days after its day.",
    "deposit_waits": "Pay it by check, let it wait for another account until a day, or refund it.",
    "refund_waits": "Connect the household's account; it is sent by itself then.",
    "payout_waits": "The employee connects an account; it is sent by itself then.",
    "wages_not_collected": "The household owes it: settle it with the household, and note what it paid by "
    "`hearthpay bank settle`. No other debit is made by itself.",
    "settled_too_much": "You owe it to the household, which had settled it before a payment came back: pay it back.",
    "set_aside_overdrawn": "The employee owes it: what is set aside next makes up for it, or settle it.",
    "file_unread": "`hearthpay bank unread` says why. Ask the bank for the returns in it, then set it aside by "
    "`hearthpay bank set-aside`.",
}


@dataclass(frozen=True, slots=True)
class OpenCase:
    """Money in the wrong place. `amount` is cents, `age_days` calendar days; `id` is that of its row.

    A file of the bank that isn't read belongs to no household.
    """

    kind: CaseKind
    id: UUID
    employer_id: UUID | None
    payroll_id: UUID | None
    employee_id: UUID | None
    amount: int
    since: datetime.date
    age_days: int
    sandbox: bool
    state: str
    next_step: str


async def open_cases(session: AsyncSession, now: datetime.datetime) -> list[OpenCase]:
    """Return every open case, oldest first; the session must see every tenant, or finds only its own."""
    today = await session.scalar(text(f"SELECT {_TODAY}"), {"now": now})
    cases = []
    for row in await fetch_all(session, _REGISTER, {"now": now}):
        step = _NEXT_STEPS[row.kind]
        if row.until is not None:
            step = f"It waits for another account until {row.until}, and is refunded then."
        cases.append(
            OpenCase(
                kind=row.kind,
                id=row.id,
                employer_id=row.employer_id,
                payroll_id=row.payroll_id,
                employee_id=row.employee_id,
                amount=int(row.amount),
                since=row.since,
                age_days=max((today - row.since).days, 0),
                sandbox=row.sandbox,
                state=row.state,
                next_step=step,
            )
        )
    return cases
