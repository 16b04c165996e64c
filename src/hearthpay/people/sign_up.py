"""How people are created: by signing up, or invited by a member.

An address verified by a link stays verified. Signing up doesn't reveal whether an address has an account: its owner
is notified by mail.
"""

import datetime
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.plans import NEW_ORGANIZATIONS
from hearthpay.access.refusal import Checks, Refusal
from hearthpay.clock import Clock
from hearthpay.database import audit
from hearthpay.database.session import Tenant, become, become_person
from hearthpay.people.context import PeopleContext
from hearthpay.people.credentials import ACCOUNT_BY_NOW, first_password
from hearthpay.people.events import Visit, note_event
from hearthpay.people.freezing import refuse_frozen_person
from hearthpay.people.identity import read_language, read_name, read_new_address
from hearthpay.people.mails import person_mail
from hearthpay.people.members import OpenMemberInvitation, accept, open_invitation
from hearthpay.people.models import Membership, PersonRecord
from hearthpay.people.passwords import check_new_password, hash_password
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_in import SignInResult, complete_sign_in, person_at
from hearthpay.people.tokens import LASTS, leave_token, look_at_token, use_token

_FOUND: Final = text("SELECT found_organization(:organization, :membership, :name, :plan, :now)")


@dataclass(frozen=True, slots=True)
class NewPerson:
    """A person creating an account, as entered."""

    name: str
    password: str
    language: str


@dataclass(frozen=True, slots=True)
class CheckedPerson:
    """The same person, checked."""

    name: str
    password_hash: str
    language: str


async def ask_to_sign_up(
    people_context: PeopleContext, email: str, language: str, links_begin: str, visit: Visit
) -> None:
    """Send a link to the address: to create an account or, if there is one, to sign in.

    Raises `not_found` if strangers may not create accounts, `validation_error` and `rate_limited`.
    """
    if not people_context.takes_sign_ups:
        raise Refusal("not_found", "Accounts are made by invitation here.")
    address = read_new_address(email)
    await people_context.throttle.account_asked_for(visit.address, address)
    now = people_context.clock.now()
    async with people_context.in_constant_time(), people_context.database.transaction(None) as session:
        if await person_at(session, address) is not None:
            mail = person_mail("account_exists", address, language, link=f"{links_begin}/sign-in")
            await people_context.queue_mail(session, now, "account_exists", mail, now + LASTS["sign_up"])
            return
        token = await leave_token(session, now, "sign_up", email=address)
        mail = person_mail("sign_up", address, language, link=f"{links_begin}/sign-up/{token.text}")
        await people_context.queue_mail(session, now, "sign_up", mail, now + LASTS["sign_up"])


async def look_at_sign_up(people_context: PeopleContext, presented: str) -> str:
    """Return the address that a sign-up link was sent to. Raises `not_found` and `gone`."""
    async with people_context.database.transaction(None) as session:
        facts = await look_at_token(session, people_context.clock.now(), "sign_up", presented)
        if facts.email is None or await person_at(session, facts.email) is not None:
            raise Refusal("gone", "This link was used already or has expired.")
        return facts.email


async def finish_sign_up(
    people_context: PeopleContext, presented: str, new: NewPerson, organization: str, visit: Visit
) -> SignInResult:
    """Create the account and its organization, of which the person is the owner; begin a session.

    Without a name the organization gets the person's. Raises `gone` for a link that no longer works, and
    `validation_error`.
    """
    address = await look_at_sign_up(people_context, presented)
    checks = Checks()
    typed = checks.run(lambda: read_name(organization, "organization"), "") if organization.strip() else ""
    checked = await check_new_person(new, address, checks)
    named = typed or checked.name
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        await use_token(session, now, "sign_up", presented)
        person_id = await make_person(session, people_context.clock, address, checked, visit)
        await found_organization(session, now, person_id, named, visit)
        return await complete_sign_in(people_context, session, now, person_id, "link", visit)


def named_or_own(organization: str, new: NewPerson) -> str:
    """Return the name of a new organization: the one entered, or else the person's own."""
    return organization if organization.strip() else new.name


async def look_at_invitation(
    people_context: PeopleContext, presented: str
) -> tuple[OpenMemberInvitation, bool]:
    """Return an open invitation, and whether its address has an account. Raises `not_found` and `gone`."""
    async with people_context.database.transaction(None) as session:
        invitation = await open_invitation(session, people_context.clock.now(), presented)
        return invitation, await person_at(session, invitation.email) is not None


async def join_as_new_person(
    people_context: PeopleContext, presented: str, new: NewPerson, visit: Visit
) -> SignInResult:
    """Create an account for the invited address, and accept. Raises `gone` and `validation_error`."""
    invitation, has_account = await look_at_invitation(people_context, presented)
    if has_account:
        raise Refusal("invalid_state", "There is an account with this address: sign in to accept.")
    checked = await check_new_person(new, invitation.email)
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        invitation = await open_invitation(session, now, presented)
        person_id = await make_person(session, people_context.clock, invitation.email, checked, visit)
        await accept(session, now, invitation, person_id, visit)
        return await complete_sign_in(people_context, session, now, person_id, "link", visit)


async def join_signed_in(people_context: PeopleContext, who: SignedIn, presented: str, visit: Visit) -> UUID:
    """Accept an invitation sent to the person's own address; return the organization.

    Raises `gone` for one that has ended or was sent to someone else.
    """
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        invitation = await open_invitation(session, now, presented)
        if invitation.email != who.email:
            raise Refusal("gone", "This invitation was sent to another address than yours.")
        await become_person(session, who.person_id)
        await accept(session, now, invitation, who.person_id, visit)
        return invitation.organization_id


async def begin_own_organization(
    people_context: PeopleContext, who: SignedIn, name: str, visit: Visit
) -> UUID:
    """Create an organization of which the person is the owner, whatever their other roles; return it.

    Raises `validation_error` for an invalid name, `not_found` if strangers can't create accounts here, and
    `invalid_state` for the sixth.
    """
    if not people_context.sign_up_open:
        raise Refusal("not_found", "Accounts are made by invitation here.")
    named = read_name(name, "organization")
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        await refuse_frozen_person(session, now, who.person_id)
        return await found_organization(session, now, who.person_id, named, visit)


async def found_organization(
    session: AsyncSession, now: datetime.datetime, person_id: UUID, name: str, visit: Visit
) -> UUID:
    """Create an organization of the person whose transaction it is; the transaction is then the organization's.

    Raises `invalid_state` for the sixth.
    """
    organization_id = uuid7()
    values = {"organization": organization_id, "membership": uuid7(), "name": name, "now": now}
    given = await session.scalar(_FOUND, values | {"plan": NEW_ORGANIZATIONS})
    if given is None:
        raise Refusal("invalid_state", "A person owns five organizations at most.")
    await become(session, Tenant(organization_id, False))
    await _leave_trace(session, person_id, organization_id, "organization.create", visit)
    return organization_id


async def join_as_owner(
    session: AsyncSession, now: datetime.datetime, person_id: UUID, organization_id: UUID, visit: Visit
) -> None:
    """Make the person an owner of an organization without people; the transaction is then the organization's."""
    await become(session, Tenant(organization_id, False))
    session.add(
        Membership(
            id=uuid7(), organization_id=organization_id, person_id=person_id, role="owner", joined_at=now
        )
    )
    await session.flush()
    await _leave_trace(session, person_id, organization_id, "member.join", visit)


async def check_new_person(new: NewPerson, address: str, checks: Checks | None = None) -> CheckedPerson:
    """Return the checked person who creates an account.

    Raises `validation_error` with every problem, also those that `checks` found before.
    """
    checks = checks or Checks()
    name = checks.run(lambda: read_name(new.name), new.name)
    password = checks.run(lambda: check_new_password(new.password, about=(name, address)), "")
    language = checks.run(lambda: read_language(new.language), "en")
    checks.refuse()
    return CheckedPerson(name, await hash_password(password), language)


async def make_person(
    session: AsyncSession, clock: Clock, address: str, new: CheckedPerson, visit: Visit
) -> UUID:
    """Create the person; the transaction is then theirs."""
    person_id = uuid7()
    now = clock.now()
    await become_person(session, person_id)
    session.add(
        PersonRecord(
            id=person_id, email=address, name=new.name, language=new.language, created_at=now, updated_at=now
        )
    )
    try:
        await session.flush()
    except IntegrityError:
        raise Refusal("gone", ACCOUNT_BY_NOW) from None
    await first_password(session, clock, person_id, new.password_hash)
    await note_event(session, person_id, visit, "account.create")
    return person_id


async def _leave_trace(
    session: AsyncSession, person_id: UUID, organization_id: UUID, action: str, visit: Visit
) -> None:
    await audit.record(
        session,
        actor_kind="user",
        actor_id=person_id,
        organization_id=organization_id,
        employer_id=None,
        sandbox=None,
        action=action,
        subject_id=person_id if action == "member.join" else organization_id,
        request_id=visit.request_id,
        details={"role": "owner"},
    )
