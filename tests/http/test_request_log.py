"""The request log: one line a request, with what an operator needs and nothing a client wrote."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import structlog
from fastapi import FastAPI
from starlette.requests import Request
from structlog.contextvars import get_contextvars, merge_contextvars
from structlog.testing import capture_logs

from hearthpay.http.envelope import answer
from hearthpay.http.request_log import describe_failure
from hearthpay.server import log_settings
from tests.http.api import MARIA, Account, data

Lines = list[Any]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """What is logged, before it is rendered."""
    with capture_logs(processors=[merge_contextvars]) as lines:
        yield lines


async def test_a_line_says_who_asked_for_what_and_how_it_went(
    account: Account, client: httpx.AsyncClient, lines: Lines
) -> None:
    response = await account.test.get("/payrolls", limit=2)
    (line,) = lines
    assert 0 < line.pop("ms") < 60_000
    assert line == {
        "event": "request",
        "log_level": "info",
        "request_id": response.headers["X-Request-Id"],
        "method": "GET",
        "route": "/api/v1/payrolls",
        "status": 200,
        "organization_id": str(account.organization_id),
        "actor": "key",
        "actor_id": str(account.test.key_id),
        "mode": "test",
    }


async def test_a_stranger_and_an_unknown_address(client: httpx.AsyncClient, lines: Lines) -> None:
    await client.get("/api/v1/employers", headers={"Authorization": "Bearer hp_live_nobody"})
    await client.get("/api/v1/123-45-6789?ssn=123-45-6789")
    stranger, lost = lines
    assert (stranger["route"], stranger["status"]) == ("/api/v1/employers", 401)
    assert (lost["route"], lost["status"]) == (None, 404)
    for line in lines:
        assert set(line) == {"event", "log_level", "request_id", "method", "route", "status", "ms"}
        assert line["log_level"] == "info"


async def test_an_object_is_named_by_the_template_only(
    account: Account, client: httpx.AsyncClient, lines: Lines
) -> None:
    household = data(await account.test.post("/employers", MARIA), 201)
    path = f"/api/v1/employers/{household['id']}"
    assert (await client.delete(path, headers=account.test.headers())).status_code == 200
    assert lines[-1]["route"] == "/api/v1/employers/{employer_id}"
    assert household["id"] not in repr(lines)
    assert "Lopez" not in repr(lines)


async def test_probes_are_quiet(client: httpx.AsyncClient, lines: Lines) -> None:
    for path in ("/healthz", "/readyz"):
        await client.get(path)
    assert [line["log_level"] for line in lines] == ["debug", "debug"]


async def test_every_line_of_a_request_carries_its_id_and_no_other(
    app: FastAPI, client: httpx.AsyncClient, lines: Lines
) -> None:
    async def talkative(request: Request) -> Any:
        structlog.get_logger("elsewhere").info("thinking")
        return answer(request, get_contextvars())

    app.add_api_route("/talkative", talkative, include_in_schema=False)
    for _ in range(2):
        response = await client.get("/talkative")
        assert response.json()["data"] == {"request_id": response.headers["X-Request-Id"]}
        assert {line["request_id"] for line in lines} == {response.headers["X-Request-Id"]}
        assert len(lines) == 2
        lines.clear()
    assert get_contextvars() == {}


async def test_a_failure_is_an_error_and_tells_where_but_not_with_what(
    app: FastAPI, client: httpx.AsyncClient, lines: Lines
) -> None:
    async def failing() -> None:
        wages = "wages of 91827364.55"
        try:
            raise LookupError(wages)
        except LookupError as cause:
            raise ValueError(f"cannot pay {wages}") from cause

    app.add_api_route("/failing", failing, include_in_schema=False)
    response = await client.get("/failing")
    assert response.status_code == 500
    failure, line = lines
    assert (line["log_level"], line["status"], line["route"]) == ("error", 500, "/failing")
    assert failure["event"] == "request failed"
    assert failure["request_id"] == line["request_id"] == response.json()["meta"]["requestId"]
    told = failure["exception"]
    assert told.index("LookupError\nwhich led to:") < told.index('raise ValueError(f"cannot pay')
    assert told.endswith("ValueError")
    assert "in failing" in told
    assert "91827364.55" not in response.text
    assert "91827364.55" not in told


def test_a_failure_is_told_with_all_that_led_to_it() -> None:
    def fail() -> None:
        try:
            try:
                raise KeyError("secret-1")
            except KeyError:
                raise OSError("secret-2")  # noqa: B904 - the context counts as well
        except OSError as error:
            raise ExceptionGroup("secret-3", [error, ValueError("secret-4"), error]) from None

    with pytest.raises(ExceptionGroup) as caught:
        fail()
    caught.value.__cause__ = caught.value  # a circle must end
    told = describe_failure(caught.value)
    assert [line for line in told.split("\n") if not line.startswith((" ", "Traceback"))] == [
        "ExceptionGroup",
        "of which one is:",
        "KeyError",
        "which led to:",
        "OSError",
        "of which one is:",
        "ValueError",
    ]


PRINT_LINES = """
import asyncio, logging, sys
import structlog
from hearthpay.process import configure_logging, log_settings
configure_logging(*log_settings({"HEARTHPAY_LOG_LEVEL": sys.argv[1], "HEARTHPAY_LOG": sys.argv[2]}))
log = structlog.get_logger("ours")
log.debug("ours at debug")
log.info("ours at info", route="/x")
try:
    raise ValueError("planted 314159265")
except ValueError as error:
    log.error("ours failed", exc_info=error)
    logging.getLogger("uvicorn.error").exception("theirs failed")
for level in (logging.DEBUG, logging.INFO, logging.WARNING):
    logging.getLogger("sqlalchemy.engine").log(level, "theirs at %s\\nRow planted 314159265", level)
"""


def printed(level: str, form: str) -> list[str]:
    result = subprocess.run(
        [sys.executable, "-c", PRINT_LINES, level, form], capture_output=True, text=True, check=True
    )
    assert result.stdout == ""
    assert "planted 314159265" not in result.stderr.replace('raise ValueError("planted 314159265")', "")
    return result.stderr.splitlines()


@pytest.mark.parametrize(
    ("level", "ours"),
    [("debug", ["ours at debug", "ours at info"]), ("info", ["ours at info"]), ("error", [])],
)
def test_lines_are_json_and_libraries_are_heard_from_warnings_on(level: str, ours: list[str]) -> None:
    lines = [json.loads(line) for line in printed(level, "json")]
    assert [line["event"] for line in lines] == [*ours, "ours failed", "theirs failed", "theirs at 30"]
    assert all(line["timestamp"].endswith("Z") for line in lines)
    failures = [line for line in lines if line["event"].endswith("failed")]
    assert all(line["exception"].endswith("ValueError") for line in failures)
    assert failures[1]["logger"] == "uvicorn.error"


def test_text_is_for_reading() -> None:
    text = "\n".join(printed("info", "text"))
    assert "ours at info" in text
    assert "{" not in text
    assert "ours at debug" not in text


def test_settings_of_the_log() -> None:
    assert log_settings({}) == ("info", "json")
    assert log_settings({"HEARTHPAY_LOG": "TEXT", "HEARTHPAY_LOG_LEVEL": "Debug"}) == ("debug", "text")
    for wrong in ({"HEARTHPAY_LOG": "xml"}, {"HEARTHPAY_LOG_LEVEL": "loud"}):
        with pytest.raises(SystemExit, match=next(iter(wrong))):
            log_settings(wrong)
