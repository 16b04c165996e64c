"""Wages belong to the year in which they arrive: closed days, late firing, and deposits held past New Year's."""

from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine
from hearthpay.payroll.issues.attempts import MOST_ATTEMPTS
from tests.http.api import Account, data, fields, refusal
from tests.lifecycle.accounts_by_hand import set_account
from tests.worlds.households import add_employee, add_household
from tests.worlds.rule_editions import edition, unpublished_program
from tests.worlds.snapshots import Snapshot, Snapshots
from tests.worlds.town import Family, Town, rows, statuses
from tests.worlds.worker_audit import worker_rows

YEARS = (
    "SELECT c.tax_year, extract(year FROM b.effective_date)::int FROM bank_entries b "
    "JOIN paychecks c ON c.id = b.paycheck_id WHERE b.kind = 'credit' AND b.status IN ('sent', 'settled') ORDER BY b.id"
)
BALANCES = "SELECT tax_year, gross_pay FROM year_balances WHERE gross_pay <> 0 ORDER BY tax_year"
DECEMBER = {"pay_period_start": "2025-12-15", "pay_period_end": "2025-12-21"}


async def family_of_2025(town: Town, account: Account, **more: Any) -> Family:
    """A household with an account and someone to pay; in New York it is Monday, 15 December 2025, 10:00."""
    town.go_to("2025-12-15", 10)
    employer_id = await add_household(account.live)
    employee_id = await add_employee(account.live, employer_id, start_date="2025-01-06", **more)
    await town.connect(account.live, employer_id)
    await town.connect(account.live, employer_id, employee_id, account="987654321")
    return Family(account.live, employer_id, employee_id)


async def differences(town: Town, owner: Database) -> list[str]:
    """What the doctor finds wrong."""
    async with owner.transaction(None) as session:
        results = await examine(session, town.clock.now(), lambda *_: None)
    return [result.name for result in results if result.found]


# The pay date itself.


async def test_a_direct_deposit_dated_new_years_day_belongs_to_the_year_it_arrives_in(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    order = family.order("2027-01-01", pay_period_start="2026-12-21", pay_period_end="2026-12-27")
    preview = data(await family.caller.post("/payroll/preview", order))
    ran = data(await family.caller.post("/payroll/run", order))
    for answer in (preview, ran):
        assert answer["pay_period"]["pay_date"] == "2026-12-31"
        assert answer["rulebook"]["tax_year"] == 2026
        assert any(
            "closed on 2027-01-01" in warning and "2026-12-31" in warning and "2026" in warning
            for warning in answer["employees"][0]["warnings"]
        )
    assert ran["scheduled_send_at"] == "2026-12-23T20:00:00Z"
    await town.live_through("2026-12-23", "2026-12-31")
    detail = data(await family.caller.get(f"/payroll/{ran['payroll_id']}"))
    assert detail["status"] == "completed"
    assert detail["pay_period"]["pay_date"] == "2026-12-31"
    assert any("closed on 2027-01-01" in warning for warning in detail["employees"][0]["warnings"])
    assert rows(owner_connection, YEARS) == [(2026, 2026)]
    assert rows(owner_connection, BALANCES) == [(2026, 114_000)]
    assert await differences(town, owner_database) == []


async def test_a_closed_day_moves_every_date_check_and_all(family: Family):
    """One payroll has one pay date, also where somebody in it is paid by check."""
    saturday = family.order("2026-12-05")
    assert data(await family.caller.post("/payroll/run", saturday))["pay_period"]["pay_date"] == "2026-12-04"
    by_check = family.order(
        "2026-12-05",
        pay_period_start="2026-11-09",
        pay_period_end="2026-11-15",
        employees=[{"employee_id": family.employee_id, "regular_hours": 8}],
    )
    assert data(await family.caller.post("/payroll/run", by_check))["pay_period"]["pay_date"] == "2026-12-05"


async def test_a_closed_day_after_the_earliest_runs_now(family: Family, town: Town):
    town.go_to("2026-11-27", 10)  # the earliest is Friday, 4 December
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-06")))
    assert ran["pay_period"]["pay_date"] == "2026-12-04"
    assert ran["status"] == "pending_funding"


async def test_it_never_moves_before_the_pay_period(family: Family):
    order = family.order("2027-01-01", pay_period_start="2027-01-01", pay_period_end="2027-01-07")
    error = refusal(await family.caller.post("/payroll/run", order), 400, "validation_error")
    assert fields(error) == ["pay_date"]
    assert "2026-12-31" in error["details"][0]["message"]


# Fired too late.


async def test_a_payroll_fired_after_new_years_is_calculated_for_the_new_year(
    town: Town, account: Account, owner_connection: psycopg.Connection, owner_database: Database
):
    family = await family_of_2025(town, account)
    ran = data(await family.caller.post("/payroll/run", family.order("2025-12-31", **DECEMBER)))
    assert (ran["status"], ran["rulebook"]["tax_year"]) == ("scheduled", 2025)
    await town.live_through("2026-01-05", "2026-01-09")  # no worker ran over the holidays
    detail = data(await family.caller.get(f"/payroll/{ran['payroll_id']}"))
    assert detail["status"] == "completed"
    assert detail["rulebook"]["tax_year"] == 2026
    assert detail["pay_period"]["pay_date"] == "2026-01-09"
    assert any("could not arrive by 2025-12-31" in each for each in detail["employees"][0]["warnings"])
    assert rows(owner_connection, YEARS) == [(2026, 2026)]
    assert rows(owner_connection, BALANCES) == [(2026, 114_000)]
    trail = rows(owner_connection, "SELECT details FROM audit_log WHERE action = 'payroll.move_pay_date'")
    assert trail == [({"pay_date": {"before": "2025-12-31", "after": "2026-01-09"}},)]
    assert await differences(town, owner_database) == []


async def test_a_payroll_fired_late_within_its_year_keeps_its_pay_date(town: Town, account: Account):
    family = await family_of_2025(town, account)
    ran = data(await family.caller.post("/payroll/run", family.order("2025-12-23", **DECEMBER)))
    await town.live_through("2025-12-18", "2025-12-26")
    detail = data(await family.caller.get(f"/payroll/{ran['payroll_id']}"))
    assert detail["status"] == "completed"
    assert detail["pay_period"]["pay_date"] == "2025-12-23"
    assert detail["rulebook"]["tax_year"] == 2025


# Held past New Year's.


async def test_a_deposit_held_past_new_years_is_made_anew_under_the_new_years_law(
    town: Town, account: Account, owner_connection: psycopg.Connection, owner_database: Database
):
    family = await family_of_2025(town, account)
    order = family.order("2025-12-30", **DECEMBER, metadata={"batch": "52"})
    ran = data(await family.caller.post("/payroll/run", order))
    await town.live_through("2025-12-15", "2025-12-22")
    set_account(owner_connection, family.employee_id, "failed")
    await town.live_through("2025-12-23", "2025-12-30")
    old = data(await family.caller.get(f"/payroll/{ran['payroll_id']}"))
    assert old["status"] == "processing"
    await town.live_through("2025-12-31", "2026-01-02")
    old = data(await family.caller.get(f"/payroll/{ran['payroll_id']}"))
    assert old["status"] == "failed"
    assert old["failure"]["code"] == "year_passed"
    assert old["failure"]["employees"] == [family.employee_id]
    [anew, _] = data(await family.caller.get("/payrolls", employer_id=family.employer_id))
    assert anew["payroll_id"] in old["failure"]["what_to_do"]
    new = data(await family.caller.get(f"/payroll/{anew['payroll_id']}"))
    assert new["metadata"] == old["metadata"] == {"batch": "52"}
    assert new["rulebook"]["tax_year"] == 2026
    assert new["employees"][0]["earnings"] == old["employees"][0]["earnings"]
    assert new["employees"][0]["ytd"]["gross_pay"] == 1140
    assert new["employees"][0]["warnings"]
    assert new["totals"] != old["totals"]  # California's disability insurance of another year
    set_account(owner_connection, family.employee_id, "active")
    await town.live_through("2026-01-03", "2026-01-12")
    new = data(await family.caller.get(f"/payroll/{anew['payroll_id']}"))
    assert statuses(new) == ["pending_funding", "processing", "completed"]
    assert rows(owner_connection, YEARS) == [(2026, 2026)]
    assert rows(owner_connection, BALANCES) == [(2026, 114_000)]
    assert worker_rows(owner_connection, "payroll.year_passed") == [
        (
            old["payroll_id"],
            {"tax_year": 2025, "made_anew_as": new["payroll_id"], "employees": [family.employee_id]},
        )
    ]
    moved = rows(
        owner_connection,
        "SELECT kind, status, payroll_id::text, amount FROM bank_entries ORDER BY created_at, kind",
    )
    cents = {each["payroll_id"]: round(each["totals"]["total_net_pay"] * 100) for each in (old, new)}
    assert sorted(moved) == sorted(
        [
            ("debit", "settled", old["payroll_id"], cents[old["payroll_id"]]),
            ("credit", "cancelled", old["payroll_id"], cents[old["payroll_id"]]),
            ("refund", "settled", old["payroll_id"], cents[old["payroll_id"]]),
            ("debit", "settled", new["payroll_id"], cents[new["payroll_id"]]),
            ("credit", "settled", new["payroll_id"], cents[new["payroll_id"]]),
        ]
    )
    assert await differences(town, owner_database) == []


async def test_without_a_worker_over_new_years_it_is_made_anew_as_well(
    town: Town, account: Account, owner_connection: psycopg.Connection, owner_database: Database
):
    family = await family_of_2025(town, account)
    data(await family.caller.post("/payroll/run", family.order("2025-12-22", **DECEMBER)))
    await town.live_through("2025-12-15", "2025-12-17")
    await town.live_through("2026-01-05", "2026-01-14")  # the debit settles, and is paid out, in January
    assert rows(owner_connection, YEARS) == [(2026, 2026)]
    assert rows(owner_connection, BALANCES) == [(2026, 114_000)]
    assert await differences(town, owner_database) == []


async def test_what_was_paid_in_time_stays_in_its_year(
    town: Town, account: Account, owner_connection: psycopg.Connection, owner_database: Database
):
    """Of two in one payroll one deposit is held: only that one moves."""
    family = await family_of_2025(town, account)
    ines = await add_employee(account.live, family.employer_id, first_name="Ines", start_date="2025-01-06")
    await town.connect(account.live, family.employer_id, ines, account="33339000")
    entries = [
        {"employee_id": each, "regular_hours": 40, "payment_method": "direct_deposit"}
        for each in (family.employee_id, ines)
    ]
    ran = data(await family.caller.post("/payroll/run", family.order(employees=entries, **DECEMBER)))
    await town.live_through("2025-12-15", "2025-12-17")
    set_account(owner_connection, ines, "failed")
    await town.live_through("2025-12-18", "2026-01-02")
    old = data(await family.caller.get(f"/payroll/{ran['payroll_id']}"))
    assert old["failure"]["employees"] == [ines]
    found = rows(
        owner_connection,
        "SELECT employee_id::text, tax_year, gross_pay FROM year_balances WHERE gross_pay <> 0",
    )
    assert sorted(found) == sorted([(family.employee_id, 2025, 114_000), (ines, 2026, 114_000)])
    set_account(owner_connection, ines, "active")
    await town.live_through("2026-01-03", "2026-01-12")
    assert rows(owner_connection, YEARS) == [(2025, 2025), (2026, 2026)]
    assert await differences(town, owner_database) == []


NOT_KNOWN = ("2027/us.toml", unpublished_program("US-NEW-EE", "us-irs", "2027-01-01"))


async def test_as_long_as_a_line_of_the_new_year_is_not_known_it_waits(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database, tmp_path: Path
):
    """Nothing is paid in a year of which a line is unknown, nor booked before where it would arrive in it."""
    with edition(tmp_path, NOT_KNOWN):
        await _wages_come_too_late(family, town, owner_connection, owner_database)


async def _wages_come_too_late(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    town.go_to("2026-12-15", 10)
    order = family.order("2026-12-30", pay_period_start="2026-12-07", pay_period_end="2026-12-13")
    ran = data(await family.caller.post("/payroll/run", order))
    await town.live_through("2026-12-15", "2026-12-28")
    set_account(owner_connection, family.employee_id, "failed")
    await town.live_through("2026-12-29", "2026-12-31")
    set_account(owner_connection, family.employee_id, "active")
    town.go_to("2027-01-04", 15)
    report = await town.work()
    assert any("figures of 2027 are not published: US-NEW-EE" in problem for problem in report.problems)
    assert any("belongs to 2026" in problem for problem in report.problems)
    assert data(await family.caller.get(f"/payroll/{ran['payroll_id']}"))["status"] == "processing"
    assert rows(owner_connection, YEARS) == []
    assert await differences(town, owner_database) == ["open_money"]


async def test_the_household_may_pay_by_check_in_time(
    town: Town, account: Account, owner_connection: psycopg.Connection, owner_database: Database
):
    family = await family_of_2025(town, account)
    order = family.order("2025-12-30", **DECEMBER)
    ran = data(await family.caller.post("/payroll/run", order))
    await town.live_through("2025-12-15", "2025-12-22")
    set_account(owner_connection, family.employee_id, "failed")
    await town.live_through("2025-12-23", "2025-12-30")
    town.go_to("2025-12-31", 6)
    voided = data(await family.caller.post(f"/payroll/{ran['payroll_id']}/void", {"reason": "by check"}))
    assert statuses(voided)[-2:] == ["processing", "voided"]
    entry = {"employee_id": family.employee_id, "regular_hours": 40}
    by_check = family.order("2025-12-31", employees=[entry], **DECEMBER)
    assert data(await family.caller.post("/payroll/run", by_check))["rulebook"]["tax_year"] == 2025
    await town.live_through("2025-12-31", "2026-01-08")
    assert rows(owner_connection, BALANCES) == [(2025, 114_000)]
    kinds = "SELECT kind, status FROM bank_entries ORDER BY created_at, kind"
    assert sorted(rows(owner_connection, kinds)) == [
        ("credit", "cancelled"),
        ("debit", "settled"),
        ("refund", "settled"),
    ]
    assert await differences(town, owner_database) == []


async def test_what_has_left_for_the_bank_cannot_be_called_back(town: Town, account: Account):
    family = await family_of_2025(town, account)
    ran = data(await family.caller.post("/payroll/run", family.order("2025-12-23", **DECEMBER)))
    await town.live_through("2025-12-15", "2025-12-22")
    error = refusal(await family.caller.post(f"/payroll/{ran['payroll_id']}/void", {}), 400, "invalid_state")
    assert error["details"]["status"] == "processing"


_SETTINGS: Final = {
    "deadline": None,
    "derandomize": True,
    "phases": (Phase.explicit, Phase.generate),  # an example takes a second: shrinking one would take minutes
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}
_DAYS: Final = {
    "pay_day": st.integers(22, 31),
    "working": st.lists(st.booleans(), min_size=34, max_size=34),
    "usable": st.lists(st.booleans(), min_size=34, max_size=34),
}


@pytest.fixture
def beginning(town: Town, account: Account, snapshots: Snapshots) -> Snapshot:
    """The rows before an example; with the bank files of the one before, its cut-offs would be over."""
    return snapshots.take()


def _begin_again(beginning: Snapshot, town: Town) -> None:
    """Leave nothing of the example before: no rows, and no file of the same name at the bank."""
    beginning.restore()
    for file in town.outbox.rglob("*"):
        if file.is_file():
            file.unlink()


@settings(max_examples=3, **_SETTINGS)
@given(**_DAYS)
async def test_wages_are_booked_in_the_year_in_which_they_arrive_whatever_happens(
    pay_day: int,
    working: list[bool],
    usable: list[bool],
    town: Town,
    account: Account,
    beginning: Snapshot,
    owner_connection: psycopg.Connection,
    owner_database: Database,
):
    _begin_again(beginning, town)
    args = (pay_day, working, usable, town, account, owner_connection, owner_database)
    await _over_new_year(*args, examined_every=7)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(max_examples=80, **_SETTINGS)
@given(**_DAYS)
async def test_wages_are_booked_in_the_year_in_which_they_arrive_for_long(
    pay_day: int,
    working: list[bool],
    usable: list[bool],
    town: Town,
    account: Account,
    beginning: Snapshot,
    owner_connection: psycopg.Connection,
    owner_database: Database,
):
    _begin_again(beginning, town)
    await _over_new_year(pay_day, working, usable, town, account, owner_connection, owner_database)


async def _over_new_year(
    pay_day: int,
    working: list[bool],
    usable: list[bool],
    town: Town,
    account: Account,
    owner_connection: psycopg.Connection,
    owner_database: Database,
    *,
    examined_every: int = 1,
) -> None:
    """Over New Year's the worker is away and the employee's account fails and recovers on any days."""
    family = await family_of_2025(town, account)
    order = family.order(f"2025-12-{pay_day}", **DECEMBER)
    data(await family.caller.post("/payroll/run", order))
    for number, (works, takes) in enumerate(zip(working, usable, strict=True)):
        day = f"2025-12-{15 + number:02}" if number < 17 else f"2026-01-{number - 16:02}"
        set_account(owner_connection, family.employee_id, "active" if takes else "failed")
        if works:
            await town.live_through(day, day)
        if works and number % examined_every == 0:
            assert await differences(town, owner_database) in ([], ["open_money"])
    set_account(owner_connection, family.employee_id, "active")
    await town.live_through("2026-01-18", "2026-02-10")
    kept = (
        "SELECT status, attempts, failure->>'code', (SELECT count(*) FROM bank_entries b WHERE b.payroll_id = p.id) "
        "FROM payrolls p WHERE employer_id = %s ORDER BY p.id"
    )
    *_, ended = rows(owner_connection, kept, family.employer_id)
    if ended[0] == "failed":  # no attempt found an account to pay to: no money moved, and no wages are booked
        assert ended == ("failed", MOST_ATTEMPTS, "employee_account_not_ready", 0)
        booked_at_all = "SELECT count(*) FROM year_balances WHERE gross_pay <> 0 AND employee_id = %s"
        assert rows(owner_connection, booked_at_all, family.employee_id) == [(0,)]
        assert await differences(town, owner_database) == []
        return
    paid = (
        "SELECT c.tax_year, extract(year FROM b.effective_date)::int, p.status FROM bank_entries b "
        "JOIN paychecks c ON c.id = b.paycheck_id JOIN payrolls p ON p.id = c.payroll_id "
        "WHERE b.kind = 'credit' AND b.status = 'settled' AND b.employee_id = %s"
    )
    [(booked, arrived, status)] = rows(owner_connection, paid, family.employee_id)
    assert (booked, status) == (arrived, "completed")
    totals = rows(
        owner_connection,
        "SELECT tax_year, gross_pay FROM year_balances WHERE gross_pay <> 0 AND employee_id = %s",
        family.employee_id,
    )
    assert totals == [(booked, 114_000)]
    assert await differences(town, owner_database) == []
