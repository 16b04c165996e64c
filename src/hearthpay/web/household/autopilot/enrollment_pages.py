"""The page of one enrollment: its state, what comes next and what it costs; pausing, resuming and ending it."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import ENROLL_AUTOPILOT, MANAGE_AUTOPILOT, READ_AUTOPILOT
from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.commands import AutopilotAction, HistoryQuery, Manage
from hearthpay.autopilot.managing import manage
from hearthpay.autopilot.reading import read_history
from hearthpay.languages.catalogue import mark
from hearthpay.web.household.autopilot.status import (
    find_live,
    find_status,
    require_same,
    what_it_costs,
)
from hearthpay.web.household.autopilot.timeline import lines_of
from hearthpay.web.household.autopilot.words import REASONS
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.words import FREQUENCIES
from hearthpay.web.household.form_parsing import ROOT, problems_in

router: Final = APIRouter(include_in_schema=False)

_LATEST: Final = 5
_CANNOT: Final = mark("Autopilot can't continue yet. See why below.")


@household_page(router, "GET", "/autopilot/{enrollment_id}", permission=READ_AUTOPILOT)
async def enrollment(at: HouseholdContext) -> Response:
    """Show the state of the enrollment."""
    return await _page(at, {})


@household_page(router, "POST", "/autopilot/{enrollment_id}/pause", permission=MANAGE_AUTOPILOT)
async def pause(at: HouseholdContext) -> Response:
    """Pause: no further payrolls are generated; scheduled ones are still paid."""
    return await _managed(at, "pause")


@household_page(router, "POST", "/autopilot/{enrollment_id}/resume", permission=MANAGE_AUTOPILOT)
async def resume(at: HouseholdContext) -> Response:
    """Resume with the first period that can still be sent."""
    return await _managed(at, "resume")


@household_page(router, "GET", "/autopilot/{enrollment_id}/stop", permission=MANAGE_AUTOPILOT)
async def confirm_end(at: HouseholdContext) -> Response:
    """Ask for confirmation, and show what ends with the enrollment."""
    async with at.transaction() as session:
        status = await find_live(at, session)
    return at.show("autopilot/stop.html", {"autopilot_status": status})


@household_page(router, "POST", "/autopilot/{enrollment_id}/stop", permission=MANAGE_AUTOPILOT)
async def end(at: HouseholdContext) -> Response:
    """End it for good."""
    return await _managed(at, "disable")


async def _managed(at: HouseholdContext, action: AutopilotAction) -> Response:
    try:
        async with at.transaction() as session:
            status = await find_status(at, session)
            if status.live:
                requested = Manage(employer_id=at.id, employee_id=status.employee.id, action=action)
                done = await manage(
                    session, at.actor, at.clock, requested, direct_deposit_enabled=at.runtime.direct_deposit
                )
                require_same(status, done.view.enrollment.id)
    except Refusal as error:
        problems = problems_in(error, at.form)
        if isinstance(error.details, dict) and "reasons" in error.details:
            problems = {ROOT: _CANNOT}
        return await _page(at, problems)
    return at.go(status.path)


async def _page(at: HouseholdContext, problems: dict[str, str]) -> Response:
    async with at.transaction() as session:
        status = await find_status(at, session)
        cost, reasons = await what_it_costs(at, session, status) if status.live else (None, ())
        requested = HistoryQuery(employer_id=at.id, employee_id=status.employee.id, limit=_LATEST)
        events, _ = await read_history(session, at.actor, requested)
    facts = {
        "autopilot_status": status,
        "cost": cost,
        "reasons": reasons,
        "reasons_in_words": REASONS,
        "frequencies": FREQUENCIES,
        "lines": lines_of(events, at.visitor.language),
        "may_manage": status.live and at.may(MANAGE_AUTOPILOT),
        "may_enroll": at.may(ENROLL_AUTOPILOT),
        "problems": problems,
    }
    return at.show("autopilot/one.html", facts, status=400 if problems else 200)
