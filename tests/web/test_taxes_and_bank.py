"""Taxes, state accounts, calendar and bank: each way through them, and that no number typed there is shown anywhere."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from functools import partial

import psycopg
import pytest
from fastapi import FastAPI
from structlog.testing import capture_logs

from hearthpay.banking.accounts import (
    AccountDetails,
    connect_employee_account,
    connect_household_account,
)
from hearthpay.clock import FixedClock
from hearthpay.duties.threshold_standing import read_threshold_progress
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.service import find_employee, update_employee
from hearthpay.employers.commands import PostalAddress
from hearthpay.employers.service import find_employer
from hearthpay.payroll.commands import Confirmations, EmployeePay, Order
from hearthpay.payroll.service import run_payroll
from hearthpay.payroll.set_asides.escrow import set_rule
from hearthpay.payroll.set_asides.rules import SetAsideRule
from hearthpay.people.sessions import SignedIn
from hearthpay.security.vault_numbers import parse_number
from hearthpay.web.household.bank.authorization_words import AUTHORIZATION, recorded_sentences
from tests.people.visitors import PASSWORD
from tests.web.one_household import maria, world
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, app, people, people_context
from tests.worlds.town import Vouching

__all__ = ["app", "maria", "people", "people_context", "world"]

EIN, ROUTING, ACCOUNT, STATE_NUMBER = "98-7654321", "322271627", "90817263544", "123-4567-8"
BANK = {
    "routing_number": ROUTING,
    "account_number": ACCOUNT,
    "account_number_again": ACCOUNT,
    "account_type": "checking",
}


@pytest.fixture
def here(world: World) -> Callable[[str], str]:
    return lambda path: f"/app/{world.household_id}/{path}"


async def _send(browser: Browser, path: str, **form: str):  # type: ignore[no-untyped-def]
    return await browser.send(path, page="/settings/profile", **form)


async def test_numbers_are_typed_once_and_shown_nowhere(
    maria: Browser,
    here: Callable[[str], str],
    owner_connection: psycopg.Connection,
    caplog: pytest.LogCaptureFixture,
) -> None:
    numbers = here("state-accounts/CA/sui/number")
    sent = (
        (here("state-accounts/ein"), {"ein": EIN, "ein_again": "98-7654320"}, 400),
        (here("state-accounts/ein"), {"ein": EIN, "ein_again": "987654321"}, 303),
        (numbers, {"number": f"{STATE_NUMBER}{STATE_NUMBER * 5}"}, 400),
        (numbers, {"number": STATE_NUMBER}, 303),
        (here("bank/connect"), BANK | {"account_number_again": ROUTING}, 400),
        (here("bank/connect"), BANK | {"account_type": ACCOUNT}, 400),
        (here("bank/connect"), BANK | {"bank_name": ACCOUNT * 10}, 400),
        (here("bank/connect"), BANK, 303),
    )
    answers = []
    with caplog.at_level(logging.DEBUG), capture_logs() as logged:
        for path, form, status in sent:
            answers.append(await _send(maria, path, **form))
            assert answers[-1].status_code == status, answers[-1].text
        pages = ("state-accounts", "bank", "bank/connect", "bank/authorization", "state-accounts/ein")
        answers += [await maria.look(here(page)) for page in pages]
    accounts, bank = answers[len(sent)].text, answers[len(sent) + 1].text
    assert "••-•••4321" in accounts
    assert "Number ending in 5678" in accounts
    assert "…3544" in bank
    assert "Being verified" in bank
    rows = [
        line
        for (table,) in owner_connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
        for (line,) in owner_connection.execute(f"SELECT t::text FROM {table} t").fetchall()
    ]
    own = [record.getMessage() for record in caplog.records if record.name != "httpx"]
    everything = "\n".join(
        [*(answer.text + str(answer.headers) for answer in answers), *rows, repr(logged), *own]
    )
    for number in (EIN, EIN.replace("-", ""), ROUTING, ACCOUNT, STATE_NUMBER, "12345678"):
        assert number not in everything
    kept = owner_connection.execute("SELECT kind FROM vault ORDER BY kind").fetchall()
    assert [kind for (kind,) in kept] == ["bank_account", "bank_routing", "ein", "state_account"]


async def test_an_agencys_number_is_shown_in_full_on_record(
    maria: Browser, here: Callable[[str], str], owner_connection: psycopg.Connection
) -> None:
    path = here("state-accounts/CA/sui")
    assert (await _send(maria, f"{path}/reveal")).status_code == 404
    unusual = await _send(maria, f"{path}/number", number="X-99")
    assert "Saved, but check this number" in unusual.text
    await _send(maria, f"{path}/number", number=STATE_NUMBER)
    assert STATE_NUMBER not in (await maria.look(f"{path}/reveal")).text
    assert STATE_NUMBER in (await _send(maria, f"{path}/reveal")).text
    read = owner_connection.execute("SELECT count(*) FROM audit_log WHERE action = 'vault.read'").fetchone()
    assert read == (1,)
    for nowhere in ("XX/sui/number", "CA/pfml/number", "CA/filing/sdi"):
        assert (await maria.look(here(f"state-accounts/{nowhere}"))).status_code == 404


async def test_what_the_household_says_of_its_accounts(maria: Browser, here: Callable[[str], str]) -> None:
    async def accounts() -> str:
        return (await maria.look(here("state-accounts"))).text

    late = await _send(maria, here("state-accounts/CA/sui/applied"), applied_on="2026-11-21")
    assert (late.status_code, "Enter today&#39;s date or an earlier one." in late.text) == (400, True)
    assert (await _send(maria, here("state-accounts/CA/sui/applied"), applied_on="soon")).status_code == 400
    await _send(maria, here("state-accounts/CA/sui/applied"), applied_on="11/02/2026")
    assert "Applied on Nov 2, 2026." in await accounts()
    await _send(maria, here("state-accounts/CA/sui/applied"), taken_back="on")
    assert "Applied on" not in await accounts()
    await _send(maria, here("state-accounts/ein/status"), status="pending")
    assert "The IRS refused" in await accounts()
    assert (await _send(maria, here("state-accounts/ein/status"), status="approved")).status_code == 404
    await _send(maria, here("state-accounts/ein/status"), status="none")
    assert "I applied for it" in await accounts()
    filing = here("state-accounts/CA/filing/sui")
    for wrong in ({"frequency": "daily", "since_year": "2026"}, {"frequency": "annual", "since_year": "1"}):
        assert (await _send(maria, f"{filing}/frequency", **wrong)).status_code == 400
    await _send(maria, f"{filing}/frequency", frequency="annual", since_year="2026")
    assert "You file once a year." in await accounts()
    await _send(maria, f"{filing}/closing", closed_on="2026-11-02")
    assert "Closed: last day Nov 2, 2026." in await accounts()
    await _send(maria, f"{filing}/closing", open="on")
    assert "Closed:" not in await accounts()


async def test_a_duty_is_opened_done_and_undone(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    await world.pay(weeks_ago=14)
    listed = (await maria.look(here("calendar?state=US"))).text
    assert listed.index("<h2>Overdue</h2>") < listed.index("<h2>January 2027</h2>")
    found = re.search(rf'{here("calendar")}/([0-9a-f-]+)">Pay estimated tax', listed)
    assert found is not None
    item = here(f"calendar/{found[1]}")
    opened = (await maria.look(item)).text
    [amount] = re.findall(r'<p class="big">\$([\d,.]+)</p>', opened)
    lines = re.findall(r'class="b amount">\$([\d,.]+)</td>', opened)
    assert sum(map(Decimal, lines)) == Decimal(amount) > 0
    assert "Federal income tax" in opened
    assert (await _send(maria, f"{item}/done", done_on="2026-11-21")).status_code == 400
    assert (await _send(maria, f"{item}/done", done_on="2026-11-02")).status_code == 303
    assert "Marked as done on Nov 2, 2026" in (await maria.look(item)).text
    await _send(maria, f"{item}/undo")
    assert "Mark as done" in (await maria.look(item)).text


async def test_the_link_of_the_calendar_is_shown_once(maria: Browser, here: Callable[[str], str]) -> None:
    made = []
    for _ in range(2):
        page = await _send(maria, here("calendar/link"))
        [address] = re.findall(r'id="link">https://pay\.example\.com(/calendar/\w+\.ics)<', page.text)
        made.append(address)
    for page in ("calendar", "calendar/link"):
        assert made[1] not in (await maria.look(here(page))).text
    assert [(await maria.look(address)).status_code for address in made] == [404, 200]
    await _send(maria, here("calendar/link/revoke"))
    assert (await maria.look(made[1])).status_code == 404


async def test_debits_are_agreed_to_by_who_is_there(
    maria: Browser, here: Callable[[str], str], clock: FixedClock
) -> None:
    path = here("bank/authorization")
    assert "Connect a bank account first." in (await _send(maria, path, agreed="on")).text
    await _send(maria, here("bank/connect"), **BANK)
    assert "Check the box to agree." in (await _send(maria, path)).text
    assert (await _send(maria, path, agreed="on")).status_code == 303
    page = (await maria.look(path)).text
    assert "In effect" in page
    assert "I authorize the originator" in page
    assert "The text in English" not in page
    clock.advance(timedelta(hours=1))
    assert f'href="/sign-in/again?next={path}"' in (await maria.look(path)).text
    assert (await _send(maria, path, agreed="on")).status_code == 303
    await maria.send("/sign-in/again", page="/sign-in/again", password="orchid-tractor-58")
    assert (await _send(maria, here("bank/disconnect"))).status_code == 303
    bank = (await maria.look(here("bank"))).text
    assert "No bank account yet" in bank
    assert "…3544" in bank, "what was there before is told by its end"
    assert "Not given" in bank


async def test_the_authorization_is_read_in_translation(maria: Browser, here: Callable[[str], str]) -> None:
    assert recorded_sentences() == AUTHORIZATION, "what is translated is what is agreed to"
    await maria.send("/settings/profile", page="/settings/profile", name="Maria", language="es")
    page = (await maria.look(here("bank/authorization"))).text
    assert page.index("Autorizo al originador") < page.index("I authorize the originator")
    assert "El texto en inglés, que es lo que usted acepta" in page


async def test_money_on_its_way_and_what_keeps_it(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    """One payroll is being collected, one is scheduled; then the bank refuses the account."""
    details = AccountDetails(
        parse_number("bank_routing", ROUTING), parse_number("bank_account", ACCOUNT), "checking"
    )
    now, ring, vouching = world.people_context.clock.now(), world.people_context.keys(), Vouching()
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        employer = await find_employer(session, world.actor, world.household_id)
        rosa = await find_employee(session, world.actor, world.employee_id)
        for connect, owner in ((connect_household_account, employer), (connect_employee_account, rosa)):
            await connect(session, ring, world.actor, owner, details, now, verification=vouching)
    for end, pay_date in ((date(2026, 11, 15), None), (date(2026, 11, 22), date(2026, 12, 18))):
        order = Order(
            employer_id=world.household_id,
            pay_period_start=end - timedelta(days=6),
            pay_period_end=end,
            pay_date=pay_date,
            pay_frequency="weekly",
            employees=(
                EmployeePay(
                    employee_id=world.employee_id,
                    regular_hours=Decimal(10),
                    payment_method="direct_deposit",
                ),
            ),
        )
        said = Confirmations(confirm_ach_debit=True)
        async with world.people_context.database.transaction(world.actor.tenant) as session:
            await run_payroll(
                session, world.actor, world.people_context.clock, order, said, direct_deposit_enabled=True
            )
    page = (await maria.look(here("bank"))).text
    assert "Verified at once." in page
    assert "Collected from you" in page
    assert "Payday Fri, Dec\u00a018" in page
    [leaving] = re.findall('<p class="big">\\$([\\d.]+)</p>\\s*<p class="soft">to be debited', page)
    assert 200 < Decimal(leaving) < 285
    assert "On hold" not in page
    world.connection.execute("UPDATE bank_accounts SET status = 'failed', reason = 'closed'")
    world.connection.execute(
        "UPDATE bank_entries SET held_reason = 'the bank account is failed', held_since = now()"
    )
    page = (await maria.look(here("bank"))).text
    assert "Connect it again" in page
    assert "On hold" in page
    await _send(maria, here("bank/connect"), **BANK)
    page = (await maria.look(here("bank"))).text
    assert "Previous accounts" in page


async def test_what_is_set_aside_is_paid_out(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    path = await _hundred_set_aside(world, here)
    assert "$100.00" in (await maria.look(here("bank/set-asides"))).text
    for form, said in (
        ({"amount": "100.01", "method": "check"}, "Only $100.00 can be paid out this way."),
        ({"amount": "1", "method": "direct_deposit"}, "Only $0.00 can be paid out this way."),
        ({"amount": "much", "method": "check"}, "Enter an amount"),
        ({"amount": "NaN", "method": "check"}, "Enter an amount"),
        ({"amount": "1e1", "method": "check"}, "Enter an amount"),
        ({"amount": "1", "method": "gold"}, "Choose one."),
    ):
        refused = await _send(maria, path, form_id=await _form_id(maria, path), **form)
        assert (refused.status_code, said in refused.text) == (400, True), refused.text
    shoes = {"form_id": await _form_id(maria, path), "amount": "$40.00", "method": "check", "note": "shoes"}
    assert (await _send(maria, path, **shoes)).status_code == 303
    page = (await maria.look(path)).text
    assert "$60.00" in page
    assert "shoes" in page


async def _hundred_set_aside(world: World, here: Callable[[str], str]) -> str:
    """Let Rosa have $100 set aside, kept by the household; return the page about it."""
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        rosa = await find_employee(session, world.actor, world.employee_id)
        await set_rule(session, world.actor, rosa, SetAsideRule(amount_cents=10_000))
    await world.pay()
    return here(f"bank/set-asides/{world.employee_id}")


async def _form_id(browser: Browser, path: str) -> str:
    found = re.search(r'name="form_id" value="([0-9a-f-]{36})"', (await browser.look(path)).text)
    assert found is not None
    return found[1]


def _paid_out(world: World) -> list[int]:
    rows = world.connection.execute("SELECT amount FROM escrow_movements WHERE kind = 'payout' ORDER BY id")
    return [amount for (amount,) in rows]


@pytest.mark.parametrize("at_once", [False, True])
async def test_a_payout_that_is_sent_twice_is_booked_once(
    at_once: bool, maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    path = await _hundred_set_aside(world, here)
    form = {"form_id": await _form_id(maria, path), "amount": "40", "method": "check"}
    sending = [partial(_send, maria, path, **form)] * 4
    answers = (
        await asyncio.gather(*(send() for send in sending)) if at_once else [await each() for each in sending]
    )
    assert {(each.status_code, each.headers["location"]) for each in answers} == {(303, path)}
    assert _paid_out(world) == [-4_000]
    # Of two forms with the same in them, both are meant.
    form["form_id"] = await _form_id(maria, path)
    assert (await _send(maria, path, **form)).status_code == 303
    assert _paid_out(world) == [-4_000, -4_000]


@pytest.mark.parametrize("at_once", [False, True])
async def test_a_payout_through_the_bank_that_is_sent_twice_leaves_once(
    at_once: bool, maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    details = AccountDetails(
        parse_number("bank_routing", ROUTING), parse_number("bank_account", ACCOUNT), "checking"
    )
    now, ring, vouching = world.people_context.clock.now(), world.people_context.keys(), Vouching()
    week = date(2026, 11, 9)
    order = Order(
        employer_id=world.household_id,
        pay_period_start=week,
        pay_period_end=week + timedelta(days=6),
        pay_frequency="weekly",
        employees=(
            EmployeePay(
                employee_id=world.employee_id, regular_hours=Decimal(40), payment_method="direct_deposit"
            ),
        ),
    )
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        employer = await find_employer(session, world.actor, world.household_id)
        rosa = await find_employee(session, world.actor, world.employee_id)
        for connect, owner in ((connect_household_account, employer), (connect_employee_account, rosa)):
            await connect(session, ring, world.actor, owner, details, now, verification=vouching)
        await set_rule(session, world.actor, rosa, SetAsideRule(amount_cents=10_000))
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        said = Confirmations(confirm_ach_debit=True)
        await run_payroll(
            session, world.actor, world.people_context.clock, order, said, direct_deposit_enabled=True
        )
    path = here(f"bank/set-asides/{world.employee_id}")
    form = {"form_id": await _form_id(maria, path), "amount": "40", "method": "direct_deposit"}
    early = await _send(maria, path, **form)
    assert early.status_code == 400, "what is not collected yet cannot leave, and uses no form up"
    # As the worker notes it, once the bank has collected the household's money.
    world.connection.execute("UPDATE payrolls SET status = 'processing' WHERE status = 'pending_funding'")
    sending = [partial(_send, maria, path, **form)] * 4
    answers = (
        await asyncio.gather(*(send() for send in sending)) if at_once else [await each() for each in sending]
    )
    assert {(each.status_code, each.headers["location"]) for each in answers} == {(303, path)}
    assert _paid_out(world) == [-4_000]
    leaving = world.connection.execute(
        "SELECT amount FROM bank_entries WHERE escrow_movement_id IS NOT NULL"
    ).fetchall()
    assert leaving == [(4_000,)]


async def test_a_payout_is_not_booked_by_a_form_that_was_used_up_or_has_no_id(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    path = await _hundred_set_aside(world, here)
    form = {"form_id": await _form_id(maria, path), "amount": "40", "method": "check"}
    assert (await _send(maria, path, **form)).status_code == 303
    for other, said in (
        ({"amount": "30"}, "You already submitted this form with different values."),
        ({"method": "cash"}, "You already submitted this form"),
        ({"note": "shoes"}, "You already submitted this form"),
        ({"form_id": ""}, "This form is out of date"),
        ({"form_id": "once"}, "This form is out of date"),
    ):
        refused = await _send(maria, path, **form | other)
        assert (refused.status_code, said in refused.text) == (400, True), refused.text
    assert _paid_out(world) == [-4_000]
    # What is refused is shown again as a form of its own: sent once more, it is booked.
    refused = await _send(maria, path, **form | {"amount": "30"})
    found = re.search(r'name="form_id" value="([0-9a-f-]{36})"', refused.text)
    assert found is not None
    assert (await _send(maria, path, **form | {"amount": "30", "form_id": found[1]})).status_code == 303
    assert _paid_out(world) == [-4_000, -3_000]


async def test_a_payout_that_is_refused_may_be_sent_again(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    """Nothing was booked under its id: once there is enough, it is."""
    path = await _hundred_set_aside(world, here)
    form = {"form_id": await _form_id(maria, path), "amount": "140", "method": "check"}
    assert (await _send(maria, path, **form)).status_code == 400
    await world.pay(weeks_ago=1)
    assert (await _send(maria, path, **form)).status_code == 303
    assert _paid_out(world) == [-14_000]


async def test_the_id_of_a_form_is_kept_with_it_and_not_shown(
    maria: Browser, world: World, here: Callable[[str], str], clock: FixedClock
) -> None:
    path = await _hundred_set_aside(world, here)
    form = {"form_id": await _form_id(maria, path), "amount": "40", "method": "check"}
    clock.advance(timedelta(hours=1))
    sent = await _send(maria, path, **form)
    assert sent.headers["location"] == f"/sign-in/again?next={path}"
    shown = await maria.send("/sign-in/again", page="/sign-in/again", password=PASSWORD, next=path)
    assert f'<input type="hidden" name="form_id" value="{form["form_id"]}">' in shown.text
    assert shown.text.count(form["form_id"]) == 1
    for _ in range(2):
        assert (await _send(maria, path, **form)).status_code == 303
    assert _paid_out(world) == [-4_000]


async def test_papers_say_what_is_missing_and_are_handed_over(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    w2 = here(f"taxes/papers/w2/{world.employee_id}")
    assert "Nobody was paid in this year" in (await _send(maria, here("taxes/papers/w3"), year="2026")).text
    await world.pay()
    missing = await _send(maria, w2, year="2026", copy="employee")
    assert missing.status_code == 400
    for way in ("taxes/papers/address?year=2026", "state-accounts", f"employees/{world.employee_id}"):
        assert f'href="{here(way)}"' in missing.text
    address = {"line1": "1 Oak St", "city": "Oakland", "state": "CA", "zip": "94601"}
    wrong = await _send(maria, here("taxes/papers/address"), **address | {"zip": "9"})
    assert (wrong.status_code, 'id="zip-problem"' in wrong.text) == (400, True)
    kept = await _send(maria, here("taxes/papers/address?year=2025"), **address)
    assert kept.headers["location"] == here("taxes/papers?year=2025")  # where she came from
    await _send(maria, here("state-accounts/ein"), ein=EIN, ein_again=EIN)
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        changes = ChangeEmployee(
            address=PostalAddress(line1="2 Oak St", city="Oakland", state="CA", zip="94601")
        )
        await update_employee(session, world.actor, world.people_context.clock, world.employee_id, changes)
    paper = await _send(maria, w2, year="2026", copy="household")
    assert paper.headers["content-type"] == "application/pdf"
    assert (
        paper.headers["content-disposition"] == 'attachment; filename="w2-2026-rosa-diaz-household-copy.pdf"'
    )
    assert paper.content.startswith(b"%PDF")
    assert (await _send(maria, w2, year="2026", copy="mine")).status_code == 400
    assert (await _send(maria, w2, year="1999", copy="employee")).status_code == 404
    sender = {"year": "2026", "user_id": "AB12CD34", "phone": "415"}
    wrong = await _send(maria, here("taxes/papers/wage-file"), **sender)
    assert (wrong.status_code, 'id="phone-problem"' in wrong.text) == (400, True)
    issued = await maria.look(here("taxes/papers/issued"))
    [again] = re.findall(r'action="([^"]+/issued/[^"]+)"', issued.text)
    assert (await _send(maria, again)).content == paper.content


async def test_nothing_of_another_household_is_found_here(
    maria: Browser, world: World, people: dict[str, SignedIn], here: Callable[[str], str]
) -> None:
    """Not even of one of the same organization, which its owner reaches by that one's own address."""
    neighbour = await World.make(
        world.people_context, world.connection, people["owner"], first_name="Ana", email="ana@example.com"
    )
    for path in (f"bank/set-asides/{neighbour.employee_id}", f"taxes/papers/w2/{neighbour.employee_id}"):
        assert (await maria.look(here(path))).status_code == 404
        assert (await maria.look(f"/app/{neighbour.household_id}/{path}")).status_code == 200
    listed = (await maria.look(f"/app/{neighbour.household_id}/calendar")).text
    found = re.search(rf"/app/{neighbour.household_id}/(calendar/[0-9a-f-]+)", listed)
    assert found is not None
    assert (await maria.look(here(found[1]))).status_code == 404
    assert (await _send(maria, here(f"{found[1]}/done"), done_on="2026-11-02")).status_code == 404
    for path in ("bank/set-asides/nobody", "taxes/papers/w2/nobody", "calendar/nothing"):
        assert (await maria.look(here(path))).status_code == 404


async def test_tables_for_spreadsheets_hold_no_formula(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    evil = await world.employ("=HYPERLINK('https://evil.example')", "Diaz")
    await world.pay(evil)
    table = await maria.look(here("taxes/wages.csv?state=CA&year=2026&quarter=4"))
    assert table.headers["content-disposition"] == 'attachment; filename="state-wages-CA-2026-Q4.csv"'
    assert "'=HYPERLINK" in table.text
    assert ",=" not in table.text
    owed = await maria.look(here("taxes/owed.csv?year=2026"))
    assert owed.text.startswith("agency,code,name,payer,category,2026-01,")


async def test_every_year_that_is_offered_can_be_looked_at(
    maria: Browser, here: Callable[[str], str]
) -> None:
    direct_deposit_enabled = re.findall(r"taxes\?year=(\d{4})", (await maria.look(here("taxes"))).text)
    assert direct_deposit_enabled[:2] == ["2026", "2025"]
    for page in ("taxes", "taxes/owed", "taxes/wages", "taxes/wages.csv", "taxes/estimated", "taxes/papers"):
        for year in (*direct_deposit_enabled, "1999", "2023", "next"):
            assert (await maria.look(here(f"{page}?year={year}&state=XX&quarter=9"))).status_code == 200


async def test_thresholds_count_what_was_paid(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    for weeks_ago in (0, 9):
        await world.pay(weeks_ago=weeks_ago)
    other = await world.employ("Ana", "Diaz")
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        employer = await find_employer(session, world.actor, world.household_id)
        found = await read_threshold_progress(session, world.actor, employer, 2026)
    told = {(each.jurisdiction, each.threshold.liability, each.name): each for each in found.standings}
    rosa, ana = told["US", "fica", "Rosa Diaz"], told["US", "fica", "Ana Diaz"]
    assert (rosa.counted, rosa.quarters, rosa.since) == (228_000, (0, 0, 114_000, 114_000), None)
    assert (ana.counted, ana.quarters) == (0, (0, 0, 0, 0))
    futa = told["US", "futa", None]
    assert (futa.counted, futa.since) == (114_000, date(2026, 1, 1))
    assert futa.people == (("Rosa Diaz", (0, 0, 114_000, 114_000)),)
    assert told["CA", "sdi", None].since == date(2026, 1, 1)
    assert other is not None
    page = (await maria.look(here("taxes"))).text
    assert "$2,280.00 of $3,000.00" in page
    assert "$1,140.00 of $1,000.00" in page


async def test_a_viewer_sees_it_all_and_is_offered_nothing(
    app: FastAPI, world: World, clock: FixedClock, here: Callable[[str], str]
) -> None:
    await world.pay()
    viewer = await _browser(app, "viewer", clock)
    direct_deposit_enabled = re.compile(
        r'method="post"|(?<!/help/terms)/(connect|disconnect|reveal|number|applied|ein|filing|link)\b'
    )
    for page in ("taxes", "taxes/papers", "state-accounts", "calendar", "bank", "bank/authorization"):
        seen = await viewer.look(here(page))
        assert seen.status_code == 200
        assert (
            direct_deposit_enabled.search(seen.text.partition("<main")[2].partition("</main>")[0]) is None
        ), page


async def test_everything_is_said_in_spanish(
    app: FastAPI, people: dict[str, SignedIn], world: World, clock: FixedClock, here: Callable[[str], str]
) -> None:
    await world.pay(weeks_ago=3)
    maria = await _browser(app, "owner", clock)
    await maria.send("/settings/profile", page="/settings/profile", name="Maria", language="es")
    await _send(maria, here("bank/connect"), **BANK)
    for page, said in (
        ("taxes", "Umbrales de 2026"),
        ("taxes/owed", "retenido a los empleados"),
        ("taxes/wages", "Salarios por estado"),
        ("taxes/estimated", "Pagos de impuesto estimado"),
        ("taxes/papers", "Formularios y documentos de 2026"),
        ("state-accounts", "Seguro de desempleo"),
        ("calendar", "Vencido"),
        ("bank", "En verificación"),
        ("bank/authorization", "Autorización para debitar su cuenta"),
    ):
        shown = (await maria.look(here(page))).text
        assert '<html lang="es">' in shown
        assert said in shown, page
    wrong = await _send(maria, here("bank/connect"), **BANK | {"routing_number": "123456789"})
    assert "Ese número de ruta no es válido. Revise los nueve dígitos." in wrong.text


async def test_how_thresholds_count_is_chosen_and_what_it_makes_due_is_told(
    maria: Browser, world: World, here: Callable[[str], str], owner_connection: psycopg.Connection
) -> None:
    page = here("taxes/thresholds")
    for wrong in ("", "never", "\x00"):
        refused = await _send(maria, page, threshold_basis=wrong)
        assert refused.status_code == 400
        assert "Choose one" in refused.text
    assert (await _send(maria, page, threshold_basis="as_paid")).headers["location"] == here("taxes")
    overview = (await maria.look(here("taxes"))).text
    assert "These are charged once the wages paid reach them." in overview
    assert here("taxes/thresholds") in overview
    await world.pay(world.employee_id)
    for _ in range(2):  # a form sent twice changes and says the same
        told = await _send(maria, page, threshold_basis="assume_crossed")
        assert told.status_code == 200
        assert "Owed for wages of 2026, and charged with the next paychecks" in told.text
        rows = re.findall(r'<th scope="row">(\S+)</th><td class="amount">(\S+)</td>', told.text)
        assert ("US-SS-EE", "$70.68") in rows
    again = await _send(maria, page, threshold_basis="as_paid")
    assert again.headers["location"] == here("taxes")
    changes = owner_connection.execute(
        "SELECT actor_kind, details->'threshold_basis'->>'after' FROM audit_log "
        "WHERE action = 'employer.update' ORDER BY id"
    ).fetchall()
    assert changes == [("user", "as_paid"), ("user", "assume_crossed"), ("user", "as_paid")]
