"""Passkeys (WebAuthn): created, used to sign in, and removed. The browser is given a challenge that works once.

A passkey asks its owner for a fingerprint, a face or a PIN (user verification), so it is both factors on its own. The
challenge is a one-time token, bound to the cookie of the browser that asked for it.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import base64url_to_bytes
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from hearthpay.access.refusal import Refusal
from hearthpay.database.session import become_person
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.languages.catalogue import mark
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit, note_event
from hearthpay.people.freezing import refuse_frozen_person
from hearthpay.people.identity import read_name
from hearthpay.people.models import PersonCredential
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_in import SignInResult, complete_sign_in, make_fresh, send_sign_in_notice
from hearthpay.people.stop_links import StopAccount
from hearthpay.people.tokens import leave_token, use_token

MOST: Final = 20
"""The most passkeys per person."""


class _FindRow(NamedTuple):
    credential_id: UUID
    person_id: UUID


_FIND: Final = query(_FindRow, "SELECT credential_id, person_id FROM find_passkey(:passkey_id)")
_ADDED: Final = mark("a passkey was added")
_REMOVED: Final = mark("a passkey was removed")
_NOT_GOOD: Final = mark("This passkey could not be used here.")


@dataclass(frozen=True, slots=True)
class Site:
    """The site that the browser is on: passkeys are made for one host."""

    origin: str

    @property
    def host(self) -> str:
        """The host to which passkeys are bound."""
        return urlsplit(self.origin).hostname or ""


async def registration_options(people_context: PeopleContext, who: SignedIn, site: Site, cookie: str) -> str:
    """Return what the browser needs to create a passkey, as JSON. Raises `invalid_state` for one too many."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        there = await _in_force(session, who.person_id)
        if len(there) >= MOST:
            raise Refusal("invalid_state", f"An account has at most {MOST} passkeys.")
        await refuse_frozen_person(session, people_context.clock.now(), who.person_id)
        challenge = await leave_token(
            session, people_context.clock.now(), "challenge", bound_to=_holder(cookie)
        )
    options = generate_registration_options(
        rp_id=site.host,
        rp_name="Hearthpay",
        user_id=who.person_id.bytes,
        user_name=who.email,
        user_display_name=who.name,
        challenge=challenge.text.encode("ascii"),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=each.passkey_id or b"") for each in there],
    )
    return str(options_to_json(options))


async def add_passkey(
    people_context: PeopleContext,
    who: SignedIn,
    site: Site,
    cookie: str,
    answer: str,
    name: str,
    visit: Visit,
) -> None:
    """Store the passkey that the browser has created. Raises `invalid_state` for any invalid response."""
    now = people_context.clock.now()
    named = read_name(name or "Passkey")[:60]
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        await refuse_frozen_person(session, now, who.person_id)
        challenge = await _challenge_of(session, people_context, answer, cookie)
        try:
            made = verify_registration_response(
                credential=answer,
                expected_challenge=challenge,
                expected_rp_id=site.host,
                expected_origin=site.origin,
                require_user_verification=True,
            )
        except WebAuthnException:
            raise Refusal("invalid_state", _NOT_GOOD) from None
        known = await fetch_optional(session, _FIND, {"passkey_id": made.credential_id})
        if known is not None:
            raise Refusal("invalid_state", _NOT_GOOD)
        passkey_id = uuid7()
        session.add(
            PersonCredential(
                id=passkey_id,
                person_id=who.person_id,
                kind="passkey",
                name=named,
                passkey_id=made.credential_id,
                public_key=made.credential_public_key,
                sign_count=made.sign_count,
                created_at=now,
                confirmed_at=now,
            )
        )
        await session.flush()
        details = {"name": named, "credential_id": str(passkey_id)}
        await note_event(session, who.person_id, visit, "passkey.add", details)
        stop = StopAccount(who.person_id, "passkey_added", now, passkey_id, session_id=who.session_id)
        await send_sign_in_notice(
            people_context, session, now, who.person_id, "changed", what=_ADDED, stop=stop
        )


async def sign_in_options(people_context: PeopleContext, site: Site, cookie: str) -> str:
    """Return what the browser needs to ask for a passkey, as JSON; the browser finds out whose it is."""
    async with people_context.database.transaction(None) as session:
        challenge = await leave_token(
            session, people_context.clock.now(), "challenge", bound_to=_holder(cookie)
        )
    options = generate_authentication_options(
        rp_id=site.host,
        challenge=challenge.text.encode("ascii"),
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return str(options_to_json(options))


async def sign_in_with_passkey(
    people_context: PeopleContext, site: Site, cookie: str, answer: str, visit: Visit
) -> SignInResult:
    """Begin a session of the passkey's owner. Raises `authentication_required` and `rate_limited`."""
    await people_context.throttle.admit(visit.address)
    async with people_context.database.transaction(None) as session:
        person_id = await _verified(session, people_context, site, cookie, answer)
        sign_in = await complete_sign_in(
            people_context, session, people_context.clock.now(), person_id, "passkey", visit
        )
    await people_context.throttle.succeeded(visit.address)
    return sign_in


async def prove_again_with_passkey(
    people_context: PeopleContext, who: SignedIn, site: Site, cookie: str, answer: str, visit: Visit
) -> None:
    """Mark the session as fresh. Raises `authentication_required`, also for another person's passkey."""
    async with people_context.database.transaction(None) as session:
        if await _verified(session, people_context, site, cookie, answer) != who.person_id:
            raise Refusal("authentication_required", _NOT_GOOD)
        await make_fresh(session, people_context.clock.now(), who.session_id)
        await note_event(session, who.person_id, visit, "session.proved", {"method": "passkey"})


async def list_passkeys(people_context: PeopleContext, who: SignedIn) -> Sequence[PersonCredential]:
    """Return the person's active passkeys, oldest first."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        return await _in_force(session, who.person_id)


async def remove_passkey(
    people_context: PeopleContext, who: SignedIn, passkey_id: UUID, visit: Visit
) -> None:
    """Remove a passkey. Raises `not_found`, and `invalid_state` if there is no other way to sign in."""
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        found = await session.scalar(
            _own(who.person_id).where(PersonCredential.id == passkey_id).with_for_update()
        )
        if found is None:
            raise Refusal("not_found", "Passkey not found.")
        others = await session.scalar(
            select(PersonCredential.id)
            .where(
                PersonCredential.person_id == who.person_id,
                PersonCredential.kind.in_(("password", "passkey")),
                PersonCredential.ended_at.is_(None),
                PersonCredential.id != passkey_id,
            )
            .limit(1)
        )
        if others is None:
            raise Refusal("invalid_state", "This is the only way into your account: choose a password first.")
        found.ended_at = now
        await session.flush()
        details = {"name": found.name, "credential_id": str(found.id)}
        await note_event(session, who.person_id, visit, "passkey.remove", details)
        stop = StopAccount(who.person_id, "passkey_removed", now, found.id, session_id=who.session_id)
        await send_sign_in_notice(
            people_context, session, now, who.person_id, "changed", what=_REMOVED, stop=stop
        )


def _own(person_id: UUID) -> Select[PersonCredential]:
    return select(PersonCredential).where(
        PersonCredential.person_id == person_id,
        PersonCredential.kind == "passkey",
        PersonCredential.ended_at.is_(None),
    )


async def _in_force(session: AsyncSession, person_id: UUID) -> Sequence[PersonCredential]:
    return (await session.scalars(_own(person_id).order_by(PersonCredential.id))).all()


async def _verified(
    session: AsyncSession, people_context: PeopleContext, site: Site, cookie: str, answer: str
) -> UUID:
    """Return the person whose passkey answered our challenge; the transaction is then theirs."""
    challenge = await _challenge_of(session, people_context, answer, cookie)
    passkey_id = _bytes_of(_parsed(answer).get("rawId"))
    row = await fetch_optional(session, _FIND, {"passkey_id": passkey_id})
    if row is None:
        raise Refusal("authentication_required", _NOT_GOOD)
    person_id: UUID = row.person_id
    await become_person(session, person_id)
    passkey = await session.get_one(PersonCredential, row.credential_id, with_for_update=True)
    assert passkey.public_key is not None
    try:
        checked = verify_authentication_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=site.host,
            expected_origin=site.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count or 0,
            require_user_verification=True,
        )
    except WebAuthnException:
        raise Refusal("authentication_required", _NOT_GOOD) from None
    passkey.sign_count = checked.new_sign_count
    passkey.last_used_at = people_context.clock.now()
    await session.flush()
    return person_id


async def _challenge_of(
    session: AsyncSession, people_context: PeopleContext, answer: str, cookie: str
) -> bytes:
    """Return the challenge that the browser answers, after checking that it is ours and using it up."""
    response = _parsed(answer).get("response")
    client_data = response.get("clientDataJSON") if isinstance(response, dict) else None
    challenge = _bytes_of(_parsed(_bytes_of(client_data)).get("challenge"))
    try:
        presented = challenge.decode("ascii")
        await use_token(session, people_context.clock.now(), "challenge", presented, holder=_holder(cookie))
    except (Refusal, UnicodeDecodeError):
        raise Refusal("authentication_required", _NOT_GOOD) from None
    return challenge


def _parsed(text_: str | bytes) -> dict[str, Any]:
    try:
        found = json.loads(text_)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def _bytes_of(encoded: object) -> bytes:
    try:
        return base64url_to_bytes(encoded) if isinstance(encoded, str) else b""
    except ValueError:
        return b""


def _holder(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode()).digest()
