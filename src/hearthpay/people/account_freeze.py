"""What the link in a warning does to an account: it takes away what is younger than the act, and freezes the account.

Anyone with access to the mail can use it without signing in, so it gives nothing: no session, no way to sign in, no
address. It ends the session in which the act was done and every later one, and what was added or chosen since: a
password, passkeys, recovery codes, a second factor. What is older stays: the second factor above all. A removed second
factor counts again, since that only asks for more; a removed passkey doesn't. An older password stays too, but is in
doubt until another is chosen: it is taken only in a browser that was known before, or before a second factor.

If the account's address was changed within the week, two mailboxes contradict each other, and a link can't tell who is
right: `address_dispute` decides. Until then no reset is mailed.
"""

import datetime
import hashlib
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import or_, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.accounts.freezing import freeze_organization
from hearthpay.database.session import Tenant, become, become_person
from hearthpay.people.address_dispute import open_dispute
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit, note_event
from hearthpay.people.freezing import forget_browsers, freeze_person, reported_since
from hearthpay.people.models import PersonCredential, PersonRecord, PersonSession
from hearthpay.people.secured_mails import send_secured
from hearthpay.people.sessions import memberships_of
from hearthpay.people.stop_links import StopAccount
from hearthpay.people.tokens import end_own_tokens

_DONE: Final = text(
    "SELECT EXISTS (SELECT FROM person_events WHERE person_id = :person AND action = 'account.stop' "
    "AND details ->> 'link' = :link)"
)


@dataclass(frozen=True, slots=True)
class AccountStopped:
    """The outcome: how many sessions and credentials ended, until when the account is frozen (None if it isn't), and
    whether its address is in dispute.
    """

    sessions: int
    taken_back: bool
    frozen_until: datetime.datetime | None
    disputed: bool = False


async def stop_account(
    people_context: PeopleContext, stop: StopAccount, token: str, visit: Visit
) -> AccountStopped:
    """Take away what is younger than the act, and freeze the account for a day: unless it is frozen already, or the act
    is from before an earlier report.

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
        since = await _begin_of(session, stop)
        sessions = await _end_sessions(session, now, stop)
        ended = await _end_younger(session, now, stop)
        restored = stop.change == "factor_removed" and await _restore_factor(session, stop)
        await end_own_tokens(session, now)
        until = await freeze_person(session, now, stop.person_id, stop.at)
        await forget_browsers(session, now, stop.person_id, since)
        await _doubt_password(session, now, stop.person_id)
        disputed = await open_dispute(session, now, stop.person_id)
        stopped = AccountStopped(
            sessions,
            bool(ended) or restored or disputed is not None,
            until,
            disputed is not None,
        )
        details = {
            "link": used,
            "change": stop.change,
            "sessions_ended": sessions,
            "ended": ended,
            "taken_back": stopped.taken_back,
            "disputed": stopped.disputed,
        }
        await note_event(session, stop.person_id, visit, "account.stop", details)
        await session.refresh(person)
        await send_secured(people_context, session, now, person, disputed)
        for membership in await memberships_of(session):
            if membership.role != "viewer":
                tenant = Tenant(membership.organization_id, False)
                await become(session, tenant)
                actor = Actor.stop_link(
                    membership.organization_id, sandbox=False, request_id=visit.request_id or ""
                )
                await freeze_organization(session, actor, now, "account_stopped", latest=stop.at)
        return stopped


async def freezes_account(people_context: PeopleContext, stop: StopAccount) -> bool:
    """Return whether the link would freeze the account: nothing was reported since the act."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, stop.person_id)
        return not await reported_since(session, stop.person_id, stop.at)


async def _begin_of(session: AsyncSession, stop: StopAccount) -> datetime.datetime:
    """Return when the session began in which the act was done: its browser isn't known any more."""
    acting = stop.subject if stop.change == "sign_in" else stop.session_id
    begun: datetime.datetime | None = await session.scalar(
        select(PersonSession.created_at).where(
            PersonSession.id == acting, PersonSession.person_id == stop.person_id
        )
    )
    return stop.at if begun is None else min(begun, stop.at)


async def _end_sessions(session: AsyncSession, now: datetime.datetime, stop: StopAccount) -> int:
    acting = stop.subject if stop.change == "sign_in" else stop.session_id
    ended = await session.scalars(
        update(PersonSession)
        .where(
            PersonSession.person_id == stop.person_id,
            PersonSession.ended_at.is_(None),
            or_(PersonSession.created_at >= stop.at, PersonSession.id == acting),
        )
        .values(ended_at=now)
        .returning(PersonSession.id)
    )
    return len(ended.all())


async def _end_younger(session: AsyncSession, now: datetime.datetime, stop: StopAccount) -> list[str]:
    """End what was added or chosen since the act; return the kinds, sorted."""
    ended = await session.scalars(
        update(PersonCredential)
        .where(
            PersonCredential.person_id == stop.person_id,
            PersonCredential.ended_at.is_(None),
            or_(PersonCredential.created_at >= stop.at, PersonCredential.confirmed_at >= stop.at),
        )
        .values(ended_at=now)
        .returning(PersonCredential.kind)
    )
    return sorted(set(ended))


async def _restore_factor(session: AsyncSession, stop: StopAccount) -> bool:
    """Let a removed second factor count again, if there is no other."""
    try:
        async with session.begin_nested():
            restored = await session.scalar(
                update(PersonCredential)
                .where(
                    PersonCredential.id == stop.subject,
                    PersonCredential.person_id == stop.person_id,
                    PersonCredential.kind == "totp",
                    PersonCredential.ended_at.is_not(None),
                )
                .values(ended_at=None)
                .returning(PersonCredential.id)
            )
            return restored is not None
    except IntegrityError:  # another one is already active
        return False


async def _doubt_password(session: AsyncSession, now: datetime.datetime, person_id: UUID) -> None:
    await session.execute(
        update(PersonCredential)
        .where(
            PersonCredential.person_id == person_id,
            PersonCredential.kind == "password",
            PersonCredential.ended_at.is_(None),
            PersonCredential.doubted_at.is_(None),
        )
        .values(doubted_at=now)
    )
