"""Programs of others are let in by real Chromium, call tools, and are sent away: the SDK's own client, authlib's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

import httpx
import httpx2
import psycopg
import pytest
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from playwright.async_api import Browser, Page, expect

from mcp import Client
from tests.mcp.agents import AGENT, ask, week
from tests.people.visitors import MARIA, PASSWORD
from tests.stories.looking import axe_source, pictured
from tests.web.rows.world import World

_VERIFIER = "what-only-the-program-that-asked-can-show-000"
_CHANGES = "Run payroll: pay employees and create tax records"


@dataclass
class OwnPort:
    """A program's own small server on the person's machine: the browser brings the answer to it."""

    address: str = ""
    came: asyncio.Queue[str] = field(default_factory=asyncio.Queue)

    async def answer(self) -> str:
        """Return the whole address that the browser was sent to."""
        return await asyncio.wait_for(self.came.get(), 30)


@asynccontextmanager
async def own_port() -> AsyncIterator[OwnPort]:
    port = OwnPort()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
        body = b"<!doctype html><title>Done</title><h1>You can close this window</h1>"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()
        if asked.startswith("/back"):
            port.came.put_nowait(port.address.removesuffix("/back") + asked)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port.address = f"http://localhost:{server.sockets[0].getsockname()[1]}/back"
    async with server:
        yield port


@pytest.fixture
async def page(browser: Browser, address: str, owner_connection: psycopg.Connection) -> AsyncIterator[Page]:
    """Maria's browser, in which nobody has signed in yet."""
    owner_connection.execute("UPDATE organizations SET plan = 'professional'")
    context = await browser.new_context(base_url=address, locale="en-US")
    yield await context.new_page()
    await context.close()


class Kept:
    """Where the SDK's client keeps what it was given."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def _sign_in(page: Page) -> None:
    await page.get_by_label("Email address").fill(MARIA)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def _let_in(page: Page, name: str) -> None:
    await page.get_by_role("heading", name=f"{name} wants to act for you").wait_for()
    await page.get_by_label("Maria Lopez").first.check()
    await page.get_by_label(_CHANGES).check()
    await page.get_by_role("button", name="Allow", exact=True).click()
    await page.get_by_role("heading", name="You can close this window").wait_for()


async def _send_away(page: Page, name: str) -> None:
    await page.goto("/settings/agents")
    await page.get_by_role("link", name=name).click()
    await page.get_by_role("button", name="Disconnect").click()
    await expect(page.get_by_text("Disconnected")).to_be_visible()


async def test_the_sdks_own_client_is_let_in_runs_a_payroll_and_is_sent_away(
    page: Page, address: str, world: World, owner_connection: psycopg.Connection
) -> None:
    async def show(url: str) -> None:
        await page.goto(url)
        await _sign_in(page)
        await _let_in(page, "Desk helper")

    kept = Kept()
    async with own_port() as port:

        async def answered() -> AuthorizationCodeResult:
            told = dict(parse_qsl(urlsplit(await port.answer()).query))
            return AuthorizationCodeResult(code=told["code"], state=told["state"], iss=told["iss"])

        metadata = OAuthClientMetadata(client_name="Desk helper", redirect_uris=[port.address])  # type: ignore[list-item]
        auth = OAuthClientProvider(f"{address}/mcp", metadata, kept, show, answered)
        async with (
            httpx2.AsyncClient(auth=auth, timeout=60) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http), client_info=AGENT) as agent,
        ):
            asked = week(str(world.household_id), str(world.employee_id), idempotency_key="first")
            preview = {name: value for name, value in asked.items() if name != "idempotency_key"}
            unseen = await ask(agent, "run_payroll", **asked)
            assert unseen["validation_details"] == [{"field": "preview_token", "message": "is required"}]
            token = (await ask(agent, "preview_payroll", **preview))["data"]["preview_token"]
            ran = await ask(agent, "run_payroll", **asked, preview_token=token)
            assert ran["data"]["status"] == "completed"
            told = {tool.name for tool in (await agent.list_tools()).tools}
            assert ("run_payroll" in told, "manage_autopilot" in told) == (True, False)
    assert owner_connection.execute("SELECT count(*) FROM payrolls").fetchone() == (1,)
    assert kept.tokens is not None
    await _send_away(page, "Desk helper")
    async with httpx.AsyncClient(base_url=address) as plain:
        headers = {"Authorization": f"Bearer {kept.tokens.access_token}", "Accept": "application/json"}
        refused = await plain.post("/mcp", json={}, headers=headers)
        assert refused.status_code == 401
        assert "invalid_token" in refused.headers["WWW-Authenticate"]


async def test_authlibs_client_is_let_in_and_sent_away(page: Page, address: str, world: World) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "check_threshold", "arguments": {"state": "CA", "annual_wages": 30000}},
    }
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    async with own_port() as port, httpx.AsyncClient(base_url=address) as plain:
        server = (await plain.get("/.well-known/oauth-authorization-server")).json()
        told = {"client_name": "Another library", "redirect_uris": [port.address]}
        registered = (await plain.post(server["registration_endpoint"], json=told)).json()
        async with AsyncOAuth2Client(
            registered["client_id"],
            token_endpoint_auth_method="none",
            redirect_uri=port.address,
            scope="payroll:read payroll:run",
            code_challenge_method="S256",
        ) as program:
            url, _ = program.create_authorization_url(
                server["authorization_endpoint"], code_verifier=_VERIFIER, resource=f"{address}/mcp"
            )
            await page.goto(url)
            await _sign_in(page)
            await _let_in(page, "Another library")
            tokens = await program.fetch_token(
                server["token_endpoint"],
                authorization_response=await port.answer(),
                code_verifier=_VERIFIER,
            )
            assert tokens["scope"] == "payroll:read payroll:run"
            called = await program.post(f"{address}/mcp", json=call, headers=headers)
            assert called.json()["result"]["isError"] is False
            first = tokens["access_token"]
            again = await program.refresh_token(server["token_endpoint"], tokens["refresh_token"])
            assert again["access_token"] != first
            assert (await program.post(f"{address}/mcp", json=call, headers=headers)).status_code == 200
            await _send_away(page, "Another library")
            assert (await program.post(f"{address}/mcp", json=call, headers=headers)).status_code == 401
            with pytest.raises(OAuthError, match="invalid_grant"):
                await program.refresh_token(server["token_endpoint"], again["refresh_token"])


@pytest.mark.long
async def test_the_pages_of_agents_are_for_everybody(page: Page, address: str, world: World) -> None:
    axe = axe_source()
    told = {"client_name": "Household helper of a very long name", "redirect_uris": ["http://localhost/back"]}
    async with httpx.AsyncClient(base_url=address) as plain:
        registered = (await plain.post("/oauth/register", json=told)).json()
    await page.goto("/sign-in")
    await _sign_in(page)
    await page.wait_for_url("**/app/**")
    await page.goto("/settings/agents")
    await pictured(page, "agents_none", axe)
    async with own_port() as port:
        program = AsyncOAuth2Client(
            registered["client_id"], redirect_uri=port.address, code_challenge_method="S256"
        )
        url, _ = program.create_authorization_url(f"{address}/oauth/authorize", code_verifier=_VERIFIER)
        await page.goto(url.replace("response_type=code", "response_type=token"))
        await page.get_by_role("link", name="Back to localhost").wait_for()
        await pictured(page, "agents_wrong_question", axe)
        await page.goto(url)
        await pictured(page, "agents_consent", axe)
        await _let_in(page, told["client_name"])
        code = dict(parse_qsl(urlsplit(await port.answer()).query))["code"]
        async with httpx.AsyncClient(base_url=address) as plain:
            form = {
                "grant_type": "authorization_code",
                "client_id": registered["client_id"],
                "code": code,
                "code_verifier": _VERIFIER,
                "redirect_uri": port.address,
            }
            token = (await plain.post("/oauth/token", data=form)).json()["access_token"]
            call = {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "check_threshold", "arguments": {"state": "CA", "annual_wages": 30000}},
            }
            headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {token}"}
            assert (await plain.post("/mcp", json=call, headers=headers)).status_code == 200
    await page.goto("/settings/agents")
    await pictured(page, "agents_list", axe)
    await page.get_by_role("link", name=told["client_name"]).click()
    await pictured(page, "agents_one", axe)
    await page.get_by_role("button", name="Disconnect").click()
    await expect(page.get_by_text("Disconnected")).to_be_visible()
    await pictured(page, "agents_gone", axe)
