"""The portal from the link to the vault: what is taken, what is refused, and who may come a second time."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, Tenant
from hearthpay.database.vault_store import read_secret
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import SecretOwner
from hearthpay.security.vault_numbers import NumberKind
from tests.http.api import MARIA, ROSA, Account, data, refusal
from tests.security.conftest import Clerk
from tests.worlds.inviting import invite, statuses
from tests.worlds.made_in_turn import account, banked, household, made_in_turn, rosa

__all__ = ["account", "banked", "household", "made_in_turn", "rosa"]

SSN = {"tax_number": "536-22-8145"}
HOME = {
    "address_line1": " 18 Valencia St ",
    "address_city": "San Francisco",
    "address_state": "CA",
    "address_zip": "94103-1234",
}
SIGNED = {
    "us_filing_status": "married",
    "us_signed_name": "Rosa Diaz",
    "us_signed_on": "2026-11-20",
    "ca_filing_status": "single_or_married_with_two_or_more_incomes",
    "ca_signed_name": "Rosa Diaz",
    "ca_signed_on": "2026-11-20",
}
BANK = {
    "routing_number": "121000358",
    "account_number": "0012345678901",
    "account_number_again": "0012345678901",
    "account_type": "savings",
}

Read = Callable[[dict[str, Any], NumberKind], Any]


@pytest.fixture
def read(database: Database, ring: KeyRing, account: Account) -> Read:
    """Reads an employee's number from the vault."""

    async def number(employee: dict[str, Any], kind: NumberKind) -> str:
        tenant = Tenant(account.organization_id, False)
        owner = SecretOwner(
            account.organization_id, UUID(employee["employer_id"]), False, "employee", UUID(employee["id"])
        )
        async with database.transaction(tenant) as session:
            found = await read_secret(
                session, ring, Clerk("operator", None, None), owner, kind, purpose="test"
            )
        return found.reveal()

    return number


async def link(account: Account, employee: dict[str, Any], **body: Any) -> str:
    """A link to the portal."""
    url: str = data(await invite(account.live, employee, send_email=False, **body))["portal_url"]
    return url


def kept(connection: psycopg.Connection, employee: dict[str, Any]) -> dict[str, str]:
    """The last digits of the numbers that the vault holds of the employee, by kind."""
    rows = connection.execute("SELECT kind, last_four FROM vault WHERE owner_id = %s", (employee["id"],))
    return dict(rows.fetchall())


def went_on(response: httpx.Response, url: str, part: str) -> bool:
    """Whether what was sent was stored, and the next page is that part of the link."""
    return response.status_code == 303 and response.headers["Location"] == f"{httpx.URL(url).path}/{part}"


async def fill_in(client: httpx.AsyncClient, url: str) -> None:
    """Enter all three parts of a tax link."""
    assert went_on(await client.post(url, data=SSN), url, "address")
    assert went_on(await client.post(f"{url}/address", data=HOME), url, "certificates")
    assert went_on(await client.post(f"{url}/certificates", data=SIGNED), url, "done")


def closed(response: httpx.Response, status: int) -> bool:
    return response.status_code == status and "ask the household you work for" in response.text


async def test_a_bank_account_reaches_the_vault(
    account: Account,
    rosa: dict[str, Any],
    banked: dict[str, Any],
    client: httpx.AsyncClient,
    read: Read,
    owner_connection: psycopg.Connection,
) -> None:
    url = await link(account, rosa, type="bank_account")
    form = await client.get(url)
    assert form.status_code == 200
    assert "This is about Rosa’s pay from the Lopez household." in form.text
    thanks = await client.post(url, data=BANK)
    assert thanks.status_code == 200
    assert "Thank you, Rosa" in thanks.text
    assert "savings account ending in 8901" in thanks.text
    assert await read(rosa, "bank_routing") == "121000358"
    assert await read(rosa, "bank_account") == "0012345678901"
    assert statuses(owner_connection, "bank_account") == ["completed"]
    (listed,) = data(await account.live.get("/employees", employer_id=banked["id"]))
    assert listed["onboarding"] == {"bank_account": "complete", "tax_info": "missing"}


@pytest.mark.parametrize(
    ("typed", "kind", "digits", "shown"),
    [
        ("536-22-8145", "ssn", "536228145", "Social Security number ending in 8145"),
        (" 536 22 8145 ", "ssn", "536228145", "Social Security number ending in 8145"),
        ("536\u201322\u20118145", "ssn", "536228145", "Social Security number ending in 8145"),
        ("912734486", "itin", "912734486", "ITIN ending in 4486"),
    ],
)
async def test_a_tax_number_reaches_the_vault(
    account: Account,
    rosa: dict[str, Any],
    client: httpx.AsyncClient,
    read: Read,
    owner_connection: psycopg.Connection,
    typed: str,
    kind: NumberKind,
    digits: str,
    shown: str,
) -> None:
    url = await link(account, rosa)
    assert went_on(await client.post(url, data={"tax_number": typed}), url, "address")
    assert shown in (await client.get(f"{url}/done")).text
    assert await read(rosa, kind) == digits
    assert kept(owner_connection, rosa) == {kind: digits[-4:]}
    (listed,) = data(await account.live.get("/employees", employer_id=rosa["employer_id"]))
    assert listed["onboarding"] == {"bank_account": "missing", "tax_info": "complete"}


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"routing_number": "121000359"}, {"routing_number": "Check all nine digits"}),
        ({"routing_number": ""}, {"routing_number": "Fill in this field"}),
        ({"routing_number": None}, {"routing_number": "Fill in this field"}),
        ({"account_number": "123", "account_number_again": "123"}, {"account_number": "4 to 17 digits"}),
        ({"account_number_again": "0012345678902"}, {"account_number_again": "don&#39;t match"}),
        ({"account_number_again": ""}, {"account_number_again": "Fill in this field"}),
        ({"account_type": None}, {"account_type": "Choose checking or savings"}),
        ({"account_type": "offshore"}, {"account_type": "Choose checking or savings"}),
        (
            {"routing_number": "1", "account_number": "x", "account_type": ""},
            {
                "routing_number": "nine digits",
                "account_number": "4 to 17 digits",
                "account_type": "Choose checking or savings",
            },
        ),
    ],
)
async def test_a_bank_account_with_a_mistake_is_asked_for_again(
    account: Account,
    rosa: dict[str, Any],
    banked: dict[str, Any],
    client: httpx.AsyncClient,
    owner_connection: psycopg.Connection,
    changes: dict[str, str | None],
    problems: dict[str, str],
) -> None:
    url = await link(account, rosa, type="bank_account")
    form = {name: value for name, value in (BANK | changes).items() if value is not None}
    response = await client.post(url, data=form)
    assert response.status_code == 400
    for name in ("routing_number", "account_number", "account_number_again", "account_type"):
        assert (f'id="{name}-problem"' in response.text) is (name in problems)
    for message in problems.values():
        assert message in response.text
    for number in ("0012345678901", "0012345678902", "121000358", "121000359", 'value="1', 'value="x"'):
        assert number not in response.text
    assert kept(owner_connection, rosa) == {}
    assert statuses(owner_connection, "bank_account") == ["pending"]
    assert (await client.post(url, data=BANK)).status_code == 200  # the link is still good


async def test_the_type_of_account_need_not_be_chosen_again(
    account: Account, rosa: dict[str, Any], banked: dict[str, Any], client: httpx.AsyncClient
) -> None:
    url = await link(account, rosa, type="bank_account")
    response = await client.post(url, data=BANK | {"routing_number": ""})
    assert response.text.count(" checked") == 1
    assert 'value="savings" required checked' in response.text


async def test_an_address_is_stored(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient
) -> None:
    url = await link(account, rosa)
    assert went_on(await client.post(f"{url}/address", data=HOME), url, "certificates")
    assert data(await account.live.get(f"/employees/{rosa['id']}"))["address"] == {
        "line1": "18 Valencia St",
        "line2": None,
        "city": "San Francisco",
        "state": "CA",
        "zip": "94103-1234",
    }


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"address_zip": "9410"}, "address_zip"),
        ({"address_state": "PR"}, "address_state"),
        ({"address_city": ""}, "address_city"),
        ({"address_line1": "536-22-8145"}, "address_line1"),
    ],
)
async def test_an_address_with_a_mistake_is_asked_for_again(
    changes: dict[str, str],
    problem: str,
    account: Account,
    rosa: dict[str, Any],
    client: httpx.AsyncClient,
) -> None:
    url = await link(account, rosa)
    answer = await client.post(f"{url}/address", data=HOME | changes)
    assert answer.status_code == 400
    assert f'id="{problem}-problem"' in answer.text
    assert f'href="#{problem}"' in answer.text
    assert "536-22-8145" not in answer.text
    found = data(await account.live.get(f"/employees/{rosa['id']}"))
    assert (found["address"], found["onboarding"]["tax_info"]) == (None, "invited")
    assert went_on(await client.post(f"{url}/address", data=HOME), url, "certificates")


@pytest.mark.parametrize(
    "typed", ["", "536-22-814", "000-22-8145", "078-05-1120", "900-10-1234", "rosa", "٥٣٦٢٢٨١٤٥"]
)
async def test_a_tax_number_with_a_mistake_is_asked_for_again(
    account: Account,
    rosa: dict[str, Any],
    client: httpx.AsyncClient,
    owner_connection: psycopg.Connection,
    typed: str,
) -> None:
    url = await link(account, rosa)
    response = await client.post(url, data={"tax_number": typed})
    assert response.status_code == 400
    assert 'id="tax_number-problem"' in response.text
    if typed:
        assert typed not in response.text
    assert kept(owner_connection, rosa) == {}
    assert statuses(owner_connection) == ["pending"]


async def test_a_new_number_takes_the_place_of_the_old_one(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient, owner_connection: psycopg.Connection
) -> None:
    for typed, last in (("536-22-8145", "8145"), ("401-33-9876", "9876")):
        url = await link(account, rosa)
        assert went_on(await client.post(url, data={"tax_number": typed}), url, "address")
        assert kept(owner_connection, rosa) == {"ssn": last}
    assert statuses(owner_connection) == ["cancelled", "pending"]


async def test_a_link_works_once(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient, owner_connection: psycopg.Connection
) -> None:
    url = await link(account, rosa)
    await fill_in(client, url)
    assert statuses(owner_connection) == ["completed"]
    for part in ("", "/address", "/certificates"):
        assert closed(await client.get(f"{url}{part}"), 410)
    assert closed(await client.post(url, data={"tax_number": "401-33-9876"}), 410)
    assert closed(await client.post(f"{url}/address", data=HOME | {"address_city": "Reno"}), 410)
    assert closed(await client.post(f"{url}/certificates", data=SIGNED), 410)
    assert kept(owner_connection, rosa) == {"ssn": "8145"}
    assert data(await account.live.get(f"/employees/{rosa['id']}"))["address"]["city"] == "San Francisco"


async def test_each_part_of_a_link_is_taken_once(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient, owner_connection: psycopg.Connection
) -> None:
    url = await link(account, rosa)
    assert went_on(await client.post(url, data=SSN), url, "address")
    assert closed(await client.post(url, data={"tax_number": "401-33-9876"}), 410)
    assert kept(owner_connection, rosa) == {"ssn": "8145"}
    assert went_on(await client.post(f"{url}/address", data=HOME), url, "certificates")
    assert closed(await client.post(f"{url}/address", data=HOME | {"address_city": "Reno"}), 410)
    assert statuses(owner_connection) == ["pending"]


async def test_a_page_can_be_skipped_and_filled_in_later(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient, owner_connection: psycopg.Connection
) -> None:
    url = await link(account, rosa)
    path = httpx.URL(url).path
    first = (await client.get(url)).text
    assert f'href="{path}/address">Not now' in first
    assert f'href="{path}/certificates">Not now' in (await client.get(f"{url}/address")).text
    assert f'href="{path}/done">Not now' in (await client.get(f"{url}/certificates")).text
    done = (await client.get(f"{url}/done")).text
    assert "Your number is still missing, Rosa" in done
    assert "by this same link until" in done
    assert went_on(await client.post(f"{url}/certificates", data=SIGNED), url, "done")
    assert went_on(await client.post(url, data=SSN), url, "address")
    assert went_on(
        await client.get(url), url, "address"
    )  # opened again, it goes on where something is missing
    assert went_on(await client.post(f"{url}/address", data=HOME), url, "done")
    assert statuses(owner_connection) == ["completed"]
    assert "Everything is in" in (await client.get(f"{url}/done")).text


async def test_a_link_asks_only_for_certificates_it_has_not_got(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient, owner_connection: psycopg.Connection
) -> None:
    url = await link(account, rosa)
    federal = {name: value for name, value in SIGNED.items() if name.startswith("us_")}
    unsigned = await client.post(f"{url}/certificates", data={"us_signed_name": ""})
    assert unsigned.status_code == 400
    assert 'id="us_signed_name-problem"' in unsigned.text
    assert went_on(await client.post(f"{url}/certificates", data=federal), url, "done")
    page = (await client.get(f"{url}/certificates")).text
    assert "California: DE 4" in page
    assert "Federal Form W-4" not in page
    again = await client.post(f"{url}/certificates", data=federal | {"us_filing_status": "single"})
    assert again.status_code == 400
    rows = owner_connection.execute("SELECT jurisdiction FROM signed_certificates").fetchall()
    assert rows == [("US",)]


async def test_what_was_entered_is_shown_masked_and_not_for_long(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient, clock: FixedClock
) -> None:
    url = await link(account, rosa)
    await fill_in(client, url)
    page = (await client.get(f"{url}/done")).text
    assert "Social Security number ending in 8145" in page
    assert "18 Valencia St" in page
    clock.advance(timedelta(minutes=30))
    page = (await client.get(f"{url}/done")).text
    assert "Everything is in" in page
    assert "8145" not in page
    assert "Valencia" not in page


async def test_a_link_for_a_bank_account_has_no_other_pages(
    account: Account, rosa: dict[str, Any], banked: dict[str, Any], client: httpx.AsyncClient
) -> None:
    url = await link(account, rosa, type="bank_account")
    for part in ("address", "certificates", "done"):
        assert closed(await client.get(f"{url}/{part}"), 404)
    assert closed(await client.post(f"{url}/address", data=HOME), 404)
    assert closed(await client.post(f"{url}/certificates", data=SIGNED), 404)
    assert (await client.post(url, data=BANK)).status_code == 200


async def test_of_two_forms_at_once_one_is_taken(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient, owner_connection: psycopg.Connection
) -> None:
    url = await link(account, rosa)
    numbers = ("536-22-8145", "401-33-9876", "402-33-9876", "403-33-9876")
    answers = await asyncio.gather(*(client.post(url, data={"tax_number": typed}) for typed in numbers))
    assert sorted(answer.status_code for answer in answers) == [303, 410, 410, 410]
    taken = next(typed for typed, answer in zip(numbers, answers, strict=True) if answer.status_code == 303)
    assert kept(owner_connection, rosa) == {"ssn": taken[-4:]}
    row = owner_connection.execute("SELECT count(*) FROM audit_log WHERE action = 'vault.store'").fetchone()
    assert row == (1,)


async def test_a_link_opens_for_seven_days(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient, clock: FixedClock
) -> None:
    url = await link(account, rosa)
    clock.advance(timedelta(days=7, seconds=-1))
    assert (await client.get(url)).status_code == 200
    clock.advance(timedelta(seconds=1))
    assert closed(await client.get(url), 410)
    assert closed(await client.post(url, data=SSN), 410)


async def test_a_newer_link_closes_the_older_one(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient
) -> None:
    older, newer = await link(account, rosa), await link(account, rosa)
    assert closed(await client.get(older), 410)
    assert closed(await client.post(older, data=SSN), 410)
    assert went_on(await client.post(newer, data=SSN), newer, "address")


async def test_a_guess_learns_nothing(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient
) -> None:
    url = await link(account, rosa)
    base, token = url.rsplit("/", 1)
    other = "0" if token[-1] != "0" else "1"
    guesses = [
        "x",
        token[:-1],
        f"{token}0",
        f"{token[:-1]}{other}",
        token.swapcase(),
        "%00",
        "é" * 43,
        f"{token}%0A",
        "٣" * 43,
    ]
    pages = {(await client.get(f"{base}/{guess}")).content for guess in guesses}
    pages |= {(await client.post(f"{base}/{guess}", data=SSN)).content for guess in guesses}
    assert len(pages) == 1
    response = await client.get(f"{base}/{guesses[0]}")
    assert closed(response, 404)
    for address in (f"{base}/", base, f"{base}/{token}/x"):
        refusal(await client.get(address), 404, "not_found")


async def test_the_link_of_a_household_that_was_deleted_opens_nothing(
    account: Account, client: httpx.AsyncClient
) -> None:
    sandbox = data(await account.test.post("/employers", MARIA), 201)
    employee = data(await account.test.post("/employees", ROSA), 201)
    url = data(await invite(account.test, employee))["portal_url"]
    page = await client.get(url)
    assert "test household" in page.text
    data(await client.delete(f"/api/v1/employers/{sandbox['id']}", headers=account.test.headers()))
    assert closed(await client.get(url), 404)
    assert closed(await client.post(url, data=SSN), 404)


async def test_the_sandbox_has_a_vault_too(
    account: Account, client: httpx.AsyncClient, owner_connection: psycopg.Connection
) -> None:
    data(await account.test.post("/employers", MARIA), 201)
    employee = data(await account.test.post("/employees", ROSA), 201)
    url = data(await invite(account.test, employee))["portal_url"]
    assert went_on(await client.post(url, data=SSN), url, "address")
    assert kept(owner_connection, employee) == {"ssn": "8145"}


async def test_whoever_has_left_meanwhile_can_still_enter_a_number(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient, owner_connection: psycopg.Connection
) -> None:
    url = await link(account, rosa)
    data(await account.live.post(f"/employees/{rosa['id']}/terminate", {}))
    assert went_on(await client.post(url, data=SSN), url, "address")  # a W-2 is still to come
    assert kept(owner_connection, rosa) == {"ssn": "8145"}


async def test_it_is_on_record_who_entered_what(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient, owner_connection: psycopg.Connection
) -> None:
    url = await link(account, rosa)
    response = await client.post(url, data=SSN)
    await client.post(f"{url}/address", data=HOME)
    last = (await client.post(f"{url}/certificates", data=SIGNED)).headers["X-Request-Id"]
    row = owner_connection.execute("SELECT id FROM invitations").fetchone()
    assert row is not None
    rows = owner_connection.execute(
        "SELECT action, actor_kind, actor_id, employer_id, sandbox, subject_id, request_id, details FROM audit_log "
        "WHERE actor_kind = 'employee' ORDER BY id"
    ).fetchall()
    employee, household = UUID(rosa["id"]), UUID(rosa["employer_id"])
    request_id = response.headers["X-Request-Id"]
    who = ("employee", employee, household, False)
    assert [each[0] for each in rows] == [
        "vault.store",
        "employee.update",
        "certificate.sign",
        "certificate.sign",
        "invitation.complete",
    ]
    assert rows[0] == ("vault.store", *who, employee, request_id, {"kind": "ssn", "owner_kind": "employee"})
    assert rows[-1] == (
        *("invitation.complete", *who, row[0], last),
        {"type": "tax_info", "employee_id": rosa["id"]},
    )


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),
        ({"Origin": "http://pay.example.com"}, 303),
        ({"Origin": "null"}, 303),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://pay.example.com.evil.example"}, 403),
        ({"Origin": "https://pay.example.com"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, 303),
        ({"Sec-Fetch-Site": "none"}, 303),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://pay.example.com"}, 403),
    ],
)
async def test_a_form_of_another_site_is_refused(
    account: Account,
    rosa: dict[str, Any],
    client: httpx.AsyncClient,
    owner_connection: psycopg.Connection,
    headers: dict[str, str],
    status: int,
) -> None:
    response = await client.post(await link(account, rosa), data=SSN, headers=headers)
    assert response.status_code == status
    assert kept(owner_connection, rosa) == ({"ssn": "8145"} if status == 303 else {})


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"tax_number": "536-22-8145"}', "application/json"),
        (b"tax_number=536-22-8145", "text/plain"),
        (b"tax_number=536-22-8145", "multipart/form-data; boundary=x"),
        (b"tax_number=%ff", "application/x-www-form-urlencoded"),
        (b"tax_number=\xff", "application/x-www-form-urlencoded"),
        (urlencode({"tax_number": "5" * 60_001}).encode(), "application/x-www-form-urlencoded"),
        (b"&".join(b"a%d=1" % number for number in range(401)), "application/x-www-form-urlencoded"),
    ],
)
async def test_what_is_no_form_of_ours_is_refused(
    account: Account,
    rosa: dict[str, Any],
    client: httpx.AsyncClient,
    owner_connection: psycopg.Connection,
    body: bytes,
    kind: str,
) -> None:
    url = await link(account, rosa)
    response = await client.post(url, content=body, headers={"Content-Type": kind})
    assert response.status_code == 400
    assert "This form could not be read." in response.text
    assert statuses(owner_connection) == ["pending"]


async def test_other_methods_are_not_answered(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient
) -> None:
    url = await link(account, rosa)
    for method in ("PUT", "DELETE", "PATCH"):
        response = await client.request(method, url)
        refusal(response, 405, "method_not_allowed")
        assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "POST"}


async def test_without_keys_no_number_is_taken(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    client: httpx.AsyncClient,
    owner_connection: psycopg.Connection,
) -> None:
    url = await link(account, rosa)
    app.state.runtime = replace(app.state.runtime, ring=None)
    response = await client.post(url, data=SSN)
    assert response.status_code == 503
    assert "Nothing was saved" in response.text
    assert statuses(owner_connection) == ["pending"]


async def test_the_portal_needs_no_key_and_answers_no_other_question(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient
) -> None:
    url = await link(account, rosa)
    assert data(
        await account.live.client.patch(
            f"/api/v1/employees/{rosa['id']}", json={"birth_year": 1987}, headers=account.live.headers()
        )
    )
    page = (await client.get(url)).text
    for private in (
        "Diaz",
        "Maria",
        "maria@example.com",
        "rosa.diaz@example.com",
        "28.5",
        "1987",
        rosa["id"],
    ):
        assert private not in page
    token = url.rsplit("/", 1)[1]
    response = await client.get("/api/v1/employees", headers={"Authorization": f"Bearer {token}"})
    refusal(response, 401, "authentication_required")
