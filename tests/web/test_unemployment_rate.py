"""The state accounts page says which unemployment rate is used: the household's own, or the one for new employers."""

import psycopg
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from hearthpay.registrations.service import keep_number
from hearthpay.security.key_ring import KeyRing
from tests.web.rows.world import World
from tests.web.test_one_list import books, words_of
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]


async def test_the_page_of_state_accounts_says_which_unemployment_rate_is_used(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    ring: KeyRing,
) -> None:
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    browser = await _browser(app, "owner", clock)
    await world.pay(weeks_ago=1)

    async def page() -> str:
        return words_of(await browser.look(f"/app/{world.household_id}/state-accounts"))

    assert "unemployment rate" not in await page()  # before there is an account, the state assigns none
    async with books(world) as (session, actor, here, employer):
        await keep_number(
            session, ring, actor, here, employer, state="CA", account_id="sui", number="123-4567-8"
        )
    assert "No unemployment rate of your own for 2026: we use the one for new employers." in await page()
    owner_connection.execute(
        "INSERT INTO assigned_rates SELECT organization_id, id, sandbox, 2026, state, 0.021 FROM employers "
        "WHERE id = %s",
        (world.household_id,),
    )
    assert "Your unemployment rate for 2026: 2.1%, from the state’s notice." in await page()
