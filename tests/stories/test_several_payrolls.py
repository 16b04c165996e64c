"""An agency runs this week's payrolls of several households on one page, in real Chromium.

By mouse, in Spanish, and on a telephone with the keyboard alone; each page fits, and axe finds nothing.
"""

from __future__ import annotations

import re
from datetime import timedelta

import psycopg
import pytest
from playwright.async_api import BrowserContext, expect

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties.dues_records import renew_dues
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from tests.people.visitors import MARIA, PASSWORD
from tests.stories.housekeepers import Housekeeper
from tests.stories.looking import held_small, pictured
from tests.stories.readers import Way
from tests.web.rows.world import World

pytestmark = pytest.mark.long

_LONG_FIRST, _LONG_LAST = "Maximiliana-Guadalupe Constanza", "Wolfeschlegelsteinhausen y Villanueva"
_LONG = f"{_LONG_FIRST} {_LONG_LAST}"
_REVIEW = re.compile(r"/households/payrolls/[0-9a-f-]{36}$")


async def _looked_at(maria: Housekeeper, name: str) -> None:
    for held in (held_small, pictured):
        await held(maria.page, f"several_{maria.way.language}_{name}")


@pytest.mark.parametrize("way", [Way(), Way("es"), Way(keyboard=True, width=360)], ids=str)
async def test_selected_payrolls_are_reviewed_and_run_together(
    context: BrowserContext,
    way: Way,
    clock: FixedClock,
    marias: SignedIn,
    people_context: PeopleContext,
    worker_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    worlds = {}
    for first, last in (("Ann", "Ng"), (_LONG_FIRST, _LONG_LAST), ("Bea", "Cruz")):
        made = await World.make(people_context, owner_connection, marias, first_name=first, last_name=last)
        await made.pay(hours=32)
        worlds[f"{first} {last}"] = made
    _set_rate(owner_connection, worlds[_LONG], 999_999)
    clock.advance(timedelta(days=1))
    await renew_dues(worker_database, clock)
    maria = Housekeeper(await context.new_page(), way)
    await maria.sign_in(MARIA, PASSWORD)
    await maria.reads("{count} payrolls to run this week", count=3)
    for name in worlds:
        await maria.check(maria.words("Select {name}", name=name))
    await _looked_at(maria, "selected")
    await maria.press("Review payrolls")
    await maria.page.wait_for_url(_REVIEW)
    await maria.reads("Review {count} payrolls", count=3)
    await _looked_at(maria, "review")

    # One is left out, one has other amounts by now: the third alone is run.
    _set_rate(owner_connection, worlds["Ann Ng"], 4_000)
    box = maria.page.get_by_label(maria.words("Run the payroll of {name}", name="Bea Cruz"))
    await box.focus()
    await maria.page.keyboard.press("Space")
    await expect(box).not_to_be_checked()
    await maria.press("Run selected payrolls")
    await maria.reads("Review {count} payrolls", count=2)
    await maria.sees("The amounts changed after your review. Nothing was paid. Check them again.")
    await _looked_at(maria, "changed")
    assert _run(owner_connection) == [_LONG]

    await maria.press("Run selected payrolls")
    await maria.reads("{count} payrolls were run", count=3)
    await _looked_at(maria, "run")
    assert _run(owner_connection) == sorted(worlds)
    await maria.follow("All households")
    await maria.reads("{count} households have something overdue", count=3)


def _set_rate(connection: psycopg.Connection, world: World, cents: int) -> None:
    connection.execute(
        "UPDATE employees SET pay_rate_cents = %s WHERE employer_id = %s", (cents, world.household_id)
    )


def _run(connection: psycopg.Connection) -> list[str]:
    """The households whose payroll of this week was run, one name for each payroll."""
    rows = connection.execute(
        "SELECT e.first_name || ' ' || e.last_name FROM payrolls p JOIN employers e ON e.id = p.employer_id "
        "WHERE p.period_end = '2026-11-22'"
    ).fetchall()
    return sorted(name for (name,) in rows)
