"""The pages of a link in the employee's language, and in the one that she asks for."""

from collections.abc import Mapping
from typing import Any

import httpx
import psycopg
import pytest

from hearthpay.web.numbers_form import FIELD_PROBLEMS, FormError, read_bank_account, read_tax_info
from tests.http.api import Account, data
from tests.web.test_pages import parsed
from tests.web.test_portal import BANK, HOME, link

ALIKE = {"Hearthpay", "CA: DE 4"}
WRONG_BANK = {"routing_number": "1", "account_number": "1", "account_type": ""}
WRONG_TAX = {
    "tax_number": "1",
    **HOME,
    "address_zip": "1",
    "address_line2": "536-22-8145",
    "us_filing_status": "married",
    "us_elected": "on",
    "us_signed_name": "",
    "us_signed_on": "2026-01-01",
}
SSN = {"tax_number": "536-22-8145"}


async def speak_spanish(account: Account, employee: dict[str, Any]) -> None:
    path = f"/api/v1/employees/{employee['id']}"
    headers = account.live.headers()
    data(await account.live.client.patch(path, json={"language": "es"}, headers=headers))


async def pages(
    account: Account, employee: dict[str, Any], client: httpx.AsyncClient
) -> dict[str, httpx.Response]:
    """Every page of the two links, each as it comes."""
    bank, tax = await link(account, employee, type="bank_account"), await link(account, employee)
    return {
        "bank": await client.get(bank),
        "bank problems": await client.post(bank, data=WRONG_BANK),
        "bank problem": await client.post(bank, data=BANK | {"account_number_again": "1"}),
        "bank thanks": await client.post(bank, data=BANK),
        "tax": await client.get(tax),
        "tax problems": await client.post(tax, data=WRONG_TAX),
        "no form": await client.post(tax, json={}),
        "tax thanks": await client.post(tax, data=SSN),
    }


def said(page: httpx.Response) -> set[str]:
    """The pieces of text that a page shows."""
    return {
        text for text in (piece.strip() for piece in parsed(page).itertext()) if text.strip("0123456789. ")
    }


async def test_every_page_is_in_the_employees_language(
    account: Account, rosa: dict[str, Any], banked: dict[str, Any], client: httpx.AsyncClient
) -> None:
    english = await pages(account, rosa, client)
    await speak_spanish(account, rosa)
    spanish = await pages(account, rosa, client)
    for name, page in spanish.items():
        assert page.status_code == english[name].status_code, name
        assert (parsed(english[name]).get("lang"), parsed(page).get("lang")) == ("en", "es"), name
        assert said(page) & said(english[name]) <= ALIKE, name
    assert "24 horas" in spanish["bank"].text
    assert "Guardamos su cuenta de ahorros terminada en 8901." in spanish["bank thanks"].text
    assert "Le escribimos sobre esto a usted y al hogar" in spanish["bank thanks"].text
    assert "desde el nov 21, 2026" in spanish["bank thanks"].text
    assert "Los números de cuenta no coinciden" in spanish["bank problem"].text
    assert "Número de Seguro Social" in spanish["tax"].text


async def test_she_may_ask_for_the_other_language(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient
) -> None:
    url = await link(account, rosa)
    (switch,) = (entry for entry in parsed(await client.get(url)).iter("a"))
    assert (switch.text, switch.get("lang")) == ("Español", "es")
    chosen = str(httpx.URL(url).join(switch.get("href") or ""))
    assert chosen == f"{url}?language=es"
    (back,) = (entry for entry in parsed(await client.get(chosen)).iter("a"))
    assert (back.text, back.get("lang")) == ("English", "en")
    wrong = await client.post(
        chosen, data={"tax_number": "1"}
    )  # as a form without an address of its own is sent
    assert "Un número de Seguro Social tiene nueve dígitos." in wrong.text
    for unknown in ("fr", "", "es%00", "ES"):
        assert parsed(await client.get(f"{url}?language={unknown}")).get("lang") == "en"
    assert "Guardamos su número" in (await client.post(chosen, data=SSN)).text


async def test_who_is_not_known_is_answered_in_the_browsers_language(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient
) -> None:
    url, unknown = await link(account, rosa), "http://pay.example.com/portal/x"
    closed = await client.get(unknown, headers={"Accept-Language": "es-MX,es;q=0.9"})
    assert "Este enlace no funciona" in closed.text
    assert "Accept-Language" in closed.headers["Vary"]
    assert "Este enlace no funciona" in (await client.get(f"{unknown}?language=es")).text
    foreign = {"Sec-Fetch-Site": "cross-site", "Accept-Language": "es"}
    assert "No se guardó nada." in (await client.post(url, headers=foreign)).text


async def test_whoever_has_left_is_told_that_no_account_is_needed(
    account: Account,
    rosa: dict[str, Any],
    banked: dict[str, Any],
    client: httpx.AsyncClient,
    owner_connection: psycopg.Connection,
) -> None:
    url = await link(account, rosa, type="bank_account")
    await speak_spanish(account, rosa)
    data(await account.live.post(f"/employees/{rosa['id']}/terminate", {}))
    told = await client.post(url, data=BANK)
    assert told.status_code == 400
    assert "No se guardó nada." in told.text
    assert "todavía sirve" not in told.text  # to try again is of no use
    count = "SELECT count(*) FROM bank_accounts WHERE employee_id IS NOT NULL"
    assert owner_connection.execute(count).fetchone() == (0,)


@pytest.mark.parametrize(
    "form",
    [
        {},
        WRONG_BANK,
        WRONG_TAX,
        BANK | {"account_number_again": "1"},
        BANK | {"routing_number": "121000359", "account_number": "00000"},
        {"tax_number": "078-05-1120", **HOME, "address_city": "San\nFrancisco"},
        {"tax_number": "000-22-8145", **HOME, "address_line1": "x" * 101},
        {"tax_number": "900-10-1234", **HOME, "address_state": "PR", "address_zip": ""},
        {"tax_number": "912-73-448"},
    ],
)
def test_each_problem_of_a_field_can_be_said(form: Mapping[str, str]) -> None:
    read = read_tax_info if "tax_number" in form else read_bank_account
    with pytest.raises(FormError) as refused:
        read(form)
    assert set(refused.value.problems.values()) <= set(FIELD_PROBLEMS)
