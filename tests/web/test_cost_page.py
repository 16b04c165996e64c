"""What would it cost: the page says what `POST /calculate` and `GET /threshold` answer, and takes no more than they."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any, get_args
from urllib.parse import urlencode

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.people.sessions import SignedIn
from hearthpay.taxes.vocabulary import FilingStatus
from hearthpay.web.household.employees.words import FILING_STATUSES
from hearthpay.web.presentation import dollars_text, percent_text
from tests.http.api import Account, account, client, new_account, new_key
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, _check, app, people, people_context

__all__ = ["account", "app", "client", "new_account", "new_key", "people", "people_context"]

ASKED: dict[str, dict[str, Any]] = {
    "above every threshold": {"state": "CA", "annual_wages": 35000, "pay_frequency": "weekly"},
    "a city not chosen": {"state": "NY", "annual_wages": 45000.5, "filing_status": "head_of_household"},
    "approaching": {"state": "PA", "annual_wages": 2900, "pay_frequency": "monthly"},
    "no income tax, and the most there can be": {"state": "TX", "annual_wages": 999999},
    "nothing": {"state": "TX", "annual_wages": 0},
    "an agreement, and no certificate": {"state": "PA", "annual_wages": 45000, "residence_state": "NJ"},
    "an agreement with its certificate": {
        "state": "PA",
        "annual_wages": 45000,
        "filing_status": "married",
        "residence_state": "NJ",
        "reciprocity_certificate_on_file": True,
    },
}

BAD: dict[str, tuple[dict[str, str], str]] = {
    "nothing typed": ({"annual_wages": ""}, "annual_wages"),
    "no wages at all": ({"state": "TX"}, "annual_wages"),
    "no number": ({"annual_wages": "NaN"}, "annual_wages"),
    "no number that signals": ({"annual_wages": "sNaN"}, "annual_wages"),
    "without end": ({"annual_wages": "Infinity"}, "annual_wages"),
    "too much": ({"annual_wages": "1e30"}, "annual_wages"),
    "far too much": ({"annual_wages": "1e999999999999999999"}, "annual_wages"),
    "too long": ({"annual_wages": "1" + "0" * 400}, "annual_wages"),
    "too little": ({"annual_wages": "1e-400"}, "annual_wages"),
    "negative": ({"annual_wages": "-5"}, "annual_wages"),
    "a dollar more than there can be": ({"annual_wages": "1000000"}, "annual_wages"),
    "a fraction of a cent": ({"annual_wages": "100.001"}, "annual_wages"),
    "a NUL": ({"annual_wages": "35\x00000"}, "annual_wages"),
    "a page": ({"annual_wages": "\"'><script>alert(1)</script>"}, "annual_wages"),
    "no state": ({"annual_wages": "100", "state": ""}, "state"),
    "a foreign state": ({"annual_wages": "100", "state": "QC"}, "state"),
    "a state of NULs": ({"annual_wages": "100", "state": "\x00\x00"}, "state"),
    "no frequency": ({"annual_wages": "100", "pay_frequency": "daily\x00"}, "pay_frequency"),
    "no status": ({"annual_wages": "100", "filing_status": "divorced"}, "filing_status"),
    "a foreign home": ({"annual_wages": "100", "residence_state": "ZZ"}, "residence_state"),
    "no agreement": (
        {
            "annual_wages": "100",
            "residence_state": "TX",
            "reciprocity_certificate_on_file": "on",
        },
        "reciprocity_certificate_on_file",
    ),
}


@pytest.fixture
async def world(app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection) -> World:
    return await World.make(app.state.people_context, owner_connection, people["owner"])


@pytest.fixture
async def viewer(app: FastAPI, world: World, clock: FixedClock) -> Browser:
    return await _browser(app, "viewer", clock)


@pytest.fixture
def here(world: World) -> Callable[..., str]:
    return lambda **query: f"/app/{world.household_id}/taxes/cost?{urlencode(query)}"


def _words(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def _rows(page: httpx.Response) -> list[list[list[str]]]:
    """The rows of each table: what stands in their cells."""
    return [
        [[_words(cell) for cell in row if cell.tag in ("th", "td")] for row in table.iter("tr")]
        for table in parsed(page).iter("table")
    ]


def _typed(asked: dict[str, Any]) -> dict[str, str]:
    """What a browser sends of the form in which this was entered."""
    usual = {"pay_frequency": "biweekly", "filing_status": "single", "residence_state": ""}
    return {name: "on" if value is True else str(value) for name, value in (usual | asked).items()}


async def _answer(account: Account, asked: dict[str, Any]) -> Any:
    response = await account.live.post("/calculate", asked)
    assert response.status_code == 200, response.text
    return json.loads(response.text, parse_float=Decimal)["data"]


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("language", ["en", "es"])
async def test_the_page_says_what_the_api_answers(
    viewer: Browser,
    here: Callable[..., str],
    account: Account,
    owner_connection: psycopg.Connection,
    asked: dict[str, Any],
    language: str,
) -> None:
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    answer = await _answer(account, asked)
    page = await viewer.look(here(**_typed(asked)))
    assert page.status_code == 200, page.text
    _check(page)
    paycheck, employee, employer = (
        answer[part] for part in ("per_paycheck", "employee_taxes_estimate", "employer_taxes")
    )
    lines = [
        (line_name(each["code"], each["name"], language), each["per_paycheck_amount"], each["annual_amount"])
        for payer in ("employee", "employer")
        for each in answer["lines"]
        if each["payer"] == payer
    ]
    of_employee = sum(each["payer"] == "employee" for each in answer["lines"])
    gross = Decimal(str(asked["annual_wages"]))
    sums = [
        (paycheck["gross_pay"], gross),
        (paycheck["employee_taxes"], employee["total"]),
        (paycheck["net_pay"], gross - employee["total"]),
        (paycheck["employer_taxes"], employer["total"]),
        (paycheck["total_cost"], gross + employer["total"]),
    ]
    amounts = [
        sums[0],
        *(line[1:] for line in lines[:of_employee]),
        *sums[1:3],
        *(line[1:] for line in lines[of_employee:]),
        *sums[3:],
    ]
    shown = [row for row in _rows(page)[0][1:] if len(row) == 3]
    assert [row[1:] for row in shown] == [[dollars_text(each) for each in pair] for pair in amounts]
    names = [row[0] for row in [*shown[1 : of_employee + 1], *shown[of_employee + 3 : -2]]]
    by_payer = sorted(answer["lines"], key=lambda each: each["payer"] == "employer")
    for name, (said, *_), line in zip(names, lines, by_payer, strict=True):
        assert name.startswith(said), (name, said)
        if line["rate"] is not None:
            assert percent_text(line["rate"]) in name
        if line["wage_base"] is not None:
            assert dollars_text(line["wage_base"]) in name
    if language == "en":
        text = _words(parsed(page).find(".//main"))
        for sentence in (employee["note"], *answer["limitations"]):
            assert sentence in text
        assert f"{employer['effective_rate']}".rstrip("0").rstrip(".") + "% of wages" in text
        assert answer["rulebook"]["version"] in text
        if "reciprocity" in answer:
            assert answer["reciprocity"]["certificate"] in text
            assert ("is on file: no income tax" in text) == answer["reciprocity"]["applied"]


@pytest.mark.parametrize(("wages", "state"), [(100, "CA"), (2500, "CA"), (2900, "NY"), (35000, "PA")])
@pytest.mark.parametrize("year", [None, 2024, 2027])
async def test_the_wages_stand_against_the_thresholds_as_the_api_says(
    viewer: Browser, here: Callable[..., str], account: Account, wages: int, state: str, year: int | None
) -> None:
    asked = {"state": state, "annual_wages": str(wages)} | ({} if year is None else {"tax_year": str(year)})
    response = await account.live.get("/threshold", **asked)
    data = json.loads(response.text, parse_float=Decimal)["data"]
    unemployment = (await _answer(account, {"state": state, "annual_wages": wages}))["threshold"]
    named = {} if year is None else {"year": str(year)}
    page = await viewer.look(here(state=state, annual_wages=str(wages), **named))
    words = {"below": "Not reached", "approaching": "Close to the threshold", "above": "Reached"}
    card = parsed(page).find(".//section[@id='thresholds']")
    listed = [each for each in card.iter("li") if each.find("div/p") is not None]
    shown = [[_words(each.findall("div/p")[1]), "".join(map(_words, each.iter("span")))] for each in listed]
    assert shown == [
        [
            f"from {dollars_text(data['federal']['fica_threshold'])} a year on",
            words[data["federal"]["status"]],
        ],
        [f"from {dollars_text(data['futa']['quarterly_threshold'])} a quarter on", ""],
        [
            f"from {dollars_text(data['state_threshold']['threshold_quarterly'])} a quarter on",
            words[data["state_threshold"]["status"]],
        ],
        [
            f"from {dollars_text(unemployment['state_suta_threshold'])} a quarter on",
            words[unemployment["state_suta_status"]],
        ],
    ]
    text = _words(parsed(page).find(".//main"))
    assert f"Thresholds of {data['tax_year']}" in text
    for sentence in (
        data["state_threshold"]["explanation"],
        data["federal"]["explanation"],
        data["futa"]["note"],
        *data["limitations"],
    ):
        assert sentence in text.replace("$", "")


async def test_before_anything_is_entered(viewer: Browser, here: Callable[..., str]) -> None:
    page = await viewer.look(here())
    assert page.status_code == 200
    tree = parsed(page)
    chosen = [_words(each) for each in tree.iter("option") if each.get("selected") is not None]
    assert chosen == ["California", "Every two weeks", "Single, or married filing separately"]
    assert not list(tree.iter("table"))
    assert tree.find(".//main//form").get("method") == "get"
    assert FILING_STATUSES.keys() == set(get_args(FilingStatus))


async def test_amounts_are_taken_as_people_write_them(viewer: Browser, here: Callable[..., str]) -> None:
    written = [await viewer.look(here(annual_wages=each)) for each in ("35000", " $35,000.00 ")]
    assert [_rows(page) for page in written] == [_rows(written[0])] * 2
    assert written[0].status_code == 200
    elsewhere = await viewer.look(here(annual_wages="35000", year="1066\x00", campaign="x"))
    assert "Thresholds of 2026" in elsewhere.text, "a year that nobody can look at is the present one"


@pytest.mark.parametrize(("typed", "field"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("language", ["en", "es"])
async def test_what_is_wrong_stands_beside_its_field(
    viewer: Browser,
    here: Callable[..., str],
    owner_connection: psycopg.Connection,
    typed: dict[str, str],
    field: str,
    language: str,
) -> None:
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    page = await viewer.look(here(**typed))
    assert page.status_code == 400, page.text
    _check(page)
    tree = parsed(page)
    assert [each.get("id") for each in tree.iter("p") if each.get("class") == "problem"] == [
        f"{field}-problem"
    ]
    assert not list(tree.iter("table"))
    assert "\x00" not in page.text
    assert "<script" not in page.text
    if language == "es":
        problem = _words(tree.find(f".//*[@id='{field}-problem']"))
        assert problem.split()[0] in ("Es", "Debe", "Elija", "Estos", "Llene", "Ingrese", "Use"), problem


@pytest.mark.usefixtures("people")
async def test_a_year_without_law_is_said(app: FastAPI, here: Callable[..., str], clock: FixedClock) -> None:
    clock.advance(timedelta(days=5 * 365))
    page = await (await _browser(app, "viewer", clock)).look(here(annual_wages="35000"))
    assert page.status_code == 400
    assert "The law of this year is not here yet." in page.text


async def test_ways_lead_there(viewer: Browser, world: World) -> None:
    root = f"/app/{world.household_id}"
    for path in ("", "/taxes", "/more"):
        assert f'href="{root}/taxes/cost"' in (await viewer.look(root + path)).text, path
