"""Who can have an owner removed: nobody who became one yesterday; and how often an owner can stop it."""

from datetime import timedelta

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.clock import FixedClock
from hearthpay.people import members
from hearthpay.people.address_dispute import settle_for_member
from hearthpay.people.context import PeopleContext
from hearthpay.people.owner_removal import (
    COUNTS_AFTER,
    OWNER_WAITS,
    RESTORED_FOR,
    keep_member,
    restore_owner,
)
from hearthpay.people.sessions import SignedIn
from tests.people.test_accounts import refused
from tests.people.test_at_once import all_members, joined
from tests.people.visitors import VISIT

ANA, LENA = "ana@example.com", "lena@example.com"


async def _remove(people_context: PeopleContext, who: SignedIn, email: str) -> str:
    actor = who.actor("r")
    async with people_context.database.transaction(actor.tenant) as session:
        there = {each.email: each for each in await members.list_members(session, actor)}
        return await members.remove_member(session, actor, people_context.clock, there[email].membership_id)


async def _by_link(
    people_context: PeopleContext, organization: SignedIn, holder: SignedIn, *, back: bool
) -> bool:
    """What the link of a warning does that was mailed to this member."""
    assert organization.here is not None
    actor = Actor.stop_link(organization.here.organization_id, sandbox=False, request_id="r")
    async with people_context.database.transaction(actor.tenant) as session:
        if back:
            return await restore_owner(session, actor, people_context.clock, holder.person_id)
        return await keep_member(
            session, actor, people_context.clock, holder.person_id, holder=holder.person_id
        )


async def test_an_owner_of_yesterday_votes_nobody_out(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    ana = await joined(people_context, maria, ANA, "owner")
    clock.advance(COUNTS_AFTER)
    lena = await joined(people_context, ana, LENA, "owner")
    assert await _remove(people_context, ana, "maria@example.com") == "asked"
    young = await refused("invalid_state", _remove(people_context, lena, "maria@example.com"))
    assert young.details == {"possible_from": clock.now() + COUNTS_AFTER}
    assert len(await all_members(people_context, maria)) == 3, "the waiting day isn't void"
    clock.advance(COUNTS_AFTER - timedelta(seconds=1))
    await refused("invalid_state", _remove(people_context, lena, "maria@example.com"))
    clock.advance(timedelta(seconds=1))
    assert await _remove(people_context, lena, "maria@example.com") == "done"


async def test_a_new_role_begins_the_week_anew(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    ana = await joined(people_context, maria, ANA, "admin")
    clock.advance(COUNTS_AFTER)
    actor = maria.actor("r")
    async with people_context.database.transaction(actor.tenant) as session:
        there = (await all_members(people_context, maria))[ANA]
        await members.change_role(session, actor, clock, there.membership_id, "owner")
    assert ana.here is not None
    owner = Actor.session(
        ana.person_id,
        ana.here.organization_id,
        "owner",
        sandbox=False,
        request_id="r",
        terms=ana.here.terms,
    )
    async with people_context.database.transaction(owner.tenant) as session:
        marias = (await all_members(people_context, maria))["maria@example.com"].membership_id
        await refused("invalid_state", members.remove_member(session, owner, clock, marias))


async def test_the_owner_of_longest_counts_from_the_first_day(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    clock.advance(timedelta(minutes=1))
    await joined(people_context, maria, ANA, "owner")
    assert await _remove(people_context, maria, ANA) == "asked"
    clock.advance(OWNER_WAITS)
    assert await _remove(people_context, maria, ANA) == "done"


async def test_an_owner_who_must_go_stays_once(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    clock.advance(timedelta(minutes=1))
    ana = await joined(people_context, maria, ANA, "owner")
    assert await _remove(people_context, maria, ANA) == "asked"
    assert await _by_link(people_context, maria, ana, back=False)
    assert not await _by_link(people_context, maria, ana, back=False), "nothing waits"
    assert await _remove(people_context, maria, ANA) == "asked"
    await refused("invalid_state", _by_link(people_context, maria, ana, back=False))
    own = ana.actor("r")
    async with people_context.database.transaction(own.tenant) as session:
        await refused("invalid_state", keep_member(session, own, clock, ana.person_id))
    clock.advance(OWNER_WAITS)
    assert await _remove(people_context, maria, ANA) == "done"
    await refused("invalid_state", _by_link(people_context, maria, ana, back=True))
    assert ANA not in await all_members(people_context, maria)


@pytest.mark.parametrize("how", ["removed", "demoted"])
async def test_a_removed_owner_returns_by_the_own_link(
    how: str,
    people_context: PeopleContext,
    maria: SignedIn,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    clock.advance(timedelta(minutes=1))
    ana = await joined(people_context, maria, ANA, "owner")
    actor = maria.actor("r")

    async def do() -> str:
        if how == "removed":
            return await _remove(people_context, maria, ANA)
        anas = (await all_members(people_context, maria))[ANA].membership_id
        async with people_context.database.transaction(actor.tenant) as session:
            return await members.change_role(session, actor, clock, anas, "viewer")

    assert await do() == "asked"
    clock.advance(OWNER_WAITS)
    assert await do() == "done"
    clock.advance(RESTORED_FOR)
    assert await _by_link(people_context, maria, ana, back=True)
    assert (await all_members(people_context, maria))[ANA].role == "owner"
    assert not await _by_link(people_context, maria, ana, back=True)
    last = owner_connection.execute("SELECT action, actor_kind FROM audit_log ORDER BY id DESC LIMIT 1")
    assert last.fetchone() == ("member.return", "system")


async def test_only_an_owner_who_counts_decides_about_anothers_address(
    people_context: PeopleContext,
    maria: SignedIn,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    clock.advance(timedelta(minutes=1))
    ana = await joined(people_context, maria, ANA, "owner")
    owner_connection.execute(
        "UPDATE people SET email = 'new@example.com', disputed_address = %s, disputed_at = %s WHERE id = %s",
        (ANA, clock.now(), ana.person_id),
    )
    owner_connection.execute(
        "UPDATE people SET disputed_address = 'former@example.com', disputed_at = %s WHERE id = %s",
        (clock.now(), maria.person_id),
    )
    there = await all_members(people_context, maria)
    anas, marias = there["new@example.com"].membership_id, there["maria@example.com"].membership_id
    for who, whose, choice, code in (
        (ana, marias, "former", "invalid_state"),  # she is an owner since a minute
        (maria, marias, "former", "invalid_state"),  # her own
        (maria, anas, "mine", "validation_error"),
    ):
        await refused(code, settle_for_member(people_context, who.actor("r"), whose, choice, VISIT))
    settled = await settle_for_member(people_context, maria.actor("r"), anas, "former", VISIT)
    assert settled.address == ANA
    assert ANA in await all_members(people_context, maria)
    last = owner_connection.execute(
        "SELECT action, actor_id FROM audit_log ORDER BY id DESC LIMIT 1"
    ).fetchone()
    assert last == ("member.settle_address", maria.person_id)
