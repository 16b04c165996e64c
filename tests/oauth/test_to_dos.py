"""The to-do to connect an app again: listed while its access in use nears its end, until it was granted anew."""

from datetime import timedelta

import psycopg

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.todos.access_rows import find_expiring_access
from hearthpay.todos.wording import title_text
from tests.oauth.dance import Dance
from tests.web.test_pages import parsed


async def test_an_app_in_use_is_to_be_connected_again_before_its_access_ends(
    dance: Dance, clock: FixedClock, owner_database: Database, owner_connection: psycopg.Connection
) -> None:
    async def titles() -> list[str]:
        async with owner_database.transaction(None) as session:
            found = await find_expiring_access(session, dance.household_id, clock.now(), clock.today())
        return [title_text(each, "en", clock.today()) for each in found]

    token = (await dance.tokens())["access_token"]
    [[grant]] = owner_connection.execute("SELECT id FROM agent_grants").fetchall()
    owner_connection.execute(
        "UPDATE agent_grants SET created_at = created_at - interval '80 days', expires_at = %s",
        (clock.now() + timedelta(days=10),),
    )
    assert await titles() == []  # it was never used
    await dance.call(token)
    await dance.app.state.runtime.deferred_audit.settle()
    [title] = await titles()
    assert title == "Connect Helper <b>9</b> again, expires November 30, 2026"
    page = await dance.browser.look(f"/app/{dance.household_id}/calendar")
    assert f"/settings/agents/{grant}" in {link.get("href") for link in parsed(page).iterfind(".//a")}
    await dance.tokens()
    assert await titles() == []
