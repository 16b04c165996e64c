"""Failed attempts to authenticate slow down who makes them, and nobody who has a key."""

import asyncio
from datetime import timedelta

import httpx
from fastapi import FastAPI

from hearthpay.http.attempts import BURST
from hearthpay.security.api_keys import generate
from tests.http.api import BASE_URL, Account, data, refusal


def from_address(app: FastAPI, address: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app, client=(address, 1)), base_url=BASE_URL)


async def attempt(client: httpx.AsyncClient, key: str) -> httpx.Response:
    return await client.get("/api/v1/employers", headers={"Authorization": f"Bearer {key}"})


async def test_a_burst_is_told_to_wait(app: FastAPI, account: Account, clock) -> None:
    async with (
        from_address(app, "198.51.100.7") as stranger,
        from_address(app, "203.0.113.9") as owner,
    ):
        data(await attempt(stranger, account.test.key))  # a good key that is in use behind the same address
        for number in range(BURST):
            key = generate("live").text if number % 2 else "hp_live_x"
            refusal(await attempt(stranger, key), 401, "authentication_required")
        faces = set()
        for key in (generate("live").text, "hp_live_x", "nonsense"):
            response = await attempt(stranger, key)
            error = refusal(response, 429, "rate_limited")
            assert 1 <= int(response.headers["Retry-After"]) <= 2
            faces.add((error["message"], response.headers["Retry-After"]))
        assert len(faces) == 1, "nobody learns which keys are well formed"
        data(await attempt(stranger, account.test.key))
        data(await attempt(owner, account.live.key))
        refusal(await attempt(owner, generate("live").text), 401, "authentication_required")

        clock.advance(timedelta(seconds=5))
        data(await attempt(stranger, account.live.key))


async def test_attempts_on_one_key_from_many_addresses_join(app: FastAPI, account: Account) -> None:
    beginning = account.live.key[:12]
    for number in range(BURST + 1):
        async with from_address(app, f"198.51.100.{number}") as stranger:
            response = await attempt(stranger, beginning + "0" * 45)
    refusal(response, 429, "rate_limited")
    async with from_address(app, "203.0.113.9") as owner:
        data(await attempt(owner, account.live.key))


async def test_without_a_key_nothing_is_counted(app: FastAPI) -> None:
    async with from_address(app, "198.51.100.7") as stranger:
        for _ in range(BURST + 5):
            refusal(await stranger.get("/api/v1/employers"), 401, "authentication_required")


async def test_a_key_that_this_process_has_never_seen_is_let_in_amid_wrong_ones(
    app: FastAPI, account: Account
) -> None:
    """As after a restart, behind one address with somebody who sends 50 wrong keys a second."""
    async with from_address(app, "198.51.100.7") as stranger:
        for _ in range(BURST + 1):
            response = await attempt(stranger, generate("live").text)
        refusal(response, 429, "rate_limited")
        wrong = [asyncio.create_task(attempt(stranger, generate("live").text)) for _ in range(50)]
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            data(await attempt(stranger, account.live.key))
        for answer in await asyncio.gather(*wrong):
            refusal(answer, 429, "rate_limited")


async def test_two_headers_of_authorization_are_refused(app: FastAPI, account: Account) -> None:
    key = account.live.key
    async with from_address(app, "198.51.100.8") as client:
        for second in (f"Bearer {key}", "Bearer hp_live_x", "Basic eDp5"):
            headers = [("Authorization", f"Bearer {key}"), ("Authorization", second)]
            refusal(await client.get("/api/v1/employers", headers=headers), 400, "validation_error")
