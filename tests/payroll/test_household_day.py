"""A check without a pay date is dated by the household's own day, and says so where that decides on the year."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hearthpay.clock import FixedClock
from tests.http.api import Account, data
from tests.mcp.agents import ask, hosted_agent
from tests.worlds.households import add_employee, add_household

ADDRESS = {"line1": "1 Kalakaua Ave", "city": "Honolulu", "state": "HI", "zip": "96815"}


def _order(employer_id: str, employee_id: str, **changes: Any) -> dict[str, Any]:
    entry = {"employee_id": employee_id, "regular_hours": 40, "payment_method": "check"}
    return {
        "employer_id": employer_id,
        "pay_period_start": "2026-12-21",
        "pay_period_end": "2026-12-27",
        "pay_frequency": "weekly",
        "employees": [entry],
    } | changes


def _arguments(order: dict[str, Any]) -> dict[str, Any]:
    """The order as an agent gives it, which pays one employee."""
    [entry] = order["employees"]
    return {name: value for name, value in order.items() if name != "employees"} | entry


async def test_new_year_s_eve_in_honolulu_stays_in_the_old_year(
    account: Account, clock: FixedClock, app: Any
) -> None:
    employer_id = await add_household(account.live, state="HI", address=ADDRESS)
    employee_id = await add_employee(
        account.live, employer_id, address=ADDRESS, work_state="HI", residence_state="HI"
    )
    clock.advance(datetime(2027, 1, 1, 6, tzinfo=UTC) - clock.now())
    order = _order(employer_id, employee_id)
    preview = data(await account.live.post("/payroll/preview", order))
    async with hosted_agent(app, account.live.key) as agent:
        told = (await ask(agent, "preview_payroll", **_arguments(order)))["data"]
    run = data(await account.live.post("/payroll/run", order))
    for answer in (preview, told, run):
        assert answer["pay_period"]["pay_date"] == "2026-12-31"
        codes = [each["code"] for paid in answer["employees"] for each in paid["warning_codes"]]
        assert "today_in_two_years" in codes
    assert run["pay_date_defaulted"] is True
    text = " ".join(preview["employees"][0]["warnings"])
    assert "so these wages belong to 2026" in text
    detail = data(await account.live.get(f"/payroll/{run['payroll_id']}"))
    assert detail["employees"][0]["ytd"]["gross_pay"] == detail["employees"][0]["gross_pay"]
