"""What is withheld, as a household changes it: what the page shows afterwards is what the next payroll withholds."""

from __future__ import annotations

import itertools
import re
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.employees.changes import settings_after
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.models import Employee
from hearthpay.employees.schemas import Onboarding, detail_of
from hearthpay.employees.service import find_employee, update_employee
from hearthpay.payroll.commands import EmployeePay, Order
from hearthpay.payroll.service import preview_payroll
from hearthpay.security.key_ring import KeyRing
from hearthpay.taxes import PaycheckInput, calculate_paycheck, rulebook_for
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.household.employees.withholding_form import Withheld
from hearthpay.web.household.form_parsing import Entries
from tests.people.visitors import PASSWORD, mails
from tests.web.one_household import signed_in_once, world
from tests.web.people_browser import Browser, typed_in
from tests.web.rows.world import World
from tests.web.test_pages_by_role import app, people, people_context
from tests.worlds.snapshots import MadeOnce

__all__ = ["app", "people", "people_context", "world"]

DAY = date(2026, 11, 20)
STALE = "Someone changed this after you opened the page."


@pytest.fixture
async def browser(app: FastAPI, world: World, clock: FixedClock, made_once: MadeOnce) -> Browser:
    return await signed_in_once(app, "admin", clock, made_once, "household, browser of its admin")


def here(world: World) -> str:
    return f"/app/{world.household_id}/employees/{world.employee_id}/withholding"


async def change(world: World, **settings: Any) -> None:
    """As the API, or another window, would."""
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        changes = ChangeEmployee(**settings)
        await update_employee(session, world.actor, world.people_context.clock, world.employee_id, changes)


async def withheld(world: World, hours: int = 40) -> dict[str, int]:
    """The employee's lines of a preview, in cents by code."""
    order = Order(
        employer_id=world.household_id,
        pay_period_start=date(2026, 11, 9),
        pay_period_end=date(2026, 11, 15),
        pay_date=DAY,
        pay_frequency="weekly",
        employees=(
            EmployeePay(employee_id=world.employee_id, regular_hours=Decimal(hours), payment_method="check"),
        ),
    )
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        preview = await preview_payroll(
            session, world.actor, world.people_context.clock, order, direct_deposit_enabled=False
        )
    [paycheck] = preview.record.paychecks
    return {line.code: line.amount for line in paycheck.lines if line.payer == "employee"}


async def save(browser: Browser, world: World, **changed: str) -> Any:
    """Open the page, change something, and save."""
    page = await browser.look(here(world))
    return await browser.send(here(world), page=here(world), **typed_in(page) | changed)


def record(world: World) -> dict[str, Any]:
    cursor = world.connection.cursor(row_factory=psycopg.rows.dict_row)
    found = cursor.execute("SELECT * FROM employees WHERE id = %s", (world.employee_id,)).fetchone()
    assert found is not None
    return found


OLD = {"pre_2020": {"marital_status": "married", "allowances": 4}}


async def test_a_new_form_w4_takes_the_place_of_an_old_one(browser: Browser, world: World) -> None:
    await change(world, pay_rate=Decimal("37.50"), federal_withholding=OLD)
    before = (await withheld(world))["US-FIT"]
    page = await browser.look(here(world))
    assert "We use a Form W-4 from 2019 or earlier: Married, 4 allowances." in page.text
    saved = await save(
        browser,
        world,
        federal_filing_status="single",
        federal_multiple_jobs="on",
        federal_extra_withholding="50",
    )
    assert saved.status_code == 303, saved.text
    new = {"filing_status": "single", "multiple_jobs": True, "extra_withholding": Decimal(50)}
    after = (await withheld(world))["US-FIT"]
    await change(world, federal_withholding=None)
    await change(world, federal_withholding=new)
    assert after == (await withheld(world))["US-FIT"] != before
    assert "2019" not in (await browser.look(here(world))).text


async def test_a_new_form_w4_of_a_single_person_with_nothing_else_ends_the_old_one(
    browser: Browser, world: World
) -> None:
    """And what the record has of an earlier new form, which the old one had taken the place of, does not come back."""
    await change(world, federal_withholding={"dependents_credit": Decimal(4000), "multiple_jobs": True} | OLD)
    assert (await save(browser, world, federal_filing_status="single")).status_code == 303
    after = await withheld(world)
    await change(world, federal_withholding=None)
    assert after == await withheld(world)


async def test_an_old_form_w4_stays_until_a_new_one_is_told(browser: Browser, world: World) -> None:
    await change(world, federal_withholding={"extra_withholding": Decimal(10)} | OLD)
    before = await withheld(world)
    kept = record(world)["federal_withholding"]
    assert (await save(browser, world)).status_code == 303
    assert (await save(browser, world, state_regular_allowances="2")).status_code == 303
    assert record(world)["federal_withholding"] == kept
    assert (await withheld(world))["US-FIT"] == before["US-FIT"]
    refused = await save(browser, world, federal_dependents_credit="2000")
    assert refused.status_code == 400
    assert 'id="federal_filing_status-problem">Choose one for the new Form W-4.' in refused.text
    assert record(world)["federal_withholding"] == kept
    # That they no longer agree is no new form.
    assert (await save(browser, world, federal_elected="no")).status_code == 303
    assert record(world)["federal_withholding"] == kept | {"elected": False}
    shown = (await browser.look(here(world).removesuffix("/withholding"))).text
    assert "Form W-4 of 2019 or earlier" in shown


PLACES: list[tuple[str, dict[str, Any], str, str]] = [
    ("NY", {"nyc_resident": True}, "NYC", ""),
    ("NY", {"nyc_resident": True}, "NYC", "YONKERS"),
    ("NY", {"yonkers": "resident"}, "YONKERS", "YONKERS-NONRESIDENT"),
    ("MD", {"county_of_residence": "04"}, "BALTIMORE-CITY", "ALLEGANY-COUNTY"),
    ("MD", {"county_of_residence": "04"}, "BALTIMORE-CITY", ""),
    ("MI", {"city_resident": "Detroit"}, "DETROIT", "ALBION"),
    ("MI", {"city_work": "Detroit"}, "DETROIT-NONRESIDENT", ""),
    ("MI", {"city_resident": "Detroit", "city_work": "Lansing"}, "several", "ALBION"),
    ("IN", {"county_of_residence_jan1": "02"}, "ALLEN-COUNTY", ""),
    ("IN", {"county_of_work_jan1": "02"}, "ALLEN-COUNTY", "ADAMS-COUNTY"),
]


@pytest.mark.parametrize(("state", "told", "shown", "chosen"), PLACES)
async def test_the_place_chosen_on_the_page_is_the_one_withheld_for(
    browser: Browser, world: World, state: str, told: dict[str, Any], shown: str, chosen: str
) -> None:
    """Also where the employee's certificate chose another."""
    await change(world, work_state=state, residence_state=state)
    without = await withheld(world)
    await change(world, locality=chosen or None)
    expected = await withheld(world)
    assert chosen in ("", shown) or expected != without
    await change(world, locality=None, state_withholding=told)
    before = await withheld(world)
    assert typed_in(await browser.look(here(world)))["locality"] == shown
    assert (await save(browser, world)).status_code == 303
    assert await withheld(world) == before
    saved = await save(browser, world, locality=chosen)
    assert saved.status_code == 303, saved.text
    assert await withheld(world) == expected
    assert typed_in(await browser.look(here(world)))["locality"] == chosen


def _taxed(state: str, localities: list[str], entries: dict[str, Any]) -> list[tuple[str, int]]:
    trial = PaycheckInput(
        pay_date=DAY,
        pay_frequency="monthly",
        regular_wages=Decimal(4000),
        work_state=state,
        residence_state=state,
        localities=tuple(localities),
        state=entries,
    )
    return [(line.code, line.amount_cents) for line in calculate_paycheck(trial).lines]


def _of_state(state: str, localities: list[str], entries: dict[str, Any]) -> Employee:
    return Employee(
        id=uuid4(),
        employer_id=uuid4(),
        first_name="Rosa",
        last_name="Diaz",
        status="active",
        work_state=state,
        residence_state=state,
        pay_frequency="monthly",
        start_date=DAY,
        payment_method="check",
        relationship="none",
        lives_in=False,
        language="en",
        localities=localities,
        federal_withholding={},
        state_withholding=entries,
        earlier_employments=[],
        left_states={},
        metadata_={},
    )


@pytest.mark.parametrize("state", sorted(STATES))
def test_every_place_takes_the_place_of_every_other(state: str, clock: FixedClock) -> None:
    """However the one before was chosen: in each state, each pair of them."""
    taxes = rulebook_for(DAY).state(state).local_taxes
    by_certificate: dict[str, dict[str, Any]] = {}
    for tax in taxes:
        by_certificate[tax.locality] = dict.fromkeys(tax.certificate_fields[-1:], tax.certificate_value)
    by_certificate |= {place.locality: {place.field: place.value} for place in taxes.places}
    requested = {place: _taxed(state, [place] if place else [], {}) for place in ("", *by_certificate)}
    before = [(code, [code] if code else [], {}) for code in requested]
    before += [(code, [], entries) for code, entries in by_certificate.items() if entries]
    for shown, localities, entries in before:
        employee = _of_state(state, localities, entries)
        found = detail_of(employee, Onboarding("missing", "missing"))
        page = Withheld.of(employee, found, DAY)
        assert page.place == shown
        form = _as_shown(page)
        # In Indiana and Michigan there are thousands of pairs: those with a neighbor stand for the others.
        for chosen in itertools.islice(itertools.cycle(requested), *_near(shown, list(requested))):
            changes = page.changes(Entries(form | {"locality": chosen}))
            assert changes is not None
            after, _warnings = settings_after(employee, changes, clock)
            now = {
                name: after.get(name, getattr(employee, name)) for name in ("localities", "state_withholding")
            }
            assert _taxed(state, now["localities"], now["state_withholding"]) == requested[chosen], (
                shown,
                chosen,
            )


def _near(shown: str, places: list[str]) -> tuple[int, int]:
    at = places.index(shown)
    return (0, len(places)) if len(places) <= 30 else (at, at + 12)


def _as_shown(page: Withheld) -> dict[str, str]:
    """The form as a browser would send it unchanged, agreements and places aside."""
    shown = {"federal_elected": "yes", "residence_state": page.law.state}
    for entry in page.asked():
        told = page.state_entries.get(entry.name, entry.default)
        if told not in (None, False):
            shown[f"state_{entry.name}"] = "on" if told is True else str(told)
    return shown


async def test_several_places_are_shown_and_stay(browser: Browser, world: World) -> None:
    told = {"city_resident": "Detroit", "city_work": "Lansing"}
    await change(world, work_state="MI", residence_state="MI", state_withholding=told)
    page = await browser.look(here(world))
    assert re.search(r'<option value="several" selected>Detroit \+ Lansing Nonresident<', page.text)
    assert (await save(browser, world, federal_extra_withholding="5")).status_code == 303
    assert record(world)["state_withholding"] == told
    shown = (await browser.look(here(world).removesuffix("/withholding"))).text
    assert "<dd>Detroit, Lansing Nonresident</dd>" in shown


async def test_a_choice_that_was_told_by_another_name_stays(browser: Browser, world: World) -> None:
    """The API takes a choice by several names, and the page's list has one."""
    told = {"filing_status": "single", "yonkers": "nonresident"}
    await change(world, work_state="NY", residence_state="NY", state_withholding=told)
    assert typed_in(await browser.look(here(world)))["locality"] == "YONKERS-NONRESIDENT"
    await change(world, work_state="CA", state_withholding={"filing_status": "Head of Household"})
    shown = typed_in(await browser.look(here(world)))
    assert shown["state_filing_status"] == "head_of_household"
    before = record(world)["state_withholding"]
    assert (await save(browser, world)).status_code == 303
    assert record(world)["state_withholding"] == before


SIGNED = {"signed_name": "Rosa Diaz", "signed_on": "2026-11-20"}


async def her_own(app: FastAPI, browser: Browser, world: World, ring: KeyRing) -> Browser:
    """Rosa's browser: she has made an account by the link of an invitation."""
    asked = here(world).replace("/withholding", "/invitations")
    told = await browser.send(asked, page=here(world), type="tax_info", send_email="")
    link = re.search(r'class="secret">https://[^<]*(/portal/\w{43})<', told.text)
    assert link is not None, told.text
    rosa, page = Browser.of(app), f"{link[1]}/account"
    await rosa.send(page, page=page, email="rosa@example.com")
    proof = re.search(r"/account/(\w{43})", mails(world.connection, ring)[-1]["text"])
    assert proof is not None
    page = f"{page}/{proof[1]}"
    made = await rosa.send(page, page=page, name="Rosa Diaz", password=PASSWORD)
    assert made.headers["location"] == "/my", made.text
    return rosa


async def sign(rosa: Browser, employee: UUID, **answers: str) -> None:
    page = f"/my/{employee}/certificates/sign/US"
    signed = await rosa.send(page, page=page, us_elected="on", **answers, **SIGNED)
    assert signed.status_code == 303, signed.text


def in_force(world: World) -> int:
    statement = "SELECT count(*) FROM signed_certificates WHERE ended_at IS NULL"
    found = world.connection.execute(statement).fetchone()
    assert found is not None
    return int(found[0])


async def test_saving_ends_what_she_signed_only_where_it_says_something_else(
    app: FastAPI, browser: Browser, world: World, ring: KeyRing
) -> None:
    rosa = await her_own(app, browser, world, ring)
    await sign(rosa, world.employee_id, us_filing_status="married", us_dependents_credit="2000")
    kept = record(world)["federal_withholding"]
    assert in_force(world) == 1
    assert (await save(browser, world)).status_code == 303
    assert (await save(browser, world, residence_state="NV")).status_code == 303
    assert record(world)["residence_state"] == "NV"
    assert (await save(browser, world, state_regular_allowances="3")).status_code == 303
    assert record(world)["federal_withholding"] == kept
    assert in_force(world) == 1
    assert (await save(browser, world, federal_extra_withholding="25")).status_code == 303
    assert in_force(world) == 0


async def test_a_page_from_before_she_signed_is_shown_anew(
    app: FastAPI, browser: Browser, world: World, ring: KeyRing
) -> None:
    rosa = await her_own(app, browser, world, ring)
    opened = typed_in(await browser.look(here(world)))
    await sign(rosa, world.employee_id, us_filing_status="head_of_household", us_extra_withholding="40")
    before = record(world)
    for form in (opened, opened | {"federal_deductions": "much"}, {"federal_filing_status": "single"}):
        stale = await browser.send(here(world), page=here(world), **form)
        assert stale.status_code == 409
        assert STALE in stale.text
        assert 'role="alert"' in stale.text
        assert typed_in(stale)["federal_filing_status"] == "head_of_household"
        assert typed_in(stale)["federal_extra_withholding"] == "40.00"
        assert record(world) == before
    again = await browser.send(here(world), page=here(world), **typed_in(stale))
    assert again.status_code == 303
    assert in_force(world) == 1


async def test_a_page_that_was_refused_once_is_still_held_to_what_it_showed(
    browser: Browser, world: World
) -> None:
    refused = await save(browser, world, federal_deductions="much")
    assert refused.status_code == 400
    await change(world, federal_withholding={"filing_status": "married"})
    form = typed_in(refused) | {"federal_deductions": "100"}
    assert (await browser.send(here(world), page=here(world), **form)).status_code == 409


async def test_what_was_read_before_a_change_by_somebody_else_is_not_written_back(world: World) -> None:
    tenant, database = world.actor.tenant, world.people_context.database
    async with database.transaction(tenant) as session:
        held = await find_employee(session, world.actor, world.employee_id)
        await change(world, federal_withholding={"extra_withholding": Decimal(25)})
        changes = ChangeEmployee(federal_withholding={"multiple_jobs": True})
        noted = await update_employee(
            session, world.actor, world.people_context.clock, world.employee_id, changes
        )
        assert noted.employee is held
    assert record(world)["federal_withholding"] == {"extra_withholding": "25.00", "multiple_jobs": True}


async def test_that_both_agreed_is_recorded_though_the_law_would_assume_it(
    browser: Browser, world: World
) -> None:
    assert (await save(browser, world)).status_code == 303
    assert record(world)["federal_withholding"] == {"elected": True}
