"""Months are right whoever posts: the migration fills them, and a trigger adds what a writer doesn't add itself."""

from __future__ import annotations

import importlib
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.database.household import Household, add_paycheck, add_payroll

MONTHS = (
    "SELECT month::text, codes, subject_wages, taxable_wages, amounts, gross_pay FROM month_balances "
    "WHERE employee_id = %s ORDER BY month"
)
FIRST = ("2026-11-01", ["US-SS-EE"], [100_000], [100_000], [6_200], 100_000)


def _post(owner: psycopg.Connection, smiths: Household, lines: dict[str, int], *, week: int) -> UUID:
    """Insert a payroll with a paycheck and then its lines, as the program of the version before does."""
    tenant: dict[str, Any] = {
        "organization_id": smiths.organization_id,
        "employer_id": smiths.employer_id,
        "sandbox": smiths.sandbox,
    }
    payroll_id = add_payroll(owner, tenant)
    period = f"[2026-10-{week:02},2026-10-{week:02}]"
    paycheck_id = add_paycheck(
        owner, tenant, payroll_id, smiths.employee_id, period=period, by_former_program=True
    )
    owner.execute(
        "INSERT INTO paycheck_lines (organization_id, employer_id, sandbox, paycheck_id, employee_id, tax_year, "
        "position, code, name, payer, agency, category, subject_wages, taxable_wages, rate, amount, ytd_amount) "
        "SELECT %(organization_id)s, %(employer_id)s, %(sandbox)s, %(paycheck)s, %(employee)s, 2026, l.number - 1, "
        "l.code, 'A tax', 'employee', 'IRS', 'other', 100000, 50000, 0.01, l.amount, l.amount "
        "FROM unnest(%(codes)s::text[], %(amounts)s::bigint[]) WITH ORDINALITY AS l (code, amount, number)",
        tenant
        | {
            "paycheck": paycheck_id,
            "employee": smiths.employee_id,
            "codes": list(lines),
            "amounts": list(lines.values()),
        },
    )
    return payroll_id


def test_a_paycheck_of_a_writer_that_knows_no_months_is_added_at_the_commit(
    owner: psycopg.Connection, smiths: Household
) -> None:
    with owner.transaction():
        _post(owner, smiths, {"US-SS-EE": 100, "CA-SDI-EE": 7}, week=1)
        assert owner.execute(MONTHS, (smiths.employee_id,)).fetchall() == [FIRST]
    assert owner.execute(MONTHS, (smiths.employee_id,)).fetchall() == [
        (
            "2026-11-01",
            ["CA-SDI-EE", "US-SS-EE"],
            [100_000, 200_000],
            [50_000, 150_000],
            [7, 6_300],
            200_000,
        )
    ]


def test_its_month_is_that_of_the_pay_date_at_the_commit(
    owner: psycopg.Connection, smiths: Household
) -> None:
    with owner.transaction():
        payroll_id = _post(owner, smiths, {"US-SS-EE": 100}, week=1)
        owner.execute("UPDATE payrolls SET pay_date = '2026-12-02' WHERE id = %s", (payroll_id,))
    assert owner.execute(MONTHS, (smiths.employee_id,)).fetchall() == [
        FIRST,
        ("2026-12-01", ["US-SS-EE"], [100_000], [50_000], [100], 100_000),
    ]


def test_a_paycheck_without_lines_adds_its_gross_pay(owner: psycopg.Connection, smiths: Household) -> None:
    owner.execute("DELETE FROM month_balances")
    with owner.transaction():
        for week in (1, 2):
            _post(owner, smiths, {}, week=week)
    assert owner.execute(MONTHS, (smiths.employee_id,)).fetchall() == [
        ("2026-11-01", [], [], [], [], 200_000)
    ]


@pytest.mark.parametrize("which", ["true", "recent"])
def test_the_migration_fills_the_months_from_the_ledger(
    owner: psycopg.Connection, smiths: Household, which: str
) -> None:
    module = importlib.import_module("hearthpay.database.migrations.versions.0066_month_balances")
    with owner.transaction():
        _post(owner, smiths, {"US-SS-EE": 100, "CA-SDI-EE": 7}, week=1)
        _post(owner, smiths, {"US-FIT": 900}, week=2)
    kept = owner.execute(MONTHS, (smiths.employee_id,)).fetchall()
    owner.execute("DELETE FROM month_balances")
    owner.execute(module.FILL.replace("{which}", module.AGAIN if which == "recent" else which))
    assert owner.execute(MONTHS, (smiths.employee_id,)).fetchall() == kept
    assert kept[0][1] == ["CA-SDI-EE", "US-FIT", "US-SS-EE"]
