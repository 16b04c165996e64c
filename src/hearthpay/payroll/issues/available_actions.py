"""What can still be done about a payroll: whether it can be voided, and the options for an unsent deposit.

Both the actions and the response that lists them for a household use this module.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.authorizations import covers
from hearthpay.banking.entries import business_date
from hearthpay.database.relations import BANK_ACCOUNTS, BANK_ENTRIES
from hearthpay.database.statements import statement
from hearthpay.database.typed_rows import fetch_all, fetch_one, query
from hearthpay.payroll.ledger.rows import (
    Action,
    AvailableActions,
    Decision,
    Deposit,
    RemedyAction,
    StoredPayroll,
)

WayToVoid = Literal["not_sent", "uncollected", "recalled", "by_hand", "hand_part"]
"""The effect of voiding a payroll: it isn't sent; its debit, which can't be sent, is dropped; its collected money is
returned; all of it was paid by hand and is reversed; or for a failed one, the part paid by hand."""

LONGEST_WAIT: Final = datetime.timedelta(days=30)
"""The longest time that a deposit may be on hold until there is another account, since the wages are due."""


class _PositionRow(NamedTuple):
    direct_deposit: bool
    collected: bool
    debit_pending: bool
    deposits_left: bool
    deposits: bool


_POSITION: Final = query(
    _PositionRow,
    "SELECT p.direct_deposit, "
    "coalesce(bool_or(e.kind = 'debit' AND e.status IN ('sent', 'settled')), false) AS collected, "
    "coalesce(bool_or(e.kind = 'debit' AND e.status = 'pending'), false) AS debit_pending, "
    "coalesce(bool_or(e.kind = 'credit' AND e.status NOT IN ('pending', 'cancelled')), false) AS deposits_left, "
    "coalesce(bool_or(e.kind = 'credit' AND e.status IN ('pending', 'sent', 'settled')), false) AS deposits "
    "FROM payrolls p LEFT JOIN {bank_entries} e ON e.payroll_id = p.id WHERE p.id = :payroll GROUP BY p.id",
    bank_entries=BANK_ENTRIES,
)


class _DebitRow(NamedTuple):
    waits: bool
    unauthorized: bool


# A debit waits if there is no account that the household allows to be debited, or if it was due to be sent
# before today.
_DEBIT: Final = query(
    _DebitRow,
    "WITH debit AS MATERIALIZED ("
    "SELECT e.send_on, a.status, CASE WHEN a.id IS NOT NULL THEN {covers} END AS covered "
    "FROM payrolls p JOIN {bank_entries} e ON e.payroll_id = p.id AND e.kind = 'debit' AND e.status = 'pending' "
    "LEFT JOIN {bank_accounts} a ON a.employer_id = p.employer_id AND a.employee_id IS NULL "
    "AND a.status <> 'replaced' WHERE p.id = :payroll) "
    "SELECT coalesce(bool_or(send_on < :today OR covered IS NULL OR status <> 'active' OR NOT covered), false) "
    "AS waits, "
    "coalesce(bool_or(NOT covered), false) AS unauthorized FROM debit",
    covers=covers(account="a", payroll="p"),
    bank_entries=BANK_ENTRIES,
    bank_accounts=BANK_ACCOUNTS,
)
_SCHEDULED_UNAUTHORIZED: Final = statement(
    "SELECT EXISTS (SELECT FROM payrolls p JOIN {bank_accounts} a ON a.employer_id = p.employer_id "
    "AND a.employee_id IS NULL AND a.status <> 'replaced' WHERE p.id = :payroll AND p.status = 'scheduled' "
    "AND NOT {covers})",
    bank_accounts=BANK_ACCOUNTS,
    covers=covers(account="a", payroll="p"),
)
_PAID_BY_HAND: Final = text(
    "SELECT c.id FROM paychecks c WHERE c.payroll_id = :payroll AND c.reverses IS NULL "
    "AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id) AND (c.payment_method <> 'direct_deposit' "
    "OR EXISTS (SELECT FROM paycheck_remedies d WHERE d.paycheck_id = c.id AND d.action = 'pay_by_check')) "
    "ORDER BY c.id"
)


class _DepositsRow(NamedTuple):
    employee_id: UUID
    tax_year: int
    net_pay: int
    credit: str | None
    account: str | None
    undone: bool
    action: RemedyAction | None
    until: datetime.date | None
    decided_by_kind: str | None
    decided_at: datetime.datetime | None


_DEPOSITS: Final = query(
    _DepositsRow,
    "SELECT c.employee_id, c.tax_year, c.net_pay, e.status AS credit, a.status AS account, "
    "EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id) AS undone, "
    "d.action, d.until, d.decided_by_kind, d.decided_at FROM paychecks c "
    "LEFT JOIN {bank_entries} e ON e.paycheck_id = c.id AND e.kind = 'credit' "
    "LEFT JOIN {bank_accounts} a ON a.employee_id = c.employee_id AND a.status <> 'replaced' "
    "LEFT JOIN LATERAL (SELECT * FROM paycheck_remedies r WHERE r.paycheck_id = c.id ORDER BY r.id DESC LIMIT 1) d "
    "ON true WHERE c.payroll_id = :payroll AND c.reverses IS NULL AND c.payment_method = 'direct_deposit'",
    bank_entries=BANK_ENTRIES,
    bank_accounts=BANK_ACCOUNTS,
)


@dataclass(frozen=True, slots=True)
class Position:
    """How far a payroll's money has moved."""

    direct_deposit: bool
    collected: bool
    debit_waits: bool
    unauthorized: bool
    deposits_left: bool
    deposits: bool


async def position_of(session: AsyncSession, payroll_id: UUID, now: datetime.datetime) -> Position:
    """Return how far the payroll's money has moved."""
    found = await fetch_one(session, _POSITION, {"payroll": payroll_id})
    debit = _DebitRow(waits=False, unauthorized=False)
    if found.debit_pending:
        parameters = {"payroll": payroll_id, "now": now, "today": business_date(now)}
        debit = await fetch_one(session, _DEBIT, parameters)
    return Position(
        found.direct_deposit,
        found.collected,
        debit.waits,
        debit.unauthorized,
        found.deposits_left,
        found.deposits,
    )


async def paid_by_hand(session: AsyncSession, payroll_id: UUID) -> list[UUID]:
    """Return the payroll's paychecks that aren't reversed and were paid by check or cash, even if not at first."""
    return list(await session.scalars(_PAID_BY_HAND, {"payroll": payroll_id}))


async def void_action(
    session: AsyncSession, payroll_id: UUID, status: str, position: Position
) -> WayToVoid | None:
    """Return how the payroll can be voided, or None."""
    if status in ("scheduled", "draft"):
        return "not_sent"
    if status == "pending_funding":
        return "uncollected" if position.debit_waits and not position.collected else None
    if status == "processing":
        return None if position.deposits_left else "recalled"
    if status == "completed":
        if not position.direct_deposit:
            return "by_hand"
        return "by_hand" if not position.deposits and await paid_by_hand(session, payroll_id) else None
    if status == "failed" and await paid_by_hand(session, payroll_id):
        return "hand_part"
    return None


def remedies_for(
    *, status: str, credit: str | None, account: str | None, tax_year: int, today: datetime.date
) -> tuple[RemedyAction, ...]:
    """Return what can be done about a direct deposit that hasn't been sent.

    `credit` and `account` are the states of its bank entry and of the employee's current account. A check written in
    another year would be wages of that year; and a deposit is held for another account only if the present one doesn't
    work.
    """
    if credit != "pending" or status not in ("processing", "failed"):
        return ()
    same_year = today.year == tax_year
    waits = account not in ("active", "verifying") and today < datetime.date(tax_year, 12, 31)
    by_check: tuple[RemedyAction, ...] = ("pay_by_check",) if same_year else ()
    wait: tuple[RemedyAction, ...] = ("wait_for_account",) if waits and same_year else ()
    return (*by_check, *wait, "refund")


async def with_available_actions(
    session: AsyncSession, payroll: StoredPayroll, now: datetime.datetime
) -> StoredPayroll:
    """Return the payroll with what can be done about it."""
    return replace(
        payroll, available_actions=await available_actions_of(session, payroll.id, payroll.status, now)
    )


async def available_actions_of(
    session: AsyncSession, payroll_id: UUID, status: str, now: datetime.datetime
) -> AvailableActions:
    """Return what can be done about a payroll with this status, and about its deposits."""
    position = await position_of(session, payroll_id, now)
    actions: list[Action] = []
    if await void_action(session, payroll_id, status, position):
        actions.append("void")
    if position.unauthorized or (
        status == "scheduled"
        and await session.scalar(_SCHEDULED_UNAUTHORIZED, {"payroll": payroll_id, "now": now})
    ):
        actions.append("authorize_debit")
    return AvailableActions(tuple(actions), await _deposits(session, payroll_id, status, now))


async def _deposits(
    session: AsyncSession, payroll_id: UUID, status: str, now: datetime.datetime
) -> Mapping[UUID, Deposit]:
    deposits = {}
    for row in await fetch_all(session, _DEPOSITS, {"payroll": payroll_id}):
        remedies = remedies_for(
            status=status,
            credit=None if row.undone else row.credit,
            account=row.account,
            tax_year=row.tax_year,
            today=business_date(now),
        )
        decided = None
        if row.action and row.decided_by_kind and row.decided_at:
            decided = Decision(row.action, row.until, row.decided_by_kind, row.decided_at)
        deposits[row.employee_id] = Deposit(remedies, decided)
    return deposits
