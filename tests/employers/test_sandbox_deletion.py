"""Deleting and resetting sandbox households through the API: everything of theirs goes, nothing else ever does."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.http.key_lookup import REMEMBERED_FOR
from tests.http.api import MARIA, ROSA, Account, Caller, NewAccount, NewKey, data, fields, refusal

Counts = Callable[[], dict[str, int]]

TABLES = ("employers", "assigned_rates", "employees", "payrolls", "paychecks", "paycheck_lines")


async def delete(caller: Caller, employer_id: object, **query: Any) -> httpx.Response:
    return await caller.client.delete(
        f"/api/v1/employers/{employer_id}", params=query, headers=caller.headers()
    )


def payroll_of(employer_id: str, *employee_ids: str, week: int = 0) -> dict[str, Any]:
    return {
        "employer_id": employer_id,
        "pay_period_start": f"2026-11-{2 + 7 * week:02}",
        "pay_period_end": f"2026-11-{8 + 7 * week:02}",
        "pay_date": "2026-11-20",
        "pay_frequency": "weekly",
        "employees": [{"employee_id": employee_id, "regular_hours": 20} for employee_id in employee_ids],
    }


async def busy_household(caller: Caller, owner: psycopg.Connection) -> str:
    """A household with two employees, two payrolls and an assigned rate."""
    employer = data(await caller.post("/employers", MARIA), 201)
    ids = [
        data(
            await caller.post("/employees", {**ROSA, "employer_id": employer["id"], "first_name": name}), 201
        )["id"]
        for name in ("Ana", "Rosa")
    ]
    data(await caller.post("/payroll/run", payroll_of(employer["id"], *ids)))
    data(await caller.post("/payroll/run", payroll_of(employer["id"], ids[0], week=1)))
    owner.execute(
        "INSERT INTO assigned_rates SELECT organization_id, id, sandbox, 2026, 'CA', 0.02 FROM employers WHERE id = %s",
        (employer["id"],),
    )
    return employer["id"]


def rows_of(owner: psycopg.Connection, employer_id: str) -> dict[str, int]:
    found = {}
    for table in TABLES:
        column = "id" if table == "employers" else "employer_id"
        row = owner.execute(f"SELECT count(*) FROM {table} WHERE {column} = %s", (employer_id,)).fetchone()
        assert row is not None
        found[table] = row[0]
    return found


async def test_everything_of_the_household_goes_and_nothing_else(
    account: Account, new_account: NewAccount, owner_connection: psycopg.Connection
) -> None:
    other = await new_account("Other family")
    callers = (account.live, account.test, other.live, other.test)
    others = [await busy_household(caller, owner_connection) for caller in callers]
    doomed = await busy_household(account.test, owner_connection)
    before = [rows_of(owner_connection, employer_id) for employer_id in others]
    assert all(count > 0 for count in rows_of(owner_connection, doomed).values())

    assert data(await delete(account.test, doomed)) == {"id": doomed, "deleted": True}

    assert set(rows_of(owner_connection, doomed).values()) == {0}
    assert [rows_of(owner_connection, employer_id) for employer_id in others] == before
    refusal(await delete(account.test, doomed), 404, "not_found")
    refusal(await account.test.get("/employees", employer_id=doomed), 403, "household_forbidden")


async def test_a_reset_leaves_the_household_and_its_settings(
    account: Account, owner_connection: psycopg.Connection
) -> None:
    employer_id = await busy_household(account.test, owner_connection)
    before = data(await account.test.get("/employers"))
    answer = data(await delete(account.test, employer_id, reset="true"))
    assert answer == {"id": employer_id, "reset": True, "employees_removed": 2, "payrolls_removed": 2}
    assert data(await account.test.get("/employers")) == before
    assert rows_of(owner_connection, employer_id) == dict.fromkeys(TABLES, 0) | {
        "employers": 1,
        "assigned_rates": 1,
    }
    again = data(await delete(account.test, employer_id, reset="true"))
    assert (again["employees_removed"], again["payrolls_removed"]) == (0, 0)
    employee = data(await account.test.post("/employees", {**ROSA, "employer_id": employer_id}), 201)
    run = data(await account.test.post("/payroll/run", payroll_of(employer_id, employee["id"])))
    assert run["employees"][0]["ytd"]["gross_pay"] == run["totals"]["gross_pay"]


@pytest.mark.parametrize("query", [{}, {"reset": "true"}])
async def test_a_real_household_is_never_deleted(
    account: Account, owner_connection: psycopg.Connection, counts: Counts, query: dict[str, str]
) -> None:
    real = await busy_household(account.live, owner_connection)
    sandbox = await busy_household(account.test, owner_connection)
    before = counts()
    error = refusal(await delete(account.test, real, **query), 403, "key_mode_mismatch")
    assert error["details"] == {"employer_id": real}
    for employer_id in (real, sandbox):
        error = refusal(await delete(account.live, employer_id, **query), 403, "key_mode_mismatch")
        assert error["details"] == {"employer_id": employer_id, "required_mode": "test"}
        assert "hp_test_" in error["message"]
    assert counts() == before


@pytest.mark.parametrize("query", [{}, {"reset": "true"}])
async def test_anothers_household_is_not_found(
    account: Account,
    new_account: NewAccount,
    owner_connection: psycopg.Connection,
    counts: Counts,
    query: dict[str, str],
) -> None:
    other = await new_account("Other family")
    theirs = [await busy_household(caller, owner_connection) for caller in (other.live, other.test)]
    before = counts()
    for employer_id in (*theirs, uuid4(), "1", "'; --"):
        refusal(await delete(account.test, employer_id, **query), 404, "not_found")
    assert counts() == before


async def test_the_scope_is_needed_and_the_query_read_strictly(account: Account, new_key: NewKey) -> None:
    sandbox = data(await account.test.post("/employers", MARIA), 201)["id"]
    unscoped = await new_key("Lopez family", mode="test", scopes=("payroll", "employees"))
    refusal(await delete(unscoped, sandbox), 403, "scope_required")
    for query in ({"reset": "perhaps"}, {"rest": "true"}):
        error = refusal(await delete(account.test, sandbox, **query), 400, "validation_error")
        assert fields(error) == list(query)
    assert data(await delete(account.test, sandbox, reset="false")) == {"id": sandbox, "deleted": True}


async def test_keys_forget_it_and_a_live_one_still_falls_back_on_no_real_household(
    account: Account, household: dict[str, Any], new_key: NewKey, clock: FixedClock
) -> None:
    first, second = [data(await account.test.post("/employers", MARIA), 201)["id"] for _ in range(2)]
    test = await new_key("Lopez family", mode="test", employer_id=UUID(second))
    live = await new_key("Lopez family", employer_id=UUID(second))
    data(await delete(account.test, second))
    clock.advance(REMEMBERED_FOR + timedelta(seconds=1))

    assert data(await test.post("/employees", ROSA), 201)["employer_id"] == first
    refusal(await live.post("/employees", ROSA), 403, "key_mode_mismatch")
    named = {**ROSA, "employer_id": household["id"]}
    assert data(await live.post("/employees", named), 201)["employer_id"] == household["id"]


async def test_the_oldest_one_left_becomes_the_primary_one(account: Account) -> None:
    real = data(await account.live.post("/employers", MARIA), 201)["id"]
    ids = [data(await account.test.post("/employers", MARIA), 201)["id"] for _ in range(3)]

    async def primary() -> list[str]:
        return [item["id"] for item in data(await account.test.get("/employers")) if item["is_primary"]]

    for deleted, left in ((ids[0], [ids[1]]), (ids[2], [ids[1]]), (ids[1], [])):
        data(await delete(account.test, deleted))
        assert await primary() == left
    assert data(await account.test.post("/employers", MARIA), 201)["is_primary"]
    assert [item["id"] for item in data(await account.live.get("/employers"))] == [real]


async def test_it_leaves_a_trace_and_keeps_the_earlier_ones(
    account: Account, owner_connection: psycopg.Connection
) -> None:
    employer_id = await busy_household(account.test, owner_connection)
    query = (
        "SELECT action, actor_id, sandbox, subject_id, request_id, details FROM audit_log "
        "WHERE employer_id = %s ORDER BY id"
    )
    earlier = owner_connection.execute(query, (employer_id,)).fetchall()
    reset = await delete(account.test, employer_id, reset="true")
    deleted = await delete(account.test, employer_id)
    assert owner_connection.execute(query, (employer_id,)).fetchall() == [
        *earlier,
        *(
            (
                action,
                account.test.key_id,
                True,
                UUID(employer_id),
                response.headers["X-Request-Id"],
                {"employees_removed": count, "payrolls_removed": count},
            )
            for action, response, count in (("employer.reset", reset, 2), ("employer.delete", deleted, 0))
        ),
    ]


@pytest.mark.parametrize("query", [{}, {"reset": "true"}])
async def test_work_under_way_is_waited_for_or_refused(
    account: Account, owner_connection: psycopg.Connection, query: dict[str, str]
) -> None:
    """Whoever comes first wins; nobody ends in a deadlock, and no row is left without its household."""
    employer_id = await busy_household(account.test, owner_connection)
    listed = data(await account.test.get("/employees", employer_id=employer_id))
    ids = [item["id"] for item in listed]
    calls = []
    for number in range(4):
        one, new = ids[number % 2], {**ROSA, "employer_id": employer_id, "first_name": "Eva" + "abcd"[number]}
        calls += [
            account.test.post("/payroll/run", payroll_of(employer_id, one, week=2)),
            account.test.post("/employees", new),
            account.test.post(f"/employees/{one}/terminate", {}),
        ]
        if number < 2:
            calls.append(delete(account.test, employer_id, **query))
    answers = await asyncio.gather(*calls)
    assert {answer.status_code for answer in answers} <= {200, 201, 400, 403, 404, 409}
    deletions = sorted(answers[index].status_code for index in (3, 7))
    if query:
        assert deletions == [200, 200]
        assert rows_of(owner_connection, employer_id)["employers"] == 1
    else:
        assert deletions == [200, 404]
        assert set(rows_of(owner_connection, employer_id).values()) == {0}


async def test_households_deleted_at_once_leave_one_primary(account: Account) -> None:
    ids = [data(await account.test.post("/employers", MARIA), 201)["id"] for _ in range(3)]
    answers = await asyncio.gather(*(delete(account.test, identity) for identity in (*ids[:2], *ids[:2])))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 404, 404]
    (left,) = data(await account.test.get("/employers"))
    assert (left["id"], left["is_primary"]) == (ids[2], True)
