"""A sandbox household's clock: it alone moves, by the worker's own work, and stands where it was led."""

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from hearthpay.database.session import Database
from hearthpay.payroll.payday.bank_day import advance as do_bank_day
from tests.autopilot.proving import proved
from tests.http.api import Account, data, fields, refusal
from tests.sandbox.households import Lab
from tests.worlds.households import add_employee, add_household, payroll_of
from tests.worlds.tables import TABLES


def rows_of(connection: psycopg.Connection, *employers: str) -> dict[str, list[Any]]:
    """Every row that belongs to these households, in every table; idempotency keys and the audit log aside."""
    found = {}
    for table in TABLES:
        columns = {
            row[0]
            for row in connection.execute(
                "SELECT column_name FROM information_schema.columns WHERE table_name = %s", (table,)
            )
        }
        column = "id" if table == "employers" else "employer_id"
        if column in columns:
            query = sql.SQL("SELECT t::text FROM {} t WHERE {}::text = ANY(%s) ORDER BY 1").format(
                sql.Identifier(table), sql.Identifier(column)
            )
            found[table] = connection.execute(query, (list(employers),)).fetchall()
    return found


async def test_advance_completes_a_direct_deposit(lab: Lab, owner_database: Database) -> None:
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id)
    payroll_id = await lab.run(employer_id, employee_id, "2026-11-16", "2026-11-22")
    assert (await lab.payroll(payroll_id))["status"] == "pending_funding"

    clock = await lab.advance(employer_id, "2026-12-03")

    assert clock["status"] == "ready"
    assert (clock["now"], clock["today"]) == ("2026-12-03T23:00:00Z", "2026-12-03")
    found = await lab.payroll(payroll_id)
    assert found["status"] == "completed"
    moments = [each["at"] for each in found["status_history"]]
    assert moments == sorted(moments)
    assert moments[-1][:10] == found["pay_period"]["pay_date"]
    await proved(owner_database, lab.clock, whole=True)


async def test_a_household_without_a_clock_goes_by_real_time(lab: Lab) -> None:
    employer_id = await lab.household()
    clock = await lab.now(employer_id)
    assert (clock["test_clock"], clock["status"], clock["now"]) == (False, "ready", "2026-11-20T15:00:00Z")
    assert (clock["target"], clock["advanced_from"], clock["finished_at"]) == (None, None, None)
    lab.clock.advance(timedelta(days=3))
    assert (await lab.now(employer_id))["today"] == "2026-11-23"


async def test_a_clock_that_real_time_has_passed_is_advanced(lab: Lab) -> None:
    """It lags behind, or is years ahead: the next advance counts from where it stands."""
    employer_id = await lab.household()
    await lab.advance(employer_id, "2026-11-21T15:00:00Z")
    lab.clock.advance(timedelta(days=10))
    assert (await lab.advance(employer_id, "2026-11-22T15:00:00Z"))["now"] == "2026-11-22T15:00:00Z"
    late = await lab.caller.post(f"/sandbox/employers/{employer_id}/advance", {"to": "2026-11-22T15:00:00Z"})
    assert fields(refusal(late, 400, "validation_error")) == ["to"]


async def test_the_first_advance_to_a_moment_that_passes_meanwhile_is_refused_or_done(
    lab: Lab, owner_connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real time goes on with each reading: wherever between two of them the moment lies."""
    employer_id = await lab.household()
    began, step = lab.clock.now(), timedelta(seconds=2)
    readings = 0

    def reading(_: object) -> datetime:
        nonlocal readings
        readings += 1
        return began + readings * step

    monkeypatch.setattr(type(lab.clock), "now", reading)
    statuses = []
    for ahead in range(20):
        to = began + (readings + ahead + 0.5) * step
        asked = {"to": to.isoformat()}
        advanced = await lab.caller.post(f"/sandbox/employers/{employer_id}/advance", asked)
        statuses.append(advanced.status_code)
        owner_connection.execute("DELETE FROM household_clocks")
    assert set(statuses) == {202, 400}, statuses


async def test_a_household_sees_its_own_time_and_stands_still(lab: Lab) -> None:
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id)
    await lab.advance(employer_id, "2026-12-07T15:00:00Z")
    lab.clock.advance(timedelta(days=2))

    assert (await lab.now(employer_id))["now"] == "2026-12-07T15:00:00Z"
    body = payroll_of(employer_id, employee_id, pay_period_start="2026-11-23", pay_period_end="2026-11-29")
    del body["pay_date"]
    preview = data(await lab.caller.post("/payroll/preview", body))
    assert preview["pay_period"]["pay_date"] == "2026-12-07"
    body["employees"][0]["payment_method"] = "direct_deposit"
    preview = data(await lab.caller.post("/payroll/preview", {**body, "confirm_ach_debit": True}))
    assert preview["pay_period"]["pay_date"] == "2026-12-14"
    hired = await add_employee(lab.caller, employer_id, first_name="Ines", start_date=None)
    assert data(await lab.caller.get(f"/employees/{hired}"))["start_date"] == "2026-12-07"
    late = body | {"pay_date": "2026-12-11"}
    error = refusal(await lab.caller.post("/payroll/run", late), 400, "pay_date_past_deadline")
    assert error["details"]["next_valid_pay_date"] == "2026-12-14"
    listed = data(await lab.caller.get("/tax-calendar", employer_id=employer_id))
    assert listed


async def test_a_payroll_and_an_employee_lead_to_the_households_time(lab: Lab) -> None:
    standing = await lab.household()
    employee_id = await lab.employee(standing)
    payroll_id = await lab.run(standing, employee_id, "2026-11-16", "2026-11-22", pay_date="2026-12-15")
    other = await lab.household()
    await lab.advance(standing, "2026-12-02")

    assert data(await lab.caller.post(f"/payroll/{payroll_id}/void", {}))["status"] == "voided"
    history = (await lab.payroll(payroll_id))["status_history"]
    assert history[-1]["at"] == "2026-12-02T23:00:00Z"
    left = data(await lab.caller.post(f"/employees/{employee_id}/terminate", {}))
    assert left["end_date"] == "2026-12-02"
    assert (await lab.now(other))["today"] == "2026-11-20"


async def test_real_and_other_households_are_untouched_to_the_byte(
    lab: Lab, account: Account, owner_connection: psycopg.Connection, worker_database: Database
) -> None:
    real = await add_household(account.live)
    of_real = await add_employee(account.live, real)
    data(await account.live.post("/payroll/run", payroll_of(real, of_real)))
    other = await lab.household()
    pending = await lab.run(other, await lab.employee(other), "2026-11-16", "2026-11-22")
    moving = await lab.household("debit_returned_r01")
    await lab.run(moving, await lab.employee(moving), "2026-11-16", "2026-11-22")
    tables = ("worker_problems", "bank_files", "people", "person_sessions", "one_time_tokens")
    before = rows_of(owner_connection, real, other)
    own = [owner_connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables]

    await lab.advance(moving, "2026-12-18")

    assert rows_of(owner_connection, real, other) == before
    assert own == [
        owner_connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables
    ]
    moved = rows_of(owner_connection, moving)
    for _ in range(14):
        lab.clock.advance(timedelta(days=1))
        await do_bank_day(worker_database, lab.ring, None, lab.clock)
    assert rows_of(owner_connection, moving) == moved
    assert (await lab.payroll(pending))["status"] == "completed"


async def test_changes_are_refused_while_the_clock_advances(
    lab: Lab, owner_connection: psycopg.Connection
) -> None:
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id)
    idempotent = {"idempotency_key": "advance-1"}
    path, body = f"/sandbox/employers/{employer_id}/advance", {"to": "2026-11-24"}
    asked = await lab.caller.post(path, body, **idempotent)
    assert data(asked, 202)["status"] == "advancing"
    assert (await lab.caller.post(path, body, **idempotent)).json()["data"] == asked.json()["data"]
    before = rows_of(owner_connection, employer_id)

    refusal(await lab.caller.post(path, {"to": "2026-12-02"}), 409, "clock_advancing")
    for changing, sent in (
        ("/payroll/run", payroll_of(employer_id, employee_id)),
        (f"/sandbox/employees/{employee_id}/tax-info", {"magic": "ssn"}),
        (f"/sandbox/employers/{employer_id}/bank-account", {"magic": "verified"}),
        (f"/employees/{employee_id}/terminate", {}),
    ):
        refusal(await lab.caller.post(changing, sent), 409, "clock_advancing")
    headers = lab.caller.headers()
    patched = await lab.caller.client.patch(
        f"/api/v1/employees/{employee_id}", headers=headers, json={"pay_rate": 30}
    )
    refusal(patched, 409, "clock_advancing")
    assert data(await lab.caller.get(f"/employees/{employee_id}"))["id"] == employee_id
    assert rows_of(owner_connection, employer_id) == before

    await lab.work()
    assert (await lab.now(employer_id))["status"] == "ready"
    data(await lab.caller.post("/payroll/run", payroll_of(employer_id, employee_id)))


@pytest.mark.parametrize(
    "to",
    [
        "2026-11-20T15:00:00Z",
        "2026-11-19",
        "2028-11-21",
        "2028-11-20T15:00:01Z",
        "2026-13-01",
        "tomorrow",
        "2026-12-01T10:00:00",
        "",
        20261201,
        None,
        "9999-12-31",
        "0001-01-01",
        "2026-W50-1",
    ],
)
async def test_a_time_that_cannot_be_reached_is_refused(lab: Lab, to: object) -> None:
    employer_id = await lab.household()
    refused = await lab.caller.post(f"/sandbox/employers/{employer_id}/advance", {"to": to})
    assert fields(refusal(refused, 400, "validation_error")) == ["to"]
    assert not (await lab.now(employer_id))["test_clock"]


async def test_two_years_are_the_most_and_ten_the_horizon(
    lab: Lab, owner_connection: psycopg.Connection
) -> None:
    employer_id = await lab.household()
    await lab.ask(employer_id, "2028-11-20T15:00:00Z")
    owner_connection.execute(
        "UPDATE household_clocks SET stands_at = '2036-11-01', advanced_from = '2036-11-01', target = '2036-11-01', "
        "status = 'ready', finished_at = now()"
    )
    refused = await lab.caller.post(f"/sandbox/employers/{employer_id}/advance", {"to": "2036-12-01"})
    assert "ten years" in refusal(refused, 400, "validation_error")["message"]


async def test_a_failing_step_ends_the_advance_where_it_is(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, owner_connection: psycopg.Connection
) -> None:
    employer_id = await lab.household()
    neighbor = await lab.household()
    with monkeypatch.context() as broken:

        async def fail(*_: object, **__: object) -> None:
            raise RuntimeError("a step that cannot be done")

        broken.setattr("hearthpay.worker.household_time.generate_due", fail)
        clock = await lab.advance(employer_id, "2026-11-23")
    assert (clock["status"], clock["now"]) == ("internal_failure", "2026-11-20T15:00:00Z")
    assert clock["finished_at"] is not None
    assert not (await lab.now(neighbor))["test_clock"]
    assert (await lab.advance(employer_id, "2026-11-23"))["status"] == "ready"


async def test_workers_at_once_lead_each_household_once(lab: Lab, owner_database: Database) -> None:
    households = [await lab.household() for _ in range(3)]
    payrolls = [
        await lab.run(each, await lab.employee(each), "2026-11-16", "2026-11-22") for each in households
    ]
    for each in households:
        await lab.ask(each, "2026-12-01")
    await asyncio.gather(*(lab.work(slice_seconds=0.2) for _ in range(3)))
    for each in households:
        assert (await lab.now(each))["status"] == "ready"
    assert [(await lab.payroll(each))["status"] for each in payrolls] == ["completed"] * 3
    await proved(owner_database, lab.clock, whole=True)


async def test_a_household_can_be_deleted_while_its_clock_advances(
    lab: Lab, owner_connection: psycopg.Connection
) -> None:
    employer_id = await lab.household()
    await lab.run(employer_id, await lab.employee(employer_id), "2026-11-16", "2026-11-22")
    await lab.ask(employer_id, "2027-11-01")
    leading = asyncio.create_task(lab.work())
    await asyncio.sleep(0.3)
    url = f"/api/v1/employers/{employer_id}"
    data(await lab.caller.client.delete(url, headers=lab.caller.headers()))
    await leading
    assert owner_connection.execute("SELECT count(*) FROM household_clocks").fetchone() == (0,)


async def test_reset_keeps_the_clock_and_deletion_ends_it(
    lab: Lab, owner_connection: psycopg.Connection
) -> None:
    employer_id = await lab.household()
    await lab.run(employer_id, await lab.employee(employer_id), "2026-11-16", "2026-11-22")
    await lab.advance(employer_id, "2026-12-01")
    url = f"/api/v1/employers/{employer_id}"
    data(await lab.caller.client.delete(url, params={"reset": "true"}, headers=lab.caller.headers()))
    assert (await lab.now(employer_id))["today"] == "2026-12-01"
    data(await lab.caller.client.delete(url, headers=lab.caller.headers()))
    assert owner_connection.execute("SELECT count(*) FROM household_clocks").fetchone() == (0,)


async def test_the_database_keeps_clocks_to_the_sandbox_and_forward(
    lab: Lab, account: Account, owner_connection: psycopg.Connection
) -> None:
    real = await add_household(account.live)
    employer_id = await lab.household()
    await lab.advance(employer_id, "2026-12-01")
    copied = (
        "INSERT INTO household_clocks SELECT e.id, e.organization_id, {}, c.created_at, c.stands_at, c.status, "
        "c.advanced_from, c.target, c.requested_at, c.finished_at FROM household_clocks c, employers e WHERE e.id = %s"
    )
    with pytest.raises(psycopg.errors.CheckViolation):
        owner_connection.execute(copied.format("e.sandbox"), (real,))
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        owner_connection.execute(copied.format("true"), (real,))
    for change in (
        "stands_at = stands_at - interval '1 second', advanced_from = advanced_from - interval '1 year'",
        "target = target + interval '1 second'",
        "status = 'advancing'",
        "target = advanced_from + interval '2 years 1 second', status = 'advancing', finished_at = NULL",
    ):
        with pytest.raises(psycopg.errors.CheckViolation):
            owner_connection.execute(f"UPDATE household_clocks SET {change}")


async def test_the_worker_sees_a_household_at_its_own_time_and_no_other(
    lab: Lab, account: Account, worker_database: Database
) -> None:
    real, other, moving = await add_household(account.live), await lab.household(), await lab.household()
    for each in (other, moving):
        await lab.run(each, await lab.employee(each), "2026-11-16", "2026-11-22")
    await lab.ask(moving, "2026-12-01")

    async def seen(database: Database) -> tuple[set[str], set[str]]:
        async with database.transaction(None) as session:
            payrolls = await session.scalars(text("SELECT employer_id::text FROM payrolls"))
            households = await session.scalars(text("SELECT id::text FROM employers"))
            return set(payrolls), set(households)

    assert await seen(worker_database) == ({other}, {real, other})
    assert await seen(worker_database.at_clock_of(UUID(moving))) == ({moving}, {moving})
    with pytest.raises(DBAPIError, match="row-level security"):
        async with worker_database.transaction(None) as session:
            await session.execute(
                text(
                    "INSERT INTO payroll_transitions (id, organization_id, employer_id, sandbox, payroll_id) "
                    "SELECT new_id(), organization_id, :moving, true, id FROM payrolls"
                ),
                {"moving": UUID(moving)},
            )
