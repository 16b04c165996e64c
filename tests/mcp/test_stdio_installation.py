"""`hearthpay mcp` with the SDK's own client: a process of its own, over real pipes, against a real server."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from fastapi import FastAPI

from hearthpay.http.deadlines import Deadlines
from hearthpay.mcp.http_caller import ApiEndpoint, HttpCaller
from hearthpay.mcp.tool_results import answer_call
from hearthpay.server import running
from tests.http.api import Account
from tests.mcp.agents import ask, desk_agent, week


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    async with running(app, "127.0.0.1", 0, Deadlines()) as (address, _):
        yield address


async def test_an_agent_on_the_desk_runs_a_payroll(
    address: str, account: Account, employer_id: str, employee_id: str, counts: Any
) -> None:
    """Also where what is cut is the connection to the service, in the middle of the run: the retry finds the first."""
    asked = week(employer_id, employee_id)
    async with (
        cutting_after(address) as cut,
        desk_agent(HEARTHPAY_API_KEY=account.live.key, HEARTHPAY_API_URL=cut.address) as agent,
    ):
        assert len((await agent.list_tools()).tools) == 12
        (household,) = (await ask(agent, "list_households_and_employees"))["data"]
        assert household["employer_id"] == employer_id
        token = (await ask(agent, "preview_payroll", **asked))["data"]["preview_token"]
        cut.after_the_next_request = True
        ran = await ask(agent, "run_payroll", **asked, preview_token=token)
        assert cut.times == 1
        assert ran["data"]["status"] == "completed"
        assert counts()["payrolls"] == 1
        cut.always = True
        lost = await ask(agent, "run_payroll", **_next_week(asked))
        assert lost["code"] == "unreachable"
        key = lost["details"]["idempotency_key"]
        cut.always = False
        again = await ask(agent, "run_payroll", **_next_week(asked), idempotency_key=key)
        assert again["data"]["status"] == "completed"
        assert counts()["payrolls"] == 2
        # With the service's own words for what is refused.
        overlap = await ask(agent, "run_payroll", **asked)
        assert overlap["code"] == "payroll_overlap"
        page = f"hearthpay://payrolls/{ran['data']['payroll_id']}/pay-stubs/{employee_id}"
        assert (await agent.read_resource(page)).contents[0].mime_type == "application/pdf"


def _next_week(asked: dict[str, Any]) -> dict[str, Any]:
    return asked | {
        "pay_period_start": "2026-11-16",
        "pay_period_end": "2026-11-22",
        "pay_date": "2026-11-25",
    }


async def test_without_a_key_each_call_says_what_to_set(address: str) -> None:
    async with desk_agent("legacy", HEARTHPAY_API_URL=address) as agent:
        for _ in range(2):
            answer = await ask(agent, "calculate_nanny_taxes", **_CALCULATE)
            assert answer["code"] == "key_missing"
            assert "HEARTHPAY_API_KEY" in answer["error"]
        assert (await agent.list_resources()).resources == []


_CALCULATE: Final = {"state": "CA", "annual_wages": 35000}


async def test_a_wrong_address_or_key_is_an_answer(address: str, account: Account) -> None:
    """A dead server, somebody else's server, no address at all: whatever it is, the next step is told."""
    async with strangers_server() as stranger:
        for settings, code in (
            ({"HEARTHPAY_API_KEY": "hp_live_x", "HEARTHPAY_API_URL": "pay.example"}, "address_wrong"),
            ({"HEARTHPAY_API_KEY": "hp_live_x", "HEARTHPAY_API_URL": "http://x:y"}, "address_wrong"),
            ({"HEARTHPAY_API_KEY": "hp_live_x", "HEARTHPAY_API_URL": "http://127.0.0.1:9"}, "unreachable"),
            ({"HEARTHPAY_API_KEY": "hp_live_x", "HEARTHPAY_API_URL": stranger}, "not_an_envelope"),
            ({"HEARTHPAY_API_KEY": "hp_live_x", "HEARTHPAY_API_URL": address}, "authentication_required"),
            ({"HEARTHPAY_API_KEY": "hp_live_é", "HEARTHPAY_API_URL": address}, "key_missing"),
            ({"NANNYKEEPER_API_KEY": account.live.key, "NANNYKEEPER_API_URL": f"{address}/api/v1/"}, "ok"),
        ):
            caller = HttpCaller(ApiEndpoint.of(settings))
            answer = await answer_call(caller, "calculate_nanny_taxes", _CALCULATE)
            await caller.close()
            assert answer.code == code, answer
            assert code == "ok" or answer.structured["next_step"]
            assert "hp_live" not in answer.text


def test_our_key_goes_to_no_address_under_the_old_name() -> None:
    old = {"NANNYKEEPER_API_URL": "https://other.example", "NANNYKEEPER_API_KEY": "old"}
    assert ApiEndpoint.of(old) == ApiEndpoint("https://other.example", "old")
    assert ApiEndpoint.of(old | {"HEARTHPAY_API_KEY": "ours"}) == ApiEndpoint("http://127.0.0.1:8000", "ours")
    assert ApiEndpoint.of(old | {"HEARTHPAY_API_URL": "https://pay.example/api/v1"}) == ApiEndpoint(
        "https://pay.example", "old"
    )


def test_it_needs_no_database_nor_what_the_other_commands_need() -> None:
    program = (
        "import sys; sys.argv = ['hearthpay', 'mcp']; from hearthpay.cli import main; main(); "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "pipe", "version": "1"},
        },
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answer = json.loads(done.stdout)
    assert answer["result"]["serverInfo"]["name"] == "hearthpay"
    assert "run_payroll makes a tax record" in answer["result"]["instructions"]
    loaded = set(done.stderr.split())
    assert loaded.isdisjoint({"sqlalchemy", "psycopg", "fastapi", "typer", "rich", "procrastinate", "typst"})


class Cutting:
    """A line to the service that can be cut once a request has gone through, before its answer comes back."""

    def __init__(self) -> None:
        self.address = ""
        self.after_the_next_request = False
        self.always = False
        self.times = 0

    @property
    def cuts(self) -> bool:
        return self.always or self.after_the_next_request


@asynccontextmanager
async def cutting_after(address: str) -> AsyncIterator[Cutting]:
    cut = Cutting()
    host, _, port = address.removeprefix("http://").rpartition(":")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(host, int(port))

        async def forth() -> None:
            while chunk := await reader.read(65_536):
                back.write(chunk)
            back.close()

        sending = asyncio.create_task(forth())
        try:
            while chunk := await there.read(65_536):
                if cut.cuts:
                    cut.after_the_next_request = False
                    cut.times += 1
                    break
                writer.write(chunk)
        finally:
            sending.cancel()
            writer.close()
            back.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    cut.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield cut
    finally:
        server.close()


@asynccontextmanager
async def strangers_server() -> AsyncIterator[str]:
    """Something else that speaks HTTP."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
