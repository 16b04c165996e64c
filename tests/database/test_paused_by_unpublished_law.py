"""Who was paused by unpublished law alone is resumed by the migration to 0042; whoever else was paused is not."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from uuid_utils.compat import uuid7

from hearthpay.database.migrations import migrate
from tests.conftest import plain_url
from tests.database.earlier_schemas import Past, build, insert
from tests.database.test_upgrades import database_url

__all__ = ["database_url"]

LAW = "tax_year_not_final"
START = date(2026, 9, 7)
"""A Monday: the first of three weeks that were not paid."""


def enroll(
    connection: psycopg.Connection, past: Past, *, failures: list[list[str]], pauses: list[Any]
) -> UUID:
    """A weekly enrollment of another employee, its last periods not paid for these reasons, and then paused."""
    enrollment_id, employee_id = uuid7(), uuid7()
    tenant = {"organization_id": past.organization_id, "employer_id": past.employer_id, "sandbox": False}
    insert(
        connection,
        "employees",
        id=employee_id,
        **tenant,
        first_name="Ana",
        last_name="Ruiz",
        work_state="TX",
        residence_state="TX",
        pay_rate_cents=2_500,
        overtime_rate_cents=3_750,
        pay_frequency="weekly",
        start_date=date(2026, 1, 5),
    )
    start = START + timedelta(weeks=len(failures))
    insert(
        connection,
        "autopilot_enrollments",
        id=enrollment_id,
        **tenant,
        employee_id=employee_id,
        status="paused",
        first_start=START,
        next_start=start,
        next_end=start + timedelta(days=6),
        next_pay_date=start + timedelta(days=11),
        failure_count=len(failures),
        pause_reason="Three periods could not be paid.",
        enrolled_by_kind="user",
        enrolled_at=datetime(2026, 9, 1, tzinfo=UTC),
        updated_at=datetime(2026, 9, 1, tzinfo=UTC),
    )
    insert(
        connection,
        "autopilot_versions",
        id=uuid7(),
        **tenant,
        enrollment_id=enrollment_id,
        number=1,
        from_period=START,
        frequency="weekly",
        anchor=START,
        pay_days_after=5,
        standard_hours=40,
        expected_net=92_350,
        made_by_kind="user",
        made_at=datetime(2026, 9, 1, tzinfo=UTC),
    )
    for week, reasons in enumerate(failures):
        begun = START + timedelta(weeks=week)
        insert(
            connection,
            "autopilot_periods",
            id=uuid7(),
            **tenant,
            enrollment_id=enrollment_id,
            employee_id=employee_id,
            version=1,
            period_start=begun,
            period_end=begun + timedelta(days=6),
            pay_date=begun + timedelta(days=11),
            send_at=begun + timedelta(days=4),
            outcome="ineligible",
            reasons=reasons,
            decided_at=begun + timedelta(days=1),
        )
    for number, (event, source, details) in enumerate(pauses):
        insert(
            connection,
            "autopilot_events",
            id=uuid7(),
            **tenant,
            enrollment_id=enrollment_id,
            employee_id=employee_id,
            event=event,
            at=datetime(2026, 10, 1 + number, tzinfo=UTC),
            actor_kind="system" if source == "system" else "user",
            source=source,
            details=json.dumps(details),
        )
    return enrollment_id


BY_THE_LAW = ("pause", "system", {"reasons": [LAW]})


@pytest.mark.parametrize(
    ("failures", "pauses", "status"),
    [
        pytest.param([[LAW]] * 3, [BY_THE_LAW], "active", id="the law alone"),
        pytest.param(
            [[LAW], ["bank_account_missing"], [LAW]],
            [BY_THE_LAW],
            "paused",
            id="the household's account once",
        ),
        pytest.param(
            [["bank_account_missing"]] * 3,
            [("pause", "system", {"reasons": ["bank_account_missing"]})],
            "paused",
            id="the household's account",
        ),
        pytest.param(
            [[LAW]] * 3,
            [BY_THE_LAW, ("resume", "app", {}), ("pause", "app", {})],
            "paused",
            id="a person afterwards",
        ),
    ],
)
def test_whom_the_law_alone_had_paused_is_resumed(
    database_url: str, failures: list[list[str]], pauses: list[Any], status: str
) -> None:
    past = build(database_url, "0041")
    with psycopg.connect(plain_url(database_url), autocommit=True) as connection:
        enrollment_id = enroll(connection, past, failures=failures, pauses=pauses)
    before = datetime.now(UTC)
    migrate(database_url)
    after = datetime.now(UTC)

    with psycopg.connect(plain_url(database_url), autocommit=True) as connection:
        row = connection.execute(
            "SELECT status, failure_count, next_start, next_end, next_pay_date, generate_at "
            "FROM autopilot_enrollments WHERE id = %s",
            (enrollment_id,),
        ).fetchone()
        assert row is not None
        assert row[0] == status
        events = connection.execute(
            "SELECT count(*) FROM autopilot_events WHERE enrollment_id = %s", (enrollment_id,)
        ).fetchone()
        errands = connection.execute(
            "SELECT kind, details ->> 'why' FROM autopilot_errands WHERE enrollment_id = %s", (enrollment_id,)
        ).fetchall()
        if status == "paused":
            assert (events, errands) == ((len(pauses),), [])
            assert row[2] == START + timedelta(weeks=len(failures))
            return
        assert (events, errands) == ((len(pauses) + 1,), [("resumed", LAW)])
        _, failed, start, end, pay_date, generate_at = row
        assert (failed, end) == (0, start + timedelta(days=6))
        assert end < pay_date <= end + timedelta(days=5)
        # Made three days before it is sent, and that is ahead: what could not be sent any more stays unpaid.
        assert generate_at + timedelta(days=3) > before
        periods = connection.execute(
            "SELECT period_start, outcome, send_at FROM autopilot_periods WHERE enrollment_id = %s "
            "ORDER BY period_start",
            (enrollment_id,),
        ).fetchall()
        weeks = (start - START).days // 7
        assert [begun for begun, _, _ in periods] == [START + timedelta(weeks=week) for week in range(weeks)]
        assert {outcome for _, outcome, _ in periods[3:]} <= {"paused"}
        assert all(send_at <= after for _, outcome, send_at in periods if outcome == "paused")
