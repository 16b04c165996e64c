"""Freezing a household or an organization: for a day after an alarm, nobody new gets access and no bank account
changes.

Payrolls run as before. Frozen are who may act, where money goes and where warnings go. A freeze is the household's
whose action was reported; the organization's if one of its members reported it. It is never made longer: what was
done before it began, or before it was ended early, freezes nothing again. An owner with a fresh proof ends it early,
and can correct email addresses until then; so can the operator.
"""

import datetime
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import END_FREEZE, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.database.relations import EMPLOYERS, ORGANIZATIONS
from hearthpay.database.statements import statement
from hearthpay.database.typed_rows import fetch_all, query

FROZEN_FOR: Final = datetime.timedelta(hours=24)

FrozenKind = Literal["organization", "household"]

_FREEZE: Final = text("SELECT freeze_organization(:now, :until)")
_FREEZE_HOUSEHOLD: Final = text("SELECT freeze_household(:household, :now, :until)")
_UNFREEZE: Final = text("SELECT unfreeze(CAST(:household AS uuid))")


class FreezeState(NamedTuple):
    """An organization, or a real household of it (`household` is its last name), and its freeze."""

    id: UUID
    household: str | None
    until: datetime.datetime | None
    unfrozen_at: datetime.datetime | None


_STATES: Final = query(
    FreezeState,
    "SELECT o.id, CAST(NULL AS text) AS household, o.frozen_until AS until, o.unfrozen_at "
    "FROM {organizations} o WHERE o.id = :organization "
    "UNION ALL SELECT h.id, h.last_name, h.frozen_until, h.unfrozen_at FROM {employers} h "
    "WHERE h.organization_id = :organization AND NOT h.sandbox "
    "AND (h.frozen_until IS NOT NULL OR h.unfrozen_at IS NOT NULL)",
    organizations=ORGANIZATIONS,
    employers=EMPLOYERS,
)


_HOUSEHOLD: Final = statement(
    "SELECT EXISTS (SELECT FROM {employers} h WHERE h.id = :household AND h.organization_id = :organization)",
    employers=EMPLOYERS,
)


class _EndRow(NamedTuple):
    until: datetime.datetime | None


# What concerns all of an organization is frozen with its one household, if it has no other.
_UNTIL: Final = query(
    _EndRow,
    "SELECT o.frozen_until AS until FROM {organizations} o WHERE o.id = :organization AND o.frozen_until > :now "
    "UNION ALL SELECT h.frozen_until FROM {employers} h WHERE h.organization_id = :organization AND NOT h.sandbox "
    "AND h.frozen_until > :now AND (h.id = CAST(:household AS uuid) OR (CAST(:household AS uuid) IS NULL "
    "AND NOT EXISTS (SELECT FROM {employers} other WHERE other.organization_id = :organization "
    "AND NOT other.sandbox AND other.id <> h.id)))",
    organizations=ORGANIZATIONS,
    employers=EMPLOYERS,
)


async def freeze_organization(
    session: AsyncSession,
    actor: Actor,
    now: datetime.datetime,
    why: str,
    *,
    latest: datetime.datetime | None = None,
) -> datetime.datetime | None:
    """Freeze the actor's organization for FROZEN_FOR from now, and return the end of its freeze; None if it isn't
    frozen.

    A freeze in force keeps its end. If the `latest` reported action is from before one that began or was ended early,
    nothing is frozen. `why` is a code recorded in the audit trail; everyone who could object is notified.
    """
    return await _freeze(session, actor, now, why, None, latest)


async def freeze_household(
    session: AsyncSession,
    actor: Actor,
    now: datetime.datetime,
    why: str,
    household: UUID,
    *,
    latest: datetime.datetime | None = None,
) -> datetime.datetime | None:
    """Do the same for one household of the actor's organization."""
    return await _freeze(session, actor, now, why, household, latest)


async def freezes_in_force(
    session: AsyncSession, actor: Actor, now: datetime.datetime
) -> Sequence[FreezeState]:
    """Return the freezes of the actor's organization and of its households."""
    return [each for each in await _states(session, actor) if each.until is not None and each.until > now]


async def end_freeze(session: AsyncSession, actor: Actor, clock: Clock, household: UUID | None) -> bool:
    """End the freeze of the household, or of the organization if none is named; return whether there was one.

    An owner needs a fresh proof. Raises what `allow` raises, `not_found` for a household that isn't the organization's,
    and `authentication_required` without the proof.
    """
    allow(actor, END_FREEZE, household)
    known = {"household": household, "organization": actor.organization_id}
    if household is not None and not await session.scalar(_HOUSEHOLD, known):
        raise Refusal("not_found", "No household has this id.")
    if actor.kind == "user" and not actor.fresh:
        raise Refusal("authentication_required", "Confirm that it's you first.")
    requested = household or actor.organization_id
    if all(each.id != requested for each in await freezes_in_force(session, actor, clock.now())):
        return False
    await session.execute(_UNFREEZE, {"household": household})
    kind: FrozenKind = "organization" if household is None else "household"
    await record_audit(session, actor, f"{kind}.unfreeze", employer_id=household, subject_id=requested)
    return True


async def frozen_until(
    session: AsyncSession, organization_id: UUID, now: datetime.datetime, household: UUID | None = None
) -> datetime.datetime | None:
    """Return until when the household, or what concerns the whole organization, is frozen; None if it isn't."""
    values = {"organization": organization_id, "household": household, "now": now}
    return max((row.until for row in await fetch_all(session, _UNTIL, values) if row.until), default=None)


async def refuse_frozen(
    session: AsyncSession,
    actor: Actor,
    now: datetime.datetime,
    household: UUID | None = None,
    *,
    correction: bool = False,
) -> None:
    """Refuse new access, and changes of where money or warnings go, while the household or the organization is frozen.

    A `correction` of an email address is possible for an owner with a fresh proof. Raises `invalid_state`. The
    operator is allowed through.
    """
    if actor.kind == "operator" or actor.sandbox:
        return
    if correction and actor.kind == "user" and actor.role == "owner" and actor.fresh:
        return
    await refuse_frozen_organization(session, actor.organization_id, now, household)


async def refuse_frozen_organization(
    session: AsyncSession, organization_id: UUID, now: datetime.datetime, household: UUID | None = None
) -> None:
    """Refuse likewise, for every actor. Raises `invalid_state`."""
    until = await frozen_until(session, organization_id, now, household)
    if until is not None:
        raise Refusal(
            "invalid_state",
            "Someone reported an action as wrong. Until the time given, no one new gets access, and no bank account or "
            "address changes. An owner can end this earlier under Settings, Members.",
            details={"frozen_until": until},
        )


async def _states(session: AsyncSession, actor: Actor) -> Sequence[FreezeState]:
    return await fetch_all(session, _STATES, {"organization": actor.organization_id})


async def _freeze(
    session: AsyncSession,
    actor: Actor,
    now: datetime.datetime,
    why: str,
    household: UUID | None,
    latest: datetime.datetime | None,
) -> datetime.datetime | None:
    subject = household or actor.organization_id
    state = next((each for each in await _states(session, actor) if each.id == subject), None)
    if state is not None and state.until is not None and state.until > now:
        return state.until
    settled = None if state is None else state.unfrozen_at
    if latest is not None and settled is not None and latest <= settled:
        return None
    until = now + FROZEN_FOR
    values = {"now": now, "until": until}
    if household is None:
        begun = await session.scalar(_FREEZE, values)
    else:
        begun = await session.scalar(_FREEZE_HOUSEHOLD, values | {"household": household})
    if begun:
        kind: FrozenKind = "organization" if household is None else "household"
        details = {"until": until, "why": why}
        await record_audit(
            session, actor, f"{kind}.freeze", employer_id=household, subject_id=subject, details=details
        )
    return await frozen_until(session, actor.organization_id, now, household)
