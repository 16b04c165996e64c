"""What an operator may do with accounts, from the command line and over the owner's connection.

The service's role can't create an organization, change its plan, or issue a key; these functions need a session of
the role that owns the tables. Each writes an audit row of the kind `operator`.
"""

import datetime
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.entitlements import refuse_beyond, refuse_missing_feature
from hearthpay.access.permissions import SCOPES
from hearthpay.access.plans import HIGHEST_LIMIT, LIMITS, NEW_ORGANIZATIONS, PLANS, terms_of
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.accounts.models import ApiKeyRecord, Organization
from hearthpay.clock import Clock
from hearthpay.database import audit
from hearthpay.database.relations import EMPLOYERS
from hearthpay.database.statements import statement
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.mail.wording import holds_invisible
from hearthpay.security import api_keys
from hearthpay.security.api_keys import ApiKey, Mode
from hearthpay.wire.secrecy import PORTAL_ONLY, holds_a_secret

_LONGEST_NAME: Final = 200
_EMPLOYER_OF: Final = statement(
    "SELECT sandbox FROM {employers} employers WHERE id = :employer_id AND organization_id = :organization_id",
    employers=EMPLOYERS,
)
_IN_TURN: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('hearthpay new organization', 0))")


class _SummariesRow(NamedTuple):
    id: UUID
    name: str
    plan: str
    lifted_limits: dict[str, int | None]
    households: int
    sandbox_households: int
    keys: int


_SUMMARIES: Final = query(
    _SummariesRow,
    "SELECT o.id, o.name, o.plan, o.lifted_limits, "
    "(SELECT count(*) FROM {employers} e WHERE e.organization_id = o.id AND NOT e.sandbox) AS households, "
    "(SELECT count(*) FROM {employers} e WHERE e.organization_id = o.id AND e.sandbox) AS sandbox_households, "
    "(SELECT count(*) FROM api_keys k WHERE k.organization_id = o.id AND k.revoked_at IS NULL) AS keys "
    "FROM organizations o ORDER BY o.name, o.created_at, o.id",
    employers=EMPLOYERS,
)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A newly issued key; `text` is the key itself, which can be shown only now."""

    id: UUID
    text: str
    mode: Mode
    scopes: tuple[str, ...]
    employer_id: UUID | None

    def __repr__(self) -> str:
        return f"IssuedKey(id={self.id}, mode={self.mode!r}, last_four={self.text[-4:]!r})"


@dataclass(frozen=True, slots=True)
class OrganizationSummary:
    """An organization in the operator's list: its plan, and how much it uses of what the plan limits."""

    id: UUID
    name: str
    plan: str
    lifted_limits: Mapping[str, int | None]
    households: int
    sandbox_households: int
    keys: int


async def create_organization(
    session: AsyncSession, clock: Clock, name: str, *, plan: str = NEW_ORGANIZATIONS
) -> Organization:
    """Create the account `name` on `plan`.

    Raises `validation_error` for a name that is invalid or taken, and for an unknown plan.
    """
    _check_plan(plan)
    trimmed = name.strip()
    if not 1 <= len(trimmed) <= _LONGEST_NAME or not trimmed.isprintable() or holds_invisible(trimmed):
        raise invalid("name", f"must have 1 to {_LONGEST_NAME} printable characters")
    if holds_a_secret(trimmed):
        raise invalid("name", PORTAL_ONLY)
    if _id_in(trimmed) is not None:
        raise invalid("name", "looks like an id; there is no organization with it")
    # Of two concurrent creations, the second sees what the first created; so does the first owner's link.
    await session.execute(_IN_TURN)
    if await find_organizations(session, trimmed):
        raise invalid("name", "is the name of an organization already")
    organization = Organization(id=uuid7(), name=trimmed, created_at=clock.now(), plan=plan, lifted_limits={})
    session.add(organization)
    await session.flush()
    await _leave_trace(session, organization.id, "organization.create", organization.id, {"plan": plan})
    return organization


async def list_organizations(session: AsyncSession) -> Sequence[OrganizationSummary]:
    """Return every organization, by name and age, with its real and sandbox households and its keys in force."""
    rows = await fetch_all(session, _SUMMARIES)
    return [OrganizationSummary(*row) for row in rows]


async def set_plan(session: AsyncSession, organization: Organization, plan: str) -> None:
    """Change the organization's plan; takes effect within five seconds. Replaced limits stay replaced.

    What exceeds a smaller plan's limits stays; nothing more can be added. Raises `validation_error` for an unknown
    plan.
    """
    _check_plan(plan)
    await session.refresh(organization, with_for_update=True)
    if plan == organization.plan:
        return
    change = {"before": {"plan": organization.plan}, "after": {"plan": plan}}
    organization.plan = plan
    await session.flush()
    await _leave_trace(session, organization.id, "organization.set_plan", organization.id, change)


async def lift_limits(
    session: AsyncSession,
    organization: Organization,
    lifted: Mapping[str, int | None],
    *,
    restored: Collection[str] = (),
) -> None:
    """Replace limits of the organization's plan: by name, a whole number or None for no limit.

    The limits named in `restored` are the plan's own again. Takes effect within five seconds. Raises
    `validation_error` for an unknown limit and for a value that isn't a number.
    """
    for name in (*lifted, *restored):
        if name not in LIMITS:
            raise invalid(name, f"is not a limit; known: {', '.join(LIMITS)}")
    for name, number in lifted.items():
        if number is not None and not 0 <= number <= HIGHEST_LIMIT:
            raise invalid(name, f"must be from 0 to {HIGHEST_LIMIT}")
    await session.refresh(organization, with_for_update=True)
    before = organization.lifted_limits
    after = {name: number for name, number in {**before, **lifted}.items() if name not in restored}
    if after == before:
        return
    organization.lifted_limits = after
    await session.flush()
    change = {"before": before, "after": after}
    await _leave_trace(session, organization.id, "organization.lift", organization.id, change)


async def find_organizations(session: AsyncSession, name: str) -> Sequence[Organization]:
    """Return the accounts with that name, oldest first: families that sign up may share one."""
    named = select(Organization).where(Organization.name == name.strip())
    return (await session.scalars(named.order_by(Organization.created_at, Organization.id))).all()


async def find_organization(session: AsyncSession, name: str) -> Organization | None:
    """Return the account with that name or id, or None.

    Raises `validation_error` listing the ids if several have the name.
    """
    found = await find_organizations(session, name)
    if len(found) > 1:
        listed = "; ".join(f"{each.id}, created {each.created_at:%Y-%m-%d}" for each in found)
        raise invalid("organization", f"{len(found)} have the name {name.strip()!r}: give the id ({listed})")
    if found:
        return found[0]
    organization_id = _id_in(name.strip())
    return None if organization_id is None else await session.get(Organization, organization_id)


def _id_in(text: str) -> UUID | None:
    """Return the id that the text spells, or None."""
    try:
        return UUID(text)
    except ValueError:
        return None


async def create_key(
    session: AsyncSession,
    clock: Clock,
    organization: Organization,
    *,
    mode: Mode,
    scopes: Sequence[str],
    employer_id: UUID | None = None,
    confined: bool = False,
    expires_at: datetime.datetime | None = None,
) -> IssuedKey:
    """Issue a key that remembers the household `employer_id`, if one is given.

    If `confined`, the key can't access other households of the organization. From `expires_at` on it is refused.

    Scopes that the organization's plan lacks are granted too; they take effect with the plan. Raises
    `validation_error` for an unknown scope or household, for confining a key to a household of the other mode, and
    for a time in the past; `subscription_required` for a test key on a plan without them; `plan_limit_reached` beyond
    the number of keys that the plan allows.
    """
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        what = f"does not know {', '.join(unknown)}" if unknown else "Choose at least one."
        raise invalid("scopes", f"{what}; known: {', '.join(SCOPES)}")
    owner = {"employer_id": employer_id, "organization_id": organization.id}
    sandbox = None if employer_id is None else await session.scalar(_EMPLOYER_OF, owner)
    if employer_id is not None and sandbox is None:
        raise invalid("employer_id", f"is not a household of {organization.name}")
    if confined and sandbox is not (mode == "test"):
        kind = "a sandbox" if mode == "test" else "a real"
        raise invalid("employer_id", f"must be {kind} household: a {mode} key can be confined to no other")
    if expires_at is not None and expires_at <= clock.now():
        raise invalid("expires_at", "Enter a future date.")
    # The lock makes counting and inserting one step for concurrent operators.
    entitled = select(Organization.plan, Organization.lifted_limits).where(Organization.id == organization.id)
    plan, lifted = (await session.execute(entitled.with_for_update())).one()
    terms = terms_of(plan, lifted)
    if mode == "test":
        refuse_missing_feature(terms, "test_keys")
    in_force = await session.scalar(
        select(func.count())
        .select_from(ApiKeyRecord)
        .where(ApiKeyRecord.organization_id == organization.id, ApiKeyRecord.revoked_at.is_(None))
    )
    refuse_beyond(terms, "keys", in_force or 0)
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
        expires_at=expires_at,
        confined=confined,
        last_used_at=None,
    )
    session.add(record)
    await session.flush()
    details: dict[str, object] = {"mode": mode, "scopes": list(granted), "last_four": key.last_four}
    if confined:
        details["only"] = employer_id
    details |= reach_of(key, employer_id, confined=confined, expires_at=expires_at)
    await _leave_trace(session, organization.id, "key.create", record.id, details)
    return IssuedKey(record.id, key.text, mode, granted, employer_id)


def reach_of(
    key: ApiKey, employer_id: UUID | None, *, confined: bool, expires_at: datetime.datetime | None
) -> dict[str, object]:
    """Return the reach of a new key for its audit row, with the digest that identifies it."""
    return {
        "household": employer_id,
        "confined": confined,
        "expires_at": expires_at,
        "digest": hashlib.sha256(key.hash).hexdigest(),
    }


async def list_keys(session: AsyncSession, organization: Organization) -> Sequence[ApiKeyRecord]:
    """Return the organization's keys, revoked ones included, oldest first."""
    of_organization = select(ApiKeyRecord).where(ApiKeyRecord.organization_id == organization.id)
    return (await session.scalars(of_organization.order_by(ApiKeyRecord.id))).all()


async def revoke_key(session: AsyncSession, clock: Clock, key_id: UUID) -> None:
    """Revoke a key everywhere within five seconds; revoking it again changes nothing.

    Raises `not_found` for an unknown key.
    """
    record = await session.get(ApiKeyRecord, key_id, with_for_update=True)
    if record is None:
        raise Refusal("not_found", f"There is no API key with the id {key_id}.")
    if record.revoked_at is not None:
        return
    record.revoked_at = clock.now()
    await session.flush()
    await _leave_trace(
        session, record.organization_id, "key.revoke", record.id, {"last_four": record.last_four}
    )


def _check_plan(plan: str) -> None:
    if plan not in PLANS:
        raise invalid("plan", f"must be one of {', '.join(PLANS)}")


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
