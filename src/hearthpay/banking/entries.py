"""Payments in progress: amounts to collect from households and to pay out, one row for each.

Amounts are whole cents. An entry finds its household and account by its payroll, paycheck or set-aside; it is
`pending` until the bank file of its day.
"""

import datetime
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.banking.calendar import (
    add_banking_days,
    banking_day_on_or_before,
    next_banking_day,
    submission_day,
)
from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.relations import ESCROW_MOVEMENTS, PAYCHECKS, PAYROLLS
from hearthpay.database.statements import Fragment, compose, literal, statement
from hearthpay.database.typed_rows import Query, fetch_all, fetch_optional, query


@dataclass(frozen=True, slots=True)
class Debit:
    """Collect `amount` from the household of a payroll; `attempt` counts from 1 to 3."""

    payroll_id: UUID
    amount: int
    send_on: datetime.date
    settle_on: datetime.date
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Credit:
    """Pay `amount` to the employee of a paycheck."""

    paycheck_id: UUID
    amount: int
    send_on: datetime.date
    settle_on: datetime.date


@dataclass(frozen=True, slots=True)
class Refund:
    """Return `amount`, collected for a paycheck that didn't reach its employee, to the household.

    `attempt` counts the refunds of a paycheck: one that is returned is sent again.
    """

    paycheck_id: UUID
    amount: int
    send_on: datetime.date
    settle_on: datetime.date
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Payout:
    """Pay `amount` of the set-aside to the employee, for the movement that took it from the balance."""

    escrow_movement_id: UUID
    amount: int
    send_on: datetime.date
    settle_on: datetime.date


Movement = Debit | Credit | Refund | Payout

_ROWS: Final = Fragment(
    "unnest(CAST(:ids AS uuid[]), CAST(:causes AS uuid[]), CAST(:amounts AS bigint[]), CAST(:attempts AS smallint[]), "
    "CAST(:send_on AS date[]), CAST(:settle_on AS date[])) AS r(id, cause, amount, attempt, send_on, settle_on)"
)


class _WrittenRow(NamedTuple):
    cause: UUID
    id: UUID


def _insert(
    kind: Fragment, cause: Fragment, others: Fragment, values: Fragment, tables: Fragment
) -> Query[_WrittenRow]:
    """Return one statement for many movements, which answers with the cause and the id of each that it wrote.

    `cause` is the column of what causes them, `others` what else they name; `values` are of all these.
    """
    return query(
        _WrittenRow,
        "INSERT INTO bank_entries (id, organization_id, employer_id, sandbox, kind, bank_account_id, amount, attempt, "
        "status, send_on, settle_on, created_at, updated_at, {cause}{others}) "
        "SELECT r.id, a.organization_id, a.employer_id, a.sandbox, {kind}, a.id, r.amount, r.attempt, 'pending', "
        "r.send_on, r.settle_on, :now, :now, {values} FROM {rows} {tables} RETURNING {cause} AS cause, id",
        kind=kind,
        cause=cause,
        others=others,
        values=values,
        rows=_ROWS,
        tables=tables,
    )


_COLLECT: Final = _insert(
    literal("debit"),
    Fragment("payroll_id"),
    Fragment(""),
    Fragment("p.id"),
    compose(
        "JOIN {payrolls} p ON p.id = r.cause "
        "JOIN bank_accounts a ON a.employer_id = p.employer_id AND a.employee_id IS NULL AND a.status = 'active'",
        payrolls=PAYROLLS,
    ),
)
# The person's account in use, whatever its status; otherwise the last one, where the money waits for the
# next.
_PAY_OUT: Final = _insert(
    literal("credit"),
    Fragment("paycheck_id"),
    Fragment(", payroll_id, employee_id"),
    Fragment("c.id, c.payroll_id, c.employee_id"),
    compose(
        "JOIN {paychecks} c ON c.id = r.cause JOIN LATERAL (SELECT * FROM bank_accounts "
        "WHERE employer_id = c.employer_id AND employee_id = c.employee_id "
        "ORDER BY status = 'replaced', created_at DESC, id DESC LIMIT 1) a ON true",
        paychecks=PAYCHECKS,
    ),
)
_REFUND: Final = _insert(
    literal("refund"),
    Fragment("paycheck_id"),
    Fragment(", payroll_id, employee_id"),
    Fragment("c.id, c.payroll_id, c.employee_id"),
    compose(
        "JOIN {paychecks} c ON c.id = r.cause JOIN LATERAL (SELECT * FROM bank_accounts "
        "WHERE employer_id = c.employer_id AND employee_id IS NULL "
        "ORDER BY status = 'replaced', created_at DESC, id DESC LIMIT 1) a ON true",
        paychecks=PAYCHECKS,
    ),
)
_PAY_ESCROW: Final = _insert(
    literal("payout"),
    Fragment("escrow_movement_id"),
    Fragment(", employee_id"),
    Fragment("m.id, m.employee_id"),
    compose(
        "JOIN {escrow_movements} m ON m.id = r.cause "
        "JOIN bank_accounts a ON a.employee_id = m.employee_id AND a.status = 'active'",
        escrow_movements=ESCROW_MOVEMENTS,
    ),
)


class _CreditsOfRow(NamedTuple):
    payroll_id: UUID | None
    status: str


_CREDITS_OF: Final = query(
    _CreditsOfRow,
    "SELECT payroll_id, status FROM bank_entries WHERE payroll_id = ANY(:payrolls) AND kind = 'credit' "
    "ORDER BY id FOR UPDATE",
)
_CANCEL: Final = text(
    "UPDATE bank_entries SET status = 'cancelled', updated_at = :now "
    "WHERE payroll_id = ANY(:payrolls) AND kind = 'credit' AND status = 'pending'"
)
_CANCEL_THESE: Final = text(
    "UPDATE bank_entries SET status = 'cancelled', updated_at = :now WHERE id = ANY(:ids) AND status = 'pending'"
)


class _HeldOfRow(NamedTuple):
    id: UUID
    paycheck_id: UUID
    employee_id: UUID


_HELD_OF: Final = query(
    _HeldOfRow,
    "SELECT id, paycheck_id, employee_id FROM bank_entries WHERE payroll_id = :payroll AND kind = 'credit' "
    "AND status = 'pending' ORDER BY id FOR UPDATE",
)
_LOCK_PAYMENTS: Final = text(
    "SELECT id FROM bank_entries WHERE payroll_id = :payroll AND kind IN ('debit', 'credit') ORDER BY id FOR UPDATE"
)
_CANCEL_PAYMENTS: Final = text(
    "UPDATE bank_entries SET status = 'cancelled', updated_at = :now "
    "WHERE payroll_id = :payroll AND kind IN ('debit', 'credit') AND status = 'pending'"
)


class _CreditOfRow(NamedTuple):
    id: UUID
    status: str
    amount: int
    send_on: datetime.date


_CREDIT_OF: Final = query(
    _CreditOfRow,
    "SELECT id, status, amount, send_on FROM bank_entries WHERE paycheck_id = :paycheck AND kind = 'credit' FOR UPDATE",
)


_DEBITS_OF: Final = query(
    _CreditOfRow,
    "SELECT id, status, amount, send_on FROM bank_entries WHERE payroll_id = :payroll AND kind = 'debit' "
    "ORDER BY attempt FOR UPDATE",
)


class _RefundedRow(NamedTuple):
    paycheck_id: UUID
    amount: int
    attempt: int


_REFUNDED: Final = query(
    _RefundedRow,
    "SELECT paycheck_id, "
    "coalesce(sum(amount) FILTER (WHERE status IN ('pending', 'sent', 'settled')), 0)::bigint AS amount, "
    "max(attempt) AS attempt FROM bank_entries "
    "WHERE paycheck_id = ANY(:paychecks) AND kind = 'refund' GROUP BY paycheck_id",
)
_CANCEL_REFUNDS: Final = text(
    "UPDATE bank_entries SET status = 'cancelled', updated_at = :now "
    "WHERE payroll_id = :payroll AND kind = 'refund' AND status = 'pending'"
)
_LEFT_OVER: Final = statement(
    "SELECT DISTINCT p.id FROM bank_entries e JOIN {payrolls} p ON p.id = e.payroll_id "
    "WHERE e.kind = 'credit' AND e.status = 'pending' AND e.send_on < :new_year AND p.pay_date < :new_year "
    "ORDER BY p.id",
    payrolls=PAYROLLS,
)


_LEFT_OVER_OF: Final = query(
    _HeldOfRow,
    "SELECT e.id, e.paycheck_id, e.employee_id FROM bank_entries e JOIN {paychecks} c ON c.id = e.paycheck_id "
    "WHERE e.payroll_id = :payroll AND e.kind = 'credit' AND e.status = 'pending' AND c.tax_year < :year "
    "ORDER BY e.id FOR UPDATE OF e",
    paychecks=PAYCHECKS,
)
_FOLLOW: Final = text(
    "UPDATE bank_entries e SET bank_account_id = n.id, updated_at = :now FROM bank_accounts o, bank_accounts n "
    "WHERE e.status = 'pending' AND e.send_on <= :day AND e.sandbox = :sandbox "
    "AND e.kind NOT IN ('prenote', 'reversal') "
    "AND o.id = e.bank_account_id AND o.status = 'replaced' AND n.employer_id = o.employer_id "
    "AND n.employee_id IS NOT DISTINCT FROM o.employee_id AND n.status <> 'replaced'"
)


def dates_from(now: datetime.datetime) -> tuple[datetime.date, datetime.date]:
    """Return the day of the next cut-off, and the business day after it, on which the money moves."""
    day = submission_day(now)
    return day, next_banking_day(day)


def business_date(now: datetime.datetime) -> datetime.date:
    """Return the calendar day in US Eastern time."""
    return now.astimezone(BUSINESS_TIME).date()


def effective_by(now: datetime.datetime, banking_days: int) -> datetime.date:
    """Return the latest effective date from which at least this many business days have passed by today."""
    return add_banking_days(banking_day_on_or_before(business_date(now)), -banking_days)


async def collect(session: AsyncSession, now: datetime.datetime, debits: Sequence[Debit]) -> dict[UUID, UUID]:
    """Debit the households' accounts; return the entry of each payroll.

    Payrolls whose household has no active account are left out, and the caller decides. Raises SQLAlchemy's
    IntegrityError for a second debit of one attempt.
    """
    return await _write(session, now, _COLLECT, [(debit.payroll_id, debit) for debit in debits])


async def pay_out(
    session: AsyncSession, now: datetime.datetime, credits_: Sequence[Credit]
) -> dict[UUID, UUID]:
    """Credit the employees' accounts; return the entry of each paycheck.

    If the account is unverified, failed or disconnected, the money stays pending, and every file reports it, until
    there is a usable account. Only paychecks whose employee never had an account are left out. Raises IntegrityError
    for a second credit of one paycheck.
    """
    return await _write(session, now, _PAY_OUT, [(credit.paycheck_id, credit) for credit in credits_])


async def refund(
    session: AsyncSession, now: datetime.datetime, refunds: Sequence[Refund]
) -> dict[UUID, UUID]:
    """Credit the households' accounts; return the entry of each paycheck.

    If the account has failed or was disconnected, the refund is pending until the household connects the next one.
    Raises IntegrityError for a second refund of one paycheck and attempt.
    """
    return await _write(session, now, _REFUND, [(each.paycheck_id, each) for each in refunds])


async def pay_escrow(
    session: AsyncSession, now: datetime.datetime, payouts: Sequence[Payout]
) -> dict[UUID, UUID]:
    """Credit set-aside money to the employees' accounts; return the entry of each escrow movement.

    Movements whose employee has no active account are left out.
    """
    return await _write(
        session, now, _PAY_ESCROW, [(payout.escrow_movement_id, payout) for payout in payouts]
    )


async def cancel_unsent(
    session: AsyncSession, now: datetime.datetime, payroll_ids: Collection[UUID]
) -> set[UUID]:
    """Cancel the credits of those payrolls that have sent none to the bank; return these payrolls.

    A payroll without credits is included. One with a single sent credit keeps all its credits.
    """
    rows = await fetch_all(session, _CREDITS_OF, {"payrolls": list(payroll_ids)})
    sent = {payroll_id for payroll_id, status in rows if status not in ("pending", "cancelled")}
    unsent = set(payroll_ids) - sent
    await session.execute(_CANCEL, {"payrolls": list(unsent), "now": now})
    return unsent


@dataclass(frozen=True, slots=True)
class HeldCredit:
    """A direct deposit that hasn't been sent."""

    entry_id: UUID
    paycheck_id: UUID
    employee_id: UUID


@dataclass(frozen=True, slots=True)
class BankEntryState:
    """The state of a debit or a credit; `amount` in cents."""

    id: UUID
    status: str
    amount: int
    send_on: datetime.date


@dataclass(frozen=True, slots=True)
class Refunded:
    """How much of a paycheck was refunded to the household or is on its way, in cents, and the last attempt."""

    amount: int
    attempt: int


async def lock_held(session: AsyncSession, payroll_id: UUID) -> list[HeldCredit]:
    """Return a payroll's unsent credits, and lock them against sending."""
    rows = await fetch_all(session, _HELD_OF, {"payroll": payroll_id})
    return [HeldCredit(*row) for row in rows]


async def lock_credit(session: AsyncSession, paycheck_id: UUID) -> BankEntryState | None:
    """Return a paycheck's credit, locked; None if there is none."""
    row = await fetch_optional(session, _CREDIT_OF, {"paycheck": paycheck_id})
    return None if row is None else BankEntryState(*row)


async def lock_debits(session: AsyncSession, payroll_id: UUID) -> list[BankEntryState]:
    """Return a payroll's debits, locked, in the order of their attempts."""
    return [BankEntryState(*row) for row in await fetch_all(session, _DEBITS_OF, {"payroll": payroll_id})]


async def lock_payments(session: AsyncSession, payroll_id: UUID) -> None:
    """Lock a payroll's debits and credits; blocks while a file is in progress, after which they are sent."""
    await session.execute(_LOCK_PAYMENTS, {"payroll": payroll_id})


async def cancel_payments(session: AsyncSession, now: datetime.datetime, payroll_id: UUID) -> None:
    """Cancel a payroll's unsent debits and credits."""
    await session.execute(_CANCEL_PAYMENTS, {"payroll": payroll_id, "now": now})


async def refunded(session: AsyncSession, paycheck_ids: Collection[UUID]) -> dict[UUID, Refunded]:
    """Return the refunds of those paychecks that have any."""
    rows = await fetch_all(session, _REFUNDED, {"paychecks": list(paycheck_ids)})
    return {row.paycheck_id: Refunded(row.amount, row.attempt) for row in rows}


async def cancel_refunds(session: AsyncSession, now: datetime.datetime, payroll_id: UUID) -> None:
    """Cancel a payroll's unsent refunds: the household got its money back another way."""
    await session.execute(_CANCEL_REFUNDS, {"payroll": payroll_id, "now": now})


async def payrolls_left_over(session: AsyncSession, year: int) -> list[UUID]:
    """Return the payrolls of earlier years with unsent credits, which would arrive in `year`."""
    return list(await session.scalars(_LEFT_OVER, {"new_year": datetime.date(year, 1, 1)}))


async def lock_left_over(session: AsyncSession, payroll_id: UUID, year: int) -> list[HeldCredit]:
    """Return a payroll's unsent credits for paychecks of earlier years, locked against sending."""
    rows = await fetch_all(session, _LEFT_OVER_OF, {"payroll": payroll_id, "year": year})
    return [HeldCredit(*row) for row in rows]


async def cancel(session: AsyncSession, now: datetime.datetime, entry_ids: Sequence[UUID]) -> None:
    """Cancel those of the entries that haven't been sent."""
    await session.execute(_CANCEL_THESE, {"now": now, "ids": list(entry_ids)})


async def follow_accounts(
    session: AsyncSession, now: datetime.datetime, day: datetime.date, *, sandbox: bool
) -> None:
    """Move what is due by the day from replaced accounts to their replacements."""
    await session.execute(_FOLLOW, {"now": now, "day": day, "sandbox": sandbox})


async def _write(
    session: AsyncSession,
    now: datetime.datetime,
    query: Query[_WrittenRow],
    movements: Iterable[tuple[UUID, Movement]],
) -> dict[UUID, UUID]:
    rows = list(movements)
    if not rows:
        return {}
    written = await fetch_all(
        session,
        query,
        {
            "now": now,
            "ids": [uuid7() for _ in rows],
            "causes": [cause for cause, _ in rows],
            "amounts": [movement.amount for _, movement in rows],
            "attempts": [
                movement.attempt if isinstance(movement, Debit | Refund) else 1 for _, movement in rows
            ],
            "send_on": [movement.send_on for _, movement in rows],
            "settle_on": [movement.settle_on for _, movement in rows],
        },
    )
    return {row.cause: row.id for row in written}
