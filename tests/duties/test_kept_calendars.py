"""Kept calendars: the same one while nothing it follows from has changed, a new one at any change."""

from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties import kept_calendars
from hearthpay.duties.service import choose_filing, mark_duty, note_closing, settled_calendar_of
from hearthpay.duties.settlement import SettledCalendar
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from tests.http.api import Account, data
from tests.worlds.households import add_employee, payroll_of

FIRST, LAST = date(2026, 1, 1), date(2027, 12, 31)

Read = Callable[[], Awaitable[SettledCalendar]]
Change = Callable[[AsyncSession, Actor, FixedClock, Employer, Employee], Awaitable[None]]


@pytest.fixture
def read(owner_database: Database, clock: FixedClock, household: dict[str, Any]) -> Read:
    """Reads the household's calendar, in a transaction of its own."""

    async def calendar() -> SettledCalendar:
        async with owner_database.transaction(None) as session:
            employer = await session.get_one(Employer, UUID(household["id"]))
            _, found = await settled_calendar_of(session, employer, clock.today(), FIRST, LAST)
        return found

    return calendar


async def pay(account: Account, household: dict[str, Any], employee: str, monday: date) -> None:
    week = {
        "pay_period_start": monday.isoformat(),
        "pay_period_end": (monday + timedelta(days=6)).isoformat(),
        "pay_date": (monday + timedelta(days=11)).isoformat(),
    }
    data(await account.live.post("/payroll/run", payroll_of(household["id"], employee, **week)))


async def mark(
    session: AsyncSession, actor: Actor, clock: FixedClock, employer: Employer, _: Employee
) -> None:
    await mark_duty(session, actor, clock, employer, key="US/schedule-h/2026", done_on=clock.today())


async def choose(
    session: AsyncSession, actor: Actor, clock: FixedClock, employer: Employer, _: Employee
) -> None:
    await choose_filing(
        session,
        actor,
        clock,
        employer,
        jurisdiction="CA",
        account="sui",
        since_year=2026,
        frequency="annual",
    )


async def close(
    session: AsyncSession, actor: Actor, clock: FixedClock, employer: Employer, _: Employee
) -> None:
    await note_closing(
        session, actor, clock, employer, jurisdiction="CA", account="sui", closed_on=date(2026, 9, 30)
    )


async def exempt(_: AsyncSession, __: Actor, ___: FixedClock, ____: Employer, employee: Employee) -> None:
    employee.federal_withholding = employee.federal_withholding | {"exempt": True}


async def rename(_: AsyncSession, __: Actor, ___: FixedClock, ____: Employer, employee: Employee) -> None:
    employee.last_name = "Sandoval"


async def test_a_calendar_is_kept_until_a_payroll_changes_it(
    account: Account, household: dict[str, Any], read: Read
) -> None:
    rosa = await add_employee(account.live, household["id"])
    await pay(account, household, rosa, date(2026, 9, 7))
    first = await read()
    assert await read() is first
    await pay(account, household, rosa, date(2026, 9, 14))
    second = await read()
    assert second != first
    kept_calendars._known.clear()
    assert await read() == second


@pytest.mark.parametrize("change", [mark, choose, close, exempt, rename])
async def test_every_change_makes_a_new_calendar(
    change: Change,
    account: Account,
    household: dict[str, Any],
    read: Read,
    owner_database: Database,
    clock: FixedClock,
) -> None:
    rosa = await add_employee(account.live, household["id"])
    await pay(account, household, rosa, date(2026, 9, 7))
    before = await read()
    async with owner_database.transaction(None) as session:
        employer = await session.get_one(Employer, UUID(household["id"]))
        actor = Actor.operator(employer.organization_id, sandbox=False, request_id="req_calendar")
        await change(session, actor, clock, employer, await session.get_one(Employee, UUID(rosa)))
    after = await read()
    assert after != before
    kept_calendars._known.clear()
    assert await read() == after


async def test_a_value_changed_in_place_by_the_transaction_that_read_it_is_no_kept_one(
    account: Account, household: dict[str, Any], read: Read, owner_database: Database, clock: FixedClock
) -> None:
    rosa = await add_employee(account.live, household["id"])
    await pay(account, household, rosa, date(2026, 9, 7))
    kept_calendars._known.clear()
    async with owner_database.transaction(None) as session:
        employer = await session.get_one(Employer, UUID(household["id"]))
        employee = await session.get_one(Employee, UUID(rosa))
        _, before = await settled_calendar_of(session, employer, clock.today(), FIRST, LAST)
        employee.federal_withholding["exempt"] = True
        _, after = await settled_calendar_of(session, employer, clock.today(), FIRST, LAST)
        assert after != before
        session.expunge_all()
    assert await read() == before


async def test_no_more_households_are_kept_than_are_allowed(
    monkeypatch: pytest.MonkeyPatch, account: Account, household: dict[str, Any], read: Read
) -> None:
    await add_employee(account.live, household["id"])
    kept_calendars._known.clear()
    monkeypatch.setattr(kept_calendars, "MOST_KEPT", 0)
    first = await read()
    assert not kept_calendars._known
    assert await read() == first


async def test_no_more_spans_of_a_household_are_kept_than_are_allowed(
    household: dict[str, Any], owner_database: Database, clock: FixedClock
) -> None:
    kept_calendars._known.clear()
    async with owner_database.transaction(None) as session:
        employer = await session.get_one(Employer, UUID(household["id"]))
        for days in range(3 * kept_calendars.MOST_SPANS):
            since = FIRST + timedelta(days=days)
            await settled_calendar_of(session, employer, clock.today(), since, LAST)
        ((_, known),) = kept_calendars._known.values()
        assert len(known._calendars) == kept_calendars.MOST_SPANS
        _, last = await settled_calendar_of(session, employer, clock.today(), since, LAST)
        assert known._calendars[since, LAST][1] is last
