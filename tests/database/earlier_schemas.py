"""Filled databases of every earlier schema, made by the landed migrations themselves.

What is written is what a program of that time would have written: a household in Texas, an employee, a completed
payroll of hers by check, and from 0006 on a scheduled one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import psycopg
from uuid_utils.compat import uuid7

from hearthpay.database.migrations import migrate
from tests.conftest import plain_url

REVISIONS = (
    "0001",
    "0002",
    "0003",
    "0004",
    "0005",
    "0006",
    "0006-first",
    "0006-second",
    "0007",
    "0007-first",
)
"""Each landed revision; `first` and `second` are the texts that 0006 had before the one that stands today."""

# The texts of 0006 differ in this, and in nothing else.
_AS_THE_SECOND_TEXT = "ALTER TABLE payroll_entries DROP COLUMN regular_pay, DROP COLUMN overtime_pay"
_AS_THE_FIRST_TEXT = (
    f"{_AS_THE_SECOND_TEXT}; "
    "CREATE INDEX paycheck_lines_year_to_date_idx ON paycheck_lines (employee_id, tax_year, code) "
    "INCLUDE (taxable_wages, amount); DROP INDEX payrolls_due_idx; CREATE INDEX payrolls_due_idx ON payrolls "
    "(coalesce(next_attempt_at, scheduled_send_at)) WHERE status = 'scheduled'"
)
_NOW = datetime(2026, 11, 6, 15, tzinfo=UTC)
_LINES = (
    ("US-SS-EE", "employee", "social_security", "0.062", 6_200),
    ("US-MED-EE", "employee", "medicare", "0.0145", 1_450),
    ("US-SS-ER", "employer", "social_security", "0.062", 6_200),
    ("US-MED-ER", "employer", "medicare", "0.0145", 1_450),
)


@dataclass(frozen=True, slots=True)
class Past:
    """The rows of the household."""

    organization_id: UUID
    employer_id: UUID
    employee_id: UUID
    payroll_id: UUID
    scheduled_id: UUID | None


def build(url: str, revision: str) -> Past:
    """Make the schema of `revision` in the empty database, and fill it."""
    number, _, text = revision.partition("-")
    steps = [number] if not text or number == "0006" else ["0006", number]
    migrate(url, revision=steps[0])
    with psycopg.connect(plain_url(url), autocommit=True) as connection:
        if text:
            connection.execute(_AS_THE_FIRST_TEXT if text == "first" else _AS_THE_SECOND_TEXT)
    for step in steps[1:]:
        migrate(url, revision=step)
    with psycopg.connect(plain_url(url), autocommit=True) as connection:
        return _fill(connection, int(number), has_pay=not text)


def _fill(connection: psycopg.Connection, number: int, *, has_pay: bool) -> Past:
    organization_id, employer_id, employee_id, payroll_id, paycheck_id = (uuid7() for _ in range(5))
    insert(connection, "organizations", id=organization_id, name="Lopez")
    tenant: dict[str, Any] = {"organization_id": organization_id, "sandbox": False}
    person = {"first_name": "Maria", "last_name": "Lopez", "email": "maria@example.com"}
    insert(connection, "employers", id=employer_id, **tenant, **person, state="TX", is_primary=True)
    household = tenant | {"employer_id": employer_id}
    insert(
        connection,
        "employees",
        id=employee_id,
        **household,
        first_name="Rosa",
        last_name="Diaz",
        work_state="TX",
        residence_state="TX",
        pay_rate_cents=2_500,
        overtime_rate_cents=3_750,
        pay_frequency="weekly",
        start_date=date(2026, 1, 5),
    )
    payroll = {
        **household,
        "pay_date_defaulted": False,
        "pay_frequency": "weekly",
        "rulebook_version": "2026.1",
        "tax_year": 2026,
        "gross_pay": 100_000,
        "total_deductions": 7_650,
        "net_pay": 92_350,
        "employer_taxes": 7_650,
        "total_cost": 107_650,
        "created_by_kind": "key",
        "created_at": _NOW,
    }
    october = {
        "period_start": date(2026, 10, 26),
        "period_end": date(2026, 11, 1),
        "pay_date": date(2026, 11, 6),
    }
    insert(connection, "payrolls", id=payroll_id, **payroll, **october, status="completed")
    _trace(connection, household, payroll_id)
    parts = {"regular_hours": 40, "overtime_hours": 0, "bonus": 0, "other_earnings": 0}
    pays = {"regular_pay": 100_000, "overtime_pay": 0}
    insert(
        connection,
        "paychecks",
        id=paycheck_id,
        **household,
        **parts,
        **pays,
        payroll_id=payroll_id,
        employee_id=employee_id,
        position=0,
        tax_year=2026,
        period="[2026-10-26,2026-11-01]",
        payment_method="check",
        gross_pay=100_000,
        employee_taxes=7_650,
        employer_taxes=7_650,
        net_pay=92_350,
        total_cost=107_650,
        ytd_gross_pay=100_000,
        ytd_net_pay=92_350,
        ytd_employee_taxes=7_650,
        ytd_employer_taxes=7_650,
        employee_name="Rosa Diaz",
        work_state="TX",
        residence_state="TX",
    )
    for position, (code, payer, category, rate, amount) in enumerate(_LINES):
        insert(
            connection,
            "paycheck_lines",
            **household,
            paycheck_id=paycheck_id,
            employee_id=employee_id,
            tax_year=2026,
            position=position,
            code=code,
            name=code,
            payer=payer,
            agency="IRS",
            category=category,
            subject_wages=100_000,
            taxable_wages=100_000,
            rate=rate,
            amount=amount,
            ytd_amount=amount,
        )
    if number < 6:
        return Past(organization_id, employer_id, employee_id, payroll_id, None)

    entry = {**household, **parts, "position": 0, "employee_id": employee_id, "payment_method": "check"}
    if has_pay:
        entry |= pays
    insert(connection, "payroll_entries", **entry, payroll_id=payroll_id, period="[2026-10-26,2026-11-01]")
    codes = sorted(_LINES)
    insert(
        connection,
        "year_balances",
        **household,
        employee_id=employee_id,
        tax_year=2026,
        codes=[line[0] for line in codes],
        taxable_wages=[100_000 for _ in codes],
        amounts=[line[4] for line in codes],
        gross_pay=100_000,
        net_pay=92_350,
        employee_taxes=7_650,
        employer_taxes=7_650,
    )
    _history(connection, household, payroll_id, "completed")
    if number >= 11:
        insert(connection, "vault_keys", id="k1", status="current")
    for owner in ({}, {"employee_id": employee_id}):
        insert(
            connection,
            "vault",
            **household,
            id=uuid7(),
            owner_kind="employee" if owner else "employer",
            owner_id=employee_id if owner else employer_id,
            kind="bank_account",
            ciphertext=bytes(26),
            nonce=bytes(12),
            key_id="k1",
            last_four="6789",
        )
        account_id = uuid7()
        insert(
            connection,
            "bank_accounts",
            **household,
            **owner,
            id=account_id,
            account_type="checking",
            last_four="6789",
            status="active",
            verification="prenote",
            created_at=_NOW,
            updated_at=_NOW,
        )
        if not owner:
            insert(
                connection,
                "ach_authorizations",
                **household,
                id=uuid7(),
                bank_account_id=account_id,
                authorized_by_kind="key",
                text_version="2026-01",
                authorized_at=_NOW,
                expires_at=datetime(2026, 12, 6, tzinfo=UTC),
            )
    scheduled_id = uuid7()
    november = {
        "period_start": date(2026, 11, 2),
        "period_end": date(2026, 11, 8),
        "pay_date": date(2026, 12, 1),
    }
    nothing_yet = dict.fromkeys(
        ("gross_pay", "total_deductions", "net_pay", "employer_taxes", "total_cost"), 0
    )
    insert(
        connection,
        "payrolls",
        **(payroll | nothing_yet),
        **november,
        id=scheduled_id,
        status="scheduled",
        direct_deposit=True,
        scheduled_send_at=datetime(2026, 11, 23, 20, tzinfo=UTC),
    )
    insert(
        connection,
        "payroll_entries",
        **(entry | {"payment_method": "direct_deposit"}),
        payroll_id=scheduled_id,
        period="[2026-11-02,2026-11-08]",
    )
    _trace(connection, household, scheduled_id)
    _history(connection, household, scheduled_id, "scheduled")
    return Past(organization_id, employer_id, employee_id, payroll_id, scheduled_id)


def _trace(connection: psycopg.Connection, household: dict[str, Any], payroll_id: UUID) -> None:
    insert(
        connection,
        "audit_log",
        **household,
        id=uuid7(),
        actor_kind="key",
        action="payroll.run",
        subject_id=payroll_id,
        details="{}",
    )


def _history(
    connection: psycopg.Connection, household: dict[str, Any], payroll_id: UUID, status: str
) -> None:
    insert(
        connection,
        "payroll_transitions",
        **household,
        id=uuid7(),
        payroll_id=payroll_id,
        to_status=status,
        actor_kind="key",
        at=_NOW,
    )


def insert(connection: psycopg.Connection, table: str, **values: Any) -> None:
    places = ", ".join(f"%({name})s" for name in values)
    connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", values)
