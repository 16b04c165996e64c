"""Coming back to a household: the same person, whose year goes on; and being added a second time by mistake."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.employees.test_terminate import terminate
from tests.employees.test_update import patch
from tests.http.api import ROSA, Account, Caller, NewKey, data, fields, refusal

Counts = Callable[[], dict[str, int]]


@pytest.fixture
async def rosa(account: Account, household: dict[str, Any]) -> dict[str, Any]:
    return data(await account.live.post("/employees", ROSA), 201)


async def reinstate(caller: Caller, employee: dict[str, Any], **body: Any) -> Any:
    return await caller.post(f"/employees/{employee['id']}/reinstate", body)


async def pay(caller: Caller, employee: dict[str, Any], day: str, amount: int, **more: Any) -> dict[str, Any]:
    """A paycheck of other earnings for a week that begins on the day and is paid on it."""
    body = {
        "pay_period_start": day,
        "pay_period_end": day,
        "pay_date": day,
        "pay_frequency": "weekly",
        "employees": [{"employee_id": employee["id"], "other_earnings": amount}],
    } | more
    (paycheck,) = data(await caller.post("/payroll/run", body))["employees"]
    return paycheck


def line(paycheck: dict[str, Any], code: str) -> tuple[float, float]:
    """The tax of a line, and its sum of the year."""
    (found,) = [each for each in paycheck["lines"] if each["code"] == code]
    return found["amount"], found["ytd_amount"]


async def test_the_year_goes_on_where_it_stopped(account: Account, rosa: dict[str, Any]) -> None:
    assert line(await pay(account.live, rosa, "2026-03-02", 8_000), "US-FUTA") == (42, 42)
    data(await terminate(account.live, rosa, end_date="2026-03-06"))
    back = data(await reinstate(account.live, rosa, start_date="2026-09-07"))
    assert back == rosa | {
        "start_date": "2026-09-07",
        "earlier_employments": [{"start_date": "2026-01-05", "end_date": "2026-03-06"}],
    }
    again = await pay(account.live, rosa, "2026-09-14", 8_000)
    assert line(again, "US-FUTA") == (0, 42)
    assert again["ytd"]["gross_pay"] == 16_000
    assert line(again, "US-SS-EE") == (496, 992)


async def test_without_a_day_the_employment_goes_on_as_if_it_had_not_ended(
    account: Account, rosa: dict[str, Any], counts: Counts
) -> None:
    data(await terminate(account.live, rosa))
    response = await account.live.post_raw(f"/employees/{rosa['id']}/reinstate", b"")
    assert data(response) == rosa
    before = counts()
    assert data(await reinstate(account.live, rosa)) == rosa
    assert data(await reinstate(account.live, rosa, start_date="2026-01-05")) == rosa
    assert counts() == before
    error = refusal(await reinstate(account.live, rosa, start_date="2026-02-02"), 400, "invalid_state")
    assert error["details"] == {"status": "active", "start_date": "2026-01-05"}


async def test_every_employment_can_be_paid_and_the_time_between_cannot(
    account: Account, rosa: dict[str, Any]
) -> None:
    data(await terminate(account.live, rosa, end_date="2026-03-06"))
    data(await reinstate(account.live, rosa, start_date="2026-09-07"))
    data(await terminate(account.live, rosa, end_date="2026-10-02"))
    data(await reinstate(account.live, rosa, start_date="2026-11-02"))
    late = {"notes": "catch-up"}
    for day in ("2026-03-02", "2026-03-06", "2026-09-07", "2026-10-02", "2026-11-02"):
        await pay(account.live, rosa, day, 100, **late)
    for day in ("2026-01-04", "2026-03-07", "2026-09-06", "2026-10-03", "2026-11-01"):
        entry = {"employee_id": rosa["id"], "other_earnings": 100}
        body = {"pay_period_start": day, "pay_period_end": day, "pay_frequency": "weekly"}
        refusal(
            await account.live.post("/payroll/run", body | {"employees": [entry]} | late),
            400,
            "employee_not_started",
        )


async def test_a_new_employment_begins_after_the_earlier_one(account: Account, rosa: dict[str, Any]) -> None:
    data(await terminate(account.live, rosa, end_date="2026-03-06"))
    error = refusal(await reinstate(account.live, rosa, start_date="2026-03-06"), 400, "validation_error")
    assert fields(error) == ["start_date"]
    assert error["example"] == {"start_date": "2026-11-23"}
    data(await reinstate(account.live, rosa, start_date="2026-03-07"))
    error = refusal(
        await patch(account.live, rosa["id"], {"start_date": "2026-03-06"}), 400, "validation_error"
    )
    assert fields(error) == ["start_date"]
    assert (
        data(await patch(account.live, rosa["id"], {"start_date": "2026-03-08"}))["start_date"]
        == "2026-03-08"
    )


async def test_it_leaves_an_audit_row(
    account: Account, rosa: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    data(await terminate(account.live, rosa, end_date="2026-03-06"))
    data(await reinstate(account.live, rosa, start_date="2026-09-07"))
    row = owner_connection.execute(
        "SELECT actor_id, subject_id::text, details FROM audit_log WHERE action = 'employee.reinstate'"
    ).fetchone()
    earlier = [{"start_date": "2026-01-05", "end_date": "2026-03-06"}]
    assert row == (
        account.live.key_id,
        rosa["id"],
        {
            "before": {
                "status": "terminated",
                "end_date": "2026-03-06",
                "start_date": "2026-01-05",
                "earlier_employments": [],
            },
            "after": {
                "status": "active",
                "end_date": None,
                "start_date": "2026-09-07",
                "earlier_employments": earlier,
            },
        },
    )


async def test_nobody_comes_back_beside_someone_of_the_same_name(
    account: Account, rosa: dict[str, Any]
) -> None:
    data(await terminate(account.live, rosa))
    second = data(await account.live.post("/employees", ROSA), 201)
    error = refusal(await reinstate(account.live, rosa), 400, "duplicate_employee")
    assert error["details"] == {"employee_id": second["id"]}
    data(await terminate(account.live, second))
    assert data(await reinstate(account.live, rosa))["status"] == "active"


async def test_the_plan_counts_whoever_comes_back(new_key: NewKey) -> None:
    from tests.http.api import MARIA

    small = await new_key("Small", plan="professional")
    employer_id = data(await small.post("/employers", MARIA), 201)["id"]
    names = ("Ana", "Bea", "Cleo", "Dora", "Eva")
    people = [
        data(await small.post("/employees", ROSA | {"first_name": name, "employer_id": employer_id}), 201)
        for name in names
    ]
    data(await terminate(small, people[0]))
    data(await small.post("/employees", ROSA | {"first_name": "Fay", "employer_id": employer_id}), 201)
    refusal(await reinstate(small, people[0]), 403, "plan_limit_reached")


async def test_a_retry_is_answered_again(account: Account, rosa: dict[str, Any]) -> None:
    data(await terminate(account.live, rosa, end_date="2026-03-06"))
    path, body = f"/employees/{rosa['id']}/reinstate", {"start_date": "2026-09-07"}
    first = await account.live.post(path, body, idempotency_key="back")
    again = await account.live.post(path, body, idempotency_key="back")
    assert data(first) == data(again)
    assert again.headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize("body", [{"start_date": "soon"}, {"start_date": 1}, {"end_date": "2026-01-01"}])
async def test_a_bad_body_is_refused(account: Account, rosa: dict[str, Any], body: dict[str, Any]) -> None:
    data(await terminate(account.live, rosa))
    assert fields(refusal(await reinstate(account.live, rosa, **body), 400, "validation_error")) == list(body)


# Added a second time.


@pytest.mark.parametrize(
    ("first", "second", "warned"),
    [
        ({}, {}, True),
        ({"email": "rosa@example.com"}, {"email": "ROSA@example.com"}, True),
        ({"email": "rosa@example.com"}, {}, True),
        ({}, {"first_name": "ROSA", "email": "rosa@example.com"}, True),
        ({"email": "rosa@example.com"}, {"email": "other@example.com"}, False),
        ({}, {"last_name": "Dias"}, False),
    ],
)
async def test_who_seems_to_have_worked_here_before_is_named_with_the_way(
    account: Account,
    household: dict[str, Any],
    first: dict[str, Any],
    second: dict[str, Any],
    warned: bool,
) -> None:
    rosa = data(await account.live.post("/employees", ROSA | first), 201)
    assert rosa["warnings"] == []
    data(await terminate(account.live, rosa, end_date="2026-03-06"))
    again = data(await account.live.post("/employees", ROSA | second), 201)
    assert [f"/api/v1/employees/{rosa['id']}/reinstate" in each for each in again["warnings"]] == [
        True
    ] * warned


async def test_the_former_of_another_household_warns_nobody(account: Account, rosa: dict[str, Any]) -> None:
    from tests.http.api import MARIA

    data(await terminate(account.live, rosa))
    other = data(await account.live.post("/employers", MARIA), 201)
    body = ROSA | {"employer_id": other["id"]}
    assert data(await account.live.post("/employees", body), 201)["warnings"] == []
