"""`/mcp` with the SDK's own client."""

import pytest

from tests.mcp.agents import ask, hosted_agent


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_first(app, account, employer_id, employee_id, mode):
    async with hosted_agent(app, account.live.key, mode=mode) as agent:
        print(await ask(agent, "list_households_and_employees"))
        r = await ask(
            agent,
            "explain_paycheck_line",
            employer_id=employer_id,
            employee_id=employee_id,
            pay_period_start="2026-11-09",
            pay_period_end="2026-11-15",
            pay_frequency="weekly",
            regular_hours=40,
            pay_date="2026-11-20",
            payment_method="check",
            line_code="US-FIT",
        )
        print(r)
