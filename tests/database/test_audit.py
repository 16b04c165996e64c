"""An audit row is written with the deed or not at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import psycopg
import pytest

from hearthpay.database import audit
from hearthpay.database.session import Database
from tests.database.household import Household


async def test_a_row_says_who_did_what(
    database: Database, owner: psycopg.Connection, smiths: Household
) -> None:
    key_id = uuid4()
    async with database.transaction(smiths.tenant) as session:
        await audit.record(
            session,
            actor_kind="key",
            actor_id=key_id,
            organization_id=smiths.organization_id,
            employer_id=smiths.employer_id,
            sandbox=False,
            action="employee.update",
            subject_id=smiths.employee_id,
            request_id="req_1",
            details={"pay_rate": Decimal("20.10"), "fields": ["pay_rate"], "who": smiths.employee_id},
        )
    row = owner.execute(
        "SELECT id, actor_kind, actor_id, organization_id, employer_id, sandbox, subject_id, request_id, details, at "
        "FROM audit_log WHERE action = 'employee.update'"
    ).fetchone()
    assert row is not None
    assert row[0].version == 7
    assert row[1:8] == (
        "key",
        key_id,
        smiths.organization_id,
        smiths.employer_id,
        False,
        smiths.employee_id,
        "req_1",
    )
    assert row[8] == {"pay_rate": "20.10", "fields": ["pay_rate"], "who": str(smiths.employee_id)}
    assert abs(datetime.now(UTC) - row[9]) < timedelta(minutes=1)


async def test_a_deed_undone_is_not_on_record(
    database: Database, owner: psycopg.Connection, smiths: Household
) -> None:
    async def change_my_mind() -> None:
        async with database.transaction(smiths.tenant) as session:
            await audit.record(
                session,
                actor_kind="system",
                actor_id=None,
                organization_id=smiths.organization_id,
                employer_id=None,
                sandbox=None,
                action="organization.rename",
                subject_id=None,
                request_id=None,
                details={},
            )
            raise LookupError

    with pytest.raises(LookupError):
        await change_my_mind()
    assert owner.execute("SELECT FROM audit_log WHERE action = 'organization.rename'").rowcount == 0
