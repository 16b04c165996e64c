"""The feed of a household's calendar: by its secret link alone, until that is renewed or revoked."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from icalendar import Calendar
from structlog.testing import capture_logs

from hearthpay.access.actor import Actor
from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties.feed import make_link, revoke_link
from hearthpay.duties.service import mark_duty
from hearthpay.employers.models import Employer
from hearthpay.http.attempts import GUESSED_LINKS
from hearthpay.security.portal_tokens import generate_token
from hearthpay.todos.feed_routes import READINGS_PER_DAY
from tests.http.api import BASE_URL, MARIA, ROSA, Account, data, refusal
from tests.worlds.households import add_employee

Do = Callable[..., Awaitable[Any]]
METRICS_TOKEN = "a-token-for-the-metrics-of-the-tests"


@pytest.fixture
def app(database: Database, clock: FixedClock) -> FastAPI:
    return create_app(database, clock, AppSettings(metrics_token=METRICS_TOKEN))


@pytest.fixture
def do(owner_database: Database, clock: FixedClock) -> Do:
    """Does something for a household, as the operator."""

    async def done(household: dict[str, Any], deed: Callable[..., Awaitable[Any]], **what: Any) -> Any:
        async with owner_database.transaction(None) as session:
            employer = await session.get_one(Employer, UUID(household["id"]))
            actor = Actor.operator(
                employer.organization_id, sandbox=employer.sandbox, request_id="req_calendar"
            )
            return await deed(session, actor, clock, employer, **what)

    return done


async def link(do: Do, household: dict[str, Any]) -> str:
    return f"/calendar/{(await do(household, make_link)).text}.ics"


def events(response: httpx.Response) -> dict[str, tuple[date, str]]:
    """What the library reads of a feed, strictly: by UID, the day and the line."""
    assert response.status_code == 200, response.text
    calendar = Calendar.from_ical(response.content)
    for component in calendar.walk():
        assert component.errors == [], component
    read = {str(event["UID"]): (event.start, str(event["SUMMARY"])) for event in calendar.events}
    assert len(read) == len(calendar.events)
    return read


def closed(response: httpx.Response) -> bool:
    kept = ("content-type", "content-length", "cache-control")
    return (response.status_code, response.text, *(response.headers.get(name) for name in kept)) == (
        404,
        "There is no such calendar.\n",
        "text/plain; charset=utf-8",
        "27",
        "no-store",
    )


async def test_the_feed_says_what_the_api_says(
    account: Account, household: dict[str, Any], do: Do, client: httpx.AsyncClient
) -> None:
    await add_employee(account.live, household["id"])
    response = await client.get(await link(do, household))
    assert response.headers["content-type"] == "text/calendar; charset=utf-8"
    assert response.headers["cache-control"] == "private, no-cache"
    days = {"from": "2026-05-21", "to": "2027-12-25"}
    told = data(await account.live.get("/tax-calendar", **days))["items"]
    lines = []
    for item in told:
        place = "" if item["jurisdiction"] == "US" else f"{item['jurisdiction']}: "
        whose = "" if item["employee_name"] is None else f" ({item['employee_name']})"
        lines.append((item["due_date"], f"{place}{item['what']}", whose))
    entries = sorted((str(day), line) for day, line in events(response).values())
    assert len(entries) == len(lines)
    for (day, line), (due, what, whose) in zip(entries, sorted(lines), strict=True):
        assert (day, line.startswith(what), line.endswith(whose)) == (due, True, True)


async def test_a_date_that_changes_moves_its_entry(
    account: Account, household: dict[str, Any], do: Do, client: httpx.AsyncClient
) -> None:
    rosa = await add_employee(account.live, household["id"], start_date="2026-11-02")
    address = await link(do, household)
    before = events(await client.get(address))
    changed = await client.patch(
        f"/api/v1/employees/{rosa}", json={"start_date": "2026-11-09"}, headers=account.live.headers()
    )
    data(changed)
    after = events(await client.get(address))
    assert before.keys() == after.keys()
    moved = {(before[uid][0], after[uid][0]) for uid in before if before[uid] != after[uid]}
    assert moved == {
        (date(2026, 11, 2), date(2026, 11, 9)),
        (date(2026, 11, 5), date(2026, 11, 13)),
        (date(2026, 11, 22), date(2026, 11, 29)),
    }


async def test_nothing_is_sent_twice(
    account: Account, household: dict[str, Any], do: Do, client: httpx.AsyncClient, clock: FixedClock
) -> None:
    await add_employee(account.live, household["id"])
    address = await link(do, household)
    first = await client.get(address)
    clock.advance(timedelta(hours=3))
    again = await client.get(address, headers={"If-None-Match": f'"other", W/{first.headers["etag"]}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert again.headers["cache-control"] == "private, no-cache"
    head = await client.head(address)
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", first.headers["etag"])
    await do(household, mark_duty, key="CA/wages-quarterly/2026-Q3", done_on=date(2026, 11, 1))
    marked = await client.get(address, headers={"If-None-Match": first.headers["etag"]})
    assert [line for _, line in events(marked).values() if line.startswith("Done: ")] == [
        "Done: CA: File the quarterly payroll tax return and pay: July–September 2026"
    ]


async def test_a_link_that_is_renewed_or_revoked_dies_at_once(
    account: Account,
    household: dict[str, Any],
    do: Do,
    client: httpx.AsyncClient,
    owner_connection: psycopg.Connection,
) -> None:
    older = await link(do, household)
    tag = (await client.get(older)).headers["etag"]
    newer = await link(do, household)
    assert closed(await client.get(older, headers={"If-None-Match": tag}))
    events(await client.get(newer))
    assert await do(household, revoke_link)
    assert closed(await client.get(newer, headers={"If-None-Match": tag}))
    assert not await do(household, revoke_link)
    actions = owner_connection.execute(
        "SELECT action FROM audit_log WHERE action LIKE 'calendar_link.%' ORDER BY id"
    ).fetchall()
    assert [action for (action,) in actions] == [*["calendar_link.create"] * 2, "calendar_link.revoke"]


async def test_of_links_made_at_once_one_is_in_force(
    household: dict[str, Any], do: Do, client: httpx.AsyncClient
) -> None:
    addresses = await asyncio.gather(*(link(do, household) for _ in range(4)))
    statuses = [(await client.get(address)).status_code for address in addresses]
    assert sorted(statuses) == [200, 404, 404, 404]


async def test_a_link_opens_its_own_household_alone(
    account: Account, household: dict[str, Any], do: Do, client: httpx.AsyncClient
) -> None:
    sandbox = data(await account.test.post("/employers", MARIA), 201)
    data(
        await account.test.post("/employees", ROSA | {"first_name": "Ana", "employer_id": sandbox["id"]}), 201
    )
    other = data(await account.live.post("/employers", MARIA), 201)
    await add_employee(account.live, other["id"], first_name="Eva")
    await add_employee(account.live, household["id"])
    for whose, name in ((household, "Rosa"), (other, "Eva"), (sandbox, "Ana")):
        text = (await client.get(await link(do, whose))).text
        assert [each for each in ("Rosa", "Eva", "Ana") if each in text] == [name]
    address = await link(do, sandbox)
    deleted = await client.delete(f"/api/v1/employers/{sandbox['id']}", headers=account.test.headers())
    data(deleted)
    assert closed(await client.get(address))


async def test_a_guess_learns_nothing(household: dict[str, Any], do: Do, client: httpx.AsyncClient) -> None:
    token = (await link(do, household)).removeprefix("/calendar/").removesuffix(".ics")
    other = "0" if token[-1] != "0" else "1"
    guesses = ["x", token[:-1], f"{token}0", f"{token[:-1]}{other}", "%00", "é" * 43, f"{token}%0A", "٣" * 43]
    for guess in guesses:
        assert closed(await client.get(f"/calendar/{guess}.ics")), guess
    for address in ("/calendar/", f"/calendar/{token}", f"/calendar/{token}.ics/x"):
        refusal(await client.get(address), 404, "not_found")
    refusal(await client.post(f"/calendar/{token}.ics"), 405, "method_not_allowed")
    key = {"Authorization": f"Bearer {token}"}
    refusal(await client.get("/api/v1/tax-calendar", headers=key), 401, "authentication_required")


async def test_guessing_is_slowed_down_and_a_link_in_force_is_not(
    household: dict[str, Any], do: Do, client: httpx.AsyncClient, clock: FixedClock
) -> None:
    address = await link(do, household)
    events(await client.get(address))
    statuses = [(await client.get("/calendar/guess.ics")).status_code for _ in range(GUESSED_LINKS + 2)]
    assert statuses[:GUESSED_LINKS] == [404] * GUESSED_LINKS
    refused = await client.get("/calendar/guess.ics")
    refusal(refused, 429, "rate_limited")
    assert int(refused.headers["retry-after"]) >= 1
    events(await client.get(address))
    clock.advance(timedelta(minutes=5))
    assert closed(await client.get("/calendar/guess.ics"))


async def test_guesses_of_whole_tokens_are_slowed_down_each_network_by_itself(
    app: FastAPI, household: dict[str, Any], do: Do, client: httpx.AsyncClient, clock: FixedClock
) -> None:
    """Each guess another token that could be one: what is refused is counted, and who else reads is not slowed down."""
    address = await link(do, household)

    async def guess(network: int) -> int:
        transport = httpx.ASGITransport(app, client=(f"203.0.113.{network}", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as stranger:
            return (await stranger.get(f"/calendar/{generate_token().text}.ics")).status_code

    guesses = [await guess(1) for _ in range(GUESSED_LINKS + 10)]
    assert guesses == [404] * GUESSED_LINKS + [429] * 10
    assert await guess(2) == 404, "another network has its own count"
    events(await client.get(address))
    clock.advance(timedelta(minutes=1))
    assert await guess(1) == 404


async def test_a_link_is_read_so_often_a_day(
    household: dict[str, Any],
    do: Do,
    client: httpx.AsyncClient,
    app: FastAPI,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    address = await link(do, household)
    row = owner_connection.execute("SELECT id FROM calendar_links").fetchone()
    assert row is not None
    for _ in range(READINGS_PER_DAY - 1):
        await app.state.runtime.rate_limits.spend(row[0], READINGS_PER_DAY)
    events(await client.get(address))
    refusal(await client.get(address), 429, "rate_limited")
    clock.advance(timedelta(days=1))
    events(await client.get(address))


async def test_the_secret_is_nowhere_but_in_the_link(
    household: dict[str, Any],
    do: Do,
    client: httpx.AsyncClient,
    owner_connection: psycopg.Connection,
) -> None:
    with capture_logs() as lines:
        address = await link(do, household)
        token = address.removeprefix("/calendar/").removesuffix(".ics")
        await client.get(address)
        await client.get(f"/calendar/{token[:-1]}.ics")
        await client.post(address)
    assert [line["route"] for line in lines if line["event"] == "request"] == ["/calendar/{token}.ics"] * 3
    metrics = await client.get("/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
    assert 'route="/calendar/{token}.ics"' in metrics.text
    rows = owner_connection.execute(
        "SELECT string_agg(to_jsonb(a)::text, '') FROM audit_log a "
        "UNION ALL SELECT string_agg(to_jsonb(l)::text, '') FROM calendar_links l"
    ).fetchall()
    for told in (str(lines), metrics.text, str(rows)):
        assert token[:-1] not in told
    assert (await client.get(f"{BASE_URL}{address}")).headers["referrer-policy"] == "no-referrer"
