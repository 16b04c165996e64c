"""What the holder of an invitation's link may see and do: opening it, and using it up.

The token is the only authentication: it says whose link it is, and everything else happens in a transaction of that
household alone. The holder acts as the employee.
"""

import datetime
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock, HouseholdTime
from hearthpay.database.household_clocks import household_time_of
from hearthpay.database.session import Database, Tenant
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.employees.commands import InvitationType
from hearthpay.employees.models import Employee, Invitation
from hearthpay.employees.service import lock_everyone
from hearthpay.employers.models import Employer
from hearthpay.mail.outbox import withdraw_mail
from hearthpay.security.portal_tokens import parse_token


class _FindRow(NamedTuple):
    invitation_id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    employee_id: UUID
    type: str
    status: str
    expires_at: datetime.datetime


_FIND: Final = query(
    _FindRow,
    "SELECT invitation_id, organization_id, employer_id, sandbox, employee_id, type, status, expires_at "
    "FROM find_invitation(:token_hash)",
)


@dataclass(frozen=True, slots=True)
class OpenInvitation:
    """What the holder of a link may see: whose pay it is about, and what to enter."""

    invitation: Invitation
    type: InvitationType
    first_name: str
    household: str
    sandbox: bool
    employee: Employee
    zone: ZoneInfo
    """The household's time zone."""

    time: HouseholdTime | None = None
    """Of a sandbox household with its own clock."""


StoreEntered = Callable[[AsyncSession, Actor, Invitation], Awaitable[None]]
"""Stores what the employee, as the actor, typed."""

EnterPart = Callable[[AsyncSession, Actor, OpenInvitation], Awaitable[bool]]
"""Stores what the employee, as the actor, typed; returns whether that uses the link up."""


async def look_up(
    database: Database, clock: Clock, token: str, *, also_completed: bool = False
) -> OpenInvitation:
    """Return the invitation of a link's token; with `also_completed`, also one whose form was sent in time.

    Raises `not_found` for a token that never belonged to a link, `gone` for one that was used, replaced or has
    expired.
    """
    tenant, found = await find_link(database, clock, token, also_completed=also_completed)
    async with database.transaction(tenant) as session:
        return replace(await opened_by(session, found.invitation_id), time=found.time)


async def complete(
    database: Database, clock: Clock, token: str, request_id: str, enter: StoreEntered
) -> OpenInvitation:
    """Use up the invitation: `enter` stores what the employee typed, in the same transaction.

    Of two attempts at once one succeeds. Raises what `look_up` and `enter` raise; the invitation then stays as it
    was.
    """

    async def all_of_it(session: AsyncSession, actor: Actor, opened: OpenInvitation) -> bool:
        await enter(session, actor, opened.invitation)
        return True

    return await enter_by_link(database, clock, token, request_id, all_of_it)


async def enter_by_link(
    database: Database, clock: Clock, token: str, request_id: str, enter: EnterPart
) -> OpenInvitation:
    """Store what the holder of a link typed: `enter` does, and returns whether that uses the link up.

    The household's employees are locked, so that of two attempts at once the second sees what the first has done.
    Raises what `look_up` and `enter` raise; the invitation then stays as it was.
    """
    tenant, found = await find_link(database, clock, token)
    async with database.transaction(tenant) as session:
        actor = found.holder(tenant, request_id)
        employee = await lock_everyone(session, actor, found.employee_id)
        opened = await opened_by(session, found.invitation_id)
        if opened.invitation.status != "pending" or opened.invitation.expires_at <= clock.now():
            raise link_ended()
        if opened.invitation.mail_id is not None:
            await withdraw_mail(session, clock, opened.invitation.mail_id, "used")
        if await enter(session, actor, opened):
            opened.invitation.status = "completed"
            opened.invitation.completed_at = clock.now()
            await session.flush()
            await record_audit(
                session,
                actor,
                "invitation.complete",
                employer_id=employee.employer_id,
                subject_id=opened.invitation.id,
                details={"employee_id": employee.id, "type": opened.type},
            )
    return opened


@dataclass(frozen=True, slots=True)
class FoundLink:
    """Whose link a token is of."""

    invitation_id: UUID
    employer_id: UUID
    employee_id: UUID
    time: HouseholdTime | None

    def holder(self, tenant: Tenant, request_id: str) -> Actor:
        """Return the holder of the link, who acts as the employee."""
        return Actor.employee(
            self.employee_id,
            tenant.organization_id,
            self.employer_id,
            sandbox=tenant.sandbox,
            request_id=request_id,
        )


async def find_link(
    database: Database, clock: Clock, token: str, *, also_completed: bool = False, also_ended: bool = False
) -> tuple[Tenant, FoundLink]:
    """Return whose link the token is of, and the tenant; with `also_ended`, whatever has become of the link.

    Raises what `look_up` raises.
    """
    parsed = parse_token(token)
    if parsed is None:
        raise _unknown()
    async with database.transaction(None) as session:
        row = await fetch_optional(session, _FIND, {"token_hash": parsed.hash})
    if row is None:
        raise _unknown()
    tenant = Tenant(row.organization_id, row.sandbox, row.employer_id)
    time = None
    if row.sandbox:
        async with database.transaction(tenant) as session:
            time = await household_time_of(session, row.employer_id)
    open_still = row.status == "pending" or (also_completed and row.status == "completed")
    if not also_ended and (not open_still or row.expires_at <= (clock.now() if time is None else time.at)):
        raise link_ended()
    found = FoundLink(row.invitation_id, row.employer_id, row.employee_id, time)
    return tenant, found


async def opened_by(session: AsyncSession, invitation_id: UUID) -> OpenInvitation:
    """Return what the invitation opens. Raises `not_found`."""
    row = (
        await session.execute(
            select(Invitation, Employee, Employer)
            .join(Employee, Employee.id == Invitation.employee_id)
            .join(Employer, Employer.id == Invitation.employer_id)
            .where(Invitation.id == invitation_id)
        )
    ).one_or_none()
    if row is None:  # deleted with its sandbox household a moment ago
        raise _unknown()
    invitation = row[0]
    return OpenInvitation(
        invitation=invitation,
        type=cast(InvitationType, invitation.type),
        first_name=row[1].first_name,
        household=row[2].last_name,
        sandbox=invitation.sandbox,
        employee=row[1],
        zone=row[2].zone,
    )


def _unknown() -> Refusal:
    return Refusal("not_found", "This link doesn't work.")


def link_ended() -> Refusal:
    """Return the refusal of a link that was used, replaced or has expired."""
    return Refusal("gone", "This link was used, replaced by a newer one, or has expired.")
