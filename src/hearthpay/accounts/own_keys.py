"""The API keys of an organization, created and revoked by its owner under the service's role.

A key is created in the mode that its creator is viewing: nothing done in the sandbox can open real books. The
database enforces this, and that a revocation is final.
"""

import datetime
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, cast
from uuid import UUID

from sqlalchemy import func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import load_only
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.entitlements import refuse_beyond
from hearthpay.access.permissions import KEEP_KEYS, READ_KEYS, REVOKE_KEYS, SCOPES, allow
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.accounts.freezing import refuse_frozen
from hearthpay.accounts.models import ApiKeyRecord
from hearthpay.accounts.service import IssuedKey, reach_of
from hearthpay.clock import Clock
from hearthpay.database import audit
from hearthpay.database.relations import EMPLOYERS
from hearthpay.database.session import Tenant, become
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.security import api_keys

_IN_TURN: Final = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('hearthpay keys ' || :organization_id, 0))"
)


class _HouseholdsRow(NamedTuple):
    id: UUID
    first_name: str
    last_name: str


_HOUSEHOLDS: Final = query(
    _HouseholdsRow,
    "SELECT id, first_name, last_name FROM {employers} e WHERE e.organization_id = :organization_id "
    "AND e.sandbox = :sandbox ORDER BY last_name, first_name, id",
    employers=EMPLOYERS,
)
_REVOKE: Final = text("SELECT revoke_api_key(:key_id, :now)")
_SHOWN: Final = (
    ApiKeyRecord.id,
    ApiKeyRecord.organization_id,
    ApiKeyRecord.employer_id,
    ApiKeyRecord.mode,
    ApiKeyRecord.scopes,
    ApiKeyRecord.last_four,
    ApiKeyRecord.created_at,
    ApiKeyRecord.revoked_at,
    ApiKeyRecord.expires_at,
    ApiKeyRecord.confined,
    ApiKeyRecord.last_used_at,
    ApiKeyRecord.made_by,
)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to create: what it may do, the household it remembers, and for how long."""

    scopes: Sequence[str]
    employer_id: UUID | None = None
    confined: bool = False
    expires_at: datetime.datetime | None = None


@dataclass(frozen=True, slots=True)
class KeyHousehold:
    """A household that a key may remember."""

    id: UUID
    name: str


async def list_own_keys(session: AsyncSession, actor: Actor) -> Sequence[ApiKeyRecord]:
    """Return the keys of the organization and mode that the actor is viewing, revoked ones included, newest first."""
    allow(actor, READ_KEYS)
    of_mode = select(ApiKeyRecord).where(
        ApiKeyRecord.organization_id == actor.organization_id, ApiKeyRecord.mode == actor.mode
    )
    shown = of_mode.options(load_only(*_SHOWN, raiseload=True)).order_by(ApiKeyRecord.id.desc())
    return (await session.scalars(shown)).all()


async def households_for_keys(session: AsyncSession, actor: Actor) -> Sequence[KeyHousehold]:
    """Return the households of the actor's mode, any of which a key may remember."""
    allow(actor, READ_KEYS)
    rows = await fetch_all(
        session, _HOUSEHOLDS, {"organization_id": actor.organization_id, "sandbox": actor.sandbox}
    )
    return [KeyHousehold(row.id, f"{row.first_name} {row.last_name}") for row in rows]


async def create_own_key(session: AsyncSession, actor: Actor, clock: Clock, new: NewKey) -> IssuedKey:
    """Issue a key of the actor's mode; its text is shown only this once.

    Raises `validation_error` for invalid scopes, households or times, `plan_limit_reached` beyond the limit.
    """
    allow(actor, KEEP_KEYS)
    scopes = tuple(scope for scope in SCOPES if scope in new.scopes)
    if not scopes or set(new.scopes) - set(SCOPES):
        raise invalid("scopes", "Choose at least one.")
    if new.confined and new.employer_id is None:
        raise invalid("employer_id", "Choose the household this key can use.")
    households = await households_for_keys(session, actor)
    if new.employer_id is not None and all(each.id != new.employer_id for each in households):
        raise invalid("employer_id", "Choose one of your households.")
    now = clock.now()
    if new.expires_at is not None and new.expires_at <= now:
        raise invalid("expires_at", "Enter a future date.")
    await refuse_frozen(session, actor, now, new.employer_id if new.confined else None)
    await session.execute(_IN_TURN, {"organization_id": str(actor.organization_id)})
    in_force = await session.scalar(
        select(func.count(ApiKeyRecord.id)).where(
            ApiKeyRecord.organization_id == actor.organization_id, ApiKeyRecord.revoked_at.is_(None)
        )
    )
    refuse_beyond(actor.terms, "keys", in_force or 0)
    key = api_keys.generate(actor.mode)
    key_id = uuid7()
    await session.execute(
        insert(ApiKeyRecord).values(
            id=key_id,
            organization_id=actor.organization_id,
            employer_id=new.employer_id,
            mode=actor.mode,
            scopes=list(scopes),
            key_hash=key.hash,
            last_four=key.last_four,
            created_at=now,
            expires_at=new.expires_at,
            confined=new.confined,
            made_by=actor.id if actor.kind == "user" else None,
        )
    )
    details: dict[str, object] = {"mode": actor.mode, "scopes": list(scopes), "last_four": key.last_four}
    details |= reach_of(key, new.employer_id, confined=new.confined, expires_at=new.expires_at)
    await record_audit(session, actor, "key.create", employer_id=None, subject_id=key_id, details=details)
    return IssuedKey(key_id, key.text, actor.mode, cast(tuple[str, ...], scopes), new.employer_id)


async def revoke_own_key(session: AsyncSession, actor: Actor, clock: Clock, key_id: UUID) -> None:
    """Revoke a key of the actor's organization and mode for good. Raises `not_found`."""
    allow(actor, REVOKE_KEYS)
    now = clock.now()
    since = await session.scalar(_REVOKE, {"key_id": key_id, "now": now})
    if since is None:
        raise Refusal("not_found", "Key not found.")
    if since == now:
        await record_audit(session, actor, "key.revoke", employer_id=None, subject_id=key_id)


async def keys_made_by(session: AsyncSession, actor: Actor, person_id: UUID) -> Sequence[ApiKeyRecord]:
    """Return the keys in force that a member created, of both modes, newest first. Raises what `allow` raises."""
    allow(actor, READ_KEYS)
    made = select(ApiKeyRecord).where(
        ApiKeyRecord.organization_id == actor.organization_id,
        ApiKeyRecord.made_by == person_id,
        ApiKeyRecord.revoked_at.is_(None),
    )
    shown = made.options(load_only(*_SHOWN, raiseload=True)).order_by(ApiKeyRecord.id.desc())
    return (await session.scalars(shown)).all()


async def revoke_keys_made_by(
    session: AsyncSession, actor: Actor, clock: Clock, person_id: UUID, *, keep: Collection[UUID] = ()
) -> int:
    """Revoke the keys that a member created, of both modes, except those named; return how many.

    The transaction belongs to the actor's tenant again afterward. Raises what `allow` raises.
    """
    allow(actor, REVOKE_KEYS)
    now = clock.now()
    made = [each for each in await keys_made_by(session, actor, person_id) if each.id not in keep]
    for key in made:
        await become(session, Tenant(actor.organization_id, key.mode == "test"))
        await session.execute(_REVOKE, {"key_id": key.id, "now": now})
        await audit.record(
            session,
            actor_kind=actor.kind,
            actor_id=actor.id,
            organization_id=actor.organization_id,
            employer_id=None,
            sandbox=key.mode == "test",
            action="key.revoke",
            subject_id=key.id,
            request_id=actor.request_id,
            details={"last_four": key.last_four, "made_by": person_id},
        )
    if made:
        await become(session, actor.tenant)
    return len(made)
