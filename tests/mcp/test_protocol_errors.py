"""What the protocol's own errors repeat: never what reads like a Social Security number."""

from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tests.http.api import Account
from tests.mcp.agents import ADDRESS, ask, hosted_agent, week

ACCEPT = {"Accept": "application/json, text/event-stream"}
NUMBER = "536-22-8145"


def _call(**changes: Any) -> dict[str, Any]:
    arguments = {"state": "CA", "annual_wages": 35_000}
    params = {"name": "calculate_nanny_taxes", "arguments": arguments} | changes.pop("params", {})
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params} | changes


@pytest.mark.parametrize(
    "message",
    [
        _call(method=NUMBER),
        _call(method=f"tools/{NUMBER}"),
        _call(method="536228145"),
        _call(id=NUMBER),
        _call(jsonrpc=NUMBER),
        _call(params={"name": NUMBER}),
        _call(params={"arguments": NUMBER}),
        _call(params={"arguments": [NUMBER]}),
        _call(params={"_meta": {"progressToken": NUMBER}}),
        _call(params={NUMBER: 1}),
        _call(method="resources/read", params={"uri": f"hearthpay://payrolls/{NUMBER}"}),
        _call(method="resources/read", params={"uri": "hearthpay://payrolls/536228145"}),
        _call(method="prompts/get", params={"name": "x", "arguments": {"employee": NUMBER}}),
        _call(method="initialize", params={"protocolVersion": NUMBER}),
        [_call(), _call(method=NUMBER)],
    ],
    ids=lambda message: str(message)[:80],
)
async def test_a_number_is_not_repeated(message: Any, client: httpx.AsyncClient, account: Account) -> None:
    answered = await client.post(f"{ADDRESS}/mcp", json=message, headers={**account.live.headers(), **ACCEPT})
    assert answered.status_code == 400, answered.text
    assert "8145" not in answered.text
    assert "Social Security" in answered.text


async def test_a_number_in_a_header_of_the_protocol_is_not_repeated(
    client: httpx.AsyncClient, account: Account
) -> None:
    for name in ("MCP-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name"):
        headers = {**account.live.headers(), **ACCEPT, name: NUMBER}
        answered = await client.post(f"{ADDRESS}/mcp", json=_call(), headers=headers)
        assert answered.status_code == 400, answered.text
        assert "8145" not in answered.text


async def test_ids_of_digits_are_answered(client: httpx.AsyncClient, account: Account) -> None:
    """Counters, times and traces, which programs make up."""
    for identity in (536_228_145, 1_780_000_000_000, "536228145", "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11"):
        trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
        message = _call(id=identity, params={"_meta": {"progressToken": identity, **trace}})
        answered = await client.post(
            f"{ADDRESS}/mcp", json=message, headers={**account.live.headers(), **ACCEPT}
        )
        assert answered.status_code == 200, answered.text
        assert answered.json()["id"] == identity


async def test_a_tool_answers_for_its_arguments_itself(
    app: FastAPI, account: Account, employer_id: str, employee_id: str
) -> None:
    async with hosted_agent(app, account.live.key) as agent:
        told = await ask(agent, "preview_payroll", **week(employer_id, employee_id), note=NUMBER)
    assert told["validation_details"]
    assert "8145" not in str(told)
