"""Four keys of two organizations talk at random: none ever learns of another's world or changes it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from tests.boundary.sequences import Conversation, conversations
from tests.boundary.worlds import KeptWorlds, World, fingerprint, refuse_changes, refuse_leaks
from tests.endpoints import ACTIONS, ENDPOINTS, ONCE_EACH
from tests.endpoints.endpoint import Step
from tests.http.api import BASE_URL, NewAccount, data, refusal
from tests.openapi.document import Document

AT_RANDOM: dict[str, Any] = {
    "deadline": None,
    "derandomize": True,
    "database": None,
    "phases": [Phase.generate],  # a conversation is short enough to read, and slow to shrink
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}


@asynccontextmanager
async def fresh_worlds(
    database: Database,
    clock: FixedClock,
    kept_worlds: KeptWorlds,
    new_account: NewAccount,
    owner: psycopg.Connection,
) -> AsyncIterator[list[World]]:
    """The four worlds anew, as each example begins with them, before an application that remembers nothing of them."""
    app = create_app(database, clock, AppSettings(ring=kept_worlds.ring))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE_URL) as client:
        yield await kept_worlds.open(client, new_account, owner)


async def _isolated(
    steps: list[Step],
    database: Database,
    clock: FixedClock,
    kept_worlds: KeptWorlds,
    new_account: NewAccount,
    owner: psycopg.Connection,
    document: Document,
) -> None:
    async with fresh_worlds(database, clock, kept_worlds, new_account, owner) as worlds:
        await Conversation(worlds[0].caller.client, worlds, owner, document).play(steps)


@settings(max_examples=8, **AT_RANDOM)
@given(steps=conversations(12))
async def test_no_key_reaches_another_world(
    steps: list[Step],
    database: Database,
    clock: FixedClock,
    kept_worlds: KeptWorlds,
    new_account: NewAccount,
    owner_connection: psycopg.Connection,
    document: Document,
) -> None:
    await _isolated(steps, database, clock, kept_worlds, new_account, owner_connection, document)


@pytest.mark.long
@pytest.mark.timeout(1800)
@settings(max_examples=400, **AT_RANDOM)
@given(steps=conversations(40))
async def test_no_key_reaches_another_world_for_long(
    steps: list[Step],
    database: Database,
    clock: FixedClock,
    kept_worlds: KeptWorlds,
    new_account: NewAccount,
    owner_connection: psycopg.Connection,
    document: Document,
) -> None:
    await _isolated(steps, database, clock, kept_worlds, new_account, owner_connection, document)


async def test_every_action_can_succeed(
    client: httpx.AsyncClient,
    worlds: list[World],
    owner_connection: psycopg.Connection,
    document: Document,
) -> None:
    """Or the random conversations would be about refusals only."""
    succeeded: dict[str, int] = {}
    of_sandbox = [name for name in ACTIONS if ENDPOINTS[name].test_keys_only]
    steps = [
        Step(name, speaker, household=speaker, thing=speaker, which=0, variant=1)
        for speaker in (0, 3)  # the real world of one organization, the sandbox of the other
        for name in ONCE_EACH
        if name not in of_sandbox or worlds[speaker].sandbox
    ]
    await Conversation(client, worlds, owner_connection, document, succeeded).play(steps)
    assert succeeded == dict.fromkeys(ACTIONS, 2) | dict.fromkeys(of_sandbox, 1)


async def test_anothers_employee_is_nobody_to_ones_own_payroll(
    worlds: list[World], owner_connection: psycopg.Connection
) -> None:
    for own in worlds:
        for other in worlds:
            if other is own:
                continue
            before = fingerprint(owner_connection)
            for people in ((other.employee_id,), (own.employee_id, other.employee_id)):
                payroll = {**own.payroll(*people, week=1), "employer_id": own.employer_id}
                for path in ("/payroll/preview", "/payroll/run"):
                    response = await own.caller.post(path, payroll)
                    refusal(response, 400, "employee_not_in_household")
                    refuse_leaks(response, own, worlds)
            listed = await own.caller.get("/payrolls", employee_id=other.employee_id)
            assert data(listed) == []
            refuse_leaks(listed, own, worlds)
            refuse_changes(before, fingerprint(owner_connection), except_of=None)


async def test_an_idempotency_key_is_each_worlds_own(worlds: list[World]) -> None:
    """The same key, four times: four answers, each of its own world, also when they are replayed."""
    answers = []
    for again in (False, True):
        for world in worlds:
            body = {**world.person("Eva"), "employer_id": world.employer_id}
            response = await world.caller.post("/employees", body, idempotency_key="the same")
            assert data(response, 201)["last_name"] == world.word
            assert ("Idempotent-Replayed" in response.headers) is again
            refuse_leaks(response, world, worlds)
            answers.append(response.content)
    assert len(set(answers)) == len(worlds)
    assert answers[: len(worlds)] == answers[len(worlds) :]


async def test_a_cursor_of_anothers_shows_nothing_of_theirs(worlds: list[World]) -> None:
    for other in worlds:
        await other.caller.post("/employees", {**other.person("Eva"), "employer_id": other.employer_id})
        page = (await other.caller.get("/employees", employer_id=other.employer_id, limit=1)).json()
        cursor = page["meta"]["next_cursor"]
        assert cursor is not None
        for own in worlds:
            for path, query in (
                ("/employees", {"employer_id": own.employer_id}),
                ("/employers", {}),
                ("/payrolls", {}),
            ):
                response = await own.caller.get(path, cursor=cursor, limit=100, **query)
                data(response)
                refuse_leaks(response, own, worlds)
