"""Deleting and resetting sandbox households; a real household can never be deleted through the API."""

from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import DELETE_HOUSEHOLD, allow
from hearthpay.access.refusal import Refusal
from hearthpay.access.wrong_mode import wrong_mode
from hearthpay.database.relations import AUTOPILOT_ENROLLMENTS
from hearthpay.database.statements import statement
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.employers.models import Employer
from hearthpay.employers.service import lock_households, owned_in_the_other_mode


class _ClearRow(NamedTuple):
    employees_removed: int
    payrolls_removed: int


# The service's role can't delete these rows; the function can, and checks the tenant and the mode again.
_CLEAR: Final = query(
    _ClearRow,
    "SELECT employees_removed, payrolls_removed FROM clear_sandbox_household(:employer_id, :keep_household)",
)

# The function locks the household, its payrolls and its employees; payroll creation locks enrollments before
# these.
_LOCK_ENROLLMENTS: Final = statement(
    "SELECT FROM {autopilot_enrollments} n WHERE n.employer_id = :employer_id ORDER BY n.id FOR NO KEY UPDATE",
    autopilot_enrollments=AUTOPILOT_ENROLLMENTS,
)


@dataclass(frozen=True, slots=True)
class Cleared:
    """How much of a sandbox household was deleted."""

    employees_removed: int
    payrolls_removed: int


async def delete_sandbox(session: AsyncSession, actor: Actor, employer_id: UUID) -> Cleared:
    """Delete a sandbox household with everything in it; only the audit trail remains.

    Keys that remember it forget it, and the oldest remaining sandbox household becomes the primary one. Raises
    `key_mode_mismatch` for a live key or a real household, `not_found` for one of another account.
    """
    employer = await _sandbox_household(session, actor, employer_id)
    cleared = await _clear(session, actor, employer, keep_household=False)
    if employer.is_primary:
        await _choose_another_primary(session)
    return cleared


async def reset_sandbox(session: AsyncSession, actor: Actor, employer_id: UUID) -> Cleared:
    """Delete a sandbox household's employees and payrolls; the household itself and its settings remain.

    Raises what `delete_sandbox` raises.
    """
    employer = await _sandbox_household(session, actor, employer_id)
    return await _clear(session, actor, employer, keep_household=True)


async def _sandbox_household(session: AsyncSession, actor: Actor, employer_id: UUID) -> Employer:
    allow(actor, DELETE_HOUSEHOLD)
    if not actor.sandbox:
        raise wrong_mode("deletes_sandboxes_only", employer_id)
    if not actor.reaches(employer_id):
        raise _unknown()
    await lock_households(session, actor)
    employer = await session.get(Employer, employer_id)
    if employer is not None:
        return employer
    if await owned_in_the_other_mode(session, actor, employer_id):
        raise wrong_mode("never_deleted", employer_id)
    raise _unknown()


async def _clear(session: AsyncSession, actor: Actor, employer: Employer, *, keep_household: bool) -> Cleared:
    # The lock strength that lets a payroll in progress write its history, which refers to the enrollment.
    await session.refresh(employer, with_for_update={"key_share": True})
    await session.execute(_LOCK_ENROLLMENTS, {"employer_id": employer.id})
    row = await fetch_optional(
        session, _CLEAR, {"employer_id": employer.id, "keep_household": keep_household}
    )
    if row is None:
        raise _unknown()
    cleared = Cleared(row.employees_removed, row.payrolls_removed)
    await record_audit(
        session,
        actor,
        "employer.reset" if keep_household else "employer.delete",
        employer_id=employer.id,
        subject_id=employer.id,
        details={
            "employees_removed": cleared.employees_removed,
            "payrolls_removed": cleared.payrolls_removed,
        },
    )
    return cleared


async def _choose_another_primary(session: AsyncSession) -> None:
    oldest = select(Employer.id).order_by(Employer.id).limit(1).scalar_subquery()
    await session.execute(
        update(Employer)
        .where(Employer.id == oldest)
        .values(is_primary=True)
        .execution_options(synchronize_session=False)
    )


def _unknown() -> Refusal:
    return Refusal("not_found", "No household has this id.")
