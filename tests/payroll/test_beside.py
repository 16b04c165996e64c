"""A bonus in a period that is paid already: allowed without hours, each a paycheck of its own, and told."""

from typing import Any, Final

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine
from tests.http.api import Account, data, refusal
from tests.worlds.households import add_employee, add_household, payroll_of


def bonus_of(employer_id: str, employee_id: str, amount: int = 500, **changes: Any) -> dict[str, Any]:
    return payroll_of(
        employer_id, employee_id, employees=[{"employee_id": employee_id, "bonus": amount}], **changes
    )


def warnings(payroll: dict[str, Any]) -> list[str]:
    return list(payroll["employees"][0]["warnings"])


def federal_tax(payroll: dict[str, Any]) -> float:
    return float(payroll["employees"][0]["employee_taxes"]["federal_income_tax"])


async def test_a_bonus_shares_a_period_with_hours_in_either_order(
    account: Account, employer_id: str, employee_id: str
):
    hours, bonus = payroll_of(employer_id, employee_id), bonus_of(employer_id, employee_id)
    other = payroll_of(
        employer_id, employee_id, employees=[{"employee_id": employee_id, "other_earnings": 25}]
    )
    first = data(await account.live.post("/payroll/run", bonus))
    assert not any("payroll" in warning for warning in warnings(first))
    preview = data(await account.live.post("/payroll/preview", hours))
    second = data(await account.live.post("/payroll/run", hours))
    third = data(await account.live.post("/payroll/run", other))
    for answer in (preview, second):
        assert any(
            first["payroll_id"] in each and "a bonus of 500.00" in each and "on top" in each
            for each in warnings(answer)
        )
    assert any(second["payroll_id"] in each and "40 hours" in each for each in warnings(third))
    assert third["employees"][0]["ytd"]["gross_pay"] == 500 + 1140 + 25
    # One week, one tax: 1,665 x 52 - 8,600 = 77,980; 5,800 + 22 % of 20,080 = 10,217.60; / 52.
    assert sum(map(federal_tax, (first, second, third))) == pytest.approx(196.49)


async def test_what_is_asked_for_each_pay_period_is_withheld_once(account: Account):
    """Extra withholding of Form W-4 and the state's, and tax on other income: not once more from a bonus beside."""
    employer_id = await add_household(account.live, state="NY")
    employee_id = await add_employee(
        account.live,
        employer_id,
        work_state="NY",
        federal_withholding={"extra_withholding": 50, "other_income": 26_000},
        state_withholding={
            "nyc_resident": True,
            "additional_withholding": 7,
            "nyc_additional_withholding": 3,
        },
    )
    week_before = {"pay_period_start": "2026-11-02", "pay_period_end": "2026-11-08"}
    data(await account.live.post("/payroll/run", payroll_of(employer_id, employee_id, **week_before)))
    data(await account.live.post("/payroll/run", payroll_of(employer_id, employee_id)))
    bonus = data(await account.live.post("/payroll/run", bonus_of(employer_id, employee_id, 1000)))
    [paycheck] = bonus["employees"]
    lines = {line["code"]: line["amount"] for line in paycheck["lines"]}
    assert {code: lines[code] for code in ("US-FIT", "US-FIT-SUP", "NY-SIT", "NY-NYC-LIT")} == {
        "US-FIT": 0,
        "US-FIT-SUP": 220,
        "NY-SIT": 117,
        "NY-NYC-LIT": 42.5,
    }


@pytest.mark.parametrize(
    "earned", [{"regular_hours": 1}, {"overtime_hours": 1}, {"overtime_hours": 1, "bonus": 5}]
)
async def test_hours_are_paid_once(
    account: Account, employer_id: str, employee_id: str, earned: dict[str, Any]
):
    ran = data(await account.live.post("/payroll/run", payroll_of(employer_id, employee_id)))
    again = payroll_of(
        employer_id, employee_id, employees=[{"employee_id": employee_id, "payment_method": "check"} | earned]
    )
    for path in ("/payroll/preview", "/payroll/run"):
        error = refusal(await account.live.post(path, again), 409, "payroll_overlap")
        assert error["details"]["payroll_id"] == ran["payroll_id"]
        assert "without hours" in error["message"]


async def test_the_same_bonus_twice_is_named(account: Account, employer_id: str, employee_id: str):
    bonus = bonus_of(employer_id, employee_id)
    first = data(await account.live.post("/payroll/run", bonus, idempotency_key="once"))
    again = data(await account.live.post("/payroll/run", bonus, idempotency_key="once"))
    assert again == first
    second = data(await account.live.post("/payroll/run", bonus))
    assert any(
        "same is paid already" in each and first["payroll_id"] in each and "void" in each
        for each in warnings(second)
    )
    another = data(await account.live.post("/payroll/run", bonus_of(employer_id, employee_id, 501)))
    assert not any("same is paid already" in each for each in warnings(another))
    elsewhere = bonus_of(employer_id, employee_id, pay_period_start="2026-11-16", pay_period_end="2026-11-22")
    assert not any(
        "payroll" in each for each in warnings(data(await account.live.post("/payroll/run", elsewhere)))
    )


async def test_what_is_voided_is_not_told(account: Account, employer_id: str, employee_id: str):
    hours, bonus = payroll_of(employer_id, employee_id), bonus_of(employer_id, employee_id)
    ran = data(await account.live.post("/payroll/run", hours))
    data(await account.live.post("/payroll/run", bonus))
    data(await account.live.post(f"/payroll/{ran['payroll_id']}/void", {}))
    again = data(await account.live.post("/payroll/run", hours))
    assert not any(ran["payroll_id"] in each for each in warnings(again))
    assert again["employees"][0]["ytd"]["gross_pay"] == 1640


async def test_of_a_bonus_and_hours_in_one_paycheck_the_hours_count(
    account: Account, employer_id: str, employee_id: str
):
    both = {"employee_id": employee_id, "regular_hours": 40, "bonus": 100}
    data(await account.live.post("/payroll/run", payroll_of(employer_id, employee_id, employees=[both])))
    refusal(
        await account.live.post("/payroll/run", payroll_of(employer_id, employee_id)), 409, "payroll_overlap"
    )


_AT_RANDOM: Final = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}
_given = given(
    runs=st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["hours", "bonus", "other", "void"])), max_size=8
    )
)


async def _each_is_paid_once(
    runs: list[tuple[int, str]],
    account: Account,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: Any,
):
    employer_id = await add_household(account.live)
    employee_id = await add_employee(account.live, employer_id)
    pay = {"hours": {"regular_hours": 10}, "bonus": {"bonus": 50}, "other": {"other_earnings": 30}}
    worth = {"hours": 28_500, "bonus": 5_000, "other": 3_000}
    standing: list[tuple[int, str, str]] = []
    for day, what in runs:
        if what == "void":
            if standing:
                _, _, payroll_id = standing.pop()
                data(await account.live.post(f"/payroll/{payroll_id}/void", {}))
            continue
        start = 2 + 3 * day  # each week has days of the next in it
        order = payroll_of(
            employer_id,
            employee_id,
            employees=[{"employee_id": employee_id} | pay[what]],
            pay_period_start=f"2026-11-{start:02}",
            pay_period_end=f"2026-11-{start + 6:02}",
        )
        response = await account.live.post("/payroll/run", order)
        paid_before = any(kind == "hours" and abs(other - day) < 3 for other, kind, _ in standing)
        if what == "hours" and paid_before:
            refusal(response, 409, "payroll_overlap")
        else:
            standing.append((day, what, data(response)["payroll_id"]))
    row = owner_connection.execute(
        "SELECT coalesce(sum(gross_pay), 0) FROM year_balances WHERE employee_id = %s", (employee_id,)
    ).fetchone()
    assert row == (sum(worth[kind] for _, kind, _ in standing),)
    async with owner_database.transaction(None) as session:
        results = await examine(session, clock.now(), lambda *_: None)
    assert [result.name for result in results if result.found] == []


test_whatever_is_run_and_voided_each_hour_is_paid_once_and_each_bonus_as_asked = settings(
    max_examples=5, **_AT_RANDOM
)(_given(_each_is_paid_once))
test_whatever_is_run_and_voided_each_hour_is_paid_once_and_each_bonus_as_asked_for_long = pytest.mark.long(
    settings(max_examples=12, **_AT_RANDOM)(_given(_each_is_paid_once))
)
