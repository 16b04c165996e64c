"""An employee opens the link on her phone: three small pages, one field needed; then an account by the very link.

The three ways are English by mouse, Spanish, and 360 px by keyboard alone. Each page is also looked at by axe.
"""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest
from fastapi import FastAPI
from playwright.async_api import expect

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.security.key_ring import KeyRing
from tests.http.api import ROSA, Account, data
from tests.people.visitors import PASSWORD
from tests.stories.looking import pictured
from tests.stories.readers import Reader, Way

SSN = "536-22-8145"

in_each_way = pytest.mark.parametrize(
    "way",
    [
        Way(),
        pytest.param(Way("es"), marks=pytest.mark.long),
        pytest.param(Way("es", keyboard=True, width=360), marks=pytest.mark.long),
    ],
    ids=str,
)


@pytest.fixture
def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """An installation without a mail server."""
    return create_app(database, clock, AppSettings(ring=ring))


@pytest.fixture
async def link(account: Account, household: dict[str, Any]) -> str:
    rosa = data(await account.live.post("/employees", ROSA), 201)
    asked = {"type": "tax_info", "send_email": False}
    invited = data(await account.live.post(f"/employees/{rosa['id']}/invite", asked))
    return "/portal/" + str(invited["portal_url"]).rpartition("/")[2]


async def _looked_at(reader: Reader, name: str) -> None:
    await pictured(reader.page, f"link_{name}_{reader.way.language}")


@in_each_way
async def test_three_pages_and_one_field(
    reader: Reader, link: str, owner_connection: psycopg.Connection
) -> None:
    await reader.open(link)
    await reader.reads("What is your Social Security number or ITIN?")
    await reader.sees("Step {number} of {last}", number=1, last=3)
    await reader.sees(
        "In Hearthpay the household sees only the last four digits. The full number is only on the tax forms that the "
        "law asks for."
    )
    await _looked_at(reader, "number")
    await reader.fill("Social Security number or ITIN", "1")
    await reader.press("Continue")
    await expect(reader.page.locator(".errors")).to_be_focused()
    assert (
        await reader.page.title()
        == f"{reader.words('Error:')} {reader.words('What is your Social Security number or ITIN?')} · Hearthpay"
    )
    await _looked_at(reader, "number_wrong")
    await reader.fill("Social Security number or ITIN", SSN)
    await reader.press("Continue")
    await reader.reads("Where do you get your mail?")
    await _looked_at(reader, "address")
    await reader.follow("Not now")
    await reader.reads("How much income tax should be withheld?")
    await _looked_at(reader, "certificates")
    await reader.follow("Not now")
    await reader.reads("Thank you, {name}", name="Rosa")
    await reader.sees("Social Security number ending in {digits}", digits="8145")
    await _looked_at(reader, "done")
    assert SSN not in await reader.page.content()
    entered = owner_connection.execute("SELECT kind, last_four FROM vault").fetchall()
    assert entered == [("ssn", "8145")]

    await reader.open(link)  # a day later she goes on where something is missing
    await reader.reads("Where do you get your mail?")
    for label, text in (
        ("Street and number, or PO box", "18 Valencia St"),
        ("City", "San Francisco"),
        ("ZIP code", "94103"),
    ):
        await reader.fill(label, text)
    state = reader.page.get_by_label(reader.words("State"), exact=True)
    await state.select_option(label="California")
    await reader.press("Continue")
    await reader.reads("How much income tax should be withheld?")
    signatures = reader.page.get_by_label(reader.words("Your full name, as your signature"), exact=True)
    for number in range(await signatures.count()):
        await signatures.nth(number).fill("Rosa Diaz")
    await reader.press("Sign and finish")
    await reader.reads("Thank you, {name}. Everything is in.", name="Rosa")
    await _looked_at(reader, "everything")
    assert owner_connection.execute("SELECT status FROM invitations").fetchall() == [("completed",)]

    await reader.follow("Create account")
    await reader.reads("{name}, see your pay", name="Rosa")
    await _looked_at(reader, "account")
    await reader.fill("Email address", "rosa@example.com")
    await reader.fill("Your name", "Rosa Diaz")
    await reader.fill("Password", PASSWORD)
    await reader.press("Create account")
    await reader.reads("Employee portal")
    await _looked_at(reader, "account_waits")

    await reader.open(link)
    await reader.reads("This link doesn't work")
    await _looked_at(reader, "ended")
    await reader.press("Ask for a new link")
    await reader.reads("We asked for a new link")
    await _looked_at(reader, "asked")


async def test_the_other_language_is_one_tap_away_and_stays(reader: Reader, link: str) -> None:
    await reader.open(link)
    await reader.page.get_by_role("link", name="Español").click()
    await reader.page.get_by_role("heading", name="¿Cuál es su número de Seguro Social o ITIN?").wait_for()
    await reader.page.get_by_role("link", name="Ahora no").click()
    await reader.page.get_by_role("heading", name="¿Dónde recibe su correo postal?").wait_for()
    await expect(reader.page).to_have_url(re.compile(r"/address\?language=es$"))
