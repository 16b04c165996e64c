"""Listing employees: whose, in what order, and nothing secret."""

from typing import Any

import pytest

from tests.http.api import MARIA, ROSA, Account, NewAccount, NewKey, data, fields, refusal

NAMES = ["Ana", "Berta", "Carla", "Dora", "Elsa"]


async def test_a_list_is_paged_newest_first(account: Account, household: dict[str, Any]) -> None:
    created = [
        data(await account.live.post("/employees", {**ROSA, "first_name": name}), 201) for name in NAMES
    ]
    first = await account.live.get("/employees", employer_id=household["id"], limit=3)
    cursor = first.json()["meta"]["next_cursor"]
    second = await account.live.get("/employees", employer_id=household["id"], limit=3, cursor=cursor)
    listed = data(first) + data(second)
    assert [item["id"] for item in listed] == [employee["id"] for employee in created[::-1]]
    assert all(item.items() <= employee.items() for item, employee in zip(listed, created[::-1], strict=True))
    assert second.json()["meta"]["next_cursor"] is None


async def test_a_page_that_ends_exactly_at_the_end_says_so(
    account: Account, household: dict[str, Any]
) -> None:
    for name in NAMES:
        data(await account.live.post("/employees", {**ROSA, "first_name": name}), 201)
    response = await account.live.get("/employees", employer_id=household["id"], limit=5)
    assert len(data(response)) == 5
    assert response.json()["meta"]["next_cursor"] is None


async def test_only_the_employees_of_the_household_are_listed(account: Account) -> None:
    households = [data(await account.live.post("/employers", MARIA), 201)["id"] for _ in range(2)]
    for employer_id in households:
        data(await account.live.post("/employees", {**ROSA, "employer_id": employer_id}), 201)
    for employer_id in households:
        (listed,) = data(await account.live.get("/employees", employer_id=employer_id))
        assert listed["employer_id"] == employer_id


async def test_nothing_private_is_listed(account: Account, household: dict[str, Any]) -> None:
    body = {**ROSA, "email": "rosa@private.example", "birth_year": 1987, "relationship": "parent"}
    data(await account.live.post("/employees", body), 201)
    response = await account.live.get("/employees", employer_id=household["id"])
    for private in ("rosa@private.example", "1987", "birth", "email", "withholding", "relationship"):
        assert private not in response.text


async def test_an_account_never_sees_anothers_employees(account: Account, new_account: NewAccount) -> None:
    other = await new_account("Other family")
    for caller in (account.live, account.test, other.live, other.test):
        employer = data(await caller.post("/employers", MARIA), 201)
        data(await caller.post("/employees", ROSA), 201)
        (listed,) = data(await caller.get("/employees", employer_id=employer["id"]))
        assert listed["employer_id"] == employer["id"]


async def test_the_household_must_be_named(account: Account, household: dict[str, Any]) -> None:
    assert fields(refusal(await account.live.get("/employees"), 400, "validation_error")) == ["employer_id"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"employer_id": "1"}, "employer_id"),
        ({"limit": 101}, "limit"),
        ({"cursor": "x"}, "cursor"),
        ({"q": "a"}, "q"),
    ],
)
async def test_a_bad_query_is_refused_naming_the_field(
    account: Account, household: dict[str, Any], query: dict[str, Any], field: str
) -> None:
    requested = {"employer_id": household["id"], **query}
    error = refusal(await account.live.get("/employees", **requested), 400, "validation_error")
    assert fields(error) == [field]
    assert error["example"]["limit"] == 25


async def test_the_scope_is_needed(new_key: NewKey) -> None:
    caller = await new_key("Agency", scopes=("payroll",))
    refusal(await caller.get("/employees"), 403, "scope_required")
