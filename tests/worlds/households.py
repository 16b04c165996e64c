"""A household in California with someone to pay, made by its own calls, and a payroll of theirs."""

from typing import Any

from tests.http.api import MARIA, ROSA, Caller


async def add_household(caller: Caller, **changes: Any) -> str:
    response = await caller.post("/employers", MARIA | changes)
    assert response.status_code == 201, response.text
    return response.json()["data"]["id"]


async def add_employee(caller: Caller, employer_id: str, **changes: Any) -> str:
    response = await caller.post("/employees", ROSA | {"employer_id": employer_id} | changes)
    assert response.status_code == 201, response.text
    return response.json()["data"]["id"]


def payroll_of(employer_id: str, employee_id: str, **changes: Any) -> dict[str, Any]:
    entry = {"employee_id": employee_id, "regular_hours": 40, "payment_method": "check"}
    return {
        "employer_id": employer_id,
        "pay_period_start": "2026-11-09",
        "pay_period_end": "2026-11-15",
        "pay_date": "2026-11-20",
        "pay_frequency": "weekly",
        "employees": [entry],
    } | changes
