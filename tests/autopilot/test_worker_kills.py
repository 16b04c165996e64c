"""Worker processes are killed in the middle of making, sending and telling: each is done once, or not yet."""

import random
from typing import Any, Final

import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.session import Database
from tests.autopilot.mortal_worker import MortalWorkers, mortal_workers
from tests.autopilot.pilot import Pilot, new_pilot
from tests.autopilot.proving import proved
from tests.conditions import wait_until
from tests.http.api import Account
from tests.worlds.town import Town

FAMILIES: Final = 2
_UNDER_WAY: Final = """
    SELECT count(*) FROM pg_stat_activity
     WHERE xact_start IS NOT NULL AND datname = current_database() AND pid <> pg_backend_pid()
"""
_COUNTS: Final = {
    "generation": """
        SELECT (SELECT count(*) FROM autopilot_periods),
               (SELECT count(*) FROM autopilot_events WHERE event = 'generate'),
               (SELECT count(*) FROM payrolls WHERE status = 'scheduled'), (SELECT count(*) FROM payroll_estimates),
               (SELECT count(*) FROM payroll_entries WHERE live AND period = '[2026-11-16,2026-11-23)'),
               (SELECT count(*) FROM autopilot_errands WHERE kind = 'debit_tomorrow'),
               (SELECT count(*) FROM audit_log WHERE action = 'payroll.schedule')
    """,
    "firing": """
        SELECT (SELECT count(*) FROM autopilot_periods WHERE outcome = 'fired'),
               (SELECT count(*) FROM autopilot_events WHERE event = 'fire'),
               (SELECT count(*) FROM payrolls WHERE status = 'pending_funding'),
               (SELECT count(*) FROM bank_entries WHERE kind = 'debit'),
               (SELECT count(*) FROM paychecks WHERE period = '[2026-11-16,2026-11-23)'),
               (SELECT count(*) FROM payroll_transitions WHERE to_status = 'pending_funding')
    """,
    "errands": """
        SELECT (SELECT count(*) FROM mail_outbox WHERE kind = 'notice.autopilot_enrolled' AND status = 'queued'),
               (SELECT 2 - count(*) FROM autopilot_errands WHERE kind = 'enrolled')
    """,
}
"""What stands together: of each as many as there are payrolls made, sent, told of."""


def nothing_under_way(owner: psycopg.Connection) -> None:
    """Wait until the server has noticed the death of whoever was killed."""
    wait_until(lambda: owner.execute(_UNDER_WAY).fetchone() == (0,))


def die_again_and_again(
    workers: MortalWorkers,
    pilot: Pilot,
    owner: psycopg.Connection,
    what: str,
    chance: random.Random,
    step: int,
) -> tuple[int, list[int]]:
    """Let workers die further and further into the work until one is done; what they left is whole at each death.

    Return how often they died, and what was there at the end.
    """
    deaths = point = 0
    while True:
        point += chance.randint(1, step)
        killed = workers.work(what, pilot.town.clock.now(), point)
        nothing_under_way(owner)
        (found,) = owner.execute(_COUNTS[what]).fetchall()
        assert len(set(found)) == 1, (what, point, found)
        if not killed:
            return deaths, list(found)
        deaths += 1


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.long)])
async def test_what_a_killed_worker_had_in_hand_is_done_once(
    town: Town,
    account: Account,
    server: EmbeddedServer,
    owner_pool: Database,
    owner_connection: psycopg.Connection,
    step: int,
) -> None:
    chance = random.Random(5)
    pilots = [await new_pilot(town, account.live, account) for _ in range(FAMILIES)]
    for each in pilots:
        await each.enroll()
    with mortal_workers(server.owner_url(), town.ring.newest.entry()) as workers:

        async def done_once(what: str, deaths_at_least: int) -> None:
            deaths, found = die_again_and_again(workers, pilots[0], owner_connection, what, chance, step)
            assert deaths >= deaths_at_least, (what, deaths)
            assert set(found) == {FAMILIES}, (what, found)
            await proved(owner_pool, town.clock, punctual=False)

        await done_once("errands", 1)
        town.go_to("2026-11-20", 15)
        await done_once("generation", 2)
        town.go_to("2026-11-23", 15)
        await done_once("firing", 2)
    for day in ("2026-11-23", "2026-12-01", "2026-12-02"):
        town.go_to(day, 16)
        await pilots[0].work()
    paid: list[Any] = owner_connection.execute(
        "SELECT outcome, (SELECT count(*) FROM paychecks c WHERE c.payroll_id = g.payroll_id) "
        "FROM autopilot_periods g WHERE period_start = '2026-11-16'"
    ).fetchall()
    assert paid == [("paid", 1)] * FAMILIES
    await proved(owner_pool, town.clock)
