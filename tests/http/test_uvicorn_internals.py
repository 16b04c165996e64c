"""Connections of ours where uvicorn is as we know it, and its own where it is not, or where they are asked for."""

import sys
import types
from dataclasses import replace

import httpx
import pytest
from structlog.testing import capture_logs
from uvicorn.protocols.http import httptools_impl

from hearthpay.app import create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http.connection import TimedConnection
from hearthpay.http.connection_limits import ConnectionLimiter, ConnectionLimits
from hearthpay.http.deadlines import Deadlines
from hearthpay.http.metrics import Metrics
from hearthpay.http.uvicorn_internals import UVICORNS_OWN, http_protocol, missing_internals, plain_http_of
from hearthpay.server import running


def limiter() -> ConnectionLimiter:
    return ConnectionLimiter(ConnectionLimits(), descriptors=None, read_within=1, metrics=Metrics())


def another_release(**changed: object) -> types.ModuleType:
    """Uvicorn's module as another release might have it; None: it has no such name any more."""
    module = types.ModuleType("another_release")
    kept = vars(httptools_impl) | changed
    vars(module).update({name: value for name, value in kept.items() if value is not None})
    return module


def test_the_installed_release_has_all_that_is_used() -> None:
    assert missing_internals(httptools_impl) == ()
    with capture_logs() as logged:
        protocol = http_protocol(Deadlines(), limiter(), plain=False)
    assert isinstance(protocol, type)
    assert issubclass(protocol, TimedConnection)
    assert logged == []


def test_what_another_release_lacks_is_named() -> None:
    class Connection:
        def __init__(self) -> None:
            self.client = self.cycle = self.flow = self.loop = self.parser = self.transport = None
            self.timeout_keep_alive_task = None

        connection_made = connection_lost = data_received = on_message_begin = on_url = on_header = repr
        on_headers_complete = on_body = on_message_complete = _unset_keepalive_if_required = repr

    assert missing_internals(another_release(STATUS_LINE=None, HttpToolsProtocol=Connection)) == (
        "STATUS_LINE",
        "HttpToolsProtocol.on_response_complete",
        "HttpToolsProtocol.pipeline",
    )
    assert missing_internals(another_release(FlowControl=None)) == ("FlowControl.read_paused",)


def test_under_an_unknown_release_connections_are_uvicorns_own_with_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, httptools_impl.__name__, another_release(STATUS_LINE=None))
    with capture_logs() as logged:
        assert http_protocol(Deadlines(), limiter(), plain=False) == UVICORNS_OWN
    assert [(each["event"], each["log_level"], each["missing"]) for each in logged] == [
        ("connections without limits", "warning", ("STATUS_LINE",))
    ]


@pytest.mark.parametrize(
    ("value", "plain"), [(None, False), ("", False), ("0", False), ("1", True), (" 1 ", True)]
)
def test_the_setting(value: str | None, plain: bool) -> None:
    assert plain_http_of({} if value is None else {"HEARTHPAY_PLAIN_HTTP": value}) is plain


def test_another_word_is_refused() -> None:
    with pytest.raises(ValueError, match="HEARTHPAY_PLAIN_HTTP must be 0 or 1"):
        plain_http_of({"HEARTHPAY_PLAIN_HTTP": "yes"})


@pytest.mark.parametrize("plain", [False, True])
async def test_the_service_answers_by_either(database: Database, clock: FixedClock, plain: bool) -> None:
    limits = replace(ConnectionLimits(), plain=plain)
    app = create_app(database, clock)
    async with (
        running(app, "127.0.0.1", 0, Deadlines(), limits) as (address, _),
        httpx.AsyncClient() as client,
    ):
        for _ in range(2):
            assert (await client.get(f"{address}/healthz")).json()["data"] == {"status": "ok"}
        calculated = await client.post(f"{address}/api/v1/calculate", json={"state": "CA"})
        assert calculated.status_code == 401


async def test_uvicorns_own_connections_keep_the_total(database: Database, clock: FixedClock) -> None:
    limits = ConnectionLimits(total=1, plain=True)
    async with (
        running(create_app(database, clock), "127.0.0.1", 0, Deadlines(), limits) as (address, _),
        httpx.AsyncClient() as first,
        httpx.AsyncClient() as second,
    ):
        answers = [(await client.get(f"{address}/healthz")).status_code for client in (first, second)]
        assert answers == [200, 503]
