"""The household's side of a link: sharing it, and saying whether an account made by it is the employee's."""

from __future__ import annotations

import re
from dataclasses import replace

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from tests.people.visitors import PASSWORD
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_employee_pages import browser, send, world
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "browser", "people", "people_context", "world"]


async def test_a_link_can_be_shared_copied_and_photographed(browser: Browser, world: World) -> None:
    here = f"/app/{world.household_id}/employees/{world.employee_id}/invitations"
    page = await send(browser, here, type="tax_info", send_email="")
    tree = parsed(page)
    (notice,) = (each for each in tree.iter("div") if each.get("data-share"))
    address = notice.get("data-share") or ""
    assert re.fullmatch(r"https://[^/]+/portal/\w{43}", address)
    assert f'class="secret">{address}<' in page.text  # without a script, and to read aloud
    buttons = {each.text: each.get("hidden") for each in notice.iter("button")}
    assert buttons == {"Share": "", "Copy link": ""}  # the script shows those that the browser can do
    (drawing,) = (each for each in notice.iter("div") if each.get("role") == "img")
    assert drawing.get("aria-label") == "QR code of the link"
    (svg,) = (each for each in drawing.iter() if each.tag.endswith("svg"))
    assert svg.get("viewBox")
    assert not [each for each in svg.iter() if each.get("style")]
    assert "/assets/passkeys.js" in page.text
    policy = page.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert page.headers["Cache-Control"] == "no-store"
    later = await browser.look(here)
    assert "data-share" not in later.text
    assert "/assets/passkeys.js" not in later.text
    assert "connect-src" not in later.headers["Content-Security-Policy"]


@pytest.mark.parametrize("answer", ["confirm", "end"])
async def test_the_household_says_whose_account_it_is(
    app: FastAPI,
    browser: Browser,
    world: World,
    answer: str,
    owner_connection: psycopg.Connection,
) -> None:
    app.state.people_context = replace(app.state.people_context, sends_mail=False)
    here = f"/app/{world.household_id}/employees/{world.employee_id}/invitations"
    sent = await send(browser, here, type="tax_info", send_email="")
    link = re.search(r'class="secret">https://[^<]*(/portal/\w{43})<', sent.text)
    assert link is not None
    hers, path = Browser.of(app), f"{link[1]}/account"
    made = await hers.send(path, page=path, email="rosa@example.com", name="Rosa Diaz", password=PASSWORD)
    assert made.headers.get("location") == "/my"
    home = (await browser.look(f"/app/{world.household_id}")).text
    assert "Confirm that Rosa Diaz made an account" in home
    page = (await browser.look(here)).text
    assert "Did Rosa make this account?" in page
    assert "rosa@example.com, wasn’t checked" in page
    form = re.search(rf'action="({here}/account/[\w-]+/{answer})"', page)
    assert form is not None
    other = form[1].replace(str(world.employee_id), str(world.household_id))
    assert (await send(browser, other)).status_code == 404
    assert (await send(browser, form[1].replace(answer, "keep"))).status_code == 404
    assert (await send(browser, form[1])).status_code == 303
    assert "Did Rosa make this account?" not in (await browser.look(here)).text
    [(waits, ended)] = owner_connection.execute(
        "SELECT awaits_household, ended_at IS NOT NULL FROM employee_links"
    ).fetchall()
    assert (waits, ended) == ((False, False) if answer == "confirm" else (True, True))
    shown = await hers.look(f"/my/{world.employee_id}")
    assert shown.status_code == (200 if answer == "confirm" else 404)
    actions = "SELECT action FROM audit_log WHERE action IN ('employee.confirm_account', 'employee.unlink')"
    expected = "employee.confirm_account" if answer == "confirm" else "employee.unlink"
    assert owner_connection.execute(actions).fetchall() == [(expected,)]
    assert (await send(browser, form[1])).status_code == (404 if answer == "confirm" else 303)


async def test_a_viewer_sees_the_question_and_cannot_answer_it(
    app: FastAPI,
    browser: Browser,
    world: World,
    people: dict[str, SignedIn],
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    app.state.people_context = replace(app.state.people_context, sends_mail=False)
    here = f"/app/{world.household_id}/employees/{world.employee_id}/invitations"
    sent = await send(browser, here, type="tax_info", send_email="")
    link = re.search(r'class="secret">https://[^<]*(/portal/\w{43})<', sent.text)
    assert link is not None
    hers, path = Browser.of(app), f"{link[1]}/account"
    await hers.send(path, page=path, email="rosa@example.com", name="Rosa Diaz", password=PASSWORD)
    [(link_id,)] = owner_connection.execute("SELECT id FROM employee_links").fetchall()
    viewer = await _browser(app, "viewer", clock)
    page = (await viewer.look(here)).text
    assert "Did Rosa make this account?" in page
    assert "Confirm account" not in page
    assert (await send(viewer, f"{here}/account/{link_id}/confirm")).status_code == 403
    assert owner_connection.execute("SELECT awaits_household FROM employee_links").fetchall() == [(True,)]
