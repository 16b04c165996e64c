"""The pages of a household that show rule files have no English on them for a reader of Spanish."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]

_ENGLISH = re.compile(
    r"\b(the|of|and|with|for|from|by|your|you|this|that|is|are|not|only|each|when|where|pay|tax|income|withheld|"
    r"wages|account|number|employer|employee|household|week|quarter|year|file|form|must|within|days)\b",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"\((?:federal|state) income tax\)|EDD New Employee Registry|Texas OAG Employer New Hire|"
    r"Department of [A-Z][\w, ]+|Employment Development Department|Board of \w+|Schedule \w|WA Cares|Paid Leave|"
    r"City of \w+|Division of [A-Z]\w+|Bureau of [A-Z]\w+|Form [A-Z0-9][\w-]*|[A-Z]\w+ (?:and|of|for) [A-Z]\w+"
)
"""Names of agencies, programs and forms, and of two taxes that pay stubs have in both languages."""


class _Spoken(HTMLParser):
    """The text of a page, without what is marked as English or never shown."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[bool] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in (
            "meta",
            "link",
            "input",
            "br",
            "img",
            "path",
            "hr",
            "source",
            "line",
            "rect",
            "circle",
            "use",
        ):
            self.open.append(dict(attrs).get("lang") == "en" or tag in ("script", "style", "option"))

    def handle_endtag(self, tag: str) -> None:
        if self.open:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if data.strip() and not any(self.open):
            self.texts.append(" ".join(data.split()))


def english_on(page: str) -> list[str]:
    """Return the texts of a page that have English words, apart from names."""
    spoken = _Spoken()
    spoken.feed(page)
    return [text for text in spoken.texts if _ENGLISH.search(_NAMES.sub("", text))]


def test_english_is_found_and_names_are_left_alone() -> None:
    assert english_on("<p>Pague</p><p>Within 15 days</p>") == ["Within 15 days"]
    assert english_on('<p lang="en">Within 15 days</p><p>Department of Revenue</p>') == []


@pytest.fixture
async def browser(app: FastAPI, people: dict[str, SignedIn], clock: FixedClock) -> Browser:
    return await _browser(app, "owner", clock)


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "every"])
@pytest.mark.parametrize("state", ["CA", "NY", "PA", "NJ", "WA", "IL", "TX"])
async def test_pages_with_texts_of_rules_are_in_spanish(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    browser: Browser,
    state: str,
    every: bool,
) -> None:
    """In the suite of the items of one kind in the calendar the first and the last."""
    world = await World.make(app.state.people_context, owner_connection, people["owner"], state=state)
    world.connection.execute("UPDATE employees SET work_state = %s, residence_state = %s", (state, state))
    await world.pay(weeks_ago=1)
    world.connection.execute("UPDATE people SET language = 'es'")
    root = f"/app/{world.household_id}"
    paths = [
        "/state-accounts",
        "/calendar",
        "/taxes",
        "/taxes/owed",
        "/taxes/wages",
        f"/employees/{world.employee_id}",
        f"/employees/{world.employee_id}/withholding",
    ]
    calendar = (await browser.look(f"{root}/calendar")).text
    items = re.findall(rf'href="{root}(/calendar/[0-9a-f-]{{36}})">(.*?)</a>', calendar)
    assert len(items) == len(re.findall(rf'href="{root}/calendar/[0-9a-f-]{{36}}', calendar))
    if not every:
        last = {what: path for path, what in items}
        first = {what: path for path, what in reversed(items)}
        items = [(path, what) for ends in (first, last) for what, path in ends.items()]
    accounts = (await browser.look(f"{root}/state-accounts")).text
    forms = dict.fromkeys(re.findall(rf'href="{root}(/state-accounts/{state}/[^"]+)"', accounts))
    assert items
    found = {}
    for path in dict.fromkeys((*paths, *(path for path, _ in items), *forms)):
        page = await browser.look(root + path)
        if page.status_code != 200:  # a number to show asks for the password first
            continue
        if english := english_on(page.text):
            found[path] = english
    assert found == {}
