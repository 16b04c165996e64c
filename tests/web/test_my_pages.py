"""An employee with an account: from the link to it, what she sees, what she changes, and what nobody else may."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from http.cookiejar import Cookie
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from hearthpay.access.refusal import Refusal
from hearthpay.banking.account_changes import connect_due
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, Tenant, become_person
from hearthpay.database.vault_rotation import rotate
from hearthpay.doctor.own_record_checks import certificates, linked_people, waiting_accounts
from hearthpay.employees.own_account import link_signed_in
from hearthpay.mail.mailer import Mailer
from hearthpay.mail.person_mail import NEWS, WARNINGS
from hearthpay.mail.postman import Postman
from hearthpay.people import credentials
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from hearthpay.security.portal_tokens import parse_token
from tests.http.api import Account, NewAccount, data
from tests.mail.servers import Postbox, mail_server
from tests.people.visitors import PASSWORD, VISIT, Newcomers, mails
from tests.web.pages_by_role import ROWS
from tests.web.people_browser import OWN, Browser
from tests.web.test_pages import parsed
from tests.worlds.households import add_employee, add_household, payroll_of
from tests.worlds.inviting import invite
from tests.worlds.made_in_turn import MadeInTurn, account, banked, household, made_in_turn, rosa

__all__ = ["account", "banked", "household", "made_in_turn", "rosa"]

EVIL = "<script>alert('x')</script>\"&'"
BANK = {
    "routing_number": "121000358",
    "account_number": "000987654321",
    "account_number_again": "000987654321",
    "account_type": "savings",
}
ADDRESS = {
    "address_line1": "1 Main Street",
    "address_city": "Oakland",
    "address_state": "CA",
    "address_zip": "94601",
}


assert NEWS.a_day is not None
repeated = pytest.mark.parametrize(
    "times",
    [WARNINGS.at_once + 3, pytest.param(NEWS.a_day + 6, marks=pytest.mark.long)],
    ids=["until replaced", "more than a day's number"],
)
"""How often a form is sent: until mails replace those that wait, or more often than mails are sent in a day.

The shorter test adds rows of replaced mails, up to the same number.
"""


@pytest.fixture
def people_context(app: FastAPI, database: Database, clock: FixedClock, ring: KeyRing) -> PeopleContext:
    """Mail stays in the outbox, where it is read."""
    throttle = app.state.people_context.throttle
    app.state.people_context = PeopleContext(
        database, clock, ring, throttle, sends_mail=True, no_sooner_than=0
    )
    return app.state.people_context


@dataclass
class Employed:
    """Somebody who has an account by the invitation of a household."""

    browser: Browser
    here: str
    token: str
    employee: dict[str, Any]


Employ = Callable[..., Awaitable[Employed]]


async def _token(account: Account, employee: dict[str, Any]) -> str:
    told = data(await invite(account.live, employee, send_email=False))
    return str(told["portal_url"]).rpartition("/")[2]


@pytest.fixture
def employ(
    app: FastAPI, people_context: PeopleContext, owner_connection: psycopg.Connection, ring: KeyRing
) -> Employ:
    """From the link of an invitation to an account, under another address than the household knows afterwards."""

    async def make(
        account: Account, employee: dict[str, Any], email: str = "rosa@example.com", name: str = "Rosa Diaz"
    ) -> Employed:
        token = await _token(account, employee)
        browser = Browser.of(app)
        known = _known_at(owner_connection, employee, email)
        offered = await browser.send(f"/portal/{token}/account", page=f"/portal/{token}/account")
        assert offered.status_code == 200, offered.text
        proof = _proof(mails(owner_connection, ring)[-1])
        page = f"/portal/{token}/account/{proof}"
        made = await browser.send(page, page=page, name=name, password=PASSWORD)
        assert made.headers.get("location") == "/my", made.status_code
        _known_at(owner_connection, employee, known)
        return Employed(browser, f"/my/{employee['id']}", token, employee)

    return make


@pytest.fixture
async def rosas(
    app: FastAPI, employ: Employ, account: Account, rosa: dict[str, Any], made_in_turn: MadeInTurn
) -> Employed:
    async def make() -> tuple[str, list[Cookie]]:
        made = await employ(account, rosa)
        return made.token, list(made.browser.client.cookies.jar)

    token, cookies = await made_in_turn.get("rosa's account", make)
    browser = Browser.of(app)
    for cookie in cookies:
        browser.client.cookies.jar.set_cookie(copy(cookie))
    return Employed(browser, f"/my/{rosa['id']}", token, rosa)


def _known_at(connection: psycopg.Connection, employee: dict[str, Any], email: str | None) -> str | None:
    """Let the record have this address; return the one it had."""
    [(before,)] = connection.execute(
        "SELECT email FROM employees WHERE id = %s", (employee["id"],)
    ).fetchall()
    connection.execute("UPDATE employees SET email = %s WHERE id = %s", (email, employee["id"]))
    return None if before is None else str(before)


def _proof(mail: dict[str, str]) -> str:
    """The second token of the link in a mail: it proves the address."""
    found = re.search(r"/account/(\w{43})", mail["text"])
    assert found is not None, mail["text"]
    return found[1]


def _headline(connection: psycopg.Connection, ring: KeyRing, subject: str) -> list[dict[str, str]]:
    return [each for each in mails(connection, ring) if subject in each["subject"]]


def _lawful(connection: psycopg.Connection) -> None:
    for law in (certificates, waiting_accounts, linked_people):
        assert connection.execute(law()).fetchall() == []


async def test_from_the_link_to_an_account_and_her_pay(
    account: Account,
    household: dict[str, Any],
    rosas: Employed,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
) -> None:
    browser, here = rosas.browser, rosas.here
    assert (await browser.look("/my")).headers["location"] == here
    assert (await browser.look("/home")).headers["location"] == "/my"
    ran = data(await account.live.post("/payroll/run", payroll_of(household["id"], rosas.employee["id"])))
    overview = (await browser.look(here)).text
    assert "$1,140.00" in overview
    assert f"{here}/stubs/{ran['payroll_id']}" in overview
    assert "API keys" not in overview
    pay = (await browser.look(f"{here}/pay/2026")).text
    assert "<dd>40</dd>" in pay
    assert "$1,140.00" in pay
    stub = await browser.look(f"{here}/stubs/{ran['payroll_id']}")
    assert (stub.status_code, stub.headers["content-type"]) == (200, "application/pdf")
    assert stub.content.startswith(b"%PDF-")
    assert stub.content == (await browser.look(f"{here}/stubs/{ran['payroll_id']}")).content
    assert (await browser.send(f"{here}/language", page=f"{here}/details", language="es")).status_code == 200
    spanish = await browser.look(f"{here}/stubs/{ran['payroll_id']}")
    assert spanish.content != stub.content
    assert "recibo" in spanish.headers["content-disposition"] or spanish.content[:5] == b"%PDF-"
    assert (await browser.look(f"{here}/w2/2026")).status_code == 404
    assert (await browser.look(f"{here}/w2/2025")).status_code == 400
    [told] = _headline(owner_connection, ring, "Rosa Diaz changed something")[:1]
    assert told["to"] == "maria@example.com"
    assert "an account was made" in told["text"]
    _lawful(owner_connection)


async def test_an_invitation_links_once_and_to_one_person(
    app: FastAPI,
    account: Account,
    rosas: Employed,
    people_context: PeopleContext,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
) -> None:
    newcomers = Newcomers(people_context, owner_connection, ring)
    await newcomers.make("thief@example.com", "Thieves")
    thief = Browser.of(app)
    await thief.sign_in("thief@example.com", PASSWORD)
    again = await _token(account, rosas.employee)
    for token, status in ((rosas.token, 410), (again, 400), ("x" * 43, 404)):
        page = f"/portal/{token}/account"
        assert (await thief.send(page, page="/settings/profile")).status_code == status, token
    assert (await thief.look(rosas.here)).status_code == 404
    # A proof is used once; with another invitation it opens nothing that this one does not.
    stranger = Browser.of(app)
    asked = await stranger.send(f"/portal/{again}/account", page=f"/portal/{again}/account")
    assert asked.status_code == 200
    proof = _proof(mails(owner_connection, ring)[-1])
    path = f"/portal/{again}/account/{proof}"
    taken = await stranger.send(path, page=path, name="Late", password=PASSWORD)
    assert taken.status_code == 400
    assert "belongs to another account" in taken.text
    assert owner_connection.execute(
        "SELECT count(*) FROM people WHERE email = 'rosa.diaz@example.com'"
    ).fetchone() == (0,)
    sign_up = await stranger.look(f"/sign-up/{proof}")
    assert sign_up.status_code == 404
    clock.advance(timedelta(days=8))
    assert (await stranger.look(f"/portal/{again}/account")).status_code == 410
    assert (await stranger.look(path)).status_code == 410
    _lawful(owner_connection)


async def test_two_households_stand_apart(
    app: FastAPI,
    new_account: NewAccount,
    rosas: Employed,
    people_context: PeopleContext,
    clock: FixedClock,
    database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    others = await new_account("Others")
    household = await add_household(others.live, first_name="Olga", last_name="Other")
    employee = await add_employee(others.live, household, email="rosa@example.com")
    colleague = await add_employee(others.live, household, first_name="Cleo", last_name="Colleague")
    ran = await others.live.post("/payroll/run", payroll_of(household, colleague))
    paid = data(ran)
    token = await _token(others, {"id": employee})
    assert (await rosas.browser.look(f"/portal/{token}/account")).status_code == 200
    linked = await rosas.browser.send(f"/portal/{token}/account", page="/settings/profile")
    assert linked.headers["location"] == f"/my/{employee}"
    both = (await rosas.browser.look("/my")).text
    assert rosas.here in both
    assert f"/my/{employee}" in both
    assert "Maria" not in (await rosas.browser.look(f"/my/{employee}")).text
    assert (await rosas.browser.look(f"/my/{colleague}")).status_code == 404
    assert (
        await rosas.browser.look(f"/my/{employee}/stubs/{paid['payroll_id']}")
    ).status_code == 400  # paid nothing to her
    other_stub = await rosas.browser.look(f"{rosas.here}/stubs/{paid['payroll_id']}")
    assert other_stub.status_code == 404
    _lawful(owner_connection)


async def test_an_account_waits_a_day_before_it_is_connected(
    account: Account,
    rosas: Employed,
    ring: KeyRing,
    clock: FixedClock,
    worker_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    browser, here = rosas.browser, rosas.here
    none = (await browser.look(f"{here}/bank")).text
    assert "Add an account" in none
    assert "a new account starts after" not in none, "nothing waits where there is no account yet"
    first = await browser.send(f"{here}/bank", page=f"{here}/bank", **BANK)
    assert first.status_code == 303
    assert "4321" in (await browser.look(f"{here}/bank")).text  # nothing can be diverted from no account
    owner_connection.execute("UPDATE bank_accounts SET status = 'active'")
    wrong = await browser.send(f"{here}/bank", page=f"{here}/bank", **BANK | {"account_number_again": "1"})
    assert wrong.status_code == 400
    assert "000987654321" not in wrong.text
    changed = BANK | {"account_number": "11112222", "account_number_again": "11112222"}
    assert (await browser.send(f"{here}/bank", page=f"{here}/bank", **changed)).status_code == 303
    page = (await browser.look(f"{here}/bank")).text
    assert "ending in 2222 waits" in page
    assert "still goes to the account ending in 4321" in page
    told = _headline(owner_connection, ring, "bank account for your pay")
    assert {each["to"] for each in told} == {"rosa@example.com", "rosa.diaz@example.com"}
    assert "account ending in 4321. New: account ending in 2222" in told[-1]["text"]
    assert "11112222" not in str(told)
    clock.advance(timedelta(hours=23))
    assert await connect_due(worker_database, ring, clock) == 0
    clock.advance(timedelta(hours=1))
    assert await connect_due(worker_database, ring, clock) == 1
    assert await connect_due(worker_database, ring, clock) == 0
    rows = owner_connection.execute("SELECT last_four, status FROM bank_accounts ORDER BY id").fetchall()
    assert rows == [("4321", "replaced"), ("2222", "verifying")]
    assert owner_connection.execute("SELECT status, numbers FROM account_changes").fetchall() == [
        ("done", None)
    ]
    _lawful(owner_connection)


async def test_a_change_that_is_not_hers_is_taken_back(
    account: Account,
    rosas: Employed,
    ring: KeyRing,
    clock: FixedClock,
    worker_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    browser, here = rosas.browser, rosas.here
    await browser.send(f"{here}/bank", page=f"{here}/bank", **BANK)
    changed = BANK | {"account_number": "11112222", "account_number_again": "11112222"}
    await browser.send(f"{here}/bank", page=f"{here}/bank", **changed)
    assert (await browser.send(f"{here}/bank/withdraw", page=f"{here}/bank")).status_code == 303
    assert (await browser.send(f"{here}/bank/withdraw", page=f"{here}/bank")).status_code == 303
    clock.advance(timedelta(days=2))
    assert await connect_due(worker_database, ring, clock) == 0
    assert owner_connection.execute("SELECT last_four FROM bank_accounts").fetchall() == [("4321",)]
    # An hour later she is asked who she is before a number, and before a number only.
    assert (await browser.look(f"{here}/bank")).headers["location"].startswith("/sign-in/again")
    stale = await browser.send(f"{here}/bank", page=here + "/details", **changed)
    assert stale.headers["location"] == f"/sign-in/again?next={here}/bank"


async def test_what_she_signs_is_withheld_by_and_kept_as_issued(
    account: Account, household: dict[str, Any], rosas: Employed, owner_connection: psycopg.Connection
) -> None:
    browser, here = rosas.browser, rosas.here
    run = payroll_of(household["id"], rosas.employee["id"])

    async def withheld() -> tuple[float, float]:
        item = data(await account.live.post("/payroll/preview", run))["employees"][0]["employee_taxes"]
        return item["federal_income_tax"], item["state_income_tax"]

    before = await withheld()
    path = f"{here}/certificates/sign/US"
    signed = {"signed_name": "Rosa Diaz", "signed_on": "2026-11-20"}
    form = {"us_elected": "on", "us_filing_status": "married", "us_extra_withholding": "12.50", **signed}
    for wrong in (
        {"us_filing_status": "divorced"},
        {"us_extra_withholding": "-1"},
        {"us_extra_withholding": "1.234"},
        {"us_extra_withholding": "," * 5_000 + "1"},
        {"signed_name": ""},
        {"signed_on": "2026-11-19"},
    ):
        refused = await browser.send(path, page=path, **form | wrong)
        assert refused.status_code == 400, wrong
        assert 'aria-invalid="true"' in refused.text
    assert await withheld() == before
    boxes = {"us_exempt": "\x00", "us_multiple_jobs": "x" * 5_000}
    kept = await browser.send(path, page=path, **form | boxes)
    assert kept.status_code == 303, kept.text
    assert owner_connection.execute(
        "SELECT answered -> 'elected', answered -> 'exempt', answered -> 'multiple_jobs' FROM signed_certificates"
    ).fetchall() == [("on", "", "")], "of a box it is kept whether it was ticked"
    assert (await withheld())[0] != before[0]
    copy = (await browser.look(kept.headers["location"])).text
    assert "Married" in copy
    assert "12.50" in copy
    assert "Under penalties of perjury" in copy
    state = f"{here}/certificates/sign/CA"
    assert "Regular allowances" in (await browser.look(state)).text
    certificate = {
        "ca_elected": "on",
        "ca_filing_status": "single_or_married_with_two_or_more_incomes",
        "ca_regular_allowances": "3",
        **signed,
    }
    assert (await browser.send(state, page=state, **certificate)).status_code == 303
    assert (await withheld())[1] < before[1] or before[1] == 0
    _lawful(owner_connection)
    # The household enters another one: the copy stays, and is no longer in force.
    patched = await account.live.client.patch(
        f"/api/v1/employees/{rosas.employee['id']}",
        json={"federal_withholding": {"filing_status": "single"}},
        headers=account.live.headers(),
    )
    assert patched.status_code == 200
    assert "Replaced on" in (await browser.look(kept.headers["location"])).text
    rows = owner_connection.execute(
        "SELECT jurisdiction, ended_at IS NULL, entries ->> 'extra_withholding' FROM signed_certificates ORDER BY id"
    ).fetchall()
    assert rows == [("US", False, "12.50"), ("CA", True, None)]
    assert (await browser.look(f"{here}/certificates/sign/NY")).status_code == 404
    _lawful(owner_connection)


async def test_she_asks_to_set_aside_and_the_household_decides(
    app: FastAPI,
    account: Account,
    rosas: Employed,
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
) -> None:
    browser, here = rosas.browser, rosas.here
    path = f"{here}/set-aside"
    for kind, much in (
        ("percent", "0"),
        ("percent", "x"),
        ("amount", "10000"),
        ("amount", "1.001"),
        ("", "5"),
    ):
        assert (await browser.send(path, page=path, kind=kind, how_much=much)).status_code == 400
    assert (await browser.send(path, page=path, kind="percent", how_much="5%")).status_code == 303
    await Newcomers(people_context, owner_connection, ring).make("maria@example.com", "Unused")
    owner_connection.execute("UPDATE memberships SET organization_id = %s", (account.organization_id,))
    maria = Browser.of(app)
    await maria.sign_in("maria@example.com", PASSWORD)
    page = (await maria.look("/settings/employees")).text
    assert "Rosa Diaz" in page
    assert "5 % of gross pay" in page
    [(request_id,)] = owner_connection.execute("SELECT id FROM set_aside_requests").fetchall()
    decide = f"/settings/employees/requests/{request_id}"
    assert (await maria.send(f"{decide}/maybe", page="/settings/employees")).status_code == 404
    assert (await maria.send(f"{decide}/approved", page="/settings/employees")).status_code == 303
    assert (await maria.send(f"{decide}/declined", page="/settings/employees")).status_code == 404
    assert owner_connection.execute("SELECT rule_rate FROM escrow_accounts").fetchone() == (Decimal("0.05"),)
    trail = owner_connection.execute(
        "SELECT action, actor_kind, subject_id, details->>'employee_id' FROM audit_log "
        "WHERE action LIKE 'set_aside_request.%' ORDER BY at, id"
    ).fetchall()
    assert trail == [
        ("set_aside_request.ask", "employee", request_id, rosas.employee["id"]),
        ("set_aside_request.approve", "user", request_id, rosas.employee["id"]),
    ]
    assert "agreed to what you asked" in _headline(owner_connection, ring, "Your record")[-1]["text"]
    assert (await browser.send(f"{path}/stop", page=path)).status_code == 303
    assert owner_connection.execute("SELECT rule_rate FROM escrow_accounts").fetchone() == (None,)
    # The household may end the account's access; then the record is there for another invitation.
    [(link_id,)] = owner_connection.execute("SELECT id FROM employee_links").fetchall()
    ended = await maria.send(f"/settings/employees/accounts/{link_id}/end", page="/settings/employees")
    assert ended.status_code == 303
    assert (await browser.look(here)).status_code == 404
    _known_at(owner_connection, rosas.employee, "rosa@example.com")
    token = await _token(account, rosas.employee)
    assert (await browser.send(f"/portal/{token}/account", page="/settings/profile")).headers[
        "location"
    ] == here


async def test_after_she_has_left_her_papers_stay(account: Account, rosas: Employed) -> None:
    left = await account.live.post(f"/employees/{rosas.employee['id']}/terminate", {"end_date": "2026-11-20"})
    assert left.status_code == 200
    browser, here = rosas.browser, rosas.here
    assert "Your documents stay here" in (await browser.look(here)).text
    saved = await browser.send(f"{here}/address", page=f"{here}/details", **ADDRESS)
    assert saved.status_code == 200
    assert (await browser.send(f"{here}/bank", page=f"{here}/details", **BANK)).status_code == 400
    path = f"{here}/set-aside"
    assert (await browser.send(path, page=f"{here}/details", kind="amount", how_much="5")).status_code == 400


async def test_an_address_is_checked_saved_and_told(
    account: Account, rosas: Employed, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    browser, here = rosas.browser, rosas.here
    nothing = parsed(await browser.send(f"{here}/address", page=f"{here}/details"))
    named = [link.get("href") for list_ in nothing.iter("ul") for link in list_.iter("a")]
    assert [each for each in named if (each or "").startswith("#address")] == [
        "#address_line1",
        "#address_city",
        "#address_state",
        "#address_zip",
    ]
    for wrong in ({"address_zip": "9"}, {"address_state": "ZZ"}, {"address_city": ""}):
        refused = await browser.send(f"{here}/address", page=f"{here}/details", **ADDRESS | wrong)
        assert refused.status_code == 400, wrong
        assert 'aria-invalid="true"' in refused.text
    saved = await browser.send(f"{here}/address", page=f"{here}/details", **ADDRESS)
    assert "Saved. We emailed you and the household." in saved.text
    found = data(await account.live.get(f"/employees/{rosas.employee['id']}"))
    assert found["address"]["line1"] == "1 Main Street"
    news = _headline(owner_connection, ring, "Your record")
    before = len(news)
    assert "the mailing address" in news[-1]["text"]
    again = await browser.send(f"{here}/address", page=f"{here}/details", **ADDRESS)
    assert "Saved." in again.text
    assert "We emailed" not in again.text
    assert len(_headline(owner_connection, ring, "Your record")) == before


async def test_no_mail_is_claimed_where_there_is_no_mail_server(app: FastAPI, rosas: Employed) -> None:
    app.state.people_context = replace(app.state.people_context, sends_mail=False)
    browser, here = rosas.browser, rosas.here
    for path, fields in (("address", ADDRESS), ("language", {"language": "es"})):
        saved = await browser.send(f"{here}/{path}", page=f"{here}/details", **fields)
        assert saved.status_code == 200
        assert "Saved." in saved.text
        assert "We emailed" not in saved.text


async def test_hostile_words_stay_words(
    account: Account, household: dict[str, Any], rosas: Employed, owner_connection: psycopg.Connection
) -> None:
    browser, here = rosas.browser, rosas.here
    owner_connection.execute("UPDATE employees SET first_name = %s", (EVIL,))
    owner_connection.execute("UPDATE employers SET last_name = %s", (EVIL,))
    path = f"{here}/certificates/sign/US"
    kept = await browser.send(
        path, page=path, us_filing_status="single", signed_name=EVIL, signed_on="2026-11-20"
    )
    await browser.send(f"{here}/address", page=f"{here}/details", **ADDRESS | {"address_line1": EVIL})
    for page in (here, f"{here}/details", kept.headers["location"], f"{here}/bank", f"{here}/pay/2026"):
        response = await browser.look(page)
        assert response.status_code == 200
        tree = parsed(response)
        for script in tree.iter("script"):  # ours alone, and nothing within it
            assert (script.get("src") or "").startswith("/assets/keys.js?v=")
            assert not script.text


async def test_no_page_of_hers_is_another_employees(
    account: Account, household: dict[str, Any], rosas: Employed, employ: Employ
) -> None:
    """Every page of the table, asked for by an employee of the same household, and rightly: nothing is there."""
    colleague = await add_employee(account.live, household["id"], first_name="Cleo", last_name="Colleague")
    cleo = await employ(account, {"id": colleague}, "cleo@example.com", "Cleo")
    names = {
        "employee_id": rosas.employee["id"],
        "payroll_id": colleague,
        "certificate_id": colleague,
        "document_id": colleague,
        "jurisdiction": "US",
        "year": "2026",
    }
    pages = [page for page in ROWS if "/my/{" in page]
    assert len(pages) > 15
    for page in pages:
        method, _, path = page.partition(" ")
        asked = path.format(**names)
        answered = (
            await cleo.browser.look(asked)
            if method == "GET"
            else await cleo.browser.send(asked, page="/settings/profile", **ROWS[page].form)
        )
        assert answered.status_code == 404, page
        assert "Rosa" not in answered.text


async def test_the_database_itself_shows_her_nobody_else(
    account: Account,
    household: dict[str, Any],
    rosas: Employed,
    database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    """Every table that tells of employees, in a transaction that is the household's and hers at once."""
    colleague = await add_employee(account.live, household["id"], first_name="Cleo", last_name="Colleague")
    for employee in (rosas.employee["id"], colleague):
        await account.live.post("/payroll/run", payroll_of(household["id"], employee))
    [(person,)] = owner_connection.execute("SELECT person_id FROM employee_links").fetchall()
    [(organization, employer)] = owner_connection.execute(
        "SELECT organization_id, id FROM employers"
    ).fetchall()
    counted = {
        "employees": "id",
        "paychecks": "employee_id",
        "payroll_entries": "employee_id",
        "year_balances": "employee_id",
        "month_balances": "employee_id",
        "invitations": "employee_id",
    }
    async with database.transaction(Tenant(organization, False, employer)) as session:
        for table, column in counted.items():
            seen = set(await session.scalars(text(f"SELECT {column} FROM {table}")))
            assert str(colleague) in {str(each) for each in seen} or table == "invitations"
        everything = (await session.execute(text("SELECT count(*) FROM payrolls"))).scalar_one()
        await become_person(session, person)
        for table, column in counted.items():
            seen = {str(each) for each in await session.scalars(text(f"SELECT {column} FROM {table}"))}
            assert seen == {rosas.employee["id"]}, table
        own = (await session.execute(text("SELECT count(*) FROM payrolls"))).scalar_one()
        lines = await session.scalars(
            text(
                "SELECT DISTINCT c.employee_id FROM paycheck_lines l JOIN paychecks c ON c.id = l.paycheck_id"
            )
        )
        assert {str(each) for each in lines} == {rosas.employee["id"]}
    assert (everything, own) == (2, 1)


async def test_the_tax_page_takes_certificates_too_also_after_she_has_left(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
) -> None:
    left = await account.live.post(f"/employees/{rosa['id']}/terminate", {"end_date": "2026-11-20"})
    assert left.status_code == 200
    browser = Browser.of(app)
    token = await _token(account, rosa)
    owner_connection.execute(
        """UPDATE employees SET federal_withholding = '{"filing_status": "married", "extra_withholding": "77.00"}'"""
    )
    page = (await browser.look(f"/portal/{token}/certificates")).text
    assert "Federal Form W-4" in page
    assert '<option value="single" selected>' in page  # whoever has a link reads nothing of what is on record
    assert "77.00" not in page
    assert "California: DE 4" in page
    form = {
        "us_elected": "on",
        "us_filing_status": "head_of_household",
        "us_extra_withholding": "5",
        "ca_elected": "on",
        "ca_filing_status": "single_or_married_with_two_or_more_incomes",
    }

    async def send(**more: str) -> tuple[int, str]:
        answered = await browser.client.post(
            f"/portal/{token}/certificates", data=form | more, headers={"Sec-Fetch-Site": "same-origin"}
        )
        return answered.status_code, answered.text

    for wrong in ({}, {"us_signed_name": "Rosa", "us_signed_on": "2026-01-01"}):
        status, text = await send(**wrong)
        assert status == 400
        assert 'value="head_of_household" selected' in text
    status, text = await send(us_signed_name="Rosa Diaz", us_signed_on="2026-11-20")
    assert status == 303, text
    assert f"/portal/{token}/account" in (await browser.look(f"/portal/{token}/done")).text
    found = data(await account.live.get(f"/employees/{rosa['id']}"))
    assert found["federal_withholding"]["filing_status"] == "head_of_household"
    rows = owner_connection.execute(
        "SELECT jurisdiction, signed_name, invitation_id IS NOT NULL, law_year FROM signed_certificates"
    ).fetchall()
    assert rows == [("US", "Rosa Diaz", True, 2026)]  # the state's was left as it is on record
    _lawful(owner_connection)
    again, text = await send(us_signed_name="Rosa Diaz", us_signed_on="2026-11-20")
    assert again == 400  # of the forms that it asks for, the state's alone is left
    assert 'id="ca_signed_name-problem"' in text
    # The link also brings her to an account, until its time is over.
    assert (await browser.look(f"/portal/{token}/account")).status_code == 200


async def test_an_account_that_waits_outlives_a_new_key(
    rosas: Employed,
    ring: KeyRing,
    clock: FixedClock,
    owner_database: Database,
    worker_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    for number in ("000987654321", "11112222"):
        entered = BANK | {"account_number": number, "account_number_again": number}
        await rosas.browser.send(f"{rosas.here}/bank", page=f"{rosas.here}/bank", **entered)
    newer = EncryptionKey.generate()
    rotated = await rotate(
        lambda: owner_database.transaction(None), KeyRing((newer, ring.newest)), lambda *_: None
    )
    assert (rotated.unreadable, rotated.remaining) == ((), {})
    clock.advance(timedelta(days=1))
    assert await connect_due(worker_database, KeyRing((newer,)), clock) == 1
    assert owner_connection.execute("SELECT last_four FROM vault WHERE kind = 'bank_account'").fetchone() == (
        "2222",
    )


async def test_an_account_that_is_changed_by_a_link_waits_and_is_told(
    account: Account,
    banked: dict[str, Any],
    rosas: Employed,
    client: httpx.AsyncClient,
    ring: KeyRing,
    clock: FixedClock,
    worker_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    first = await client.post(await _bank_link(account, rosas), data=BANK)
    assert "savings account ending in 4321" in first.text
    owner_connection.execute("UPDATE bank_accounts SET status = 'active' WHERE employee_id IS NOT NULL")
    url = await _bank_link(account, rosas)
    form = await client.get(url)
    assert "24 hours" in form.text
    assert "4321" not in form.text  # a link reads nothing back
    changed = BANK | {"account_number": "11112222", "account_number_again": "11112222"}
    thanks = await client.post(url, data=changed)
    assert thanks.status_code == 200
    assert "Money goes to your savings account ending in 2222 from" in thanks.text
    assert "4321" not in thanks.text
    accounts = "SELECT last_four, status FROM bank_accounts WHERE employee_id IS NOT NULL ORDER BY id"
    assert owner_connection.execute(accounts).fetchall() == [("4321", "active")]
    told = _headline(owner_connection, ring, "bank account for your pay")
    assert [each["to"] for each in told] == ["rosa@example.com", "rosa.diaz@example.com"] * 2
    assert "Old: none. New: account ending in 4321" in told[0]["text"]
    assert "Old: account ending in 4321. New: account ending in 2222" in told[-1]["text"]
    assert "11112222" not in str(told)
    assert "ending in 2222 waits" in (await rosas.browser.look(f"{rosas.here}/bank")).text
    await rosas.browser.send(f"{rosas.here}/bank/withdraw", page=f"{rosas.here}/bank")
    clock.advance(timedelta(hours=24))
    assert await connect_due(worker_database, ring, clock) == 0
    assert (await client.post(await _bank_link(account, rosas), data=changed)).status_code == 200
    clock.advance(timedelta(hours=24))
    assert await connect_due(worker_database, ring, clock) == 1
    assert owner_connection.execute(accounts).fetchall() == [("4321", "replaced"), ("2222", "verifying")]
    _lawful(owner_connection)


async def test_no_stranger_keeps_the_news_from_her(
    account: Account,
    banked: dict[str, Any],
    rosas: Employed,
    client: httpx.AsyncClient,
    people_context: PeopleContext,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
) -> None:
    for number in range(12):
        visit = Visit(f"192.0.2.{number}")
        await credentials.ask_for_reset(people_context, "rosa@example.com", "http://pay.example.com", visit)
    assert (await client.post(await _bank_link(account, rosas), data=BANK)).status_code == 200
    told = _headline(owner_connection, ring, "bank account for your pay")
    assert "rosa@example.com" in {each["to"] for each in told}


async def test_a_link_leads_to_an_account_under_the_address_on_record_alone(
    app: FastAPI,
    account: Account,
    banked: dict[str, Any],
    rosa: dict[str, Any],
    people_context: PeopleContext,
    client: httpx.AsyncClient,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
) -> None:
    await Newcomers(people_context, owner_connection, ring).make("thief@example.com", "Thieves")
    asked = await invite(account.live, rosa, type="bank_account", send_email=False)
    link = "/portal/" + str(data(asked)["portal_url"]).rpartition("/")[2]
    stranger, thief = Browser.of(app), Browser.of(app)
    page = (await stranger.look(f"{link}/account")).text
    assert "r…@example.com" in page
    assert "rosa.diaz@example.com" not in page
    assert 'name="email"' not in page
    # Whatever address he sends, the link goes to hers.
    sent = await stranger.send(f"{link}/account", page=f"{link}/account", email="thief@example.com")
    assert sent.status_code == 200
    assert mails(owner_connection, ring)[-1]["to"] == "rosa.diaz@example.com"
    await thief.sign_in("thief@example.com", PASSWORD)
    for language, words in (("en", "ask the household to change the address"), ("es", "pida al hogar")):
        owner_connection.execute("UPDATE people SET language = %s", (language,))
        told = (await thief.look(f"{link}/account")).text
        assert words in told
        assert "r…@example.com" in told
        assert "rosa.diaz" not in told
    refused = await thief.send(f"{link}/account", page="/settings/profile")
    assert refused.status_code == 400
    assert "tiene registrado otro correo" in refused.text
    assert owner_connection.execute("SELECT count(*) FROM employee_links").fetchone() == (0,)
    # So what he enters, she takes back by the link in her mail, or by the account that she makes.
    entered = BANK | {"account_number": "11112222", "account_number_again": "11112222"}
    assert (await client.post(link, data=BANK)).status_code == 200
    owner_connection.execute("UPDATE bank_accounts SET status = 'active' WHERE employee_id IS NOT NULL")
    asked = await invite(account.live, rosa, type="bank_account", send_email=False)
    link = "/portal/" + str(data(asked)["portal_url"]).rpartition("/")[2]
    assert (await client.post(link, data=entered)).status_code == 200
    mail = _headline(owner_connection, ring, "bank account for your pay")[-1]
    assert mail["to"] == "rosa.diaz@example.com"
    assert "/stop/" in mail["text"]
    assert (await stranger.send(f"{link}/account", page=f"{link}/account")).status_code == 200
    path = f"{link}/account/{_proof(mails(owner_connection, ring)[-1])}"
    made = await stranger.send(path, page=path, name="Rosa Diaz", password=PASSWORD)
    assert made.headers.get("location") == "/my"
    here = f"/my/{rosa['id']}"
    assert (await stranger.send(f"{here}/bank/withdraw", page=f"{here}/bank")).status_code == 303
    assert owner_connection.execute("SELECT status FROM account_changes").fetchall() == [("withdrawn",)]


async def test_the_address_that_counts_is_the_one_on_record_now(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    people_context: PeopleContext,
    database: Database,
    clock: FixedClock,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
) -> None:
    page = f"/portal/{await _token(account, rosa)}/account"
    browser = Browser.of(app)
    assert (await browser.send(page, page=page)).status_code == 200
    path = f"{page}/{_proof(mails(owner_connection, ring)[-1])}"
    form_token = await browser.token(path)
    _known_at(owner_connection, rosa, "rosa.new@example.com")
    late = {"form_token": form_token, "name": "Rosa", "password": PASSWORD}
    for answered in (await browser.look(path), await browser.client.post(path, data=late, headers=OWN)):
        assert answered.status_code == 400
        assert "another email address of yours on record" in answered.text
        assert "rosa.new" not in answered.text
    # The database holds it against the record by itself, whatever the service has looked at before.
    who = await Newcomers(people_context, owner_connection, ring).make("rosa.diaz@example.com")
    token = parse_token(page.split("/")[2])
    assert token is not None

    async def outcome(email: str | None) -> str:
        _known_at(owner_connection, rosa, email)
        async with database.transaction(None) as session:
            await become_person(session, who.person_id)
            values = {"link": uuid4(), "token_hash": token.hash, "now": clock.now()}
            found = await session.execute(
                text("SELECT * FROM link_employee(:link, :token_hash, :now)"), values
            )
            told = str(found.one().outcome)
            await session.rollback()
        return told

    assert await outcome("rosa.new@example.com") == "elsewhere"
    assert await outcome("rosa.diaz@exämple.com") == "linked"  # as far as the database can tell
    assert await outcome("rosa.neu@exämple.com") == "elsewhere"
    assert await outcome("rosá.diaz@example.com") == "elsewhere"
    assert await outcome("Rosa.Diaz@Example.com") == "linked"
    assert await outcome(None) == "linked"
    for wrong in ("rosa.diaz@exämple.com", "rosa.new@example.com"):
        _known_at(owner_connection, rosa, wrong)
        with pytest.raises(Refusal, match="another email address"):
            await link_signed_in(people_context, who, page.split("/")[2], VISIT)
    assert owner_connection.execute("SELECT count(*) FROM employee_links").fetchone() == (0,)
    # An account that was linked once stays so, whatever the household writes down later.
    _known_at(owner_connection, rosa, "rosa.diaz@example.com")
    assert str(await link_signed_in(people_context, who, page.split("/")[2], VISIT)) == rosa["id"]
    _known_at(owner_connection, rosa, "rosa.new@example.com")
    assert str(await link_signed_in(people_context, who, page.split("/")[2], VISIT)) == rosa["id"]
    again = Browser.of(app)
    await again.sign_in("rosa.diaz@example.com", PASSWORD)
    assert "Use this account" in (await again.look(page)).text
    assert (await again.look(f"/my/{rosa['id']}/bank")).status_code == 200


async def test_an_international_host_is_known_as_the_internet_names_it(
    account: Account,
    rosa: dict[str, Any],
    people_context: PeopleContext,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
) -> None:
    _known_at(owner_connection, rosa, "Rosa@exämple.com")
    who = await Newcomers(people_context, owner_connection, ring).make("rosa@xn--exmple-cua.com")
    assert str(await link_signed_in(people_context, who, await _token(account, rosa), VISIT)) == rosa["id"]


@pytest.mark.parametrize("language", ["en", "es"])
async def test_what_is_entered_by_a_tax_link_is_told_and_never_the_number(
    account: Account,
    rosas: Employed,
    client: httpx.AsyncClient,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
    language: str,
) -> None:
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    owner_connection.execute("UPDATE employees SET language = %s", (language,))
    number, address, w4 = {
        "en": ("the Social Security number or ITIN", "the mailing address", "W-4"),
        "es": ("el número de Seguro Social o ITIN", "la dirección postal", "W-4"),
    }[language]

    async def enter(part: str = "", **form: str) -> list[dict[str, str]]:
        before = len(mails(owner_connection, ring))
        url = f"/portal/{await _token(account, rosas.employee)}"
        assert (await client.post(f"{url}{part}", data=form)).status_code == 303
        done = (await client.get(f"{url}/done")).text
        assert ("We write to you" if language == "en" else "Le escribimos") in done
        told = mails(owner_connection, ring)[before:]
        assert "1234" not in str(told)
        assert "5678" not in str(told)
        return told

    def of_everyone(told: list[dict[str, str]], what: str, in_english: str) -> bool:
        assert [each["to"] for each in told] == [
            "rosa@example.com",
            "rosa.diaz@example.com",
            "maria@example.com",
        ]
        return what in told[0]["text"] and what in told[1]["text"] and in_english in told[2]["text"]

    assert of_everyone(await enter(tax_number="539-53-1234"), number, "the Social Security number or ITIN")
    assert of_everyone(await enter(tax_number="539-53-5678"), number, "the Social Security number or ITIN")
    assert of_everyone(await enter("/address", **ADDRESS), address, "the mailing address")
    assert await enter("/address", **ADDRESS) == []  # the same as it was
    signed = {
        "us_elected": "on",
        "us_filing_status": "married",
        "us_signed_name": "R",
        "us_signed_on": "2026-11-20",
    }
    assert of_everyone(await enter("/certificates", **signed), w4, "Form W-4")


async def _toggle(employed: Employed, times: int) -> None:
    "Change the language of documents back and forth."
    form_token = await employed.browser.token(f"{employed.here}/details")
    for number in range(times):
        language = ("es", "en")[number % 2]
        sent = {"form_token": form_token, "language": language}
        saved = await employed.browser.client.post(f"{employed.here}/language", data=sent, headers=OWN)
        assert saved.status_code == 200


def _replaced_all_day(connection: psycopg.Connection) -> None:
    """Copy the replaced mails until each reader has more of a subject than any number of mails in a day."""
    copied = connection.execute(
        "INSERT INTO mail_outbox SELECT (jsonb_populate_record(NULL::mail_outbox, to_jsonb(m) "
        "|| jsonb_build_object('id', gen_random_uuid()))).* FROM generate_series(1, %s), (SELECT DISTINCT ON "
        "(address_hash, counted_as, about) * FROM mail_outbox WHERE status = 'withdrawn') m",
        (NEWS.a_day,),
    )
    assert copied.rowcount > 0, "nothing was replaced"


def _failed(connection: psycopg.Connection) -> list[tuple[str]]:
    return connection.execute("SELECT kind FROM mail_outbox WHERE status = 'failed'").fetchall()


@repeated
async def test_nothing_that_is_repeated_keeps_a_changed_account_from_anyone(
    times: int,
    account: Account,
    banked: dict[str, Any],
    rosas: Employed,
    people_context: PeopleContext,
    ring: KeyRing,
    clock: FixedClock,
    worker_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    browser, bank = rosas.browser, f"{rosas.here}/bank"
    await browser.send(bank, page=bank, **BANK)
    await _toggle(rosas, times)
    _replaced_all_day(owner_connection)
    told = [each["to"] for each in _headline(owner_connection, ring, "Your record")]
    assert told.count("rosa@example.com") == 1 + NEWS.at_once + 1  # the account, the first changes, the last
    changed = BANK | {"account_number": "11112222", "account_number_again": "11112222"}
    assert (await browser.send(bank, page=bank, **changed)).status_code == 303
    told = _headline(owner_connection, ring, "bank account for your pay")[-2:]
    assert {each["to"] for each in told} == {"rosa@example.com", "rosa.diaz@example.com"}
    assert all("New: account ending in 2222" in each["text"] for each in told)
    household = _headline(owner_connection, ring, "Rosa Diaz changed something")[-1]
    assert "the bank account that pay goes to" in household["text"]
    # Nor does changing the account itself: the first are told at once, and the last within the hour.
    for number in range(times):
        again = BANK | dict.fromkeys(("account_number", "account_number_again"), f"3333{number:04}")
        assert (await browser.send(bank, page=bank, **again)).status_code == 303
    _replaced_all_day(owner_connection)
    assert (await browser.send(f"{bank}/withdraw", page=bank)).status_code == 303
    last = BANK | {"account_number": "77778888", "account_number_again": "77778888"}
    assert (await browser.send(bank, page=bank, **last)).status_code == 303
    assert _failed(owner_connection) == []
    waiting = _headline(owner_connection, ring, "bank account for your pay")
    assert len(waiting) == 2 * (WARNINGS.at_once + 1)
    assert all("New: account ending in 8888" in each["text"] for each in waiting[-2:])
    clock.advance(WARNINGS.pause)
    postbox = Postbox()
    async with mail_server(postbox) as url:
        postman = Postman(worker_database, ring, Mailer(url, "Hearthpay <pay@example.com>"), clock)
        while (await postman.send_due(lambda: False, chunk=50)).remaining:
            pass
    arrived = [(each.rcpt_tos[0], each.content or b"") for each in postbox.envelopes]
    for reader in ("rosa@example.com", "rosa.diaz@example.com"):
        assert any(to == reader and b"ending in 8888" in content for to, content in arrived), reader
    assert owner_connection.execute(
        "SELECT count(*) FROM mail_outbox WHERE status = 'queued'"
    ).fetchone() == (0,)
    _lawful(owner_connection)


@repeated
async def test_no_employee_keeps_the_owner_from_links_and_warnings(
    times: int,
    app: FastAPI,
    account: Account,
    rosas: Employed,
    people_context: PeopleContext,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
) -> None:
    await Newcomers(people_context, owner_connection, ring).make("maria@example.com", "Unused")
    await _toggle(rosas, times)
    for number in range(times):  # each another request, so that none is the one that stands
        asked = {"kind": "percent", "how_much": str(number % 7 + 1)}
        path = f"{rosas.here}/set-aside"
        assert (await rosas.browser.send(path, page=path, **asked)).status_code == 303
    told = _headline(owner_connection, ring, "Rosa Diaz changed something")
    assert len(told) == 1 + 2 * (NEWS.at_once + 1)  # the account; of each kind the first changes and the last
    _replaced_all_day(owner_connection)
    await credentials.ask_for_reset(
        people_context, "maria@example.com", "http://pay.example.com", Visit("192.0.2.9")
    )
    assert _headline(owner_connection, ring, "Choose a new password")[-1]["to"] == "maria@example.com"
    await Browser.of(app, "A browser not seen before").sign_in("maria@example.com", PASSWORD)
    assert _headline(owner_connection, ring, "New sign-in")[-1]["to"] == "maria@example.com"
    assert _failed(owner_connection) == []


async def test_what_is_asked_for_already_is_told_once(
    rosas: Employed, ring: KeyRing, owner_connection: psycopg.Connection
) -> None:
    path = f"{rosas.here}/set-aside"
    for _ in range(3):
        asked = await rosas.browser.send(path, page=path, kind="percent", how_much="5")
        assert asked.status_code == 303
    assert owner_connection.execute("SELECT count(*) FROM set_aside_requests").fetchone() == (1,)
    told = [each for each in mails(owner_connection, ring) if "was asked for" in each["text"]]
    assert len(told) == 3  # her two addresses, and the household


@pytest.mark.parametrize(("language", "heading"), [("en", "Wait a moment"), ("es", "Espere un momento")])
async def test_links_to_an_account_are_slowed_down(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    people_context: PeopleContext,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
    language: str,
    heading: str,
) -> None:
    _known_at(owner_connection, rosa, None)
    page = f"/portal/{await _token(account, rosa)}/account"
    browser = Browser.of(app)
    browser.client.headers["Accept-Language"] = language

    async def ask(email: str) -> httpx.Response:
        return await browser.send(page, page=page, email=email)

    for _ in range(5):
        assert (await ask("rosa@example.com")).status_code == 200
    same = await ask("Rosa@example.com")
    for number in range(5):
        assert (await ask(f"rosa{number}@example.com")).status_code == 200
    other = await ask("another@example.com")  # one address has asked for ten
    for answer, seconds in ((same, "1800"), (other, "180")):
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, seconds)
        assert heading in answer.text
    count = "SELECT count(*) FROM mail_outbox WHERE kind = 'person.employee_account'"
    assert owner_connection.execute(count).fetchone() == (10,)
    clock.advance(timedelta(minutes=3))
    assert (await ask("another@example.com")).status_code == 200


async def _bank_link(account: Account, employed: Employed) -> str:
    asked = await invite(account.live, employed.employee, type="bank_account", send_email=False)
    return str(data(asked)["portal_url"])


async def test_where_no_account_can_have_the_address_on_record_she_is_told_what_to_do(
    app: FastAPI,
    account: Account,
    banked: dict[str, Any],
    rosa: dict[str, Any],
    people_context: PeopleContext,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
) -> None:
    owner_connection.execute("UPDATE employees SET email = 'josé@example.com' WHERE id = %s", (rosa["id"],))
    await Newcomers(people_context, owner_connection, ring).make("jose@example.com", "Others")
    asked = await invite(account.live, rosa, type="bank_account", send_email=False)
    page = "/portal/" + str(data(asked)["portal_url"]).rpartition("/")[2] + "/account"
    stranger, signed_in = Browser.of(app), Browser.of(app)
    await signed_in.sign_in("jose@example.com", PASSWORD)
    for visitor, form_of in ((stranger, "/sign-in"), (signed_in, "/settings/profile")):
        shown = await visitor.look(page)
        assert shown.status_code == 200
        assert "Ask the household to change it." in shown.text
        assert "<form class=" not in shown.text
        refused = await visitor.send(page, page=form_of)
        assert refused.status_code == 400
        assert "sk the household to change it." in refused.text
    assert owner_connection.execute("SELECT count(*) FROM employee_links").fetchone() == (0,)
