"""What an operator may do with accounts, from the command line and over the owner's connection.

The service's own role can neither create an organization nor issue a key; these functions need a session of
the role that owns the tables. Each leaves an audit row of the kind `operator`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.accounts.models import ApiKeyRecord, Organization
from hearthpay.clock import Clock
from hearthpay.database import audit
from hearthpay.http.auth import SCOPES
from hearthpay.http.errors import ApiError, invalid
from hearthpay.security import api_keys
from hearthpay.security.api_keys import Mode

MOST_KEYS: Final = 5
"""How many keys in force an organization may have."""

_LONGEST_NAME: Final = 200
_EMPLOYER_OF: Final = text(
    "SELECT 1 FROM employers WHERE id = :employer_id AND organization_id = :organization_id"
)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key just issued; `text` is the key itself, and this is the only time it can be shown."""

    id: UUID
    text: str
    mode: Mode
    scopes: tuple[str, ...]
    employer_id: UUID | None

    def __repr__(self) -> str:
        return f"IssuedKey(id={self.id}, mode={self.mode!r}, last_four={self.text[-4:]!r})"


async def create_organization(session: AsyncSession, clock: Clock, name: str) -> Organization:
    """Create the account `name`. Raises `validation_error` for a name that is unfit or taken."""
    trimmed = name.strip()
    if not 1 <= len(trimmed) <= _LONGEST_NAME or not trimmed.isprintable():
        raise invalid("name", f"must have 1 to {_LONGEST_NAME} printable characters")
    if await find_organization(session, trimmed) is not None:
        raise invalid("name", "is taken by another organization")
    organization = Organization(id=uuid7(), name=trimmed, created_at=clock.now())
    session.add(organization)
    await session.flush()
    await _leave_trace(session, organization.id, "organization.create", organization.id)
    return organization


async def find_organization(session: AsyncSession, name: str) -> Organization | None:
    """The account of that name; None where there is none."""
    found: Organization | None = await session.scalar(
        select(Organization).where(Organization.name == name.strip())
    )
    return found


async def create_key(
    session: AsyncSession,
    clock: Clock,
    organization: Organization,
    *,
    mode: Mode,
    scopes: Sequence[str],
    employer_id: UUID | None = None,
) -> IssuedKey:
    """Issue a key that remembers the household `employer_id`, if one is given.

    Raises `validation_error` for an unknown scope or household, `plan_limit_reached` beyond five keys in force.
    """
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        what = f"does not know {', '.join(unknown)}" if unknown else "must name at least one"
        raise invalid("scopes", f"{what}; known: {', '.join(SCOPES)}")
    owner = {"employer_id": employer_id, "organization_id": organization.id}
    if employer_id is not None and await session.scalar(_EMPLOYER_OF, owner) is None:
        raise invalid("employer_id", f"is not a household of {organization.name}")
    # The lock makes counting and inserting one step for two operators at once.
    await session.execute(select(Organization.id).where(Organization.id == organization.id).with_for_update())
    in_force = await session.scalar(
        select(func.count())
        .select_from(ApiKeyRecord)
        .where(ApiKeyRecord.organization_id == organization.id, ApiKeyRecord.revoked_at.is_(None))
    )
    if (in_force or 0) >= MOST_KEYS:
        raise ApiError(
            "plan_limit_reached",
            f"{organization.name} has {MOST_KEYS} keys in force, the most an account may have; revoke one first.",
            details={"limit": MOST_KEYS, "current": in_force},
        )
    key = api_keys.generate(mode)
    granted = tuple(scope for scope in SCOPES if scope in scopes)
    record = ApiKeyRecord(
        id=uuid7(),
        organization_id=organization.id,
        employer_id=employer_id,
        mode=mode,
        scopes=list(granted),
        key_hash=key.hash,
        last_four=key.last_four,
        created_at=clock.now(),
        revoked_at=None,
    )
    session.add(record)
    await session.flush()
    details = {"mode": mode, "scopes": list(granted), "last_four": key.last_four}
    await _leave_trace(session, organization.id, "key.create", record.id, details)
    return IssuedKey(record.id, key.text, mode, granted, employer_id)


async def list_keys(session: AsyncSession, organization: Organization) -> Sequence[ApiKeyRecord]:
    """The organization's keys, revoked ones included, oldest first."""
    of_organization = select(ApiKeyRecord).where(ApiKeyRecord.organization_id == organization.id)
    return (await session.scalars(of_organization.order_by(ApiKeyRecord.id))).all()


async def revoke_key(session: AsyncSession, clock: Clock, key_id: UUID) -> None:
    """Take a key out of force, within five seconds everywhere; revoking it again changes nothing.

    Raises `not_found` for an id that is no key's.
    """
    record = await session.get(ApiKeyRecord, key_id, with_for_update=True)
    if record is None:
        raise ApiError("not_found", f"There is no API key with the id {key_id}.")
    if record.revoked_at is not None:
        return
    record.revoked_at = clock.now()
    await session.flush()
    await _leave_trace(
        session, record.organization_id, "key.revoke", record.id, {"last_four": record.last_four}
    )


async def _leave_trace(
    session: AsyncSession,
    organization_id: UUID,
    action: str,
    subject_id: UUID,
    details: Mapping[str, object] | None = None,
) -> None:
    await audit.record(
        session,
        actor_kind="operator",
        actor_id=None,
        organization_id=organization_id,
        employer_id=None,
        sandbox=None,
        action=action,
        subject_id=subject_id,
        request_id=None,
        details=details or {},
    )
