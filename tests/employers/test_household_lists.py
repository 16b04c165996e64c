"""Lists of households by search, by name and by next payday, page by page, and only as much as the key may know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from hearthpay.employers import list_queries, sorted_lists
from tests.http.api import MARIA, ROSA, Account, Caller, NewAccount, NewKey, data, fields, refusal
from tests.worlds.snapshots import MadeOnce, Snapshots, snapshots

__all__ = ["snapshots"]

FAMILIES = (
    ("Ana", "Ng", "NY", ("2026-12-11", "2026-12-04")),
    ("Íñigo", "Álvarez", "CA", ()),
    ("Luz", "De la Cruz", "TX", ()),
    ("Bo", "Zhou", "CA", ("2026-11-27",)),
    ("Al", "O'Hara-Núñez", "CA", ("2026-11-27",)),
)
BY_NAME = ["Álvarez", "De la Cruz", "Ng", "O'Hara-Núñez", "Zhou"]
BY_PAYDAY = ["Zhou", "O'Hara-Núñez", "Ng", "Álvarez", "De la Cruz"]
NEWEST_FIRST = ["O'Hara-Núñez", "Zhou", "De la Cruz", "Álvarez", "Ng"]
LISTS = ("/employers", "/households")


@pytest.fixture(scope="module")
def made_once(snapshots: Snapshots) -> MadeOnce:
    return MadeOnce(snapshots)


@pytest.fixture
async def account(client: httpx.AsyncClient, new_account: NewAccount, made_once: MadeOnce) -> Account:
    """The same in all tests, its callers those of the test."""
    made = await made_once.get("account", lambda: new_account("Lopez family"))
    live, test = (replace(caller, client=client) for caller in (made.live, made.test))
    return replace(made, live=live, test=test)


@pytest.fixture
async def families(
    account: Account, owner_connection: psycopg.Connection, made_once: MadeOnce
) -> dict[str, str]:
    """Households by last name, some with paydays planned, each with somebody named Diaz."""
    return await made_once.get("families", lambda: _made_families(account, owner_connection))


async def _made_families(account: Account, owner_connection: psycopg.Connection) -> dict[str, str]:
    found = {}
    for first_name, last_name, state, paydays in FAMILIES:
        new = MARIA | {"first_name": first_name, "last_name": last_name, "state": state}
        household = data(await account.live.post("/employers", new), 201)["id"]
        employee = data(await account.live.post("/employees", ROSA | {"employer_id": household}), 201)["id"]
        for payday in paydays:
            await _schedule(account.live, household, employee, payday, owner_connection)
        found[last_name] = household
    return found


async def _schedule(
    caller: Caller, household: str, employee: str, payday: str, owner_connection: psycopg.Connection
) -> None:
    """Make a payroll of that day, as if it were to be sent then."""
    entry = {"employee_id": employee, "regular_hours": 8, "payment_method": "check"}
    end = f"{payday[:8]}{int(payday[8:]) - 1:02}"
    order = {
        "employer_id": household,
        "pay_period_start": end,
        "pay_period_end": end,
        "pay_date": payday,
        "pay_frequency": "weekly",
        "employees": [entry],
    }
    payroll = data(await caller.post("/payroll/run", order))["payroll_id"]
    owner_connection.execute(
        "UPDATE payrolls SET status = 'scheduled', scheduled_send_at = pay_date WHERE id = %s", (payroll,)
    )


def _ids(response: httpx.Response) -> list[str]:
    return [item.get("id") or item["employer_id"] for item in data(response)]


async def _names(caller: Caller, families: dict[str, str], path: str, **query: Any) -> list[str]:
    names = {household: name for name, household in families.items()}
    return [names[each] for each in _ids(await caller.get(path, **query))]


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, NEWEST_FIRST),
        ({"sort": "name"}, BY_NAME),
        ({"sort": "payday"}, BY_PAYDAY),
        ({"search": "diaz"}, NEWEST_FIRST),
        ({"search": "ROSA diaz ca"}, ["O'Hara-Núñez", "Zhou", "Álvarez"]),
        ({"search": "alv"}, ["Álvarez"]),
        ({"search": "ohara-nunez"}, ["O'Hara-Núñez"]),
        ({"search": "uz"}, []),
        ({"search": "ca", "sort": "name"}, ["Álvarez", "O'Hara-Núñez", "Zhou"]),
        ({"search": "rosa", "sort": "payday"}, ["O'Hara-Núñez", "Zhou", "Ng", "Álvarez", "De la Cruz"]),
    ],
)
async def test_households_are_found_and_sorted_alike_on_both_lists(
    account: Account, families: dict[str, str], path: str, query: dict[str, str], expected: list[str]
) -> None:
    assert await _names(account.live, families, path, **query) == expected


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("search", [{}, {"search": "diaz"}])
@pytest.mark.parametrize("sort", [{}, {"sort": "name"}, {"sort": "payday"}])
async def test_pages_hold_every_household_once(
    account: Account, families: dict[str, str], sort: dict[str, str], search: dict[str, str], limit: int
) -> None:
    asked: dict[str, Any] = sort | search
    whole = _ids(await account.live.get("/employers", **asked))
    seen: list[str] = []
    while True:
        response = await account.live.get("/employers", limit=limit, **asked)
        seen += _ids(response)
        cursor = response.json()["meta"]["next_cursor"]
        if cursor is None:
            break
        assert len(_ids(response)) == limit
        asked["cursor"] = cursor
    assert seen == whole
    assert set(whole) == set(families.values())


async def test_a_page_without_paydays_may_end_before_the_list_does(
    account: Account, families: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted_lists, "MOST_LOOKED_AT", 2)
    asked: dict[str, Any] = {"sort": "payday", "limit": 1}
    sizes, names = [], []
    while True:
        response = await account.live.get("/employers", **asked)
        sizes.append(len(data(response)))
        names += [item["last_name"] for item in data(response)]
        cursor = response.json()["meta"]["next_cursor"]
        if cursor is None:
            break
        asked["cursor"] = cursor
    assert names == BY_PAYDAY
    assert sizes == [1, 1, 1, 1, 1, 0, 0]


async def test_a_search_of_too_many_is_refused_where_another_word_narrows_it(
    account: Account, families: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_queries, "MOST_FOUND", 3)
    for sort in ({}, {"sort": "name"}, {"sort": "payday"}):
        error = refusal(await account.live.get("/employers", search="diaz", **sort), 400, "validation_error")
        assert fields(error) == ["search"]
    assert await _names(account.live, families, "/employers", search="diaz ca", sort="name") == [
        "Álvarez",
        "O'Hara-Núñez",
        "Zhou",
    ]


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"sort": ""}, "sort"),
        ({"sort": "state"}, "sort"),
        ({"search": ""}, "search"),
        ({"search": " "}, "search"),
        ({"search": "."}, "search"),
        ({"search": "%"}, "search"),
        ({"search": "a b c d e f"}, "search"),
        ({"search": "a" * 101}, "search"),
        ({"search": "a\x00"}, "search"),
        ({"limit": 0}, "limit"),
        ({"cursor": "n.AAAA", "sort": "name"}, "cursor"),
        ({"cursor": "p.20261127.AAAAAAAAAAAAAAAAAAAAAA", "sort": "payday"}, "cursor"),
        ({"cursor": "p.-.AAAAAAAAAAAAAAAAAAAAAA", "sort": "payday"}, "cursor"),
        ({"cursor": "p.never.AAAAAAAAAAAAAAAAAAAAAA", "sort": "payday"}, "cursor"),
        ({"cursor": "n.AAAAAAAAAAAAAAAAAAAAAA", "sort": "name"}, "cursor"),  # of a household that is gone
        ({"show": "week"}, "show"),
    ],
)
async def test_a_bad_value_is_refused_by_name(
    account: Account, household: dict[str, Any], path: str, query: dict[str, Any], field: str
) -> None:
    assert fields(refusal(await account.live.get(path, **query), 400, "validation_error")) == [field]


@pytest.mark.parametrize("path", LISTS)
async def test_a_cursor_of_one_sort_is_refused_for_another(
    account: Account, families: dict[str, str], path: str
) -> None:
    asked: tuple[dict[str, Any], ...] = (
        {},
        {"sort": "name"},
        {"sort": "payday"},
        {"sort": "payday", "search": "diaz"},
    )
    cursors = [
        (await account.live.get(path, limit=1, **each)).json()["meta"]["next_cursor"] for each in asked
    ]
    for begun, cursor in enumerate(cursors):
        for continued, query in enumerate(asked):
            response = await account.live.get(path, cursor=cursor, **query)
            if begun == continued:
                assert len(data(response)) == len(FAMILIES) - 1
            else:
                assert fields(refusal(response, 400, "validation_error")) == ["cursor"]


async def test_a_search_needs_employees_and_paydays_need_payrolls(
    account: Account, families: dict[str, str], new_key: NewKey
) -> None:
    names_alone = await new_key("Lopez family", scopes=("multi_employer",))
    assert await _names(names_alone, families, "/employers", sort="name") == BY_NAME
    for query in ({"search": "diaz"}, {"sort": "payday"}):
        refusal(await names_alone.get("/employers", **query), 403, "scope_required")
    without_payrolls = await new_key("Lopez family", scopes=("multi_employer", "employees"))
    for path in LISTS:
        assert await _names(without_payrolls, families, path, search="alvarez") == ["Álvarez"]
        refusal(await without_payrolls.get(path, sort="payday"), 403, "scope_required")


async def test_a_key_that_lists_no_households_searches_its_own(
    account: Account, families: dict[str, str], new_key: NewKey
) -> None:
    own = await new_key("Lopez family", scopes=("employees", "payroll"), employer_id=UUID(families["Ng"]))
    for query in ({}, {"search": "ng"}, {"sort": "payday"}, {"search": "rosa", "sort": "name"}):
        assert await _names(own, families, "/households", **query) == ["Ng"]
    assert await _names(own, families, "/households", search="zhou") == []


@pytest.mark.parametrize("query", [{"search": "diaz"}, {"sort": "name"}, {"sort": "payday"}])
async def test_nothing_is_found_of_another_account_or_mode(
    account: Account, families: dict[str, str], new_account: NewAccount, query: dict[str, str]
) -> None:
    other = await new_account("Other family")
    for caller in (account.test, other.live):
        assert _ids(await caller.get("/employers", **query)) == []
