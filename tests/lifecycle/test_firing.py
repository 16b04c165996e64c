"""Firing at scale and in trouble: shared between workers, once each, and one bad payroll alone."""

import asyncio
import itertools
from datetime import timedelta

import psycopg
import pytest
import structlog

from hearthpay.clock import FixedClock
from hearthpay.payroll.issues.attempts import MOST_ATTEMPTS
from hearthpay.payroll.payday import firing
from hearthpay.payroll.payday.bank_day import advance
from hearthpay.payroll.payday.firing import fire_due
from tests.http.api import data, refusal
from tests.worlds.households import add_employee
from tests.worlds.town import Family, Town, rows, statuses


async def schedule(family: Family, town: Town, count: int) -> list[str]:
    """So many payrolls of as many employees, all due on 27 November."""
    ids = []
    for number in range(count):
        employee = await add_employee(family.caller, family.employer_id, first_name=f"Number {number}")
        await town.connect(family.caller, family.employer_id, employee)
        entry = {"employee_id": employee, "regular_hours": 10, "payment_method": "direct_deposit"}
        order = family.order("2026-12-04", employees=[entry])
        ids.append(data(await family.caller.post("/payroll/run", order))["payroll_id"])
    return ids


async def test_several_workers_share_what_is_due_and_fire_each_once(
    family: Family, town: Town, owner_connection: psycopg.Connection
):
    ids = await schedule(family, town, 12)
    town.go_to("2026-11-27", 15)
    reports = await asyncio.gather(*(fire_due(town.worker, town.clock, chunk=2) for _ in range(4)))
    assert sum(report.fired for report in reports) == len(ids)
    fired = "SELECT payroll_id::text, count(*) FROM payroll_transitions WHERE to_status = 'firing' GROUP BY 1"
    assert dict(rows(owner_connection, fired)) == dict.fromkeys(ids, 1)
    assert rows(owner_connection, "SELECT count(*), count(DISTINCT payroll_id) FROM bank_entries") == [
        (12, 12)
    ]
    assert rows(owner_connection, "SELECT count(*) FROM paychecks") == [(12,)]


async def test_chunks_are_a_share_of_what_is_due(family: Family, town: Town, monkeypatch: pytest.MonkeyPatch):
    await schedule(family, town, 10)
    monkeypatch.setattr(firing, "CHUNK", 1)
    monkeypatch.setattr(firing, "_SHARES", 2)
    monkeypatch.setattr(firing, "_LARGEST_CHUNK", 3)
    town.go_to("2026-11-27", 15)
    fired = [0]
    report = await fire_due(town.worker, town.clock, progress=fired.append)
    chunks = [after - before for before, after in itertools.pairwise(fired)]
    assert report.fired == sum(chunks) == 10
    assert chunks[0] == 3, "half of them would be more than the most"
    assert max(chunks) == 3
    assert len(chunks) in {4, 5}


async def test_nothing_is_fired_before_its_time_and_nothing_twice(family: Family, town: Town):
    await schedule(family, town, 1)
    town.go_to("2026-11-27", 14, 59)
    assert (await fire_due(town.worker, town.clock)).fired == 0
    town.go_to("2026-11-27", 15)
    assert (await fire_due(town.worker, town.clock)).fired == 1
    assert (await fire_due(town.worker, town.clock)).fired == 0


async def test_a_payroll_that_cannot_be_calculated_waits_alone_and_is_tried_again(
    family: Family, town: Town, owner_connection: psycopg.Connection
):
    bad, *good = await schedule(family, town, 4)
    employee = rows(owner_connection, "SELECT employee_id FROM payroll_entries WHERE payroll_id = %s", bad)[
        0
    ][0]
    settings = '{"filing_status": "none of them"}'
    owner_connection.execute(
        "UPDATE employees SET state_withholding = %s WHERE id = %s", (settings, employee)
    )
    town.go_to("2026-11-27", 15)
    report = await fire_due(town.worker, town.clock)
    assert report.fired == 3
    assert [str(each) for each in report.put_off] == [bad]
    detail = data(await family.caller.get(f"/payroll/{bad}"))
    assert detail["status"] == "scheduled"
    assert detail["failure"]["code"] == "not_calculable"
    assert "filing_status" in detail["failure"]["message"]
    for each in good:
        assert data(await family.caller.get(f"/payroll/{each}"))["status"] == "pending_funding"
    assert (await fire_due(town.worker, town.clock)).put_off == ()  # not at once
    owner_connection.execute("UPDATE employees SET state_withholding = '{}' WHERE id = %s", (employee,))
    town.clock.advance(timedelta(minutes=1))
    assert (await fire_due(town.worker, town.clock)).fired == 1
    detail = data(await family.caller.get(f"/payroll/{bad}"))
    assert statuses(detail) == ["scheduled", "firing", "pending_funding"]
    assert "failure" not in detail


async def test_a_payroll_that_breaks_the_database_s_rules_is_found_within_its_chunk(
    family: Family, town: Town, owner_connection: psycopg.Connection
):
    """Whatever the reason: here a paycheck that the schema refuses, as a bug or a bad rule file might make one."""
    bad, *good = await schedule(family, town, 5)
    employee = rows(owner_connection, "SELECT employee_id FROM payroll_entries WHERE payroll_id = %s", bad)[
        0
    ][0]
    owner_connection.execute(
        f"ALTER TABLE paychecks ADD CONSTRAINT never CHECK (employee_id <> '{employee}') NOT VALID"
    )
    try:
        town.go_to("2026-11-27", 15)
        with structlog.testing.capture_logs() as logs:
            report = await fire_due(town.worker, town.clock)
        assert report.fired == len(good)
        assert [str(each) for each in report.put_off] == [bad]
        assert any(entry.get("payroll_id") == bad for entry in logs)
        detail = data(await family.caller.get(f"/payroll/{bad}"))
        assert detail["failure"]["code"] == "internal_error"
        assert "constraint" not in str(detail)
    finally:
        owner_connection.execute("ALTER TABLE paychecks DROP CONSTRAINT never")


async def test_after_many_attempts_it_has_failed_and_its_period_is_free(family: Family, town: Town, account):
    [bad] = await schedule(family, town, 1)
    entry = data(await family.caller.get(f"/payroll/{bad}"))["employees"][0]
    change = {"end_date": "2026-11-10"}
    response = await family.caller.post(f"/employees/{entry['employee_id']}/terminate", change)
    assert response.status_code == 200, response.text
    town.go_to("2026-11-27", 15)
    outcomes = []
    for _ in range(MOST_ATTEMPTS):
        outcomes.append(await fire_due(town.worker, town.clock))
        town.clock.advance(timedelta(hours=8))
    assert [len(outcome.failed) for outcome in outcomes] == [*[0] * (MOST_ATTEMPTS - 1), 1]
    detail = data(await family.caller.get(f"/payroll/{bad}"))
    assert statuses(detail) == ["scheduled", "firing", "failed"]
    assert detail["failure"]["code"] == "employee_left"
    assert detail["status_history"][-1]["reason"] == "employee_left"


async def test_a_household_whose_account_has_gone_is_told_and_fires_once_it_is_back(
    family: Family, town: Town, owner_connection: psycopg.Connection
):
    [payroll_id] = await schedule(family, town, 1)
    owner_connection.execute("UPDATE bank_accounts SET status = 'failed' WHERE employee_id IS NULL")
    town.go_to("2026-11-27", 15)
    assert len((await fire_due(town.worker, town.clock)).put_off) == 1
    detail = data(await family.caller.get(f"/payroll/{payroll_id}"))
    assert detail["failure"]["code"] == "bank_account_not_ready"
    await town.connect(family.caller, family.employer_id)
    town.clock.advance(timedelta(minutes=1))
    assert len((await fire_due(town.worker, town.clock)).put_off) == 1
    detail = data(await family.caller.get(f"/payroll/{payroll_id}"))
    assert detail["failure"]["code"] == "authorization_missing"  # it was approved for another account
    assert detail["actions"] == ["void", "authorize_debit"]
    path = f"/employers/{family.employer_id}/debit-authorization"
    data(await family.caller.post(path, {"confirm_ach_debit": True}))
    assert (await fire_due(town.worker, town.clock)).fired == 1


@pytest.mark.parametrize("rounds", [4])
async def test_a_run_and_a_firing_of_one_employee_follow_each_other(
    rounds: int, family: Family, town: Town, owner_connection: psycopg.Connection
):
    """Either order is right; what is never right is a year to date that knows only one of them."""
    for number in range(rounds):
        day = f"2026-11-{number + 1:02}"
        entry = {"employee_id": family.employee_id, "regular_hours": 8, "payment_method": "direct_deposit"}
        order = family.order("2026-12-04", pay_period_start=day, pay_period_end=day, employees=[entry])
        data(await family.caller.post("/payroll/run", order))
    town.go_to("2026-11-27", 15)
    checks = [
        family.order(
            "2026-11-27",
            pay_period_start=f"2026-10-{number + 1:02}",
            pay_period_end=f"2026-10-{number + 1:02}",
            employees=[{"employee_id": family.employee_id, "regular_hours": 8}],
        )
        for number in range(rounds)
    ]
    answers = await asyncio.gather(
        *(family.caller.post("/payroll/run", check) for check in checks),
        *(fire_due(town.worker, town.clock, chunk=1) for _ in range(3)),
    )
    assert all(answer.status_code == 200 for answer in answers[:rounds])
    assert rows(owner_connection, "SELECT gross_pay FROM year_balances") == [(2 * rounds * 8 * 2_850,)]
    ytd = sorted(rows(owner_connection, "SELECT ytd_gross_pay FROM paychecks"))
    assert len(set(ytd)) == 2 * rounds


async def test_a_bank_day_that_lasts_over_the_cut_off_leaves_its_file_to_the_next(
    family: Family, town: Town, owner_connection: psycopg.Connection
):
    """Else the day's one file would go without the payrolls that became due while it was prepared."""
    await schedule(family, town, 1)
    data(await family.caller.post("/payroll/run", family.order()))  # its debit waits for a file
    town.go_to("2026-11-27", 14, 59)

    class Passing(FixedClock):
        """A clock on which a minute passes whenever somebody looks."""

        def now(self):
            instant = super().now()
            self.advance(timedelta(minutes=1))
            return instant

    await advance(town.worker, town.ring, town.bank, Passing(town.clock.now()))
    town.go_to("2026-11-27", 15, 30)
    await town.work()
    assert rows(owner_connection, "SELECT cut_off::text, entries FROM bank_files ORDER BY cut_off") == [
        ("2026-11-25", 1),  # late, for it was not built in its time
        ("2026-11-27", 1),
    ]


async def test_an_account_that_is_being_verified_when_money_is_sent_is_waited_for_and_a_failed_one_is_not(
    family: Family, town: Town, owner_connection: psycopg.Connection
):
    """Neither may be named in a new payroll; of one that was approved, the deposit waits for the account."""
    verifying, failed = await schedule(family, town, 2)
    for payroll, status in ((verifying, "verifying"), (failed, "failed")):
        owner_connection.execute(
            "UPDATE bank_accounts SET status = %s WHERE employee_id = "
            "(SELECT employee_id FROM payroll_entries WHERE payroll_id = %s)",
            (status, payroll),
        )
    employees = rows(owner_connection, "SELECT employee_id::text FROM payroll_entries")
    for (employee,) in employees:
        entry = {"employee_id": employee, "bonus": 10, "payment_method": "direct_deposit"}
        refused = await family.caller.post("/payroll/preview", family.order("2026-12-11", employees=[entry]))
        refusal(refused, 412, "direct_deposit_unavailable")
    town.go_to("2026-11-27", 15)
    report = await fire_due(town.worker, town.clock)
    assert (report.fired, [str(each) for each in report.put_off]) == (1, [failed])
    assert data(await family.caller.get(f"/payroll/{verifying}"))["status"] == "pending_funding"
    assert (
        data(await family.caller.get(f"/payroll/{failed}"))["failure"]["code"] == "employee_account_not_ready"
    )
