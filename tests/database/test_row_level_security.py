"""No statement of the service's role, however wrong or hostile, reaches another tenant's rows."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors
from sqlalchemy import text

from hearthpay.database.embedded import OWNER_ROLE
from hearthpay.database.session import Database, Tenant
from tests.database.household import Household, add_household, insert
from tests.database.sealing import enter
from tests.worlds.tables import INSTALLATION_TABLES, SANDBOX_ONLY, TABLES

OF_BOTH_MODES = tuple(table for table in TABLES if table not in SANDBOX_ONLY)

HOUSEHOLD_TABLES = tuple(
    table
    for table in OF_BOTH_MODES
    if table
    not in (
        "organizations",
        "employers",
        "idempotency_keys",
        "assigned_rates",
        "memberships",
        "member_invitations",
    )
)


def count(connection: psycopg.Connection, table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert row is not None
    return row[0]


def rows_of_every(
    connection: psycopg.Connection, tables: Sequence[str], column: str
) -> dict[str, list[tuple[object, ...]]]:
    """What the connection sees of this column in each table."""
    return {table: connection.execute(f"SELECT {column} FROM {table}").fetchall() for table in tables}


def test_without_a_tenant_nothing_is_visible(
    service: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    def seen() -> dict[str, int]:
        return {table: count(service, table) for table in OF_BOTH_MODES}

    nothing, one = dict.fromkeys(OF_BOTH_MODES, 0), dict.fromkeys(OF_BOTH_MODES, 1)
    assert seen() == nothing
    enter(service, smiths.organization_id)
    assert seen() == one
    # A setting that was made and taken back reads as '' and must hide everything again.
    service.execute("RESET ALL")
    assert seen() == nothing


def test_each_tenant_sees_its_own_rows_only(
    service: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    others = [table for table in OF_BOTH_MODES if table != "organizations"]
    for household in (smiths, joneses):
        enter(service, household.organization_id)
        own = [(household.organization_id,)]
        assert rows_of_every(service, others, "organization_id") == dict.fromkeys(others, own)
        assert rows_of_every(service, ["organizations"], "id") == {"organizations": own}


def test_real_and_sandbox_rows_never_mix(
    owner: psycopg.Connection, service: psycopg.Connection, smiths: Household
) -> None:
    of_no_mode = ("organizations", "api_keys", "memberships", "member_invitations")
    tables = [table for table in OF_BOTH_MODES if table not in of_no_mode]
    add_household(owner, smiths.organization_id, sandbox=True)
    for sandbox in (False, True):
        enter(service, smiths.organization_id, sandbox=sandbox)
        assert rows_of_every(service, tables, "sandbox") == {table: [(sandbox,)] for table in tables}


def test_a_household_scope_hides_the_organizations_other_households(
    owner: psycopg.Connection, service: psycopg.Connection, smiths: Household
) -> None:
    second = add_household(owner, smiths.organization_id)
    enter(service, smiths.organization_id)
    assert {table: count(service, table) for table in HOUSEHOLD_TABLES} == dict.fromkeys(HOUSEHOLD_TABLES, 2)
    enter(service, smiths.organization_id, employer_id=second.employer_id)
    own = [(second.employer_id,)]
    assert rows_of_every(service, HOUSEHOLD_TABLES, "employer_id") == dict.fromkeys(HOUSEHOLD_TABLES, own)
    assert service.execute("SELECT id FROM employers").fetchall() == own


def test_an_idempotency_key_is_seen_by_its_household_and_by_whoever_reaches_all(
    service: psycopg.Connection, owner: psycopg.Connection, smiths: Household
) -> None:
    second = add_household(owner, smiths.organization_id)
    homes = (smiths.employer_id, second.employer_id)
    for home in homes:
        enter(service, smiths.organization_id, employer_id=home)
        claim = {"organization_id": smiths.organization_id, "sandbox": False, "request_hash": b"1"}
        insert(service, "idempotency_keys", **claim, key="once")
    seen = "SELECT confined_to FROM idempotency_keys WHERE key = 'once' ORDER BY confined_to"
    for home in homes:
        enter(service, smiths.organization_id, employer_id=home)
        assert service.execute(seen).fetchall() == [(home,)]
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            insert(service, "idempotency_keys", **claim, key="forged", confined_to=UUID(int=1))
    enter(service, smiths.organization_id)
    assert service.execute(seen).fetchall() == [(home,) for home in sorted(homes)]


@pytest.mark.parametrize("table", SANDBOX_ONLY)
def test_rows_of_the_sandbox_alone_are_seen_by_their_household(
    table: str, owner: psycopg.Connection, service: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    _, second = (add_household(owner, smiths.organization_id, sandbox=True) for _ in range(2))
    assert count(service, table) == 0
    for organization_id, sandbox in ((smiths.organization_id, False), (joneses.organization_id, True)):
        enter(service, organization_id, sandbox=sandbox)
        assert count(service, table) == 0
    enter(service, smiths.organization_id, sandbox=True)
    assert count(service, table) == 2
    enter(service, smiths.organization_id, sandbox=True, employer_id=second.employer_id)
    assert service.execute(f"SELECT employer_id FROM {table}").fetchall() == [(second.employer_id,)]
    with pytest.raises(errors.InsufficientPrivilege):
        service.execute(f"DELETE FROM {table}")


def test_a_foreign_row_cannot_be_changed_or_locked(
    service: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    enter(service, smiths.organization_id)
    changed = service.execute("UPDATE employees SET last_name = 'X' WHERE id = %s", (joneses.employee_id,))
    assert changed.rowcount == 0
    locked = service.execute("SELECT FROM employees WHERE id = %s FOR UPDATE", (joneses.employee_id,))
    assert locked.rowcount == 0


def test_a_row_cannot_be_written_for_or_moved_to_another_tenant(
    service: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    enter(service, smiths.organization_id)
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        insert(
            service,
            "audit_log",
            organization_id=joneses.organization_id,
            sandbox=False,
            actor_kind="system",
            action="forge",
        )
    for change in ("organization_id = %(organization)s, employer_id = %(employer)s", "sandbox = true"):
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            service.execute(
                f"UPDATE employees SET {change} WHERE id = %(id)s",
                {
                    "id": smiths.employee_id,
                    "organization": joneses.organization_id,
                    "employer": joneses.employer_id,
                },
            )


def test_a_row_cannot_belong_to_one_tenant_and_hang_on_another(
    owner: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    """Not even the owner, whom no policy binds, can attach a household's row to a foreign household."""
    with pytest.raises(errors.ForeignKeyViolation):
        owner.execute(
            "UPDATE employees SET employer_id = %s WHERE id = %s", (joneses.employer_id, smiths.employee_id)
        )
    with pytest.raises(errors.ForeignKeyViolation):
        owner.execute(
            "UPDATE paychecks SET employee_id = %s WHERE id = %s",
            (joneses.employee_id, smiths.paycheck_id),
        )


@pytest.mark.parametrize(
    "escape",
    [
        f"SET ROLE {OWNER_ROLE}",
        f"SET SESSION AUTHORIZATION {OWNER_ROLE}",
        "ALTER TABLE employees DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE employees NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY tenant ON employees",
        "ALTER POLICY tenant ON employees USING (true)",
        "CREATE POLICY more ON employees USING (true)",
        "CREATE TABLE loot AS SELECT 1",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN 1",
        "ALTER ROLE hearthpay_service BYPASSRLS",
        "ALTER ROLE hearthpay_service SUPERUSER",
        "CREATE ROLE friend SUPERUSER",
        f"GRANT {OWNER_ROLE} TO hearthpay_service",
        "ALTER FUNCTION authenticate_api_key(bytea) SECURITY INVOKER",
        "SET session_replication_role = replica",
        "COPY employees TO PROGRAM 'cat'",
        "SELECT pg_read_file('PG_VERSION')",
        "SELECT rolpassword FROM pg_authid",
        "TRUNCATE employees",
    ],
)
def test_the_service_cannot_shake_off_its_bonds(escape: str, service: psycopg.Connection) -> None:
    with pytest.raises((errors.InsufficientPrivilege, errors.DependentObjectsStillExist)):
        service.execute(escape)


def test_switching_row_security_off_refuses_instead_of_revealing(
    service: psycopg.Connection, smiths: Household
) -> None:
    service.execute("SET row_security = off")
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        service.execute("SELECT * FROM employees")


WRITTEN_FOR_GOOD = (
    "UPDATE audit_log SET action = 'nothing'",
    "DELETE FROM audit_log",
    "DELETE FROM unpacked_lines",
    "UPDATE unpacked_lines SET amount = 0",
    "DELETE FROM line_sets",
    "UPDATE line_sets SET names = names",
    "SELECT FROM line_sets FOR UPDATE",
    "DELETE FROM paychecks",
    "UPDATE paychecks SET line_set_id = 0",
    "UPDATE paychecks SET line_amounts[1] = 0",
    "UPDATE paychecks SET line_ytd_amounts = '{}'",
    "UPDATE paychecks SET net_pay = 0",
    "UPDATE paychecks SET reverses = id",
    "UPDATE payroll_entries SET regular_hours = 0",
    "DELETE FROM payroll_entries",
    "UPDATE payroll_estimates SET estimate = '{}'",
    "DELETE FROM payroll_transitions",
    "UPDATE payroll_transitions SET to_status = 'voided'",
    "DELETE FROM year_balances",
    "DELETE FROM month_balances",
    "UPDATE month_balances SET month = '2026-01-01'",
    "UPDATE month_balances SET work_state = 'TX'",
    "DELETE FROM prior_wages",
    "UPDATE prior_wages SET gross_pay = 0",
    "DELETE FROM escrow_movements",
    "UPDATE escrow_movements SET amount = 1",
    "UPDATE bank_entries SET amount = 1",
    "DELETE FROM bank_entries",
    "UPDATE ach_authorizations SET expires_at = now()",
    "UPDATE paycheck_remedies SET until = '2027-01-01'",
    "DELETE FROM paycheck_remedies",
    "SELECT * FROM bank_files",
    "SELECT * FROM bank_intake",
    "SELECT * FROM bank_trace_numbers",
    "DELETE FROM payrolls",
    "UPDATE payrolls SET net_pay = 0",
    "DELETE FROM employees",
    "DELETE FROM employers",
    "DELETE FROM idempotency_keys",
    "UPDATE idempotency_keys SET request_hash = ''",
    "INSERT INTO organizations (id, name) VALUES (new_id(), 'x')",
    "UPDATE organizations SET name = 'x'",
    "UPDATE api_keys SET revoked_at = NULL",
    "DELETE FROM api_keys",
    "UPDATE assigned_rates SET tax_year = 2025",
    "UPDATE assigned_rates SET sandbox = NOT sandbox",
    "DELETE FROM assigned_rates",
    "DELETE FROM vault",
    "UPDATE vault SET owner_id = employer_id",
    "DELETE FROM state_registrations",
    "UPDATE state_registrations SET number_id = 'sui'",
    "DELETE FROM duty_marks",
    "UPDATE duty_marks SET item_key = 'CA/other/2026'",
    "DELETE FROM payroll_drafts",
    "UPDATE payroll_drafts SET employer_id = id",
    "UPDATE payroll_drafts SET created_at = updated_at",
    "DELETE FROM filing_choices",
    "UPDATE filing_choices SET since_year = 2025",
    "DELETE FROM insurance_policies",
    "UPDATE insurance_policies SET state = 'NY'",
    "DELETE FROM pay_changes",
    "UPDATE pay_changes SET pay_rate_cents = 1",
    "DELETE FROM closed_accounts",
    "UPDATE closed_accounts SET account = 'withholding'",
    "DELETE FROM household_words",
    "UPDATE household_words SET word = 'x'",
    "INSERT INTO household_words SELECT * FROM household_words",
    "DELETE FROM metadata_entries",
    "UPDATE metadata_entries SET value = 'x'",
    "INSERT INTO metadata_entries SELECT * FROM metadata_entries",
    "UPDATE payrolls SET metadata = '{}'",
    "DELETE FROM household_dues",
    "UPDATE household_dues SET overdue_count = 0",
    "INSERT INTO household_dues SELECT * FROM household_dues",
    "DELETE FROM outdated_dues",
    "UPDATE outdated_dues SET id = id",
    "INSERT INTO outdated_dues SELECT * FROM outdated_dues",
    "DELETE FROM tax_payments",
    "UPDATE tax_payments SET amount = 1",
    "UPDATE tax_payments SET reverses = NULL",
    "SELECT FROM tax_payments FOR UPDATE",
    "DELETE FROM filings",
    "UPDATE filings SET figures = '{}'",
    "UPDATE filings SET filed_on = filed_on - 1",
    "DELETE FROM calendar_links",
    "UPDATE calendar_links SET token_hash = '\\x'",
    "SELECT token_hash FROM calendar_links",
    "DELETE FROM documents",
    "INSERT INTO employee_links SELECT * FROM employee_links",
    "UPDATE employee_links SET person_id = person_id",
    "DELETE FROM signed_certificates",
    "UPDATE signed_certificates SET answered = '{}'",
    "UPDATE signed_certificates SET signed_name = 'X'",
    "UPDATE signed_certificates SET entries = '{}'",
    "UPDATE account_changes SET effective_at = asked_at",
    "UPDATE account_changes SET bank_account_id = NULL",
    "UPDATE set_aside_requests SET amount = 1",
    "UPDATE documents SET sealed_content = ''",
    "UPDATE documents SET content_hash = content_hash",
    "UPDATE documents SET version = 2",
    "DELETE FROM autopilot_enrollments",
    "UPDATE autopilot_enrollments SET employee_id = id",
    "UPDATE autopilot_versions SET standard_hours = 1",
    "DELETE FROM autopilot_authorizations",
    "UPDATE autopilot_authorizations SET agreed_text = 'Other words.'",
    "UPDATE autopilot_periods SET payroll_id = NULL",
    "DELETE FROM autopilot_events",
    "UPDATE autopilot_events SET event = 'pause'",
    "DELETE FROM autopilot_errands",
    "DELETE FROM agent_grants",
    "UPDATE agent_grants SET tools = '{run_payroll}'",
    "UPDATE agent_grants SET expires_at = expires_at",
    "UPDATE agent_grants SET demands_preview = false",
    "INSERT INTO agent_clients SELECT * FROM agent_clients",
    "UPDATE agent_clients SET redirect_uris = '{https://evil.example.com/}'",
    "SELECT * FROM failed_attempts",
    "DELETE FROM failed_attempts",
    "SELECT * FROM agent_requests",
    "UPDATE agent_requests SET session_id = NULL",
    "SELECT * FROM agent_tokens",
    "INSERT INTO agent_tokens VALUES (new_id())",
)


def is_denied(connection: psycopg.Connection, statement: str) -> bool:
    try:
        connection.execute(statement)
    except errors.InsufficientPrivilege as error:
        return "permission denied" in str(error)
    return False


def test_what_is_written_for_good_stays_even_for_its_own_tenant(
    service: psycopg.Connection, smiths: Household
) -> None:
    enter(service, smiths.organization_id)
    assert [statement for statement in WRITTEN_FOR_GOOD if not is_denied(service, statement)] == []


def test_the_service_may_do_its_work(service: psycopg.Connection, smiths: Household) -> None:
    enter(service, smiths.organization_id, employer_id=smiths.employer_id)
    assert service.execute("SELECT FROM employees FOR UPDATE").rowcount == 1
    assert service.execute("SELECT FROM payrolls FOR UPDATE").rowcount == 1
    assert service.execute("UPDATE payrolls SET status = 'voided'").rowcount == 1
    assert service.execute("UPDATE payroll_entries SET live = false").rowcount == 1
    assert service.execute("UPDATE employees SET status = 'terminated'").rowcount == 1
    # A deed that concerns the whole organization can be noted from within a household's transaction.
    service.execute(
        "INSERT INTO audit_log (id, organization_id, actor_kind, action) "
        "VALUES (new_id(), %s, 'key', 'organization.note')",
        (smiths.organization_id,),
    )


@pytest.mark.completeness
def test_every_table_is_guarded(owner: psycopg.Connection) -> None:
    rows = owner.execute(
        "SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class "
        "WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'alembic_version'"
    ).fetchall()
    assert dict(rows) == dict.fromkeys((*TABLES, *INSTALLATION_TABLES, "installation"), True)


def test_a_key_is_found_before_its_tenant_is_known(
    owner: psycopg.Connection, service: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    found = service.execute("SELECT * FROM authenticate_api_key(%s)", (smiths.key_hash,)).fetchall()
    assert [row[1:] for row in found] == [
        (
            *(smiths.organization_id, smiths.employer_id, "live", ["payroll"], False, "professional", {}),
            *(None, False, None),
        )
    ]
    assert service.execute("SELECT FROM authenticate_api_key(%s)", (b"\x00" * 32,)).rowcount == 0
    owner.execute("UPDATE api_keys SET revoked_at = now() WHERE key_hash = %s", (smiths.key_hash,))
    assert service.execute("SELECT FROM authenticate_api_key(%s)", (smiths.key_hash,)).rowcount == 0
    assert service.execute("SELECT FROM authenticate_api_key(%s)", (joneses.key_hash,)).rowcount == 1


def test_the_key_lookup_is_not_for_everybody(owner: psycopg.Connection) -> None:
    owner.execute("CREATE ROLE passer_by")
    try:
        row = owner.execute(
            "SELECT has_function_privilege('passer_by', 'authenticate_api_key(bytea)', 'EXECUTE')"
        ).fetchone()
        assert row == (False,)
    finally:
        owner.execute("DROP ROLE passer_by")


async def test_transactions_bind_the_tenant_and_forget_it(
    database: Database, smiths: Household, joneses: Household
) -> None:
    names = text("SELECT id FROM employers")
    for household in (smiths, joneses, smiths):
        async with database.transaction(household.tenant) as session:
            assert list(await session.scalars(names)) == [household.employer_id]
        async with database.transaction(None) as session:
            assert list(await session.scalars(names)) == []
    async with database.transaction(Tenant(smiths.organization_id, sandbox=True)) as session:
        assert list(await session.scalars(names)) == []
    async with database.transaction(Tenant(smiths.organization_id, False, uuid4())) as session:
        assert list(await session.scalars(names)) == []
