"""Two things at once: one of them is done, or both; nothing fails, and no code, link or owner counts twice."""

from asyncio import gather
from collections.abc import Awaitable
from datetime import timedelta

import psycopg
import pyotp

from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.people import credentials, members, sign_in, sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.owner_removal import COUNTS_AFTER, OWNER_WAITS
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_up import NewPerson
from hearthpay.security.key_ring import KeyRing
from tests.people.test_accounts import OTHER_PASSWORD, refused
from tests.people.test_members import all_members, invited, joined
from tests.people.visitors import HERE, MARIA, PASSWORD, VISIT, Newcomers, events_of, link_in, mails

NEW = NewPerson("Ana Diaz", PASSWORD, "es")


async def outcomes(*deeds: Awaitable[object]) -> list[str]:
    """What came of deeds that were begun at once: done, or the code of the refusal."""

    async def outcome(deed: Awaitable[object]) -> str:
        try:
            await deed
        except Refusal as error:
            return error.code
        return "done"

    return sorted(await gather(*(outcome(deed) for deed in deeds)))


async def test_of_two_at_once_with_one_address_one_gets_it(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    for _ in range(2):
        await sign_up.ask_to_sign_up(people_context, "new@example.com", "en", HERE, VISIT)
    links = [link_in(mail) for mail in mails(owner_connection, ring)[-2:]]
    made = (sign_up.finish_sign_up(people_context, link, NEW, "Diaz", VISIT) for link in links)
    assert await outcomes(*made) == ["done", "gone"]
    assert owner_connection.execute("SELECT count(*) FROM organizations").fetchone() == (2,)

    other = await Newcomers(people_context, owner_connection, ring).make("other@example.com", "Others")
    for who in (maria, other):
        await credentials.ask_for_new_email(people_context, who, "wanted@example.com", HERE, VISIT)
    links = [link_in(mail) for mail in mails(owner_connection, ring)[-2:]]
    moved = (
        credentials.confirm_new_email(people_context, who, link, VISIT)
        for who, link in zip((maria, other), links, strict=True)
    )
    assert await outcomes(*moved) == ["done", "gone"]


async def test_what_is_sent_twice_at_once_is_done_twice_or_refused_and_never_fails(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    changed = (credentials.change_password(people_context, maria, OTHER_PASSWORD, VISIT) for _ in range(3))
    assert await outcomes(*changed) == ["done"] * 3
    begun = (credentials.set_up_second_factor(people_context, maria) for _ in range(3))
    assert await outcomes(*begun) == ["done"] * 3
    for _ in range(2):
        await credentials.ask_for_reset(people_context, MARIA, HERE, VISIT)
    links = [link_in(mail) for mail in mails(owner_connection, ring)[-2:]]
    reset = (credentials.reset_password(people_context, link, OTHER_PASSWORD, VISIT) for link in links)
    assert await outcomes(*reset) == ["done", "gone"]
    in_force = "SELECT kind, count(*) FROM credentials WHERE ended_at IS NULL GROUP BY kind ORDER BY kind"
    assert owner_connection.execute(in_force).fetchall() == [("password", 1), ("totp", 1)]


async def test_a_code_opens_once_also_for_two_at_once(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    codes = await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    clock.advance(timedelta(seconds=30))
    for code in (app.at(clock.now()), codes[0]):
        halves = [
            (await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)).token.text for _ in range(2)
        ]
        entered = (
            sign_in.sign_in_with_code(people_context, needs_second_factor, code, VISIT)
            for needs_second_factor in halves
        )
        assert await outcomes(*entered) == ["authentication_required", "done"]


async def test_a_code_is_taken_a_step_off_and_no_more(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    clock.advance(timedelta(hours=1))
    needs_second_factor = (await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)).token.text
    for steps in (-2, 2):
        code = app.at(clock.now() + timedelta(seconds=30 * steps))
        await refused(
            "authentication_required",
            sign_in.sign_in_with_code(people_context, needs_second_factor, code, VISIT),
        )
    ahead = app.at(clock.now() + timedelta(seconds=30))
    await sign_in.sign_in_with_code(people_context, needs_second_factor, ahead, VISIT)
    needs_second_factor = (await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)).token.text
    older = app.at(clock.now())
    await refused(
        "authentication_required",
        sign_in.sign_in_with_code(people_context, needs_second_factor, older, VISIT),
    )


async def test_of_two_owners_who_leave_at_once_one_stays(
    people_context: PeopleContext, maria: SignedIn
) -> None:
    ana = await joined(people_context, maria, "ana@example.com", "owner")

    async def leave(who: SignedIn) -> None:
        actor = who.actor("r")
        async with people_context.database.transaction(actor.tenant) as session:
            await members.leave(session, actor, people_context.clock)

    assert await outcomes(leave(maria), leave(ana)) == ["done", "invalid_state"]


async def test_of_two_owners_who_remove_each_other_one_stays(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    ana = await joined(people_context, maria, "ana@example.com", "owner")
    clock.advance(COUNTS_AFTER)
    there = await all_members(people_context, maria)

    async def remove(who: SignedIn, whom: SignedIn) -> None:
        actor = who.actor("r")
        async with people_context.database.transaction(actor.tenant) as session:
            await members.remove_member(session, actor, people_context.clock, there[whom.email].membership_id)

    await remove(maria, ana)
    await remove(ana, maria)
    clock.advance(OWNER_WAITS)
    assert await outcomes(remove(maria, ana), remove(ana, maria)) == ["done", "invalid_state"]


async def test_an_invitation_that_is_accepted_twice_at_once_makes_one_member(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    token = await invited(people_context, maria, "new@example.com", "viewer")
    joining = (sign_up.join_as_new_person(people_context, token, NEW, VISIT) for _ in range(2))
    assert await outcomes(*joining) == ["done", "gone"]
    other = await Newcomers(people_context, owner_connection, ring).make("other@example.com", "Others")
    token = await invited(people_context, maria, "other@example.com", "viewer")
    joining = (sign_up.join_signed_in(people_context, other, token, VISIT) for _ in range(2))
    assert await outcomes(*joining) == ["done", "gone"]


async def test_a_second_factor_that_is_not_there_is_removed_without_a_warning(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    """Nor is one warned of twice: a warning of nothing has a link, too."""
    before = len(mails(owner_connection, ring))
    await credentials.set_up_second_factor(people_context, maria)  # and never confirmed
    await credentials.do_without_second_factor(people_context, maria, VISIT)
    assert len(mails(owner_connection, ring)) == before
    assert "second_factor.remove" not in events_of(owner_connection, maria.person_id)
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    removals = (credentials.do_without_second_factor(people_context, maria, VISIT) for _ in range(4))
    assert await outcomes(*removals) == ["done"] * 4
    assert len(mails(owner_connection, ring)) == before + 2, "one that it is on, one that it is off"
    assert events_of(owner_connection, maria.person_id).count("second_factor.remove") == 1
