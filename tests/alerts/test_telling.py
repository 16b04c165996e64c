"""Who is told of a delicate act: at the new address and the old one, whoever did it, however often."""

from datetime import timedelta
from typing import Any

import psycopg

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.people.former_addresses import TOLD_FOR
from hearthpay.security.key_ring import KeyRing
from hearthpay.worker.expiry import expire
from tests.alerts.readers import Tell, alerts_in
from tests.http.api import Account, NewKey, data, refusal
from tests.worlds.inviting import ROSAS_EMAIL, invite

OLD = "maria@example.com"
NEW = "thief@evil.example"


async def _settle(alerted: Tell) -> None:
    """Tell what was done to set up the world."""
    await alerted()


async def test_a_changed_address_is_told_to_the_old_one_at_once(
    account: Account, household: dict[str, Any], alerted: Tell
) -> None:
    await _settle(alerted)
    data(await account.live.patch(f"/employers/{household['id']}", {"email": NEW}))
    told = await alerted()
    assert sorted(each.to for each in told) == [OLD, NEW]
    for mail in told:
        assert (
            "the email address of the Lopez household was changed from m... at example. com to t... at evil. example"
            in mail.text
        )
        assert "an API key" in mail.text
        assert "operator@example.com" in mail.text
        assert mail.link


async def test_for_a_week_warnings_go_to_both_and_then_to_the_new_one_alone(
    account: Account,
    household: dict[str, Any],
    rosa: dict[str, Any],
    alerted: Tell,
    clock: FixedClock,
    worker_database: Database,
) -> None:
    data(await account.live.patch(f"/employers/{household['id']}", {"email": NEW}))
    data(await account.live.patch(f"/employees/{rosa['id']}", {"email": "r@evil.example"}))
    await _settle(alerted)
    clock.advance(TOLD_FOR - timedelta(seconds=1))
    data(await account.live.patch(f"/employees/{rosa['id']}", {"pay_rate": 31}))
    assert sorted(each.to for each in await alerted()) == [OLD, "r@evil.example", ROSAS_EMAIL, NEW]
    clock.advance(timedelta(seconds=1))
    await expire(worker_database, clock)
    data(await account.live.patch(f"/employees/{rosa['id']}", {"pay_rate": 32}))
    assert sorted(each.to for each in await alerted()) == ["r@evil.example", NEW]


async def test_changing_twice_keeps_the_first_address_told(
    account: Account, household: dict[str, Any], alerted: Tell
) -> None:
    for address in (NEW, "second@evil.example"):
        data(await account.live.patch(f"/employers/{household['id']}", {"email": address}))
    assert OLD in {each.to for each in await alerted()}


async def test_no_number_of_acts_uses_the_warning_up(
    account: Account,
    household: dict[str, Any],
    rosa: dict[str, Any],
    alerted: Tell,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
) -> None:
    await _settle(alerted)
    for number in range(60):
        data(await account.live.patch(f"/employees/{rosa['id']}", {"pay_rate": 40 + number}))
        clock.advance(timedelta(seconds=10))
        await alerted()
    to_her = [each for each in alerts_in(owner_connection, ring) if each.to == ROSAS_EMAIL]
    assert len(to_her) <= 5
    data(await account.live.patch(f"/employees/{rosa['id']}", {"email": "r@evil.example"}))
    clock.advance(timedelta(hours=1))
    (last,) = [each for each in await alerted() if each.to == ROSAS_EMAIL]
    assert "more in the history" in last.text


async def test_nothing_of_the_sandbox_is_told(account: Account, alerted: Tell) -> None:
    body = {"first_name": "Ana", "last_name": "Test", "state": "CA", "email": "ana@example.com"}
    made = data(await account.test.post("/employers", body), 201)
    await _settle(alerted)
    data(await account.test.patch(f"/employers/{made['id']}", {"email": NEW}))
    assert await alerted() == []


async def test_addresses_are_changed_and_bank_links_opened_by_keys_made_for_it_alone(
    account: Account, banked: dict[str, Any], rosa: dict[str, Any], new_key: NewKey
) -> None:
    narrow = await new_key("Lopez family", scopes=("employees", "multi_employer"))
    for path, body in (
        (f"/employers/{banked['id']}", {"email": NEW}),
        (f"/employees/{rosa['id']}", {"email": NEW}),
    ):
        refused = refusal(await narrow.patch(path, body), 403, "scope_required")
        assert refused["details"]["required_scope"] == "onboarding"
    invitation = {"type": "bank_account", "send_email": False}
    refused = refusal(await narrow.post(f"/employees/{rosa['id']}/invite", invitation), 403, "scope_required")
    assert refused["details"]["required_scope"] == "onboarding"
    data(await narrow.patch(f"/employees/{rosa['id']}", {"pay_rate": 30}))
    data(await narrow.post(f"/employees/{rosa['id']}/invite", {"type": "tax_info", "send_email": False}), 200)
    assert data(await invite(account.live, rosa))["employee_id"] == rosa["id"]
