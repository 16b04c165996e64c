"""Agents for tests: the SDK's own client, connected to the application or to `hearthpay mcp`, and what it reads."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
from fastapi import FastAPI
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from mcp import Client

ADDRESS = "http://localhost:8000"
AGENT = types.Implementation(name="Test agent", version="7")


@asynccontextmanager
async def hosted_agent(
    app: FastAPI, key: str, *, mode: str = "auto", address: str = ADDRESS
) -> AsyncIterator[Client]:
    """An agent that is connected to `/mcp` of the application, with a key."""
    http = httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), headers={"Authorization": f"Bearer {key}"}, timeout=60
    )
    transport = streamable_http_client(f"{address}/mcp", http_client=http)
    async with http, Client(transport, client_info=AGENT, mode=mode) as client:
        yield client


@asynccontextmanager
async def desk_agent(mode: str = "auto", **environment: str) -> AsyncIterator[Client]:
    """An agent that has started `hearthpay mcp` with these settings, and nothing of ours."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "hearthpay.cli", "mcp"], env={**inherited, **environment}
    )
    async with Client(command, client_info=AGENT, mode=mode) as client:
        yield client


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; what the text says is what the structured answer says."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    assert json.loads(content.text) == result.structured_content
    assert isinstance(result.structured_content, dict)
    assert result.is_error is ("error" in result.structured_content)
    return result.structured_content


def week(employer_id: str, employee_id: str, **changes: Any) -> dict[str, Any]:
    """The arguments for a week of forty hours, paid by check."""
    return {
        "employer_id": employer_id,
        "employee_id": employee_id,
        "pay_period_start": "2026-11-09",
        "pay_period_end": "2026-11-15",
        "pay_date": "2026-11-20",
        "pay_frequency": "weekly",
        "regular_hours": 40,
        "payment_method": "check",
    } | changes
