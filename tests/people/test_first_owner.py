"""Which organization the first owner gets, in whatever order the link and the command line are used."""

import psycopg
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.accounts import service as accounts
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.people.context import PeopleContext
from hearthpay.people.first_owner import become_first_owner, offer_first_owner, organization_to_join
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_up import NewPerson
from hearthpay.security.key_ring import KeyRing
from tests.people.visitors import MARIA, PASSWORD, VISIT, Newcomers, signed_in

NEW = NewPerson("Maria Lopez", PASSWORD, "en")


async def create(owner: Database, clock: FixedClock, name: str) -> None:
    """What `hearthpay keys create --organization` does first."""
    async with owner.transaction(None) as session:
        if await accounts.find_organization(session, name) is None:
            await accounts.create_organization(session, clock, name)


async def link(owner: Database, clock: FixedClock) -> str:
    async with owner.transaction(None) as session:
        token = await offer_first_owner(session, clock)
    assert token is not None
    return token.text


async def welcome(people_context: PeopleContext, token: str, organization: str) -> SignedIn:
    entered = await become_first_owner(people_context, token, MARIA, NEW, organization, VISIT)
    return await signed_in(people_context, entered.token.text)


def names(connection: psycopg.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM organizations ORDER BY name").fetchall()
    return [name for (name,) in rows]


async def test_everything_missing_is_named_at_once(
    people_context: PeopleContext, owner_database: Database, clock: FixedClock
) -> None:
    token = await link(owner_database, clock)
    nobody = NewPerson("", "", "en")
    with pytest.raises(Refusal) as one:
        await become_first_owner(people_context, token, "", nobody, "", VISIT)
    assert _fields(one.value) == ["email", "name", "password"]
    for name in ("Lopez family", "Diaz family"):
        await create(owner_database, clock, name)
    with pytest.raises(Refusal) as several:
        await become_first_owner(people_context, token, "", nobody, "", VISIT)
    assert _fields(several.value) == ["email", "organization", "name", "password"]


def _fields(refusal: Refusal) -> list[str]:
    assert isinstance(refusal.details, list)
    return [each.field for each in refusal.details]


@pytest.mark.parametrize("typed", ["Lopez family", " lopez FAMILY ", ""])
async def test_first_owner_joins_an_organization_created_after_the_link(
    people_context: PeopleContext,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    typed: str,
) -> None:
    token = await link(owner_database, clock)
    assert await organization_to_join(people_context, token) is None
    await create(owner_database, clock, "Lopez family")
    assert await organization_to_join(people_context, token) == "Lopez family"
    who = await welcome(people_context, token, typed)
    assert [each.organization for each in who.memberships] == ["Lopez family"]
    assert who.memberships[0].role == "owner"
    assert names(owner_connection) == ["Lopez family"]


async def test_an_account_without_a_name_gets_its_owners(
    people_context: PeopleContext,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    token = await link(owner_database, clock)
    who = await welcome(people_context, token, " ")
    assert [each.organization for each in who.memberships] == ["Maria Lopez"]
    assert names(owner_connection) == ["Maria Lopez"]


async def test_of_several_organizations_without_people_one_has_to_be_named(
    people_context: PeopleContext, owner_database: Database, clock: FixedClock
) -> None:
    token = await link(owner_database, clock)
    for name in ("Lopez family", "Perez family"):
        await create(owner_database, clock, name)
    with pytest.raises(Refusal) as refused:
        await welcome(people_context, token, " ")
    assert [each.field for each in refused.value.details] == ["organization"]  # type: ignore[union-attr]


async def test_key_for_the_name_of_the_first_owner_creates_no_second_organization(
    people_context: PeopleContext,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    await welcome(people_context, await link(owner_database, clock), "Lopez family")
    await create(owner_database, clock, "Lopez family")
    assert names(owner_connection) == ["Lopez family"]


async def test_first_owner_learns_that_another_organization_was_created(
    people_context: PeopleContext,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    token = await link(owner_database, clock)
    await create(owner_database, clock, "Lopez family")
    with pytest.raises(Refusal, match="another name") as refused:
        await welcome(people_context, token, "Perez family")
    assert refused.value.code == "validation_error"
    assert names(owner_connection) == ["Lopez family"]
    await welcome(people_context, token, "")
    assert names(owner_connection) == ["Lopez family"]


async def test_of_several_organizations_the_first_owner_joins_the_one_named(
    people_context: PeopleContext,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    for name in ("Lopez family", "Nannies of Oakland"):
        await create(owner_database, clock, name)
    token = await link(owner_database, clock)
    assert await organization_to_join(people_context, token) is None
    who = await welcome(people_context, token, "Lopez family")
    assert [each.organization for each in who.memberships] == ["Lopez family"]
    assert names(owner_connection) == ["Lopez family", "Nannies of Oakland"]


async def test_first_owner_never_joins_an_organization_of_other_people(
    people_context: PeopleContext,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    ring: KeyRing,
) -> None:
    token = await link(owner_database, clock)
    stranger = await Newcomers(people_context, owner_connection, ring).make(
        "stranger@example.com", "Lopez family"
    )
    assert await organization_to_join(people_context, token) is None
    who = await welcome(people_context, token, "Lopez family")
    assert who.memberships[0].organization_id != stranger.memberships[0].organization_id
    assert names(owner_connection) == ["Lopez family", "Lopez family"]


async def test_two_families_keep_the_name_that_they_typed(
    people_context: PeopleContext,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
) -> None:
    newcomers = Newcomers(people_context, owner_connection, ring)
    for email in (MARIA, "other@example.com"):
        who = await newcomers.make(email, "Lopez family")
        assert [each.organization for each in who.memberships] == ["Lopez family"]
    async with owner_database.transaction(None) as session:
        both = await accounts.find_organizations(session, "Lopez family")
        with pytest.raises(Refusal) as refused:
            await accounts.find_organization(session, "Lopez family")
        assert all(str(each.id) in refused.value.message for each in both)
        for each in both:
            assert await accounts.find_organization(session, str(each.id)) is each


async def test_only_an_open_link_of_the_first_owner_lists_organizations(
    people_context: PeopleContext,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    await create(owner_database, clock, "Lopez family")
    earlier, token = await link(owner_database, clock), await link(owner_database, clock)
    with pytest.raises(Refusal) as refused:
        await organization_to_join(people_context, earlier)
    assert refused.value.code == "gone"
    await welcome(people_context, token, "")
    await create(owner_database, clock, "Perez family")
    for used in (earlier, token, "x" * 43):
        with pytest.raises(Refusal):
            await organization_to_join(people_context, used)
        with pytest.raises(Refusal):
            await become_first_owner(people_context, used, "other@example.com", NEW, "", VISIT)
