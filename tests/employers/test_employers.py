"""Households: creating, listing, and which one a request is about."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from tests.http.api import MARIA, ROSA, Account, NewAccount, NewKey, data, fields, refusal

HOME = {"line1": "2201 Mission St", "city": "San Francisco", "state": "CA", "zip": "94110"}


async def test_a_household_is_created_and_listed(account: Account) -> None:
    response = await account.live.post("/employers", {**MARIA, "state": "ca", "first_name": " Maria "})
    created = data(response, 201)
    assert created | {"id": "", "employer_id": ""} == {
        "id": "",
        "employer_id": "",
        "organization_id": str(account.organization_id),
        "first_name": "Maria",
        "last_name": "Lopez",
        "email": "maria@example.com",
        "state": "CA",
        "is_primary": True,
        "ein_status": "none",
        "sandbox": False,
        "created_at": "2026-11-20T15:00:00Z",
        "address": None,
        "phone": None,
        "time_zone": "America/Los_Angeles",
        "threshold_basis": "assume_crossed",
        "metadata": {},
    }
    assert UUID(created["id"]).version == 7
    for detail in ("organization_id", "address", "phone", "time_zone"):
        del created[detail]
    listing = await account.live.get("/employers")
    assert data(listing) == [created]
    assert listing.json()["meta"]["next_cursor"] is None


@pytest.mark.parametrize("name", ["first_name", "last_name", "email", "state"])
async def test_every_field_is_required(account: Account, name: str) -> None:
    body = {key: value for key, value in MARIA.items() if key != name}
    assert fields(refusal(await account.live.post("/employers", body), 400, "validation_error")) == [name]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("state", "PR"),
        ("state", "C"),
        ("email", "maria"),
        ("first_name", ""),
        ("ein", "12-3456789"),
        ("last_name", "12-3456789"),
        ("sandbox", True),
        ("is_primary", True),
    ],
)
async def test_a_bad_field_is_named(account: Account, field: str, value: object) -> None:
    error = refusal(await account.live.post("/employers", {**MARIA, field: value}), 400, "validation_error")
    assert fields(error) == [field]


async def test_creating_and_listing_households_need_the_scope(new_key: NewKey) -> None:
    caller = await new_key("Agency", scopes=("calculator", "payroll", "employees"))
    refusal(await caller.post("/employers", MARIA), 403, "scope_required")
    refusal(await caller.get("/employers"), 403, "scope_required")


async def test_a_sandbox_household_needs_no_email(account: Account) -> None:
    body = {key: value for key, value in MARIA.items() if key != "email"}
    created = data(await account.test.post("/employers", body), 201)
    assert created["email"] is None
    assert data(await account.test.get("/employers"))[0]["email"] is None
    patched = await account.test.client.patch(
        f"/api/v1/employers/{created['id']}",
        json={"email": "maria@example.com"},
        headers=account.test.headers(),
    )
    assert data(patched)["email"] == "maria@example.com"


async def test_a_household_is_read_and_changed(
    account: Account, household: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    path, headers = f"/employers/{household['id']}", account.live.headers()

    async def change(body: dict[str, Any]) -> httpx.Response:
        return await account.live.client.patch(f"/api/v1{path}", json=body, headers=headers)

    del household["organization_id"]
    assert data(await account.live.get(path)) == household
    moved = data(await change({"address": HOME | {"state": "ca"}, "last_name": "Lopez-Ruiz"}))
    assert (moved.pop("warnings"), moved.pop("warning_codes")) == ([], [])
    assert moved == household | {"address": HOME | {"line2": None}, "last_name": "Lopez-Ruiz"}
    assert data(await account.live.get(path)) == moved
    assert data(await change({})) == moved | {"warnings": [], "warning_codes": []}
    assert data(await change({"address": None}))["address"] is None
    assert fields(refusal(await change({"email": None}), 400, "validation_error")) == ["email"]
    for field, wrong in (
        ("address.zip", {"address": HOME | {"zip": "941"}}),
        ("address.line1", {"address": {key: value for key, value in HOME.items() if key != "line1"}}),
        ("address.country", {"address": HOME | {"country": "US"}}),
        ("state", {"state": "PR"}),
        ("is_primary", {"is_primary": True}),
    ):
        assert fields(refusal(await change(wrong), 400, "validation_error")) == [field]
    changes = owner_connection.execute(
        "SELECT details FROM audit_log WHERE action = 'employer.update' ORDER BY id"
    ).fetchall()
    assert [sorted(details["after"]) for (details,) in changes] == [["address", "last_name"], ["address"]]


async def test_a_household_out_of_reach_is_not_found(account: Account, household: dict[str, Any]) -> None:
    for method in ("GET", "PATCH"):
        response = await account.test.client.request(
            method, f"/api/v1/employers/{household['id']}", json={}, headers=account.test.headers()
        )
        refusal(response, 404, "not_found")


async def test_live_and_test_keys_see_their_own_kind_only(account: Account) -> None:
    real = data(await account.live.post("/employers", MARIA), 201)
    sandbox = data(await account.test.post("/employers", MARIA), 201)
    assert (real["sandbox"], sandbox["sandbox"]) == (False, True)
    assert real["is_primary"]
    assert sandbox["is_primary"]
    assert [item["id"] for item in data(await account.live.get("/employers"))] == [real["id"]]
    assert [item["id"] for item in data(await account.test.get("/employers"))] == [sandbox["id"]]


async def test_only_one_household_becomes_the_primary_one(account: Account) -> None:
    answers = await asyncio.gather(*(account.live.post("/employers", MARIA) for _ in range(8)))
    assert sum(data(answer, 201)["is_primary"] for answer in answers) == 1


async def test_a_fourth_sandbox_household_is_refused(account: Account) -> None:
    answers = await asyncio.gather(*(account.test.post("/employers", MARIA) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 201, 201, 403, 403]
    error = refusal(await account.test.post("/employers", MARIA), 403, "plan_limit_reached")
    assert error["details"] == {
        "plan": "professional",
        "limit": 3,
        "current": 3,
        "limit_name": "sandbox_households",
    }


async def test_a_list_is_paged_newest_first(account: Account) -> None:
    ids = [data(await account.live.post("/employers", MARIA), 201)["id"] for _ in range(5)]
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        response = await account.live.get("/employers", **query)
        page = [item["id"] for item in data(response)]
        seen += page
        cursor = response.json()["meta"]["next_cursor"]
        if cursor is None:
            break
        assert len(page) == 2
        query["cursor"] = cursor
    assert seen == ids[::-1]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"limit": ""}, "limit"),
        ({"cursor": ""}, "cursor"),
        ({"cursor": "AAAA"}, "cursor"),
        ({"cursor": "é"}, "cursor"),
        ({"cursor": "'; --"}, "cursor"),
        ({"page": 2}, "page"),
    ],
)
async def test_a_bad_query_is_refused(account: Account, query: dict[str, Any], field: str) -> None:
    error = refusal(await account.live.get("/employers", **query), 400, "validation_error")
    assert fields(error) == [field]


async def test_a_household_of_another_account_is_forbidden(account: Account, new_account: NewAccount) -> None:
    other = await new_account("Other family")
    theirs = data(await other.live.post("/employers", MARIA), 201)["id"]
    data(await account.live.post("/employers", MARIA), 201)
    for employer_id in (theirs, str(uuid4())):
        body = {**ROSA, "employer_id": employer_id}
        refusal(await account.live.post("/employees", body), 403, "household_forbidden")
        refusal(await account.live.get("/employees", employer_id=employer_id), 403, "household_forbidden")
    assert [item["id"] for item in data(await other.live.get("/employers"))] == [theirs]


async def test_a_household_of_the_other_mode_needs_the_other_key(account: Account) -> None:
    real = data(await account.live.post("/employers", MARIA), 201)["id"]
    sandbox = data(await account.test.post("/employers", MARIA), 201)["id"]
    for caller, employer_id, mode in ((account.live, sandbox, "test"), (account.test, real, "live")):
        error = refusal(await caller.get("/employees", employer_id=employer_id), 403, "key_mode_mismatch")
        assert error["details"] == {"employer_id": employer_id, "required_mode": mode}
        assert f"hp_{mode}_" in error["message"]


async def test_left_out_it_is_the_household_the_key_remembers(account: Account, new_key: NewKey) -> None:
    data(await account.live.post("/employers", MARIA), 201)
    second = data(await account.live.post("/employers", {**MARIA, "state": "TX"}), 201)
    remembering = await new_key("Lopez family", employer_id=UUID(second["id"]))
    created = data(await remembering.post("/employees", ROSA), 201)
    assert (created["employer_id"], created["work_state"]) == (second["id"], "TX")


async def test_left_out_without_memory_it_is_the_only_one_and_of_several_none(
    account: Account, counts: Callable[[], dict[str, int]]
) -> None:
    first = data(await account.live.post("/employers", MARIA), 201)
    assert data(await account.live.post("/employees", ROSA), 201)["employer_id"] == first["id"]
    second = data(await account.live.post("/employers", MARIA), 201)
    before = counts()
    response = await account.live.post("/employees", ROSA | {"first_name": "Ana"})
    assert fields(refusal(response, 400, "validation_error")) == ["employer_id"]
    assert first["id"] not in response.text
    assert second["id"] not in response.text
    assert counts() == before


async def test_without_any_household_the_request_is_told_so(account: Account) -> None:
    error = refusal(await account.live.post("/employees", ROSA), 400, "validation_error")
    assert fields(error) == ["employer_id"]
    assert "create one" in error["message"]


async def test_creating_a_household_leaves_a_trace(
    account: Account, owner_connection: psycopg.Connection
) -> None:
    response = await account.test.post("/employers", MARIA)
    created = data(response, 201)
    row = owner_connection.execute(
        "SELECT actor_kind, actor_id, organization_id, employer_id, sandbox, subject_id, request_id "
        "FROM audit_log WHERE action = 'employer.create'"
    ).fetchone()
    assert row == (
        "key",
        account.test.key_id,
        account.organization_id,
        UUID(created["id"]),
        True,
        UUID(created["id"]),
        response.headers["X-Request-Id"],
    )
