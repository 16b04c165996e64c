"""Changing an enrollment from a period on, and renewing the authorization for another bank account."""

import datetime
from itertools import islice
from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import ENROLL_AUTOPILOT
from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.agreeing import renew_agreement
from hearthpay.autopilot.changing import change_enrollment
from hearthpay.autopilot.commands import FURTHEST_CHANGE, ChangeEnrollment
from hearthpay.autopilot.records import stages_of, versions_of
from hearthpay.autopilot.schedule import Schedule, Stage, common_starts, periods_of
from hearthpay.employees.commands import PayFrequency
from hearthpay.languages.catalogue import mark
from hearthpay.web.household.autopilot.enroll_pages import (
    agreement_of,
    problems_of_agreement,
    text_of_agreement,
)
from hearthpay.web.household.autopilot.status import AutopilotStatus, find_live
from hearthpay.web.household.autopilot.terms_form import (
    has_too_many_hours,
    pay_day_choices,
    read_hours,
    read_rhythm,
)
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.words import FREQUENCIES
from hearthpay.web.household.form_parsing import ROOT, Entries, problems_in
from hearthpay.web.presentation import day_text

router: Final = APIRouter(include_in_schema=False)

_SHOWN: Final = 9
_FITTING: Final = 3
_CHOOSE: Final = mark("Choose one.")
_TOO_FAR: Final = mark("Choose a date within two years.")
_NOT_FITTING: Final = mark("Choose a day on which a period of the new schedule starts too: {days}.")
_NONE_FITS: Final = mark(
    "The two schedules have no common start within two years. End Autopilot and enroll again."
)
_CANNOT: Final = mark("Autopilot can't pay with these settings. Check the employee's page.")


@household_page(router, "GET", "/autopilot/{enrollment_id}/change", permission=ENROLL_AUTOPILOT, fresh=True)
async def edit_terms(at: HouseholdContext) -> Response:
    """Show the current terms, and the periods from which others may hold."""
    return await _form(at, {})


@household_page(router, "POST", "/autopilot/{enrollment_id}/change", permission=ENROLL_AUTOPILOT, fresh=True)
async def change_terms(at: HouseholdContext) -> Response:
    """Enroll other hours or another schedule from a period on."""
    entries = Entries(at.form)
    hours, rhythm, start = read_hours(entries), read_rhythm(entries), entries.day("from_period")
    if start is None:
        entries.problems.setdefault("from_period", _CHOOSE)
    elif start - at.clock.today() > FURTHEST_CHANGE:
        entries.problems["from_period"] = _TOO_FAR
    if hours is None or rhythm is None or start is None or entries.problems:
        return await _form(at, entries.problems)
    frequency, days = rhythm
    try:
        async with at.transaction() as session:
            status = await find_live(at, session)
            fitting = await _fitting(session, status, start, frequency)
            if start not in fitting:
                return await _form(at, _unfitting(at, fitting))
            if has_too_many_hours(entries, hours, Schedule(frequency, start, days).period(start)):
                return await _form(at, entries.problems)
            requested = ChangeEnrollment(
                employer_id=at.id,
                employee_id=status.employee.id,
                from_period=start,
                standard_hours=hours,
                frequency=frequency,
                pay_days_after=days,
            )
            await change_enrollment(session, at.actor, at.clock, requested)
    except Refusal as error:
        problems = problems_in(error, at.form)
        if isinstance(error.details, dict) and "reasons" in error.details:
            problems = {ROOT: _CANNOT}
        return await _form(at, problems)
    return at.go(status.path)


@household_page(router, "GET", "/autopilot/{enrollment_id}/agree", permission=ENROLL_AUTOPILOT, fresh=True)
async def confirm_terms(at: HouseholdContext) -> Response:
    """Show the authorization's text, to be agreed to for the account that is connected now."""
    return await _agreement(at, {})


@household_page(router, "POST", "/autopilot/{enrollment_id}/agree", permission=ENROLL_AUTOPILOT, fresh=True)
async def agree(at: HouseholdContext) -> Response:
    """Authorize debits of the account that is connected now."""
    problems = problems_of_agreement(at)
    if problems:
        return await _agreement(at, problems)
    try:
        async with at.transaction() as session:
            status = await find_live(at, session)
            await renew_agreement(session, at.actor, at.clock, at.id, status.employee.id, agreement_of(at))
    except Refusal as error:
        return await _agreement(at, problems_in(error, at.form))
    return at.go(status.path)


async def _stages(session: AsyncSession, status: AutopilotStatus) -> tuple[Stage, ...]:
    enrollment = status.enrollment
    return stages_of((await versions_of(session, [enrollment.id]))[enrollment.id])


async def _starts(session: AsyncSession, status: AutopilotStatus) -> list[datetime.date]:
    """Return the first days of the undecided periods."""
    coming = periods_of(await _stages(session, status), status.enrollment.next_start)
    return [each.start for each in islice(coming, _SHOWN)]


async def _fitting(
    session: AsyncSession, status: AutopilotStatus, requested: datetime.date, frequency: PayFrequency
) -> list[datetime.date]:
    """Return days, from the requested one on, on which both the current schedule and the new one begin a period."""
    day = max(requested, status.enrollment.next_start)
    return list(islice(common_starts(await _stages(session, status), frequency, day), _FITTING))


def _unfitting(at: HouseholdContext, fitting: list[datetime.date]) -> dict[str, str]:
    if not fitting:
        return {ROOT: _NONE_FITS}
    days = ", ".join(day_text(at.visitor.language, "date", each) for each in fitting)
    return {"from_period": at.say(_NOT_FITTING, days=days)}


async def _form(at: HouseholdContext, problems: dict[str, str]) -> Response:
    async with at.transaction() as session:
        status = await find_live(at, session)
        starts = await _starts(session, status)
    facts = {
        "autopilot_status": status,
        "frequencies": FREQUENCIES,
        "pay_days": pay_day_choices(at.say),
        "starts": [(each.isoformat(), day_text(at.visitor.language, "date", each)) for each in starts],
        "problems": problems,
        "form_values": at.form if problems else {},
    }
    return at.show("autopilot/change.html", facts, status=400 if problems else 200)


async def _agreement(at: HouseholdContext, problems: dict[str, str]) -> Response:
    async with at.transaction() as session:
        status = await find_live(at, session)
    facts = text_of_agreement(at) | {
        "autopilot_status": status,
        "problems": problems,
        "form_values": at.form if problems else {},
    }
    return at.show("autopilot/agree_anew.html", facts, status=400 if problems else 200)
