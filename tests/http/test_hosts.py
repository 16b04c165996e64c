"""Which hosts are answered, and that nothing which is kept or sent begins with a host that a stranger names."""

import ast
from typing import Final

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http.hosts import HostName, place_of_address, place_of_host
from hearthpay.oauth.routes import RESOURCE_METADATA_PATH, SERVER_METADATA_PATH, TOOLS_PATH
from hearthpay.people.context import PeopleContext
from hearthpay.security.key_ring import KeyRing
from tests.people.visitors import MARIA, mails, people_context, ring
from tests.source_trees import SOURCE, modules_with
from tests.web.people_browser import OWN, Browser

__all__ = ["people_context", "ring"]

PUBLIC: Final = "https://pay.example.com"
METADATA: Final = tuple(
    path + end for path in (SERVER_METADATA_PATH, RESOURCE_METADATA_PATH) for end in ("", TOOLS_PATH)
)
LOOPBACK: Final = ("localhost", "localhost:8000", "LocalHost.", "127.0.0.1", "127.8.9.1:80", "[::1]:8000")
PRIVATE: Final = (
    "192.168.1.7",
    "10.0.0.9:8000",
    "[fd00::7]",
    "nas",
    "nas.local:80",
    "pay.home.arpa",
    "NAS.LAN.",
)
PUBLIC_NAMES: Final = ("pay.example.com", "PAY.example.COM", "pay.example.com.", "pay.example.com:443")
STRANGE: Final = (
    "evil.example",
    "evil.example:443",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "pay.example.com.evil.example",
    "pay.example.com:8443",
    "pay.example.com..",
    "pay.example.com@evil.example",
    "evil.example@localhost",
    "evil.example/localhost",
    "evil.example#@localhost",
    "8.8.8.8",
    "134744072",  # 8.8.8.8 as browsers read it
    "0x08080808",
    "010.0.0.1",
    "[2001:db8::1]:443",
    "[::ffff:8.8.8.8]",
    "[::1",
    "::1",
    "localhost:",
    "localhost:x",
    "local host",
    "",
    ".",
)


async def _ask(app: FastAPI, host: str, path: str = "/api/v1/threshold", **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        return await client.get(path, headers={"Host": host, **headers})


@pytest.fixture
def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    return create_app(database, clock, AppSettings(public_url=PUBLIC, ring=ring))


@pytest.fixture
def nameless(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """The application without HEARTHPAY_PUBLIC_URL."""
    return create_app(database, clock, AppSettings(ring=ring, keeps_mail=True))


@pytest.mark.parametrize(
    ("header", "place"),
    [
        ("Pay.Example.com.:8443", HostName("pay.example.com", 8443)),
        ("[FD00::7]:80", HostName("fd00::7", 80)),
        ("[pay.example.com]", None),
        ("a..b", None),
        ("1.2.3.4.", HostName("1.2.3.4", None)),
        ("1.2.3", None),
    ],
)
def test_a_host_is_read_in_one_way(header: str, place: HostName | None) -> None:
    assert place_of_host(header) == place
    assert place_of_address(f"https://{header}/path") == place


@pytest.mark.parametrize("path", ["/api/v1/threshold", "/sign-in", "/docs", "/nowhere", "/mcp", *METADATA])
async def test_with_a_public_address_other_hosts_are_misdirected(app: FastAPI, path: str) -> None:
    for host in (*PUBLIC_NAMES, *LOOPBACK):
        assert (await _ask(app, host, path)).status_code != 421, host
    for host in (*STRANGE, *PRIVATE):
        answer = await _ask(app, host, path)
        assert answer.status_code == 421, host
        assert "X-Request-Id" in answer.headers
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.json()["error"]["code"] == "invalid_state"


async def test_a_browser_is_shown_a_page(app: FastAPI) -> None:
    answer = await _ask(app, "evil.example", "/sign-in", Accept="text/html")
    assert answer.status_code == 421
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "evil.example" not in answer.text


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_probes_come_by_the_machines_address(app: FastAPI, path: str) -> None:
    for host in (*LOOPBACK, *PUBLIC_NAMES, "10.4.0.9:8000", "[fd00::7]:8000"):
        assert (await _ask(app, host, path)).status_code != 421, host
    for host in (*STRANGE, "nas.local"):
        assert (await _ask(app, host, path)).status_code == 421, host


async def test_two_hosts_are_none(app: FastAPI) -> None:
    hosts = [("Host", "localhost"), ("Host", "pay.example.com")]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=PUBLIC) as client:
        assert (await client.get("/healthz", headers=hosts)).status_code == 421


@pytest.mark.parametrize("path", METADATA)
async def test_metadata_is_made_of_the_public_address(app: FastAPI, path: str) -> None:
    for host in (*PUBLIC_NAMES, *LOOPBACK):
        answer = await _ask(app, host, path, **{"X-Forwarded-Host": "evil.example"})
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "public, max-age=3600"), host
        told = answer.json()
        assert told.get("issuer", PUBLIC) == PUBLIC
        assert told.get("authorization_servers", [PUBLIC]) == [PUBLIC]
        assert "127.0.0.1" not in answer.text


@pytest.mark.parametrize("path", METADATA)
async def test_without_one_private_names_alone_are_served_metadata(nameless: FastAPI, path: str) -> None:
    for host in (*LOOPBACK, *PRIVATE):
        answer = await _ask(nameless, host, path)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store"), host
    for host in (*STRANGE, *PUBLIC_NAMES):
        answer = await _ask(nameless, host, path)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (421, "no-store"), host
        assert (await _ask(nameless, host)).status_code == 401, host  # what nobody keeps is answered


async def test_no_mail_begins_with_a_forged_host(
    nameless: FastAPI, people_context: PeopleContext, ring: KeyRing, owner_connection: psycopg.Connection
) -> None:
    nameless.state.people_context = people_context
    transport = httpx.ASGITransport(nameless)
    async with httpx.AsyncClient(transport=transport, base_url="https://127.0.0.1:8443") as client:
        token = await Browser(client).token("/sign-up")
        for host in ("evil.example", "10.6.6.6", "nas.local"):
            sent = await client.post(
                "/sign-up",
                data={"form_token": token, "email": f"{host}.{MARIA}"},
                headers={**OWN, "Host": host},
            )
            assert sent.status_code == 200, sent.text
            mail = mails(owner_connection, ring)[-1]
            assert mail["to"] == f"{host}.{MARIA}"
            assert "https://localhost:8443/sign-up/" in mail["text"]
            assert f"/{host}" not in mail["text"] + mail["html"]


SHOWN_TO_WHO_ASKS: Final = {
    "http/runtime.py": "where it is made",
    "http/example.py": "the documentation of a refused request",
    "autopilot/routes.py": "the page that a refused program's person opens",
    "oauth/routes.py": "metadata, for known hosts alone",
    "web/agents/consent.py": "the issuer, as the metadata names it",
    "web/forms.py": "compared with the form's origin",
    "web/visitor.py": "compared with the form's origin, and the site of passkeys",
    "web/household/calendar/feed_link.py": "the feed's address, shown once",
    "todos/routes.py": "the page of each to-do",
}
"""Who asks by which name he came: what comes of it goes back to him and no further."""


def test_what_is_made_from_the_host_goes_to_nobody_else() -> None:
    found = set()
    for path, tree in modules_with("address_of|base_url"):
        for node in ast.walk(tree):
            imported = isinstance(node, ast.ImportFrom) and node.module == "hearthpay.http.runtime"
            by_name = imported and any(each.name == "address_of" for each in node.names)
            if by_name or (isinstance(node, ast.Attribute) and node.attr == "base_url"):
                found.add(str(path.relative_to(SOURCE)))
    assert found == set(SHOWN_TO_WHO_ASKS)
