"""Of somebody who has left nothing is decided after the last day; reinstated, it goes on with the next whole period."""

import psycopg

from hearthpay.database.session import Database
from tests.autopilot.pilot import Pilot, outcomes
from tests.autopilot.proving import proved


async def _post(pilot: Pilot, what: str, **body: str) -> None:
    answered = await pilot.family.caller.post(f"/employees/{pilot.employee}/{what}", body)
    assert answered.status_code == 200, answered.text


def _event_details(connection: psycopg.Connection, kind: str) -> int:
    row = connection.execute(
        "SELECT count(*) FROM mail_outbox WHERE kind = %s", (f"notice.autopilot_{kind}",)
    ).fetchone()
    assert row is not None
    return int(row[0])


async def test_it_stops_with_the_employment_and_counts_no_failures(
    pilot: Pilot, owner_database: Database, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    await _post(pilot, "terminate", end_date="2026-11-22")
    await pilot.live_through("2026-11-20", "2026-12-20")
    assert outcomes(owner_connection) == [("2026-11-16", "paid")]
    stands = (await pilot.read())["enrollment"]
    assert (stands["status"], stands["failure_count"]) == ("paused", 0)
    assert (_event_details(owner_connection, "paused"), _event_details(owner_connection, "refused")) == (1, 0)
    await proved(owner_database, pilot.town.clock, whole=True)


async def test_reinstated_it_goes_on_with_the_next_whole_period(
    pilot: Pilot, owner_database: Database, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    await _post(pilot, "terminate", end_date="2026-11-22")
    await pilot.live_through("2026-11-20", "2026-12-01")
    await _post(
        pilot, "reinstate", start_date="2026-12-09"
    )  # a Wednesday: the week from the 14th is the next whole one
    await pilot.live_through("2026-12-02", "2026-12-19")
    assert outcomes(owner_connection) == [
        ("2026-11-16", "paid"),
        ("2026-11-23", "paused"),
        ("2026-11-30", "paused"),
        ("2026-12-07", "paused"),
        ("2026-12-14", "scheduled"),
    ]
    assert _event_details(owner_connection, "resumed") == 1
    await proved(owner_database, pilot.town.clock, whole=True)


async def test_a_pause_by_a_person_outlives_the_reinstatement(pilot: Pilot) -> None:
    await pilot.enroll()
    await _post(pilot, "terminate", end_date="2026-11-22")
    await pilot.live_through("2026-11-20", "2026-12-01")
    assert (await pilot.ask("pause"))["enrollment"]["status"] == "paused"
    await _post(pilot, "reinstate", start_date="2026-12-09")
    await pilot.live_through("2026-12-02", "2026-12-04")
    assert (await pilot.read())["enrollment"]["status"] == "paused"
