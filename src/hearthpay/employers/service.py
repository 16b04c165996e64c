"""The operations on households, and which household a request is about."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import Select, bindparam, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.entitlements import refuse_beyond
from hearthpay.access.permissions import (
    CHANGE_ADDRESSES,
    CHANGE_HOUSEHOLD,
    CREATE_HOUSEHOLD,
    LIST_HOUSEHOLDS,
    READ_EMPLOYEES,
    READ_PAYROLLS,
    allow,
    may,
    out_of_reach,
)
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.access.wrong_mode import wrong_mode
from hearthpay.accounts.freezing import refuse_frozen
from hearthpay.clock import Clock
from hearthpay.database.session import Tenant, become
from hearthpay.employers.commands import ChangeEmployer, CreateEmployer, ListHouseholds, PostalAddress
from hearthpay.employers.list_cursors import write_place
from hearthpay.employers.metadata import METADATA, audit_details, page_order, with_metadata
from hearthpay.employers.models import Employer
from hearthpay.employers.sorted_lists import check_place, read_sorted, search_households
from hearthpay.employers.threshold_basis import AS_PAID, FROM_THE_FIRST
from hearthpay.people.former_addresses import note_former_address
from hearthpay.time_zones import time_zone_of
from hearthpay.unchanged import changes_of
from hearthpay.wire.metadata import has_entries, merged
from hearthpay.wire.paging import PageAfter, page_of

_EMAIL_NEEDED: Final = "Enter an email address. Only a test household may have none."
_LOCK_HOUSEHOLDS: Final = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


async def list_employers(
    session: AsyncSession, actor: Actor, clock: Clock, requested: ListHouseholds
) -> tuple[Sequence[Employer], str | None]:
    """Return one page of the households that the actor reaches, newest first if no sort is requested.

    Raises what `allow` raises, also for reading employees with a search and for payrolls with paydays, and
    `validation_error` for a cursor of another list and for a search of too many.
    """
    allow(actor, LIST_HOUSEHOLDS)
    return await _page_of_reached(session, actor, clock, requested)


async def reached_employers(
    session: AsyncSession, actor: Actor, clock: Clock, requested: ListHouseholds
) -> tuple[Sequence[Employer], str | None]:
    """Return one page of the households the actor may act on: all within reach if it may list them, else the one that
    a request without a household is about. Raises what `list_employers` and `resolve_employer` raise.
    """
    if may(actor, LIST_HOUSEHOLDS):
        return await _page_of_reached(session, actor, clock, requested)
    _allow_list(actor, requested)
    only = await resolve_employer(session, actor, None)
    if not has_entries(only.metadata_, requested.metadata):
        return [], None
    if requested.words and only.id not in await search_households(
        session, replace(actor, households=frozenset({only.id})), requested.words
    ):
        return [], None
    return [only], None


async def create_employer(session: AsyncSession, actor: Actor, clock: Clock, new: CreateEmployer) -> Employer:
    """Create a household, real or sandbox like the actor's key; the first of its kind is the primary one.

    Raises `plan_limit_reached` beyond the households of that kind that the plan allows, `household_forbidden` for an
    actor confined to another one, and `validation_error` for a real household without an email address.
    """
    allow(actor, CREATE_HOUSEHOLD)
    if new.email is None and not actor.sandbox:
        raise invalid("email", _EMAIL_NEEDED)
    if actor.confined:
        raise Refusal(
            "household_forbidden",
            "This key is confined to one household and cannot create another.",
            details=None if actor.employer_id is None else {"employer_id": actor.employer_id},
        )
    # Counting and inserting are one step: two first households must not both become the primary one.
    await lock_households(session, actor)
    # Named although row-level security has the same effect: the operator's session sees every account's.
    of_the_account = (
        Employer.organization_id == actor.organization_id,
        Employer.sandbox == bindparam("sandbox", actor.sandbox),
    )
    existing = await session.scalar(select(func.count()).select_from(Employer).where(*of_the_account)) or 0
    refuse_beyond(actor.terms, "sandbox_households" if actor.sandbox else "households", existing)
    employer = Employer(
        id=uuid7(),
        organization_id=actor.organization_id,
        sandbox=actor.sandbox,
        first_name=new.first_name,
        last_name=new.last_name,
        email=new.email,
        state=new.state,
        address=None if new.address is None else asdict(new.address),
        is_primary=existing == 0,
        ein_status="none",
        threshold_bases={FROM_THE_FIRST: AS_PAID} if new.threshold_basis == AS_PAID else {},
        metadata_=dict(new.metadata),
        created_at=clock.now(),
    )
    session.add(employer)
    await session.flush()
    await record_audit(
        session,
        actor,
        "employer.create",
        employer_id=employer.id,
        subject_id=employer.id,
        details={"threshold_basis": new.threshold_basis},
    )
    return employer


async def find_employer(session: AsyncSession, actor: Actor, employer_id: UUID) -> Employer:
    """Return the household with that id. Raises `not_found` out of the actor's reach, also for the other mode."""
    employer = await session.get(Employer, employer_id)
    if employer is None or not actor.reaches(employer_id):
        raise _unknown()
    return employer


async def find_employer_or_tell_mode(session: AsyncSession, actor: Actor, employer_id: UUID) -> Employer:
    """Return the household with that id, for reading only. Raises `not_found`, and `key_mode_mismatch` if it is the
    organization's own, within reach, and of the other mode.
    """
    try:
        return await find_employer(session, actor, employer_id)
    except Refusal:
        if actor.reaches(employer_id) and await owned_in_the_other_mode(session, actor, employer_id):
            raise wrong_mode("real" if actor.sandbox else "sandbox", employer_id) from None
        raise


async def update_employer(
    session: AsyncSession, actor: Actor, clock: Clock, employer_id: UUID, changes: ChangeEmployer
) -> Employer:
    """Change what was sent, except the basis of its thresholds, which `payroll.years.threshold_choice` changes.

    Of two simultaneous changes the later one sees the first one's result. A new email address requires the right to
    change addresses, and the old one is still notified for a while. Raises what `allow` raises, `not_found`,
    `validation_error` if a real household would lose its email address, and `invalid_state` for a new one while the
    organization is frozen.
    """
    allow(actor, CHANGE_HOUSEHOLD)
    employer = await session.scalar(
        select(Employer).where(Employer.id == employer_id).with_for_update(key_share=True)
    )
    if employer is None or not actor.reaches(employer_id):
        raise _unknown()
    requested = changes_of(changes)
    requested.pop("threshold_basis", None)
    if "metadata" in requested:
        requested[METADATA] = merged(employer.metadata_, requested.pop("metadata"))
    if isinstance(changes.address, PostalAddress):
        requested["address"] = asdict(changes.address)
    if "email" in requested and requested["email"] is None and not employer.sandbox:
        raise invalid("email", _EMAIL_NEEDED)
    before = {
        name: getattr(employer, name) for name in requested if getattr(employer, name) != requested[name]
    }
    if not before:
        return employer
    if "email" in before:
        await _leave_address(session, actor, clock, employer)
    for name in before:
        setattr(employer, name, requested[name])
    await session.flush()
    await record_audit(
        session,
        actor,
        "employer.update",
        employer_id=employer.id,
        subject_id=employer.id,
        details=audit_details(before, requested),
    )
    return employer


async def _leave_address(session: AsyncSession, actor: Actor, clock: Clock, employer: Employer) -> None:
    """Replace the household's email address; the old one is still notified for a while."""
    allow(actor, CHANGE_ADDRESSES, employer.id)
    now = clock.now()
    await refuse_frozen(session, actor, now, employer.id, correction=True)
    await note_former_address(
        session,
        now,
        organization_id=employer.organization_id,
        employer_id=employer.id,
        sandbox=employer.sandbox,
        employee_id=None,
        address=employer.email,
    )


async def shared_time_zone(session: AsyncSession) -> ZoneInfo | None:
    """Return the time zone of the tenant's households if they all have the same; None if not, or without any."""
    places = (await session.execute(select(Employer.state, Employer.time_zone).distinct())).all()
    zones = {time_zone_of(state, chosen).key for state, chosen in places}
    return ZoneInfo(zones.pop()) if len(zones) == 1 else None


def _unknown() -> Refusal:
    return Refusal("not_found", "No household has this id.")


async def lock_households(session: AsyncSession, actor: Actor) -> None:
    """Keep others from adding or removing the organization's households, in the actor's mode, until the commit."""
    name = f"households of {actor.organization_id} {actor.sandbox}"
    await session.execute(_LOCK_HOUSEHOLDS, {"name": name})


async def resolve_employer(
    session: AsyncSession, actor: Actor, employer_id: UUID | None, *, hold: bool = False
) -> Employer:
    """Return the household a request is about; from here on the transaction sees only this household's rows.

    If named, it must be the organization's own and of the key's mode. If omitted, it is the one the key remembers,
    else the organization's only household in that mode; if there are several, none is assumed.

    A live key that was made under a sandbox household must always name a real one, even after the sandbox is deleted.

    With `hold`, nobody can change its settings before the transaction ends. Raises `household_forbidden`,
    `key_mode_mismatch`, or `validation_error` naming `employer_id` if the request must choose.
    """
    requested = actor.employer_id if employer_id is None else employer_id
    if requested is None and actor.employer_sandbox and not actor.sandbox:
        raise wrong_mode("made_under_a_sandbox", None)
    if requested is None:
        employer = await _only_one(session, actor)
        if hold:
            await session.refresh(employer, with_for_update={"read": True})
    elif not actor.reaches(requested):
        raise out_of_reach(requested)
    else:
        found = await session.get(Employer, requested, with_for_update={"read": True} if hold else None)
        if found is None:
            raise await _why_out_of_reach(session, actor, requested)
        employer = found
    await become(session, Tenant(actor.organization_id, actor.sandbox, employer.id))
    return employer


async def resolve_employer_of(
    session: AsyncSession,
    actor: Actor,
    employer_id: UUID | None,
    owner: UUID | None,
    missing: Refusal,
    *,
    hold: bool = False,
) -> Employer:
    """Return the household of an object that a request names; from here on the transaction sees only this one's rows.

    ``owner`` is the object's household as the transaction saw it, None if it saw none. The object determines the
    household, whichever one the key remembers. Raises what `resolve_employer` raises, `validation_error` naming
    `employer_id` if it is another household than the object's, and ``missing`` if the object doesn't exist and
    nothing else says which household is meant.
    """
    if owner is not None and not actor.reaches(owner):
        owner = None
    if employer_id is not None:
        employer = await resolve_employer(session, actor, employer_id, hold=hold)
        if owner is not None and owner != employer_id:
            raise invalid(
                "employer_id", "is not the household of what this request names; it may be left out"
            )
        return employer
    if owner is None:
        try:
            return await resolve_employer(session, actor, None, hold=hold)
        except Refusal as refusal:
            raise (missing if refusal.code == "validation_error" else refusal) from None
    if actor.employer_sandbox and not actor.sandbox:
        return await resolve_employer(session, actor, None, hold=hold)
    return await resolve_employer(session, actor, owner, hold=hold)


def _allow_list(actor: Actor, requested: ListHouseholds) -> None:
    """Check that the actor may know what the list tells, and that the page is of this list."""
    if requested.words:
        allow(actor, READ_EMPLOYEES)
    if requested.sort == "payday":
        allow(actor, READ_PAYROLLS)
    check_place(requested)


async def _page_of_reached(
    session: AsyncSession, actor: Actor, clock: Clock, requested: ListHouseholds
) -> tuple[Sequence[Employer], str | None]:
    _allow_list(actor, requested)
    if requested.sort is None:
        statement = _reached(actor)
        if requested.words:
            found = await search_households(session, actor, requested.words)
            statement = statement.where(Employer.id.in_(found))
        cursor = None if requested.place is None else requested.place.after
        statement = with_metadata(
            statement, actor, "employer", Employer.id, requested.metadata, before=cursor
        )
        async with page_order(session, requested.metadata):
            return await page_of(session, statement, Employer.id, PageAfter(cursor, requested.limit))
    page = await read_sorted(session, actor, clock.today(), requested)
    employers = await session.scalars(_reached(actor).where(Employer.id.in_(page.ids)))
    by_id = {employer.id: employer for employer in employers}
    next_cursor = None if page.following is None else write_place(page.following)
    return [by_id[each] for each in page.ids if each in by_id], next_cursor


def _reached(actor: Actor) -> Select[Employer]:
    """Return the transaction's households that the actor reaches; for one household or all, the policies give the
    same result.
    """
    if actor.households is None:
        return select(Employer)
    return select(Employer).where(Employer.id.in_(actor.households))


async def _only_one(session: AsyncSession, actor: Actor) -> Employer:
    households = (await session.scalars(_reached(actor).limit(2))).all()
    kind = "sandbox" if actor.sandbox else "real"
    if not households:
        raise invalid(
            "employer_id", f"is required: this account has no {kind} household yet; create one first"
        )
    if len(households) > 1:
        raise invalid(
            "employer_id",
            f"is required: this account has several {kind} households, and the key remembers none of them",
        )
    return households[0]


async def owned_in_the_other_mode(session: AsyncSession, actor: Actor, employer_id: UUID) -> bool:
    """Return whether the organization has this household in the other mode: real for a sandbox actor, or the reverse.

    The transaction stays in the other mode: only a refusal may follow, which ends it.
    """
    await become(session, Tenant(actor.organization_id, not actor.sandbox, actor.tenant.employer_id))
    return await session.scalar(select(Employer.id).where(Employer.id == employer_id)) is not None


async def _why_out_of_reach(session: AsyncSession, actor: Actor, employer_id: UUID) -> Refusal:
    """Return the refusal, which depends on whether the household is the organization's own in the other mode."""
    if not await owned_in_the_other_mode(session, actor, employer_id):
        return out_of_reach(employer_id)
    if actor.sandbox:
        return wrong_mode("real", employer_id)
    return wrong_mode("made_under_a_sandbox" if actor.employer_id == employer_id else "sandbox", employer_id)
