"""Changes of an hourly rate or a salary: kept by the database, and taken over from the audit log."""

from __future__ import annotations

import importlib
import json
from typing import Any

import psycopg
import pytest

from tests.database.household import Household

SALARIED = ("salary", None, 104_000)
AFTER = "SELECT pay_type, pay_rate_cents, salary_cents FROM pay_changes ORDER BY id"
BEFORE = "SELECT former_pay_type, former_pay_rate_cents, former_salary_cents FROM pay_changes ORDER BY id"


@pytest.fixture
def changes(owner: psycopg.Connection, smiths: Household) -> psycopg.Connection:
    """The owner's connection to a household whose employee, at 30 dollars an hour, has had no change of pay."""
    owner.execute("DELETE FROM pay_changes")
    return owner


def test_each_change_is_kept_with_what_was_before(changes: psycopg.Connection) -> None:
    changes.execute("UPDATE employees SET pay_rate_cents = 3100")
    changes.execute(
        "UPDATE employees SET pay_type = 'salary', pay_rate_cents = NULL, overtime_rate_cents = NULL, "
        "salary_cents = 104000, salary_per = 'year'"
    )
    assert changes.execute(AFTER).fetchall() == [("hourly", 3100, None), SALARIED]
    assert changes.execute(BEFORE).fetchall() == [("hourly", 3000, None), ("hourly", 3100, None)]


def test_what_leaves_the_pay_as_it_is_is_no_change(changes: psycopg.Connection) -> None:
    changes.execute("UPDATE employees SET pay_rate_cents = pay_rate_cents, first_name = 'Ora'")
    assert changes.execute(AFTER).fetchall() == []


def test_a_change_that_is_undone_leaves_none(changes: psycopg.Connection) -> None:
    changes.execute("BEGIN")
    changes.execute("UPDATE employees SET pay_rate_cents = 3100")
    assert changes.execute(AFTER).fetchall() == [("hourly", 3100, None)]
    changes.execute("ROLLBACK")
    assert changes.execute(AFTER).fetchall() == []


def test_the_audit_log_is_taken_over(changes: psycopg.Connection, smiths: Household) -> None:
    """From a salary to 28 dollars, to 29.50, to today's 30; other changes of the record are none of the pay."""
    salaried = {"pay_type": "salary", "salary": "1040.00", "salary_per": "year", "pay_rate": None}
    for former, after in (
        (salaried, {"pay_type": "hourly", "salary": None, "salary_per": None, "pay_rate": "28.00"}),
        ({"first_name": "Ora"}, {"first_name": "Grace"}),
        ({"pay_rate": "28.00"}, {"pay_rate": "29.50"}),
        ({"pay_rate": "29.50", "email": None}, {"pay_rate": "30.00", "email": "grace@example.com"}),
    ):
        _audit(changes, smiths, {"before": former, "after": after})
    changes.execute(importlib.import_module("hearthpay.database.migrations.versions.0063_pay_rates").BACKFILL)
    assert changes.execute(BEFORE).fetchall() == [SALARIED, ("hourly", 2800, None), ("hourly", 2950, None)]
    assert changes.execute(AFTER).fetchall() == [
        ("hourly", 2800, None),
        ("hourly", 2950, None),
        ("hourly", 3000, None),
    ]
    when = "SELECT count(*) FROM pay_changes c JOIN audit_log a ON a.id = c.id AND a.at = c.changed_at"
    assert changes.execute(when).fetchone() == (3,)


def _audit(connection: psycopg.Connection, household: Household, details: dict[str, Any]) -> None:
    connection.execute(
        "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, action, subject_id, details) "
        "SELECT new_id(), organization_id, employer_id, sandbox, 'operator', 'employee.update', id, %s "
        "FROM employees WHERE id = %s",
        (json.dumps(details), household.employee_id),
    )
