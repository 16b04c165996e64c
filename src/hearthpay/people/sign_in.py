"""Signing in: by password and second factor, or by passkey; and proving again who one is before something delicate.

Whatever is wrong, the answer is the same, and takes as long: nobody learns here who has an account. Passwords are
checked outside of any transaction, as that takes a while.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal, invalid
from hearthpay.database.session import become_person
from hearthpay.languages.catalogue import mark, moment_in, say_in
from hearthpay.mail.person_mail import WARNINGS
from hearthpay.people.events import Visit, note_event
from hearthpay.people.front_desk import FrontDesk
from hearthpay.people.identity import read_address
from hearthpay.people.mails import PersonMailKind, person_mail
from hearthpay.people.models import PersonCredential, PersonRecord, PersonSession
from hearthpay.people.passwords import is_password
from hearthpay.people.second_factor import second_factor_of, take_code
from hearthpay.people.sessions import SignedIn, SignInMethod, begin_session, half_session
from hearthpay.security.portal_tokens import PortalToken

WRONG: Final = mark("The address or the password is not right.")
WRONG_CODE: Final = mark("This code is not right, or was used already.")

_NEWS_LAST: Final = timedelta(days=2)
_FIND_PERSON: Final = text("SELECT find_person(:address)")


@dataclass(frozen=True, slots=True)
class Entered:
    """A session just begun; with `half` the second factor is asked for next."""

    token: PortalToken
    half: bool


@dataclass(frozen=True, slots=True)
class _Account:
    """What is compared with what was typed; of an address without an account, nothing."""

    person_id: UUID | None
    password_hash: str | None


async def sign_in(desk: FrontDesk, email: str, password: str, visit: Visit) -> Entered:
    """Begin a session of whoever has this address and password; half of one where there is a second factor.

    Raises `authentication_required`, always in the same words, and `rate_limited`.
    """
    address = _address(email)
    desk.throttle.admit(visit.address, address)
    async with desk.in_constant_time():
        return await _sign_in(desk, address, password, visit)


async def _sign_in(desk: FrontDesk, address: str, password: str, visit: Visit) -> Entered:
    account = await _account(desk, address)
    if not await is_password(password, account.password_hash) or account.person_id is None:
        if account.person_id is not None:
            await _note(desk, account.person_id, visit, "sign_in.failed")
        raise Refusal("authentication_required", WRONG)
    now = desk.clock.now()
    async with desk.database.transaction(None) as session:
        await become_person(session, account.person_id)
        if await _password_hash(session, account.person_id) != account.password_hash:
            raise Refusal("authentication_required", WRONG)  # it was changed in this moment
        half = await second_factor_of(session, account.person_id) is not None
        entered = await enter(desk, session, now, account.person_id, "password", visit, half=half)
    desk.throttle.succeeded(visit.address, None if half else address)
    return entered


async def enter(
    desk: FrontDesk,
    session: AsyncSession,
    now: datetime,
    person_id: UUID,
    method: SignInMethod,
    visit: Visit,
    *,
    half: bool = False,
) -> Entered:
    """Begin a session of the person whose transaction it is, and tell her if she was never seen in such a browser."""
    new_place = not half and await _is_new_place(session, person_id, visit)
    token = await begin_session(session, now, person_id, method, visit, half=half)
    action = "sign_in.first_half" if half else "sign_in"
    opened = {"method": method, "session": hashlib.sha256(token.hash).hexdigest()}
    await note_event(session, person_id, visit, action, opened)
    if new_place:
        await tell(desk, session, now, person_id, "new_sign_in")
    return Entered(token, half)


async def give_second_factor(desk: FrontDesk, half: str | None, code: str, visit: Visit) -> Entered:
    """Make a whole session of a half one, under a new token. Raises `authentication_required` and `rate_limited`."""
    now = desk.clock.now()
    ring = desk.keys()
    async with desk.database.transaction(None) as session:
        waiting = await half_session(session, now, half)
        if waiting is None:
            raise Refusal("gone", "Please sign in again.")
        person = await session.get_one(PersonRecord, waiting.person_id)
        desk.throttle.admit(visit.address, person.email)
        taken = await take_code(session, ring, now, person.id, code)
        if taken is not None:
            await session.execute(
                update(PersonSession).where(PersonSession.id == waiting.id).values(ended_at=now)
            )
            if taken == "recovery_code":
                await note_event(session, person.id, visit, "recovery_code.use")
            entered = await enter(desk, session, now, person.id, "password", visit)
        else:
            await note_event(session, person.id, visit, "second_factor.failed")
        address = person.email
    if taken is None:
        raise Refusal("authentication_required", WRONG_CODE)
    desk.throttle.succeeded(visit.address, address)
    return entered


async def prove_again(desk: FrontDesk, who: SignedIn, password: str, code: str, visit: Visit) -> None:
    """Let the session count as fresh: the password, or a code of the second factor where there is no password.

    Raises `validation_error` naming the field that is wrong, and `rate_limited`.
    """
    desk.throttle.admit(visit.address, who.email)
    async with desk.database.transaction(None) as session:
        await become_person(session, who.person_id)
        kept = await _password_hash(session, who.person_id)
    right = bool(password) and await is_password(password, kept)
    async with desk.database.transaction(None) as session:
        await become_person(session, who.person_id)
        if not right and code and kept is None:
            right = await take_code(session, desk.keys(), desk.clock.now(), who.person_id, code) is not None
        await note_event(session, who.person_id, visit, "session.proved" if right else "session.proof_failed")
        if right:
            await make_fresh(session, desk.clock.now(), who.session_id)
    if not right:
        raise invalid("password" if kept is not None else "code", "is not right")
    desk.throttle.succeeded(visit.address, who.email)


async def make_fresh(session: AsyncSession, now: datetime, session_id: UUID) -> None:
    """Note that the person of this session has proved who she is."""
    await session.execute(
        update(PersonSession).where(PersonSession.id == session_id).values(authenticated_at=now)
    )


async def person_at(session: AsyncSession, address: str) -> UUID | None:
    """Return whose address it is; the transaction may become that person's then."""
    found: UUID | None = await session.scalar(_FIND_PERSON, {"address": address})
    return found


async def has_password(desk: FrontDesk, who: SignedIn) -> bool:
    """Return whether the person has a password at all: with passkeys she needs none."""
    async with desk.database.transaction(None) as session:
        await become_person(session, who.person_id)
        return await _password_hash(session, who.person_id) is not None


async def tell(
    desk: FrontDesk,
    session: AsyncSession,
    now: datetime,
    person_id: UUID,
    kind: PersonMailKind,
    *,
    what: str | None = None,
    to: str | None = None,
) -> None:
    """Write to the person whose account changed, in the transaction of the change, where mail is written."""
    if not desk.writes_mail:
        return
    person = await session.get_one(PersonRecord, person_id)
    gaps = {"when": moment_in(person.language, now)}
    if what is not None:
        gaps["what"] = say_in(person.language)(what)
    mail = person_mail(kind, to or person.email, person.language, name=person.name, **gaps)
    about = f"{kind} {person_id} {what or ''}"
    await desk.queue_mail(session, now, kind, mail, now + _NEWS_LAST, sort=WARNINGS, about=about)


def _address(email: str) -> str:
    """Return the address as it is kept; what is none cannot have an account, and is refused like one without."""
    try:
        return read_address(email)
    except Refusal:
        return email.strip().lower()[:254]


async def _account(desk: FrontDesk, address: str) -> _Account:
    async with desk.database.transaction(None) as session:
        person_id = await person_at(session, address)
        if person_id is None:
            return _Account(None, None)
        await become_person(session, person_id)
        return _Account(person_id, await _password_hash(session, person_id))


async def _password_hash(session: AsyncSession, person_id: UUID) -> str | None:
    found: str | None = await session.scalar(
        select(PersonCredential.password_hash).where(
            PersonCredential.person_id == person_id,
            PersonCredential.kind == "password",
            PersonCredential.ended_at.is_(None),
        )
    )
    return found


async def _note(desk: FrontDesk, person_id: UUID, visit: Visit, action: str) -> None:
    async with desk.database.transaction(None) as session:
        await become_person(session, person_id)
        await note_event(session, person_id, visit, action)


async def _is_new_place(session: AsyncSession, person_id: UUID, visit: Visit) -> bool:
    """Return whether she has signed in before, but never in a browser that calls itself so."""
    devices = (
        await session.scalars(
            select(PersonSession.device)
            .where(PersonSession.person_id == person_id, PersonSession.stage == "full")
            .distinct()
        )
    ).all()
    return bool(devices) and ((visit.device or "")[:200] or None) not in devices
