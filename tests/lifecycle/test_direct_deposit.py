"""A direct deposit from approval to the employee's account, and every way it can end."""

from decimal import Decimal
from typing import Any

import psycopg

from hearthpay.banking.return_handling import mark_returned
from hearthpay.payroll.payday.bank_day import advance
from hearthpay.payroll.payday.bank_outcomes import apply_returns
from tests.http.api import Account, data, refusal
from tests.worlds.households import add_employee
from tests.worlds.town import Family, Town, as_run, new_family, rows, statuses

# The clock stands on Friday, 20 November 2026, 10:00 in New York. Thursday the 26th is Thanksgiving, so the
# earliest pay date is Monday the 30th: 23, 24, 25, 27, 30.
EARLIEST = "2026-11-30"


async def read(family: Family, payroll_id: str) -> dict[str, Any]:
    return data(await family.caller.get(f"/payroll/{payroll_id}"))


async def test_the_pay_date_left_out_is_the_earliest_and_runs_now(family: Family):
    ran = data(await family.caller.post("/payroll/run", family.order()))
    assert ran["pay_date_defaulted"] is True
    assert ran["pay_period"]["pay_date"] == EARLIEST
    assert ran["status"] == "pending_funding"
    assert "scheduled_send_at" not in ran
    assert "is_estimated" not in ran


async def test_a_pay_date_too_early_names_the_next_that_works(family: Family, counts):
    before = counts()
    error = refusal(
        await family.caller.post("/payroll/run", family.order("2026-11-27")), 400, "pay_date_past_deadline"
    )
    assert error["details"] == {"pay_date": "2026-11-27", "next_valid_pay_date": EARLIEST}
    refusal(
        await family.caller.post("/payroll/preview", family.order("2026-11-27")),
        400,
        "pay_date_past_deadline",
    )
    assert counts() == before


async def test_a_later_pay_date_is_scheduled(family: Family):
    preview = data(await family.caller.post("/payroll/preview", family.order("2026-12-04")))
    assert preview["is_estimated"] is True
    assert preview["scheduled_send_at"] == "2026-11-27T20:00:00Z"
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-04")))
    assert ran["status"] == "scheduled"
    assert ran["is_estimated"] is True
    assert ran["scheduled_send_at"] == "2026-11-27T20:00:00Z"  # 15:00 in New York, five business days before
    assert ran["employees"] == preview["employees"]
    detail = await read(family, ran["payroll_id"])
    assert as_run(detail) == ran["employees"]
    assert statuses(detail) == ["scheduled"]


async def test_a_pay_date_on_a_closed_day_is_sent_so_that_it_arrives_before(family: Family, town: Town):
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-05")))  # a Saturday
    assert ran["pay_period"]["pay_date"] == "2026-12-04"
    assert ran["scheduled_send_at"] == "2026-11-27T20:00:00Z"
    await town.live_through("2026-11-27", "2026-12-04")
    assert (await read(family, ran["payroll_id"]))["status"] == "completed"


async def test_a_payroll_lives_from_approval_to_the_employees_account(
    family: Family, town: Town, owner_connection: psycopg.Connection
):
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-04")))
    town.go_to("2026-11-27", 14, 59)
    await town.work()
    assert (await read(family, ran["payroll_id"]))["status"] == "scheduled"
    town.go_to("2026-11-27", 15, 0)
    report = await town.work()
    assert report.fired.fired == 1
    assert report.file is not None
    assert report.file.entries == 1  # the debit of that very day's cut-off
    detail = await read(family, ran["payroll_id"])
    assert detail["status"] == "pending_funding"
    assert detail["estimated_totals"] == detail["totals"] == ran["totals"]
    await town.live_through("2026-11-28", "2026-12-01")
    assert (await read(family, ran["payroll_id"]))["status"] == "pending_funding"
    await town.live_through("2026-12-02", "2026-12-03")
    assert (await read(family, ran["payroll_id"]))["status"] == "processing"
    await town.live_through("2026-12-04", "2026-12-04")
    detail = await read(family, ran["payroll_id"])
    assert statuses(detail) == ["scheduled", "firing", "pending_funding", "processing", "completed"]
    assert [step["actor"] for step in detail["status_history"]] == ["key", *["system"] * 4]
    net = Decimal(str(ran["totals"]["total_net_pay"])).scaleb(2)
    found = rows(
        owner_connection,
        "SELECT kind, status, amount, send_on::text, effective_date::text FROM bank_entries ORDER BY id",
    )
    assert found == [
        ("debit", "settled", net, "2026-11-27", "2026-11-30"),
        ("credit", "settled", net, "2026-12-03", "2026-12-04"),
    ]
    assert rows(owner_connection, "SELECT cut_off::text, status FROM bank_files ORDER BY cut_off") == [
        ("2026-11-27", "delivered"),
        ("2026-12-03", "delivered"),
    ]


async def test_the_final_amounts_follow_what_happened_since_the_estimate(family: Family, town: Town):
    """Between approval and firing the employee is paid by check: the year to date has moved on."""
    scheduled = data(
        await family.caller.post(
            "/payroll/run",
            family.order("2026-12-04", employees=[_deposit(family, bonus=2000)], confirm_large_payroll=True),
        )
    )
    check = family.order(
        "2026-11-20",
        pay_period_start="2026-11-09",
        pay_period_end="2026-11-15",
        employees=[{"employee_id": family.employee_id, "other_earnings": 6500, "payment_method": "check"}],
    )
    data(await family.caller.post("/payroll/run", check))
    await town.live_through("2026-11-27", "2026-11-27")
    detail = await read(family, scheduled["payroll_id"])
    assert detail["status"] == "pending_funding"
    before, after = (
        {line["code"]: line for line in paid["employees"][0]["lines"]} for paid in (scheduled, detail)
    )
    assert before["US-FUTA"]["taxable_wages"] == 3140
    assert after["US-FUTA"]["taxable_wages"] == 500  # 7,000 less what the check took
    assert detail["estimated_totals"] == scheduled["totals"]
    assert detail["totals"]["total_employer_taxes"] < scheduled["totals"]["total_employer_taxes"]
    assert detail["employees"][0]["ytd"]["gross_pay"] == 6500 + 3140


def _deposit(family: Family, **pay: Any) -> dict[str, Any]:
    return {"employee_id": family.employee_id, "regular_hours": 40, "payment_method": "direct_deposit"} | pay


async def test_what_was_approved_is_paid_whatever_becomes_of_the_hourly_rate(family: Family, town: Town):
    """A raise after the approval is for the hours to come; a new certificate counts from the next payday on."""
    order = family.order("2026-12-04", employees=[_deposit(family, overtime_hours=3)])
    scheduled = data(await family.caller.post("/payroll/run", order))
    client, headers = family.caller.client, family.caller.headers()
    changes = {"pay_rate": 99, "overtime_rate": 199, "federal_withholding": {"elected": False}}
    changed = await client.patch(f"/api/v1/employees/{family.employee_id}", json=changes, headers=headers)
    assert changed.status_code == 200, changed.text
    await town.live_through("2026-11-27", "2026-11-27")
    before, after = scheduled["employees"][0], (await read(family, scheduled["payroll_id"]))["employees"][0]
    assert after["earnings"] == before["earnings"]
    assert after["gross_pay"] == before["gross_pay"]
    assert before["employee_taxes"]["federal_income_tax"] > after["employee_taxes"]["federal_income_tax"] == 0


async def test_two_scheduled_payrolls_of_one_employee_fire_upon_each_other(family: Family, town: Town):
    weeks = [("2026-11-16", "2026-11-22"), ("2026-11-23", "2026-11-29")]
    ids = []
    for start, end in weeks:
        order = family.order("2026-12-04", pay_period_start=start, pay_period_end=end)
        ids.append(data(await family.caller.post("/payroll/run", order))["payroll_id"])
    await town.live_through("2026-11-27", "2026-11-27")
    year = [(await read(family, each))["employees"][0]["ytd"]["gross_pay"] for each in ids]
    assert sorted(year) == [1140, 2280]


async def test_a_debit_that_the_bank_refuses_fails_the_payroll_and_restores_the_year(
    town: Town, account: Account, owner_connection: psycopg.Connection
):
    """R03 on the household's account: nobody is paid."""
    family = await new_family(town, account.test, household="11119003")
    ran = data(await family.caller.post("/payroll/run", family.order()))
    await town.live_through("2026-11-20", EARLIEST)
    detail = await read(family, ran["payroll_id"])
    assert statuses(detail) == ["pending_funding", "failed"]
    assert detail["failure"]["code"] == "R03"
    assert detail["failure"]["what_to_do"]
    sums = "SELECT coalesce(sum(amount), 0), coalesce(sum(taxable_wages), 0) FROM paycheck_lines"
    assert rows(owner_connection, sums) == [(0, 0)]
    assert rows(owner_connection, "SELECT gross_pay, net_pay FROM year_balances") == [(0, 0)]
    assert rows(owner_connection, "SELECT kind, status, return_code FROM bank_entries") == [
        ("debit", "returned", "R03")
    ]
    # The period is free again: the household pays by check.
    again = family.order("2026-11-30", employees=[_deposit(family) | {"payment_method": "check"}])
    assert data(await family.caller.post("/payroll/run", again))["employees"][0]["ytd"]["gross_pay"] == 1140


async def test_a_debit_without_funds_is_presented_again_twice(
    town: Town, account: Account, owner_connection: psycopg.Connection
):
    family = await new_family(town, account.test, household="11119001")
    ran = data(await family.caller.post("/payroll/run", family.order()))
    await town.live_through("2026-11-20", "2026-12-11")
    detail = await read(family, ran["payroll_id"])
    assert statuses(detail) == ["pending_funding", "failed"]
    assert detail["failure"]["code"] == "R01"
    found = rows(owner_connection, "SELECT attempt, status FROM bank_entries ORDER BY attempt")
    assert found == [(1, "returned"), (2, "returned"), (3, "returned")]


async def test_a_direct_deposit_that_comes_back_is_undone_and_refunded(
    town: Town, account: Account, owner_connection: psycopg.Connection
):
    family = await new_family(town, account.test, employee="22229003")
    ran = data(await family.caller.post("/payroll/run", family.order()))
    await town.live_through("2026-11-20", "2026-12-04")
    detail = await read(family, ran["payroll_id"])
    assert statuses(detail) == ["pending_funding", "processing", "completed", "failed"]
    assert detail["failure"]["code"] == "R03"
    assert detail["failure"]["employees"] == [family.employee_id]
    net = Decimal(str(ran["totals"]["total_net_pay"])).scaleb(2)
    assert rows(owner_connection, "SELECT kind, status, amount FROM bank_entries ORDER BY id") == [
        ("debit", "settled", net),
        ("credit", "returned", net),
        ("refund", "settled", net),
    ]
    assert rows(owner_connection, "SELECT gross_pay FROM year_balances") == [(0,)]
    status = data(await family.caller.get(f"/employers/{family.employer_id}/dd-status"))
    assert status["employees"][0]["ready"] is False


async def test_one_of_two_comes_back_and_the_other_stays_paid(
    town: Town, account: Account, owner_connection: psycopg.Connection
):
    from tests.worlds.households import add_employee

    family = await new_family(town, account.test)
    second = await add_employee(family.caller, family.employer_id, first_name="Ines")
    await town.connect(family.caller, family.employer_id, second, account="33339002")
    entries = [_deposit(family), _deposit(family) | {"employee_id": second}]
    ran = data(await family.caller.post("/payroll/run", family.order(employees=entries)))
    await town.live_through("2026-11-20", "2026-12-04")
    detail = await read(family, ran["payroll_id"])
    assert detail["status"] == "failed"
    assert detail["failure"]["employees"] == [second]
    found = rows(owner_connection, "SELECT employee_id::text, gross_pay FROM year_balances")
    assert dict(found) == {family.employee_id: 114_000, second: 0}
    live = rows(owner_connection, "SELECT employee_id::text, live FROM payroll_entries")
    assert dict(live) == {family.employee_id: True, second: False}


async def test_what_was_never_kept_is_not_given_back(
    town: Town, account: Account, owner_connection: psycopg.Connection
):
    """First the household's bank takes the debit back, then the employee's sends the wages back: nobody is owed."""
    family = await new_family(town, account.test)
    ran = data(await family.caller.post("/payroll/run", family.order()))
    await town.live_through("2026-11-20", EARLIEST)
    assert (await read(family, ran["payroll_id"]))["status"] == "completed"
    now, day = town.clock.now(), town.clock.today()
    for kind, code in (("debit", "R10"), ("credit", "R03")):
        [(entry_id,)] = rows(owner_connection, "SELECT id FROM bank_entries WHERE kind = %s", kind)
        async with town.worker.transaction(None) as session:
            returned = await mark_returned(session, now, {entry_id: code})
            await apply_returns(session, returned, day, now)
    detail = await read(family, ran["payroll_id"])
    assert detail["status"] == "failed"
    assert rows(owner_connection, "SELECT kind, status FROM bank_entries ORDER BY id") == [
        ("debit", "returned"),
        ("credit", "returned"),
    ]
    assert rows(owner_connection, "SELECT gross_pay FROM year_balances") == [(0,)]


async def test_money_that_waits_for_a_bank_that_is_not_configured_is_told(family: Family, town: Town):
    data(await family.caller.post("/payroll/run", family.order()))
    town.go_to("2026-11-20", 15)
    report = await advance(town.worker, town.ring, None, town.clock)
    assert any("no bank is configured" in problem for problem in report.problems)
    assert (await town.work()).problems == ()


async def test_what_no_bank_entry_holds_is_refused_everywhere_alike(family: Family, counts: Any):
    before = counts()
    for pay_date in (None, "2026-12-04"):
        order = family.order() if pay_date is None else family.order(pay_date)
        order["employees"][0]["bonus"] = 400_000_000
        order |= {"confirm_large_payroll": True, "confirm_ach_debit": True}
        told = set()
        for path in ("/payroll/preview", "/payroll/run"):
            error = refusal(await family.caller.post(path, order), 400, "validation_error")
            told.add((error["details"][0]["field"], error["message"]))
        assert len(told) == 1
        assert told.pop()[0] == "employees[0]"
        for entry in order["employees"]:
            entry["payment_method"] = "check"
        del order["confirm_large_payroll"], order["confirm_ach_debit"]
        assert (await family.caller.post("/payroll/preview", order)).status_code == 200
    assert counts() == before


async def test_a_debit_beyond_a_bank_entry_is_refused_too(family: Family, town: Town, counts: Any):
    second = await add_employee(family.caller, family.employer_id, first_name="Ana")
    await town.connect(family.caller, family.employer_id, second, account="987654322")
    before = counts()
    order = family.order() | {"confirm_large_payroll": True}
    order["employees"].append({**order["employees"][0], "employee_id": second})
    for entry in order["employees"]:
        entry["bonus"] = 120_000_000
    for path in ("/payroll/preview", "/payroll/run"):
        error = refusal(await family.caller.post(path, order), 400, "validation_error")
        assert error["details"][0]["field"] == "employees"
    assert counts() == before


async def test_a_bonus_beside_another_payroll_is_supplemental_also_when_it_fires(family: Family, town: Town):
    """22 %, apart from the regular wages, and by itself in a period too."""
    period = {"pay_period_start": "2026-11-09", "pay_period_end": "2026-11-15"}
    check = {"employee_id": family.employee_id, "regular_hours": 40}
    before = {"pay_period_start": "2026-11-02", "pay_period_end": "2026-11-08"}
    data(await family.caller.post("/payroll/run", family.order("2026-11-20", employees=[check], **before)))
    data(await family.caller.post("/payroll/run", family.order("2026-11-20", employees=[check], **period)))
    bonus = [{"employee_id": family.employee_id, "bonus": 500, "payment_method": "direct_deposit"}]
    order = family.order("2026-12-04", employees=bonus, **period)
    ran = data(await family.caller.post("/payroll/run", order))
    assert ran["status"] == "scheduled"
    await town.live_through("2026-11-27", "2026-12-04")
    detail = await read(family, ran["payroll_id"])
    assert detail["status"] == "completed"
    for answer in (ran, detail):
        assert answer["employees"][0]["employee_taxes"]["federal_income_tax"] == 110
    alone = family.order("2026-12-18", employees=bonus)
    preview = data(await family.caller.post("/payroll/preview", alone))
    assert preview["employees"][0]["employee_taxes"]["federal_income_tax"] == 110
