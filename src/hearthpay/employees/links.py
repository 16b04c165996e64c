"""Which person an employee is: their records with the households they work for, each separate from the others.

Only the database makes a link, for the holder of an invitation's link (`link_employee`). From then on a transaction
that is both the household's and the person's sees only their own record of that household.
"""

import datetime
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import CHANGE_EMPLOYEES, READ_EMPLOYEES, Permission, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.database.relations import PEOPLE
from hearthpay.database.session import Database, Tenant, become_person
from hearthpay.database.statements import column_list
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query
from hearthpay.employees.models import Employee, EmployeeLink
from hearthpay.languages.catalogue import mark
from hearthpay.people.identity import read_address
from hearthpay.security.portal_tokens import parse_token
from hearthpay.time_zones import time_zone_of

NO_ACCOUNT_UNDER_IT: Final = mark(
    "No account can be made under the email address that the household has on record: it has letters that accounts "
    "cannot have. Ask the household to change it."
)


class _OwnRow(NamedTuple):
    link_id: UUID
    employee_id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    household: str
    first_name: str
    last_name: str
    status: str
    state: str
    time_zone: str | None


_OWN: Final = query(
    _OwnRow,
    "SELECT {columns} FROM own_employments()",
    columns=column_list(_OwnRow._fields),
)


class _LinkRow(NamedTuple):
    outcome: str
    employee_id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool


_LINK: Final = query(
    _LinkRow,
    "SELECT {columns} FROM link_employee(:link, :token_hash, :now)",
    columns=column_list(_LinkRow._fields),
)


class _WithAccountsRow(NamedTuple):
    link_id: UUID
    employee_id: UUID
    name: str
    email: str
    linked_at: datetime.datetime
    awaits_household: bool


_WITH_ACCOUNTS: Final = query(
    _WithAccountsRow,
    "SELECT l.id AS link_id, l.employee_id, p.name, p.email, l.linked_at, l.awaits_household "
    "FROM employee_links l JOIN {people} p ON p.id = l.person_id WHERE l.ended_at IS NULL ORDER BY l.id",
    people=PEOPLE,
)


@dataclass(frozen=True, slots=True)
class OwnEmployment:
    """One of a person's records as an employee, and the household that it belongs to."""

    link_id: UUID
    employee_id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    household: str
    first_name: str
    last_name: str
    status: str
    state: str
    time_zone: str | None

    @property
    def zone(self) -> ZoneInfo:
        """The household's time zone."""
        return time_zone_of(self.state, self.time_zone)

    @property
    def name(self) -> str:
        """The employee's name, as the household has it."""
        return f"{self.first_name} {self.last_name}"

    @property
    def tenant(self) -> Tenant:
        """The household, alone."""
        return Tenant(self.organization_id, self.sandbox, self.employer_id)

    def actor(self, request_id: str) -> Actor:
        """Return the person as the employee they are here."""
        return Actor.employee(
            self.employee_id,
            self.organization_id,
            self.employer_id,
            sandbox=self.sandbox,
            request_id=request_id,
        )


def allow_own(actor: Actor, permission: Permission, employee_id: UUID) -> None:
    """Allow the employee whose record it is, and anyone else that the permission names.

    Raises what `allow` raises, and `household_forbidden` for another employee's record.
    """
    allow(actor, permission)
    if actor.kind == "employee" and actor.id != employee_id:
        raise Refusal("household_forbidden", "Employees can see and change only their own record.")


async def employments_of(database: Database, person_id: UUID) -> tuple[OwnEmployment, ...]:
    """Return the person's records, those of current employments first."""
    async with database.transaction(None) as session:
        await become_person(session, person_id)
        return tuple(OwnEmployment(*row) for row in await fetch_all(session, _OWN))


async def employment_of(database: Database, person_id: UUID, employee_id: UUID) -> OwnEmployment:
    """Return one of the person's records. Raises `not_found` for one that isn't theirs."""
    for each in await employments_of(database, person_id):
        if each.employee_id == employee_id:
            return each
    raise _not_hers()


@asynccontextmanager
async def own_transaction(
    database: Database, person_id: UUID, employment: OwnEmployment
) -> AsyncIterator[AsyncSession]:
    """Yield a transaction of the household that sees none of its employees except the person's own record."""
    async with database.transaction(employment.tenant) as session:
        await become_person(session, person_id)
        yield session


def account_address(employee: Employee) -> str | None:
    """Return the record's address as accounts write it: a link leads only to an account with this address.

    None if the household knows none. An address that no account can have (`can_have_account`) stays as it is, and
    matches none.
    """
    if employee.email is None:
        return None
    try:
        return read_address(employee.email)
    except Refusal:
        return employee.email.lower()


def can_have_account(employee: Employee) -> bool:
    """Return whether an account can have the record's address, or an address that the employee chooses."""
    if employee.email is None:
        return True
    try:
        read_address(employee.email)
    except Refusal:
        return False
    return True


def refuse_other_address() -> Refusal:
    """Return the refusal for an account whose address differs from the record's."""
    return Refusal(
        "invalid_state",
        "The household has another email address of yours on record. Sign in with an account under that one, or ask "
        "the household to change it.",
    )


LinkOutcome = Literal["linked", "kept"]


@dataclass(frozen=True, slots=True)
class Linked:
    """The outcome of a link; `kept` if it already existed."""

    outcome: LinkOutcome
    employee_id: UUID
    tenant: Tenant


async def link_person(session: AsyncSession, now: datetime.datetime, presented: str) -> Linked:
    """Link the person of this transaction to the employee whose invitation they hold.

    Raises `not_found` for an unknown link, `gone` for an invitation that has ended or has linked somebody else, and
    `invalid_state` if the record belongs to another account, or has an address other than theirs.
    """
    token = parse_token(presented)
    if token is None:
        raise Refusal("not_found", "This link doesn't work.")
    row = await fetch_optional(session, _LINK, {"link": uuid7(), "token_hash": token.hash, "now": now})
    if row is None or row.outcome == "used":
        raise Refusal("gone", "This link was used, replaced by a newer one, or has expired.")
    if row.outcome == "taken":
        raise Refusal(
            "invalid_state",
            "This record belongs to another account already. If that is not yours, tell the household.",
        )
    if row.outcome == "elsewhere":
        raise refuse_other_address()
    tenant = Tenant(row.organization_id, row.sandbox, row.employer_id)
    return Linked(cast(LinkOutcome, row.outcome), row.employee_id, tenant)


@dataclass(frozen=True, slots=True)
class EmployeeWithAccount:
    """An employee who has an account: who they are in the household's records, and since when.

    `awaits_household`: it was made by a link alone, and shows no record until the household has confirmed it.
    """

    link_id: UUID
    employee_id: UUID
    name: str
    email: str
    linked_at: datetime.datetime
    awaits_household: bool


async def employees_with_accounts(session: AsyncSession, actor: Actor) -> Sequence[EmployeeWithAccount]:
    """Return which of the actor's employees have accounts. Raises what `allow` raises."""
    allow(actor, READ_EMPLOYEES)
    return [EmployeeWithAccount(*row) for row in await fetch_all(session, _WITH_ACCOUNTS)]


async def unconfirmed_account(
    session: AsyncSession, actor: Actor, employee_id: UUID
) -> EmployeeWithAccount | None:
    """Return the employee's account that the household has yet to confirm, if any. Raises what `allow` raises."""
    accounts = await employees_with_accounts(session, actor)
    return next(
        (each for each in accounts if each.employee_id == employee_id and each.awaits_household), None
    )


async def await_household(session: AsyncSession, employee_id: UUID) -> None:
    """Hide the employee's record from the linked person until the household has confirmed the account."""
    await session.execute(
        update(EmployeeLink)
        .where(EmployeeLink.employee_id == employee_id, EmployeeLink.ended_at.is_(None))
        .values(awaits_household=True)
    )


async def awaits_any_household(database: Database, person_id: UUID) -> bool:
    """Return whether a household has yet to confirm this person's account."""
    async with database.transaction(None) as session:
        await become_person(session, person_id)
        waiting = select(EmployeeLink.id).where(
            EmployeeLink.ended_at.is_(None), EmployeeLink.awaits_household.is_(True)
        )
        return await session.scalar(waiting.limit(1)) is not None


async def confirm_link(session: AsyncSession, actor: Actor, employee_id: UUID, link_id: UUID) -> None:
    """Confirm that the account is the employee's, which opens their record to it; leaves an audit row.

    Raises what `allow` raises, and `not_found`, also for an account that has ended or was confirmed already.
    """
    allow(actor, CHANGE_EMPLOYEES)
    link = await session.get(EmployeeLink, link_id)
    if link is None or link.employee_id != employee_id or not actor.reaches(link.employer_id):
        raise Refusal("not_found", "Account not found.")
    confirmed = await session.scalar(
        update(EmployeeLink)
        .where(
            EmployeeLink.id == link_id,
            EmployeeLink.ended_at.is_(None),
            EmployeeLink.awaits_household.is_(True),
        )
        .values(awaits_household=False)
        .returning(EmployeeLink.id)
    )
    if confirmed is None:
        raise Refusal("not_found", "Account not found.")
    await record_audit(
        session,
        actor,
        "employee.confirm_account",
        employer_id=link.employer_id,
        subject_id=link.employee_id,
        details={"person_id": link.person_id},
    )


async def end_link(session: AsyncSession, actor: Actor, clock: Clock, link_id: UUID) -> None:
    """End a person's access to an employee's record; a new invitation may link another person.

    Leaves an audit row. Raises `not_found`, also if out of reach.
    """
    allow(actor, CHANGE_EMPLOYEES)
    link = await session.get(EmployeeLink, link_id)
    if link is None or not actor.reaches(link.employer_id):
        raise Refusal("not_found", "Account not found.")
    ended = await session.scalar(
        update(EmployeeLink)
        .where(EmployeeLink.id == link_id, EmployeeLink.ended_at.is_(None))
        .values(ended_at=clock.now())
        .returning(EmployeeLink.id)
    )
    if ended is None:
        return
    await record_audit(
        session,
        actor,
        "employee.unlink",
        employer_id=link.employer_id,
        subject_id=link.employee_id,
        details={"person_id": link.person_id},
    )


async def own_employee_at(session: AsyncSession, employee_id: UUID) -> Employee:
    """Return the record of the person whose transaction it is. Raises `not_found`."""
    found = await session.scalar(select(Employee).where(Employee.id == employee_id))
    if found is None:
        raise _not_hers()
    return found


def _not_hers() -> Refusal:
    return Refusal("not_found", "Page not found. Check the address.")
