"""What may happen to households, and which household a request is about."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.clock import Clock
from hearthpay.database.session import Tenant, become
from hearthpay.employers.models import Employer
from hearthpay.employers.schemas import NewEmployer
from hearthpay.employers.threshold_basis import AS_PAID, FROM_THE_FIRST
from hearthpay.http.actor import Actor
from hearthpay.http.entitlements import refuse_beyond
from hearthpay.http.errors import ApiError, invalid
from hearthpay.http.paging import Page, page_of
from hearthpay.http.trail import leave_trace

_MADE_UNDER_A_SANDBOX: Final = (
    "This live key was created under a sandbox household. Name a real household with employer_id, "
    "or use a test key (hp_test_…) for the sandbox."
)
_LOCK_HOUSEHOLDS: Final = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


async def list_employers(session: AsyncSession, page: Page) -> tuple[Sequence[Employer], str | None]:
    """One page of the households the transaction's tenant owns, newest first."""
    return await page_of(session, select(Employer), Employer.id, page)


async def create_employer(session: AsyncSession, actor: Actor, clock: Clock, new: NewEmployer) -> Employer:
    """Create a household, real or sandbox as the actor's key is; the first of its kind is the primary one.

    Raises `plan_limit_reached` beyond the households of that kind that the plan allows, and `household_forbidden` for
    an actor who is confined to another.
    """
    if actor.confined:
        raise ApiError(
            "household_forbidden",
            "This key is confined to one household and cannot create another.",
            details={"employer_id": actor.employer_id},
        )
    # Counting and inserting belong together: two first households must not both become the primary one.
    await lock_households(session, actor)
    existing = await session.scalar(select(func.count()).select_from(Employer)) or 0
    refuse_beyond(actor.terms, "sandbox_households" if actor.sandbox else "households", existing)
    employer = Employer(
        id=uuid7(),
        organization_id=actor.organization_id,
        sandbox=actor.sandbox,
        first_name=new.first_name,
        last_name=new.last_name,
        email=new.email,
        state=new.state,
        is_primary=existing == 0,
        ein_status="none",
        threshold_bases={FROM_THE_FIRST: AS_PAID} if new.threshold_basis == AS_PAID else {},
        created_at=clock.now(),
    )
    session.add(employer)
    await session.flush()
    await leave_trace(
        session,
        actor,
        "employer.create",
        employer_id=employer.id,
        subject_id=employer.id,
        details={"threshold_basis": new.threshold_basis},
    )
    return employer


async def lock_households(session: AsyncSession, actor: Actor) -> None:
    """Let nobody else add or remove a household of the organization, in the actor's mode, until the commit."""
    name = f"households of {actor.organization_id} {actor.sandbox}"
    await session.execute(_LOCK_HOUSEHOLDS, {"name": name})


async def resolve_employer(session: AsyncSession, actor: Actor, employer_id: UUID | None) -> Employer:
    """The household a request is about; from here on the transaction sees this household's rows only.

    Named, it must be the organization's own and of the key's mode. Left out, it is the one the key remembers,
    else the organization's only household in that mode, else its primary one.

    A live key that was made under a sandbox household must always name a real one, also after the sandbox is gone.

    Raises `household_forbidden`, `key_mode_mismatch`, or `validation_error` naming `employer_id` where the
    request must choose.
    """
    wanted = actor.employer_id if employer_id is None else employer_id
    if wanted is None and actor.employer_sandbox and not actor.sandbox:
        raise ApiError("key_mode_mismatch", _MADE_UNDER_A_SANDBOX, details={"required_mode": "test"})
    if wanted is None:
        employer = await _only_or_primary(session, actor)
    else:
        found = await session.get(Employer, wanted)
        if found is None:
            raise await _why_out_of_reach(session, actor, wanted)
        employer = found
    await become(session, Tenant(actor.organization_id, actor.sandbox, employer.id))
    return employer


async def _only_or_primary(session: AsyncSession, actor: Actor) -> Employer:
    primary_first = select(Employer).order_by(Employer.is_primary.desc(), Employer.id).limit(2)
    households = (await session.scalars(primary_first)).all()
    if not households:
        kind = "sandbox" if actor.sandbox else "real"
        raise invalid(
            "employer_id", f"is required: this account has no {kind} household yet; create one first"
        )
    if len(households) > 1 and not households[0].is_primary:
        raise invalid("employer_id", "is required: this account has several households and none is primary")
    return households[0]


async def get_employer(session: AsyncSession, actor: Actor, employer_id: UUID) -> Employer:
    """Return the household that a path names; raises `not_found`, and `key_mode_mismatch` for one of the other mode."""
    employer = await session.get(Employer, employer_id)
    if employer is not None:
        return employer
    if await owned_in_the_other_mode(session, actor, employer_id):
        kind, needed = ("real", "live") if actor.sandbox else ("sandbox", "test")
        raise ApiError(
            "key_mode_mismatch",
            f"This is a {kind} household; it needs a {needed} key (hp_{needed}_…).",
            details={"employer_id": employer_id, "required_mode": needed},
        )
    raise ApiError("not_found", "There is no such household.")


async def owned_in_the_other_mode(session: AsyncSession, actor: Actor, employer_id: UUID) -> bool:
    """Whether the organization has this household, but real where the actor is in the sandbox or the reverse.

    The transaction is left in the other mode: only a refusal may follow, which ends it.
    """
    await become(session, Tenant(actor.organization_id, not actor.sandbox, actor.tenant.employer_id))
    return await session.scalar(select(Employer.id).where(Employer.id == employer_id)) is not None


async def _why_out_of_reach(session: AsyncSession, actor: Actor, employer_id: UUID) -> ApiError:
    """Tell the organization's own household of the other mode from one that is not its own."""
    if not await owned_in_the_other_mode(session, actor, employer_id):
        return ApiError(
            "household_forbidden",
            "This household does not belong to the key's account.",
            details={"employer_id": employer_id},
        )
    if actor.sandbox:
        message = "This is a real household; it needs a live key (hp_live_…)."
    elif actor.employer_id == employer_id:
        message = _MADE_UNDER_A_SANDBOX
    else:
        message = "This is a sandbox household; it needs a test key (hp_test_…)."
    needed = "live" if actor.sandbox else "test"
    return ApiError(
        "key_mode_mismatch", message, details={"employer_id": employer_id, "required_mode": needed}
    )
