"""Ending an employment: when, again, and what is left possible."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hearthpay.clock import FixedClock
from tests.employees.test_update import patch
from tests.http.api import ROSA, Account, Caller, data, fields, refusal

Counts = Callable[[], dict[str, int]]


@pytest.fixture
async def rosa(account: Account, household: dict[str, Any]) -> dict[str, Any]:
    return data(await account.live.post("/employees", ROSA), 201)


async def terminate(caller: Caller, employee: dict[str, Any], **body: Any) -> Any:
    return await caller.post(f"/employees/{employee['id']}/terminate", body)


async def test_it_ends_on_the_day_given(account: Account, rosa: dict[str, Any]) -> None:
    ended = data(await terminate(account.live, rosa, end_date="2026-11-27"))
    assert ended == rosa | {"status": "terminated", "end_date": "2026-11-27"}
    (listed,) = data(await account.live.get("/employees", employer_id=rosa["employer_id"]))
    assert listed.items() <= ended.items()


async def test_it_ends_today_in_the_east_without_a_day(
    account: Account, rosa: dict[str, Any], clock: FixedClock
) -> None:
    clock.advance(datetime(2026, 12, 1, 3, 0, tzinfo=UTC) - clock.now())  # still 30 November in New York
    response = await account.live.post_raw(f"/employees/{rosa['id']}/terminate", b"")
    assert data(response)["end_date"] == "2026-11-30"


async def test_again_changes_nothing(
    account: Account, rosa: dict[str, Any], clock: FixedClock, counts: Counts
) -> None:
    ended = data(await terminate(account.live, rosa))
    assert ended["end_date"] == "2026-11-20"
    before = counts()
    clock.advance(timedelta(days=3))
    assert data(await terminate(account.live, rosa)) == ended
    assert data(await terminate(account.live, rosa, end_date="2026-11-20")) == ended
    assert counts() == before


async def test_another_day_corrects_the_first(
    account: Account, rosa: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    data(await terminate(account.live, rosa))
    assert data(await terminate(account.live, rosa, end_date="2026-11-13"))["end_date"] == "2026-11-13"
    rows = owner_connection.execute(
        "SELECT actor_id, subject_id, details FROM audit_log WHERE action = 'employee.terminate' ORDER BY id"
    ).fetchall()
    actor, subject = account.live.key_id, UUID(rosa["id"])
    assert rows == [
        (
            actor,
            subject,
            {
                "before": {"status": "active", "end_date": None},
                "after": {"status": "terminated", "end_date": "2026-11-20"},
            },
        ),
        (actor, subject, {"before": {"end_date": "2026-11-20"}, "after": {"end_date": "2026-11-13"}}),
    ]


async def test_it_cannot_end_before_it_began(account: Account, rosa: dict[str, Any], counts: Counts) -> None:
    before = counts()
    error = refusal(await terminate(account.live, rosa, end_date="2026-01-04"), 400, "validation_error")
    assert fields(error) == ["end_date"]
    assert counts() == before
    assert data(await terminate(account.live, rosa, end_date="2026-01-05"))["status"] == "terminated"
    later = await patch(account.live, rosa["id"], {"start_date": "2026-01-06"})
    assert fields(refusal(later, 400, "validation_error")) == ["start_date"]


async def test_someone_yet_to_start_needs_a_day(account: Account, household: dict[str, Any]) -> None:
    future = data(await account.live.post("/employees", {**ROSA, "start_date": "2026-12-01"}), 201)
    assert fields(refusal(await terminate(account.live, future), 400, "validation_error")) == ["end_date"]


@pytest.mark.parametrize("body", [{"end_date": "20 November"}, {"end_date": 1}, {"status": "x"}])
async def test_a_bad_body_is_refused(account: Account, rosa: dict[str, Any], body: dict[str, Any]) -> None:
    error = refusal(await terminate(account.live, rosa, **body), 400, "validation_error")
    assert fields(error) == list(body)
    assert error["example"] == {"end_date": "2026-11-20"}


async def test_the_name_is_free_again(account: Account, rosa: dict[str, Any]) -> None:
    data(await terminate(account.live, rosa))
    data(await account.live.post("/employees", ROSA), 201)
    # What was entered wrongly for someone who has left can still be put right.
    assert data(await patch(account.live, rosa["id"], {"last_name": "DIAZ"}))["status"] == "terminated"


async def test_a_retry_is_answered_again(account: Account, rosa: dict[str, Any]) -> None:
    path = f"/employees/{rosa['id']}/terminate"
    headers = {"Idempotency-Key": "end"}
    first = await account.live.post_raw(path, b"", **headers)
    again = await account.live.post_raw(path, b"", **headers)
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    data(await account.live.post_raw(path, b"{}", **headers))  # no body and an empty one are the same request


async def test_the_last_paycheck_can_be_run(account: Account, rosa: dict[str, Any]) -> None:
    data(await terminate(account.live, rosa, end_date="2026-11-11"))

    def payroll(start: str, end: str) -> dict[str, Any]:
        return {
            "pay_period_start": start,
            "pay_period_end": end,
            "pay_date": "2026-11-20",
            "pay_frequency": "weekly",
            "employees": [{"employee_id": rosa["id"], "regular_hours": 8}],
        }

    data(await account.live.post("/payroll/run", payroll("2026-11-09", "2026-11-15")))
    refusal(
        await account.live.post("/payroll/run", payroll("2026-11-16", "2026-11-20")), 400, "invalid_state"
    )
