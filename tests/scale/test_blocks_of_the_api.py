"""No request, and no round of the worker, reads more because there are other households."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from uuid import UUID

import psycopg
import pytest

from hearthpay.worker.duties import worker_duties
from hearthpay.worker.duty import perform
from tests.http.api import account, client, counts, data, new_account, new_key
from tests.scale.blocks import Blocks, blocks_of, grown, within
from tests.scale.crowd import add_copies
from tests.worlds.keys import ring
from tests.worlds.town import Family, Town, app, family, town

__all__ = ["account", "app", "client", "counts", "family", "new_account", "new_key", "ring", "town"]

FEW, MANY = 20, 1_000
WEEKS = 10

COUNTED = {"awaited_rules": "once an hour it counts all that has a pay date ahead, which it is there to tell"}

KEPT = {"metadata[team]": "west"}

Ask = Callable[[], Awaitable[object]]


async def _paid(family: Family, weeks: int) -> str:
    """Weeks paid by check, recorded in retrospect; the last of them."""
    payroll = ""
    for week in range(weeks, 0, -1):
        end = date(2026, 11, 15) - timedelta(weeks=week)
        ran = await family.caller.post(
            "/payroll/run",
            family.order(
                end.isoformat(),
                pay_period_start=(end - timedelta(days=6)).isoformat(),
                pay_period_end=end.isoformat(),
                notes="catch-up",
                metadata={"batch": "7", "week": str(week)},
                employees=[
                    {"employee_id": family.employee_id, "regular_hours": 40, "payment_method": "check"}
                ],
            ),
        )
        payroll = data(ran)["payroll_id"]
    return payroll


def _requests(family: Family, payroll: str) -> dict[str, Ask]:
    """One household's day, by what is asked."""
    caller, of = family.caller, {"employer_id": family.employer_id}
    order = family.order("2026-12-11")
    number = iter(range(1_000))

    async def run() -> object:
        end = date(2026, 1, 11) + timedelta(weeks=next(number))
        week = {
            "pay_period_start": (end - timedelta(days=6)).isoformat(),
            "pay_period_end": end.isoformat(),
            "notes": "catch-up",
        }
        entry = {"employee_id": family.employee_id, "regular_hours": 40, "payment_method": "check"}
        ran = await caller.post("/payroll/run", family.order(end.isoformat(), employees=[entry], **week))
        return data(await caller.post(f"/payroll/{data(ran)['payroll_id']}/void", {"reason": "a mistake"}))

    return {
        "household": lambda: caller.get(f"/employers/{family.employer_id}"),
        "households": lambda: caller.get("/households"),
        "households by name": lambda: caller.get("/households", sort="name", limit=10),
        "households by payday, without one": lambda: caller.get("/households", sort="payday", limit=10),
        "employers": lambda: caller.get("/employers"),
        "employees": lambda: caller.get("/employees", **of),
        "employee": lambda: caller.get(f"/employees/{family.employee_id}"),
        "payrolls": lambda: caller.get("/payrolls", **of),
        "payrolls of some days": lambda: caller.get(
            "/payrolls", **of, **{"from": "2026-10-01", "to": "2026-10-31"}
        ),
        "payrolls of a status": lambda: caller.get("/payrolls", **of, status="completed"),
        "payrolls of all": lambda: caller.get("/payrolls"),
        "payrolls of all of some days": lambda: caller.get(
            "/payrolls", **{"from": "2026-10-01", "to": "2026-10-31"}
        ),
        "payrolls of all until a day": lambda: caller.get("/payrolls", to="2026-09-30", limit=10),
        "payrolls of all of a status and day": lambda: caller.get(
            "/payrolls", status="completed", limit=10, **{"from": "2026-09-20", "to": "2026-09-20"}
        ),
        "failed payrolls of all of some days": lambda: caller.get(
            "/payrolls", status="failed", **{"from": "2026-10-01", "to": "2026-10-31"}
        ),
        "households by metadata": lambda: caller.get("/households", **KEPT),
        "households by metadata and name": lambda: caller.get("/households", **KEPT, sort="name"),
        "households by metadata and payday": lambda: caller.get("/employers", **KEPT, sort="payday"),
        "employees by metadata": lambda: caller.get("/employees", **of, **KEPT),
        "payrolls by metadata": lambda: caller.get("/payrolls", **of, **{"metadata[week]": "3"}),
        "payrolls of all by metadata": lambda: caller.get("/payrolls", **{"metadata[batch]": "7"}, limit=5),
        "payrolls of all by metadata and days": lambda: caller.get(
            "/payrolls", **{"metadata[week]": "3", "metadata[batch]": "7", "from": "2026-10-01"}
        ),
        "payroll": lambda: caller.get(f"/payroll/{payroll}"),
        "explanation": lambda: caller.get(f"/payroll/{payroll}/explanation"),
        "preview": lambda: caller.post("/payroll/preview", order),
        "run and void": run,
        "pay stub": lambda: caller.post(
            "/documents/paystub", {"payroll_id": payroll, "employee_id": family.employee_id}
        ),
        "documents": lambda: caller.get("/documents", **of),
        "to-dos": lambda: caller.get("/to-dos", **of),
        "calendar": lambda: caller.get("/tax-calendar", **of, year="2026"),
        "registrations": lambda: caller.get("/state-registrations", **of),
        "liability": lambda: caller.get("/reports/tax-liability", **of, year="2026"),
        "state wages": lambda: caller.get("/reports/state-wages", **of, state="CA", year="2026", quarter="4"),
        "estimated tax": lambda: caller.get("/reports/estimated-tax", **of, year="2026"),
        "direct deposit": lambda: caller.get(f"/employers/{family.employer_id}/dd-status"),
        "Autopilot": lambda: caller.get("/autopilot", **of),
        "prior wages": lambda: caller.get(f"/employees/{family.employee_id}/prior-wages"),
    }


async def test_no_request_reads_more_where_others_are_many(
    family: Family, town: Town, owner_connection: psycopg.Connection, subtests: pytest.Subtests
) -> None:
    requests = _requests(family, await _paid(family, WEEKS))
    for path in (f"/employers/{family.employer_id}", f"/employees/{family.employee_id}"):
        data(await family.caller.patch(path, {"metadata": {"team": "west"}}))
    alone: dict[str, Blocks] = {}
    add_copies(owner_connection, UUID(family.employer_id), 1, FEW)
    for name, ask in requests.items():
        with blocks_of(town.database) as alone[name]:
            await ask()
    add_copies(owner_connection, UUID(family.employer_id), FEW + 1, MANY)
    for name, ask in requests.items():
        with subtests.test(name):
            with blocks_of(town.database) as found:
                await ask()
            assert found.total <= within(alone[name]), grown(alone[name], found)


async def test_no_idle_round_of_the_worker_reads_more_where_households_are_many(
    family: Family, town: Town, owner_connection: psycopg.Connection, subtests: pytest.Subtests
) -> None:
    await _paid(family, WEEKS)
    for days in (14, 21):  # some that are sent later, and not yet
        later = town.clock.today() + timedelta(days=days)
        data(
            await family.caller.post(
                "/payroll/run",
                family.order(
                    later.isoformat(),
                    pay_period_start=(later - timedelta(days=10)).isoformat(),
                    pay_period_end=(later - timedelta(days=4)).isoformat(),
                ),
            )
        )
    town.clock.advance(timedelta(days=8))  # so that the accounts are no news any more
    duties = worker_duties(town.worker, town.ring, town.bank, town.clock)
    alone: dict[str, Blocks] = {}
    for _ in range(2):
        for duty in duties:
            await perform(duty, stopping=asyncio.Event())
    add_copies(owner_connection, UUID(family.employer_id), 1, FEW)
    for duty in duties:
        await perform(duty, stopping=asyncio.Event())  # whatever the copies gave it to do
        with blocks_of(town.worker) as alone[duty.name]:
            await perform(duty, stopping=asyncio.Event())
    add_copies(owner_connection, UUID(family.employer_id), FEW + 1, MANY)
    for duty in duties:
        with subtests.test(duty.name):
            await perform(duty, stopping=asyncio.Event())
            with blocks_of(town.worker) as found:
                await perform(duty, stopping=asyncio.Event())
            if duty.name in COUNTED:
                continue
            assert found.total <= within(alone[duty.name]), grown(alone[duty.name], found)
