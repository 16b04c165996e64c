"""What every answer carries."""

import httpx

from hearthpay.clock import FixedClock
from tests.http.api import Account


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
    response = await client.get("https://hearthpay.example/healthz")
    assert response.headers["Strict-Transport-Security"].startswith("max-age=")


async def test_an_id_sent_by_the_client_is_ignored(client: httpx.AsyncClient, clock: FixedClock) -> None:
    response = await client.get("/healthz", headers={"X-Request-Id": "mine"})
    assert response.headers.get_list("X-Request-Id") == [response.json()["meta"]["requestId"]]
    assert "mine" not in response.text
