"""The pages of a link in the employee's language, and in the one that she asks for."""

from collections.abc import Mapping
from typing import Any

import httpx
import psycopg
import pytest

from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.numbers_form import (
    FIELD_PROBLEMS,
    FormError,
    read_address,
    read_bank_account,
    read_tax_number,
)
from tests.http.api import Account, data
from tests.web.test_pages import parsed
from tests.web.test_portal import BANK, HOME, SIGNED, link

ALIKE = {"Hearthpay", "California: DE 4", "18 Valencia St, San Francisco, CA 94103-1234", *STATES.values()}
WRONG_BANK = {"routing_number": "1", "account_number": "1", "account_type": ""}
WRONG_HOME = HOME | {"address_zip": "1", "address_line2": "536-22-8145"}
WRONG_FORMS = {
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
    account: Account, employee: dict[str, Any], client: httpx.AsyncClient, language: str
) -> dict[str, httpx.Response]:
    """Every page of the two links, each as it comes; an ended one knows the browser's language alone."""
    browser = {"Accept-Language": language}
    bank, tax = await link(account, employee, type="bank_account"), await link(account, employee)
    return {
        "bank": await client.get(bank),
        "bank problems": await client.post(bank, data=WRONG_BANK),
        "bank problem": await client.post(bank, data=BANK | {"account_number_again": "1"}),
        "bank thanks": await client.post(bank, data=BANK),
        "number": await client.get(tax),
        "number problems": await client.post(tax, data={"tax_number": "1"}),
        "nothing entered": await client.get(f"{tax}/done"),
        "number entered": await client.post(tax, data=SSN),
        "address": await client.get(f"{tax}/address"),
        "address problems": await client.post(f"{tax}/address", data=WRONG_HOME),
        "some entered": await client.get(f"{tax}/done"),
        "address entered": await client.post(f"{tax}/address", data=HOME),
        "forms": await client.get(f"{tax}/certificates"),
        "forms problems": await client.post(f"{tax}/certificates", data=WRONG_FORMS),
        "no form": await client.post(f"{tax}/certificates", json={}),
        "forms signed": await client.post(f"{tax}/certificates", data=SIGNED),
        "done": await client.get(f"{tax}/done"),
        "ended": await client.get(tax, headers=browser),
        "asked": await client.post(f"{tax}/new-link", headers=browser),
    }


def said(page: httpx.Response) -> set[str]:
    """The pieces of text that a page shows."""
    return {
        text for text in (piece.strip() for piece in parsed(page).itertext()) if text.strip("0123456789. ")
    }


async def test_every_page_is_in_the_employees_language(
    account: Account, rosa: dict[str, Any], banked: dict[str, Any], client: httpx.AsyncClient
) -> None:
    english = await pages(account, rosa, client, "en")
    await speak_spanish(account, rosa)
    spanish = await pages(account, rosa, client, "es")
    for name, page in spanish.items():
        assert page.status_code == english[name].status_code, name
        if page.status_code == 303:
            continue
        assert (parsed(english[name]).get("lang"), parsed(page).get("lang")) == ("en", "es"), name
        assert said(page) & said(english[name]) <= ALIKE, name
    assert "24 horas" in spanish["bank"].text
    assert "Guardamos su cuenta de ahorros terminada en 8901." in spanish["bank thanks"].text
    assert "Le escribimos sobre esto a usted y al hogar" in spanish["bank thanks"].text
    assert "Le escribimos sobre esto a usted y al hogar" in spanish["done"].text
    assert "desde el 21 nov 2026" in spanish["bank thanks"].text
    assert "Los números de cuenta no coinciden" in spanish["bank problem"].text
    assert "número de Seguro Social" in spanish["number"].text


async def test_she_may_ask_for_the_other_language(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient
) -> None:
    url = await link(account, rosa)
    (switch,) = (entry for entry in parsed(await client.get(url)).iter("a") if entry.get("hreflang"))
    assert (switch.text, switch.get("lang")) == ("Español", "es")
    chosen = str(httpx.URL(url).join(switch.get("href") or ""))
    assert chosen == f"{url}?language=es"
    (back,) = (entry for entry in parsed(await client.get(chosen)).iter("a") if entry.get("hreflang"))
    assert (back.text, back.get("lang")) == ("English", "en")
    wrong = await client.post(
        chosen, data={"tax_number": "1"}
    )  # as a form without an address of its own is sent
    assert "Un número de Seguro Social tiene nueve dígitos." in wrong.text
    for unknown in ("fr", "", "es%00", "ES"):
        assert parsed(await client.get(f"{url}?language={unknown}")).get("lang") == "en"
    sent = await client.post(chosen, data=SSN)
    assert sent.headers["Location"].endswith("/address?language=es")  # and it stays
    following = (await client.get(sent.headers["Location"])).text
    assert "/certificates?language=es" in following
    assert "terminado en 8145" in (await client.get(f"{url}/done?language=es")).text


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


async def test_the_browsers_language_comes_before_the_one_on_record(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient
) -> None:
    url = await link(account, rosa)
    spanish = {"Accept-Language": "es-MX,es;q=0.9,en;q=0.5"}
    assert parsed(await client.get(url, headers=spanish)).get("lang") == "es"
    assert parsed(await client.get(f"{url}?language=en", headers=spanish)).get("lang") == "en"
    await speak_spanish(account, rosa)
    assert parsed(await client.get(url, headers={"Accept-Language": "en-US"})).get("lang") == "en"
    assert parsed(await client.get(url)).get("lang") == "es"  # a browser that says nothing


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
        BANK | {"account_number_again": "1"},
        BANK | {"routing_number": "121000359", "account_number": "00000"},
        WRONG_HOME,
        {"address_line2": ""},
        HOME | {"address_city": "San\nFrancisco"},
        HOME | {"address_line1": "x" * 101},
        HOME | {"address_state": "PR", "address_zip": ""},
        {"tax_number": ""},
        {"tax_number": "078-05-1120"},
        {"tax_number": "000-22-8145"},
        {"tax_number": "900-10-1234"},
        {"tax_number": "912-73-448"},
    ],
)
def test_each_problem_of_a_field_can_be_said(form: Mapping[str, str]) -> None:
    def read(form: Mapping[str, str]) -> object:
        if "tax_number" in form:
            return read_tax_number(form)
        return (
            read_address(form)
            if "address_line2" in form or "address_city" in form
            else read_bank_account(form)
        )

    with pytest.raises(FormError) as refused:
        read(form)
    assert set(refused.value.problems.values()) <= set(FIELD_PROBLEMS)
