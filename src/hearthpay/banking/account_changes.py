"""An employee's change of bank account, which takes effect after a day, so that an intruder in the account can't
redirect pay.

This is the only way for an employee to replace an account, signed in or by an invitation's link, which may have been
forwarded. Only the operator's command connects an account at once; the operator then informs the employee.

Until the day has passed, nothing changes: payments go to the previous account if the bank accepts it, and wait
otherwise. The employee is notified at once, with the last digits of both, and may cancel the change. Then the worker
connects the account, and the bank tests it like every new one. If there was none, nothing can be diverted: the first
account is connected at once.

If the employee's or the household's address was changed within the last week, the person who changed it might be
the only one notified: then every account, even the first, needs an owner's approval. So does the next account after
one that was reported as wrong by an alert's link: who reports an account must not choose the next one.
"""

import datetime
from dataclasses import dataclass
from typing import Final, Literal, cast
from uuid import UUID

import orjson
from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import ENTER_NUMBERS, GIVE_WORD, STOP_ACCOUNT_CHANGE, allow
from hearthpay.access.refusal import Refusal
from hearthpay.accounts.freezing import FROZEN_FOR, refuse_frozen
from hearthpay.banking.accounts import (
    AccountDetails,
    connect_employee_account,
    connect_pending_account,
    current_employee_accounts,
    last_was_reported,
)
from hearthpay.banking.models import AccountChange, BankAccount
from hearthpay.banking.nacha.records import AccountType
from hearthpay.clock import Clock
from hearthpay.database.relations import EMPLOYERS, ORGANIZATIONS
from hearthpay.database.sealing_keys import key_for_writing
from hearthpay.database.session import Database
from hearthpay.database.statements import statement
from hearthpay.employees.links import allow_own
from hearthpay.employees.models import Employee
from hearthpay.employees.service import lock_employee
from hearthpay.people.former_addresses import address_was_changed
from hearthpay.security.content_seal import (
    SealedContent,
    account_change_place,
    open_content,
    seal_content,
)
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_numbers import SecretNumber

WAITS: Final = datetime.timedelta(hours=24)
"""From the request until the new account is connected."""

CHUNK: Final = 100
_REQUEST: Final = "account-change"

_DUE: Final = statement(
    "SELECT c.id FROM account_changes c WHERE c.status = 'waiting' AND c.effective_at <= :now "
    "AND (NOT c.needs_word OR c.word_given_at IS NOT NULL) "
    "AND (c.sandbox OR NOT EXISTS (SELECT FROM {organizations} o WHERE o.id = c.organization_id "
    "AND o.frozen_until > :now) AND NOT EXISTS (SELECT FROM {employers} h WHERE h.id = c.employer_id "
    "AND h.frozen_until > :now)) ORDER BY row_number() OVER (PARTITION BY c.organization_id "
    "ORDER BY c.effective_at, c.id), c.effective_at, c.id LIMIT :limit",
    organizations=ORGANIZATIONS,
    employers=EMPLOYERS,
)
_STOPPED: Final = text(
    "SELECT max(stopped_at) FROM account_changes WHERE employer_id = :employer AND employee_id = :employee "
    "AND stopped_at > :since"
)


@dataclass(frozen=True, slots=True)
class RequestedChange:
    """The result: an account connected at once, or a pending change; `replaces` is the account until then."""

    connected: BankAccount | None
    waiting: AccountChange | None
    replaces: BankAccount | None

    @property
    def news(self) -> Literal["bank_changed", "bank_asked", "bank_connected"]:
        """The news to report: pending, pending an owner's approval, or connected."""
        if self.waiting is None:
            return "bank_connected"
        return "bank_asked" if self.waiting.needs_word else "bank_changed"

    @property
    def old_digits(self) -> str | None:
        """The last digits of the previous account."""
        return None if self.replaces is None else self.replaces.last_four


async def change_account(
    session: AsyncSession,
    ring: KeyRing,
    actor: Actor,
    clock: Clock,
    employee_id: UUID,
    details: AccountDetails,
) -> RequestedChange:
    """Change the account that the employee's pay goes to, after the waiting day; this replaces a pending change.

    Raises what `allow_own` raises; `not_found`; `invalid_state` for a former employee, while the organization is
    frozen, and for a day after a change was stopped by its alert's link; and KeyRingError.
    """
    now = clock.now()
    employee = await _lock(session, actor, employee_id)
    if employee.status == "terminated":
        raise Refusal(
            "invalid_state",
            "This employment has ended: no bank account is needed for it any more.",
            details={"status": employee.status, "end_date": employee.end_date},
        )
    await refuse_frozen(session, actor, now, employee.employer_id)
    await _refuse_stopped(session, now, employee)
    needs_word = await address_was_changed(
        session, now, employee.employer_id, employee.id
    ) or await last_was_reported(session, employee.employer_id, employee.id)
    current = (await current_employee_accounts(session, [employee.id])).get(employee.id)
    if current is None and not needs_word:
        account = await connect_employee_account(session, ring, actor, employee, details, now)
        return RequestedChange(account, None, None)
    await _withdraw(session, now, employee.id)
    change_id = uuid7()
    numbers = orjson.dumps([details.routing.reveal(), details.account.reveal()])
    sealed = seal_content(await key_for_writing(session, ring), account_change_place(change_id), numbers)
    change = AccountChange(
        id=change_id,
        organization_id=employee.organization_id,
        employer_id=employee.employer_id,
        sandbox=employee.sandbox,
        employee_id=employee.id,
        status="waiting",
        account_type=details.account_type,
        last_four=details.account.last_four,
        replaces=None if current is None else current.id,
        bank_account_id=None,
        numbers=sealed.ciphertext,
        nonce=sealed.nonce,
        key_id=sealed.key_id,
        asked_at=now,
        effective_at=now + WAITS,
        needs_word=needs_word,
        ended_at=None,
    )
    session.add(change)
    await session.flush()
    await record_audit(
        session,
        actor,
        "account_change.ask",
        employer_id=employee.employer_id,
        subject_id=change.id,
        details={
            "employee_id": employee.id,
            "replaces": change.replaces,
            "last_four": change.last_four,
            "effective_at": change.effective_at,
            "needs_word": needs_word,
        },
    )
    return RequestedChange(None, change, current)


async def withdraw_change(session: AsyncSession, actor: Actor, clock: Clock, employee_id: UUID) -> bool:
    """Cancel the pending change; return whether there was one. Raises what `allow_own` raises.

    If it was stopped by its alert's link, no other account is accepted for a day.
    """
    allow_own(actor, STOP_ACCOUNT_CHANGE, employee_id)
    employee = await lock_employee(session, actor, employee_id)
    withdrawn = await _withdraw(session, clock.now(), employee.id, stopped=actor.only_stops)
    if withdrawn is None:
        return False
    await record_audit(
        session,
        actor,
        "account_change.withdraw",
        employer_id=employee.employer_id,
        subject_id=withdrawn,
        details={"employee_id": employee.id},
    )
    return True


async def approve_change(session: AsyncSession, actor: Actor, clock: Clock, employee_id: UUID) -> bool:
    """Approve the employee's account that awaits an owner's approval; return whether there was one.

    It is connected when its waiting day has passed. Raises what `allow` raises, and `not_found`.
    """
    allow(actor, GIVE_WORD)
    employee = await lock_employee(session, actor, employee_id)
    given = await session.scalar(
        update(AccountChange)
        .where(
            AccountChange.employee_id == employee.id,
            AccountChange.status == "waiting",
            AccountChange.needs_word,
            AccountChange.word_given_at.is_(None),
        )
        .values(word_given_at=clock.now(), word_given_by=actor.id)
        .returning(AccountChange.id)
    )
    if given is None:
        return False
    await record_audit(
        session,
        actor,
        "account_change.agree",
        employer_id=employee.employer_id,
        subject_id=given,
        details={"employee_id": employee.id},
    )
    return True


async def pending_change(session: AsyncSession, employee_id: UUID) -> AccountChange | None:
    """Return the employee's pending change, if any."""
    return await session.scalar(
        select(AccountChange).where(
            AccountChange.employee_id == employee_id, AccountChange.status == "waiting"
        )
    )


async def connect_due(database: Database, ring: KeyRing, clock: Clock, *, limit: int = CHUNK) -> int:
    """Connect the accounts whose waiting day has passed, each in its own transaction; return how many.

    The database is the worker's. Repeating it changes nothing; of two workers, one connects. Raises KeyRingError.
    """
    async with database.transaction(None) as session:
        due = list(await session.scalars(_DUE, {"now": clock.now(), "limit": limit}))
    done = 0
    for change_id in due:
        async with database.transaction(None) as session:
            done += await _connect(session, ring, clock, change_id)
    return done


async def _connect(session: AsyncSession, ring: KeyRing, clock: Clock, change_id: UUID) -> bool:
    employee_id = await session.scalar(select(AccountChange.employee_id).where(AccountChange.id == change_id))
    statement = select(Employee).where(Employee.id == employee_id).with_for_update(key_share=True)
    employee = await session.scalar(statement)
    if employee is None:  # a sandbox household deleted a moment ago
        return False
    # The employee is locked first, as for every request.
    change = await session.scalar(
        select(AccountChange)
        .where(AccountChange.id == change_id, AccountChange.status == "waiting")
        .with_for_update()
    )
    if change is None or change.numbers is None or change.nonce is None or change.key_id is None:
        return False
    sealed = SealedContent(change.numbers, change.nonce, change.key_id)
    routing, account = orjson.loads(open_content(ring, account_change_place(change.id), sealed))
    details = AccountDetails(
        SecretNumber("bank_routing", routing),
        SecretNumber("bank_account", account),
        cast(AccountType, change.account_type),
    )
    # What the employee asked for, done when its day has come.
    actor = Actor.employee(
        employee.id,
        employee.organization_id,
        employee.employer_id,
        sandbox=employee.sandbox,
        request_id=f"{_REQUEST} {change.id}",
    )
    now = clock.now()
    connected = await connect_pending_account(session, ring, actor, employee, details, now)
    change.status = "done"
    change.bank_account_id = connected.id
    change.numbers = change.nonce = change.key_id = None
    change.ended_at = now
    await session.flush()
    return True


async def _lock(session: AsyncSession, actor: Actor, employee_id: UUID) -> Employee:
    allow_own(actor, ENTER_NUMBERS, employee_id)
    return await lock_employee(session, actor, employee_id)


async def _refuse_stopped(session: AsyncSession, now: datetime.datetime, employee: Employee) -> None:
    stopped: datetime.datetime | None = await session.scalar(
        _STOPPED, {"employer": employee.employer_id, "employee": employee.id, "since": now - FROZEN_FOR}
    )
    if stopped is not None:
        raise Refusal(
            "invalid_state",
            "A new bank account was reported as somebody else's. For a day no other one is taken.",
            details={"frozen_until": stopped + FROZEN_FOR},
        )


async def _withdraw(
    session: AsyncSession, now: datetime.datetime, employee_id: UUID, *, stopped: bool = False
) -> UUID | None:
    withdrawn: UUID | None = await session.scalar(
        update(AccountChange)
        .where(AccountChange.employee_id == employee_id, AccountChange.status == "waiting")
        .values(
            status="withdrawn",
            ended_at=now,
            stopped_at=now if stopped else None,
            numbers=None,
            nonce=None,
            key_id=None,
        )
        .returning(AccountChange.id)
    )
    return withdrawn
