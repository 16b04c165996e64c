"""What pages say of a payroll and its taxes stays true once the payroll is void, or its dates have passed."""

from __future__ import annotations

from datetime import UTC, date, datetime

from hearthpay.languages.catalogue import day_of_year_in, moment_in, say_in, short_day_in
from hearthpay.payroll.voiding import void_payroll
from hearthpay.web.household.taxes.ledger_words import account_text
from tests.web.one_household import maria, world
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import app, people, people_context

__all__ = ["app", "maria", "people", "people_context", "world"]


async def main_of(browser: Browser, world: World, path: str = "") -> str:
    page = parsed(await browser.look(f"/app/{world.household_id}{path}")).find(".//main")
    assert page is not None
    return " ".join("".join(page.itertext()).split())


async def test_a_void_payroll_costs_nothing_and_nobody_pays_its_taxes(maria: Browser, world: World) -> None:
    payroll = await world.pay(weeks_ago=1)
    stands = await main_of(maria, world, f"/payrolls/{payroll}")
    assert "This payroll costs you" in stands
    assert "year so far" in stands
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await void_payroll(session, world.actor, world.people_context.clock, payroll)
    void = await main_of(maria, world, f"/payrolls/{payroll}")
    assert "It would have cost you" in void
    for untrue in ("This payroll costs you", "you pay them", "year so far", "Keep $"):
        assert untrue not in void


async def test_nothing_is_to_keep_aside_of_a_payroll_whose_dates_have_passed(
    maria: Browser, world: World
) -> None:
    old, new = await world.pay(weeks_ago=20), await world.pay(weeks_ago=1)
    past = await main_of(maria, world, f"/payrolls/{old}")
    assert "Taxes of this payroll: $" in past
    assert "See what you owe" in past
    assert "Keep $" not in past
    assert "Keep $" in await main_of(maria, world, f"/payrolls/{new}")


async def test_a_check_that_is_dated_ahead_is_no_recent_paycheck(maria: Browser, world: World) -> None:
    paid, ahead = await world.pay(weeks_ago=1), await world.pay(weeks_ago=-1)
    page = parsed(await maria.look(f"/app/{world.household_id}"))
    (recent,) = (each for each in page.iterfind(".//table") if each.get("aria-labelledby") == "recent")
    links = [each.get("href") or "" for each in recent.iterfind(".//a")]
    assert [each.rpartition("/")[2] for each in links] == [str(paid)]
    assert str(ahead) not in links


async def test_the_calendar_gives_no_amount_for_a_period_that_has_not_begun(
    maria: Browser, world: World
) -> None:
    await world.pay(weeks_ago=1)
    page = parsed(await maria.look(f"/app/{world.household_id}/calendar"))
    rows = ["".join(each.itertext()) for each in page.iterfind(".//ul[@class='rows']/li")]
    assert any("$" in each for each in rows)
    later = [each for each in rows if "estimated tax" in each and ("Jun" in each or "Sep" in each)]
    assert later
    assert not [each for each in later if "$0.00" in each]


def test_an_account_that_income_tax_is_paid_to_is_not_called_unemployment_insurance() -> None:
    say = say_in("en")
    assert account_text("CA", "sui", say) == "Payroll taxes"
    assert account_text("TX", "sui", say) == "Unemployment insurance"


def test_a_day_stands_before_its_month_in_spanish() -> None:
    noon = datetime(2026, 11, 20, 17, 0, tzinfo=UTC)
    assert day_of_year_in("en", date(2026, 12, 1)) == "Dec 1"
    assert day_of_year_in("es", date(2026, 12, 1)) == "1 de diciembre"
    assert short_day_in("es", date(2026, 12, 1)) == "1 dic 2026"
    assert moment_in("es", noon).startswith("20 nov 2026, 12:00")
