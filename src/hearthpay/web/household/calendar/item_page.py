"""One deadline: what its amount consists of, the law behind it, and marking it as done."""

from fnmatch import fnmatchcase
from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_CALENDAR, READ_CALENDAR
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.rules import duties_of
from hearthpay.duties.service import mark_duty
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import mark
from hearthpay.reports.commands import AskTaxLiability
from hearthpay.reports.service import tax_liability_of_household
from hearthpay.reports.tax_liability import LineLiability
from hearthpay.web.framework import problems_of
from hearthpay.web.household.calendar.span import is_overdue, items_at
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import day_field, field_errors, id_in
from hearthpay.web.household.state_accounts.words import FREQUENCY_WORDS, reason_text
from hearthpay.web.presentation import money_text

router: Final = APIRouter(include_in_schema=False)

_FUTURE: Final = mark("Enter today's date or an earlier one.")


@household_page(router, "GET", "/calendar/{item_id}", permission=READ_CALENDAR)
async def item(at: HouseholdContext) -> Response:
    """Show what is to be done, and everything known of it."""
    return await _page(at)


@household_page(router, "POST", "/calendar/{item_id}/done", permission=KEEP_CALENDAR)
async def done(at: HouseholdContext) -> Response:
    """Marks it as done on a day."""
    try:
        day = day_field(at.form, "done_on")
        if day > at.clock.today():
            raise invalid("done_on", _FUTURE)
        async with at.transaction() as session:
            found = await _item(at, session)
            employer = await find_employer(session, at.actor, at.id)
            await mark_duty(session, at.actor, at.clock, employer, key=found.key, done_on=day)
    except Refusal as error:
        return await _page(at, field_errors(problems_of(error)))
    return at.go("/calendar")


@household_page(router, "POST", "/calendar/{item_id}/undo", permission=KEEP_CALENDAR)
async def undo(at: HouseholdContext) -> Response:
    """Undo marking it as done."""
    async with at.transaction() as session:
        found = await _item(at, session)
        if found.marked_on is not None:
            employer = await find_employer(session, at.actor, at.id)
            await mark_duty(session, at.actor, at.clock, employer, key=found.key, done_on=None)
    return at.go(f"/calendar/{found.uid}")


async def _item(at: HouseholdContext, session: AsyncSession) -> CalendarItem:
    """Return the item named in the path. Raises `not_found` if this household doesn't have it."""
    requested = id_in(at.visitor, "item_id")
    for each in await items_at(at, session):
        if each.uid == requested:
            return each
    raise Refusal("not_found", mark("Nothing found with this name."))


async def _page(at: HouseholdContext, problems: dict[str, str] | None = None) -> Response:
    async with at.transaction() as session:
        found = await _item(at, session)
        lines: tuple[LineLiability, ...] = ()
        if found.amount is not None:
            lines = await _lines(at, session, found)
    why = near = None
    if found.reason is not None:
        why, near = reason_text(found.reason, at.say, money_text)
    facts = {
        "item": found,
        "why": why,
        "near": near,
        "frequency_words": FREQUENCY_WORDS,
        "lines": lines,
        "overdue": is_overdue(found, at.clock.today()),
        "today": at.clock.today(),
        "problems": problems or {},
        "form_values": {"done_on": at.form.get("done_on", "")} if problems else {},
        "may_keep": at.may(KEEP_CALENDAR),
    }
    return at.show("calendar/item.html", facts, status=400 if problems else 200)


async def _lines(
    at: HouseholdContext, session: AsyncSession, found: CalendarItem
) -> tuple[LineLiability, ...]:
    """Return the lines that make up the amount: those of the duty, over the months of its period."""
    employer = await find_employer(session, at.actor, at.id)
    asked = AskTaxLiability(found.period_start, found.period_end)
    report = await tax_liability_of_household(session, at.actor, employer, asked)
    duty_id = found.key.split("/")[1]
    patterns = next(each.lines for each in duties_of(found.jurisdiction).duties if each.id == duty_id)
    return tuple(
        line
        for agency in report.agencies
        for line in agency.lines
        if any(fnmatchcase(line.code, pattern) for pattern in patterns)
    )
