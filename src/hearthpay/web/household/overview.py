"""The household's home page: what is to be done, the next payday, what to keep aside for taxes, and the cost."""

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
    READ_HOUSEHOLD,
    READ_PAYROLLS,
    READ_TAX_LEDGER,
    READ_TO_DOS,
    RUN_PAYROLL,
)
from hearthpay.autopilot.reading import list_autopilot
from hearthpay.employees.models import Employee
from hearthpay.employers.service import find_employer
from hearthpay.filing.balances import agency_balances
from hearthpay.payroll.ledger.costs import (
    LatestPaycheck,
    MonthlyCost,
    coming_payrolls,
    costs_by_month,
    latest_paychecks,
)
from hearthpay.payroll.next_payday import LATE_FOR
from hearthpay.payroll.pots import MoneyPots
from hearthpay.todos.service import agenda_of_household
from hearthpay.todos.to_do import Agenda
from hearthpay.web.household.charts import BarChart, Month, bar_chart
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.done_rows import just_done
from hearthpay.web.household.home_words import headline
from hearthpay.web.household.keep_aside import keep_aside_of
from hearthpay.web.household.setup.progress_page import unfinished_setup
from hearthpay.web.household.to_do_rows import home_groups
from hearthpay.web.presentation import day_text

router: Final = APIRouter(include_in_schema=False)

_MONTHS: Final = 6
_PAYCHECKS_SHOWN: Final = 6
_COMING_LOOKED_AT: Final = 5


@dataclass(frozen=True, slots=True)
class UpcomingPay:
    """The next payday: an existing payroll, one that Autopilot will run, or one that is still to be run.

    Amounts are in cents; None where they aren't known before the payroll is run.
    """

    pay_date: datetime.date
    net_pay: int | None
    names: tuple[str, ...]
    hours: Decimal | int
    payroll_id: UUID | None = None
    pots: MoneyPots | None = None
    by_autopilot: bool = False
    leaves_on: datetime.date | None = None
    """When the household's account is debited; None by check or cash."""


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
    say, language = at.say, at.visitor.language
    facts: dict[str, object] = {
        "today": today,
        "may_run": at.may(RUN_PAYROLL),
        "heading": None,
        "is_new": False,
    }
    agenda = None
    paychecks: list[LatestPaycheck] = []
    async with at.transaction() as session:
        unfinished = await unfinished_setup(at, session)
        if unfinished is not None:
            return unfinished
        if at.may(READ_TO_DOS):
            employer = await find_employer(session, at.actor, at.id)
            agenda = await agenda_of_household(session, at.actor, at.clock, employer)
            facts["groups"] = home_groups(agenda, say, language)
            if at.may(READ_TAX_LEDGER):
                facts["aside"] = keep_aside_of(agency_balances(agenda.calendar))
        if at.may(READ_PAYROLLS):
            costs = await costs_by_month(session, at.id, _months_back(first, _MONTHS - 1), last)
            upcoming = await _next_payday(at, session, agenda)
            paychecks = await latest_paychecks(session, at.id, limit=_PAYCHECKS_SHOWN)
            paid = [each for each in paychecks if each.pay_date <= today]
            facts |= {
                "next": upcoming,
                "costs": _chart(language, first, costs),
                "paychecks": paid,
                "is_new": not paychecks and upcoming is None and at.may(CHANGE_EMPLOYEES),
            }
    if agenda is not None:
        newcomer = at.visitor.signed_in.name.split(" ")[0] if facts["is_new"] else None
        facts |= {
            "heading": headline(agenda, say, language, newcomer),
            "is_clear": agenda.is_clear and not facts["is_new"],
            "done": just_done(agenda.calendar.items, paychecks, today, say, language)
            if agenda.is_clear
            else (),
        }
    return at.show("overview.html", facts)


async def _next_payday(
    at: HouseholdContext, session: AsyncSession, agenda: Agenda | None
) -> UpcomingPay | None:
    """Return the payroll in progress that is paid next, or what is planned or to be run sooner, if need be late."""
    paydays = () if agenda is None else agenda.paydays
    found: list[UpcomingPay | None] = [
        UpcomingPay(each.pay_date, None, each.names, 0)
        for each in paydays
        if not each.autopilot and each.pay_date >= at.clock.today() - LATE_FOR
    ]
    if at.may(READ_AUTOPILOT) and (not paydays or any(each.autopilot for each in paydays)):
        found.append(await _planned(at, session))
    other = min((each for each in found if each is not None), key=lambda each: each.pay_date, default=None)
    coming = await coming_payrolls(session, at.id, at.today, at.clock.now(), limit=_COMING_LOOKED_AT)
    for each in sorted(coming, key=lambda each: each.arrives_on)[:1]:
        if other is None or each.arrives_on <= other.pay_date:
            pots = MoneyPots(each.net_pay, each.set_aside, each.withheld, each.employer_taxes)
            return UpcomingPay(
                each.arrives_on,
                each.net_pay,
                tuple(each.names),
                each.hours,
                each.payroll_id,
                pots,
                leaves_on=each.leaves_on,
            )
    return other


async def _planned(at: HouseholdContext, session: AsyncSession) -> UpcomingPay | None:
    """Return what Autopilot runs next, with the net pay that is expected."""
    enrolled = await list_autopilot(session, at.actor, at.clock, at.id)
    planned = [(view.next_pay_date, view) for view in enrolled if view.next_pay_date is not None]
    day = min((day for day, _ in planned), default=None)
    if day is None:
        return None
    views = [view for each, view in planned if each == day]
    requested = [view.enrollment.employee_id for view in views]
    people = await session.scalars(select(Employee).where(Employee.id.in_(requested)).order_by(Employee.id))
    return UpcomingPay(
        day,
        sum(view.version.expected_net for view in views),
        tuple(each.name for each in people),
        sum(view.version.standard_hours for view in views),
        by_autopilot=True,
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
