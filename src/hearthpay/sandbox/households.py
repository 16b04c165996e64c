"""The sandbox household of a call; a live key can't access any, and a test key no real one."""

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import Permission, allow
from hearthpay.access.refusal import Refusal
from hearthpay.access.wrong_mode import wrong_mode
from hearthpay.database.session import Tenant, become
from hearthpay.employers.models import Employer
from hearthpay.employers.service import owned_in_the_other_mode


def allow_in_sandbox(actor: Actor, permission: Permission, employer_id: UUID | None) -> None:
    """Allow actors with the permission who are in the sandbox. Raises what `allow` raises, and `key_mode_mismatch`."""
    allow(actor, permission)
    if not actor.sandbox:
        raise wrong_mode("sandbox_only", employer_id)


async def sandbox_household(
    session: AsyncSession, actor: Actor, permission: Permission, employer_id: UUID
) -> Employer:
    """Return the sandbox household, locked against deletion; the transaction becomes its own.

    Raises what `allow_in_sandbox` raises, `key_mode_mismatch` for a real household of the account and `not_found`.
    """
    allow_in_sandbox(actor, permission, employer_id)
    employer = None
    if actor.reaches(employer_id):
        employer = await session.get(Employer, employer_id, with_for_update={"key_share": True})
    if employer is not None:
        await become(session, Tenant(actor.organization_id, actor.sandbox, employer.id))
        return employer
    if actor.reaches(employer_id) and await owned_in_the_other_mode(session, actor, employer_id):
        raise wrong_mode("sandbox_only", employer_id)
    raise Refusal("not_found", "No household has this id.")
