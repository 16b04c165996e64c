"""A person's own account: changes of password, second factor, name, language or address, and lost passwords.

Each change is reported by mail, and ends what someone else could have: other sessions, links that were sent.
"""

import datetime
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.refusal import Refusal, invalid
from hearthpay.clock import Clock
from hearthpay.database.session import become_person
from hearthpay.languages.catalogue import mark
from hearthpay.mail.person_mail import ASKED_LINKS, RESETS
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit, note_event
from hearthpay.people.former_addresses import note_former_person_address
from hearthpay.people.freezing import refuse_frozen_person
from hearthpay.people.identity import masked, read_address, read_language, read_name, read_new_address
from hearthpay.people.mails import person_mail
from hearthpay.people.models import PersonCredential, PersonRecord
from hearthpay.people.passwords import check_new_password, hash_password
from hearthpay.people.second_factor import (
    SecondFactorSetup,
    begin_enrollment,
    confirm_enrollment,
    remove_second_factor,
    renew_codes,
    second_factor_of,
)
from hearthpay.people.sessions import SignedIn, end_all
from hearthpay.people.sign_in import SignInResult, complete_sign_in, person_at, send_sign_in_notice
from hearthpay.people.stop_links import PersonChange, StopAccount
from hearthpay.people.tokens import LASTS, end_own_tokens, leave_token, look_at_token, use_token

ACCOUNT_BY_NOW: Final = mark("An account with this email already exists.")
"""If two people use an address at the same moment, the database accepts one; this is the message to the other."""

YOUNG_FOR: Final = datetime.timedelta(days=7)
"""How long a new second factor doesn't lock out a person with access to the account's mail."""

_PASSWORD = mark("the password")
_SECOND_FACTOR_ON = mark("two-step verification was turned on")
_SECOND_FACTOR_OFF = mark("two-step verification was turned off")
_NEW_CODES = mark("new recovery codes were made")


async def ask_for_reset(people_context: PeopleContext, email: str, links_begin: str, visit: Visit) -> None:
    """Send a link for a new password, if the account exists; the response doesn't reveal whether it does.

    None is sent while the account's address is in dispute. Raises `validation_error` for an invalid address, and
    `rate_limited`.
    """
    address = read_address(email)
    await people_context.throttle.mail_asked_for(visit.address)
    async with people_context.in_constant_time():
        if not people_context.writes_mail:
            return
        now = people_context.clock.now()
        async with people_context.database.transaction(None) as session:
            person_id = await person_at(session, address)
            if person_id is None:
                return
            await become_person(session, person_id)
            person = await session.get_one(PersonRecord, person_id)
            await note_event(session, person_id, visit, "reset.ask")
            if person.disputed_address is not None:
                return
            token = await leave_token(session, now, "reset", email=address, person_id=person_id)
            mail = person_mail(
                "reset", address, person.language, name=person.name, link=f"{links_begin}/reset/{token.text}"
            )
            about = f"reset {person_id}"
            await people_context.queue_mail(
                session, now, "reset", mail, now + LASTS["reset"], sort=RESETS, about=about
            )


async def look_at_reset(people_context: PeopleContext, presented: str) -> None:
    """Raises `not_found` or `gone` for a link that doesn't work."""
    async with people_context.database.transaction(None) as session:
        await look_at_token(session, people_context.clock.now(), "reset", presented)


async def reset_password(
    people_context: PeopleContext, presented: str, password: str, visit: Visit
) -> SignInResult:
    """Set a new password by a link, end every session and begin one; the second factor is still required.

    A second factor set up within YOUNG_FOR isn't: someone who stole the account must not lock its owner out with it.

    Raises `gone` for a link that no longer works, and `validation_error` for a password that is too easily guessed.
    """
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        facts = await look_at_token(session, now, "reset", presented)
        assert facts.person_id is not None
        await become_person(session, facts.person_id)
        person = await session.get_one(PersonRecord, facts.person_id)
        if person.email != facts.email:
            raise Refusal("gone", "This link was used already or has expired.")
    checked = check_new_password(password, about=(person.name, person.email))
    hashed = await hash_password(checked)
    async with people_context.database.transaction(None) as session:
        await become_person(session, person.id)
        await _in_turn(session, person.id)
        await use_token(session, now, "reset", presented)
        await _replace_password(session, now, person.id, hashed)
        ended = await end_all(session, now, person.id)
        await end_own_tokens(session, now)
        await note_event(session, person.id, visit, "password.reset", {"sessions_ended": ended})
        await _notify_of(
            people_context, session, person.id, _PASSWORD, "password", await _password_id(session, person.id)
        )
        factor = await second_factor_of(session, person.id)
        needs_second_factor = factor is not None and (factor.confirmed_at or now) <= now - YOUNG_FOR
        return await complete_sign_in(
            people_context, session, now, person.id, "link", visit, needs_second_factor=needs_second_factor
        )


async def change_password(people_context: PeopleContext, who: SignedIn, password: str, visit: Visit) -> None:
    """Set a new password and end the person's other sessions. Raises `validation_error` for a weak one."""
    hashed = await hash_password(check_new_password(password, about=(who.name, who.email)))
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        await _in_turn(session, who.person_id)
        await _replace_password(session, now, who.person_id, hashed)
        ended = await end_all(session, now, who.person_id, but=who.session_id)
        await end_own_tokens(session, now)
        await note_event(session, who.person_id, visit, "password.change", {"sessions_ended": ended})
        changed = await _password_id(session, who.person_id)
        await _notify_of(
            people_context, session, who.person_id, _PASSWORD, "password", changed, who.session_id
        )


async def set_up_second_factor(people_context: PeopleContext, who: SignedIn) -> SecondFactorSetup:
    """Create a secret for an authenticator app; it takes effect once a code from it is entered."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        await _in_turn(session, who.person_id)
        await refuse_frozen_person(session, people_context.clock.now(), who.person_id)
        return await begin_enrollment(
            session, people_context.keys(), people_context.clock.now(), who.person_id, who.email
        )


async def confirm_second_factor(
    people_context: PeopleContext, who: SignedIn, code: str, visit: Visit
) -> Sequence[str]:
    """Activate the second factor; return its recovery codes. Raises `validation_error`."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        await refuse_frozen_person(session, people_context.clock.now(), who.person_id)
        codes = await confirm_enrollment(
            session, people_context.keys(), people_context.clock.now(), who.person_id, code
        )
        factor = await second_factor_of(session, who.person_id)
        subject = None if factor is None else factor.id
        await note_event(session, who.person_id, visit, "second_factor.add", {"credential_id": str(subject)})
        await _notify_of(
            people_context, session, who.person_id, _SECOND_FACTOR_ON, "factor_added", subject, who.session_id
        )
        return codes


async def new_recovery_codes(people_context: PeopleContext, who: SignedIn, visit: Visit) -> Sequence[str]:
    """Replace the recovery codes. Raises `invalid_state` if there is no second factor."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        if await second_factor_of(session, who.person_id) is None:
            raise Refusal("invalid_state", "Two-step verification is off.")
        await refuse_frozen_person(session, people_context.clock.now(), who.person_id)
        codes = await renew_codes(session, people_context.clock.now(), who.person_id)
        await note_event(session, who.person_id, visit, "recovery_codes.renew")
        await _notify_of(
            people_context, session, who.person_id, _NEW_CODES, "codes", session_id=who.session_id
        )
        return codes


async def do_without_second_factor(people_context: PeopleContext, who: SignedIn, visit: Visit) -> None:
    """Remove the second factor and its recovery codes; where there is none, no warning is sent."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        await _in_turn(session, who.person_id)
        factor = await second_factor_of(session, who.person_id)
        await remove_second_factor(session, people_context.clock.now(), who.person_id)
        if factor is None:
            return
        await note_event(
            session, who.person_id, visit, "second_factor.remove", {"credential_id": str(factor.id)}
        )
        await _notify_of(
            people_context,
            session,
            who.person_id,
            _SECOND_FACTOR_OFF,
            "factor_removed",
            factor.id,
            who.session_id,
        )


async def change_profile(
    people_context: PeopleContext, who: SignedIn, name: str, language: str, visit: Visit
) -> None:
    """Change the person's name and language. Raises `validation_error`."""
    values = {"name": read_name(name), "language": read_language(language)}
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        await session.execute(
            update(PersonRecord)
            .where(PersonRecord.id == who.person_id)
            .values(**values, updated_at=people_context.clock.now())
        )
        await note_event(session, who.person_id, visit, "profile.change", {"language": values["language"]})


async def ask_for_new_email(
    people_context: PeopleContext, who: SignedIn, email: str, links_begin: str, visit: Visit
) -> None:
    """Send a link to the new address, which takes effect once the link is opened. The response reveals nothing about
    other accounts.

    Raises `validation_error`, and `rate_limited`.
    """
    address = read_new_address(email)
    if address == who.email:
        raise invalid("email", "This is already your email address.")
    await people_context.throttle.mail_asked_for(visit.address)
    now = people_context.clock.now()
    async with people_context.in_constant_time(), people_context.database.transaction(None) as session:
        taken = await person_at(session, address) is not None
        await become_person(session, who.person_id)
        await refuse_frozen_person(session, now, who.person_id)
        await note_event(session, who.person_id, visit, "email.ask", {"new": masked(address)})
        if taken or not people_context.writes_mail:
            return
        token = await leave_token(session, now, "new_email", email=address, person_id=who.person_id)
        mail = person_mail(
            "new_email", address, who.language, name=who.name, link=f"{links_begin}/new-email/{token.text}"
        )
        about = f"new_email {who.person_id}"
        await people_context.queue_mail(
            session, now, "new_email", mail, now + LASTS["new_email"], sort=ASKED_LINKS, about=about
        )


async def confirm_new_email(
    people_context: PeopleContext, who: SignedIn, presented: str, visit: Visit
) -> None:
    """Use the address that the link was sent to, and notify the old one. Raises `gone`, also for another person's
    link.
    """
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        facts = await look_at_token(session, now, "new_email", presented)
        if facts.person_id != who.person_id or facts.email is None:
            raise Refusal("gone", "This link was made for another account.")
        if await person_at(session, facts.email) is not None:
            raise Refusal("gone", "This link was used already or has expired.")
        await use_token(session, now, "new_email", presented)
        await become_person(session, who.person_id)
        await refuse_frozen_person(session, now, who.person_id)
        await note_former_person_address(session, now, who.person_id, who.email)
        try:
            await session.execute(
                update(PersonRecord)
                .where(PersonRecord.id == who.person_id)
                .values(email=facts.email, updated_at=now)
            )
        except IntegrityError:
            raise Refusal("gone", ACCOUNT_BY_NOW) from None
        await end_own_tokens(session, now)
        stop = StopAccount(who.person_id, "address", now, address=who.email, session_id=who.session_id)
        await send_sign_in_notice(
            people_context, session, now, who.person_id, "moved", to=who.email, stop=stop
        )
        change = {"before": {"email": masked(who.email)}, "after": {"email": masked(facts.email)}}
        await note_event(session, who.person_id, visit, "email.change", change)


async def first_password(session: AsyncSession, clock: Clock, person_id: UUID, hashed: str) -> None:
    """Store the first password of a person who was just created, in the person's transaction."""
    await _replace_password(session, clock.now(), person_id, hashed)


async def _in_turn(session: AsyncSession, person_id: UUID) -> None:
    """Serialize changes of a person's sign-in methods: a form sent twice at once makes the change twice."""
    own = select(PersonRecord.id).where(PersonRecord.id == person_id)
    await session.execute(own.with_for_update(key_share=True))


async def _replace_password(
    session: AsyncSession, now: datetime.datetime, person_id: UUID, hashed: str
) -> None:
    await session.execute(
        update(PersonCredential)
        .where(
            PersonCredential.person_id == person_id,
            PersonCredential.kind == "password",
            PersonCredential.ended_at.is_(None),
        )
        .values(ended_at=now)
    )
    session.add(
        PersonCredential(
            id=uuid7(),
            person_id=person_id,
            kind="password",
            password_hash=hashed,
            created_at=now,
            confirmed_at=now,
        )
    )
    await session.flush()


async def _password_id(session: AsyncSession, person_id: UUID) -> UUID | None:
    found: UUID | None = await session.scalar(
        select(PersonCredential.id).where(
            PersonCredential.person_id == person_id,
            PersonCredential.kind == "password",
            PersonCredential.ended_at.is_(None),
        )
    )
    return found


async def _notify_of(
    people_context: PeopleContext,
    session: AsyncSession,
    person_id: UUID,
    what: str,
    change: PersonChange,
    subject: UUID | None = None,
    session_id: UUID | None = None,
) -> None:
    now = people_context.clock.now()
    stop = StopAccount(person_id, change, now, subject, session_id=session_id)
    await send_sign_in_notice(people_context, session, now, person_id, "changed", what=what, stop=stop)
