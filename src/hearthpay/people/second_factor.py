"""The second factor: one-time passwords of an app (RFC 6238), and recovery codes for when that is lost.

A password of the app is accepted once: its time step is recorded, and none at or before it is accepted again. A
recovery code is deleted from the list when it is used. Neither reveals anything about the password that comes before
it.
"""

import base64
import datetime
import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import pyotp
import segno
from sqlalchemy import Select, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.refusal import Refusal, invalid
from hearthpay.database.sealing_keys import key_for_writing
from hearthpay.people.models import CredentialKind, PersonCredential
from hearthpay.security.content_seal import SealedContent, open_content, seal_content, second_factor_place
from hearthpay.security.key_ring import KeyRing

CODES: Final = 10
"""How many recovery codes are issued."""

_STEP: Final = 30
_STEPS_OFF: Final = (0, -1, 1)
_CODE_BYTES: Final = 10  # 80 bits: sixteen letters and digits
_ISSUER: Final = "Hearthpay"


@dataclass(frozen=True, slots=True)
class SecondFactorSetup:
    """A second factor awaiting its first password: the secret, to be typed or scanned."""

    secret: str
    picture: str
    """The secret as an SVG image, as a data URI."""

    def __repr__(self) -> str:
        return "SecondFactorSetup(…)"


async def second_factor_of(session: AsyncSession, person_id: UUID) -> PersonCredential | None:
    """Return the active second factor of the person whose transaction it is."""
    confirmed = _in_force(person_id, "totp").where(PersonCredential.confirmed_at.is_not(None))
    found: PersonCredential | None = await session.scalar(confirmed)
    return found


async def begin_enrollment(
    session: AsyncSession, ring: KeyRing, now: datetime.datetime, person_id: UUID, email: str
) -> SecondFactorSetup:
    """Create a new secret, which takes effect once a password of it is entered; an earlier unconfirmed one is
    dropped.

    Raises `invalid_state` if a second factor is active.
    """
    if await second_factor_of(session, person_id) is not None:
        raise Refusal("invalid_state", "Two-step verification is already on. Turn it off first.")
    await session.execute(
        update(PersonCredential)
        .where(
            PersonCredential.person_id == person_id,
            PersonCredential.kind == "totp",
            PersonCredential.ended_at.is_(None),
        )
        .values(ended_at=now)
    )
    secret = pyotp.random_base32()
    credential_id = uuid7()
    key = await key_for_writing(session, ring)
    sealed = seal_content(key, second_factor_place(person_id, credential_id), secret.encode("ascii"))
    session.add(
        PersonCredential(
            id=credential_id,
            person_id=person_id,
            kind="totp",
            secret=sealed.ciphertext,
            nonce=sealed.nonce,
            key_id=sealed.key_id,
            created_at=now,
        )
    )
    await session.flush()
    return _shown(secret, email)


async def setup_in_progress(
    session: AsyncSession, ring: KeyRing, person_id: UUID, email: str
) -> SecondFactorSetup | None:
    """Return the secret awaiting its first password, so that a page with an error can show it again."""
    found = await session.scalar(_in_force(person_id, "totp").where(PersonCredential.confirmed_at.is_(None)))
    return None if found is None else _shown(_secret(ring, found), email)


async def confirm_enrollment(
    session: AsyncSession, ring: KeyRing, now: datetime.datetime, person_id: UUID, password: str
) -> Sequence[str]:
    """Activate the new second factor if this password is valid; return the recovery codes, shown only this once.

    Raises `validation_error` for a wrong password, `invalid_state` if no setup is in progress.
    """
    waiting = await session.scalar(
        _in_force(person_id, "totp").where(PersonCredential.confirmed_at.is_(None)).with_for_update()
    )
    if waiting is None:
        raise Refusal("invalid_state", "There is no two-step setup to confirm.")
    step = _step_of(_secret(ring, waiting), password, now, None)
    if step is None:
        raise invalid("code", "That's not the code your app shows now. Enter the current one.")
    waiting.confirmed_at = now
    waiting.last_step = step
    await session.flush()
    return await renew_codes(session, now, person_id)


async def renew_codes(session: AsyncSession, now: datetime.datetime, person_id: UUID) -> Sequence[str]:
    """Replace the person's recovery codes; return the new ones, shown only this once."""
    await _end(session, now, person_id, "recovery_code")
    codes = [_new_code() for _ in range(CODES)]
    session.add_all(
        PersonCredential(
            id=uuid7(), person_id=person_id, kind="recovery_code", code_hash=_hash(code), created_at=now
        )
        for code in codes
    )
    await session.flush()
    return codes


async def remove_second_factor(session: AsyncSession, now: datetime.datetime, person_id: UUID) -> None:
    """Remove the second factor and the recovery codes."""
    await _end(session, now, person_id, "totp")
    await _end(session, now, person_id, "recovery_code")


async def codes_left(session: AsyncSession, person_id: UUID) -> int:
    """Return how many recovery codes are unused."""
    return len((await session.scalars(_in_force(person_id, "recovery_code"))).all())


async def verify_code(
    session: AsyncSession, ring: KeyRing, now: datetime.datetime, person_id: UUID, code: str
) -> str | None:
    """Accept a password of the app, or a recovery code, once; return which it was, None for neither."""
    factor = await session.scalar(
        _in_force(person_id, "totp").where(PersonCredential.confirmed_at.is_not(None)).with_for_update()
    )
    if factor is None:
        return None
    step = _step_of(_secret(ring, factor), code, now, factor.last_step)
    if step is not None:
        factor.last_step = step
        factor.last_used_at = now
        await session.flush()
        return "totp"
    used = await session.scalar(
        update(PersonCredential)
        .where(
            PersonCredential.person_id == person_id,
            PersonCredential.kind == "recovery_code",
            PersonCredential.ended_at.is_(None),
            PersonCredential.code_hash == _hash(code),
        )
        .values(ended_at=now, last_used_at=now)
        .returning(PersonCredential.id)
    )
    return None if used is None else "recovery_code"


def _in_force(person_id: UUID, kind: CredentialKind) -> Select[PersonCredential]:
    return select(PersonCredential).where(
        PersonCredential.person_id == person_id,
        PersonCredential.kind == kind,
        PersonCredential.ended_at.is_(None),
    )


async def _end(session: AsyncSession, now: datetime.datetime, person_id: UUID, kind: CredentialKind) -> None:
    await session.execute(
        update(PersonCredential)
        .where(
            PersonCredential.person_id == person_id,
            PersonCredential.kind == kind,
            PersonCredential.ended_at.is_(None),
        )
        .values(ended_at=now)
    )


def _secret(ring: KeyRing, factor: PersonCredential) -> str:
    assert factor.secret is not None
    assert factor.nonce is not None
    assert factor.key_id is not None
    sealed = SealedContent(factor.secret, factor.nonce, factor.key_id)
    return open_content(ring, second_factor_place(factor.person_id, factor.id), sealed).decode("ascii")


def _step_of(secret: str, code: str, now: datetime.datetime, last: int | None) -> int | None:
    """Return the time step that produced the password, at most one step off either way; None if there is none after
    `last`.
    """
    digits = re.sub(r"\s", "", code)
    if re.fullmatch(r"[0-9]{6}", digits) is None:
        return None
    current = int(now.timestamp()) // _STEP
    maker = pyotp.TOTP(secret)
    for off in _STEPS_OFF:
        step = current + off
        if secrets.compare_digest(maker.generate_otp(step), digits):
            return None if last is not None and step <= last else step
    return None


def _new_code() -> str:
    text = base64.b32encode(secrets.token_bytes(_CODE_BYTES)).decode("ascii").lower()
    return "-".join(text[place : place + 4] for place in range(0, len(text), 4))


def _hash(code: str) -> bytes:
    return hashlib.sha256(re.sub(r"[^a-z2-7]", "", code.lower()).encode()).digest()


def _shown(secret: str, email: str) -> SecondFactorSetup:
    address = pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name=_ISSUER)
    return SecondFactorSetup(secret, segno.make(address, error="m").svg_data_uri(scale=5, light="#fff"))
