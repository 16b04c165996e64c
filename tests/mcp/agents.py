"""Agents for tests: the SDK's own client, connected to the application, and what it reads."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
from fastapi import FastAPI
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
        transport=httpx2.ASGITransport(app),
        base_url=address,
        headers={"Authorization": f"Bearer {key}"},
    )
    async with (
        http,
        Client(
            streamable_http_client(f"{address}/mcp", http_client=http), client_info=AGENT, mode=mode
        ) as client,
    ):
        yield client


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; what the text says is what the structured answer says."""
    import json

    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    assert json.loads(content.text) == result.structured_content
    assert isinstance(result.structured_content, dict)
    assert result.is_error is ("error" in result.structured_content)
    return result.structured_content
