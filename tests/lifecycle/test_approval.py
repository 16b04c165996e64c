"""The gates of direct deposit: large payrolls and the household's authorization."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.http.api import data, refusal
from tests.worlds.town import Family, Town, rows


def large(family: Family, bonus: float, **changes: Any) -> dict[str, Any]:
    entry = {"employee_id": family.employee_id, "bonus": bonus, "payment_method": "direct_deposit"}
    return family.order(employees=[entry], **changes)


async def test_all_missing_flags_are_asked_for_at_once_with_the_request_to_send_again(family: Family, counts):
    order = large(family, 6000, pay_date="2026-12-04")
    del order["confirm_ach_debit"]
    before = counts()
    error = refusal(await family.caller.post("/payroll/run", order), 400, "confirmation_required")
    assert counts() == before
    details = error["details"]
    assert details["required"] == ["confirm_large_payroll", "confirm_ach_debit"]
    assert details["total_net_pay"] == details["largest_net_pay"] == details["debit_amount"] > 3000
    assert details["employees"] == [{"employee_id": family.employee_id, "net_pay": details["total_net_pay"]}]
    assert error["example"] == order | {"confirm_large_payroll": True, "confirm_ach_debit": True}
    ran = data(await family.caller.post("/payroll/run", error["example"]))
    assert ran["status"] == "scheduled"
    assert ran["totals"]["total_net_pay"] == details["total_net_pay"]


async def test_the_preview_tells_which_flags_the_run_will_need(family: Family):
    order = large(family, 6000)
    del order["confirm_ach_debit"]
    preview = data(await family.caller.post("/payroll/preview", order))
    assert preview["confirmations_required"] == ["confirm_large_payroll", "confirm_ach_debit"]
    for flag in preview["confirmations_required"]:
        assert f"{flag}: true" in preview["next_step"]
    small = data(await family.caller.post("/payroll/preview", large(family, 100)))
    assert small["confirmations_required"] == ["confirm_ach_debit"]


@pytest.mark.parametrize("flag", ["confirm_large_payroll", "confirm_ach_debit"])
async def test_each_gate_stands_alone(flag: str, family: Family):
    order = large(family, 6000, confirm_large_payroll=True) | {flag: False}
    error = refusal(await family.caller.post("/payroll/run", order), 400, "confirmation_required")
    assert error["details"]["required"] == [flag]


async def test_checks_and_catch_ups_pass_no_gate(family: Family):
    entry = {"employee_id": family.employee_id, "bonus": 9000, "payment_method": "check"}
    check = family.order("2026-11-20", employees=[entry], confirm_ach_debit=False)
    assert data(await family.caller.post("/payroll/run", check))["status"] == "completed"
    entry["payment_method"] = "direct_deposit"
    past = {"pay_period_start": "2026-10-05", "pay_period_end": "2026-10-11", "notes": "catch-up"}
    catch_up = check | past | {"employees": [entry], "pay_date": "2026-10-16"}
    ran = data(await family.caller.post("/payroll/run", catch_up))
    assert ran["status"] == "completed"
    assert ran["pay_period"]["pay_date"] == "2026-10-16"


async def test_a_catch_up_moves_no_money_and_is_never_to_come(
    family: Family, owner_connection: psycopg.Connection
):
    future = family.order("2026-12-04", notes="Catch-up")
    error = refusal(await family.caller.post("/payroll/run", future), 400, "validation_error")
    assert error["details"][0]["field"] == "pay_date"
    data(await family.caller.post("/payroll/run", family.order("2026-11-20", notes="Catch-up ")))
    assert rows(owner_connection, "SELECT count(*) FROM bank_entries WHERE kind <> 'prenote'") == [(0,)]


async def test_the_authorization_is_recorded_and_lasts_thirty_days(
    family: Family, town: Town, owner_connection: psycopg.Connection
):
    data(await family.caller.post("/payroll/run", family.order()))
    found = rows(
        owner_connection,
        "SELECT authorized_by_kind, authorized_by, authorized_at, text_version <> '' FROM ach_authorizations",
    )
    assert found == [("key", family.caller.key_id, town.clock.now(), True)]
    week = family.order(pay_period_start="2026-11-23", pay_period_end="2026-11-29", confirm_ach_debit=False)
    town.clock.advance(timedelta(days=30))
    assert data(await family.caller.post("/payroll/run", week))["status"] == "pending_funding"
    town.clock.advance(timedelta(seconds=1))
    later = week | {"pay_period_start": "2026-11-30", "pay_period_end": "2026-12-06"}
    error = refusal(await family.caller.post("/payroll/run", later), 400, "confirmation_required")
    assert error["details"]["required"] == ["confirm_ach_debit"]


async def test_a_scheduled_payroll_fires_although_its_authorization_has_run_out(family: Family, town: Town):
    """The gate stands at approval; what was approved is sent."""
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-31")))
    town.clock.advance(timedelta(days=34))
    await town.work()
    detail = data(await family.caller.get(f"/payroll/{ran['payroll_id']}"))
    assert detail["status"] == "pending_funding"


async def test_without_accounts_direct_deposit_is_refused_with_what_is_missing(town: Town, account, counts):
    from tests.worlds.households import add_employee, add_household

    employer_id = await add_household(account.live)
    employee_id = await add_employee(account.live, employer_id)
    family = Family(account.live, employer_id, employee_id)
    before = counts()
    error = refusal(
        await account.live.post("/payroll/run", family.order()), 412, "direct_deposit_unavailable"
    )
    assert [blocker["code"] for blocker in error["details"]["blockers"]] == ["bank_account_missing"]
    assert counts() == before
    await town.connect(account.live, employer_id)
    error = refusal(
        await account.live.post("/payroll/preview", family.order()), 412, "direct_deposit_unavailable"
    )
    [blocked] = error["details"]["employees"]
    assert blocked["employee_id"] == employee_id
    assert [blocker["code"] for blocker in blocked["blockers"]] == ["bank_account_missing"]
