"""The household's home page: what comes next, what is due, the to-dos, and what was paid."""

import calendar
import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import Final
from uuid import UUID

from fastapi import APIRouter
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import (
    CHANGE_EMPLOYEES,
    READ_AUTOPILOT,
    READ_CALENDAR,
    READ_HOUSEHOLD,
    READ_PAYROLLS,
)
from hearthpay.autopilot.reading import list_autopilot
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.service import CalendarQuery, read_calendar
from hearthpay.employees.models import Employee
from hearthpay.payroll.ledger.costs import (
    MonthlyCost,
    coming_payrolls,
    costs_by_month,
    latest_paychecks,
    net_pay_leaving,
)
from hearthpay.web.household.charts import BarChart, Month, bar_chart
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.setup.progress_page import unfinished_setup
from hearthpay.web.household.to_dos import SENTENCES, find_to_dos
from hearthpay.web.presentation import day_text

router: Final = APIRouter(include_in_schema=False)

_MONTHS: Final = 6
_DUE_WITHIN: Final = datetime.timedelta(days=120)
_DUE_SHOWN: Final = 5
_WAITS_SHOWN: Final = 8
_PAYCHECKS_SHOWN: Final = 6


@dataclass(frozen=True, slots=True)
class NextPayday:
    """The next payment, in cents: an existing payroll, or the one that Autopilot will generate (`payroll_id` None)."""

    pay_date: datetime.date
    net_pay: int
    names: tuple[str, ...]
    hours: Decimal | int
    leaves_on: datetime.date | None
    payroll_id: UUID | None
    status: str | None


@dataclass(frozen=True, slots=True)
class CostChart:
    """The cost of the last months: the chart, and the same as table rows."""

    chart: BarChart
    rows: tuple[tuple[str, tuple[int, int, int]], ...]


@household_page(router, "GET", "", permission=READ_HOUSEHOLD)
async def overview(at: HouseholdContext) -> Response:
    """Show the household's home page; while it is being set up, the questions."""
    today = at.clock.today()
    first, last = today.replace(day=1), _last_of_month(today)
    facts: dict[str, object] = {
        "sentences": SENTENCES,
        "today": today,
        "may_change": at.may(CHANGE_EMPLOYEES),
    }
    async with at.transaction() as session:
        unfinished = await unfinished_setup(at, session)
        if unfinished is not None:
            return unfinished
        if at.may(READ_PAYROLLS):
            costs = await costs_by_month(session, at.id, _months_back(first, _MONTHS - 1), last)
            facts |= {
                "next": await _next_payday(at, session),
                "costs": _chart(at.visitor.language, first, costs),
                "paychecks": await latest_paychecks(session, at.id, limit=_PAYCHECKS_SHOWN),
                "wages": await net_pay_leaving(session, at.id, first, last),
                "waits": (await find_to_dos(session, [at.id], at.clock.now(), today))[:_WAITS_SHOWN],
            }
        if at.may(READ_CALENDAR):
            facts |= _due(await _calendar(at, session, first, today), today, last)
    return at.show("overview.html", facts)


async def _calendar(
    at: HouseholdContext, session: AsyncSession, first: datetime.date, today: datetime.date
) -> tuple[CalendarItem, ...]:
    requested = CalendarQuery(at.id, first, today + _DUE_WITHIN)
    return (await read_calendar(session, at.actor, at.clock, requested)).items


def _due(items: tuple[CalendarItem, ...], today: datetime.date, last: datetime.date) -> dict[str, object]:
    """Return what is still due, and how much of it is to be paid before the month ends."""
    still = [item for item in items if item.done_on is None and (item.amount != 0 or item.due <= last)]
    return {
        "due": [item for item in still if item.due >= today][:_DUE_SHOWN],
        "taxes": sum(item.amount or 0 for item in items if item.due <= last),
    }


async def _next_payday(at: HouseholdContext, session: AsyncSession) -> NextPayday | None:
    """Return the payroll in progress that is paid next, or what Autopilot generates sooner."""
    coming = await coming_payrolls(session, at.id, limit=1)
    known = [
        NextPayday(
            each.pay_date,
            each.net_pay,
            tuple(each.names),
            each.hours,
            each.leaves_on,
            each.payroll_id,
            each.status,
        )
        for each in coming
    ]
    if not at.may(READ_AUTOPILOT):
        return known[0] if known else None
    enrolled = await list_autopilot(session, at.actor, at.clock, at.id)
    planned = [(view.next_pay_date, view) for view in enrolled if view.next_pay_date is not None]
    day = min((day for day, _ in planned), default=None)
    if day is None or (known and known[0].pay_date <= day):
        return known[0] if known else None
    views = [view for each, view in planned if each == day]
    requested = [view.enrollment.employee_id for view in views]
    people = await session.scalars(select(Employee).where(Employee.id.in_(requested)).order_by(Employee.id))
    return NextPayday(
        day,
        sum(view.version.expected_net for view in views),
        tuple(each.name for each in people),
        sum(view.version.standard_hours for view in views),
        None,
        None,
        None,
    )


def _chart(language: str, this_month: datetime.date, costs: list[MonthlyCost]) -> CostChart | None:
    """Return the months up to this one, including those without a paycheck; None if none has any."""
    if not costs:
        return None
    known = {each.month: each for each in costs}
    months = [_months_back(this_month, back) for back in range(_MONTHS - 1, -1, -1)]
    bars, rows = [], []
    for month in months:
        cost = known.get(month, MonthlyCost(month, 0, 0, 0))
        amounts = (cost.to_employees, cost.held, cost.employer_taxes)
        bars.append(Month(day_text(language, "short_month", month), amounts))
        rows.append((day_text(language, "month", month), amounts))
    return CostChart(bar_chart(bars), tuple(rows))


def _months_back(month: datetime.date, back: int) -> datetime.date:
    number = month.year * 12 + month.month - 1 - back
    return datetime.date(number // 12, number % 12 + 1, 1)


def _last_of_month(day: datetime.date) -> datetime.date:
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])
