"""The whole way of an agent, step by step: registration, the question, the person's answer, tokens, and calls."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import httpx
from fastapi import FastAPI

from hearthpay.access.plans import terms_of
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employers.commands import CreateEmployer
from hearthpay.employers.service import create_employer
from hearthpay.people.sessions import SignedIn
from tests.web.people_browser import HOME, Browser

RESOURCE = f"{HOME}/mcp"
RETURNS = "https://agent.example.com/callback?kept=1"
VERIFIER = "a-proof-that-only-the-one-who-asked-can-give-0"


def challenge_of(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def answer_in(response: httpx.Response) -> dict[str, str]:
    """What the agent is told by the address that the browser is sent to."""
    assert response.status_code == 303, response.text
    return dict(parse_qsl(urlsplit(response.headers["location"]).query))


def program_of(app: FastAPI) -> httpx.AsyncClient:
    """The agent's own connection."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app, client=("192.0.2.99", 1)), base_url=HOME)


@dataclass
class Dance:
    """An agent with its own connection, and the person whom it asks."""

    app: FastAPI
    clock: FixedClock
    browser: Browser
    program: httpx.AsyncClient
    household_id: UUID
    sandbox_id: UUID
    client_id: str = ""
    question: dict[str, str] = field(default_factory=dict)

    @classmethod
    async def begin(
        cls, app: FastAPI, database: Database, clock: FixedClock, maria: SignedIn, browser: Browser
    ) -> Dance:
        program = program_of(app)
        households = []
        for sandbox in (False, True):
            actor = _as(maria, sandbox=sandbox)
            async with database.transaction(actor.tenant) as session:
                made = await create_employer(
                    session,
                    actor,
                    clock,
                    CreateEmployer(first_name="Maria", last_name="Lopez", state="CA", email="m@example.com"),
                )
                households.append(made.id)
        dance = cls(app, clock, browser, program, *households)
        registered = await dance.register()
        assert registered.status_code == 201, registered.text
        dance.client_id = registered.json()["client_id"]
        dance.question = {
            "response_type": "code",
            "client_id": dance.client_id,
            "redirect_uri": RETURNS,
            "code_challenge": challenge_of(VERIFIER),
            "code_challenge_method": "S256",
            "state": "its own",
            "resource": RESOURCE,
        }
        return dance

    async def register(self, **changes: Any) -> httpx.Response:
        told = {"client_name": "Helper <b>9</b>", "redirect_uris": [RETURNS, "http://127.0.0.1/back"]}
        return await self.program.post("/oauth/register", json=told | changes)

    async def ask(self, browser: Browser | None = None, **changes: str | None) -> str:
        """Ask, and return the page on which a person is asked."""
        asked = {name: value for name, value in (self.question | changes).items() if value is not None}
        response = await (browser or self.browser).client.get("/oauth/authorize", params=asked)
        assert response.status_code == 303, response.text
        return response.headers["location"]

    async def refused(self, **changes: str | None) -> httpx.Response:
        asked = {name: value for name, value in (self.question | changes).items() if value is not None}
        return await self.browser.client.get("/oauth/authorize", params=asked)

    async def consent(self, page: str, browser: Browser | None = None, **form: str) -> httpx.Response:
        filled = {"household": f"live:{self.household_id}", "lasts": "30", "decision": "yes"} | form
        return await (browser or self.browser).send(page, page=page, **filled)

    async def code(self, *scopes: str, **form: str) -> str:
        given = {f"scope_{scope}": "on" for scope in scopes}
        return answer_in(await self.consent(await self.ask(), **given, **form))["code"]

    async def exchange(self, code: str, **changes: str | None) -> httpx.Response:
        told = {
            "grant_type": "authorization_code",
            "client_id": self.client_id,
            "code": code,
            "code_verifier": VERIFIER,
            "redirect_uri": RETURNS,
            "resource": RESOURCE,
        } | changes
        return await self.program.post(
            "/oauth/token", data={name: value for name, value in told.items() if value is not None}
        )

    async def refresh(self, token: str, **changes: str) -> httpx.Response:
        told = {"grant_type": "refresh_token", "client_id": self.client_id, "refresh_token": token}
        return await self.program.post("/oauth/token", data=told | changes)

    async def tokens(self, *scopes: str, **form: str) -> dict[str, Any]:
        response = await self.exchange(await self.code(*scopes, **form))
        assert response.status_code == 200, response.text
        return response.json()

    async def call(self, access: str, tool: str = "check_threshold", **arguments: Any) -> httpx.Response:
        """Call a tool as plainly as the wire lets one."""
        asked = {"name": tool, "arguments": arguments or {"state": "CA", "annual_wages": 30000}}
        return await self.send(access, "tools/call", asked)

    async def read(self, access: str, address: str) -> dict[str, Any]:
        """Read a resource; return what came of it, an error or a result."""
        answer = await self.send(access, "resources/read", {"uri": address})
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    async def send(self, access: str, method: str, params: dict[str, Any]) -> httpx.Response:
        """Send one message to `/mcp`."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {
            "Authorization": f"Bearer {access}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
        }
        return await self.program.post("/mcp", json=message, headers=headers)


def _as(who: SignedIn, *, sandbox: bool) -> Any:
    return replace(replace(who, sandbox=sandbox).actor("request"), terms=terms_of("professional", {}))
