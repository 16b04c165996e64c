"""Skipping upcoming periods, each shown with the payroll that it voids."""

import datetime
from dataclasses import dataclass
from itertools import islice
from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import MANAGE_AUTOPILOT
from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.commands import LONGEST_SKIP, Manage
from hearthpay.autopilot.managing import manage
from hearthpay.autopilot.models import DecidedPeriod
from hearthpay.autopilot.records import stages_of, versions_of
from hearthpay.autopilot.schedule import first_still_sent, is_skipped, periods_of
from hearthpay.languages.catalogue import mark
from hearthpay.web.household.autopilot.status import AutopilotStatus, find_live, require_same
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_parsing import Entries, problems_in

router: Final = APIRouter(include_in_schema=False)

_SHOWN: Final = 8
_CHOOSE: Final = mark("Choose one.")
_REQUIRED: Final = mark("Fill in this field.")
_PAST: Final = mark("Choose today or a later date.")
_TOO_FAR: Final = mark("Choose a date within two years.")
_ANOTHER: Final = mark("The next pay period has changed. It's shown here. Nothing was skipped.")


@dataclass(frozen=True, slots=True)
class Coming:
    """An upcoming period; `payroll`: the scheduled payroll that would be voided."""

    start: datetime.date
    end: datetime.date
    pay_date: datetime.date
    skipped: bool
    payroll: DecidedPeriod | None = None


@household_page(router, "GET", "/autopilot/{enrollment_id}/skip", permission=MANAGE_AUTOPILOT)
async def skip_form(at: HouseholdContext) -> Response:
    """Show the upcoming periods to choose from."""
    return await _form(at, {})


@household_page(router, "POST", "/autopilot/{enrollment_id}/skip", permission=MANAGE_AUTOPILOT)
async def skip_periods(at: HouseholdContext) -> Response:
    """Skip the next period, as named by the page, or all that begin by a day."""
    entries = Entries(at.form)
    through = _through(at, entries)
    start = _start(entries) if entries.text("what") == "next" else None
    if entries.problems:
        return await _form(at, entries.problems)
    try:
        async with at.transaction() as session:
            status = await find_live(at, session)
            requested = Manage(
                employer_id=at.id,
                employee_id=status.employee.id,
                action="skip",
                through_date=through,
                period_start=start,
            )
            done = await manage(
                session, at.actor, at.clock, requested, direct_deposit_enabled=at.runtime.direct_deposit
            )
            require_same(status, done.view.enrollment.id)
    except Refusal as error:
        if (
            error.code == "invalid_state"
            and isinstance(error.details, dict)
            and "period_start" in error.details
        ):
            return await _form(at, {"what": _ANOTHER})
        return await _form(at, problems_in(error, at.form))
    return at.go(status.path)


def _start(entries: Entries) -> datetime.date | None:
    """Return the first day of the period that the page named as next; without one, `what` has the problem."""
    start = entries.day("next_start")
    if start is None:
        entries.problems.pop("next_start", None)
        entries.problems.setdefault("what", _ANOTHER)
    return start


def _through(at: HouseholdContext, entries: Entries) -> datetime.date | None:
    """Return the day through which to skip; None for the next period only, or if something is wrong."""
    chosen = entries.text("what")
    if chosen == "next":
        return None
    if chosen != "through":
        entries.problems["what"] = _CHOOSE
        return None
    day, today = entries.day("through_date"), at.clock.today()
    if day is None:
        entries.problems.setdefault("through_date", _REQUIRED)
    elif day < today:
        entries.problems["through_date"] = _PAST
    elif day > today + LONGEST_SKIP:
        entries.problems["through_date"] = _TOO_FAR
    return day


async def _form(at: HouseholdContext, problems: dict[str, str]) -> Response:
    async with at.transaction() as session:
        status = await find_live(at, session)
        coming = await _coming(at, session, status)
    facts = {
        "autopilot_status": status,
        "coming": coming,
        "next": next((each for each in coming if not each.skipped), None),
        "today": at.clock.today(),
        "latest": at.clock.today() + LONGEST_SKIP,
        "problems": problems,
        "form_values": at.form if problems else {},
    }
    return at.show("autopilot/skip.html", facts, status=400 if problems else 200)


async def _coming(at: HouseholdContext, session: AsyncSession, status: AutopilotStatus) -> list[Coming]:
    """Return what is scheduled and the periods after it, earliest first."""
    enrollment = status.enrollment
    stages = stages_of((await versions_of(session, [enrollment.id]))[enrollment.id])
    first = first_still_sent(stages, enrollment.next_start, at.clock.now())
    later = [
        Coming(each.start, each.end, each.pay_date, is_skipped(each, enrollment.skip_through))
        for each in islice(periods_of(stages, first.start), _SHOWN)
    ]
    scheduled = [
        Coming(each.period_start, each.period_end, each.pay_date, skipped=False, payroll=each)
        for each in status.waiting
    ]
    return scheduled + later
