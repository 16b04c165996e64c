"""Connecting bank accounts: the numbers go into the vault, and the account is unverified until the bank knows it.

A real account is tested with a prenote, a zero-dollar test; it becomes active if the bank hasn't returned it
within three business days (Nacha Operating Rules, 2.6), or at once if an instant verification confirms it.
"""

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import DISCONNECT_ACCOUNTS, MANAGE_ACCOUNTS, USE_SANDBOX, allow
from hearthpay.access.refusal import Refusal
from hearthpay.access.wrong_mode import wrong_mode
from hearthpay.accounts.freezing import refuse_frozen
from hearthpay.banking import authorizations
from hearthpay.banking.entries import dates_from, effective_by
from hearthpay.banking.magic_numbers import simulated_answer
from hearthpay.banking.models import BankAccount, BankEntry
from hearthpay.banking.nacha.records import AccountType
from hearthpay.banking.unread_files import IN_QUESTION
from hearthpay.database.statements import compose
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.database.vault_store import store_secret
from hearthpay.database.worker_audit import WorkerAuditEntry, record_worker_audit
from hearthpay.employees.models import Employee
from hearthpay.employees.onboarding import allow_numbers_of
from hearthpay.employers.models import Employer
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import SecretOwner
from hearthpay.security.vault_numbers import SecretNumber

REPORTED: Final = "reported"
"""The reason of an account whose connection was reported as wrong by the link of an alert."""
PRENOTE_DAYS: Final = 3
"""Business days from a prenote's settlement until the account counts as verified."""


class _FailRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    reason: str | None


_FAIL: Final = query(
    _FailRow,
    "UPDATE bank_accounts a SET status = 'failed', reason = r.reason, updated_at = :now "
    "FROM unnest(CAST(:ids AS uuid[]), CAST(:reasons AS text[])) AS r(id, reason) "
    "WHERE a.id = r.id AND a.status IN ('verifying', 'active') "
    "RETURNING a.id, a.organization_id, a.employer_id, a.sandbox, a.reason",
)


VERIFIED: Final = compose(
    "a.status = 'verifying' AND EXISTS (SELECT FROM bank_entries e WHERE e.bank_account_id = a.id "
    "AND e.kind = 'prenote' AND e.status IN ('sent', 'settled') AND e.effective_date <= :verified_by "
    "AND NOT {in_question})",
    in_question=IN_QUESTION,
)
"""SQL: whether no bank has returned the prenote of the account `a` that was due by `verified_by`."""


class _ActivateRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool


_ACTIVATE: Final = query(
    _ActivateRow,
    "UPDATE bank_accounts a SET status = 'active', updated_at = :now WHERE {verified} "
    "RETURNING a.id, a.organization_id, a.employer_id, a.sandbox",
    verified=VERIFIED,
)
# Of two accounts, the one entered last counts.
_WITHDRAW_CHANGE: Final = text(
    "UPDATE account_changes SET status = 'withdrawn', ended_at = :now, numbers = NULL, nonce = NULL, key_id = NULL "
    "WHERE employee_id = :employee AND status = 'waiting'"
)
_CANCEL_PRENOTES: Final = text(
    "UPDATE bank_entries SET status = 'cancelled', updated_at = :now "
    "WHERE bank_account_id = :account AND kind = 'prenote' AND status = 'pending'"
)
# Whatever was connected since had an owner's approval, or was the operator's.
_REPORTED: Final = text(
    "SELECT coalesce((SELECT reason = 'reported' FROM bank_accounts WHERE employer_id = :employer "
    "AND employee_id IS NOT DISTINCT FROM CAST(:employee AS uuid) ORDER BY id DESC LIMIT 1), false)"
)
_WAITING: Final = text(
    "SELECT count(*) FROM bank_entries WHERE bank_account_id = :account AND kind <> 'prenote' AND status = 'pending'"
)


@dataclass(frozen=True, slots=True)
class AccountDetails:
    """An account as its owner entered it."""

    routing: SecretNumber
    account: SecretNumber
    account_type: AccountType
    bank_name: str | None = None


class InstantVerification(Protocol):
    """A service that can verify at once whether an account exists and belongs to its owner."""

    async def verify(self, details: AccountDetails) -> bool:
        """Return whether the account may be used without a prenote."""
        ...


async def connect_household_account(
    session: AsyncSession,
    ring: KeyRing,
    actor: Actor,
    employer: Employer,
    details: AccountDetails,
    now: datetime.datetime,
    *,
    verification: InstantVerification | None = None,
) -> BankAccount:
    """Connect the account that the household's payrolls are debited from, replacing an earlier one.

    Authorizations to debit the earlier account end. After one that was reported as wrong only an owner with a fresh
    proof connects the next. Raises what `allow` raises: employees can't enter this account; and `scope_required`.
    """
    allow(actor, MANAGE_ACCOUNTS, employer.id)
    if actor.kind == "user" and await last_was_reported(session, employer.id, None):
        if actor.role != "owner":
            raise Refusal(
                "scope_required",
                "The last bank account was reported as wrong. An owner has to connect the next one.",
                details={"required_role": "owner", "role": actor.role},
            )
        if not actor.fresh:
            raise Refusal("authentication_required", "Confirm that it's you first.")
    owner = SecretOwner(employer.organization_id, employer.id, employer.sandbox, "employer", employer.id)
    return await _connect(session, ring, actor, owner, details, now, verification)


async def connect_employee_account(
    session: AsyncSession,
    ring: KeyRing,
    actor: Actor,
    employee: Employee,
    details: AccountDetails,
    now: datetime.datetime,
    *,
    verification: InstantVerification | None = None,
) -> BankAccount:
    """Connect the account that the employee is paid to, replacing an earlier one and a pending one.

    Money pending for the earlier account goes to this one. There is no waiting day: employees use `change_account`,
    and only the operator uses this. Raises what `allow_numbers_of` raises.
    """
    allow_numbers_of(actor, employee.employer_id, employee.id)
    await session.execute(_WITHDRAW_CHANGE, {"employee": employee.id, "now": now})
    return await _connect(session, ring, actor, _owner_of(employee), details, now, verification)


async def connect_sandbox_account(
    session: AsyncSession,
    ring: KeyRing,
    actor: Actor,
    whose: Employer | Employee,
    details: AccountDetails,
    now: datetime.datetime,
    *,
    prenote: bool,
) -> BankAccount:
    """Connect a test account of a sandbox household or employee, replacing an earlier one.

    It is ready at once, unless a `prenote` is to test it. Raises what `allow` raises, and `key_mode_mismatch` outside
    the sandbox.
    """
    household = whose.employer_id if isinstance(whose, Employee) else whose.id
    allow(actor, USE_SANDBOX, household)
    if not (actor.sandbox and whose.sandbox):
        raise wrong_mode("sandbox_only", household)
    if isinstance(whose, Employee):
        await session.execute(_WITHDRAW_CHANGE, {"employee": whose.id, "now": now})
        owner = _owner_of(whose)
    else:
        owner = SecretOwner(whose.organization_id, whose.id, True, "employer", whose.id)
    return await _connect(session, ring, actor, owner, details, now, None, prenote=prenote)


async def disconnect_sandbox_account(
    session: AsyncSession, actor: Actor, whose: Employer | Employee, now: datetime.datetime
) -> None:
    """Disconnect the account of a sandbox household or employee, if there is one.

    Raises what `connect_sandbox_account` raises, and `invalid_state` while money is pending for the account.
    """
    household = whose.employer_id if isinstance(whose, Employee) else whose.id
    allow(actor, USE_SANDBOX, household)
    if not (actor.sandbox and whose.sandbox):
        raise wrong_mode("sandbox_only", household)
    if isinstance(whose, Employee):
        account = (await current_employee_accounts(session, [whose.id])).get(whose.id)
    else:
        account = await current_household_account(session, whose.id)
    if account is not None:
        await _disconnect(session, actor, account, now)


async def connect_pending_account(
    session: AsyncSession,
    ring: KeyRing,
    actor: Actor,
    employee: Employee,
    details: AccountDetails,
    now: datetime.datetime,
) -> BankAccount:
    """Connect the account of a change whose waiting day has passed. Raises what `allow_numbers_of` raises."""
    allow_numbers_of(actor, employee.employer_id, employee.id)
    return await _connect(session, ring, actor, _owner_of(employee), details, now, None)


def _owner_of(employee: Employee) -> SecretOwner:
    return SecretOwner(
        employee.organization_id, employee.employer_id, employee.sandbox, "employee", employee.id
    )


async def disconnect(
    session: AsyncSession, actor: Actor, account: BankAccount, now: datetime.datetime
) -> None:
    """Disconnect the account; authorizations to debit it end.

    Raises `invalid_state` while money is pending for it, and what `allow` raises.
    """
    allow(actor, DISCONNECT_ACCOUNTS, account.employer_id)
    await _disconnect(session, actor, account, now)


async def last_was_reported(session: AsyncSession, employer_id: UUID, employee_id: UUID | None) -> bool:
    """Return whether the account connected last, the employee's or the household's, was reported as wrong."""
    values = {"employer": employer_id, "employee": employee_id}
    return bool(await session.scalar(_REPORTED, values))


async def end_reported(
    session: AsyncSession, actor: Actor, account: BankAccount, now: datetime.datetime
) -> None:
    """End an account whose connection was reported as wrong; if money is pending for it, hold that money instead.

    An employee's pending change ends with it; no earlier account comes back, and the next one is not a first one.
    Raises what `allow` raises.
    """
    allow(actor, DISCONNECT_ACCOUNTS, account.employer_id)
    if account.employee_id is not None:
        await session.execute(_WITHDRAW_CHANGE, {"employee": account.employee_id, "now": now})
    if await session.scalar(_WAITING, {"account": account.id}):
        await fail_accounts(session, now, {account.id: REPORTED})
    else:
        await _disconnect(session, actor, account, now, reason=REPORTED)


async def _disconnect(
    session: AsyncSession,
    actor: Actor,
    account: BankAccount,
    now: datetime.datetime,
    *,
    reason: str = "disconnected",
) -> None:
    if await session.scalar(_WAITING, {"account": account.id}):
        raise Refusal("invalid_state", "Money is on its way over this account. Connect another one instead.")
    await _retire(session, account, now, reason)
    await record_audit(
        session,
        actor,
        "bank_account.disconnect",
        employer_id=account.employer_id,
        subject_id=account.id,
        details={"employee_id": account.employee_id},
    )


async def current_household_account(session: AsyncSession, employer_id: UUID) -> BankAccount | None:
    """Return the household's account, whatever its status; None if it has never connected one."""
    return await session.scalar(
        select(BankAccount)
        .where(
            BankAccount.employer_id == employer_id,
            BankAccount.employee_id.is_(None),
            BankAccount.status != "replaced",
        )
        .execution_options(populate_existing=True)
    )


async def current_employee_accounts(
    session: AsyncSession, employee_ids: Collection[UUID]
) -> dict[UUID, BankAccount]:
    """Return the account of each employee who has connected one, whatever its status."""
    accounts = await session.scalars(
        select(BankAccount)
        .where(BankAccount.employee_id.in_(employee_ids), BankAccount.status != "replaced")
        .execution_options(populate_existing=True)
    )
    return {account.employee_id: account for account in accounts if account.employee_id is not None}


async def fail_accounts(session: AsyncSession, now: datetime.datetime, reasons: Mapping[UUID, str]) -> None:
    """Mark these accounts as failed, each with the bank's reason; accounts replaced since stay as they are."""
    if not reasons:
        return
    failed = await fetch_all(
        session, _FAIL, {"now": now, "ids": list(reasons), "reasons": list(reasons.values())}
    )
    entries = [
        WorkerAuditEntry(row.organization_id, row.employer_id, row.sandbox, row.id, {"reason": row.reason})
        for row in failed
    ]
    await record_worker_audit(session, "bank_account.fail", entries)


def verified_by(now: datetime.datetime) -> datetime.date:
    """Return the latest effective date of prenotes that count as passed at this instant."""
    return effective_by(now, PRENOTE_DAYS)


async def activate_verified(session: AsyncSession, now: datetime.datetime) -> int:
    """Activate the accounts whose prenote no bank has returned in time; return how many."""
    rows = await fetch_all(session, _ACTIVATE, {"now": now, "verified_by": verified_by(now)})
    entries = [
        WorkerAuditEntry(
            row.organization_id, row.employer_id, row.sandbox, row.id, {"verification": "prenote"}
        )
        for row in rows
    ]
    await record_worker_audit(session, "bank_account.activate", entries)
    return len(entries)


async def _connect(
    session: AsyncSession,
    ring: KeyRing,
    actor: Actor,
    owner: SecretOwner,
    details: AccountDetails,
    now: datetime.datetime,
    verification: InstantVerification | None,
    *,
    prenote: bool = False,
) -> BankAccount:
    """Connect the account; a sandbox account is ready at once, unless a `prenote` is to test it."""
    instant = (owner.sandbox and not prenote) or (
        verification is not None and await verification.verify(details)
    )
    employee_id = owner.id if owner.kind == "employee" else None
    await refuse_frozen(session, actor, now, owner.employer_id)
    await _lock_owner(session, owner)
    earlier = await _current(session, owner)
    if earlier is not None:
        await _retire(session, earlier, now, None)
    account = BankAccount(
        id=uuid7(),
        organization_id=owner.organization_id,
        employer_id=owner.employer_id,
        sandbox=owner.sandbox,
        employee_id=employee_id,
        account_type=details.account_type,
        bank_name=details.bank_name,
        last_four=details.account.last_four,
        status="active" if instant else "verifying",
        verification="instant" if instant else "prenote",
        reason=None,
        simulated_answer=simulated_answer(details.account) if owner.sandbox else None,
        created_at=now,
        updated_at=now,
    )
    session.add(account)
    await session.flush()
    for number in (details.routing, details.account):
        await store_secret(session, ring, actor, owner, number)
    if not instant:
        session.add(_prenote(account, now))
        await session.flush()
    await record_audit(
        session,
        actor,
        "bank_account.connect",
        employer_id=owner.employer_id,
        subject_id=account.id,
        details={
            "employee_id": employee_id,
            "last_four": account.last_four,
            "account_type": account.account_type,
            "verification": account.verification,
            "replaces": earlier.id if earlier is not None else None,
        },
    )
    return account


async def _lock_owner(session: AsyncSession, owner: SecretOwner) -> None:
    """Serialize two accounts entered at once. Raises `not_found` if the owner is gone."""
    table = Employee if owner.kind == "employee" else Employer
    statement = select(table.id).where(table.id == owner.id).with_for_update(key_share=True)
    if await session.scalar(statement) is None:
        raise Refusal("not_found", f"There is no such {owner.kind}.")


async def _current(session: AsyncSession, owner: SecretOwner) -> BankAccount | None:
    if owner.kind == "employer":
        return await current_household_account(session, owner.id)
    return (await current_employee_accounts(session, [owner.id])).get(owner.id)


async def _retire(
    session: AsyncSession, account: BankAccount, now: datetime.datetime, reason: str | None
) -> None:
    await session.execute(
        update(BankAccount)
        .where(BankAccount.id == account.id)
        .values(status="replaced", reason=reason, updated_at=now)
    )
    await session.execute(_CANCEL_PRENOTES, {"account": account.id, "now": now})
    await authorizations.revoke(session, now, [account.id])


def _prenote(account: BankAccount, now: datetime.datetime) -> BankEntry:
    send_on, settle_on = dates_from(now)
    return BankEntry(
        id=uuid7(),
        organization_id=account.organization_id,
        employer_id=account.employer_id,
        sandbox=account.sandbox,
        kind="prenote",
        bank_account_id=account.id,
        employee_id=account.employee_id,
        amount=0,
        attempt=1,
        status="pending",
        send_on=send_on,
        settle_on=settle_on,
        created_at=now,
        updated_at=now,
    )
