"""Voiding: what has not been sent is not sent; what was recorded is undone line by line."""

import asyncio
from typing import Any, Final

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.http.api import Account, data, refusal
from tests.worlds.households import add_employee, add_household, payroll_of
from tests.worlds.town import Family, Town, as_run, rows, statuses

YEAR = (
    "SELECT ARRAY(SELECT ROW(l.*)::text FROM unnest(codes, taxable_wages, amounts) AS l (code, wages, amount) "
    "WHERE l.wages <> 0 OR l.amount <> 0 ORDER BY 1), gross_pay, net_pay, employee_taxes, employer_taxes "
    "FROM year_balances"
)
LINES = (
    "SELECT employee_id, tax_year, code, sum(taxable_wages)::bigint, sum(amount)::bigint, sum(subject_wages)::bigint "
    "FROM paycheck_lines GROUP BY 1, 2, 3 HAVING sum(subject_wages) <> 0 ORDER BY 1, 2, 3"
)


async def void(family: Family, payroll_id: str, **headers: Any):
    return await family.caller.post(f"/payroll/{payroll_id}/void", {}, **headers)


async def test_a_scheduled_payroll_is_voided_and_never_sent(
    family: Family, town: Town, owner_connection: psycopg.Connection
):
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-04")))
    voided = data(await void(family, ran["payroll_id"]))
    assert statuses(voided) == ["scheduled", "voided"]
    assert as_run(voided) == ran["employees"]
    assert [(each["status"], each["outcome"]) for each in voided["employees"]] == [("undone", None)]
    await town.live_through("2026-11-27", "2026-11-28")
    assert data(await family.caller.get(f"/payroll/{ran['payroll_id']}"))["status"] == "voided"
    assert rows(owner_connection, "SELECT count(*) FROM bank_entries WHERE kind = 'debit'") == [(0,)]
    assert data(await family.caller.post("/payroll/run", family.order("2026-12-08")))["status"] == "scheduled"
    trail = "SELECT details FROM audit_log WHERE action = 'payroll.void'"
    assert rows(owner_connection, trail) == [({"status": {"before": "scheduled", "after": "voided"}},)]


async def test_of_a_paid_check_every_line_is_reversed(account: Account, owner_connection: psycopg.Connection):
    employer_id = await add_household(account.live)
    employee_id = await add_employee(account.live, employer_id)
    family = Family(account.live, employer_id, employee_id)
    first = payroll_of(employer_id, employee_id)
    data(await account.live.post("/payroll/run", first))
    before, lines = rows(owner_connection, YEAR), rows(owner_connection, LINES)
    week = {"pay_period_start": "2026-11-16", "pay_period_end": "2026-11-22"}
    second = payroll_of(employer_id, employee_id, **week)
    second["employees"][0] |= {"bonus": 500, "voluntary_set_aside": {"amount": 25}}
    ran = data(await account.live.post("/payroll/run", second))
    assert rows(owner_connection, YEAR) != before
    voided = data(await void(family, ran["payroll_id"]))
    assert voided["status"] == "voided"
    assert voided["totals"] == ran["totals"]  # it still tells what it was
    assert rows(owner_connection, YEAR) == before
    assert rows(owner_connection, LINES) == lines
    again = data(await account.live.post("/payroll/run", second))
    assert again["employees"] == ran["employees"]


async def test_what_is_under_way_or_over_cannot_be_voided(family: Family, town: Town):
    ran = data(await family.caller.post("/payroll/run", family.order()))
    for _ in range(2):
        error = refusal(await void(family, ran["payroll_id"]), 400, "invalid_state")
        assert error["details"]["status"] == "pending_funding"
    await town.live_through("2026-11-20", "2026-11-30")
    error = refusal(await void(family, ran["payroll_id"]), 400, "invalid_state")
    assert error["details"] == {
        "payroll_id": ran["payroll_id"],
        "status": "completed",
        "direct_deposit": True,
    }


async def test_voiding_twice_and_voiding_again_with_the_same_key(family: Family):
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-04")))
    first = await void(family, ran["payroll_id"], idempotency_key="void it")
    again = await void(family, ran["payroll_id"], idempotency_key="void it")
    assert first.json()["data"] == again.json()["data"]
    assert again.headers["Idempotent-Replayed"] == "true"
    refusal(await void(family, ran["payroll_id"]), 400, "invalid_state")


async def test_another_households_payroll_is_not_there(family: Family, new_account):
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-04")))
    stranger = await new_account("Others")
    for caller in (stranger.live, stranger.test):
        refusal(await caller.post(f"/payroll/{ran['payroll_id']}/void", {}), 404, "not_found")


@pytest.mark.parametrize("round_", range(6))
async def test_of_a_person_and_the_worker_one_wins(
    round_: int, family: Family, town: Town, owner_connection: psycopg.Connection
):
    """The payroll is voided while it fires: it is sent, or it is voided, and never both."""
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-04")))
    town.go_to("2026-11-27", 15)

    async def later():
        await asyncio.sleep(round_ * 0.004)
        return await void(family, ran["payroll_id"])

    answer, report = await asyncio.gather(later(), town.work())
    detail = data(await family.caller.get(f"/payroll/{ran['payroll_id']}"))
    debits = rows(owner_connection, "SELECT count(*) FROM bank_entries WHERE kind = 'debit'")
    if answer.status_code == 200:
        assert (detail["status"], debits, report.fired.fired) == ("voided", [(0,)], 0)
    else:
        refusal(answer, 400, "invalid_state")
        assert (detail["status"], debits, report.fired.fired) == ("pending_funding", [(1,)], 1)


_AT_RANDOM: Final = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}
_given = given(
    pays=st.lists(
        st.tuples(st.integers(1, 5_000), st.integers(0, 300), st.booleans()), min_size=1, max_size=6
    )
)


async def _year_is_the_sum_of_what_stands(
    pays: list[tuple[int, int, bool]], account: Account, owner_connection: psycopg.Connection
):
    employer_id = await add_household(account.live)
    employee_id = await add_employee(account.live, employer_id)
    ids = []
    for week, (bonus, aside, _) in enumerate(pays):
        entry = {"employee_id": employee_id, "bonus": bonus, "voluntary_set_aside": {"amount": aside}}
        day = f"2026-{week + 1:02}-05"
        order = payroll_of(
            employer_id,
            employee_id,
            employees=[entry],
            pay_period_start=day,
            pay_period_end=day,
            pay_date=day,
        )
        ids.append(data(await account.live.post("/payroll/run", order))["payroll_id"])
    for payroll_id, (_, _, undo) in zip(ids, pays, strict=True):
        if undo:
            data(await account.live.post(f"/payroll/{payroll_id}/void", {}))
    standing = sum(bonus for bonus, _, undo in pays if not undo) * 100
    balance = rows(
        owner_connection,
        "SELECT gross_pay, codes, amounts FROM year_balances WHERE employee_id = %s",
        employee_id,
    )
    assert balance[0][0] == standing
    lines = "SELECT code, sum(amount)::bigint FROM paycheck_lines WHERE employee_id = %s GROUP BY code ORDER BY code"
    assert list(zip(balance[0][1], balance[0][2], strict=True)) == rows(owner_connection, lines, employee_id)
    if not standing:
        assert set(balance[0][2]) == {0}
    escrow = rows(
        owner_connection,
        "SELECT balance, (SELECT sum(amount) FROM escrow_movements m WHERE m.employee_id = a.employee_id) "
        "FROM escrow_accounts a WHERE employee_id = %s",
        employee_id,
    )
    assert all(balance == total for balance, total in escrow)


test_after_any_voids_the_year_is_the_sum_of_what_stands = settings(max_examples=5, **_AT_RANDOM)(
    _given(_year_is_the_sum_of_what_stands)
)
test_after_any_voids_the_year_is_the_sum_of_what_stands_for_long = pytest.mark.long(
    settings(max_examples=12, **_AT_RANDOM)(_given(_year_is_the_sum_of_what_stands))
)
