"""`/mcp` with the SDK's own client, inside the application: what the tools answer, and what the door refuses."""

import asyncio
import base64
import json
from typing import Any

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from tests.http.api import Account, NewAccount, NewKey
from tests.mcp.agents import ADDRESS, ask, hosted_agent, week
from tests.worlds.households import add_employee, add_household

EITHER_AGE = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture
def trail(owner_connection: psycopg.Connection) -> Any:
    def read() -> list[tuple[Any, ...]]:
        return owner_connection.execute(
            "SELECT details->>'tool', details->>'client', details->>'outcome', actor_kind, employer_id::text, "
            "subject_id::text, request_id FROM audit_log WHERE action = 'agent.call' ORDER BY id"
        ).fetchall()

    return read


@pytest.fixture
def readings(owner_connection: psycopg.Connection) -> Any:
    def read() -> list[tuple[Any, ...]]:
        return owner_connection.execute(
            "SELECT details->>'resource', details->>'client', details->>'outcome', subject_id::text "
            "FROM audit_log WHERE action = 'agent.read' ORDER BY id"
        ).fetchall()

    return read


@EITHER_AGE
async def test_from_the_first_question_to_the_pay_stub(
    app: FastAPI,
    account: Account,
    employer_id: str,
    employee_id: str,
    mode: str,
    trail: Any,
    readings: Any,
) -> None:
    async with hosted_agent(app, account.live.key, mode=mode) as agent:
        (household,) = (await ask(agent, "list_households_and_employees"))["data"]
        assert (household["employer_id"], household["name"]) == (employer_id, "Maria Lopez")
        (person,) = household["employees"]
        asked = week(household["employer_id"], person["employee_id"])
        preview = (await ask(agent, "preview_payroll", **asked))["data"]
        told = {"preview_token": preview["preview_token"], "idempotency_key": "rosa-1"}
        ran = (await ask(agent, "run_payroll", **asked, **told))["data"]
        assert ran["totals"] == preview["totals"]
        assert ran["status"] == "completed"
        read = (await ask(agent, "get_payroll", payroll_id=ran["payroll_id"]))["data"]
        assert read["employees"][0]["net_pay"] == preview["employees"][0]["net_pay"]
        (known,) = (await agent.read_resource(f"hearthpay://payrolls/{ran['payroll_id']}")).contents
        assert ran["payroll_id"] in known.text
        address = f"hearthpay://payrolls/{ran['payroll_id']}/pay-stubs/{employee_id}"
        (stub,) = (await agent.read_resource(address)).contents
        assert stub.mime_type == "application/pdf"
        assert base64.b64decode(stub.blob).startswith(b"%PDF")
        why = f"hearthpay://payrolls/{ran['payroll_id']}/explanations/{employee_id}"
        (recorded,) = (await agent.read_resource(why)).contents
        lines = {each["code"]: each for each in json.loads(recorded.text)["data"]["explanations"]}
        assert lines["US-SS-EE"]["amount"] == 70.68
        assert lines["US-SS-EE"]["steps"]
        explained = (await ask(agent, "explain_paycheck_line", **_other_week(asked), line_code="US-SS-EE"))[
            "data"
        ]
        (line,) = explained["explanations"]
        assert line["amount"] == 70.68
        assert line["sources"]
        assert line["steps"]
    assert [row[:4] for row in trail()] == [
        (tool, "Test agent 7", "ok", "key")
        for tool in (
            "list_households_and_employees",
            "preview_payroll",
            "run_payroll",
            "get_payroll",
            "explain_paycheck_line",
        )
    ]
    assert trail()[2][4:6] == (employer_id, ran["payroll_id"])
    assert readings() == [
        ("payroll", "Test agent 7", "ok", ran["payroll_id"]),
        ("pay_stub", "Test agent 7", "ok", ran["payroll_id"]),
        ("payroll_explanation", "Test agent 7", "ok", ran["payroll_id"]),
    ]


async def test_a_question_about_no_household_of_several_leads_to_their_list(
    app: FastAPI, new_key: NewKey
) -> None:
    key = await new_key("Agency", plan="professional")
    first, second = await add_household(key), await add_household(key, first_name="Carmen")
    async with hosted_agent(app, key.key) as agent:
        for tool in ("get_state_filing_status", "get_tax_calendar"):
            refused = await ask(agent, tool)
            assert refused["code"] == "validation_error"
            assert refused["next_call"] == {"tool": "list_households_and_employees", "arguments": {}}
            assert tool in refused["next_step"]
            listed = await ask(agent, refused["next_call"]["tool"], **refused["next_call"]["arguments"])
            ids = [each["employer_id"] for each in listed["data"]]
            assert ids == [second, first]
            assert "error" not in await ask(agent, tool, employer_id=ids[0])
            wrong = await ask(agent, tool, employer_id="x")
            assert "next_call" not in wrong


def _other_week(asked: dict[str, Any]) -> dict[str, Any]:
    return asked | {"pay_period_start": "2026-11-02", "pay_period_end": "2026-11-08"}


async def test_the_rest_of_the_reading_tools(
    app: FastAPI, account: Account, employer_id: str, employee_id: str
) -> None:
    async with hosted_agent(app, account.live.key) as agent:
        year = (await ask(agent, "calculate_nanny_taxes", state="ca", annual_wages=35000))["data"]
        plain = (await account.live.post("/calculate", {"state": "ca", "annual_wages": 35000})).json()["data"]
        assert year == plain
        assert (await ask(agent, "check_threshold", state="NY", annual_wages=2800))["data"]["state"] == "NY"
        status = await ask(agent, "get_state_filing_status")
        (california,) = status["states"]
        assert california["state_code"] == "CA"
        assert {account["status"] for account in california["accounts"]} >= {"required"}
        assert all(set(each) == _ACCOUNT for each in california["accounts"])
        for each in california["accounts"]:
            if each["status"] in ("registered", "not_required"):
                assert each["registration_url"] is None
        assert status["summary"] == {
            "states_with_data": 1,
            "total_accounts_on_file": 0,
            "accounts_missing": sum(each["status"] == "required" for each in california["accounts"]),
        }
        calendar = (await ask(agent, "get_tax_calendar", **{"from": "2026-11-01", "to": "2027-05-01"}))[
            "data"
        ]
        assert any(item["key"].startswith("US/") for item in calendar["items"])
        pilot = (await ask(agent, "get_autopilot", employer_id=employer_id))["data"]
        assert pilot["enrollments"] == []


_ACCOUNT = {"type", "label", "agency", "last_four", "status", "registration_url"}


async def test_resources_and_prompts(app: FastAPI, account: Account, employer_id: str, readings: Any) -> None:
    async with hosted_agent(app, account.live.key) as agent:
        assert (await agent.list_resources()).resources == []
        (coverage,) = (await agent.read_resource("hearthpay://states/CA")).contents
        assert "CA-SDI-EE" in coverage.text
        (calendar,) = (
            await agent.read_resource(f"hearthpay://households/{employer_id}/calendar/2026")
        ).contents
        assert "2026" in calendar.text
        assert len((await agent.list_resource_templates()).resource_templates) == 5
        for nowhere in ("hearthpay://states/ZZ", "hearthpay://payrolls/x", "file:///etc/passwd"):
            with pytest.raises(Exception, match="There is nothing at this address"):
                await agent.read_resource(nowhere)
        nothing = ("unknown", "Test agent 7", "not_found", None)
        told = [(name, "Test agent 7", "ok", None) for name in ("state_coverage", "tax_calendar")]
        # ZZ is spelled as a state is: it is the API that knows of none.
        assert readings() == [*told, ("state_coverage", *nothing[1:]), nothing, nothing]
        names = [prompt.name for prompt in (await agent.list_prompts()).prompts]
        assert names == ["run_this_weeks_payroll", "am_i_over_the_threshold"]
        prompt = await agent.get_prompt("run_this_weeks_payroll", {"employee": "Rosa"})
        text = prompt.messages[0].content.text
        assert "payroll for Rosa" in text
        assert "(ask me: hours" in text


async def test_what_is_wrong_comes_back_corrected(
    app: FastAPI, account: Account, employer_id: str, employee_id: str
) -> None:
    asked = week(employer_id, employee_id)
    async with hosted_agent(app, account.live.key) as agent:
        extra = await ask(agent, "calculate_nanny_taxes", state="CA", annual_wages="35000", wages=1)
        assert [each["field"] for each in extra["validation_details"]] == ["wages", "annual_wages"]
        assert extra["example_request"] == {"state": "CA", "annual_wages": 35000}
        without = await ask(agent, "run_payroll", **asked)
        assert without["validation_details"] == [{"field": "idempotency_key", "message": "is required"}]
        assert without["example_request"].items() >= asked.items()
        # What reads like a Social Security number is not repeated, wherever it was put.
        for text in ("her number is 536-22-8145", "536 22 8145"):
            hidden = await ask(
                agent, "run_payroll", **asked, employee=text, notes=text, memo={"line": [text]}
            )
            assert "8145" not in json.dumps(hidden)
        # What only the API can know comes back in the tool's own words.
        backwards = await ask(agent, "preview_payroll", **asked | {"pay_period_end": "2026-11-08"})
        assert backwards["code"] == "validation_error"
        assert backwards["validation_details"][0]["field"] == "pay_period_end"
        assert backwards["example_request"]["employee_id"] == employee_id
        assert backwards["docs_url"].startswith(ADDRESS)
        hours = await ask(agent, "preview_payroll", **asked | {"regular_hours": 169})
        assert hours["validation_details"][0]["field"] == "regular_hours"
        assert hours["error"].startswith("regular_hours:")
        unknown = await ask(agent, "send_money")
        assert unknown["code"] == "unknown_tool"
        pilot = await ask(agent, "manage_autopilot", **_whose(asked), action="pause")
        assert (pilot["code"], "validation_details" in pilot) == ("not_found", False)


def _whose(asked: dict[str, Any]) -> dict[str, Any]:
    return {name: asked[name] for name in ("employer_id", "employee_id")}


async def test_a_preview_binds_the_run(
    app: FastAPI, account: Account, employer_id: str, employee_id: str, counts: Any
) -> None:
    asked = week(employer_id, employee_id)
    async with hosted_agent(app, account.live.key) as agent:
        token = (await ask(agent, "preview_payroll", **asked))["data"]["preview_token"]
        before = counts()["payrolls"]
        more = asked | {"regular_hours": 60, "preview_token": token, "idempotency_key": "x"}
        refused = await ask(agent, "run_payroll", **more)
        assert refused["code"] == "amounts_changed"
        assert refused["details"]["previewed"][0]["gross_pay"] == 1140
        assert refused["details"]["now"][0]["gross_pay"] == 1710
        assert "do not simply drop" in refused["next_step"].lower()
        assert counts()["payrolls"] == before


async def test_twenty_runs_at_once_with_one_key_are_one_payroll(
    app: FastAPI, account: Account, employer_id: str, employee_id: str, counts: Any, trail: Any
) -> None:
    asked = week(employer_id, employee_id, idempotency_key="once")
    async with hosted_agent(app, account.live.key) as agent:
        answers = await asyncio.gather(*(ask(agent, "run_payroll", **asked) for _ in range(20)))
    assert len({answer["data"]["payroll_id"] for answer in answers}) == 1
    assert counts()["payrolls"] == 1
    assert len(trail()) == 20


async def test_the_same_key_over_either_face_is_the_same_payroll(
    app: FastAPI, account: Account, employer_id: str, employee_id: str, counts: Any
) -> None:
    asked = week(employer_id, employee_id)
    async with hosted_agent(app, account.live.key) as agent:
        first = await ask(agent, "run_payroll", **asked, idempotency_key="both")
        other = await ask(agent, "run_payroll", **asked | {"regular_hours": 1}, idempotency_key="both")
    assert other["code"] == "idempotency_conflict"
    body = {name: value for name, value in asked.items() if name not in ("employee_id", "regular_hours")}
    del body["payment_method"]
    body["employees"] = [{"employee_id": employee_id, "regular_hours": 40, "payment_method": "check"}]
    again = await account.live.post("/payroll/run", body, idempotency_key="both")
    assert again.json()["data"]["payroll_id"] == first["data"]["payroll_id"]
    assert counts()["payrolls"] == 1


async def test_runs_that_must_not_be(
    app: FastAPI, account: Account, employer_id: str, employee_id: str, new_account: NewAccount, counts: Any
) -> None:
    """After the employment has ended, with a key of the other mode, for another's household, and twice."""
    asked = week(employer_id, employee_id, idempotency_key="no")
    end = await account.live.post(f"/employees/{employee_id}/terminate", {"end_date": "2026-11-01"})
    assert end.status_code == 200, end.text
    other = await new_account("Other family")
    before = counts()["payrolls"]
    for key, code in (
        (account.live.key, "invalid_state"),
        (account.test.key, "key_mode_mismatch"),
        (other.live.key, "household_forbidden"),
    ):
        async with hosted_agent(app, key) as agent:
            refused = await ask(agent, "run_payroll", **asked)
            assert refused["code"] == code, refused
            assert refused["next_step"]
            assert "Rosa" not in str(refused)
    assert counts()["payrolls"] == before
    second = await add_employee(account.live, employer_id, first_name="Ana")
    twice = week(employer_id, second, idempotency_key="first")
    async with hosted_agent(app, account.live.key) as agent:
        await ask(agent, "run_payroll", **twice)
        refused = await ask(agent, "run_payroll", **twice | {"idempotency_key": "second"})
        assert refused["code"] == "payroll_overlap"
        assert "Do not move the period" in refused["next_step"]


async def test_a_key_that_is_revoked_opens_nothing(
    app: FastAPI, account: Account, client: httpx.AsyncClient, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute("UPDATE api_keys SET revoked_at = now()")
    for headers in (
        {},
        {"Authorization": f"Bearer {account.live.key}"},
        {"Authorization": "Bearer hp_live_x"},
    ):
        response = await client.post(f"{ADDRESS}/mcp", json=_ping(), headers={**_ACCEPT, **headers})
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"].startswith("Bearer")


async def test_scopes_and_plans_hold_for_tools(app: FastAPI, new_key: NewKey) -> None:
    caller = await new_key("Lopez family", scopes=("calculator",))
    free = await new_key("Free family", plan="free", scopes=("calculator", "payroll"))
    asked = week("019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b10", "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11")
    for key, code in ((caller.key, "scope_required"), (free.key, "subscription_required")):
        async with hosted_agent(app, key) as agent:
            assert "data" in await ask(agent, "check_threshold", state="CA", annual_wages=1)
            refused = await ask(agent, "run_payroll", **asked, idempotency_key="x")
            assert refused["code"] == code
            assert "http" not in str(refused)


async def test_calls_count_against_the_day_and_the_protocol_does_not(app: FastAPI, new_key: NewKey) -> None:
    caller = await new_key("Free family", plan="free")
    async with hosted_agent(app, caller.key, mode="legacy") as agent:
        for _ in range(3):
            await agent.list_tools()
        answers = [await ask(agent, "check_threshold", state="CA", annual_wages=1) for _ in range(51)]
    assert ["error" in answer for answer in answers] == [False] * 50 + [True]
    assert answers[-1]["code"] == "rate_limited"
    assert answers[-1]["details"]["limit"] == 50
    assert (await caller.get("/threshold", state="CA", annual_wages=1)).status_code == 429


async def test_what_is_refused_at_the_door_counts_and_the_trail_does_not_grow_without_end(
    app: FastAPI, new_key: NewKey, trail: Any, readings: Any
) -> None:
    caller = await new_key("Free family", plan="free")
    async with hosted_agent(app, caller.key) as agent:
        codes = [(await ask(agent, "check_threshold", wages=1))["code"] for _ in range(20)]
        for _ in range(40):
            with pytest.raises(Exception, match=r"There is nothing at this address|requests that the plan"):
                await agent.read_resource("hearthpay://nothing")
        codes += [(await ask(agent, "check_threshold", wages=1))["code"] for _ in range(5)]
    assert codes == ["validation_error"] * 20 + ["rate_limited"] * 5
    assert len(trail()) == 20
    assert len(readings()) == 30
    assert (await caller.get("/threshold", state="CA", annual_wages=1)).status_code == 429


_ACCEPT = {"Accept": "application/json, text/event-stream"}


def _ping() -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "127.0.0.1:9"}, 200),
        ({"Host": "[::1]:9"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost.evil.example"}, 421),
        ({"Host": "nas.local"}, 421),
        ({"Host": "LOCALHOST.:9"}, 200),
        ({"Host": "x@localhost:y"}, 421),
        ({"Origin": "http://localhost:8000"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:9000"}, 403),
        ({"Content-Type": "text/plain"}, 400),
        ({"Accept": "text/html"}, 406),
    ],
)
async def test_the_door(
    client: httpx.AsyncClient, account: Account, headers: dict[str, str], status: int
) -> None:
    sent = {**account.live.headers(), **_ACCEPT, **headers}
    response = await client.post(f"{ADDRESS}/mcp", json=_ping(), headers=sent)
    assert response.status_code == status, response.text
    assert response.headers["X-Request-Id"]


async def test_what_is_no_message(client: httpx.AsyncClient, account: Account) -> None:
    sent = {**account.live.headers(), **_ACCEPT, "Content-Type": "application/json"}
    address = f"{ADDRESS}/mcp"
    for content, status in (
        (b"{", 400),
        (b"[]", 400),
        (b"7", 400),
        (b'{"jsonrpc": "2.0"}', 400),
        (b"[" * 100 + b"]" * 100, 400),
        (b'"' + b"x" * 1_000_001 + b'"', 413),
    ):
        response = await client.post(address, content=content, headers=sent)
        assert response.status_code == status, (content[:20], response.text)
    for method in ("GET", "DELETE", "PUT"):
        response = await client.request(method, address, headers=sent)
        assert response.status_code == 405
        assert response.headers["Allow"] == "POST"


async def test_a_clients_name_is_kept_as_one_harmless_line(
    app: FastAPI, client: httpx.AsyncClient, account: Account, trail: Any
) -> None:
    sent = {**account.live.headers(), **_ACCEPT}
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "check_threshold", "arguments": {"state": "CA", "annual_wages": 1}},
    }
    for name, kept in (("a\nb", "a b 1"), ("x" * 300, "x" * 100), ("123-45-6789", "(withheld)")):
        hello = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": name, "version": "1"},
            },
        }
        introduced = await client.post(f"{ADDRESS}/mcp", json=hello, headers=sent)
        session = introduced.headers["mcp-session-id"]
        answered = await client.post(f"{ADDRESS}/mcp", json=call, headers=sent | {"mcp-session-id": session})
        assert answered.status_code == 200
        await app.state.runtime.deferred_audit.settle()
        assert trail()[-1][1] == kept
    for forged in ("hp.%%%", "hp.gA", "somebody's"):
        answered = await client.post(f"{ADDRESS}/mcp", json=call, headers=sent | {"mcp-session-id": forged})
        assert answered.status_code == 200
        await app.state.runtime.deferred_audit.settle()
        assert trail()[-1][1] is None
