"""Every cell of the table of what a bank can send back, travelled over the real worker with forged bank files."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.database.session import Database
from hearthpay.employees.models import Employee
from hearthpay.payroll.set_asides import escrow
from tests.http.api import Account, data
from tests.lifecycle.accounts_by_hand import set_account
from tests.lifecycle.forging import money_of, open_kinds, possible, send_back, send_back_payout
from tests.lifecycle.what_comes_back import Cell, cells, table
from tests.worlds.town import Family, Town, new_family

EARLIER = {"pay_period_start": "2026-11-09", "pay_period_end": "2026-11-15"}


def test_the_documentation_shows_this_table():
    page = Path(__file__).parents[2] / "docs" / "reference" / "bank-returns.md"
    assert table() in page.read_text(encoding="utf-8"), "run python -m tests.lifecycle.what_comes_back"


def test_no_cell_stands_twice():
    assert len({(cell.state, cell.comes) for cell in cells()}) == len(cells()) > 20


async def reach(
    state: str, town: Town, family: Family, owner: psycopg.Connection, owner_database: Database
) -> tuple[str, str]:
    """Bring a payroll into the state; return it and the one beside it, whose debit has left."""

    async def run(**changes: object) -> str:
        return data(await family.caller.post("/payroll/run", family.order(**changes)))["payroll_id"]  # type: ignore[arg-type]

    async def at(day: str, hour: int = 15) -> None:
        town.go_to(day, hour)
        await town.work()

    beside = await run(**EARLIER)
    if state == "debit on hold":
        await at("2026-11-20")
        town.go_to("2026-11-24", 7)
        return await run(confirm_ach_debit=False), beside
    if state == "scheduled":
        payroll_id = await run(pay_date="2026-12-04")
        await at("2026-11-20")
        return payroll_id, beside
    employees = None
    if state == "completed":
        aside = {"voluntary_set_aside": {"amount": 50}}
        employees = [family.order()["employees"][0] | aside]
    payroll_id = await run(**({"employees": employees} if employees else {}))
    await at("2026-11-20")
    if state == "debit sent":
        return payroll_id, beside
    await at("2026-11-25")
    if state == "voided, refund sent":
        data(await family.caller.post(f"/payroll/{payroll_id}/void", {}))
        await at("2026-11-27")
    elif state == "paid by check instead, refund sent":
        path = f"/payroll/{payroll_id}/paychecks/{family.employee_id}/remedy"
        data(await family.caller.post(path, {"action": "pay_by_check"}))
        await at("2026-11-27")
    elif state != "funded, no deposit sent":
        if state == "completed":
            async with owner_database.transaction(None) as session:
                employee = await session.get_one(Employee, UUID(family.employee_id))
                operator = Actor("operator", None, employee.organization_id, "live", frozenset(), "r")
                await escrow.payout(
                    session, operator, town.clock, employee, amount=Decimal(50), method="direct_deposit"
                )
        await at("2026-11-27")
        if state == "completed":
            await at("2026-11-30", 8)
        elif state == "refund of a returned deposit sent":
            send_back(town, owner, payroll_id, "credit", "R03")
            await at("2026-11-30")
    return payroll_id, beside


def forge(
    cell: Cell, town: Town, family: Family, owner: psycopg.Connection, payroll: str, beside: str
) -> None:
    """Leave the bank's answer where it belongs."""
    what = cell.comes.split("(")[0]
    if what.startswith("elsewhere: the employee"):
        set_account(owner, family.employee_id, "failed")
    elif what.startswith("elsewhere"):
        send_back(town, owner, beside, "debit", cell.code)
    elif what.startswith("payout"):
        send_back_payout(town, owner, family.employee_id, cell.code)
    else:
        kind = {"deposit": "credit", "change": "debit"}.get(
            what.split()[0].rstrip(","), what.split()[0].rstrip(",")
        )
        send_back(town, owner, payroll, kind, cell.code)


@pytest.mark.parametrize("cell", cells(), ids=lambda cell: f"{cell.state} - {cell.comes}")
async def test_what_comes_back_leads_to_what_the_table_says(
    cell: Cell,
    town: Town,
    account: Account,
    owner_connection: psycopg.Connection,
    owner_database: Database,
):
    family = await new_family(town, account.live)
    payroll_id, beside = await reach(cell.state, town, family, owner_connection, owner_database)
    forge(cell, town, family, owner_connection, payroll_id, beside)
    if cell.state == "debit on hold":
        town.go_to("2026-11-24", 15)
    elif town.clock.today().isoformat() < "2026-11-24":
        town.go_to("2026-11-24", 8)
    else:
        town.go_to(town.clock.today().isoformat(), 20)
    await town.work()
    detail = data(await family.caller.get(f"/payroll/{payroll_id}"))
    assert detail["status"] == cell.status
    assert sorted(money_of(owner_connection, payroll_id)) == sorted(cell.money)
    assert detail.get("failure", {}).get("code", "") == cell.failure
    assert possible(detail) == sorted(cell.can)
    cases = await open_kinds(owner_database, town, payroll_id)
    cases.pop("set_aside_overdrawn", None)
    assert cases == Counter(cell.open)
