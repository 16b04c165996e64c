"""API keys that an owner makes: of the mode she looks at, within her plan, for households of hers; revoked for good."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import SCOPES
from hearthpay.accounts.own_keys import (
    NewKey,
    create_own_key,
    households_for_keys,
    list_own_keys,
    revoke_own_key,
)
from hearthpay.accounts.service import IssuedKey
from hearthpay.clock import FixedClock
from hearthpay.http.key_lookup import KeyLookup
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.security.api_keys import parse
from tests.database.household import add_household, add_organization
from tests.people.test_accounts import refused


async def made(people_context: PeopleContext, actor: Actor, new: NewKey) -> IssuedKey:
    async with people_context.database.transaction(actor.tenant) as session:
        return await create_own_key(session, actor, people_context.clock, new)


async def revoked(people_context: PeopleContext, actor: Actor, key_id: object) -> None:
    async with people_context.database.transaction(actor.tenant) as session:
        await revoke_own_key(session, actor, people_context.clock, key_id)  # type: ignore[arg-type]


@pytest.mark.parametrize("sandbox", [False, True])
async def test_a_key_is_of_the_mode_that_its_maker_looks_at(
    sandbox: bool,
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    actor = replace(maria, sandbox=sandbox).actor("r")
    household = add_household(owner_connection, actor.organization_id, sandbox=sandbox)
    other_mode = add_household(owner_connection, actor.organization_id, sandbox=not sandbox)
    strangers = add_household(owner_connection, add_organization(owner_connection, "Others"), sandbox=sandbox)
    async with people_context.database.transaction(actor.tenant) as session:
        assert [each.id for each in await households_for_keys(session, actor)] == [household.employer_id]
    for foreign in (other_mode.employer_id, strangers.employer_id, uuid4()):
        await refused("validation_error", made(people_context, actor, NewKey(("payroll",), foreign)))
    issued = await made(
        people_context, actor, NewKey(("ach", "payroll"), household.employer_id, confined=True)
    )
    assert issued.text.startswith("hp_test_" if sandbox else "hp_live_")
    key = parse(issued.text)
    assert key is not None
    found = await KeyLookup(people_context.database, people_context.clock).find(key)
    assert found is not None
    assert (found.scopes, found.confined) == ({"payroll", "ach"}, True)
    elsewhere = replace(maria, sandbox=not sandbox).actor("r")
    await refused("not_found", revoked(people_context, elsewhere, issued.id))
    await revoked(people_context, actor, issued.id)
    clock.advance(timedelta(seconds=6))
    await revoked(people_context, actor, issued.id)
    assert await KeyLookup(people_context.database, people_context.clock).find(key) is None
    rows = owner_connection.execute(
        "SELECT action, actor_id, sandbox FROM audit_log WHERE action LIKE 'key.%' ORDER BY id"
    ).fetchall()
    assert rows == [("key.create", maria.person_id, sandbox), ("key.revoke", maria.person_id, sandbox)]


async def test_what_cannot_be_is_refused_by_its_field(people_context: PeopleContext, maria: SignedIn) -> None:
    actor = maria.actor("r")
    now = people_context.clock.now()
    for field, new in (
        ("scopes", NewKey(())),
        ("scopes", NewKey(("payroll", "everything"))),
        ("employer_id", NewKey(("payroll",), confined=True)),
        ("expires_at", NewKey(("payroll",), expires_at=now)),
    ):
        problem = await refused("validation_error", made(people_context, actor, new))
        assert [each.field for each in problem.details] == [field]  # type: ignore[union-attr]
    await made(people_context, actor, NewKey(SCOPES, expires_at=now + timedelta(days=1)))


async def test_no_more_keys_than_the_plan_allows(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection
) -> None:
    actor = maria.actor("r")
    allowed = actor.terms.limits.keys
    assert allowed is not None
    issued = [await made(people_context, actor, NewKey(("payroll",))) for _ in range(allowed)]
    await refused("plan_limit_reached", made(people_context, actor, NewKey(("payroll",))))
    await revoked(people_context, actor, issued[0].id)
    await made(people_context, actor, NewKey(("payroll",)))
    async with people_context.database.transaction(actor.tenant) as session:
        assert len(await list_own_keys(session, actor)) == allowed + 1
