"""What one network, one person and one program may take of the installation; and refusals in OAuth's own shape."""

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.oauth import clients
from hearthpay.oauth.authorization_requests import MOST_AGENTS
from tests.oauth.dance import Dance

FLOOD = (
    "INSERT INTO agent_clients (id, client_id, kind, name, redirect_uris, address_hash, created_at, expires_at) "
    "SELECT new_id(), 'flood ' || n, 'registered', 'Flood', '{https://x.example/}', %s, "
    "%s + n * interval '1 second', %s + interval '1 day' FROM generate_series(1, %s) AS n"
)


async def test_where_all_places_are_taken_the_largest_network_gives_one_up(
    dance: Dance, clock: FixedClock, owner_connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "IN_ALL", 10)
    now = clock.now()
    owner_connection.execute(FLOOD, (b"\x01" * 32, now, now, 8))
    owner_connection.execute(FLOOD.replace("flood", "lone"), (b"\x02" * 32, now, now, 1))
    for number in range(3):
        told = await dance.register(client_name=f"Newcomer {number}")
        assert told.status_code == 201, told.text
    left = {row[0] for row in owner_connection.execute("SELECT client_id FROM agent_clients").fetchall()}
    assert dance.client_id in left, "the first program of a network of one"
    assert "lone 1" in left
    assert {each for each in left if each.startswith("flood")} == {f"flood {n}" for n in range(4, 9)}
    assert len(left) == 10
    # Whoever was let in takes no place away, and gives none up.
    await dance.code()
    owner_connection.execute("UPDATE agent_clients SET address_hash = %s", (b"\x01" * 32,))
    for number in range(10):
        owner_connection.execute("UPDATE agent_clients SET created_at = created_at - interval '2 hours'")
        assert (await dance.register(client_name=f"Later {number}")).status_code == 201
    kept = owner_connection.execute("SELECT 1 FROM agent_clients WHERE client_id = %s", (dance.client_id,))
    assert kept.fetchone() is not None


async def test_the_agents_of_a_person_have_one_budget_of_requests(
    dance: Dance, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute("""UPDATE organizations SET lifted_limits = '{"requests_per_day": 5}'""")
    one, other = [(await dance.tokens())["access_token"] for _ in range(2)]
    for number in range(5):
        told = await dance.call((one, other)[number % 2])
        assert told.json()["result"]["isError"] is False, told.text
    for token in (one, other):
        refused = (await dance.call(token)).text
        assert "The agents of this person have made the 5 requests" in refused


async def test_a_person_lets_in_no_more_agents_than_can_be_watched(
    dance: Dance, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    await dance.code()
    owner_connection.execute(
        "INSERT INTO agent_grants (id, organization_id, employer_id, sandbox, person_id, client_id, client_name, "
        "returns_to, tools, demands_preview, resource, created_at, expires_at) SELECT new_id(), organization_id, "
        "employer_id, sandbox, person_id, client_id, client_name, returns_to, tools, demands_preview, resource, "
        "created_at, expires_at FROM agent_grants, generate_series(2, %s)",
        (MOST_AGENTS,),
    )
    refused = await dance.consent(await dance.ask())
    assert refused.status_code == 422
    assert "You&#39;ve connected 20 apps here" in refused.text
    owner_connection.execute(
        "UPDATE agent_grants SET ended_at = %s, ended_because = 'disconnected' "
        "WHERE id = (SELECT id FROM agent_grants LIMIT 1)",
        (clock.now(),),
    )
    assert (await dance.consent(await dance.ask())).status_code == 303


async def test_whatever_goes_wrong_is_told_in_the_shape_of_oauth(dance: Dance) -> None:
    long = "x" * 100_000
    for path in ("/oauth/token", "/oauth/register", "/oauth/revoke"):
        for told in (
            await dance.program.get(path, headers={"Accept": "text/html"}),
            await dance.program.post(path, content=b"\xff", headers={"Content-Type": "text/plain"}),
            await dance.program.post(path, content=long, headers={"Content-Type": "application/json"}),
            await dance.program.post(path, data={"client_id": long}),
            await dance.program.post(path, headers=[("Authorization", "a"), ("Authorization", "b")]),
        ):
            assert 400 <= told.status_code < 500, (path, told.text)
            body = told.json()
            assert body.keys() == {"error", "error_description"}, (path, told.request.method, told.text)
            assert body["error"].startswith("invalid_")
            assert body["error_description"]
            assert told.headers["cache-control"] == "no-store"
