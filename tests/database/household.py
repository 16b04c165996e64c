"""Rows to test with, written as the owner: the smallest household that satisfies the schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
from uuid_utils.compat import uuid7

from hearthpay.database.session import Tenant

NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Household:
    """The ids of one household's rows; every table has one row of it."""

    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    employee_id: UUID
    payroll_id: UUID
    paycheck_id: UUID
    key_hash: bytes

    @property
    def tenant(self) -> Tenant:
        """The tenant that sees everything of the organization in the household's mode."""
        return Tenant(self.organization_id, self.sandbox)


_WITHOUT_ID = (
    "assigned_rates",
    "unpacked_lines",
    "idempotency_keys",
    "payroll_entries",
    "payroll_estimates",
    "year_balances",
    "month_balances",
    "escrow_accounts",
    "household_clocks",
    "household_words",
    "metadata_entries",
    "household_dues",
    "outdated_dues",
)


def insert(connection: psycopg.Connection, table: str, **values: Any) -> UUID:
    """Insert one row and return its id, or the organization's for a table without one."""
    if table not in _WITHOUT_ID:
        values = {"id": uuid7()} | values
    columns = ", ".join(values)
    places = ", ".join(f"%({name})s" for name in values)
    result = "organization_id" if table in _WITHOUT_ID else "id"
    row = connection.execute(
        f"INSERT INTO {table} ({columns}) VALUES ({places}) RETURNING {result}", values
    ).fetchone()
    assert row is not None
    return row[0]


def add_organization(connection: psycopg.Connection, name: str) -> UUID:
    return insert(connection, "organizations", name=name)


def add_calendar(connection: psycopg.Connection, household: dict[str, Any]) -> None:
    """What a household said of its duties, and the link of its feed."""
    said = household | {"created_at": NOW, "updated_at": NOW}
    account = {"jurisdiction": "CA", "account": "sui"}
    insert(connection, "duty_marks", **said, item_key="CA/wages-quarterly/2026-Q3", done_on=NOW.date())
    insert(connection, "filing_choices", **said, **account, since_year=2026, frequency="annual")
    insert(connection, "closed_accounts", **said, **account, closed_on=NOW.date())
    policy = {"state": "CA", "kind": "workers_compensation", "carrier": "State Fund", "starts_on": NOW.date()}
    insert(connection, "insurance_policies", **said, **policy)
    insert(connection, "calendar_links", **household, token_hash=uuid7().bytes * 2, created_at=NOW)


def add_tax_ledger(connection: psycopg.Connection, household: dict[str, Any]) -> None:
    """What a household paid to a tax agency, and filed with it."""
    recorded = household | {"actor_kind": "key", "actor_id": uuid7(), "created_at": NOW}
    insert(
        connection,
        "tax_payments",
        **recorded,
        agency="ca-edd",
        jurisdiction="CA",
        account="sui",
        period="2026-Q3",
        period_start=date(2026, 7, 1),
        period_end=date(2026, 9, 30),
        item_key="CA/wages-quarterly/2026-Q3",
        amount=28120,
        paid_on=NOW.date(),
        method="bank_account",
        confirmation="0-418-229-305",
    )
    figures = {"total": 28120, "paid_with_other_items": 0, "lines": {"CA-SDI-EE": 28120}}
    insert(
        connection,
        "filings",
        **recorded,
        item_key="CA/wages-quarterly/2026-Q3",
        filed_on=NOW.date(),
        confirmation="0-418-229-304",
        figures=json.dumps(figures),
    )


def add_clock(connection: psycopg.Connection, household: dict[str, Any]) -> None:
    """The test clock of a sandbox household, which stands."""
    insert(
        connection,
        "household_clocks",
        **household,
        created_at=NOW,
        stands_at=NOW,
        status="ready",
        advanced_from=NOW,
        target=NOW,
        requested_at=NOW,
        finished_at=NOW,
    )


def add_agent(connection: psycopg.Connection, household: dict[str, Any], person_id: UUID) -> UUID:
    """An agent that a person has let in, the question that it asked, and a token of each kind."""
    client_id, later = str(uuid7()), NOW + timedelta(days=30)
    insert(
        connection,
        "agent_clients",
        client_id=client_id,
        kind="registered",
        name="Helper",
        redirect_uris=["https://agent.example.com/back"],
        address_hash=b"\x00" * 32,
        created_at=NOW,
        expires_at=later,
    )
    grant_id = insert(
        connection,
        "agent_grants",
        **household,
        person_id=person_id,
        client_id=client_id,
        client_name="Helper",
        returns_to="agent.example.com",
        tools=["preview_payroll", "run_payroll"],
        demands_preview=True,
        resource="https://pay.example.com/mcp",
        created_at=NOW,
        expires_at=later,
    )
    insert(
        connection,
        "agent_requests",
        token_hash=household["employer_id"].bytes * 2,
        client_id=client_id,
        redirect_uri="https://agent.example.com/back",
        redirect_given=True,
        code_challenge="c" * 43,
        scopes=["payroll:run"],
        resource="https://pay.example.com/mcp",
        created_at=NOW,
        expires_at=NOW + timedelta(minutes=30),
        answered_at=NOW,
        grant_id=grant_id,
        code_hash=household["employer_id"].bytes + b"code" * 4,
        code_expires_at=NOW + timedelta(minutes=1),
    )
    for kind, last in (("access", timedelta(minutes=10)), ("refresh", timedelta(days=30))):
        insert(
            connection,
            "agent_tokens",
            grant_id=grant_id,
            kind=kind,
            token_hash=household["employer_id"].bytes + kind.encode().ljust(16),
            created_at=NOW,
            expires_at=NOW + last,
        )
    return grant_id


def add_household(
    connection: psycopg.Connection, organization_id: UUID, *, sandbox: bool = False
) -> Household:
    """A household with one employee, one payroll, one paycheck, one line, one key and one audit row."""
    tenant = {"organization_id": organization_id, "sandbox": sandbox}
    employer_id = insert(
        connection,
        "employers",
        **tenant,
        first_name="Ada",
        last_name="Smith",
        email="ada@example.com",
        state="CA",
        metadata='{"a": "1"}',
    )
    household = tenant | {"employer_id": employer_id}
    insert(connection, "assigned_rates", **household, tax_year=2026, state="CA", sui_rate="0.027")
    employee_id = add_employee(connection, household)
    payroll_id = add_payroll(connection, household)
    paycheck_id = add_paycheck(connection, household, payroll_id, employee_id, in_month=True)
    insert(
        connection,
        "unpacked_lines",
        **household,
        paycheck_id=paycheck_id,
        employee_id=employee_id,
        tax_year=2026,
        position=0,
        code="US-SS-EE",
        name="Social Security",
        payer="employee",
        agency="IRS",
        category="social_security",
        subject_wages=100_000,
        taxable_wages=100_000,
        rate="0.062",
        amount=6_200,
        ytd_amount=6_200,
    )
    insert(
        connection,
        "vault",
        **household,
        owner_kind="employee",
        owner_id=employee_id,
        kind="ssn",
        ciphertext=b"\x00" * 25,
        nonce=b"\x00" * 12,
        key_id=current_key(connection),
        last_four="0000",
    )
    insert(
        connection,
        "state_registrations",
        **household,
        id=uuid7(),
        state="CA",
        number_id="edd",
        created_at=NOW,
        updated_at=NOW,
    )
    add_calendar(connection, household)
    add_tax_ledger(connection, household)
    # A trigger has added a row for each word of each name; one is enough.
    connection.execute(
        "DELETE FROM household_words WHERE employer_id = %(employer_id)s AND (owner_id, word) <> "
        "(SELECT owner_id, word FROM household_words WHERE employer_id = %(employer_id)s ORDER BY 1, 2 LIMIT 1)",
        {"employer_id": household["employer_id"]},
    )
    if sandbox:
        add_clock(connection, household)
    insert(
        connection,
        "documents",
        **household,
        kind="paystub",
        subject_id=paycheck_id,
        employee_id=employee_id,
        payroll_id=payroll_id,
        tax_year=2026,
        variant="employee-en",
        version=1,
        file_name="pay-stub.pdf",
        content_hash=b"\x00" * 32,
        sealed_content=b"\x00" * 48,
        nonce=b"\x00" * 12,
        key_id=current_key(connection),
        created_at=NOW,
    )
    insert(
        connection,
        "document_packages",
        **household,
        id=uuid7(),
        tax_year=2026,
        status="failed",
        papers=93,
        failure='{"reason": "internal_failure"}',
        requested_at=NOW,
        finished_at=NOW,
    )
    add_entry(connection, household, payroll_id, employee_id)
    add_draft(connection, household, employee_id)
    insert(connection, "payroll_estimates", **household, payroll_id=payroll_id, estimate="{}")
    insert(
        connection,
        "payroll_transitions",
        **household,
        id=uuid7(),
        payroll_id=payroll_id,
        to_status="completed",
        actor_kind="key",
        at=NOW,
    )
    insert(
        connection,
        "year_balances",
        **household,
        employee_id=employee_id,
        tax_year=2026,
        codes=["US-SS-EE"],
        taxable_wages=[100_000],
        amounts=[6_200],
        gross_pay=100_000,
        net_pay=93_800,
        employee_taxes=6_200,
        employer_taxes=6_200,
    )
    insert(
        connection,
        "month_balances",
        **household,
        employee_id=employee_id,
        tax_year=2026,
        month=date(2026, 11, 1),
        work_state="CA",
        refund=False,
        codes=["US-SS-EE"],
        subject_wages=[100_000],
        taxable_wages=[100_000],
        amounts=[6_200],
        gross_pay=100_000,
    )
    insert(
        connection,
        "prior_wages",
        **household,
        id=uuid7(),
        employee_id=employee_id,
        tax_year=2026,
        source="Another payroll",
        as_of="2026-06-30",
        gross_pay=100_000,
        net_pay=93_800,
        employee_taxes=6_200,
        employer_taxes=0,
        lines="[]",
        codes=["US-SS-EE"],
        subject_wages=[100_000],
        taxable_wages=[100_000],
        amounts=[6_200],
        warnings="[]",
        created_at=NOW,
    )
    insert(connection, "escrow_accounts", **household, employee_id=employee_id, balance=500)
    insert(
        connection,
        "escrow_movements",
        **household,
        id=uuid7(),
        employee_id=employee_id,
        paycheck_id=paycheck_id,
        kind="deposit",
        payment_method="check",
        amount=500,
        balance=500,
        created_at=NOW,
    )
    insert(
        connection,
        "wage_settlements",
        **household,
        id=uuid7(),
        payroll_id=payroll_id,
        amount=1_000,
        received_on="2026-12-04",
        told_by="the household, by check",
        settled_by_kind="operator",
        settled_at=NOW,
    )
    insert(
        connection,
        "paycheck_remedies",
        **household,
        id=uuid7(),
        payroll_id=payroll_id,
        paycheck_id=paycheck_id,
        employee_id=employee_id,
        action="wait_for_account",
        until="2026-12-04",
        decided_by_kind="key",
        decided_at=NOW,
    )
    bank_account_id = insert(
        connection,
        "bank_accounts",
        **household,
        id=uuid7(),
        account_type="checking",
        last_four="6789",
        status="active",
        verification="prenote",
        created_at=NOW,
        updated_at=NOW,
    )
    insert(
        connection,
        "ach_authorizations",
        **household,
        id=uuid7(),
        bank_account_id=bank_account_id,
        authorized_by_kind="key",
        text_version="2026-01",
        authorized_at=NOW,
        expires_at=NOW + timedelta(days=30),
    )
    insert(
        connection,
        "bank_entries",
        **household,
        id=uuid7(),
        kind="debit",
        bank_account_id=bank_account_id,
        payroll_id=payroll_id,
        amount=93_800,
        status="pending",
        send_on=date(2026, 11, 20),
        settle_on=date(2026, 11, 23),
        created_at=NOW,
        updated_at=NOW,
    )
    add_enrollment(connection, household, employee_id, payroll_id, bank_account_id)
    mail_id = insert(
        connection,
        "mail_outbox",
        **household,
        id=uuid7(),
        employee_id=employee_id,
        kind="invitation",
        status="withheld" if sandbox else "sent",
        created_at=NOW,
        expires_at=NOW + timedelta(days=7),
        due_at=NOW,
        finished_at=NOW,
    )
    invitation_id = insert(
        connection,
        "invitations",
        **household,
        mail_id=mail_id,
        employee_id=employee_id,
        type="tax_info",
        token_hash=employee_id.bytes * 2,
        email_sent=False,
        created_at=NOW,
        expires_at=NOW + timedelta(days=7),
    )
    insert(connection, "idempotency_keys", **tenant, key=f"key of {employer_id}", request_hash=b"\x00" * 32)
    insert(connection, "audit_log", **household, actor_kind="operator", action="household.create")
    person_id = insert(
        connection,
        "people",
        email=f"{employer_id}@example.com",
        name="Ada Smith",
        language="en",
        created_at=NOW,
        updated_at=NOW,
    )
    insert(
        connection,
        "employee_links",
        **household,
        employee_id=employee_id,
        person_id=person_id,
        invitation_id=invitation_id,
        linked_at=NOW,
    )
    insert(
        connection,
        "pay_changes",
        **household,
        employee_id=employee_id,
        changed_at=NOW,
        former_pay_type="hourly",
        pay_type="hourly",
        pay_rate_cents=3_000,
    )
    insert(
        connection,
        "signed_certificates",
        **household,
        employee_id=employee_id,
        jurisdiction="US",
        form="W-4",
        law_year=2026,
        rulebook_version="2026.1",
        wording="2026-11",
        language="en",
        asked="[]",
        answered="{}",
        entries="{}",
        signed_name="Ada Smith",
        signed_on=NOW.date(),
        signed_at=NOW,
        person_id=person_id,
    )
    [(document_id,)] = connection.execute(
        "SELECT id FROM documents WHERE employer_id = %s", (employer_id,)
    ).fetchall()
    insert(
        connection,
        "paper_signatures",
        **household,
        employee_id=employee_id,
        document_id=document_id,
        party="employee",
        signed_name="Ada Smith",
        signed_at=NOW,
        person_id=person_id,
    )
    insert(
        connection,
        "former_addresses",
        **household,
        employee_id=employee_id,
        address=f"former-{employer_id}@example.com",
        changed_at=NOW,
        told_until=NOW + timedelta(days=7),
    )
    insert(
        connection,
        "account_changes",
        **household,
        employee_id=employee_id,
        status="withdrawn",
        account_type="checking",
        last_four="6789",
        asked_at=NOW,
        effective_at=NOW + timedelta(days=1),
        ended_at=NOW,
    )
    insert(connection, "set_aside_requests", **household, employee_id=employee_id, rate="0.05", asked_at=NOW)
    insert(
        connection,
        "memberships",
        organization_id=organization_id,
        person_id=person_id,
        role="owner",
        joined_at=NOW,
    )
    add_agent(connection, household, person_id)
    insert(
        connection,
        "member_invitations",
        organization_id=organization_id,
        email=f"{employer_id}@example.com",
        role="viewer",
        token_hash=employer_id.bytes * 2,
        created_at=NOW,
        expires_at=NOW + timedelta(days=7),
    )
    key_hash = employer_id.bytes * 2
    insert(
        connection,
        "api_keys",
        organization_id=organization_id,
        employer_id=employer_id,
        mode="test" if sandbox else "live",
        scopes=["payroll"],
        key_hash=key_hash,
        last_four="abcd",
    )
    # Triggers have noted each of these rows; one note is enough.
    connection.execute(
        "DELETE FROM outdated_dues WHERE employer_id = %(employer_id)s AND id <> "
        "(SELECT id FROM outdated_dues WHERE employer_id = %(employer_id)s ORDER BY id LIMIT 1)",
        {"employer_id": household["employer_id"]},
    )
    return Household(organization_id, employer_id, sandbox, employee_id, payroll_id, paycheck_id, key_hash)


def current_key(connection: psycopg.Connection) -> str:
    """The id of the key that encrypts; of some key where nothing was encrypted yet."""
    row = connection.execute("SELECT id FROM vault_keys WHERE status = 'current'").fetchone()
    return "k" if row is None else row[0]


def add_employee(connection: psycopg.Connection, household: dict[str, Any]) -> UUID:
    return insert(
        connection,
        "employees",
        **household,
        first_name="Grace",
        last_name="Miller",
        work_state="CA",
        residence_state="CA",
        pay_rate_cents=3_000,
        overtime_rate_cents=4_500,
        pay_frequency="weekly",
        start_date=date(2026, 1, 1),
    )


def add_enrollment(
    connection: psycopg.Connection,
    household: dict[str, Any],
    employee_id: UUID,
    payroll_id: UUID,
    bank_account_id: UUID,
) -> UUID:
    """One row of each table of Autopilot."""
    enrollment_id = insert(
        connection,
        "autopilot_enrollments",
        **household,
        employee_id=employee_id,
        status="active",
        first_start=date(2026, 11, 9),
        next_start=date(2026, 11, 16),
        next_end=date(2026, 11, 22),
        next_pay_date=date(2026, 11, 27),
        generate_at=NOW,
        enrolled_by_kind="user",
        enrolled_at=NOW,
        updated_at=NOW,
    )
    of_enrollment = household | {"enrollment_id": enrollment_id}
    insert(
        connection,
        "autopilot_versions",
        **of_enrollment,
        number=1,
        from_period=date(2026, 11, 9),
        frequency="weekly",
        anchor=date(2026, 11, 9),
        pay_days_after=5,
        standard_hours=40,
        expected_net=93_800,
        made_by_kind="user",
        made_at=NOW,
    )
    insert(
        connection,
        "autopilot_authorizations",
        **of_enrollment,
        bank_account_id=bank_account_id,
        text_version="2026-01",
        agreed_text="I agree.",
        authorized_by_kind="user",
        authorized_at=NOW,
    )
    insert(
        connection,
        "autopilot_periods",
        **of_enrollment,
        employee_id=employee_id,
        version=1,
        period_start=date(2026, 11, 9),
        period_end=date(2026, 11, 15),
        pay_date=date(2026, 11, 20),
        send_at=NOW,
        outcome="paid",
        payroll_id=payroll_id,
        net_pay=93_800,
        decided_at=NOW,
    )
    insert(
        connection,
        "autopilot_events",
        **of_enrollment,
        employee_id=employee_id,
        event="enroll",
        at=NOW,
        actor_kind="user",
        source="app",
        details="{}",
    )
    insert(
        connection,
        "autopilot_errands",
        **of_enrollment,
        kind="enrolled",
        details="{}",
        due_at=NOW,
    )
    return enrollment_id


def add_draft(connection: psycopg.Connection, household: dict[str, Any], employee_id: UUID) -> UUID:
    """What somebody typed of the next payroll."""
    typed = {"employee_id": str(employee_id), "payment_method": None}
    typed |= {"regular_hours": "40", "overtime_hours": "0", "bonus": "0", "other_earnings": "0"}
    return insert(
        connection,
        "payroll_drafts",
        **household,
        period_start=date(2026, 11, 16),
        period_end=date(2026, 11, 22),
        pay_date=date(2026, 11, 27),
        pay_frequency="weekly",
        employees=json.dumps([typed]),
        created_at=NOW,
        updated_at=NOW,
    )


def add_payroll(connection: psycopg.Connection, household: dict[str, Any]) -> UUID:
    return insert(
        connection,
        "payrolls",
        **household,
        status="completed",
        period_start=date(2026, 11, 9),
        period_end=date(2026, 11, 15),
        pay_date=date(2026, 11, 20),
        pay_date_defaulted=False,
        pay_frequency="weekly",
        rulebook_version="2026.1",
        tax_year=2026,
        gross_pay=100_000,
        total_deductions=6_200,
        net_pay=93_800,
        employer_taxes=6_200,
        total_cost=106_200,
        created_by_kind="key",
    )


def add_entry(
    connection: psycopg.Connection,
    household: dict[str, Any],
    payroll_id: UUID,
    employee_id: UUID,
    *,
    period: str = "[2026-11-09,2026-11-15]",
    position: int = 0,
    live: bool = True,
) -> UUID:
    return insert(
        connection,
        "payroll_entries",
        **household,
        payroll_id=payroll_id,
        position=position,
        employee_id=employee_id,
        period=period,
        live=live,
        payment_method="check",
        regular_hours="33.33",
        regular_pay=100_000,
        overtime_hours=0,
        overtime_pay=0,
        bonus=0,
        other_earnings=0,
    )


def add_paycheck(
    connection: psycopg.Connection,
    household: dict[str, Any],
    payroll_id: UUID,
    employee_id: UUID,
    *,
    period: str = "[2026-11-09,2026-11-15]",
    position: int = 0,
    in_month: bool = False,
    by_former_program: bool = False,
) -> UUID:
    """Insert a paycheck with a line; a program of the version before adds its lines later.

    Unless `in_month` says that the test adds it to its month, the database does at the commit.
    """
    lines = (
        {}
        if by_former_program
        else {
            "line_set_id": add_line_set(
                connection, ("US-SS-EE", "Social Security", "employee", "IRS", "social_security")
            ),
            "line_subject_wages": [100_000],
            "line_taxable_wages": [100_000],
            "line_rates": [Decimal("0.062")],
            "line_amounts": [6_200],
            "line_ytd_amounts": [6_200],
        }
    )
    return insert(
        connection,
        "paychecks",
        **household,
        payroll_id=payroll_id,
        employee_id=employee_id,
        position=position,
        tax_year=2026,
        period=period,
        payment_method="check",
        regular_hours="33.33",
        regular_pay=100_000,
        overtime_hours=0,
        overtime_pay=0,
        bonus=0,
        other_earnings=0,
        gross_pay=100_000,
        employee_taxes=6_200,
        employer_taxes=6_200,
        net_pay=93_800,
        total_cost=106_200,
        ytd_gross_pay=100_000,
        ytd_net_pay=93_800,
        ytd_employee_taxes=6_200,
        ytd_employer_taxes=6_200,
        employee_name="Grace Miller",
        work_state="CA",
        residence_state="CA",
        in_month=in_month,
        **lines,
    )


def add_line_set(connection: psycopg.Connection, *lines: tuple[str, str, str, str, str]) -> int:
    """The id of the set of these lines: code, name, payer, agency and category of each; it is added if it is new."""
    columns = [list(column) for column in zip(*lines, strict=True)]
    row = connection.execute(
        "WITH new AS (INSERT INTO line_sets SELECT line_set_id(v.c, v.n, v.p, v.a, v.k), v.* "
        "FROM (VALUES (%s::text[], %s::text[], %s::text[], %s::text[], %s::text[])) v (c, n, p, a, k) "
        "ON CONFLICT DO NOTHING) SELECT line_set_id(%s, %s, %s, %s, %s)",
        columns * 2,
    ).fetchone()
    assert row is not None
    return row[0]
