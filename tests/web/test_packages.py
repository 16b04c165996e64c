"""A year's papers that are too many to wait for, on the pages: asked for, looked at, downloaded."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Awaitable, Callable
from importlib import import_module

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.documents.package_builder import MakingReport, make_next
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.service import update_employee
from hearthpay.employers.commands import PostalAddress
from hearthpay.mail.notices import NotificationSettings
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]

ADDRESS = {"line1": "1 Oak St", "city": "Oakland", "state": "CA", "zip": "94601"}
WEEKS = 4
PAPERS = 2 * WEEKS + 2 * 3 + 3
"""Stubs of two people, their Forms W-2 in three copies; W-3, Schedule H, the cover sheet."""


@pytest.fixture
async def world(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    """A household with more documents than one request draws, where that is fewer than usual."""
    monkeypatch.setattr(import_module("hearthpay.web.household.taxes.papers"), "PACKAGE_AT_ONCE", PAPERS // 2)
    made = await World.make(app.state.people_context, owner_connection, people["owner"])
    ana = await made.employ("Ana", "Ortiz")
    for each in (made.employee_id, ana):
        async with made.people_context.database.transaction(made.actor.tenant) as session:
            moved = ChangeEmployee(address=PostalAddress(**ADDRESS))
            await update_employee(session, made.actor, made.people_context.clock, each, moved)
    for weeks_ago in range(WEEKS):
        await made.pay(made.employee_id, ana, weeks_ago=weeks_ago)
    return made


@pytest.fixture
async def maria(app: FastAPI, world: World, clock: FixedClock) -> Browser:
    return await _browser(app, "owner", clock)


@pytest.fixture
def here(world: World) -> Callable[[str], str]:
    return lambda path: f"/app/{world.household_id}/{path}"


@pytest.fixture
def work(
    worker_database: Database, ring: KeyRing, clock: FixedClock
) -> Callable[[int], Awaitable[MakingReport]]:
    """The worker draws so many papers."""

    async def go(papers: int) -> MakingReport:
        asked = iter(range(papers))
        return await make_next(
            worker_database, ring, clock, NotificationSettings(), lambda: next(asked, None) is None
        )

    return go


async def test_a_package_is_asked_for_looked_at_and_downloaded(
    app: FastAPI,
    maria: Browser,
    here: Callable[[str], str],
    work: Callable[[int], Awaitable[MakingReport]],
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    page = "/settings/profile"
    ein = {"ein": "98-7654321", "ein_again": "98-7654321"}
    await maria.send(here("taxes/papers/address"), page=page, **ADDRESS)
    await maria.send(here("state-accounts/ein"), page=page, **ein)
    asked = await maria.send(here("taxes/papers/year-package"), page=page, year="2026")
    assert asked.status_code == 303, asked.text
    place = asked.headers["location"]
    assert place.startswith(here("taxes/papers/packages/"))
    assert f"0 of {PAPERS} documents finished" in (await maria.look(place)).text
    await work(10)
    shown = (await maria.look(place)).text
    assert f"10 of {PAPERS} documents finished" in shown
    assert f'<progress max="{PAPERS}" value="10"' in shown
    assert "Download" not in shown
    assert place in (await maria.look(here("taxes/papers?year=2026"))).text
    again = await maria.send(here("taxes/papers/year-package"), page=page, year="2026")
    assert again.headers["location"] == place
    owner_connection.execute("UPDATE people SET language = 'es'")
    spanish = (await maria.look(place)).text
    assert f"10 de {PAPERS} documentos listos" in spanish
    assert "le escribiremos" in spanish
    owner_connection.execute("UPDATE people SET language = 'en'")
    await work(1_000)
    ready = (await maria.look(place)).text
    assert f"The file is ready ({PAPERS} documents)." in ready
    found = re.search(r'action="([^"]+/issued/[^"]+)"', ready)
    assert found is not None
    file = await maria.send(found[1], page=page)
    assert file.headers["content-disposition"] == 'attachment; filename="household-payroll-2026.zip"'
    with zipfile.ZipFile(io.BytesIO(file.content)) as packed:
        assert len(packed.namelist()) == PAPERS
    viewer = await _browser(app, "viewer", clock)
    seen = await viewer.look(place)
    assert seen.status_code == 200
    assert 'method="post"' not in seen.text.partition("<main")[2].partition("</main>")[0]
    other = await _browser(app, "other", clock)
    assert (await other.look(place)).status_code == 404


async def test_what_is_missing_by_the_time_it_is_made_is_shown(
    maria: Browser,
    here: Callable[[str], str],
    work: Callable[[int], Awaitable[MakingReport]],
    owner_connection: psycopg.Connection,
) -> None:
    page = "/settings/profile"
    await maria.send(here("taxes/papers/address"), page=page, **ADDRESS)
    await maria.send(here("state-accounts/ein"), page=page, ein="98-7654321", ein_again="98-7654321")
    asked = await maria.send(here("taxes/papers/year-package"), page=page, year="2026")
    owner_connection.execute("UPDATE employers SET address = NULL")
    await work(1_000)
    shown = await maria.look(asked.headers["location"])
    assert shown.status_code == 200
    assert f'href="{here("taxes/papers/address?year=2026")}"' in shown.text
