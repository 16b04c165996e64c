"""preview_payroll without a payment method: what run_payroll, which pays by check then, would do."""

from fastapi import FastAPI

from tests.http.api import data
from tests.mcp.agents import ask, hosted_agent, week
from tests.worlds.keys import ring
from tests.worlds.town import Family, app, family, town

__all__ = ["app", "family", "ring", "town"]

EARLIEST = "2026-11-30"


async def test_a_near_date_is_a_warning_whatever_the_employees_own_method_is(
    app: FastAPI, family: Family
) -> None:
    for number, method in enumerate(("check", "direct_deposit")):
        changed = await family.caller.client.patch(
            f"/api/v1/employees/{family.employee_id}",
            json={"payment_method": method},
            headers=family.caller.headers(),
        )
        assert data(changed)["payment_method"] == method
        dates = {
            "pay_period_start": f"2026-11-{2 + 7 * number:02}",
            "pay_period_end": f"2026-11-{8 + 7 * number:02}",
            "pay_date": "2026-11-24",
        }
        asked = week(family.employer_id, family.employee_id, **dates)
        for name in ("payment_method", "idempotency_key"):
            asked.pop(name, None)
        async with hosted_agent(app, family.caller.key) as agent:
            preview = (await ask(agent, "preview_payroll", **asked))["data"]
            assert preview["next_valid_pay_date"] == EARLIEST
            (paycheck,) = preview["employees"]
            assert paycheck["payment_method"] == "check"
            assert any(EARLIEST in warning for warning in paycheck["warnings"])
            token = {"preview_token": preview["preview_token"], "idempotency_key": f"week {number}"}
            ran = (await ask(agent, "run_payroll", **asked, **token))["data"]
        assert ran["pay_period"] == preview["pay_period"]
        assert ran["totals"] == preview["totals"]
        assert ran["employees"][0]["payment_method"] == "check"
