"""A deadline's page says when it is due, why the date moved, how late it is, and the agency's usual next step."""

from __future__ import annotations

import datetime
from dataclasses import replace
from uuid import UUID

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.rules import Kind
from hearthpay.duties.service import CalendarQuery, read_calendar
from hearthpay.languages.catalogue import say_in
from hearthpay.people.sessions import SignedIn
from hearthpay.web.household.calendar.item_words import late_text, moved_text, status_text
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, _check, app, people, people_context

__all__ = ["app", "people", "people_context"]

_DAY = datetime.date
ITEM = CalendarItem(
    key="CA/de9/2026-Q3",
    uid=UUID(int=1),
    kind="return",
    jurisdiction="CA",
    what="File it",
    agency="EDD",
    form="DE 9",
    employee_id=None,
    employee_name=None,
    period="2026-Q3",
    period_start=_DAY(2026, 7, 1),
    period_end=_DAY(2026, 9, 30),
    due=_DAY(2026, 11, 2),
    due_unmoved=_DAY(2026, 10, 31),
    amount=None,
    earlier=0,
    reason=None,
    link=None,
    done_on=None,
    note="",
    sources=(),
    confidence="high",
)
EN, ES = say_in("en"), say_in("es")


@pytest.mark.parametrize(
    ("today", "done_on", "text"),
    [
        (_DAY(2026, 10, 27), None, "Due Mon, Nov\u00a02"),
        (_DAY(2026, 11, 2), None, "Due today"),
        (_DAY(2026, 11, 3), None, "1 day late"),
        (_DAY(2026, 11, 22), None, "20 days late"),
        (_DAY(2026, 11, 22), _DAY(2026, 10, 30), "Done on Oct 30, 2026"),
    ],
)
def test_status_says_how_late_an_item_is(
    today: datetime.date, done_on: datetime.date | None, text: str
) -> None:
    item = replace(ITEM, done_on=done_on)
    overdue = done_on is None and item.due < today
    assert status_text(EN, "en", item, today, overdue=overdue) == text


@pytest.mark.parametrize(
    ("unmoved", "due", "english", "spanish"),
    [
        (_DAY(2026, 11, 2), _DAY(2026, 11, 2), None, None),
        (
            _DAY(2026, 10, 31),
            _DAY(2026, 11, 2),
            "The law's date is Sat, Oct\u00a031. That's a weekend, so you have until Mon, Nov\u00a02.",
            (
                "La fecha de la ley es el sábado, 31\u00a0de\u00a0octubre. Es fin de semana, "
                "así que tiene hasta el lunes, 2\u00a0de\u00a0noviembre."
            ),
        ),
        (
            _DAY(2026, 11, 11),
            _DAY(2026, 11, 12),
            "The law's date is Wed, Nov\u00a011. That's a holiday, so you have until Thu, Nov\u00a012.",
            (
                "La fecha de la ley es el miércoles, 11\u00a0de\u00a0noviembre. Es día feriado, "
                "así que tiene hasta el jueves, 12\u00a0de\u00a0noviembre."
            ),
        ),
    ],
)
def test_moved_date_says_why_it_moved(
    unmoved: datetime.date, due: datetime.date, english: str | None, spanish: str | None
) -> None:
    item = replace(ITEM, due=due, due_unmoved=unmoved)
    shown = moved_text(EN, "en", item, overdue=False), moved_text(ES, "es", item, overdue=False)
    assert shown == (english, spanish)


@pytest.mark.parametrize(
    ("unmoved", "text"),
    [
        (_DAY(2026, 11, 2), "It was due Mon, Nov\u00a02."),
        (_DAY(2026, 10, 31), "It was due Mon, Nov\u00a02. The law's date is Sat, Oct\u00a031, a weekend."),
        (_DAY(2026, 10, 30), "It was due Mon, Nov\u00a02. The law's date is Fri, Oct\u00a030, a holiday."),
    ],
)
def test_overdue_item_says_when_it_was_due(unmoved: datetime.date, text: str) -> None:
    assert moved_text(EN, "en", replace(ITEM, due_unmoved=unmoved), overdue=True) == text


@pytest.mark.parametrize(
    ("kind", "overdue", "unpaid", "beginning"),
    [
        ("return", True, False, "File it now. The agency usually sends a notice"),
        ("return", True, True, "Pay it now. The agency usually sends a bill"),
        ("payment", True, False, "Pay it now."),
        ("statement", True, False, "Give it now."),
        ("report", True, False, "Send it now."),
        ("election", True, False, None),
        ("return", False, False, None),
    ],
)
def test_late_item_names_the_agencys_usual_next_step_and_no_amount(
    kind: Kind, overdue: bool, unpaid: bool, beginning: str | None
) -> None:
    found = late_text(EN, replace(ITEM, kind=kind), overdue=overdue, unpaid=unpaid)
    assert (found is None) == (beginning is None)
    assert (found or "").startswith(beginning or "")
    assert "$" not in (found or "")


@pytest.mark.parametrize("language", ["en", "es"])
async def test_page_says_the_date_why_it_moved_and_the_minutes(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    language: str,
) -> None:
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    await world.pay(weeks_ago=4)
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    asked = CalendarQuery(world.household_id, _DAY(2026, 9, 1), _DAY(2027, 9, 1))
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        items = (await read_calendar(session, world.actor, clock, asked)).items
    browser = await _browser(app, "viewer", clock)
    item = next(each for each in items if each.due != each.due_unmoved and each.done_on is None)
    page = await browser.look(f"/app/{world.household_id}/calendar/{item.uid}")
    assert page.status_code == 200, page.text
    _check(page)
    overdue = item.due < _DAY(2026, 11, 20)
    moved = moved_text(say_in(language), language, item, overdue=overdue)
    assert moved is not None
    assert moved.replace("'", "&#39;") in page.text
    assert ("our guess" if language == "en" else "cálculo aproximado") in page.text
