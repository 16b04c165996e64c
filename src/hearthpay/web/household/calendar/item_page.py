"""One deadline: what its amount consists of, what was paid and filed, the law behind it, and marking it as done."""

from fnmatch import fnmatchcase
from functools import partial
from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_CALENDAR, KEEP_TAX_LEDGER, READ_CALENDAR
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.minutes import minutes_of
from hearthpay.duties.open_items import is_overdue
from hearthpay.duties.rules import duties_of
from hearthpay.duties.service import mark_duty
from hearthpay.duties.settlement import FILED
from hearthpay.duties.titles import title_of_item
from hearthpay.employers.models import Employer
from hearthpay.employers.service import find_employer
from hearthpay.filing.balances import period_balance
from hearthpay.filing.filings import record_filing_of_household
from hearthpay.filing.reversals import filings_of_item
from hearthpay.filing.schemas import NewFiling
from hearthpay.languages.catalogue import Sentence, mark
from hearthpay.reports.commands import AskTaxLiability
from hearthpay.reports.service import tax_liability_of_household
from hearthpay.reports.tax_liability import LineLiability
from hearthpay.web.framework import problems_of
from hearthpay.web.household.calendar.item_words import late_text, moved_text, note_text, status_text
from hearthpay.web.household.calendar.span import items_at
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_parsing import ROOT, Entries, problems_in
from hearthpay.web.household.form_values import day_field, field_errors, id_in
from hearthpay.web.household.state_accounts.words import FREQUENCY_WORDS, reason_text
from hearthpay.web.household.taxes.open_amounts import OpenRow, open_row
from hearthpay.web.presentation import money_text

router: Final = APIRouter(include_in_schema=False)

_FUTURE: Final = mark("Enter today's date or an earlier one.")
_EARLY: Final = mark("Enter a date on or after {day}, when the period begins.")
_IS_FILED: Final = mark("This is already recorded as filed on {day}. To correct it, reverse it first.")


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


@household_page(router, "POST", "/calendar/{item_id}/filed", permission=KEEP_TAX_LEDGER)
async def filed(at: HouseholdContext) -> Response:
    """Record that it was filed, with the figures as they are."""
    async with at.transaction() as session:
        found = await _item(at, session)
    if found.kind not in FILED:
        raise Refusal("not_found", mark("Nothing found with this name."))
    entries = Entries(at.form)
    day = entries.day("filed_on")
    if day is not None and day < found.period_start:
        entries.problems["filed_on"] = Sentence(_EARLY, {"day": found.period_start})
    values = {
        "key": found.key,
        "filed_on": None if day is None else day.isoformat(),
        "confirmation": entries.text("confirmation"),
    }
    checked = entries.checked(NewFiling, values)
    if checked is None:
        return await _page(at, entries.problems)
    try:
        async with at.transaction() as session:
            employer = await find_employer(session, at.actor, at.id)
            await record_filing_of_household(session, at.actor, at.clock, employer, checked.to_command())
    except Refusal as error:
        if error.code == "invalid_state" and isinstance(error.details, dict):
            return await _page(at, {ROOT: Sentence(_IS_FILED, {"day": error.details["filed_on"]})})
        return await _page(at, problems_in(error, at.form))
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
        employer = await find_employer(session, at.actor, at.id)
        lines: tuple[LineLiability, ...] = ()
        if found.amount is not None:
            lines = await _lines(at, session, employer, found)
        filings = await filings_of_item(session, at.actor, employer, found.key)
    why = near = None
    if found.reason is not None:
        why, near = reason_text(found.reason, at.say, money_text)
    today, row = at.clock.today(), _open_row(at, found)
    overdue = is_overdue(found, today)
    unpaid = row is not None and row.balance.status == "late" and found.marked_on is None
    facts = {
        "item": found,
        "title_of": partial(title_of_item, language=at.visitor.language),
        "note": note_text(at.say, found.note),
        "status": status_text(at.say, at.visitor.language, found, today, overdue=overdue),
        "moved": moved_text(at.say, at.visitor.language, found, overdue=overdue),
        "late": late_text(at.say, found, overdue=overdue, unpaid=unpaid),
        "minutes": minutes_of(found.key, found.kind),
        "why": why,
        "near": near,
        "frequency_words": FREQUENCY_WORDS,
        "lines": lines,
        "overdue": overdue,
        "today": today,
        "problems": problems or {},
        "form_values": dict(at.form) if problems else {},
        "may_keep": at.may(KEEP_CALENDAR),
        "may_record": at.may(KEEP_TAX_LEDGER),
        "is_filed": found.kind in FILED,
        "filings": [each for each in filings if each.reversed_at is None],
        "line_names": {line.code: line_name(line.code, line.name, at.visitor.language) for line in lines},
        "row": row,
    }
    return at.show("calendar/item.html", facts, status=400 if problems else 200)


def _open_row(at: HouseholdContext, found: CalendarItem) -> OpenRow | None:
    balance = period_balance(found)
    if balance is None:
        return None
    return open_row(balance, at.id, at.clock.today(), at.say, at.visitor.language)


async def _lines(
    at: HouseholdContext, session: AsyncSession, employer: Employer, found: CalendarItem
) -> tuple[LineLiability, ...]:
    """Return the lines that make up the amount: those of the duty, over the months of its period."""
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
