"""Asking for a new link: what an ended link says, what the household gets, and how often."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import psycopg

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, Tenant
from hearthpay.todos.records import find_recorded_to_dos
from tests.http.api import MARIA, ROSA, Account, data
from tests.mail.servers import Postbox
from tests.web.test_portal import fill_in, link
from tests.worlds.inviting import invite


async def to_dos(database: Database, account: Account, clock: FixedClock, *households: str) -> list[str]:
    """The kinds of what these households have to do about links."""
    async with database.transaction(Tenant(account.organization_id, False)) as session:
        found = await find_recorded_to_dos(
            session, [UUID(each) for each in households], clock.now(), clock.today()
        )
    return [each.kind for each in found if each.kind in ("new_link_asked", "tax_info_asked")]


def requests(connection: psycopg.Connection) -> list[tuple[Any, ...]]:
    """Who asked, as the audit log has it."""
    return connection.execute(
        "SELECT actor_kind, actor_id, employer_id, details->>'type' FROM audit_log "
        "WHERE action = 'invitation.request' ORDER BY id"
    ).fetchall()


async def test_a_request_by_an_ended_link_is_a_to_do_until_a_link_is_sent(
    account: Account,
    rosa: dict[str, Any],
    client: httpx.AsyncClient,
    clock: FixedClock,
    database: Database,
    postbox: Postbox,
    app: Any,
    owner_connection: psycopg.Connection,
) -> None:
    url, household = await link(account, rosa), rosa["employer_id"]
    clock.advance(timedelta(days=8))
    ended = await client.get(url)
    assert ended.status_code == 410
    assert f'action="{httpx.URL(url).path}/new-link"' in ended.text
    assert await to_dos(database, account, clock, household) == []
    asked = await client.post(f"{url}/new-link")
    assert asked.status_code == 200
    assert "We asked for a new link" in asked.text
    assert await to_dos(database, account, clock, household) == ["new_link_asked"]
    assert requests(owner_connection) == [("employee", UUID(rosa["id"]), UUID(household), "tax_info")]
    await app.state.people_context.postman.settle()
    (mail,) = postbox.mails
    assert mail["Subject"] == "Rosa Diaz asks for a new link"
    assert mail["To"] == "maria@example.com"
    assert url.rpartition("/")[2] not in str(mail)
    clock.advance(timedelta(hours=1))
    await link(account, rosa)
    assert await to_dos(database, account, clock, household) == ["tax_info_asked"]


async def test_asking_again_within_a_day_changes_nothing(
    account: Account,
    rosa: dict[str, Any],
    client: httpx.AsyncClient,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    url = await link(account, rosa)
    await fill_in(client, url)
    pages = {(await client.post(f"{url}/new-link")).text for _ in range(3)}
    assert len(pages) == 1  # whether it was the first says nothing
    assert len(requests(owner_connection)) == 1
    clock.advance(timedelta(days=1))
    await client.post(f"{url}/new-link")
    assert len(requests(owner_connection)) == 2


async def test_requests_of_one_network_are_slowed_down(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient, owner_connection: psycopg.Connection
) -> None:
    url = await link(account, rosa)
    answers = [await client.post(f"{url}x/new-link") for _ in range(10)]
    assert {each.status_code for each in answers} == {404}
    slowed = await client.post(f"{url}/new-link")
    assert slowed.status_code == 429
    assert int(slowed.headers["Retry-After"]) > 0
    assert requests(owner_connection) == []


async def test_a_request_reveals_nothing_and_reaches_no_other_household(
    account: Account,
    rosa: dict[str, Any],
    client: httpx.AsyncClient,
    clock: FixedClock,
    database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    other = data(await account.live.post("/employers", {**MARIA, "last_name": "Kim"}), 201)
    data(
        await account.live.post("/employees", ROSA | {"employer_id": other["id"], "first_name": "Mina"}), 201
    )
    url = await link(account, rosa)
    clock.advance(timedelta(days=8))
    page = (await client.post(f"{url}/new-link")).text
    for private in ("Rosa", "Diaz", "Lopez", "Maria", "maria@example.com", "Kim", rosa["id"]):
        assert private not in page
    assert await to_dos(database, account, clock, other["id"]) == []
    assert await to_dos(database, account, clock, rosa["employer_id"]) == ["new_link_asked"]
    unknown = f"{url[:-1]}{'0' if url[-1] != '0' else '1'}"
    assert (await client.post(f"{unknown}/new-link")).status_code == 404
    foreign = await client.post(f"{url}/new-link", headers={"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403
    assert len(requests(owner_connection)) == 1


async def test_a_test_household_sends_no_mail_of_a_request(
    account: Account, client: httpx.AsyncClient, owner_connection: psycopg.Connection
) -> None:
    data(await account.test.post("/employers", MARIA), 201)
    employee = data(await account.test.post("/employees", ROSA), 201)
    url = data(await invite(account.test, employee))["portal_url"]
    assert (await client.post(f"{url}/new-link")).status_code == 200
    assert len(requests(owner_connection)) == 1
    count = "SELECT count(*) FROM mail_outbox WHERE kind LIKE '%link_requested'"
    assert owner_connection.execute(count).fetchone() == (0,)


async def test_number_entered_by_an_open_link_is_not_waited_for(
    account: Account,
    rosa: dict[str, Any],
    client: httpx.AsyncClient,
    clock: FixedClock,
    database: Database,
) -> None:
    url, household = await link(account, rosa), rosa["employer_id"]
    assert await to_dos(database, account, clock, household) == ["tax_info_asked"]
    assert (await client.post(url, data={"tax_number": "536-22-8145"})).status_code == 303
    assert await to_dos(database, account, clock, household) == []
