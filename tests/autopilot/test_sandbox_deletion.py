"""A sandbox household is deleted while the worker is at it: one waits for the other, and none is sent away."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import psycopg
import pytest

from hearthpay.autopilot.outbox_tasks import run_outbox_tasks
from hearthpay.payroll.payday.firing import fire_due
from tests.autopilot.pilot import DESK, Pilot
from tests.conftest import plain_url

Work = Callable[[Pilot], Coroutine[Any, Any, None]]

_WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


async def generation(pilot: Pilot) -> None:
    await pilot.generate()


async def firing(pilot: Pilot) -> None:
    await fire_due(pilot.town.worker, pilot.town.clock)


async def errands(pilot: Pilot) -> None:
    await run_outbox_tasks(pilot.town.worker, pilot.town.ring, pilot.town.clock, DESK)


async def delete(pilot: Pilot) -> None:
    caller = pilot.family.caller
    answer = await caller.client.delete(
        f"/api/v1/employers/{pilot.family.employer_id}", headers=caller.headers()
    )
    assert answer.status_code == 200, answer.text


async def all_wait_or_are_done(tasks: Sequence[asyncio.Task[None]], owner: psycopg.Connection) -> None:
    """Wait until whoever is not done waits for a lock."""
    while True:
        under_way = sum(not task.done() for task in tasks)
        ((waiting,),) = owner.execute(_WAITING).fetchall()
        if waiting >= under_way:
            return
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("work", [generation, firing, errands])
@pytest.mark.parametrize("first", ["deletion", "work"])
async def test_neither_ends_in_a_deadlock(
    sandbox_pilot: Pilot, server: Any, owner_connection: psycopg.Connection, work: Work, first: str
) -> None:
    pilot = sandbox_pilot
    await pilot.enroll()
    pilot.town.go_to("2026-11-20" if work is generation else "2026-11-23", 15)
    if work is not generation:
        await pilot.generate()
    with psycopg.connect(plain_url(server.owner_url())) as somebody:
        # Somebody else has the employee in hand, so that both come as far as they can and meet.
        somebody.execute("SELECT FROM employees FOR NO KEY UPDATE")
        deeds = (delete, work) if first == "deletion" else (work, delete)
        tasks: list[asyncio.Task[None]] = []
        for deed in deeds:
            tasks.append(asyncio.create_task(deed(pilot)))
            await all_wait_or_are_done(tasks, owner_connection)
        somebody.rollback()
        await asyncio.gather(*tasks)
    for table in ("employers", "autopilot_enrollments", "autopilot_periods", "autopilot_errands", "payrolls"):
        left = owner_connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        assert left == (0,), table
    await work(pilot)
