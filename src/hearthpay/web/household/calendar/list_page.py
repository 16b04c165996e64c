"""The next year's deadlines by month, with overdue ones first and done ones last."""

import datetime
from collections.abc import Iterable
from functools import partial
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_CALENDAR, READ_CALENDAR, READ_TO_DOS
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.feed import link_in_force
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.open_items import is_open, is_overdue
from hearthpay.duties.titles import title_of_item
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import mark
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.todos.service import other_to_dos_of_household
from hearthpay.todos.to_do import ToDo
from hearthpay.web.household.calendar.span import items_at
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.to_do_rows import rows_of

router: Final = APIRouter(include_in_schema=False)

_MOST_DONE: Final = 20
_FEDERAL: Final = mark("Federal")


@household_page(router, "GET", "/calendar", permission=READ_CALENDAR)
async def calendar(at: HouseholdContext) -> Response:
    """Show everything that is due within a year; the address may name a state and an agency."""
    today = at.clock.today()
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        found = await items_at(at, session)
        others: tuple[ToDo, ...] = ()
        if at.may(READ_TO_DOS):
            others = await other_to_dos_of_household(session, at.actor, at.clock, employer)
        linked_since = await link_in_force(session, at.actor, employer)
    asked = at.visitor.request.query_params
    state, agency = asked.get("state", ""), asked.get("agency", "")
    shown = [each for each in found if state in ("", each.jurisdiction) and agency in ("", each.agency)]
    done = sorted((each for each in shown if each.done_on is not None), key=_done_last, reverse=True)
    codes = sorted({each.jurisdiction for each in found}, key=lambda code: (code != FEDERAL, code))
    facts = {
        "overdue": [each for each in shown if is_overdue(each, today)],
        "to_check": [
            each
            for each in shown
            if is_open(each, today) and each.due < today and not is_overdue(each, today)
        ],
        "others": ()
        if state or agency
        else rows_of((each for each in others if each.due_on), today, at.say, at.visitor.language),
        "months": _by_month(each for each in shown if each.done_on is None and each.due >= today),
        "done": done[:_MOST_DONE],
        "state_names": [(code, at.say(_FEDERAL) if code == FEDERAL else STATES[code]) for code in codes],
        "agency_names": [(each, each) for each in sorted({item.agency for item in found})],
        "form_values": {"state": state, "agency": agency},
        "filtered": bool(state or agency),
        "linked_since": linked_since,
        "may_keep": at.may(KEEP_CALENDAR),
        "today": today,
        "title_of": partial(title_of_item, language=at.visitor.language),
    }
    return at.show("calendar/list.html", facts)


def _done_last(item: CalendarItem) -> tuple[datetime.date, str]:
    return item.done_on or item.due, item.key


def _by_month(items: Iterable[CalendarItem]) -> list[tuple[datetime.date, list[CalendarItem]]]:
    months: dict[datetime.date, list[CalendarItem]] = {}
    for item in items:
        months.setdefault(item.due.replace(day=1), []).append(item)
    return list(months.items())
