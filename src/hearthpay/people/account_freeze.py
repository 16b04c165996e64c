"""What the link in a warning does to an account: it reverses the change, ends all sessions, and freezes the account.

Anyone with access to the mail can use it without signing in, but it can't start anything: no session, no new sign-in
method. The password is void afterward, no matter who chose it; the way back is a link sent to the account's address
at that time.
"""

import datetime
import hashlib
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.accounts.freezing import freeze_organization
from hearthpay.database.session import Tenant, become, become_person
from hearthpay.languages.catalogue import moment_in
from hearthpay.mail.person_mail import WARNINGS
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit, note_event
from hearthpay.people.former_addresses import end_former_person_addresses, former_addresses_of_person
from hearthpay.people.freezing import freeze_person
from hearthpay.people.identity import masked
from hearthpay.people.mails import person_mail
from hearthpay.people.models import PersonCredential, PersonRecord
from hearthpay.people.second_factor import remove_second_factor
from hearthpay.people.sessions import end_all, memberships_of
from hearthpay.people.stop_links import StopAccount
from hearthpay.people.tokens import LASTS, end_own_tokens, leave_token

_DONE: Final = text(
    "SELECT EXISTS (SELECT FROM person_events WHERE person_id = :person AND action = 'account.stop' "
    "AND details ->> 'link' = :link)"
)


@dataclass(frozen=True, slots=True)
class AccountStopped:
    """The outcome: how many sessions ended, whether the change was reversed, and until when the account is frozen."""

    sessions: int
    taken_back: bool
    frozen_until: datetime.datetime


async def stop_account(
    people_context: PeopleContext, stop: StopAccount, token: str, visit: Visit
) -> AccountStopped:
    """Reverse the change to the account as far as possible, end its sessions, and freeze it for a day.

    The organizations of which the person is owner or admin are frozen too, and their owners notified. `token` is the
    link's, which works once. Raises `gone` for a used one.
    """
    now = people_context.clock.now()
    used = hashlib.sha256(token.encode()).hexdigest()
    async with people_context.database.transaction(None) as session:
        await become_person(session, stop.person_id)
        own = select(PersonRecord).where(PersonRecord.id == stop.person_id)
        person = await session.scalar(own.with_for_update(key_share=True))
        if person is None or await session.scalar(_DONE, {"person": stop.person_id, "link": used}):
            raise Refusal("gone", "This link was used already or has expired.")
        taken_back = await _reverse(session, now, stop)
        await _void_password(session, now, stop.person_id)
        ended = await end_all(session, now, stop.person_id)
        await end_own_tokens(session, now)
        until = await freeze_person(session, now, stop.person_id)
        await note_event(
            session,
            stop.person_id,
            visit,
            "account.stop",
            {"link": used, "change": stop.change, "sessions_ended": ended, "taken_back": taken_back},
        )
        await session.refresh(person)
        await _send(people_context, session, now, person)
        for membership in await memberships_of(session):
            if membership.role != "viewer":
                tenant = Tenant(membership.organization_id, False)
                await become(session, tenant)
                actor = Actor.stop_link(
                    membership.organization_id, sandbox=False, request_id=visit.request_id or ""
                )
                await freeze_organization(session, actor, now, "account_stopped")
        return AccountStopped(ended, taken_back, until)


async def _reverse(session: AsyncSession, now: datetime.datetime, stop: StopAccount) -> bool:
    match stop.change:
        case "factor_added" | "codes":
            if stop.change == "codes" or await _is_in_force(session, stop.person_id, stop.subject):
                await remove_second_factor(session, now, stop.person_id)
                return True
            return False
        case "passkey_added":
            return await _end(session, now, stop.person_id, stop.subject)
        case "factor_removed" | "passkey_removed":
            return await _restore(session, stop.person_id, stop.subject)
        case "address":
            return await _restore_address(session, now, stop)
        case _:
            return False


async def _is_in_force(session: AsyncSession, person_id: UUID, credential_id: UUID | None) -> bool:
    found = select(PersonCredential.id).where(
        PersonCredential.id == credential_id,
        PersonCredential.person_id == person_id,
        PersonCredential.ended_at.is_(None),
    )
    return await session.scalar(found) is not None


async def _end(
    session: AsyncSession, now: datetime.datetime, person_id: UUID, credential_id: UUID | None
) -> bool:
    ended = await session.scalar(
        update(PersonCredential)
        .where(
            PersonCredential.id == credential_id,
            PersonCredential.person_id == person_id,
            PersonCredential.ended_at.is_(None),
        )
        .values(ended_at=now)
        .returning(PersonCredential.id)
    )
    return ended is not None


async def _restore(session: AsyncSession, person_id: UUID, credential_id: UUID | None) -> bool:
    """Restore a removed second factor or passkey; a factor only if there is no other."""
    try:
        async with session.begin_nested():
            restored = await session.scalar(
                update(PersonCredential)
                .where(
                    PersonCredential.id == credential_id,
                    PersonCredential.person_id == person_id,
                    PersonCredential.ended_at.is_not(None),
                )
                .values(ended_at=None)
                .returning(PersonCredential.id)
            )
            return restored is not None
    except IntegrityError:  # another one is already active
        return False


async def _restore_address(session: AsyncSession, now: datetime.datetime, stop: StopAccount) -> bool:
    if stop.address is None or not await end_former_person_addresses(
        session, now, stop.person_id, stop.address
    ):
        return False
    try:
        async with session.begin_nested():
            await session.execute(
                update(PersonRecord)
                .where(PersonRecord.id == stop.person_id)
                .values(email=stop.address, updated_at=now)
            )
    except IntegrityError:  # somebody else has already made an account under it
        return False
    return True


async def _void_password(session: AsyncSession, now: datetime.datetime, person_id: UUID) -> None:
    await session.execute(
        update(PersonCredential)
        .where(
            PersonCredential.person_id == person_id,
            PersonCredential.kind == "password",
            PersonCredential.ended_at.is_(None),
        )
        .values(ended_at=now)
    )


async def _send(
    people_context: PeopleContext, session: AsyncSession, now: datetime.datetime, person: PersonRecord
) -> None:
    """Send the mail that the account was secured: with a link for a new password to its own address, without one to
    others.
    """
    if not people_context.writes_mail:
        return
    token = await leave_token(session, now, "reset", email=person.email, person_id=person.id)
    former = await former_addresses_of_person(session, now, person.id)
    for address in dict.fromkeys((person.email, *former)):
        link = f"{people_context.links_begin}/reset/{token.text}" if address == person.email else None
        mail = person_mail(
            "stopped",
            address,
            person.language,
            name=person.name,
            link=link,
            operator=people_context.operator,
            when=moment_in(person.language, now),
        )
        about = f"stopped {person.id} {masked(address)}"
        await people_context.queue_mail(
            session, now, "stopped", mail, now + LASTS["reset"], sort=WARNINGS, about=about
        )
