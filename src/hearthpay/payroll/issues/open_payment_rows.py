"""Reads what is open about the payments of households, or of one payroll: at most three statements and one per debt."""

import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.authorizations import covers
from hearthpay.banking.holds import HELD_AS, HoldCode
from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.relations import AUTOPILOT_PERIODS, BANK_ACCOUNTS, BANK_ENTRIES, EMPLOYEES
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query
from hearthpay.payroll.issues.open_payments import (
    DebitState,
    DepositState,
    OpenPayment,
    held_payout,
    open_payments_of,
)
from hearthpay.payroll.issues.wage_balance import read_wage_balance
from hearthpay.payroll.ledger.costs import EXPECTED_SET_ASIDE

FAILED_FOR: Final = datetime.timedelta(days=60)
"""How long after its pay date a failed payroll is listed."""

_NEVER: Final = UUID(int=0)

# What was sent before the debit came back is owed until it is settled, however long ago that was.
_DEBITS: Final = query(
    DebitState,
    """
    SELECT p.id AS payroll_id, p.employer_id, p.status, p.pay_date, p.period_start, p.period_end, p.scheduled_send_at,
           CAST(p.net_pay + {set_aside} AS bigint) AS expected,
           p.failure ->> 'kind' AS failure_kind, p.failure ->> 'code' AS failure_code,
           EXISTS (SELECT FROM {periods} g WHERE g.payroll_id = p.id AND g.outcome = 'scheduled' AND g.held <> '{}'
                      AND g.confirmed_at IS NULL) AS awaits_approval,
           a.status AS account,
           CASE WHEN a.id IS NOT NULL AND (d.status = 'pending' OR p.status IN ('scheduled', 'firing'))
                THEN {covers} ELSE false END AS covered,
           d.amount, d.attempt, d.status AS debit, d.send_on, d.settle_on, d.effective_date, d.hold,
           coalesce(d.last_four, a.last_four) AS last_four,
           (SELECT r.return_code FROM {bank_entries} r WHERE r.payroll_id = p.id AND r.kind = 'debit'
               AND r.status = 'returned' ORDER BY r.attempt DESC LIMIT 1) AS returned
      FROM payrolls p
      LEFT JOIN {bank_accounts} a ON a.employer_id = p.employer_id AND a.employee_id IS NULL AND a.status <> 'replaced'
      LEFT JOIN LATERAL (
            SELECT e.amount, e.attempt, e.status, e.send_on, e.settle_on, e.effective_date, {held_as} AS hold,
                   b.last_four
              FROM {bank_entries} e JOIN {bank_accounts} b ON b.id = e.bank_account_id
             WHERE e.payroll_id = p.id AND e.kind = 'debit' ORDER BY e.attempt DESC, e.id DESC LIMIT 1) d ON true
     WHERE p.direct_deposit AND (p.id = :payroll OR p.employer_id = ANY(CAST(:households AS uuid[]))
            AND (p.status IN ('scheduled', 'firing', 'pending_funding', 'processing')
                 OR p.status = 'failed' AND p.pay_date > CAST(:failed_since AS date)
                 OR p.failure ->> 'kind' = 'wages_not_covered'))
     ORDER BY p.pay_date, p.id
    """,
    set_aside=EXPECTED_SET_ASIDE,
    periods=AUTOPILOT_PERIODS,
    bank_accounts=BANK_ACCOUNTS,
    bank_entries=BANK_ENTRIES,
    held_as=HELD_AS,
    covers=covers(account="a", payroll="p"),
)

_DEPOSITS: Final = query(
    DepositState,
    """
    SELECT n.payroll_id, n.employee_id, w.first_name, NOT n.live AS released,
           EXISTS (SELECT FROM payroll_entries m WHERE m.employee_id = n.employee_id AND m.live
                      AND m.payroll_id > n.payroll_id AND m.period && n.period) AS paid_again,
           CAST(coalesce(e.amount, c.net_pay, 0) AS bigint) AS amount, e.status AS credit,
           CASE WHEN e.status = 'pending' THEN {held_as} END AS hold, b.last_four, r.action, r.until
      FROM payroll_entries n
      JOIN {employees} w ON w.id = n.employee_id
      LEFT JOIN paychecks c ON c.payroll_id = n.payroll_id AND c.employee_id = n.employee_id AND c.reverses IS NULL
      LEFT JOIN {bank_entries} e ON e.paycheck_id = c.id AND e.kind = 'credit'
      LEFT JOIN {bank_accounts} b ON b.id = e.bank_account_id
      LEFT JOIN LATERAL (SELECT d.action, d.until FROM paycheck_remedies d WHERE d.paycheck_id = c.id
                          ORDER BY d.id DESC LIMIT 1) r ON true
     WHERE n.payroll_id = ANY(CAST(:payrolls AS uuid[])) AND n.payment_method = 'direct_deposit'
     ORDER BY n.payroll_id, n.position
    """,
    held_as=HELD_AS,
    employees=EMPLOYEES,
    bank_entries=BANK_ENTRIES,
    bank_accounts=BANK_ACCOUNTS,
)


class _PayoutRow(NamedTuple):
    employer_id: UUID
    employee_id: UUID
    first_name: str
    amount: int
    last_four: str
    hold: HoldCode


_PAYOUTS: Final = query(
    _PayoutRow,
    "SELECT e.employer_id, w.id AS employee_id, w.first_name, e.amount, b.last_four, {held_as} AS hold "
    "FROM {bank_entries} e JOIN {employees} w ON w.id = e.employee_id "
    "JOIN {bank_accounts} b ON b.id = e.bank_account_id "
    "WHERE e.employer_id = ANY(CAST(:households AS uuid[])) AND e.kind = 'payout' AND e.status = 'pending' "
    "AND {held_as} IS NOT NULL ORDER BY e.id",
    held_as=HELD_AS,
    bank_entries=BANK_ENTRIES,
    bank_accounts=BANK_ACCOUNTS,
    employees=EMPLOYEES,
)
_MAY_HAVE_OPEN_DEPOSITS: Final = ("processing", "failed")


async def read_open_payments(
    session: AsyncSession, households: Collection[UUID], now: datetime.datetime, *, coming: bool = False
) -> list[OpenPayment]:
    """Return what is open about the payments of these households; the caller has checked that it may be shown.

    `coming`: with each debit that is known, however far ahead.
    """
    values = {
        "households": list(households),
        "payroll": _NEVER,
        "now": now,
        "failed_since": now.astimezone(BUSINESS_TIME).date() - FAILED_FOR,
    }
    states = await fetch_all(session, _DEBITS, values)
    found = await _open_payments(session, states, now, coming=coming)
    payouts = await fetch_all(session, _PAYOUTS, {"households": list(households)})
    return [*found, *(held_payout(*row) for row in payouts)]


async def read_debit_state(
    session: AsyncSession, payroll_id: UUID, now: datetime.datetime
) -> DebitState | None:
    """Return a payroll and its latest debit; None if it has no direct deposit. The session sees it."""
    values = {"households": [], "payroll": payroll_id, "now": now, "failed_since": datetime.date.max}
    return await fetch_optional(session, _DEBITS, values)


async def _open_payments(
    session: AsyncSession, states: Sequence[DebitState], now: datetime.datetime, *, coming: bool
) -> list[OpenPayment]:
    asked = [each.payroll_id for each in states if each.status in _MAY_HAVE_OPEN_DEPOSITS]
    deposits: dict[UUID, list[DepositState]] = {}
    for row in await fetch_all(session, _DEPOSITS, {"payrolls": asked}) if asked else ():
        deposits.setdefault(row.payroll_id, []).append(row)
    owed: Mapping[UUID, int] = {
        each.payroll_id: (await read_wage_balance(session, each.payroll_id)).still_owed
        for each in states
        if each.debit == "returned"
    }
    return [
        payment
        for each in states
        for payment in open_payments_of(
            each, deposits.get(each.payroll_id, ()), owed.get(each.payroll_id, 0), now, coming=coming
        )
    ]
