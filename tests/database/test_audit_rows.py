"""The role the service runs as cannot change the audit log, nor write in it what concerns another tenant or mode."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest
from psycopg import errors

from tests.database.household import Household
from tests.database.sealing import enter

INSERT = (
    "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, action) "
    "VALUES (new_id(), %s, %s, %s, 'key', 'employee.update')"
)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_log SET details = '{}'",
        "UPDATE audit_log SET at = at - interval '1 day'",
        "DELETE FROM audit_log",
        "TRUNCATE audit_log",
        "ALTER TABLE audit_log DISABLE ROW LEVEL SECURITY",
        "DROP TABLE audit_log",
        "MERGE INTO audit_log a USING (SELECT 1) s ON true WHEN MATCHED THEN DELETE",
        "INSERT INTO audit_log SELECT * FROM audit_log ON CONFLICT (id) DO UPDATE SET action = 'nothing'",
    ],
)
def test_a_row_stays_as_it_was_written(
    statement: str, service: psycopg.Connection, owner: psycopg.Connection, smiths: Household
) -> None:
    before = owner.execute("SELECT * FROM audit_log").fetchall()
    enter(service, smiths.organization_id)
    with pytest.raises(errors.InsufficientPrivilege):
        service.execute(statement.encode())
    assert before
    assert owner.execute("SELECT * FROM audit_log").fetchall() == before


def test_nothing_is_written_in_anothers_name(
    service: psycopg.Connection, owner: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    enter(service, smiths.organization_id, employer_id=smiths.employer_id)
    for foreign in (
        (joneses.organization_id, None, False),
        (joneses.organization_id, joneses.employer_id, False),
        (joneses.organization_id, None, None),
        (smiths.organization_id, joneses.employer_id, False),
        (smiths.organization_id, smiths.employer_id, True),
        (smiths.organization_id, None, True),
        (uuid4(), None, None),
    ):
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            service.execute(INSERT, foreign)
    service.execute(INSERT, (smiths.organization_id, smiths.employer_id, False))
    written = owner.execute("SELECT organization_id FROM audit_log WHERE actor_kind = 'key'").fetchall()
    assert written == [(smiths.organization_id,)]


def test_without_a_tenant_nothing_is_written_at_all(service: psycopg.Connection, smiths: Household) -> None:
    for sandbox in (None, False, True):
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            service.execute(INSERT, (smiths.organization_id, None, sandbox))


@pytest.mark.parametrize("sandbox", [False, True])
def test_a_mode_reads_its_own_rows(
    service: psycopg.Connection, smiths: Household, joneses: Household, sandbox: bool
) -> None:
    enter(service, smiths.organization_id, sandbox=sandbox)
    service.execute(INSERT, (smiths.organization_id, None, sandbox))
    seen = service.execute("SELECT organization_id, sandbox FROM audit_log").fetchall()
    assert set(seen) == {(smiths.organization_id, sandbox)}
