"""The money set aside for employees: their standing rules, balances, and payouts.

What was collected by bank debit is `held` for the employee; the household itself keeps the rest of a balance. Both
are sums of movements, which are never changed: an employee's account is their running total.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import OWN_RECORD, READ_PAYROLLS, RUN_PAYROLL, allow
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.banking.entries import Payout, dates_from, pay_escrow
from hearthpay.clock import Clock
from hearthpay.database.relations import BANK_ENTRIES, EMPLOYEES
from hearthpay.database.statements import Fragment, compose, statement
from hearthpay.database.typed_rows import Query, fetch_all, fetch_one, query
from hearthpay.database.types import from_cents, to_cents
from hearthpay.employees.links import allow_own
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.payroll.set_asides.rules import SetAsideRule
from hearthpay.taxes.messages import message

PAYMENT_METHODS: Final = ("direct_deposit", "check", "cash")
LONGEST_NOTE: Final = 500


class _AccountsRow(NamedTuple):
    employee_id: UUID
    rule_rate: Decimal | None
    rule_amount: int | None
    balance: int
    held: int


_ACCOUNTS: Final = query(
    _AccountsRow,
    "SELECT employee_id, rule_rate, rule_amount, balance, held FROM escrow_accounts "
    "WHERE employee_id = ANY(:employees)",
)


class _OfHouseholdRow(NamedTuple):
    employee_id: UUID
    name: str
    rule_rate: Decimal | None
    rule_amount: int | None
    balance: int
    held: int


_OF_HOUSEHOLD: Final = query(
    _OfHouseholdRow,
    "SELECT a.employee_id, e.first_name || ' ' || e.last_name AS name, a.rule_rate, a.rule_amount, a.balance, a.held "
    "FROM escrow_accounts a JOIN {employees} e ON e.id = a.employee_id WHERE a.employer_id = :employer "
    "AND (a.balance <> 0 OR a.held <> 0 OR a.rule_rate IS NOT NULL OR a.rule_amount IS NOT NULL "
    "OR EXISTS (SELECT FROM escrow_movements m WHERE m.employee_id = a.employee_id)) "
    "ORDER BY e.last_name, e.first_name, e.id",
    employees=EMPLOYEES,
)
_SET_RULE: Final = text(
    "INSERT INTO escrow_accounts (organization_id, employer_id, sandbox, employee_id, rule_rate, rule_amount) "
    "VALUES (:organization, :employer, :sandbox, :employee, :rate, :amount) ON CONFLICT (employee_id) "
    "DO UPDATE SET rule_rate = excluded.rule_rate, rule_amount = excluded.rule_amount"
)
# Movements take their ids from the database's own clock. The upsert locks the accounts, so an employee's
# movements are numbered in the order of their balances, whichever machine's transaction they belong to.
_MOVE: Final = Fragment("""accounts AS (
        INSERT INTO escrow_accounts AS a (organization_id, employer_id, sandbox, employee_id, balance, held)
        SELECT organization_id, employer_id, sandbox, employee_id, sum(amount)::bigint,
               coalesce(sum(amount) FILTER (WHERE payment_method = 'direct_deposit'), 0)::bigint
          FROM moved GROUP BY organization_id, employer_id, sandbox, employee_id ORDER BY employee_id
            ON CONFLICT (employee_id) DO UPDATE
           SET balance = a.balance + excluded.balance, held = a.held + excluded.held
        RETURNING a.employee_id, a.balance
    )
    INSERT INTO escrow_movements (id, organization_id, employer_id, sandbox, employee_id, paycheck_id, kind,
                                  payment_method, amount, balance, note, created_at)
    SELECT new_id(), m.*
      FROM (SELECT organization_id, employer_id, sandbox, employee_id, paycheck_id, kind, payment_method, amount,
                   (accounts.balance - sum(amount) OVER employee + sum(amount) OVER so_far)::bigint, note,
                   CAST(:now AS timestamptz)
              FROM moved JOIN accounts USING (employee_id)
            WINDOW employee AS (PARTITION BY employee_id),
                   so_far AS (PARTITION BY employee_id ORDER BY source_id)
             ORDER BY employee_id, source_id) m
    RETURNING id, balance""")


class _MovedRow(NamedTuple):
    id: UUID
    balance: int


def _move(moved: Fragment) -> Query[_MovedRow]:
    return query(_MovedRow, "WITH moved AS MATERIALIZED ({moved}), {move}", moved=moved, move=_MOVE)


# A catch-up payroll moves no money, whatever method it names: the household keeps what it set aside.
_PAYCHECK_COLUMNS: Final = Fragment(
    "c.id AS source_id, c.organization_id, c.employer_id, c.sandbox, c.employee_id, c.id AS paycheck_id, "
    "CASE WHEN c.payment_method = 'direct_deposit' AND NOT p.direct_deposit THEN 'check' ELSE c.payment_method END "
    "AS payment_method, c.set_aside AS amount, CAST(NULL AS text) AS note"
)
_DEPOSIT: Final = _move(
    compose(
        "SELECT {paycheck_columns}, 'deposit' AS kind FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
        "WHERE c.id = ANY(:paychecks) AND c.reverses IS NULL AND c.set_aside <> 0",
        paycheck_columns=_PAYCHECK_COLUMNS,
    )
)
_REVERSE: Final = _move(
    compose(
        "SELECT {paycheck_columns}, 'reversal' AS kind FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
        "WHERE c.reverses = ANY(:paychecks) AND c.set_aside <> 0",
        paycheck_columns=_PAYCHECK_COLUMNS,
    )
)
_PAY_OUT: Final = _move(
    compose(
        "SELECT id AS source_id, organization_id, employer_id, sandbox, id AS employee_id, "
        "CAST(NULL AS uuid) AS paycheck_id, 'payout' AS kind, CAST(:method AS text) AS payment_method, "
        "-CAST(:amount AS bigint) AS amount, CAST(:note AS text) AS note FROM {employees} e WHERE id = :employee",
        employees=EMPLOYEES,
    )
)
_RETURN_PAYOUTS: Final = _move(
    compose(
        "SELECT b.id AS source_id, b.organization_id, b.employer_id, b.sandbox, b.employee_id, "
        "CAST(NULL AS uuid) AS paycheck_id, 'payout_returned' AS kind, 'direct_deposit' AS payment_method, b.amount, "
        "b.return_code AS note FROM {bank_entries} b "
        "WHERE b.id = ANY(:entries) AND b.kind = 'payout' AND b.status = 'returned'",
        bank_entries=BANK_ENTRIES,
    )
)
_NOT_COLLECTED: Final = text(
    "SELECT coalesce(sum(m.amount), 0)::bigint FROM escrow_movements m JOIN paychecks c ON c.id = m.paycheck_id "
    "JOIN payrolls p ON p.id = c.payroll_id WHERE m.employee_id = :employee AND m.kind = 'deposit' "
    "AND m.payment_method = 'direct_deposit' AND p.status = 'pending_funding'"
)
"""What has been deposited and may still be returned: the household's debit hasn't settled."""

_LOCK: Final = statement(
    "SELECT 1 FROM {employees} e WHERE id = :employee FOR NO KEY UPDATE", employees=EMPLOYEES
)


class _MovementsRow(NamedTuple):
    id: UUID
    kind: str
    payment_method: str
    amount: int
    balance: int
    paycheck_id: UUID | None
    note: str | None
    created_at: datetime.datetime


_MOVEMENTS: Final = query(
    _MovementsRow,
    "SELECT id, kind, payment_method, amount, balance, paycheck_id, note, created_at FROM escrow_movements "
    "WHERE employee_id = :employee ORDER BY id DESC LIMIT :limit",
)


@dataclass(frozen=True, slots=True)
class EscrowAccount:
    """An employee's standing rule, if any, and balance in cents; ``held`` came by bank debit."""

    rule: SetAsideRule | None = None
    balance: int = 0
    held: int = 0

    def available(self, method: str) -> int:
        """Return how many cents can be paid out by this method: what is held by bank, what the household keeps by
        hand.
        """
        part = self.held if method == "direct_deposit" else self.balance - self.held
        return max(min(part, self.balance), 0)


@dataclass(frozen=True, slots=True)
class EscrowMovement:
    """One change of a balance, in cents, and the balance after it."""

    id: UUID
    kind: str
    payment_method: str
    amount: int
    balance: int
    paycheck_id: UUID | None
    note: str | None
    created_at: datetime.datetime


NO_ACCOUNT: Final = EscrowAccount()


async def read_rules_and_balances(
    session: AsyncSession, employee_ids: Sequence[UUID]
) -> dict[UUID, EscrowAccount]:
    """Return the accounts of those of the employees who have one."""
    rows = await fetch_all(session, _ACCOUNTS, {"employees": list(employee_ids)})
    return {row.employee_id: _account_of(row) for row in rows}


def _account_of(row: _AccountsRow | _OfHouseholdRow) -> EscrowAccount:
    ruled = row.rule_rate is not None or row.rule_amount is not None
    rule = SetAsideRule(row.rule_rate, row.rule_amount) if ruled else None
    return EscrowAccount(rule=rule, balance=row.balance, held=row.held)


async def read_account(session: AsyncSession, employee_id: UUID) -> EscrowAccount:
    """Return one employee's account; an empty one if there is none."""
    return (await read_rules_and_balances(session, [employee_id])).get(employee_id, NO_ACCOUNT)


async def accounts_of_household(
    session: AsyncSession, actor: Actor, employer: Employer
) -> list[tuple[UUID, str, EscrowAccount]]:
    """Return the household's employees who have, or had, money set aside: employee, name, account. Raises what
    `allow` raises.
    """
    allow(actor, READ_PAYROLLS, employer.id)
    rows = await fetch_all(session, _OF_HOUSEHOLD, {"employer": employer.id})
    return [(row.employee_id, row.name, _account_of(row)) for row in rows]


async def list_movements(
    session: AsyncSession, employee_id: UUID, *, limit: int = 100
) -> list[EscrowMovement]:
    """Return the employee's latest movements, newest first."""
    rows = await fetch_all(session, _MOVEMENTS, {"employee": employee_id, "limit": limit})
    return [EscrowMovement(*row) for row in rows]


async def set_rule(
    session: AsyncSession,
    actor: Actor,
    employee: Employee,
    rule: SetAsideRule | None,
    *,
    request_id: UUID | None = None,
) -> None:
    """Make ``rule`` the employee's standing rule, or end it; it applies from the next payroll on.

    We email the employee, unless they asked for it by the request ``request_id``, whose answer they get.

    Writes an audit row with the rule before and after, even if they are the same. Raises what `allow` raises.
    """
    allow(actor, RUN_PAYROLL, employee.employer_id)
    await _change_rule(session, actor, employee, rule, request_id=request_id)


async def stop_own_rule(session: AsyncSession, actor: Actor, employee: Employee) -> bool:
    """Stop all set-asides from the employee's pay, at the employee's own request; return whether there were any.

    What is set aside from wages belongs to the employee, and only continues while they want it. Raises what
    `allow_own` raises.
    """
    allow_own(actor, OWN_RECORD, employee.id)
    if (await read_account(session, employee.id)).rule is None:
        return False
    await _change_rule(session, actor, employee, None)
    return True


async def _change_rule(
    session: AsyncSession,
    actor: Actor,
    employee: Employee,
    rule: SetAsideRule | None,
    *,
    request_id: UUID | None = None,
) -> None:
    await session.execute(_LOCK, {"employee": employee.id})
    before = (await read_account(session, employee.id)).rule
    await session.execute(
        _SET_RULE,
        {
            "organization": employee.organization_id,
            "employer": employee.employer_id,
            "sandbox": employee.sandbox,
            "employee": employee.id,
            "rate": rule.rate if rule else None,
            "amount": rule.amount_cents if rule else None,
        },
    )
    await record_audit(
        session,
        actor,
        "escrow.set_rule",
        employer_id=employee.employer_id,
        subject_id=employee.id,
        details={"before": _spelled(before), "after": _spelled(rule)}
        | ({} if request_id is None else {"request_id": request_id}),
    )


def _spelled(rule: SetAsideRule | None) -> dict[str, Decimal] | None:
    if rule is None:
        return None
    return {"rate": rule.rate} if rule.rate is not None else {"amount": from_cents(rule.amount_cents or 0)}


async def deposit(session: AsyncSession, now: datetime.datetime, paycheck_ids: Sequence[UUID]) -> None:
    """Deposit what these paychecks set aside into their employees' accounts; paychecks without set-asides are
    skipped.

    Call it once, right after they are written and in the same transaction, for any number of employees and tenants:
    one statement moves everything, and the amounts are those of the paychecks.
    """
    await fetch_all(session, _DEPOSIT, {"now": now, "paychecks": list(paycheck_ids)})


async def reverse(session: AsyncSession, now: datetime.datetime, paycheck_ids: Sequence[UUID]) -> None:
    """Reverse what these paychecks had set aside; their reversing paychecks must already be written.

    The balance falls below zero if the money has been paid out since: then the employee owes it.
    """
    await fetch_all(session, _REVERSE, {"now": now, "paychecks": list(paycheck_ids)})


async def return_payouts(session: AsyncSession, now: datetime.datetime, entry_ids: Sequence[UUID]) -> None:
    """Return the payouts that the bank has just returned to their accounts; call once for each return."""
    await fetch_all(session, _RETURN_PAYOUTS, {"now": now, "entries": list(entry_ids)})


async def payout(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employee: Employee,
    *,
    amount: Decimal,
    method: str,
    note: str | None = None,
) -> UUID:
    """Pay dollars out of the employee's account; return the movement's id.

    By direct deposit only what is held and collected, sent with the next file to the bank; by check or cash only what
    the household keeps. Raises `validation_error` naming ``amount``, ``method`` or ``note``, `invalid_state` if the
    balance is too low, and `direct_deposit_unavailable` without an account to send it to.
    """
    allow(actor, RUN_PAYROLL, employee.employer_id)
    if method not in PAYMENT_METHODS:
        raise invalid("method", f"must be one of {', '.join(PAYMENT_METHODS)}")
    if note is not None and not (0 < len(note) <= LONGEST_NOTE and note.isprintable()):
        raise invalid("note", f"must have 1 to {LONGEST_NOTE} printable characters")
    try:
        cents = to_cents(amount)
    except ValueError:
        raise invalid("amount", "Enter an amount with at most 2 decimals, like 25.50.") from None
    if cents <= 0:
        raise invalid("amount", "Enter an amount above 0.")
    await session.execute(_LOCK, {"employee": employee.id})
    account = await read_account(session, employee.id)
    available = account.available(method)
    if method == "direct_deposit":
        available -= await session.scalar(_NOT_COLLECTED, {"employee": employee.id}) or 0
    if cents > available:
        raise _too_much(account, method, max(available, 0))
    row = await fetch_one(
        session,
        _PAY_OUT,
        {
            "now": clock.now(),
            "employee": employee.id,
            "method": method,
            "amount": cents,
            "note": note,
        },
    )
    movement_id = row.id
    if method == "direct_deposit":
        await _send(session, clock, employee, movement_id, cents)
    await record_audit(
        session,
        actor,
        "escrow.payout",
        employer_id=employee.employer_id,
        subject_id=employee.id,
        details={"movement": movement_id, "amount": from_cents(cents), "method": method, "note": note},
    )
    return movement_id


async def _send(session: AsyncSession, clock: Clock, employee: Employee, movement: UUID, cents: int) -> None:
    now = clock.now()
    send_on, settle_on = dates_from(now)
    sent = await pay_escrow(session, now, [Payout(movement, cents, send_on, settle_on)])
    if movement not in sent:
        raise Refusal(
            "direct_deposit_unavailable",
            message("payout_without_account", name=employee.name),
            details={"employee_id": employee.id},
        )


def _too_much(account: EscrowAccount, method: str, cents: int) -> Refusal:
    available = from_cents(cents)
    if method == "direct_deposit":
        message = (
            f"Only {available:,} has been collected by bank and is held for direct deposit; what checks and cash set "
            "aside is paid by hand."
        )
    else:
        message = (
            f"Only {available:,} can be paid by {method}; what comes by bank debit is paid by direct deposit."
        )
    return Refusal(
        "invalid_state",
        message,
        details={
            "available": available,
            "balance": from_cents(account.balance),
            "held": from_cents(account.held),
        },
    )
