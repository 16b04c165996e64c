"""An agent is let in, works, and is sent away; and every way in which somebody could get more than was given."""

import asyncio
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.oauth.authorization_requests import OF_NETWORK, REQUESTS_PER_CLIENT
from hearthpay.people import members, sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_up import NewPerson
from hearthpay.security.key_ring import KeyRing
from tests.oauth.dance import RESOURCE, RETURNS, VERIFIER, Dance, answer_in, challenge_of
from tests.people.visitors import PASSWORD, VISIT, Newcomers
from tests.web.people_browser import HOME, OWN, Browser
from tests.web.test_pages import parsed


async def test_an_agent_is_let_in_works_and_is_sent_away(
    dance: Dance, owner_connection: psycopg.Connection
) -> None:
    page = await dance.ask()
    asked = await dance.browser.look(page)
    assert "Helper &lt;b&gt;9&lt;/b&gt; wants to act for you" in asked.text
    assert "agent.example.com" in asked.text
    assert "form-action 'self' https://agent.example.com;" in asked.headers["content-security-policy"]
    sent = await dance.consent(page, **{"scope_payroll:run": "on", "demands_preview": "on"})
    assert sent.status_code == 303, sent.text
    assert sent.headers["location"].startswith("https://agent.example.com/callback?kept=1&code=hpac_")
    told = answer_in(sent)
    assert (told["state"], told["iss"]) == ("its own", HOME)
    tokens = (await dance.exchange(told["code"])).json()
    assert tokens["scope"] == "payroll:read payroll:run"
    assert tokens["expires_in"] == 600
    called = await dance.call(tokens["access_token"])
    assert called.json()["result"]["isError"] is False, called.text
    refreshed = (await dance.refresh(tokens["refresh_token"])).json()
    assert (await dance.call(refreshed["access_token"])).status_code == 200
    listed = await dance.browser.look("/settings/agents")
    assert "Helper &lt;b&gt;9&lt;/b&gt;" in listed.text
    (grant_id,) = owner_connection.execute("SELECT id FROM agent_grants").fetchone() or ()
    shown = await dance.browser.look(f"/settings/agents/{grant_id}")
    assert "View payrolls, pay stubs, state accounts and the calendar; calculate and preview" in shown.text
    gone = await dance.browser.send(
        f"/settings/agents/{grant_id}/disconnect", page="/settings/agents/" + str(grant_id)
    )
    assert gone.status_code == 303
    refused = await dance.call(refreshed["access_token"])
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    assert (
        f'resource_metadata="{HOME}/.well-known/oauth-protected-resource/mcp"'
        in refused.headers["www-authenticate"]
    )
    assert (await dance.refresh(refreshed["refresh_token"])).json()["error"] == "invalid_grant"
    await dance.app.state.runtime.deferred_audit.settle()
    rows = owner_connection.execute(
        "SELECT action, actor_kind FROM audit_log WHERE action LIKE 'agent.%' ORDER BY id"
    ).fetchall()
    assert rows == [
        ("agent.connect", "user"),
        ("agent.call", "mcp"),
        ("agent.call", "mcp"),
        ("agent.disconnect", "user"),
    ]


async def test_the_metadata_lead_from_the_tools_to_the_token(dance: Dance) -> None:
    nobody = await dance.call("")
    assert nobody.status_code == 401
    resource = (await dance.program.get("/.well-known/oauth-protected-resource/mcp")).json()
    assert resource["resource"] == RESOURCE
    (issuer,) = resource["authorization_servers"]
    server = (await dance.program.get("/.well-known/oauth-authorization-server")).json()
    assert server["issuer"] == issuer == HOME
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["token_endpoint_auth_methods_supported"] == ["none"]


async def test_a_grant_reaches_its_household_with_its_tools_alone(
    dance: Dance, owner_connection: psycopg.Connection
) -> None:
    reading = await dance.tokens()
    assert reading["scope"] == "payroll:read"
    refused = (await dance.call(reading["access_token"], "run_payroll", employer_id="x")).json()["result"]
    assert refused["structuredContent"]["code"] == "scope_required"
    elsewhere = await dance.call(
        reading["access_token"], "get_state_filing_status", employer_id=str(dance.sandbox_id)
    )
    assert elsewhere.json()["result"]["structuredContent"]["code"] in (
        "household_forbidden",
        "key_mode_mismatch",
    )
    own = await dance.call(
        reading["access_token"], "get_state_filing_status", employer_id=str(dance.household_id)
    )
    assert own.json()["result"]["isError"] is False
    test = await dance.tokens(household=f"test:{dance.sandbox_id}")
    own = await dance.call(test["access_token"], "get_state_filing_status", employer_id=str(dance.sandbox_id))
    assert own.json()["result"]["isError"] is False
    over = await dance.call(
        test["access_token"], "get_state_filing_status", employer_id=str(dance.household_id)
    )
    assert over.json()["result"]["structuredContent"]["code"] in ("household_forbidden", "key_mode_mismatch")
    api = await dance.program.get(
        "/api/v1/payrolls", headers={"Authorization": f"Bearer {reading['access_token']}"}
    )
    assert api.status_code == 401, "the API takes keys, no tokens"


async def test_who_may_no_longer_change_anything_has_agents_that_cannot(
    dance: Dance, owner_connection: psycopg.Connection
) -> None:
    tokens = await dance.tokens("payroll:run")
    asked = {
        "employer_id": str(dance.household_id),
        "employee_id": str(dance.household_id),
        "pay_period_start": "2026-11-09",
        "pay_period_end": "2026-11-15",
        "pay_date": "2026-11-20",
        "pay_frequency": "weekly",
        "idempotency_key": "one",
    }
    owner_connection.execute("ALTER TABLE memberships DISABLE TRIGGER last_owner_stays")
    owner_connection.execute("UPDATE memberships SET role = 'viewer'")
    refused = (await dance.call(tokens["access_token"], "run_payroll", **asked)).json()["result"]
    assert refused["structuredContent"]["code"] == "scope_required"
    owner_connection.execute("UPDATE memberships SET ended_at = now()")
    assert (await dance.call(tokens["access_token"])).status_code == 401
    owner_connection.execute("ALTER TABLE memberships ENABLE TRIGGER last_owner_stays")


async def test_what_time_ends(dance: Dance, clock: FixedClock) -> None:
    page = await dance.ask()
    clock.advance(timedelta(minutes=31))
    await _prove(dance)
    assert (await dance.browser.look(page)).status_code == 410
    code = await dance.code()
    clock.advance(timedelta(seconds=61))
    assert (await dance.exchange(code)).json()["error"] == "invalid_grant"
    tokens = await dance.tokens(lasts="1")
    clock.advance(timedelta(minutes=11))
    assert (await dance.call(tokens["access_token"])).status_code == 401
    again = (await dance.refresh(tokens["refresh_token"])).json()
    assert (await dance.call(again["access_token"])).status_code == 200
    clock.advance(timedelta(days=1))
    assert (await dance.refresh(again["refresh_token"])).json()["error"] == "invalid_grant"


async def _prove(dance: Dance) -> None:
    await dance.browser.send("/sign-in/again", page="/sign-in/again", password=PASSWORD)


async def test_a_code_shown_twice_ends_what_it_gave(dance: Dance) -> None:
    code = await dance.code()
    tokens = (await dance.exchange(code)).json()
    assert (await dance.exchange(code)).json()["error"] == "invalid_grant"
    assert (await dance.call(tokens["access_token"])).status_code == 401


async def test_a_refresh_token_shown_twice_ends_thief_and_owner(dance: Dance) -> None:
    first = await dance.tokens()
    second = (await dance.refresh(first["refresh_token"])).json()
    thief = await dance.refresh(first["refresh_token"])
    assert thief.json()["error"] == "invalid_grant"
    assert (await dance.call(second["access_token"])).status_code == 401
    assert (await dance.refresh(second["refresh_token"])).json()["error"] == "invalid_grant"


async def test_of_many_at_once_one_exchanges(dance: Dance) -> None:
    code = await dance.code()
    answers = await asyncio.gather(*(dance.exchange(code) for _ in range(8)))
    assert [each.status_code for each in answers].count(200) == 1
    assert (await dance.exchange(code)).status_code == 400


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": "another-proof-of-somebody-who-did-not-ask-at-all"}, "invalid_grant"),
        ({"redirect_uri": "https://agent.example.com/elsewhere"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_grant"),
        ({"client_id": "another"}, "invalid_grant"),
        ({"client_id": None}, "invalid_client"),
        ({"resource": "https://other.example.com/mcp"}, "invalid_target"),
        ({"resource": "http://["}, "invalid_target"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"code": "hpac_short"}, "invalid_grant"),
        ({"code": "\x00"}, "invalid_request"),
    ],
)
async def test_a_code_is_worth_nothing_to_another(
    dance: Dance, changes: dict[str, str | None], error: str
) -> None:
    code = await dance.code()
    told = dict(changes)
    refused = await dance.exchange(told.pop("code", code) or "", **told)
    assert refused.status_code == 400, refused.text
    assert refused.json()["error"] == error


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"resource": "https://other.example.com/mcp"}, "invalid_target"),
        ({"scope": "payroll:read everything"}, "invalid_scope"),
        ({"scope": "openid offline_access"}, "invalid_scope"),
        ({"resource": "http://["}, "invalid_target"),
        ({"resource": "https://a]b"}, "invalid_target"),
        ({"state": "s" * 2001}, "invalid_request"),
        ({"state": "\x00"}, "invalid_request"),
        ({"state": "a\r\nb"}, "invalid_request"),
    ],
)
async def test_a_wrong_question_is_told_to_the_agent_by_whoever_likes_to(
    dance: Dance, changes: dict[str, str | None], error: str, owner_connection: psycopg.Connection
) -> None:
    shown = await dance.refused(**changes)
    assert shown.status_code == 400
    assert "location" not in shown.headers, "anyone could make himself a link of ours that leads anywhere"
    assert "refresh" not in shown.text.lower()
    [back] = [each for each in parsed(shown).iter("a") if each.get("rel") == "external noreferrer"]
    assert "agent.example.com" in "".join(back.itertext())
    told = dict(parse_qsl(urlsplit(back.get("href", "")).query))
    assert (told["error"], told["iss"], told["kept"]) == (error, HOME, "1")
    assert back.get("href", "").startswith("https://agent.example.com/callback?")
    assert owner_connection.execute("SELECT count(*) FROM agent_requests").fetchone() == (0,)


@pytest.mark.parametrize("scope", ["openid", "openid payroll:read", "payroll:read offline_access"])
async def test_a_program_on_the_same_machine_is_told_by_a_redirect(
    dance: Dance, scope: str, owner_connection: psycopg.Connection
) -> None:
    """As RFC 6749 has it, 4.1.2.1: it waits at its address, and nobody else could be led there."""
    for returns in ("http://127.0.0.1:5599/back", "http://127.0.0.1/back"):
        refused = await dance.refused(scope=scope, redirect_uri=returns)
        assert refused.status_code == 303, refused.text
        assert refused.headers["location"].startswith(f"{returns}?")
        answer = answer_in(refused)
        assert (answer["error"], answer["state"], answer["iss"]) == ("invalid_scope", "its own", HOME)
        assert answer["error_description"].startswith("scope may have payroll:read")
    assert owner_connection.execute("SELECT count(*) FROM agent_requests").fetchone() == (0,)


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "nobody"},
        {"redirect_uri": "https://evil.example.com/callback"},
        {"redirect_uri": "https://agent.example.com/callback"},
        {"redirect_uri": "http://127.0.0.1.evil.example.com/back"},
        {"redirect_uri": "http://user@127.0.0.1:9/back"},
        {"redirect_uri": "http://127.0.0.1:9/back#fragment"},
        {"redirect_uri": "http://127.0.0.1:9/back#" + "x" * 3000},
        {"redirect_uri": "http://127.0.0.1:9/back#\x00"},
        {"redirect_uri": None},
    ],
)
async def test_nothing_is_ever_sent_to_an_address_that_is_not_the_agents(
    dance: Dance, changes: dict[str, str | None]
) -> None:
    refused = await dance.refused(**changes)
    assert refused.status_code == 400
    assert "location" not in refused.headers


async def test_on_the_same_machine_any_port_will_do(dance: Dance) -> None:
    returns = "http://127.0.0.1:53682/back"
    page = await dance.ask(redirect_uri=returns)
    sent = await dance.consent(page)
    assert sent.headers["location"].startswith(returns + "?code=")
    code = answer_in(sent)["code"]
    assert (await dance.exchange(code, redirect_uri="http://127.0.0.1:1/back")).status_code == 400
    assert (await dance.exchange(code, redirect_uri=returns)).status_code == 200


@pytest.mark.parametrize(
    ("returns", "place"),
    [
        ("evil://claude.ai/cb", "evil: (a program on your computer)"),
        ("cursor://anysphere.cursor-deeplink/mcp/cb", "cursor: (a program on your computer)"),
        ("vscode://vscode.github-authentication/did-authenticate", "vscode: (a program on your computer)"),
        ("com.example.app:/cb", "com.example.app: (a program on your computer)"),
        ("http://[::1]/cb", "::1"),
        ("https://agent.example.com:8443/cb", "agent.example.com"),
    ],
)
async def test_a_person_is_told_where_the_answer_goes(dance: Dance, returns: str, place: str) -> None:
    registered = await dance.register(redirect_uris=[returns])
    assert registered.status_code == 201
    page = await dance.ask(client_id=registered.json()["client_id"], redirect_uri=returns)
    asked = await dance.browser.look(page)
    assert f"Your answer goes to {place}." in asked.text
    sent = await dance.consent(page)
    assert sent.headers["location"].startswith(f"{returns}?code=hpac_")
    assert f"· {place.partition(' ')[0]}<" in (await dance.browser.look("/settings/agents")).text


async def test_who_refuses_gives_nothing(dance: Dance, owner_connection: psycopg.Connection) -> None:
    page = await dance.ask()
    told = answer_in(await dance.consent(page, decision="no"))
    assert told["error"] == "access_denied"
    assert owner_connection.execute("SELECT count(*) FROM agent_grants").fetchone() == (0,)
    assert (await dance.browser.look(page)).status_code == 410


async def test_who_answers_too_long_after_proving_who_she_is_answers_again(
    dance: Dance, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    page = await dance.ask()
    clock.advance(timedelta(minutes=9))
    token = await dance.browser.token(page)
    clock.advance(timedelta(minutes=2))
    filled = {
        "form_token": token,
        "household": f"live:{dance.household_id}",
        "lasts": "90",
        "scope_payroll:run": "on",
        "decision": "yes",
    }
    late = await dance.browser.client.post(page, data=filled, headers=OWN)
    assert late.headers["location"] == f"/sign-in/again?next={page}"
    proved = await dance.browser.send("/sign-in/again", page="/sign-in/again", password=PASSWORD, next=page)
    assert (proved.status_code, proved.headers["location"]) == (303, page)
    assert owner_connection.execute("SELECT count(answered_at) FROM agent_requests").fetchone() == (0,)
    asked = await dance.browser.look(page)
    assert "You haven&#39;t answered yet" in asked.text
    ticked = {
        (each.get("name"), each.get("value"))
        for each in parsed(asked).iter("input")
        if "checked" in each.attrib
    }
    assert ticked == {
        ("household", f"live:{dance.household_id}"),
        ("lasts", "90"),
        ("scope_payroll:run", "on"),
    }
    assert "form-action 'self' https://agent.example.com;" in asked.headers["content-security-policy"]
    assert "You haven&#39;t answered yet" not in (await dance.browser.look(page)).text, "it is filled in once"
    assert "code" in answer_in(await dance.consent(page))


@pytest.mark.parametrize("decision", ["", "maybe", "YES"])
async def test_what_is_neither_yes_nor_no_is_no_answer(
    dance: Dance, decision: str, owner_connection: psycopg.Connection
) -> None:
    page = await dance.ask()
    unclear = await dance.consent(page, decision=decision)
    assert unclear.status_code == 422
    assert "Choose one of the two buttons." in unclear.text
    assert owner_connection.execute("SELECT count(answered_at) FROM agent_requests").fetchone() == (0,)
    assert (await dance.consent(page)).status_code == 303


@pytest.mark.parametrize(
    "form", [{"household": "live:nothing"}, {"lasts": "1000"}, {"household": "", "lasts": ""}]
)
async def test_a_form_that_chooses_nothing_is_asked_again(dance: Dance, form: dict[str, str]) -> None:
    page = await dance.ask()
    wrong = await dance.consent(page, **form)
    assert wrong.status_code == 422
    assert "Choose an option from the list" in wrong.text
    assert (await dance.consent(page)).status_code == 303


async def test_only_who_opened_the_question_answers_it_and_once(
    app: FastAPI,
    dance: Dance,
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
) -> None:
    await Newcomers(people_context, owner_connection, ring).make("eve@example.com", organization="Other")
    eve = Browser.of(app, "Eve")
    await eve.sign_in("eve@example.com", PASSWORD)
    page = await dance.ask(eve)
    assert (await eve.look(page)).status_code == 200
    assert (await dance.browser.look(page)).status_code == 410, "a question that another has opened"
    mine = await dance.ask()
    assert (await dance.browser.look(mine)).status_code == 200
    stolen = await eve.client.post(
        mine,
        data={"form_token": await eve.token("/settings/profile"), "decision": "yes", "lasts": "30"},
        headers=OWN,
    )
    assert stolen.status_code == 410
    forged = await dance.browser.client.post(
        mine, data={"form_token": await eve.token("/settings/profile"), "decision": "yes"}, headers=OWN
    )
    assert forged.status_code == 403
    foreign = await dance.browser.client.post(
        mine,
        data={"form_token": await dance.browser.token(mine), "decision": "yes"},
        headers={"Sec-Fetch-Site": "cross-site"},
    )
    assert foreign.status_code == 403
    theirs = await dance.consent(mine, household=f"live:{dance.sandbox_id}")
    assert theirs.status_code == 422, "a household of the other mode"
    assert (await dance.consent(mine)).status_code == 303
    assert (await dance.browser.look(mine)).status_code == 410


async def test_a_viewer_lets_nobody_in(
    app: FastAPI, dance: Dance, people_context: PeopleContext, maria: SignedIn
) -> None:
    actor = maria.actor("r", of_both_modes=True)
    async with people_context.database.transaction(actor.tenant) as session:
        sent = await members.invite_member(
            session, actor, people_context.clock, "viewer@example.com", "viewer"
        )
    await sign_up.join_as_new_person(
        people_context, sent.token.text, NewPerson("Vera", PASSWORD, "en"), VISIT
    )
    vera = Browser.of(app, "Vera")
    await vera.sign_in("viewer@example.com", PASSWORD)
    assert (await vera.look(await dance.ask(vera))).status_code == 403


async def test_a_flood_of_programs_is_stopped(dance: Dance) -> None:
    answers = [(await dance.register()).status_code for _ in range(25)]
    assert answers == [201] * 19 + [429] * 6


def _from(dance: Dance, address: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(dance.app, client=(address, 1)), base_url=HOME)


async def test_one_subscriber_has_many_addresses_and_floods_nobody(dance: Dance) -> None:
    told = {"redirect_uris": [RETURNS]}
    answers = [
        (await _from(dance, f"2001:db8::{number:x}").post("/oauth/register", json=told)).status_code
        for number in range(22)
    ]
    assert answers == [201] * 20 + [429] * 2
    assert (await _from(dance, "2001:db8:0:1::1").post("/oauth/register", json=told)).status_code == 201, (
        "the neighbour"
    )


async def test_a_flood_of_questions_is_stopped(
    dance: Dance, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    async def ask(address: str) -> httpx.Response:
        return await _from(dance, address).get("/oauth/authorize", params=dance.question)

    assert (await ask("2001:db8::")).status_code == 303
    clock.advance(timedelta(minutes=10))
    answers = [(await ask(f"2001:db8::{number:x}")).status_code for number in range(32)]
    assert answers == [303] * (OF_NETWORK - 1) + [429] * 3
    full = await ask("2001:db8::1")
    assert full.headers["retry-after"] == "1200"
    assert "Try again from the app in 20 minutes." in full.text
    assert (await ask("2001:db8:0:1::")).status_code == 303, "the neighbour"
    assert (await dance.consent(await dance.ask())).status_code == 303
    clock.advance(timedelta(minutes=20))
    assert [(await ask("2001:db8::1")).status_code for _ in range(2)] == [303, 429], "the oldest is over"

    owner_connection.execute(
        "INSERT INTO agent_requests (id, token_hash, client_id, redirect_uri, redirect_given, code_challenge, scopes, "
        "resource, created_at, expires_at, address_hash) SELECT gen_random_uuid(), sha256(n::text::bytea), client_id, "
        "redirect_uri, true, code_challenge, scopes, resource, created_at, expires_at, sha256(n::text::bytea) "
        "FROM (SELECT * FROM agent_requests ORDER BY id DESC LIMIT 1) r, generate_series(1, %s) n",
        (REQUESTS_PER_CLIENT,),
    )
    elsewhere = [(await ask("198.51.100.7")).status_code for _ in range(2)]
    assert elsewhere == [303, 429], (
        "of one program, wherever it is asked from; but a network's first has room"
    )
    other = (await dance.register()).json()["client_id"]
    assert (await dance.refused(client_id=other)).status_code == 303


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": "https://agent.example.com"}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://agent.example.com/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://agent.example.com/#x"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://me:secret@agent.example.com/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://agent.example.com/ \r\nLocation: x"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [7]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://пример.example/cb"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://evil.example\\.agent.example.com/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://evil.example;script-src/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://%61gent.example.com/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["intent://agent.example.com/#Intent;end"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["mailto:me@agent.example.com"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://agent.example.com/536-22-8145"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://agent.example.com/cb?n=536%2022%208145"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["com.example.app:/536.22.8145"]}, "invalid_redirect_uri"),
        ({"client_name": 7}, "invalid_client_metadata"),
        ({"grant_types": ["client_credentials"]}, "invalid_client_metadata"),
    ],
)
async def test_a_program_must_tell_of_itself_rightly(
    dance: Dance, told: dict[str, object], error: str
) -> None:
    refused = await dance.register(**told)
    assert refused.status_code == 400
    assert refused.json()["error"] == error
    assert "8145" not in refused.text


async def test_a_program_s_name_is_not_a_number_of_the_vault(
    dance: Dance, owner_connection: psycopg.Connection
) -> None:
    """An app's own number in its address is none either, however many digits it has."""
    for name in ("Helper 536-22-8145", "536\u200b-22\u200b-8145", "５３６-２２-８１４５"):
        registered = await dance.register(
            client_name=name, redirect_uris=["com.example.apps.123456789012-abc:/back"]
        )
        assert registered.status_code == 201, registered.text
        assert registered.json()["client_name"] == "unnamed program"
    stored = str(owner_connection.execute("SELECT name FROM agent_clients").fetchall())
    assert "22" not in stored
    doubled = b'{"redirect_uris": ["https://a.example/"], "client_name": "A", "client_name": "B"}'
    twice = await dance.program.post(
        "/oauth/register", content=doubled, headers={"Content-Type": "application/json"}
    )
    assert twice.status_code == 400


async def test_what_is_given_back_is_over(dance: Dance) -> None:
    tokens = await dance.tokens()
    other = await dance.program.post(
        "/oauth/revoke", data={"client_id": "another", "token": tokens["access_token"]}
    )
    assert other.status_code == 200
    assert (await dance.call(tokens["access_token"])).status_code == 200
    given = await dance.program.post(
        "/oauth/revoke", data={"client_id": dance.client_id, "token": tokens["refresh_token"]}
    )
    assert given.status_code == 200
    assert (await dance.call(tokens["access_token"])).status_code == 401


async def test_a_token_for_another_address_is_none(
    dance: Dance, owner_connection: psycopg.Connection
) -> None:
    tokens = await dance.tokens()
    owner_connection.execute("UPDATE agent_grants SET resource = 'https://other.example.com/mcp'")
    assert (await dance.call(tokens["access_token"])).status_code == 401


def test_the_challenge_is_the_one_of_the_standard() -> None:
    """RFC 7636, appendix B."""
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    assert challenge_of(verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    assert len(VERIFIER) >= 43
    assert RETURNS.endswith("kept=1")
