"""A household's state registrations: what is needed, the numbers it has, and the applications it recorded."""

import datetime
from collections.abc import Sequence, Set
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import KEEP_REGISTRATIONS, READ_REGISTRATIONS, allow
from hearthpay.access.refusal import invalid
from hearthpay.clock import Clock
from hearthpay.database.relations import VAULT_ENDINGS
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.database.vault_store import Reader, SecretMissingError, read_secret, store_secret
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer
from hearthpay.payroll.ledger.quarters import read_quarters
from hearthpay.payroll.years.prior_wages import read_prior_quarters
from hearthpay.registrations.accounts import StateAccount, accounts_of
from hearthpay.registrations.derivation import (
    Inclusion,
    NumberOnFile,
    Registration,
    RegistrationApplication,
    WagesOfQuarter,
    registrations_of,
)
from hearthpay.registrations.models import StateRegistration
from hearthpay.registrations.numbers import format_warning
from hearthpay.registrations.records import household_facts
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import SecretOwner
from hearthpay.security.vault_numbers import InvalidNumberError, parse_number
from hearthpay.taxes.jurisdictions import STATES

_PURPOSE: Final = "registration.reveal"


class _SaidRow(NamedTuple):
    state: str
    number_id: str
    applied_on: datetime.date | None
    last_four: str | None


_SAID: Final = query(
    _SaidRow,
    "SELECT r.state, r.number_id, r.applied_on, v.last_four FROM state_registrations r "
    "LEFT JOIN {vault_endings} v ON v.owner_kind = 'registration' AND v.owner_id = r.id "
    "WHERE r.employer_id = :employer ORDER BY r.state, r.number_id",
    vault_endings=VAULT_ENDINGS,
)


async def read_numbers_on_file(session: AsyncSession, employer_id: UUID) -> list[tuple[str, str]]:
    """Return the state accounts with a number on file, by state and the number's name there."""
    recorded = await fetch_all(session, _SAID, {"employer": employer_id})
    return [(row.state, row.number_id) for row in recorded if row.last_four is not None]


async def list_registrations(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer_id: UUID | None,
    *,
    include: Set[Inclusion] = frozenset(),
) -> tuple[Employer, tuple[Registration, ...]]:
    """Return the household and its current rows, see `registrations_of`.

    Raises what `allow` and `resolve_employer` raise.
    """
    allow(actor, READ_REGISTRATIONS)
    employer = await resolve_employer(session, actor, employer_id)
    return employer, await registrations_of_household(session, actor, clock, employer, include=include)


async def registrations_of_household(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer: Employer,
    *,
    include: Set[Inclusion] = frozenset(),
) -> tuple[Registration, ...]:
    """Return the rows of a household that has already been found. Raises what `allow` raises."""
    allow(actor, READ_REGISTRATIONS, employer.id)
    statement = select(Employee).where(Employee.employer_id == employer.id).order_by(Employee.id)
    employees = (await session.scalars(statement)).all()
    return await read_registrations(session, employer, clock.today(), employees, include=include)


async def read_registrations(
    session: AsyncSession,
    employer: Employer,
    today: datetime.date,
    employees: Sequence[Employee],
    *,
    include: Set[Inclusion] = frozenset(),
) -> tuple[Registration, ...]:
    """Return the same rows for a household with these employees; the caller has checked that they may be shown."""
    wages: dict[UUID, tuple[WagesOfQuarter, ...]] = {}
    years = {"first_year": today.year - 1, "last_year": today.year}
    paid_here = await read_quarters(session, employer.id, **years)
    for paid in paid_here + await read_prior_quarters(session, employer.id, **years):
        quarter = WagesOfQuarter(paid.work_state, paid.year, paid.quarter, paid.cents)
        wages[paid.employee_id] = (*wages.get(paid.employee_id, ()), quarter)
    recorded = await fetch_all(session, _SAID, {"employer": employer.id})
    numbers = tuple(
        NumberOnFile(row.state, row.number_id, row.last_four) for row in recorded if row.last_four is not None
    )
    applications = tuple(
        RegistrationApplication(row.state, row.number_id, row.applied_on)
        for row in recorded
        if row.applied_on is not None
    )
    facts = household_facts(employer, employees, wages, numbers, applications)
    return registrations_of(facts, today, include=include)


async def reveal_numbers(
    session: AsyncSession, ring: KeyRing, actor: Actor, employer: Employer, rows: Sequence[Registration]
) -> dict[tuple[str, str], str]:
    """Return the numbers of these rows in full, by state and number id; each number read leaves an audit row.

    Release them only once the transaction has committed. Raises what `allow` raises.
    """
    allow(actor, READ_REGISTRATIONS, employer.id)
    requested = {(row.state, row.number_id) for row in rows if row.status == "registered"}
    statement = select(StateRegistration).where(StateRegistration.employer_id == employer.id)
    numbers = {}
    for kept in (await session.scalars(statement.order_by(StateRegistration.id))).all():
        if (kept.state, kept.number_id) in requested:
            owner = _owner(employer, kept.id)
            secret = await read_secret(session, ring, actor, owner, "state_account", purpose=_PURPOSE)
            numbers[kept.state, kept.number_id] = secret.reveal()
    return numbers


async def keep_number(
    session: AsyncSession,
    ring: KeyRing,
    actor: Actor,
    clock: Clock,
    employer: Employer,
    *,
    state: str,
    account_id: str,
    number: str,
) -> str | None:
    """Save the number that an agency assigned, replacing an earlier one; return a warning if it looks unusual.

    It applies to every account of the state that uses it. Raises what `allow` raises, and `validation_error` for a
    state or type that has no account, and for an invalid number.
    """
    allow(actor, KEEP_REGISTRATIONS, employer.id)
    account = _account(state, account_id)
    try:
        secret = parse_number("state_account", number)
    except InvalidNumberError as error:
        raise invalid("number", str(error)) from None
    registration = await _registration(session, clock, employer, account)
    await store_secret(session, ring, actor, _owner(employer, registration), secret)
    return format_warning(secret.reveal(), account.number)


async def note_application(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer: Employer,
    *,
    state: str,
    account_id: str,
    applied_on: datetime.date | None,
) -> None:
    """Record when the household says it applied, or with None that it didn't; writes an audit row.

    Raises what `allow` raises, and `validation_error` for a state or type without an account and a day in the future.
    """
    allow(actor, KEEP_REGISTRATIONS, employer.id)
    account = _account(state, account_id)
    if applied_on is not None and applied_on > clock.today():
        raise invalid("applied_on", "Enter today's date or an earlier one.")
    registration = await session.get(
        StateRegistration, await _registration(session, clock, employer, account), with_for_update=True
    )
    assert registration is not None
    before, registration.applied_on = registration.applied_on, applied_on
    registration.updated_at = clock.now()
    await session.flush()
    await record_audit(
        session,
        actor,
        "registration.apply",
        employer_id=employer.id,
        subject_id=registration.id,
        details={"before": _day(before), "after": _day(applied_on)},
    )


async def withholding_accounts(
    session: AsyncSession, ring: KeyRing, reader: Reader, employer: Employer, *, purpose: str
) -> dict[str, str]:
    """Return the household's numbers for income tax withheld, by state, for documents that show them.

    The caller has checked that the ``reader`` may have the document: the household's people, or the employee whose
    own Form W-2 shows the numbers. Each number read leaves an audit row with the ``purpose``.
    """
    statement = select(StateRegistration).where(StateRegistration.employer_id == employer.id)
    found = {}
    for kept in (await session.scalars(statement.order_by(StateRegistration.id))).all():
        account = accounts_of(kept.state).account("withholding")
        if account is None or account.number.id != kept.number_id:
            continue
        try:
            secret = await read_secret(
                session, ring, reader, _owner(employer, kept.id), "state_account", purpose=purpose
            )
        except SecretMissingError:  # applied for, not assigned yet
            continue
        found[kept.state] = secret.reveal()
    return found


def _account(state: str, account_id: str) -> StateAccount:
    if state not in STATES:
        raise invalid("state", "Choose a state, or DC.")
    account = accounts_of(state).account(account_id)
    if account is None:
        known = ", ".join(each.id for each in accounts_of(state).accounts)
        raise invalid("type", f"is no account of {state}, which has {known}")
    return account


async def _registration(
    session: AsyncSession, clock: Clock, employer: Employer, account: StateAccount
) -> UUID:
    """Return the id of the row of the account's number, created if there is none; concurrent calls create only one."""
    now = clock.now()
    row = {
        "id": uuid7(),
        "organization_id": employer.organization_id,
        "employer_id": employer.id,
        "sandbox": employer.sandbox,
        "state": account.state,
        "number_id": account.number.id,
        "created_at": now,
        "updated_at": now,
    }
    statement = insert(StateRegistration).values(row)
    made = statement.on_conflict_do_update(
        index_elements=("employer_id", "state", "number_id"), set_={"updated_at": now}
    ).returning(StateRegistration.id)
    return (await session.execute(made)).scalar_one()


def _owner(employer: Employer, registration: UUID) -> SecretOwner:
    return SecretOwner(employer.organization_id, employer.id, employer.sandbox, "registration", registration)


def _day(day: datetime.date | None) -> str | None:
    return None if day is None else day.isoformat()
