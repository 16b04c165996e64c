"""The status of a household's employer identification number (EIN): none, pending, approved.

A household applies with Form SS-4 (pending); the IRS assigns the number (approved) or refuses (none again). An
assigned number is never revoked, so approved is final.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeGuard
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import KEEP_EIN, USE_SANDBOX, allow
from hearthpay.access.refusal import Refusal
from hearthpay.access.wrong_mode import wrong_mode
from hearthpay.database import audit
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.employers.models import Employer
from hearthpay.employers.schemas import EinStatus

NEXT: Final[Mapping[EinStatus, tuple[EinStatus, ...]]] = {
    "none": ("pending",),
    "pending": ("approved", "none"),
    "approved": (),
}
"""The statuses that may follow each status."""


class _ChangeRow(NamedTuple):
    organization_id: UUID
    sandbox: bool
    before: EinStatus


# The row is locked before it changes: of two simultaneous changes the second sees the first one's result.
_CHANGE: Final = query(
    _ChangeRow,
    "UPDATE employers e SET ein_status = :status FROM (SELECT id, ein_status FROM employers "
    "WHERE id = :employer_id AND ein_status = ANY(:allowed_from) FOR UPDATE) AS previous WHERE e.id = previous.id "
    "RETURNING e.organization_id, e.sandbox, previous.ein_status AS before",
)


def is_ein_status(value: str) -> TypeGuard[EinStatus]:
    """Return whether `value` is one of the three."""
    return value in NEXT


async def set_ein_status(session: AsyncSession, employer_id: UUID, status: EinStatus) -> EinStatus:
    """Set a household's EIN status to `status` and return the previous one; for the operator's session, with an audit
    row.

    Raises `not_found` for an unknown household, and `invalid_state` with the current status and those that may follow
    if `status` isn't among them; then nothing changes.
    """
    row = await _change(session, employer_id, status)
    before = row.before
    await audit.record(
        session,
        actor_kind="operator",
        actor_id=None,
        organization_id=row.organization_id,
        employer_id=employer_id,
        sandbox=row.sandbox,
        action="employer.ein_status",
        subject_id=employer_id,
        request_id=None,
        details={"before": before, "after": status},
    )
    return before


async def note_ein_status(
    session: AsyncSession, actor: Actor, employer: Employer, status: EinStatus
) -> EinStatus:
    """Set a household's EIN status to `status` at its own request, and return the previous one; with an audit row.

    Raises what `allow` raises, and `invalid_state` as `set_ein_status` does.
    """
    allow(actor, KEEP_EIN, employer.id)
    return await _note(session, actor, employer, status)


async def note_sandbox_ein_status(
    session: AsyncSession, actor: Actor, employer: Employer, status: EinStatus
) -> EinStatus:
    """Set a sandbox household's EIN status to `status` as if by the IRS; return the previous one; with an audit row.

    Raises what `allow` raises, `key_mode_mismatch` outside of the sandbox, and `invalid_state` as `set_ein_status`.
    """
    allow(actor, USE_SANDBOX, employer.id)
    if not (actor.sandbox and employer.sandbox):
        raise wrong_mode("sandbox_only", employer.id)
    return await _note(session, actor, employer, status)


async def _note(session: AsyncSession, actor: Actor, employer: Employer, status: EinStatus) -> EinStatus:
    before = (await _change(session, employer.id, status)).before
    await record_audit(
        session,
        actor,
        "employer.ein_status",
        employer_id=employer.id,
        subject_id=employer.id,
        details={"before": before, "after": status},
    )
    return before


async def _change(session: AsyncSession, employer_id: UUID, status: EinStatus) -> _ChangeRow:
    allowed_from = [before for before, following in NEXT.items() if status in following]
    change = {"status": status, "employer_id": employer_id, "allowed_from": allowed_from}
    row = await fetch_optional(session, _CHANGE, change)
    if row is None:
        raise await _refusal(session, employer_id, status)
    return row


async def _refusal(session: AsyncSession, employer_id: UUID, status: EinStatus) -> Refusal:
    current = await session.scalar(select(Employer.ein_status).where(Employer.id == employer_id))
    if current is None or not is_ein_status(current):
        return Refusal("not_found", f"There is no household with the id {employer_id}.")
    following = NEXT[current]
    may = f"may become {' or '.join(following)}" if following else "is final"
    return Refusal(
        "invalid_state",
        f"The household's EIN status is {current}, which {may}; it cannot become {status}.",
        details={"ein_status": current, "allowed": list(following)},
    )
