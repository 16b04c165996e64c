"""The pages as HTML: well formed, readable by a screen reader, without scripts, and safe to have a secret address."""

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from hearthpay.web.assets import address_of
from tests.http.api import MARIA, Account, data
from tests.web.html import parsed_text
from tests.web.test_portal import BANK, fill_in
from tests.worlds.inviting import invite

EVIL = "<script>alert('x')</script>\"&"


@pytest.fixture(scope="module")
def kept_pages() -> dict[str, httpx.Response]:
    """The pages that the first test asked for."""
    return {}


@pytest.fixture
async def pages(
    account: Account,
    rosa: dict[str, Any],
    banked: dict[str, Any],
    client: httpx.AsyncClient,
    kept_pages: dict[str, httpx.Response],
) -> dict[str, httpx.Response]:
    """Every page of the portal, by name."""
    if not kept_pages:
        kept_pages |= await _pages(account, rosa, client)
    return kept_pages


async def _pages(
    account: Account, rosa: dict[str, Any], client: httpx.AsyncClient
) -> dict[str, httpx.Response]:
    async def link(kind: str) -> str:
        url: str = data(await invite(account.live, rosa, type=kind, send_email=False))["portal_url"]
        return url

    tax, bank = await link("tax_info"), await link("bank_account")
    return {
        "tax form": await client.get(tax),
        "tax problem": await client.post(tax, data={"tax_number": "1"}),
        "address form": await client.get(f"{tax}/address"),
        "address problem": await client.post(
            f"{tax}/address", data={"address_zip": "1", "address_line2": "4"}
        ),
        "certificates": await client.get(f"{tax}/certificates"),
        "certificates problem": await client.post(f"{tax}/certificates", data={"us_signed_name": ""}),
        "nothing done": await client.get(f"{tax}/done"),
        "foreign": await client.post(tax, headers={"Sec-Fetch-Site": "cross-site"}),
        "bank form": await client.get(bank),
        "bank problems": await client.post(bank, data={"account_type": ""}),
        "thanks": await client.post(bank, data=BANK),
        "done": await _done(client, tax),
        "used": await client.get(tax),
        "asked": await client.post(f"{tax}/new-link"),
        "unknown": await client.get(f"{tax}x"),
    }


async def _done(client: httpx.AsyncClient, tax: str) -> httpx.Response:
    await fill_in(client, tax)
    return await client.get(f"{tax}/done")


def parsed(page: httpx.Response) -> ElementTree.Element:
    """The page as a strict parser reads it: any mistake in the HTML raises."""
    return parsed_text(page.text)


def inputs(tree: ElementTree.Element) -> Iterator[ElementTree.Element]:
    return (entry for entry in tree.iter("input"))


async def test_every_page_is_well_formed_and_accessible(pages: dict[str, httpx.Response]) -> None:
    for name, page in pages.items():
        tree = parsed(page)
        assert tree.get("lang") == "en", name
        assert len(list(tree.iter("h1"))) == 1, name
        assert len(list(tree.iter("main"))) == 1, name
        title = tree.find("head/title")
        assert title is not None
        assert title.text, name
        ids = [entry.get("id") for entry in tree.iter() if entry.get("id")]
        assert len(ids) == len(set(ids)), name
        labels = {label.get("for") for label in tree.iter("label")}
        for entry in inputs(tree):
            assert entry.get("id") in labels, name
        for entry in tree.iter():
            for described in (entry.get("aria-describedby") or "").split():
                assert described in ids, name


async def test_a_problem_is_tied_to_its_field(pages: dict[str, httpx.Response]) -> None:
    tree = parsed(pages["bank problems"])
    wrong = [entry for entry in inputs(tree) if entry.get("type") == "text"]
    summary = [entry.get("href") for entry in tree.iter("a") if (entry.get("href") or "").startswith("#")]
    assert summary == ["#main", "#routing_number", "#account_number", "#account_number_again", "#checking"]
    assert len(wrong) == 3
    for entry in wrong:
        assert entry.get("aria-invalid") == "true"
        assert f"{entry.get('id')}-problem" in (entry.get("aria-describedby") or "")
    (choice,) = tree.iter("fieldset")
    assert choice.get("aria-describedby") == "account_type-problem"
    assert any(entry.get("role") == "alert" for entry in tree.iter())
    good = parsed(pages["bank form"])
    assert not any(entry.get("aria-invalid") or entry.get("role") == "alert" for entry in good.iter())


async def test_no_page_runs_or_loads_anything_foreign(pages: dict[str, httpx.Response]) -> None:
    for name, page in pages.items():
        tree = parsed(page)
        for entry in tree.iter():
            assert entry.tag not in ("script", "iframe", "img", "object", "embed", "style"), name
            assert not [attribute for attribute in entry.attrib if attribute.startswith("on")], name
            assert entry.get("style") is None, name
            # A form goes to the address it came from, or asks for a new link.
            assert (entry.get("action") or "/new-link").endswith("/new-link"), name
            for attribute in ("src", "href", "action"):
                if entry.tag == "link" and entry.get("rel") == "icon":
                    assert (entry.get(attribute) or "/").startswith(("/", "data:image/svg+xml,")), name
                else:
                    assert (entry.get(attribute) or "/").startswith(("/", "?language=", "#")), name
        headers = page.headers
        assert headers["Content-Type"] == "text/html; charset=utf-8"
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Content-Security-Policy"] == (
            "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
            "manifest-src 'self'; img-src 'self' data:"
        ), name


async def test_the_statuses_say_what_happened(pages: dict[str, httpx.Response]) -> None:
    assert {name: page.status_code for name, page in pages.items()} == {
        "tax form": 200,
        "tax problem": 400,
        "foreign": 403,
        "address form": 200,
        "address problem": 400,
        "certificates": 200,
        "certificates problem": 400,
        "nothing done": 200,
        "bank form": 200,
        "bank problems": 400,
        "thanks": 200,
        "done": 200,
        "used": 410,
        "asked": 200,
        "unknown": 404,
    }


async def test_no_browser_keeps_a_number_and_each_fills_in_an_address(
    pages: dict[str, httpx.Response],
) -> None:
    for name in ("tax form", "tax problem", "bank form", "bank problems"):
        for entry in inputs(parsed(pages[name])):
            if entry.get("type") == "text":
                assert entry.get("autocomplete") == "off"
                assert entry.get("value") is None
    (form,) = parsed(pages["address form"]).iter("form")
    tokens = {
        each.get("name"): each.get("autocomplete") for each in form.iter() if each.tag in ("input", "select")
    }
    assert tokens == {
        "address_line1": "address-line1",
        "address_line2": "address-line2",
        "address_city": "address-level2",
        "address_state": "address-level1",
        "address_zip": "postal-code",
    }
    states = [each.text for each in form.iter("option")]
    assert {"California", "New York", "District of Columbia"} <= set(states)
    signatures = [
        each.get("autocomplete")
        for each in inputs(parsed(pages["certificates"]))
        if (each.get("name") or "").endswith("signed_name")
    ]
    assert signatures == ["name", "name"]


async def test_the_pages_look_like_the_app(pages: dict[str, httpx.Response]) -> None:
    for name, page in pages.items():
        tree = parsed(page)
        sheets = [each.get("href") for each in tree.iter("link") if each.get("rel") == "stylesheet"]
        assert sheets == [address_of("app.css")], name
        body = tree.find("body")
        assert body is not None
        assert body.get("class") == "shell flow", name


async def test_names_are_escaped(account: Account, client: httpx.AsyncClient) -> None:
    data(await account.live.post("/employers", {**MARIA, "last_name": EVIL}), 201)
    body = {"first_name": EVIL, "last_name": "Diaz", "pay_rate": 20, "start_date": "2026-01-05"}
    employee = data(await account.live.post("/employees", body), 201)
    url = data(await invite(account.live, employee))["portal_url"]
    for page in (await client.get(url), await _done(client, url)):
        tree = parsed(page)
        assert "script" not in {entry.tag for entry in tree.iter()}
        assert EVIL in "".join(tree.itertext())


async def test_the_style_sheet_is_served(pages: dict[str, httpx.Response], client: httpx.AsyncClient) -> None:
    (sheet,) = [entry for entry in parsed(pages["thanks"]).iter("link") if entry.get("rel") == "stylesheet"]
    response = await client.get(sheet.get("href") or "")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/css; charset=utf-8"
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "url(" not in response.text
    assert "@import" not in response.text
