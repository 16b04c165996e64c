"""A household's employer identification number (EIN), in the vault: people enter it, and documents show it."""

from typing import Final

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import KEEP_EIN, USE_SANDBOX, allow
from hearthpay.access.refusal import invalid
from hearthpay.access.wrong_mode import wrong_mode
from hearthpay.database.vault_store import last_four, store_secret
from hearthpay.employers.models import Employer
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import SecretOwner
from hearthpay.security.vault_numbers import InvalidNumberError, SecretNumber, parse_number

_ASSIGNED: Final = "approved"


def ein_owner(employer: Employer) -> SecretOwner:
    """Return the owner under which the vault stores a household's EIN."""
    return SecretOwner(employer.organization_id, employer.id, employer.sandbox, "employer", employer.id)


async def keep_ein(session: AsyncSession, ring: KeyRing, actor: Actor, employer: Employer, ein: str) -> str:
    """Store the number that the IRS assigned, in place of an earlier one; return its last four digits.

    The household's EIN status becomes `approved`, since having the number proves it. Raises what `allow` raises, and
    `validation_error` for an invalid EIN.
    """
    allow(actor, KEEP_EIN, employer.id)
    try:
        number = parse_number("ein", ein.strip())
    except InvalidNumberError as error:
        raise invalid("ein", str(error)) from None
    return await _keep(session, ring, actor, employer, number)


async def keep_sandbox_ein(
    session: AsyncSession, ring: KeyRing, actor: Actor, employer: Employer, number: SecretNumber
) -> str:
    """Store a test number of a sandbox household, as `keep_ein` does; return its last four digits.

    Raises what `allow` raises, and `key_mode_mismatch` outside of the sandbox.
    """
    allow(actor, USE_SANDBOX, employer.id)
    if not (actor.sandbox and employer.sandbox):
        raise wrong_mode("sandbox_only", employer.id)
    return await _keep(session, ring, actor, employer, number)


async def _keep(
    session: AsyncSession, ring: KeyRing, actor: Actor, employer: Employer, number: SecretNumber
) -> str:
    await store_secret(session, ring, actor, ein_owner(employer), number)
    before = employer.ein_status
    if before != _ASSIGNED:
        await session.execute(update(Employer).where(Employer.id == employer.id).values(ein_status=_ASSIGNED))
        await record_audit(
            session,
            actor,
            "employer.ein_status",
            employer_id=employer.id,
            subject_id=employer.id,
            details={"before": before, "after": _ASSIGNED},
        )
    return number.last_four


async def ein_ending(session: AsyncSession, employer: Employer) -> str | None:
    """Return the last four digits of a household's EIN; None if it isn't known."""
    return await last_four(session, ein_owner(employer), "ein")
