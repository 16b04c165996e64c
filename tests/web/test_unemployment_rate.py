"""A household enters the unemployment rate of its state's notice, and every page says which rate is used."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import KEEP_SUI_RATES, may
from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.employers.assigned_rates import AssignRate, keep_sui_rate
from hearthpay.filing.service import balances_of_household
from hearthpay.payroll.commands import EmployeePay, Order
from hearthpay.payroll.service import preview_payroll
from hearthpay.people.sessions import SignedIn
from hearthpay.registrations.service import keep_number
from hearthpay.security.key_ring import KeyRing
from hearthpay.taxes.money import from_cents
from hearthpay.todos.service import read_agenda
from hearthpay.web.household.state_accounts.rate import percent_field
from tests.web.one_household import maria, world
from tests.web.people_browser import Browser, typed_in
from tests.web.rows.world import World
from tests.web.test_one_list import books, words_of
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "maria", "people", "people_context", "world"]


@pytest.fixture
def browser(maria: Browser) -> Browser:
    return maria


def rate_page(world: World) -> str:
    return f"/app/{world.household_id}/state-accounts/CA/rate"


async def save(
    browser: Browser, world: World, rate: str, year: str = "2026", day: str = ""
) -> httpx.Response:
    """Enter a rate, review it, and press the button of the review; return the review."""
    review = await browser.send(rate_page(world), tax_year=year, rate=rate, notice_on=day)
    assert review.status_code == 200, words_of(review)
    saved = await browser.send(f"{rate_page(world)}/save", **typed_in(review))
    assert (saved.status_code, saved.headers["location"]) == (
        303,
        f"/app/{world.household_id}/state-accounts#CA",
    )
    return review


def kept(world: World) -> list[tuple[Any, ...]]:
    return world.connection.execute(
        "SELECT tax_year, state, sui_rate, notice_on FROM assigned_rates WHERE employer_id = %s ORDER BY 1, 2",
        (world.household_id,),
    ).fetchall()


async def previewed(world: World, pay_date: date) -> tuple[Decimal, Decimal]:
    """The rate and the amount of the household's unemployment tax in a preview of 40 hours."""
    order = Order(
        employer_id=world.household_id,
        pay_period_start=date(2026, 11, 9),
        pay_period_end=date(2026, 11, 15),
        pay_date=pay_date,
        pay_frequency="weekly",
        employees=(
            EmployeePay(employee_id=world.employee_id, regular_hours=Decimal(40), payment_method="check"),
        ),
    )
    async with books(world) as (session, actor, clock, _):
        found = await preview_payroll(session, actor, clock, order, direct_deposit_enabled=False)
    [line] = [line for line in found.record.paychecks[0].lines if line.code == "CA-SUI-ER"]
    assert line.rate is not None
    return line.rate, from_cents(line.amount)


async def owed_to_california(world: World) -> int:
    async with books(world) as (session, actor, clock, employer):
        balances = await balances_of_household(session, actor, clock, employer)
    return sum(
        period.owed
        for agency in balances
        for period in agency.periods
        if (period.agency.id, period.account) == ("ca-edd", "sui")
    )


async def test_the_page_of_state_accounts_says_which_unemployment_rate_is_used(
    world: World, browser: Browser, ring: KeyRing
) -> None:
    await world.pay(weeks_ago=1)

    async def page() -> str:
        return words_of(await browser.look(f"/app/{world.household_id}/state-accounts"))

    assert "unemployment rate" not in await page()  # before there is an account, the state assigns none
    async with books(world) as (session, actor, here, employer):
        await keep_number(
            session, ring, actor, here, employer, state="CA", account_id="sui", number="123-4567-8"
        )
    assert "No unemployment rate of your own for 2026: we use the one for new employers." in await page()
    assert "Enter the unemployment rate" in await page()
    await save(browser, world, "2.1")
    await save(browser, world, "1.6", "2027")
    assert "Your unemployment rate for 2026: 2.1%, from the state’s notice." in await page()
    assert "Your unemployment rate for 2027: 1.6%, from the state’s notice." in await page()
    assert "Change the unemployment rate" in await page()


async def test_a_rate_is_reviewed_with_its_consequences_saved_and_corrected(
    world: World, browser: Browser
) -> None:
    form = words_of(await browser.look(rate_page(world)))
    assert "You have no California unemployment rate of your own" in form
    assert "For 2026 we use 3.4%, the state’s rate for new employers." in form
    review = words_of(
        await browser.send(rate_page(world), tax_year="2026", rate=" 2.1 % ", notice_on="2025-12-15")
    )
    assert "Check the rate: 2.1% for 2026" in review
    assert "For each $1,000.00 of taxable wages you pay $21.00 instead of $34.00." in review
    assert "already run" not in review
    assert kept(world) == []  # nothing is saved by looking
    await save(browser, world, "2.1", day="2025-12-15")
    assert kept(world) == [(2026, "CA", Decimal("0.021"), date(2025, 12, 15))]
    form = words_of(await browser.look(rate_page(world)))
    assert "Your California unemployment rate: 2.1%" in form
    assert "For 2026 we use 2.1%, from the state’s notice of Dec 15, 2025." in form
    again = words_of(await save(browser, world, "2.1", day="12/15/2025"))
    assert "That is the rate we use now." in again
    corrected = words_of(await save(browser, world, "0.0000001"))
    assert "2.1%, from the state’s notice" in corrected
    assert kept(world) == [(2026, "CA", Decimal("0.000000001"), None)]


async def test_previews_and_what_is_owed_use_the_new_rate_and_past_payrolls_stay(
    world: World, browser: Browser
) -> None:
    await world.pay(weeks_ago=2)
    owed = await owed_to_california(world)
    assert await previewed(world, date(2026, 11, 27)) == (Decimal("0.034"), Decimal("38.76"))
    review = words_of(await save(browser, world, "2.1"))
    assert "Payrolls already run for 2026 don’t change." in review
    assert (
        "They charged $38.76 at other rates, on $1,140.00 of taxable wages. At 2.1% it would be about $23.94."
        in review
    )
    assert await owed_to_california(world) == owed
    assert await previewed(world, date(2026, 11, 27)) == (Decimal("0.021"), Decimal("23.94"))
    await world.pay(weeks_ago=1)
    assert await owed_to_california(world) == 2 * owed - 3_876 + 2_394
    await save(browser, world, "1.5", "2027")
    assert (await previewed(world, date(2026, 11, 27)))[0] == Decimal("0.021")


async def test_the_to_do_leads_to_the_form_and_is_gone_once_the_rate_is_saved(
    world: World, browser: Browser
) -> None:
    world.connection.execute(
        "INSERT INTO assigned_rates SELECT organization_id, id, sandbox, 2025, 'CA', 0.034 FROM employers "
        "WHERE id = %s",
        (world.household_id,),
    )

    async def to_dos() -> list[str]:
        async with books(world) as (session, _, clock, employer):
            agenda = await read_agenda(session, employer, clock.now(), clock.today())
        return [each.address for each in agenda.to_dos if each.kind == "enter_rate"]

    assert await to_dos() == [rate_page(world)]
    assert (await browser.look(rate_page(world))).status_code == 200
    await save(browser, world, "3.1", "2027")
    assert await to_dos() == [rate_page(world)]
    await save(browser, world, "3.1")
    assert await to_dos() == []


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        *(
            ("rate", {"rate": typed})
            for typed in ("", "%", ".", "two", "2,1", "-1", "1e1", "٢", "NaN", "100", "999")
        ),
        ("rate", {"rate": "2.12345678"}),
        *(("tax_year", {"tax_year": typed}) for typed in ("2025", "2028", "", "٢٠٢٦", "20260")),
        *(("notice_on", {"notice_on": typed}) for typed in ("2027-01-02", "soon", "2026-13-01")),
    ],
)
async def test_a_wrong_entry_names_its_field_and_saves_nothing(
    world: World, browser: Browser, field: str, sent: dict[str, str]
) -> None:
    form = {"tax_year": "2026", "rate": "2.1", "notice_on": ""} | sent
    for path in (rate_page(world), f"{rate_page(world)}/save"):
        answer = await browser.send(path, **form)
        assert answer.status_code == 400
        marked = [each.get("name") for each in parsed(answer).iter() if each.get("aria-invalid") == "true"]
        assert marked == [field], words_of(answer)
    assert kept(world) == []


@pytest.mark.parametrize(
    ("typed", "rate"),
    [
        ("2.7", "0.027"),
        ("2.7%", "0.027"),
        ("0", "0"),
        (".5", "0.005"),
        ("3.", "0.03"),
        ("0.0321", "0.000321"),
    ],
)
def test_a_percentage_is_read_as_notices_print_it(typed: str, rate: str) -> None:
    assert percent_field(typed) == Decimal(rate)


async def test_states_without_an_account_of_the_household_are_not_found(
    world: World, browser: Browser
) -> None:
    for state in ("NY", "ZZ", "ca"):
        path = f"/app/{world.household_id}/state-accounts/{state}/rate"
        assert (await browser.look(path)).status_code == 404
        for target in (path, f"{path}/save"):
            assert (await browser.send(target, tax_year="2026", rate="2.1")).status_code == 404
    assert kept(world) == []


async def test_only_owners_and_admins_of_the_household_enter_its_rate(
    app: FastAPI, world: World, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    form = {"tax_year": "2026", "rate": "2.1"}
    for visitor, looked, sent in (("viewer", 200, 403), ("other", 404, 404)):
        here = await _browser(app, visitor, clock)
        page = await here.look(rate_page(world))
        assert page.status_code == looked
        assert 'name="rate"' not in page.text
        for path in (rate_page(world), f"{rate_page(world)}/save"):
            assert (await here.send(path, **form)).status_code == sent
    assert kept(world) == []
    assert "An owner or admin can enter" in words_of(
        await (await _browser(app, "viewer", clock)).look(rate_page(world))
    )
    employee = Actor.employee(
        world.employee_id, world.actor.organization_id, world.household_id, sandbox=False, request_id="r"
    )
    assert not may(employee, KEEP_SUI_RATES)
    await save(await _browser(app, "admin", clock), world, "2.1")
    assert kept(world) == [(2026, "CA", Decimal("0.021"), None)]


async def test_real_and_test_households_keep_rates_apart(
    app: FastAPI,
    world: World,
    people: dict[str, SignedIn],
    browser: Browser,
    owner_connection: psycopg.Connection,
) -> None:
    owner = replace(people["owner"], sandbox=True)
    test_one = await World.make(app.state.people_context, owner_connection, owner)
    for path in (rate_page(test_one), f"{rate_page(test_one)}/save"):
        assert (await browser.send(path, tax_year="2026", rate="2.1")).status_code == 404
    async with books(test_one) as (session, actor, clock, employer):
        await keep_sui_rate(session, actor, clock, employer, AssignRate(2026, "CA", Decimal("0.021")))
    assert [len(kept(each)) for each in (world, test_one)] == [0, 1]
    assert "no California unemployment rate" in words_of(await browser.look(rate_page(world)))
    async with books(world) as (_, _, _, employer):
        pass
    with pytest.raises(Exception, match="row-level security"):
        async with books(test_one) as (session, actor, clock, _):
            await keep_sui_rate(session, actor, clock, employer, AssignRate(2026, "CA", Decimal("0.021")))
    assert kept(world) == []


async def test_the_history_tells_both_sides_in_both_languages(world: World, browser: Browser) -> None:
    await save(browser, world, "2.7")
    await save(browser, world, "2.1", day="2026-01-05")
    rows = world.connection.execute(
        "SELECT actor_kind, details->'before'->>'sui_rate', details->'after'->>'sui_rate', "
        "details->>'tax_year', details->>'state' FROM audit_log WHERE action = 'employer.assign_sui_rate' ORDER BY id"
    ).fetchall()
    assert [row[1:] for row in rows] == [
        (None, "0.027", "2026", "CA"),
        ("0.027", "0.021", "2026", "CA"),
    ]
    assert {row[0] for row in rows} == {"user"}
    english = words_of(await browser.look("/settings/audit"))
    assert "changed Maria Lopez's unemployment tax rate from 2.7% to 2.1%" in english
    assert "date of the state's notice" in english
    world.connection.execute("UPDATE people SET language = 'es'")
    assert "fecha del aviso del estado" in words_of(await browser.look("/settings/audit"))
    spanish = words_of(await browser.send(rate_page(world), tax_year="2026", rate="1.9"))
    assert "Revise la tasa: 1.9% para 2026" in spanish


async def test_the_years_to_enter_follow_the_clock(world: World) -> None:
    async with books(world) as (session, actor, _, employer):
        later = FixedClock(datetime(2027, 1, 4, tzinfo=UTC))
        await keep_sui_rate(session, actor, later, employer, AssignRate(2028, "CA", Decimal("0.02")))
        with pytest.raises(Refusal) as refused:
            await keep_sui_rate(session, actor, later, employer, AssignRate(2026, "CA", Decimal("0.02")))
    assert [each.field for each in refused.value.details] == ["tax_year"]
    assert [row[0] for row in kept(world)] == [2028]
