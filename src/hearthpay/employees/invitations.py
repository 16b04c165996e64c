"""Invitations: links through which employees enter their details themselves, each detail once, for seven days.

A new invitation cancels the pending one of its type. The link is a capability: anyone who has it may enter numbers in
the employee's place, and can read none. The database keeps only a hash of its token. The link itself is stored,
encrypted, in the response kept for an `Idempotency-Key`, because the same request must get the same link, and in the
email until it has been sent.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final
from uuid import UUID

from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import CHANGE_ADDRESSES, CHANGE_EMPLOYEES, STOP_INVITATION, allow
from hearthpay.access.refusal import Refusal
from hearthpay.accounts.freezing import refuse_frozen
from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database, Tenant
from hearthpay.employees.commands import InvitationType, Invite
from hearthpay.employees.invitation_mail import invitation_mail
from hearthpay.employees.invitation_schemas import EmailStatus, InvitationItem
from hearthpay.employees.models import Employee, Invitation
from hearthpay.employees.onboarding import direct_deposit_available
from hearthpay.employees.service import find_employee, lock_employee
from hearthpay.employers.models import Employer
from hearthpay.mail.limits import USUAL_LIMITS, MailLimits
from hearthpay.mail.outbox import Addressee, MailState, queue_mail, state_of_mail, withdraw_mail
from hearthpay.mail.postman import Postman
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.portal_tokens import PortalToken, generate_token, parse_token

PORTAL_PATH: Final = "/portal"
"""The start of the portal's links; the token follows."""
OPEN_FOR: Final = datetime.timedelta(days=7)
BETWEEN_BANK_INVITATIONS: Final = datetime.timedelta(hours=24)
MOST_LISTED: Final = 50


_EXPIRE: Final = text(
    "UPDATE invitations SET status = 'expired' WHERE status = 'pending' AND id IN "
    "(SELECT id FROM invitations WHERE status = 'pending' AND expires_at <= :now ORDER BY expires_at LIMIT :limit) "
    "RETURNING true"
)


@dataclass(frozen=True, slots=True)
class Sending:
    """How an installation sends invitations: the start of links, what mail it may send, and the keys that encrypt
    them.

    Without `mails` no email is sent.
    """

    portal: str
    ring: KeyRing
    mails: MailLimits | None


async def invite(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    sending: Sending,
    employee_id: UUID,
    new: Invite,
    *,
    direct_deposit_enabled: bool,
) -> InvitationItem:
    """Open a link for the employee, and queue the email with it if requested and possible.

    The email is sent once the transaction has committed; `with_email_of` returns its status. Whatever happens to it,
    the invitation remains. No email is sent for a sandbox household, or to an employee without an address.

    A link for a bank account requires the right to change addresses. Raises what `allow` raises, `not_found`,
    `invalid_state` for the bank account of a former employee and while the organization is frozen,
    `direct_deposit_unavailable`, `invitation_too_soon`, and KeyRingError if an email can't be encrypted.
    """
    allow(actor, CHANGE_ADDRESSES if new.type == "bank_account" else CHANGE_EMPLOYEES)
    employee = await lock_employee(session, actor, employee_id)
    if new.type == "bank_account":
        await refuse_frozen(session, actor, clock.now(), employee.employer_id)
    employer = await session.get_one(Employer, employee.employer_id)
    if employee.status == "terminated" and new.type == "bank_account":  # a Form W-2 is still to come
        raise Refusal(
            "invalid_state",
            "This employment has ended: no bank account is needed for it any more.",
            details={"status": employee.status, "end_date": employee.end_date},
        )
    if new.type == "bank_account":
        await _refuse_bank_account(
            session, clock, employer, employee, new, direct_deposit_enabled=direct_deposit_enabled
        )
    cancelled = await _cancel_pending(session, clock, employee, new.type)
    token = generate_token()
    invitation = _invitation(employee, clock.now(), token, new.type)
    portal_url = f"{sending.portal.rstrip('/')}/{token.text}"
    state = await _queue_email(session, clock, sending, employer, employee, new, invitation, portal_url)
    session.add(invitation)
    await session.flush()
    await record_audit(
        session,
        actor,
        "invitation.create",
        employer_id=employer.id,
        subject_id=invitation.id,
        details={
            "employee_id": employee.id,
            "type": new.type,
            "send_email": new.send_email,
            "email": state.reason or state.status,
            "cancelled": cancelled,
        },
    )
    sent, status, reason = _mail_outcome(state)
    return InvitationItem(
        portal_url, sent, invitation.expires_at, status, reason, employee.employer_id, employee.id
    )


async def list_invitations(session: AsyncSession, actor: Actor, employee_id: UUID) -> Sequence[Invitation]:
    """Return the links that were opened for the employee, the newest first; the links themselves can't be read.

    Raises what `allow` raises, and `not_found`.
    """
    await find_employee(session, actor, employee_id)
    statement = select(Invitation).where(Invitation.employee_id == employee_id).order_by(Invitation.id.desc())
    return (await session.scalars(statement.limit(MOST_LISTED))).all()


async def withdraw_invitation(
    session: AsyncSession, actor: Actor, clock: Clock, employee_id: UUID, invitation_type: InvitationType
) -> None:
    """Close the open link of this type, and stop its email if it hasn't been sent; repeating it changes nothing.

    Raises what `allow` raises, and `not_found`.
    """
    allow(actor, STOP_INVITATION)
    employee = await lock_employee(session, actor, employee_id)
    cancelled = await _cancel_pending(session, clock, employee, invitation_type)
    if cancelled is None:
        return
    await record_audit(
        session,
        actor,
        "invitation.withdraw",
        employer_id=employee.employer_id,
        subject_id=cancelled,
        details={"employee_id": employee.id, "type": invitation_type},
    )


async def with_email_of(
    database: Database,
    clock: Clock,
    postman: Postman | None,
    tenant: Tenant,
    answer: dict[str, object],
) -> dict[str, object]:
    """Return an invitation's response with the current status of its email.

    With a `postman`, an email that hasn't been tried yet is sent first, with a short wait. Call it outside of any
    transaction. If the database is lost in between, the response stays as it was: the invitation remains.
    """
    token = parse_token(str(answer["portal_url"]).rpartition("/")[2])
    if token is None:
        return answer
    try:
        state = await _email_of(database, clock, postman, tenant, token)
    except DatabaseUnavailable:
        return answer
    if state is None:
        return answer
    sent, status, reason = _mail_outcome(state)
    return answer | {"email_sent": sent, "email_status": status, "email_reason": reason}


async def _email_of(
    database: Database, clock: Clock, postman: Postman | None, tenant: Tenant, token: PortalToken
) -> MailState | None:
    async with database.transaction(tenant) as session:
        mail_id = await session.scalar(select(Invitation.mail_id).where(Invitation.token_hash == token.hash))
        state = None if mail_id is None else await state_of_mail(session, clock, mail_id)
    if mail_id is None or state is None or postman is None or not state.untried:
        return state
    return await postman.hurry(tenant, mail_id)


def _mail_outcome(state: MailState) -> tuple[bool, EmailStatus | None, str | None]:
    """Return what a response says about a mail: whether it was sent, its status, and the reason if it wasn't."""
    match state.status:
        case "sent":
            return True, "sent", None
        case "queued":
            return False, "queued", state.reason or "not_taken_yet"
        case "withheld":
            return False, None, state.reason
        case _:
            return False, "failed", state.reason


async def _cancel_pending(
    session: AsyncSession, clock: Clock, employee: Employee, invitation_type: InvitationType
) -> UUID | None:
    """Cancel the pending invitation of the type, and its email if that hasn't been sent; return its id."""
    row = (
        await session.execute(
            update(Invitation)
            .where(
                Invitation.employee_id == employee.id,
                Invitation.type == invitation_type,
                Invitation.status == "pending",
            )
            .values(status="cancelled")
            .returning(Invitation.id, Invitation.mail_id)
        )
    ).one_or_none()
    if row is None:
        return None
    if row.mail_id is not None:
        await withdraw_mail(session, clock, row.mail_id, "replaced")
    cancelled: UUID = row.id
    return cancelled


async def _queue_email(
    session: AsyncSession,
    clock: Clock,
    sending: Sending,
    employer: Employer,
    employee: Employee,
    new: Invite,
    invitation: Invitation,
    portal_url: str,
) -> MailState:
    """Queue the email with the link, or return why there is none."""
    if not new.send_email:
        return MailState("withheld", "not_requested")
    if employee.email is None:
        return MailState("withheld", "no_address")
    if sending.mails is None and not employee.sandbox:
        return MailState("withheld", "no_mail_server")
    mail = invitation_mail(employee.email, employer, employee, new.type, portal_url, invitation.expires_at)
    addressee = Addressee(employee.organization_id, employee.employer_id, employee.sandbox, employee.id)
    invitation.mail_id, state = await queue_mail(
        session,
        sending.ring,
        sending.mails or USUAL_LIMITS,
        clock,
        addressee,
        f"invitation.{new.type}",
        mail,
        invitation.expires_at,
    )
    return state


async def _refuse_bank_account(
    session: AsyncSession,
    clock: Clock,
    employer: Employer,
    employee: Employee,
    new: Invite,
    *,
    direct_deposit_enabled: bool,
) -> None:
    """Refuse what direct deposit doesn't allow yet, or not again so soon."""
    if not await direct_deposit_available(session, employer, direct_deposit_enabled=direct_deposit_enabled):
        raise Refusal(
            "direct_deposit_unavailable",
            "This household cannot pay by direct deposit yet: it has no bank account of its own.",
            details={"employer_id": employer.id},
        )
    if not new.send_email:
        return
    latest = await session.scalar(
        select(func.max(Invitation.created_at)).where(
            Invitation.employee_id == employee.id, Invitation.type == new.type
        )
    )
    if latest is None or clock.now() >= latest + BETWEEN_BANK_INVITATIONS:
        return
    retry_at = latest + BETWEEN_BANK_INVITATIONS
    raise Refusal(
        "invitation_too_soon",
        "An employee is invited to enter a bank account once in 24 hours. With send_email: false you get a new "
        "link at once, to pass on yourself.",
        details={"retry_at": retry_at},
        headers={"Retry-After": str(ceil((retry_at - clock.now()).total_seconds()))},
    )


def _invitation(
    employee: Employee, now: datetime.datetime, token: PortalToken, invitation_type: InvitationType
) -> Invitation:
    return Invitation(
        id=uuid7(),
        organization_id=employee.organization_id,
        employer_id=employee.employer_id,
        sandbox=employee.sandbox,
        employee_id=employee.id,
        type=invitation_type,
        status="pending",
        token_hash=token.hash,
        email_sent=False,
        mail_id=None,
        created_at=now,
        expires_at=now + OPEN_FOR,
        completed_at=None,
        tax_number_at=None,
        tax_number_kind=None,
        address_at=None,
        new_link_requested_at=None,
    )


async def complete_pending(
    session: AsyncSession, clock: Clock, employee: Employee, invitation_type: InvitationType
) -> UUID | None:
    """Use up the open link of this type, as its form would: what it asks for was entered otherwise, in the sandbox.

    Returns its id, or None if none is open. The employee must be locked.
    """
    now = clock.now()
    row = (
        await session.execute(
            update(Invitation)
            .where(
                Invitation.employee_id == employee.id,
                Invitation.type == invitation_type,
                Invitation.status == "pending",
                Invitation.expires_at > now,
            )
            .values(status="completed", completed_at=now)
            .returning(Invitation.id, Invitation.mail_id)
        )
    ).one_or_none()
    if row is None:
        return None
    if row.mail_id is not None:
        await withdraw_mail(session, clock, row.mail_id, "used")
    completed: UUID = row.id
    return completed


async def expire_invitations(session: AsyncSession, now: datetime.datetime, *, limit: int) -> int:
    """End up to a limit of expired pending invitations; return how many. One worker at a time."""
    return len((await session.execute(_EXPIRE, {"now": now, "limit": limit})).all())
