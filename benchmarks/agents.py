"""The agents' tools: hosted calls against the same requests of the API, calls a second, and the start on the desk.

The row of a calculation is written behind its answer, by the same process and within the time measured; that of a
tool that reads an account, before.

python -m benchmarks.agents
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping
from statistics import median
from typing import Any, Final

import httpx

from benchmarks.event_loop import new_event_loop
from benchmarks.installation import Installation, installation
from benchmarks.report import Aim, Row, print_table
from hearthpay.app import create_app
from hearthpay.clock import SystemClock
from hearthpay.http.deadlines import Deadlines
from hearthpay.server import running

CALLS: Final = 100
ROUNDS: Final = 5
AT_ONCE: Final = 16
STARTS: Final = 5
START_AIM: Final = Aim(1.0, at_least=False)
RATIO_AIM: Final = Aim(2.0, at_least=False)

_WANTED: Final = {"state": "CA", "annual_wages": 35000}
_MODERN: Final = "2026-07-28"
_Request = tuple[str, str, Any, dict[str, str]]


def _call(tool: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": _MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


_HELLO: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


async def measure(installed: Installation) -> list[Row]:
    """Ask one server, in this process, in turns; then start the one on the desk."""
    print(f"Agents: {ROUNDS} rounds of {CALLS} calls, one at a time …", flush=True)
    app = create_app(installed.database, SystemClock())
    async with running(app, "127.0.0.1", 0, Deadlines()) as (address, _):
        key = {"Authorization": f"Bearer {installed.key}"}
        agent = {
            **key,
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": _MODERN,
            "Mcp-Method": "tools/call",
        }
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            tool = _tool("calculate_nanny_taxes", _WANTED, agent)
            reading = _tool("list_households_and_employees", {}, agent)
            plain = ("POST", "/api/v1/calculate", _WANTED, key)
            read = ("GET", "/api/v1/households", None, key)
            for each in (tool, reading):
                (await _ask(client, *each)).raise_for_status()
                first = (await _ask(client, *each)).json()
                assert first["result"]["structuredContent"]["success"] is True, first
            called, asked, called_reading, asked_reading = [], [], [], []
            for _ in range(ROUNDS):
                called.append(await _one_by_one(client, *tool))
                asked.append(await _one_by_one(client, *plain))
                called_reading.append(await _one_by_one(client, *reading))
                asked_reading.append(await _one_by_one(client, *read))
            at_once = [await _at_once(client, *tool) for _ in range(ROUNDS)]
    starts = [await _start() for _ in range(STARTS)]
    ratio = median(called) / median(asked)
    return [
        Row(
            "agents: hosted calculate_nanny_taxes, with its audit row",
            f"{median(called) * 1000:.2f} ms",
            f"POST /calculate {median(asked) * 1000:.2f} ms",
            ratio,
            RATIO_AIM,
            ratio,
        ),
        Row(
            "agents: hosted list_households_and_employees, its audit row first",
            f"{median(called_reading) * 1000:.2f} ms",
            f"GET /households {median(asked_reading) * 1000:.2f} ms",
            median(called_reading) / median(asked_reading),
        ),
        Row(f"agents: hosted calls of one process, {AT_ONCE} at once", f"{median(at_once):,.0f} a second"),
        Row(
            "agents: `hearthpay mcp` from start to first answer",
            f"{median(starts):.2f} s",
            aim=START_AIM,
            judged=median(starts),
        ),
    ]


def _tool(name: str, arguments: Mapping[str, object], agent: dict[str, str]) -> _Request:
    return ("POST", "/mcp", _call(name, arguments), {**agent, "Mcp-Name": name})


async def _ask(
    client: httpx.AsyncClient, method: str, path: str, body: Any, headers: dict[str, str]
) -> httpx.Response:
    return await client.request(method, path, json=body, headers=headers)


async def _one_by_one(
    client: httpx.AsyncClient, method: str, path: str, body: Any, headers: dict[str, str]
) -> float:
    """Seconds a call, the median of many."""
    took = []
    for _ in range(CALLS):
        began = time.perf_counter()
        response = await _ask(client, method, path, body, headers)
        took.append(time.perf_counter() - began)
        assert response.status_code == 200, response.text
    return median(took)


async def _at_once(
    client: httpx.AsyncClient, method: str, path: str, body: Any, headers: dict[str, str]
) -> float:
    """Calls a second, with several under way; the client works on the same processor."""

    async def some() -> None:
        for _ in range(CALLS // AT_ONCE):
            (await _ask(client, method, path, body, headers)).raise_for_status()

    began = time.perf_counter()
    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return CALLS // AT_ONCE * AT_ONCE / (time.perf_counter() - began)


async def _start() -> float:
    """Seconds from starting the process to its answer to the introduction."""
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hearthpay.cli", "mcp"),
        env={"PATH": os.environ["PATH"]},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1_000_000,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(_HELLO).encode() + b"\n")
    answer = json.loads(await process.stdout.readline())
    took = time.perf_counter() - began
    assert answer["result"]["serverInfo"]["name"] == "hearthpay"
    process.stdin.close()
    await process.wait()
    return took


async def main() -> None:
    """Measure, and print the table."""
    async with installation() as installed:
        print_table(await measure(installed))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
