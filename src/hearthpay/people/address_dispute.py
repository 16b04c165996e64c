"""A dispute about an account's address: the mailbox before a change says that it wasn't its person's.

A link can't tell whose mailbox was stolen: the old one, or the new one, which an intruder may have set. So neither gets
the account. Until the dispute is decided no reset is mailed, and both addresses are notified. Who decides it signs in
without any mailbox (in a known browser, or with the second factor), or is another owner of a week or more, or the
operator. Until then the person signs in with either address. Only one that was held for a week before the change can
be restored.
"""

import datetime
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args
from uuid import UUID

from sqlalchemy import text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import KEEP_MEMBERS, allow
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.database.session import become_person
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit, note_event
from hearthpay.people.former_addresses import end_former_person_addresses, former_addresses_of_person
from hearthpay.people.identity import masked
from hearthpay.people.models import Membership, PersonRecord
from hearthpay.people.owner_removal import in_force, members_in_turn, refuse_young_owner
from hearthpay.people.secured_mails import send_settled
from hearthpay.people.sessions import SignedIn
from hearthpay.people.tokens import end_own_tokens

AddressChoice = Literal["current", "former"]
"""Which address is right: the one that the account has now, or the one before."""
CHOICES: Final[tuple[AddressChoice, ...]] = get_args(AddressChoice)


class AddressDispute(NamedTuple):
    """The two addresses: the account's, and the one before, and since when they are in dispute."""

    current: str
    former: str
    since: datetime.datetime


_DISPUTE: Final = query(
    AddressDispute,
    "SELECT email AS current, disputed_address AS former, disputed_at AS since FROM people "
    "WHERE id = :person AND disputed_address IS NOT NULL",
)
_OPEN: Final = text(
    "UPDATE people SET disputed_address = :address, disputed_at = :now WHERE id = :person AND disputed_address IS NULL"
)


@dataclass(frozen=True, slots=True)
class AddressSettlement:
    """How a dispute was decided: the address that stays, and the one that doesn't."""

    address: str
    other: str


async def open_dispute(
    session: AsyncSession, now: datetime.datetime, person_id: UUID
) -> AddressDispute | None:
    """Open a dispute if the account's address was changed within the week, and return the open one, if any.

    The transaction is the person's.
    """
    former = await former_addresses_of_person(session, now, person_id)
    if former:
        await session.execute(_OPEN, {"person": person_id, "address": former[0], "now": now})
    return await dispute_of(session, person_id)


async def dispute_of(session: AsyncSession, person_id: UUID) -> AddressDispute | None:
    """Return the dispute about a person's address, if there is one; the transaction may see the person."""
    return await fetch_optional(session, _DISPUTE, {"person": person_id})


async def own_dispute(people_context: PeopleContext, who: SignedIn) -> AddressDispute | None:
    """Return the dispute about the address of who is signed in."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        return await dispute_of(session, who.person_id)


async def settle_own(
    people_context: PeopleContext, who: SignedIn, choice: str, visit: Visit
) -> AddressSettlement:
    """Decide the dispute about one's own address, signed in with a fresh proof. Raises what `settle` raises."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        return await settle(people_context, session, who.person_id, choice, visit, by="person")


async def settle_for_member(
    people_context: PeopleContext, actor: Actor, membership_id: UUID, choice: str, visit: Visit
) -> AddressSettlement:
    """Decide the dispute about the address of another member, as an owner of a week or more.

    Raises `not_found`, `invalid_state` for an owner who doesn't count yet and for one's own address, and what `settle`
    raises.
    """
    allow(actor, KEEP_MEMBERS)
    now = people_context.clock.now()
    async with people_context.database.transaction(actor.tenant) as session:
        await members_in_turn(session, actor.organization_id)
        found = in_force(actor.organization_id).where(Membership.id == membership_id)
        member: Membership | None = await session.scalar(found)
        if member is None:
            raise Refusal("not_found", "Member not found.")
        if member.person_id == actor.id:
            raise Refusal("invalid_state", "Another owner decides this, or you in your own settings.")
        await refuse_young_owner(session, actor, now)
        details: dict[str, object] = {"choice": choice}
        await become_person(session, member.person_id)
        settlement = await settle(people_context, session, member.person_id, choice, visit, by="owner")
        await record_audit(
            session,
            actor,
            "member.settle_address",
            employer_id=None,
            subject_id=member.person_id,
            details=details,
        )
        return settlement


async def settle(
    people_context: PeopleContext,
    session: AsyncSession,
    person_id: UUID,
    choice: str,
    visit: Visit,
    *,
    by: Literal["person", "owner", "operator"],
) -> AddressSettlement:
    """Decide a dispute: the account keeps or gets the chosen address, and its freeze ends; both addresses are notified.

    The transaction is the person's. Raises `validation_error` for an unknown choice, and `invalid_state` if there is
    no dispute, or the former address belongs to another account.
    """
    chosen = next((each for each in CHOICES if each == choice), None)
    if chosen is None:
        raise invalid("address", "Choose one of the two addresses.")
    now = people_context.clock.now()
    person = await session.get_one(PersonRecord, person_id, with_for_update={"key_share": True})
    dispute = await dispute_of(session, person_id)
    if dispute is None:
        raise Refusal("invalid_state", "The address of this account isn't in dispute.")
    address, other = (
        (dispute.current, dispute.former) if chosen == "current" else (dispute.former, dispute.current)
    )
    await end_former_person_addresses(session, now, person_id, dispute.former)
    await _keep(session, now, person_id, address)
    await end_own_tokens(session, now)
    details = {"choice": chosen, "by": by, "address": masked(address), "other": masked(other)}
    await note_event(session, person_id, visit, "email.settle", details)
    await session.refresh(person)
    await send_settled(people_context, session, now, person, other)
    return AddressSettlement(address, other)


async def _keep(session: AsyncSession, now: datetime.datetime, person_id: UUID, address: str) -> None:
    values = {
        "email": address,
        "disputed_address": None,
        "disputed_at": None,
        "frozen_until": None,
        "updated_at": now,
    }
    try:
        async with session.begin_nested():
            await session.execute(update(PersonRecord).where(PersonRecord.id == person_id).values(**values))
    except IntegrityError:
        raise Refusal(
            "invalid_state", "Somebody has made another account with this address. Choose the other one."
        ) from None
