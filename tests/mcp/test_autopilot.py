"""Agents beside Autopilot: what it pays is not run too, and what ended it lets a run pass."""

from typing import Any

from fastapi import FastAPI

from tests.autopilot.pilot import Pilot, pilot
from tests.mcp.agents import ask, hosted_agent, week
from tests.worlds.keys import ring
from tests.worlds.town import app, town

__all__ = ["app", "pilot", "ring", "town"]


def _week(pilot: Pilot, start: str, end: str, key: str) -> dict[str, Any]:
    dates = {"pay_period_start": start, "pay_period_end": end, "pay_date": "2026-12-01"}
    return week(pilot.family.employer_id, pilot.family.employee_id, **dates, idempotency_key=key)


async def test_what_autopilot_pays_is_refused_until_it_is_disabled(app: FastAPI, pilot: Pilot) -> None:
    async with hosted_agent(app, pilot.family.caller.key) as agent:
        await pilot.enroll()
        ahead = await ask(agent, "run_payroll", **_week(pilot, "2026-11-23", "2026-11-29", "ahead"))
        assert ahead["code"] == "period_ahead_of_anchor"
        assert "Do not change dates" in ahead["next_step"]
        await pilot.live_through("2026-11-20", "2026-11-20")
        scheduled = _week(pilot, "2026-11-16", "2026-11-22", "scheduled")
        refused = await ask(agent, "run_payroll", **scheduled)
        assert refused["code"] == "autopilot_run_scheduled"
        assert "do not retry" in refused["next_step"]
        read = (await ask(agent, "get_autopilot", **pilot.whose))["data"]
        assert read["enrollment"]["status"] == "active"
        ended = (await ask(agent, "manage_autopilot", **pilot.whose, action="disable"))["data"]
        assert (ended["changed"], ended["enrollment"]["status"]) == (True, "disabled")
        again = (await ask(agent, "manage_autopilot", **pilot.whose, action="disable"))["data"]
        assert again["changed"] is False
        # Its payroll is void, so that this one is the only one of its days; and a refusal has used up no key.
        assert (await ask(agent, "run_payroll", **scheduled))["data"]["status"] == "completed"
        resumed = await ask(agent, "manage_autopilot", **pilot.whose, action="resume")
        assert resumed["code"] == "not_found"
        assert resumed["next_call"] == {"tool": "get_autopilot", "arguments": pilot.whose}
        assert "get_autopilot" in resumed["next_step"]
        led_on = await ask(agent, resumed["next_call"]["tool"], **resumed["next_call"]["arguments"])
        assert led_on["data"]["enrollment"] is None
        assert len(led_on["data"]["schedule_preview"]) == 3


async def test_direct_deposit_asks_before_it_debits(app: FastAPI, pilot: Pilot) -> None:
    async with hosted_agent(app, pilot.family.caller.key) as agent:
        asked = _week(pilot, "2026-11-02", "2026-11-08", "bank") | {"payment_method": "direct_deposit"}
        del asked["pay_date"]
        preview = (await ask(agent, "preview_payroll", **_without(asked, "idempotency_key")))["data"]
        asked["preview_token"] = preview["preview_token"]
        refused = await ask(agent, "run_payroll", **asked)
        assert refused["code"] == "confirmation_required"
        assert refused["validation_details"]["required"] == ["confirm_ach_debit"]
        assert refused["example_request"] == {**asked, "confirm_ach_debit": True}
        ran = (await ask(agent, "run_payroll", **refused["example_request"]))["data"]
        assert ran["status"] == "pending_funding"
        assert ran["totals"] == preview["totals"]
        later = asked | {"pay_date": "2027-01-15", "idempotency_key": "later", "confirm_ach_debit": True}
        del later["preview_token"]
        over = await ask(agent, "run_payroll", **later)
        assert over["code"] == "payroll_overlap"


async def test_more_decimals_of_hours_are_rounded_and_null_is_left_out(app: FastAPI, pilot: Pilot) -> None:
    async with hosted_agent(app, pilot.family.caller.key) as agent:
        asked = _without(_week(pilot, "2026-11-16", "2026-11-22", "x"), "idempotency_key")
        nothing = {"bonus": None, "overtime_hours": None, "voluntary_set_aside": {"amount": None}}
        told = await ask(agent, "preview_payroll", **asked | {"regular_hours": 37.333333} | nothing)
        [entry] = told["data"]["employees"]
        assert entry["earnings"]["regular_hours"] == 37.333
        assert any("37.333333 was rounded to 37.333" in each for each in entry["warnings"])
        listed = await ask(agent, "get_autopilot", employer_id=pilot.whose["employer_id"], employee_id=None)
        assert listed["data"]["enrollments"] == []


def _without(arguments: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in names}
