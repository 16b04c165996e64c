"""The shortest way from an empty database to a paid employee, over the API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, timedelta
from typing import Any

import httpx

from hearthpay.access.permissions import SCOPES
from hearthpay.accounts import service as accounts
from hearthpay.app import create_app
from hearthpay.clock import Clock
from hearthpay.database.startup import OpenedDatabase
from hearthpay.doctor.examination import examine, open_for_reading

FIRST_WEEK = date(2026, 8, 3)


@asynccontextmanager
async def new_client(opened: OpenedDatabase, clock: Clock, name: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client with a live key of a new organization; failures are answers, as over a socket."""
    async with opened.as_operator() as operator, operator.transaction(None) as session:
        organization = await accounts.create_organization(session, clock, name)
        key = await accounts.create_key(session, clock, organization, mode="live", scopes=SCOPES)
    transport = httpx.ASGITransport(create_app(opened.database, clock), raise_app_exceptions=False)
    async with httpx.AsyncClient(
        transport=transport,
        base_url="http://test/api/v1",
        headers={"Authorization": f"Bearer {key.text}"},
        timeout=60,
    ) as client:
        yield client


async def hire(client: httpx.AsyncClient, state: str = "TX") -> dict[str, str]:
    """A household with one employee; the ids of both."""
    person = {"first_name": "Maria", "last_name": "Lopez", "email": "maria@example.com"}
    household = await client.post("/employers", json={**person, "state": state})
    assert household.status_code == 201, household.text
    employer_id = household.json()["data"]["id"]
    rosa = {"first_name": "Rosa", "last_name": "Diaz", "pay_rate": 25, "start_date": "2026-01-05"}
    employee = await client.post("/employees", json={**rosa, "employer_id": employer_id})
    assert employee.status_code == 201, employee.text
    return {"employer_id": employer_id, "employee_id": employee.json()["data"]["id"]}


def week(ids: dict[str, str], number: int) -> dict[str, Any]:
    """The payroll by check of the week of this number."""
    monday = FIRST_WEEK + timedelta(weeks=number)
    return {
        "employer_id": ids["employer_id"],
        "pay_period_start": monday.isoformat(),
        "pay_period_end": (monday + timedelta(days=6)).isoformat(),
        "pay_date": (monday + timedelta(days=6)).isoformat(),
        "pay_frequency": "weekly",
        "notes": "catch-up",
        "employees": [{"employee_id": ids["employee_id"], "regular_hours": 40, "payment_method": "check"}],
    }


async def findings(opened: OpenedDatabase, clock: Clock) -> list[str]:
    """What the doctor says of the books; nothing when they are right."""
    database = open_for_reading(opened.owner_url, opened.installation.owner)
    try:
        async with database.transaction(None) as session:
            results = await examine(session, clock.now(), lambda *_: None)
    finally:
        await database.dispose()
    return [f"{result.name}: {each}" for result in results for each in result.differences]
