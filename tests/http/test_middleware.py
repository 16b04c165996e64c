"""What every answer carries."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from starlette.responses import StreamingResponse

from hearthpay.clock import FixedClock
from tests.http.api import Account, refusal


async def test_every_answer_is_hardened_and_named(client: httpx.AsyncClient, account: Account) -> None:
    answers = [
        await client.get("/healthz"),
        await client.get("/docs"),
        await client.get("/openapi.json"),
        await client.get("/nothing"),
        await account.live.get("/employers"),
        await account.live.post("/employers", {}),
    ]
    for response in answers:
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["X-Frame-Options"] == "DENY"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        assert response.headers["Cache-Control"] in ("no-store", "no-cache")
        assert "Strict-Transport-Security" not in response.headers
        assert "server" not in response.headers
    assert len({response.headers["X-Request-Id"] for response in answers}) == len(answers)


async def test_over_https_the_client_is_told_to_stay_there(client: httpx.AsyncClient) -> None:
    response = await client.get("https://pay.example.com/healthz")
    assert response.headers["Strict-Transport-Security"].startswith("max-age=")


async def test_an_id_sent_by_the_client_is_ignored(client: httpx.AsyncClient, clock: FixedClock) -> None:
    response = await client.get("/healthz", headers={"X-Request-Id": "mine"})
    assert response.headers.get_list("X-Request-Id") == [response.json()["meta"]["requestId"]]
    assert "mine" not in response.text


async def test_a_failure_after_the_answer_began_is_broken_off_not_papered_over(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    async def drops() -> AsyncIterator[bytes]:
        yield b"first"
        raise LookupError("in the middle")

    async def breaking() -> StreamingResponse:
        return StreamingResponse(drops())

    app.add_api_route("/breaking", breaking, include_in_schema=False)
    with pytest.raises(LookupError):
        await client.get("/breaking")


async def test_a_failure_of_its_own_deadline_is_not_taken_for_the_gates(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    async def impatient() -> None:
        raise TimeoutError

    app.add_api_route("/impatient", impatient, include_in_schema=False)
    refusal(await client.get("/impatient"), 500, "internal_error")
