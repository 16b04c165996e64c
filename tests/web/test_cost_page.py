"""What would it cost: the page says what `POST /calculate` and `GET /threshold` answer, and takes no more than they."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import copy
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal
from http.cookiejar import Cookie
from typing import Any, NamedTuple, get_args
from urllib.parse import urlencode
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.security.key_ring import KeyRing
from hearthpay.taxes.vocabulary import FilingStatus
from hearthpay.web.household.employees.words import FILING_STATUSES
from hearthpay.web.presentation import dollars_text, percent_text
from tests.http.api import Account, Caller, NewAccount, client, new_account, new_key
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, _check, _made_people, app
from tests.worlds.snapshots import MadeOnce

__all__ = ["app", "client", "new_account", "new_key"]

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
    "no pay typed": ({"annual_wages": "", "weekly_hours": "20"}, "hourly_rate"),
    "no pay at all": ({"state": "TX", "weekly_hours": "20"}, "hourly_rate"),
    "no hours": ({"hourly_rate": "20"}, "weekly_hours"),
    "no hourly pay": ({"hourly_rate": "0", "weekly_hours": "20"}, "hourly_rate"),
    "an hourly pay that is no number": ({"hourly_rate": "NaN", "weekly_hours": "20"}, "hourly_rate"),
    "an hourly pay far too high": ({"hourly_rate": "1e19", "weekly_hours": "20"}, "hourly_rate"),
    "an hourly pay in fractions of a cent": ({"hourly_rate": "20.001", "weekly_hours": "20"}, "hourly_rate"),
    "more hours than a week has": ({"hourly_rate": "20", "weekly_hours": "168.5"}, "weekly_hours"),
    "no hours worked": ({"hourly_rate": "20", "weekly_hours": "0"}, "weekly_hours"),
    "hours that are no number": ({"hourly_rate": "20", "weekly_hours": "many\x00"}, "weekly_hours"),
    "more than a year's wages can be": ({"hourly_rate": "200", "weekly_hours": "100"}, "hourly_rate"),
    "no number": ({"annual_wages": "NaN"}, "annual_wages"),
    "no number that signals": ({"annual_wages": "sNaN"}, "annual_wages"),
    "without end": ({"annual_wages": "Infinity"}, "annual_wages"),
    "an exponent": ({"annual_wages": "1e4"}, "annual_wages"),
    "a line below": ({"annual_wages": "35_000"}, "annual_wages"),
    "digits of another script": ({"annual_wages": "٣٥٠٠٠"}, "annual_wages"),
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


class Made(NamedTuple):
    """What each test begins with, made once: a household, a viewer who has signed in, and an account of the API."""

    household_id: UUID
    viewer: tuple[Cookie, ...]
    organization_id: UUID
    keys: tuple[tuple[str, UUID], tuple[str, UUID]]


@pytest.fixture
async def made(
    app: FastAPI,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
    new_account: NewAccount,
    made_once: MadeOnce,
) -> Made:
    async def make() -> Made:
        people = await _made_people(app.state.people_context, owner_connection, ring)
        world = await World.make(app.state.people_context, owner_connection, people["owner"])
        browser = await _browser(app, "viewer", clock)
        found = await new_account("Lopez family")
        keys = (found.live.key, found.live.key_id), (found.test.key, found.test.key_id)
        return Made(world.household_id, tuple(browser.client.cookies.jar), found.organization_id, keys)

    return await made_once.get("household and account of the cost page", make)


@pytest.fixture
def account(made: Made, client: httpx.AsyncClient) -> Account:
    live, test = (Caller(client, *each) for each in made.keys)
    return Account(made.organization_id, live, test)


@pytest.fixture
def viewer(app: FastAPI, made: Made) -> Browser:
    found = Browser.of(app)
    for cookie in made.viewer:
        found.client.cookies.jar.set_cookie(copy(cookie))
    return found


@pytest.fixture
def here(made: Made) -> Callable[..., str]:
    return lambda **query: f"/app/{made.household_id}/taxes/cost?{urlencode(query)}"


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
    assert [each.get("open") for each in tree.iter("details")] == [None]
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


@pytest.mark.parametrize("language", ["en", "es"])
async def test_what_is_wrong_stands_beside_its_field(
    viewer: Browser, here: Callable[..., str], owner_connection: psycopg.Connection, language: str
) -> None:
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    for case, (typed, field) in BAD.items():
        page = await viewer.look(here(**typed))
        assert page.status_code == 400, (case, page.text)
        _check(page)
        tree = parsed(page)
        problems = [each.get("id") for each in tree.iter("p") if each.get("class") == "problem"]
        assert problems == [f"{field}-problem"], case
        assert not list(tree.iter("table")), case
        assert "\x00" not in page.text, case
        assert "<script>" not in page.text, case
        if language == "es":
            problem = _words(tree.find(f".//*[@id='{field}-problem']"))
            assert problem.split()[0] in ("Es", "Debe", "Elija", "Estos", "Llene", "Ingrese", "Use"), (
                case,
                problem,
            )


async def test_a_year_without_law_is_said(app: FastAPI, here: Callable[..., str], clock: FixedClock) -> None:
    clock.advance(timedelta(days=5 * 365))
    page = await (await _browser(app, "viewer", clock)).look(here(annual_wages="35000"))
    assert page.status_code == 400
    assert "The law of this year is not here yet." in page.text


async def test_ways_lead_there(viewer: Browser, made: Made) -> None:
    root = f"/app/{made.household_id}"
    for path in ("", "/taxes", "/more"):
        assert f'href="{root}/taxes/cost"' in (await viewer.look(root + path)).text, path


async def test_hours_of_a_week_are_counted_for_a_year(viewer: Browser, here: Callable[..., str]) -> None:
    by_hour = await viewer.look(here(hourly_rate="$28.50", weekly_hours="37.5"))
    by_year = await viewer.look(here(annual_wages="55575"))
    assert by_hour.status_code == 200
    assert _rows(by_hour) == _rows(by_year)
    assert _pots(by_hour) == _pots(by_year)


def _pots(page: httpx.Response) -> list[tuple[str, Decimal, Decimal]]:
    """Each pot: its kind, and its amounts of a year and of a month."""
    (pots,) = (each for each in parsed(page).iter("dl") if each.get("class") == "pots")
    amounts = [(each.get("class"), re.findall(r"\$([\d,]+\.\d\d)", _words(each))) for each in pots]
    return [
        (kind, *(Decimal(amount.replace(",", "")) for amount in found))  # type: ignore[misc]
        for kind, found in amounts
    ]


@pytest.mark.parametrize("language", ["en", "es"])
async def test_the_answer_is_three_pots(
    viewer: Browser,
    here: Callable[..., str],
    account: Account,
    owner_connection: psycopg.Connection,
    language: str,
) -> None:
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    answer = await _answer(account, {"state": "CA", "annual_wages": 31200})
    page = await viewer.look(here(hourly_rate="30", weekly_hours="20"))
    pots = _pots(page)
    assert [kind for kind, *_ in pots] == ["p1", "p2", "p3", "total"]
    held, own = answer["employee_taxes_estimate"]["total"], answer["employer_taxes"]["total"]
    assert [year for _, year, _ in pots] == [31200 - held, held, own, 31200 + own]
    assert [month for *_, month in pots[:3]] == [
        (year / 12).quantize(Decimal("0.01"), ROUND_HALF_UP) for _, year, _ in pots[:3]
    ]
    assert pots[3][2] == sum(month for *_, month in pots[:3])
    assert dollars_text(pots[3][2]) in _words(parsed(page).find(".//h1"))
