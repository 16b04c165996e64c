"""Idempotency keys: the same request again does nothing again, whatever happens in between."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import httpx
import orjson
import psycopg
import pytest
from fastapi import Depends, FastAPI
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.employers.schemas import NewEmployer
from hearthpay.http.auth import require
from hearthpay.http.idempotency import idempotent
from hearthpay.http.routing import api_router
from hearthpay.wire.answer import Answer
from tests.http.api import MARIA, ROSA, Account, NewAccount, NewKey, data, fields, refusal

Counts = Callable[[], dict[str, int]]


async def test_the_same_request_again_is_answered_again(
    account: Account, household: dict[str, Any], counts: Counts
) -> None:
    first = await account.live.post("/employees", ROSA, idempotency_key="rosa-1")
    data(first, 201)
    assert "Idempotent-Replayed" not in first.headers
    after_first = counts()

    again = await account.live.post("/employees", ROSA, idempotency_key="rosa-1")
    assert again.status_code == 201
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["X-Request-Id"] != first.headers["X-Request-Id"]
    assert counts() == after_first


async def test_fifty_at_once_create_one(account: Account, household: dict[str, Any], counts: Counts) -> None:
    answers = await asyncio.gather(
        *(account.live.post("/employees", ROSA, idempotency_key="fifty") for _ in range(50))
    )
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotent-Replayed" not in answer.headers for answer in answers) == 1
    assert counts()["employees"] == 1


async def test_another_body_under_the_same_key_is_a_conflict(
    account: Account, household: dict[str, Any], counts: Counts
) -> None:
    data(await account.live.post("/employees", ROSA, idempotency_key="k"), 201)
    before = counts()
    other = {**ROSA, "first_name": "Carmen"}
    refusal(await account.live.post("/employees", other, idempotency_key="k"), 409, "idempotency_conflict")
    assert counts() == before


async def test_another_endpoint_under_the_same_key_is_a_conflict(
    account: Account, household: dict[str, Any]
) -> None:
    data(await account.live.post("/employees", ROSA, idempotency_key="k"), 201)
    refusal(await account.live.post("/employers", MARIA, idempotency_key="k"), 409, "idempotency_conflict")


async def test_the_order_of_the_fields_does_not_make_another_request(
    account: Account, household: dict[str, Any]
) -> None:
    first = await account.live.post("/employees", ROSA, idempotency_key="k")
    reordered = dict(reversed(ROSA.items()))
    again = await account.live.post("/employees", reordered, idempotency_key="k")
    assert again.content == first.content


async def test_a_refusal_is_not_kept_and_the_key_stays_free(
    account: Account, household: dict[str, Any]
) -> None:
    bad = {**ROSA, "overtime_rate": 1}
    refusal(await account.live.post("/employees", bad, idempotency_key="k"), 400, "validation_error")
    data(await account.live.post("/employees", ROSA, idempotency_key="k"), 201)


async def test_two_at_once_of_which_the_first_fails(
    app: FastAPI, account: Account, household: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    """Both are refused for the same reason, and nothing is left behind: neither row nor key."""
    data(await account.live.post("/employees", ROSA), 201)
    answers = await asyncio.gather(
        *(account.live.post("/employees", ROSA, idempotency_key="again") for _ in range(5))
    )
    for answer in answers:
        refusal(answer, 400, "duplicate_employee")
    assert owner_connection.execute("SELECT count(*) FROM idempotency_keys").fetchone() == (0,)


async def test_an_answer_lost_after_the_commit_is_replayed(
    app: FastAPI, account: Account, household: dict[str, Any], counts: Counts
) -> None:
    body = orjson.dumps(ROSA)
    headers = {**account.live.headers("lost"), "content-type": "application/json"}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/api/v1/employees",
        "raw_path": b"/api/v1/employees",
        "query_string": b"",
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("pay.example.com", 80),
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        raise ConnectionResetError("the wire was cut")

    with pytest.raises(ConnectionResetError):
        await app(scope, receive, send)
    assert counts()["employees"] == 1

    again = await account.live.post("/employees", ROSA, idempotency_key="lost")
    assert data(again, 201)["name"] == "Rosa Diaz"
    assert again.headers["Idempotent-Replayed"] == "true"
    assert counts()["employees"] == 1


async def test_keys_of_two_accounts_and_of_the_two_modes_do_not_meet(
    account: Account, new_account: NewAccount
) -> None:
    other = await new_account("Other family")
    callers = (account.live, account.test, other.live, other.test)
    created = [data(await caller.post("/employers", MARIA, idempotency_key="k"), 201) for caller in callers]
    assert len({household["id"] for household in created}) == 4


async def test_two_keys_that_remember_two_households_do_not_share_an_answer(
    account: Account, household: dict[str, Any], new_key: NewKey
) -> None:
    second = data(await account.live.post("/employers", {**MARIA, "first_name": "Ana"}), 201)
    first_key = await new_key("Lopez family", employer_id=household["id"])
    second_key = await new_key("Lopez family", employer_id=second["id"])
    data(await first_key.post("/employees", ROSA, idempotency_key="k"), 201)
    refusal(await second_key.post("/employees", ROSA, idempotency_key="k"), 409, "idempotency_conflict")


@pytest.mark.parametrize("key", ["x" * 255, "a", "with spaces and = / signs"])
async def test_keys_of_any_printable_form_are_taken(
    account: Account, household: dict[str, Any], key: str
) -> None:
    data(await account.live.post("/employees", ROSA, idempotency_key=key), 201)


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
async def test_a_malformed_key_is_refused_naming_the_header(
    account: Account, household: dict[str, Any], counts: Counts, key: str
) -> None:
    before = counts()
    error = refusal(await account.live.post("/employees", ROSA, idempotency_key=key), 400, "validation_error")
    assert fields(error) == ["Idempotency-Key"]
    assert counts() == before


async def test_two_keys_in_one_request_are_refused(
    account: Account, household: dict[str, Any], client: httpx.AsyncClient
) -> None:
    headers = [*account.live.headers().items(), ("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    response = await client.post("/api/v1/employees", json=ROSA, headers=headers)
    assert fields(refusal(response, 400, "validation_error")) == ["Idempotency-Key"]


async def test_when_the_first_fails_the_waiting_second_runs(app: FastAPI, account: Account) -> None:
    started, fail = asyncio.Event(), asyncio.Event()
    runs = 0
    slow = api_router("Slow")

    @slow.post("/slow")
    async def run(
        request: Request, body: NewEmployer, actor: Annotated[Actor, Depends(require())]
    ) -> Response:
        async def operation(session: AsyncSession) -> Answer:
            nonlocal runs
            runs += 1
            if runs == 1:
                started.set()
                await fail.wait()
                raise Refusal("invalid_state", "not this time")
            return Answer({"run": runs}, 201)

        return await idempotent(request, actor, operation)

    app.router.routes.extend(slow.routes)
    first = asyncio.create_task(account.live.post("/slow", MARIA, idempotency_key="k"))
    await started.wait()
    second = asyncio.create_task(account.live.post("/slow", MARIA, idempotency_key="k"))
    await asyncio.sleep(0.2)
    assert not second.done()
    assert runs == 1
    fail.set()
    assert (await first).status_code == 400
    assert data(await second, 201) == {"run": 2}
    replayed = await account.live.post("/slow", MARIA, idempotency_key="k")
    assert data(replayed, 201) == {"run": 2}
    assert replayed.headers["Idempotent-Replayed"] == "true"
