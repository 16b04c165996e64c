"""Rows of calculations are written behind the answers, together, in the chain, and each in its own tenant."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from structlog.testing import capture_logs

from hearthpay.access import deferred_audit
from hearthpay.access.actor import Actor
from hearthpay.access.deferred_audit import DeferredAudit
from hearthpay.access.permissions import SCOPES
from hearthpay.accounts import service as accounts
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.doctor.evidence_checks import audit_chain
from hearthpay.doctor.examination import examine
from hearthpay.http.deadlines import Deadlines
from hearthpay.mcp.tools.toolbox import TOOLBOX
from hearthpay.server import running
from tests.http.api import Account, NewKey
from tests.mcp.agents import ADDRESS, ask, hosted_agent
from tests.worlds.households import add_household

WAGES = {"state": "CA", "annual_wages": 35000}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "calculate_nanny_taxes", "arguments": WAGES},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def rows(owner: psycopg.Connection) -> list[tuple[Any, ...]]:
    return owner.execute(
        "SELECT details->>'tool', details->>'client', details->>'outcome', organization_id::text, request_id "
        "FROM audit_log WHERE action = 'agent.call' ORDER BY id"
    ).fetchall()


@contextmanager
def locked_log(owner: psycopg.Connection) -> Iterator[None]:
    """Nobody can write to the audit log meanwhile."""
    with owner.transaction():
        owner.execute("LOCK TABLE audit_log IN SHARE MODE")
        yield


def test_only_the_calculators_use_no_account() -> None:
    plain = {tool.name for tool in TOOLBOX if not tool.uses_account}
    assert plain == {"calculate_nanny_taxes", "check_threshold"}
    for tool in TOOLBOX:
        if not tool.uses_account:
            assert not tool.changes
            assert tool.call(tool.example).path in ("/calculate", "/threshold")


async def test_a_calculation_is_answered_without_its_row_which_follows(
    app: FastAPI, account: Account, owner_connection: psycopg.Connection
) -> None:
    async with hosted_agent(app, account.live.key) as agent:
        with locked_log(owner_connection):
            answer = await ask(agent, "calculate_nanny_taxes", **WAGES)
        await app.state.runtime.deferred_audit.settle()
    (row,) = rows(owner_connection)
    assert row[:3] == ("calculate_nanny_taxes", "Test agent 7", "ok")
    assert row[4] == answer["meta"]["requestId"]


async def test_a_refused_calculation_leaves_its_row_before_its_answer(
    app: FastAPI, account: Account, owner_connection: psycopg.Connection
) -> None:
    async with hosted_agent(app, account.live.key) as agent:
        assert (await ask(agent, "calculate_nanny_taxes", state="CA"))["code"] == "validation_error"
        assert [row[2] for row in rows(owner_connection)] == ["validation_error"]


async def test_many_calculations_are_kept_in_their_order_under_one_seal_that_holds(
    app: FastAPI,
    account: Account,
    owner_connection: psycopg.Connection,
    owner_database: Database,
    clock: FixedClock,
) -> None:
    async with hosted_agent(app, account.live.key) as agent:
        with locked_log(owner_connection):
            answers = [
                await ask(agent, "check_threshold", state="NY", annual_wages=wages) for wages in range(9)
            ]
        await app.state.runtime.deferred_audit.settle()
    assert [row[4] for row in rows(owner_connection)] == [each["meta"]["requestId"] for each in answers]
    seals = owner_connection.execute(
        "SELECT count(*) FROM audit_seals WHERE audit_ids && "
        "(SELECT array_agg(id) FROM audit_log WHERE action = 'agent.call')"
    ).fetchone()
    assert seals is not None
    assert seals[0] < 9
    async with owner_database.transaction(None) as session:
        (result,) = await examine(session, clock.now(), lambda *_: None, [audit_chain])
    assert result.found == 0


async def test_rows_of_two_organizations_are_each_their_own(
    app: FastAPI, account: Account, new_key: NewKey, owner_connection: psycopg.Connection
) -> None:
    other = await new_key("Other family")
    async with hosted_agent(app, account.live.key) as agent, hosted_agent(app, other.key) as another:
        with locked_log(owner_connection):
            for each in (agent, another, agent):
                await ask(each, "check_threshold", state="NY", annual_wages=1)
        await app.state.runtime.deferred_audit.settle()
    first, second, third = (row[3] for row in rows(owner_connection))
    assert first == third != second


async def test_a_key_of_one_household_leaves_rows_that_its_household_sees(
    app: FastAPI,
    account: Account,
    owner_database: Database,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    employer_id = await add_household(account.live)
    async with owner_database.transaction(None) as session:
        organization = await accounts.find_organization(session, "Lopez family")
        assert organization is not None
        key = await accounts.create_key(
            session,
            clock,
            organization,
            mode="live",
            scopes=SCOPES,
            employer_id=UUID(employer_id),
            confined=True,
        )
    async with hosted_agent(app, key.text) as agent:
        await ask(agent, "check_threshold", state="NY", annual_wages=1)
        await app.state.runtime.deferred_audit.settle()
    found = owner_connection.execute(
        "SELECT employer_id::text FROM audit_log WHERE action = 'agent.call'"
    ).fetchall()
    assert found == [(employer_id,)]


async def test_where_too_many_wait_the_row_is_written_before_the_answer(
    app: FastAPI,
    account: Account,
    owner_connection: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deferred_audit, "MOST_WAITING", 0)
    async with hosted_agent(app, account.live.key) as agent:
        await ask(agent, "calculate_nanny_taxes", **WAGES)
        assert [row[2] for row in rows(owner_connection)] == ["ok"]


async def test_a_row_that_cannot_be_written_is_named_in_the_log(app: FastAPI, account: Account) -> None:
    nowhere = Database(
        "postgresql+psycopg://nobody@127.0.0.1:9/none",
        role="nobody",
        seal=app.state.runtime.database._seal,
        reconnect_seconds=0.1,
    )
    deferred = DeferredAudit(nowhere)
    actor = Actor.operator(account.organization_id, sandbox=False, request_id="req_lost")
    with capture_logs() as logs:
        assert deferred.add(actor, "agent.call", {"tool": "check_threshold"})
        await deferred.settle()
    (line,) = [each for each in logs if each["event"] == "calls without their audit rows"]
    assert line["requests"] == ["req_lost"]
    assert line["log_level"] == "error"
    await nowhere.dispose()


async def test_a_server_that_is_stopped_writes_the_rows_first(
    app: FastAPI, account: Account, owner_connection: psycopg.Connection
) -> None:
    async with (
        running(app, "127.0.0.1", 0, Deadlines()) as (address, _),
        httpx.AsyncClient(base_url=address) as client,
    ):
        answered = await client.post("/mcp", json=CALL, headers={**account.live.headers(), **ACCEPT})
        assert answered.status_code == 200
    assert [row[2] for row in rows(owner_connection)] == ["ok"]


async def test_requests_that_come_first_together_are_all_answered(app: FastAPI, account: Account) -> None:
    modern = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    call = {**CALL, "params": {**CALL["params"], "_meta": modern}}  # type: ignore[dict-item]
    headers = {
        **account.live.headers(),
        **ACCEPT,
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "calculate_nanny_taxes",
    }
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=ADDRESS) as client:
        answers = await asyncio.gather(*(client.post("/mcp", json=call, headers=headers) for _ in range(5)))
    assert [answer.json()["result"]["isError"] for answer in answers] == [False] * 5


def test_no_argument_of_a_tool_may_be_repeated_in_a_header() -> None:
    for tool in TOOLBOX:
        assert "x-mcp-header" not in repr(tool.properties)
