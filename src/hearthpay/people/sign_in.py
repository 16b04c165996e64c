"""Signing in by password and second factor, or by passkey; and confirming one's identity before a sensitive change.

Whatever is wrong, the response is the same and takes as long, so it never reveals who has an account. Passwords are
checked outside of any transaction, since that takes a while.
"""

import datetime
import hashlib
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal, invalid
from hearthpay.database.session import become_person
from hearthpay.languages.catalogue import mark, moment_in, say_in
from hearthpay.mail.person_mail import WARNINGS
from hearthpay.people.context import PeopleContext
from hearthpay.people.devices import Device, device_cookie, read_device
from hearthpay.people.events import Visit, note_event
from hearthpay.people.former_addresses import former_addresses_of_person
from hearthpay.people.freezing import known_browsers
from hearthpay.people.identity import read_address
from hearthpay.people.mails import PersonMailKind, person_mail
from hearthpay.people.models import PersonCredential, PersonRecord, PersonSession
from hearthpay.people.passwords import is_password
from hearthpay.people.second_factor import second_factor_of, verify_code
from hearthpay.people.sessions import SignedIn, SignInMethod, begin_session, pending_session
from hearthpay.people.stop_links import StopAccount
from hearthpay.people.throttle import KnownPlace
from hearthpay.security.portal_tokens import PortalToken

WRONG: Final = mark("That email and password don't match.")
IN_DOUBT: Final = mark(
    "This password was reported as known to somebody else. Sign in from a browser that you used before, or choose a "
    "new password."
)
WRONG_CODE: Final = mark("That code is wrong or was already used.")

_NEWS_LAST: Final = datetime.timedelta(days=2)
_FIND_PERSON: Final = text("SELECT find_person(:address)")


@dataclass(frozen=True, slots=True)
class SignInResult:
    """A session just begun; with `needs_second_factor`, that is the next step."""

    token: PortalToken
    needs_second_factor: bool
    device_cookie: str | None = field(default=None, repr=False)
    """The cookie by which the browser is recognized later."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A browser whose failures are counted apart from strangers': how its passwords and its codes are counted, under
    which number, and its name in the hashing queue.
    """

    passwords: KnownPlace
    codes: KnownPlace
    number: UUID
    client: str
    known: bool
    """Whether the person signed in there before; a mailed link doesn't show that."""


@dataclass(frozen=True, slots=True)
class _Account:
    """What an entry is compared with; empty for an address without an account."""

    person_id: UUID | None
    password_hash: str | None
    in_doubt: bool = False


async def sign_in(people_context: PeopleContext, email: str, password: str, visit: Visit) -> SignInResult:
    """Begin a session of the person with this address and password; a pending one if there is a second factor.

    A browser that is known for the account, or was admitted by a mailed link, is counted separately. A password in
    doubt is taken only in a known browser, or before a second factor. Raises `authentication_required`, in the same
    words for every wrong password, and `rate_limited`.
    """
    address = _address(email)
    place = await _place_at(people_context, visit, address)
    if place is None:
        await people_context.throttle.admit(visit.address, address)
    else:
        await people_context.throttle.admit_known(place.passwords, place.number)
    async with people_context.in_constant_time():
        return await _sign_in(people_context, address, password, visit, place)


async def _sign_in(
    people_context: PeopleContext, address: str, password: str, visit: Visit, place: _Place | None
) -> SignInResult:
    account = await _account(people_context, address)
    client = visit.address or "" if place is None else place.client
    if not await is_password(password, account.password_hash, client) or account.person_id is None:
        if account.person_id is not None:
            await _note(people_context, account.person_id, visit, "sign_in.failed")
        raise Refusal("authentication_required", WRONG)
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        await become_person(session, account.person_id)
        if await _password_hash(session, account.person_id) != account.password_hash:
            raise Refusal("authentication_required", WRONG)  # it was changed in this moment
        needs_second_factor = await second_factor_of(session, account.person_id) is not None
        refused = account.in_doubt and not needs_second_factor and not (place is not None and place.known)
        if refused:
            await note_event(session, account.person_id, visit, "sign_in.in_doubt")
        else:
            sign_in = await complete_sign_in(
                people_context,
                session,
                now,
                account.person_id,
                "password",
                visit,
                needs_second_factor=needs_second_factor,
            )
    if refused:
        raise Refusal("authentication_required", IN_DOUBT)
    if place is None:
        await people_context.throttle.succeeded(visit.address, None if needs_second_factor else address)
    elif not needs_second_factor:
        await people_context.throttle.known_succeeded(place.passwords, place.number)
    return sign_in


async def complete_sign_in(
    people_context: PeopleContext,
    session: AsyncSession,
    now: datetime.datetime,
    person_id: UUID,
    method: SignInMethod,
    visit: Visit,
    *,
    needs_second_factor: bool = False,
) -> SignInResult:
    """Begin a session of the person whose transaction it is, and notify them if this browser is new for them."""
    device = read_device(people_context.ring, now, visit.device_cookie)
    known = device is not None and device.knows(person_id, await known_browsers(session, person_id))
    new_place = not needs_second_factor and not known and await _was_here(session, person_id)
    begun = await begin_session(
        session, now, person_id, method, visit, needs_second_factor=needs_second_factor
    )
    action = "sign_in.first_half" if needs_second_factor else "sign_in"
    opened = {
        "method": method,
        "session_id": str(begun.session_id),
        "session": hashlib.sha256(begun.token.hash).hexdigest(),
    }
    await note_event(session, person_id, visit, action, opened)
    if new_place:
        stop = StopAccount(person_id, "sign_in", now, begun.session_id)
        await send_sign_in_notice(people_context, session, now, person_id, "new_sign_in", stop=stop)
    cookie = (
        None
        if needs_second_factor or people_context.ring is None
        else device_cookie(people_context.ring, now, device, person_id, known=known)
    )
    return SignInResult(begun.token, needs_second_factor, cookie)


async def sign_in_with_code(
    people_context: PeopleContext, needs_second_factor: str | None, code: str, visit: Visit
) -> SignInResult:
    """Complete a pending session, under a new token. Raises `authentication_required` and `rate_limited`.

    Wrong codes are counted apart from wrong passwords, which anybody can send; and those of a known or admitted browser
    apart from those of a thief who has the password.
    """
    now = people_context.clock.now()
    ring = people_context.keys()
    device = read_device(people_context.ring, now, visit.device_cookie)
    async with people_context.database.transaction(None) as session:
        person_id = (await _pending(session, now, needs_second_factor)).person_id
        place = None if device is None else await _place_of(session, device, person_id)
    counted = f"second factor {person_id}"
    if place is None:
        await people_context.throttle.admit(visit.address, counted)
    else:
        await people_context.throttle.admit_known(place.codes, place.number)
    async with people_context.database.transaction(None) as session:
        waiting = await _pending(session, now, needs_second_factor)
        person = await session.get_one(PersonRecord, waiting.person_id)
        taken = await verify_code(session, ring, now, person.id, code)
        if taken is not None:
            await session.execute(
                update(PersonSession).where(PersonSession.id == waiting.id).values(ended_at=now)
            )
            if taken == "recovery_code":
                await note_event(session, person.id, visit, "recovery_code.use")
            sign_in = await complete_sign_in(people_context, session, now, person.id, "password", visit)
        else:
            await note_event(session, person.id, visit, "second_factor.failed")
        address = person.email
    if taken is None:
        raise Refusal("authentication_required", WRONG_CODE)
    if place is None:
        await people_context.throttle.succeeded(visit.address, counted, address)
    else:
        await people_context.throttle.known_succeeded(place.passwords, place.number)
        await people_context.throttle.known_succeeded(place.codes, place.number)
    return sign_in


async def _pending(session: AsyncSession, now: datetime.datetime, presented: str | None) -> PersonSession:
    """Return the session that awaits its second factor. Raises `gone`."""
    waiting = await pending_session(session, now, presented)
    if waiting is None:
        raise Refusal("gone", "Sign in again.")
    return waiting


async def prove_again(
    people_context: PeopleContext, who: SignedIn, password: str, code: str, visit: Visit
) -> None:
    """Mark the session as fresh: requires the password, and a code of the second factor if one is set.

    Without a password the code is enough. Failures are counted per session. Raises `validation_error` naming the
    field that is wrong, and `rate_limited`.
    """
    await people_context.throttle.admit_known("session", who.session_id)
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        kept = await _password_hash(session, who.person_id)
        factor = await second_factor_of(session, who.person_id) is not None
    wrong = []
    if kept is not None and not (password and await is_password(password, kept, str(who.session_id))):
        wrong.append("password")
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        if not wrong and (factor or kept is None):
            now = people_context.clock.now()
            if (
                not code
                or await verify_code(session, people_context.keys(), now, who.person_id, code) is None
            ):
                wrong.append("code")
        await note_event(session, who.person_id, visit, "session.proof_failed" if wrong else "session.proved")
        if not wrong:
            await make_fresh(session, people_context.clock.now(), who.session_id)
    if wrong:
        raise invalid(wrong[0], "That isn't correct.")
    await people_context.throttle.known_succeeded("session", who.session_id)


async def make_fresh(session: AsyncSession, now: datetime.datetime, session_id: UUID) -> None:
    """Record that the person of this session has confirmed their identity."""
    await session.execute(
        update(PersonSession).where(PersonSession.id == session_id).values(authenticated_at=now)
    )


async def person_at(session: AsyncSession, address: str) -> UUID | None:
    """Return the person with this address, or with one that is in dispute; the transaction may then become that
    person's.
    """
    found: UUID | None = await session.scalar(_FIND_PERSON, {"address": address})
    return found


@dataclass(frozen=True, slots=True)
class Proofs:
    """What a person can be asked for to confirm their identity: a password, a code of the second factor."""

    password: bool
    code: bool


async def proofs_of(people_context: PeopleContext, who: SignedIn) -> Proofs:
    """Return what the person is asked for: the password if there is one, a code if a second factor is set."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        password = await _password_hash(session, who.person_id) is not None
        return Proofs(password, await second_factor_of(session, who.person_id) is not None)


async def send_sign_in_notice(
    people_context: PeopleContext,
    session: AsyncSession,
    now: datetime.datetime,
    person_id: UUID,
    kind: PersonMailKind,
    *,
    what: str | None = None,
    to: str | None = None,
    stop: StopAccount | None = None,
) -> None:
    """Notify the person whose account changed, in the transaction of the change, if mail is written.

    For a week after a change of their address, the old one is notified too. The mail has a link that `stop`s the
    change; one to the address that has just been left, `to`, only if that address could be restored.
    """
    if not people_context.writes_mail:
        return
    person = await session.get_one(PersonRecord, person_id)
    gaps = {"when": moment_in(person.language, now)}
    if what is not None:
        gaps["what"] = say_in(person.language)(what)
    link = None if stop is None else people_context.stop_link(stop)
    former = await former_addresses_of_person(session, now, person_id)
    holders = {*former, *(() if to is not None else (person.email,))}
    about = f"{kind} {person_id} {what or ''}"
    for address in dict.fromkeys((to or person.email, *former)):
        mail = person_mail(
            kind,
            address,
            person.language,
            name=person.name,
            link=link if address in holders else None,
            operator=people_context.operator,
            **gaps,
        )
        await people_context.queue_mail(
            session, now, kind, mail, now + _NEWS_LAST, sort=WARNINGS, about=about
        )


def _address(email: str) -> str:
    """Return the address as it is stored; an invalid one can't have an account, and is refused like one without."""
    try:
        return read_address(email)
    except Refusal:
        return email.strip().lower()[:254]


async def _account(people_context: PeopleContext, address: str) -> _Account:
    async with people_context.database.transaction(None) as session:
        person_id = await person_at(session, address)
        if person_id is None:
            return _Account(None, None)
        await become_person(session, person_id)
        kept = await _password(session, person_id)
        if kept is None:
            return _Account(person_id, None)
        return _Account(person_id, kept.password_hash, kept.doubted_at is not None)


async def _password_hash(session: AsyncSession, person_id: UUID) -> str | None:
    kept = await _password(session, person_id)
    return None if kept is None else kept.password_hash


async def _password(session: AsyncSession, person_id: UUID) -> PersonCredential | None:
    found: PersonCredential | None = await session.scalar(
        select(PersonCredential).where(
            PersonCredential.person_id == person_id,
            PersonCredential.kind == "password",
            PersonCredential.ended_at.is_(None),
        )
    )
    return found


async def _note(people_context: PeopleContext, person_id: UUID, visit: Visit, action: str) -> None:
    async with people_context.database.transaction(None) as session:
        await become_person(session, person_id)
        await note_event(session, person_id, visit, action)


async def _place_at(people_context: PeopleContext, visit: Visit, address: str) -> _Place | None:
    """Return how the visit's browser is counted for the account of this address; None: as any stranger's."""
    device = read_device(people_context.ring, people_context.clock.now(), visit.device_cookie)
    if device is None:
        return None
    async with people_context.database.transaction(None) as session:
        person_id = await person_at(session, address)
        if person_id is None:
            return None
        await become_person(session, person_id)
        return await _place_of(session, device, person_id)


async def _place_of(session: AsyncSession, device: Device, person_id: UUID) -> _Place | None:
    browsers = await known_browsers(session, person_id)
    known = device.knows(person_id, browsers)
    if device.admits(person_id, browsers):
        return _Place("mailed", "mailed code", person_id, str(device.id), known)
    if known:
        return _Place("device", "device code", device.id, str(device.id), known)
    return None


async def _was_here(session: AsyncSession, person_id: UUID) -> bool:
    """Return whether the person has signed in before."""
    before = select(PersonSession.id).where(
        PersonSession.person_id == person_id, PersonSession.stage == "full"
    )
    return await session.scalar(before.limit(1)) is not None
