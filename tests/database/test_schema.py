"""What the schema itself refuses, whatever the code above it does."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors

from hearthpay.database.embedded import EmbeddedServer
from tests.conftest import plain_url
from tests.database.household import (
    Household,
    add_employee,
    add_entry,
    add_household,
    add_paycheck,
    add_payroll,
    insert,
)
from tests.worlds.tables import EMPTIED, SANDBOX_ONLY, TABLES


def columns(household: Household) -> dict[str, object]:
    return {
        "organization_id": household.organization_id,
        "employer_id": household.employer_id,
        "sandbox": household.sandbox,
    }


@pytest.mark.parametrize(
    "period",
    [
        "[2026-11-09,2026-11-15]",
        "[2026-11-15,2026-11-21]",  # the last day is part of the period
        "[2026-11-03,2026-11-09]",
        "[2026-11-12,2026-11-12]",
        "[2026-01-01,2026-12-31]",
    ],
)
def test_two_live_entries_of_an_employee_never_overlap(
    period: str, owner: psycopg.Connection, smiths: Household
) -> None:
    payroll_id = add_payroll(owner, columns(smiths))
    with pytest.raises(errors.ExclusionViolation, match="payroll_entries_no_overlap"):
        add_entry(owner, columns(smiths), payroll_id, smiths.employee_id, period=period)


def test_neighbouring_periods_voided_entries_and_other_employees_do_not_collide(
    owner: psycopg.Connection, smiths: Household
) -> None:
    household = columns(smiths)
    payroll_id, voided, again = (add_payroll(owner, household) for _ in range(3))
    add_entry(owner, household, payroll_id, smiths.employee_id, period="[2026-11-16,2026-11-22]")
    add_entry(owner, household, voided, smiths.employee_id, live=False)
    add_entry(owner, household, payroll_id, add_employee(owner, household), position=2)
    owner.execute("UPDATE payroll_entries SET live = false WHERE payroll_id = %s", (smiths.payroll_id,))
    add_entry(owner, household, again, smiths.employee_id)


def test_of_overlapping_entries_written_at_once_one_wins(
    server: EmbeddedServer, owner: psycopg.Connection, smiths: Household
) -> None:
    payrolls = [add_payroll(owner, columns(smiths)) for _ in range(8)]

    def pay(payroll_id: UUID) -> bool:
        with psycopg.connect(plain_url(server.owner_url())) as connection:
            try:
                add_entry(
                    connection,
                    columns(smiths),
                    payroll_id,
                    smiths.employee_id,
                    period="[2026-12-01,2026-12-07]",
                )
            except (errors.ExclusionViolation, errors.DeadlockDetected):
                connection.rollback()
                return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(pay, payrolls)) == 1


@pytest.mark.parametrize(
    ("number", "address"),
    [
        (0, "::"),
        (1, "::1"),
        (2**128 - 1, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        (0x0199AB00_1234_7ABC_8DEF_0123456789AB, "199:ab00:1234:7abc:8def:123:4567:89ab"),
    ],
)
def test_a_uuid_and_its_address_are_the_same_bits(
    number: int, address: str, owner: psycopg.Connection
) -> None:
    row = owner.execute("SELECT host(uuid_as_inet(%s))", (UUID(int=number),)).fetchone()
    assert row == (address,)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE payrolls SET period_end = period_start - 1",
        "UPDATE payrolls SET net_pay = -1",
        "UPDATE payrolls SET status = 'paid'",
        "UPDATE payrolls SET pay_frequency = 'daily'",
        "UPDATE payroll_entries SET period = 'empty'",
        "UPDATE payroll_entries SET period = '[2026-01-01,)'",
        "UPDATE payroll_entries SET bonus = -1",
        "UPDATE paychecks SET period = 'empty'",
        "UPDATE paychecks SET period = '[2026-01-01,)'",
        "UPDATE paychecks SET net_pay = -1",
        "UPDATE paychecks SET net_pay = net_pay - 1",
        "UPDATE paychecks SET position = -1",
        "UPDATE payrolls SET status = 'scheduled'",
        "UPDATE payrolls SET status = 'failed'",
        "UPDATE bank_entries SET amount = 0",
        "UPDATE bank_entries SET kind = 'prenote', payroll_id = NULL",
        "UPDATE bank_entries SET status = 'sent'",
        "UPDATE bank_entries SET return_code = 'R01'",
        "UPDATE bank_entries SET settle_on = send_on",
        "UPDATE escrow_movements SET amount = -500",
        "UPDATE year_balances SET codes = '{}'",
        "UPDATE month_balances SET codes = '{}'",
        "UPDATE month_balances SET month = month + 1",
        "UPDATE month_balances SET refund = true",
        "UPDATE prior_wages SET codes = '{}'",
        "UPDATE prior_wages SET as_of = '2025-12-31'",
        "UPDATE paychecks SET payment_method = 'gold'",
        "UPDATE employees SET end_date = start_date - 1",
        "UPDATE employees SET pay_rate_cents = -1",
        "UPDATE employees SET work_state = 'ca'",
        "UPDATE employees SET status = 'gone'",
        "UPDATE employees SET federal_withholding = '[]'",
        "UPDATE employers SET state = 'C'",
        "UPDATE employers SET ein_status = 'lost'",
        "UPDATE line_sets SET payers = '{state}'",
        "UPDATE line_sets SET names = '{Tip}'",
        "UPDATE line_sets SET codes = '{}'",
        "INSERT INTO line_sets SELECT id + 1, codes, names, payers, agencies, categories FROM line_sets",
        "UPDATE paychecks SET line_amounts = line_amounts || 1::bigint",
        "UPDATE paychecks SET line_amounts[1] = NULL",
        "UPDATE paychecks SET line_rates = NULL",
        "UPDATE paychecks SET line_set_id = NULL",
        "UPDATE api_keys SET mode = 'both'",
        "UPDATE api_keys SET key_hash = 'short'",
        "UPDATE idempotency_keys SET key = ''",
        "UPDATE audit_log SET actor_kind = 'ghost'",
        "UPDATE organizations SET name = ''",
        "UPDATE state_registrations SET state = 'ca'",
        "UPDATE state_registrations SET number_id = ''",
        "UPDATE duty_marks SET item_key = 'CA'",
        "UPDATE duty_marks SET item_key = 'CA/' || repeat('x', 120) || '/2026'",
        "UPDATE filing_choices SET jurisdiction = 'ca'",
        "UPDATE filing_choices SET since_year = 1999",
        "UPDATE filing_choices SET frequency = ''",
        "UPDATE closed_accounts SET account = ''",
        "UPDATE pay_changes SET former_pay_rate_cents = pay_rate_cents",
        "UPDATE pay_changes SET pay_type = 'daily'",
        "UPDATE pay_changes SET salary_cents = 0",
        "UPDATE household_words SET word = ''",
        "UPDATE metadata_entries SET key = ''",
        "UPDATE metadata_entries SET key = repeat('k', 41)",
        "UPDATE metadata_entries SET value = ''",
        "UPDATE metadata_entries SET value = repeat('v', 501)",
        "UPDATE metadata_entries SET object_type = 'document'",
        "UPDATE employers SET metadata = '[]'",
        'UPDATE employers SET metadata = \'{"a": ""}\'',
        "UPDATE employees SET metadata = '\"a\"'",
        "UPDATE payrolls SET metadata = 'null'",
        "UPDATE household_dues SET computed_on = '2026-11-20'",
        "UPDATE household_dues SET overdue_count = -1",
        "UPDATE household_dues SET overdue_count = 1",
        "UPDATE household_dues SET overdue_cents = -1",
        "UPDATE household_dues SET week_cents = -1",
        "UPDATE tax_payments SET amount = 0",
        "UPDATE tax_payments SET amount = -1",
        "UPDATE tax_payments SET reverses = id",
        "UPDATE tax_payments SET agency = 'EDD'",
        "UPDATE tax_payments SET account = ''",
        "UPDATE tax_payments SET period = 'Q3'",
        "UPDATE tax_payments SET period_end = period_start - 1",
        "UPDATE tax_payments SET item_key = 'CA'",
        "UPDATE tax_payments SET method = 'gold'",
        "UPDATE tax_payments SET confirmation = ''",
        "UPDATE filings SET item_key = 'CA'",
        "UPDATE filings SET figures = '[]'",
        "UPDATE filings SET confirmation = ''",
        "UPDATE filings SET reverses = id",
        "UPDATE insurance_policies SET carrier = NULL",
        "UPDATE insurance_policies SET ends_on = starts_on - 1",
        "UPDATE payroll_drafts SET employees = '[]'",
        "UPDATE payroll_drafts SET employees = '{}'",
        "UPDATE payroll_drafts SET pay_frequency = 'daily'",
        "UPDATE payroll_drafts SET dropped_at = updated_at, payroll_id = (SELECT min(id::text)::uuid FROM payrolls)",
        "UPDATE calendar_links SET token_hash = '\\x00'",
        "UPDATE calendar_links SET revoked_at = created_at - interval '1 second'",
        "UPDATE employees SET address = '[]'",
        "UPDATE documents SET kind = 'w9'",
        "UPDATE account_changes SET status = 'waiting', ended_at = NULL",
        "UPDATE account_changes SET status = 'done'",
        "UPDATE account_changes SET effective_at = asked_at",
        "UPDATE set_aside_requests SET amount = 5",
        "UPDATE set_aside_requests SET rate = 1.1",
        "UPDATE signed_certificates SET invitation_id = (SELECT id FROM invitations LIMIT 1)",
        "UPDATE documents SET version = 0",
        "UPDATE documents SET content_hash = 'short'",
        "UPDATE documents SET file_name = '../stub.pdf'",
        "UPDATE documents SET superseded_by = id",
        "UPDATE autopilot_enrollments SET status = 'on'",
        "UPDATE autopilot_enrollments SET generate_at = NULL",
        "UPDATE autopilot_enrollments SET status = 'disabled'",
        "UPDATE autopilot_versions SET standard_hours = -1",
        "UPDATE employees SET salary_cents = 100, salary_per = 'year'",
        "UPDATE employees SET pay_type = 'salary', pay_rate_cents = 100",
        "UPDATE employees SET usual_weekly_hours = 0",
        "UPDATE employees SET working_days = '{montag}'",
        "UPDATE autopilot_versions SET pay_days_after = 15",
        "UPDATE autopilot_periods SET outcome = 'skipped'",
        "UPDATE autopilot_periods SET payroll_id = NULL",
        "UPDATE autopilot_periods SET period_end = period_start - 1",
        "UPDATE autopilot_events SET event = 'change'",
        "UPDATE autopilot_events SET source = 'cli'",
        "UPDATE vault SET kind = 'state_account'",
        "UPDATE vault SET last_four = 'AB12'",
        "UPDATE vault SET ciphertext = ciphertext || ciphertext",
        "UPDATE vault SET owner_kind = 'registration'",
        "UPDATE agent_clients SET redirect_uris = '{}'",
        "UPDATE agent_grants SET tools = '{}'",
        "UPDATE agent_grants SET ended_at = created_at",
        "UPDATE agent_grants SET ended_at = created_at, ended_because = 'tired of it'",
        "UPDATE agent_grants SET expires_at = created_at",
        "UPDATE agent_requests SET code_hash = NULL",
        "UPDATE agent_requests SET answered_at = NULL",
        "INSERT INTO failed_attempts VALUES ('short', now())",
        "UPDATE agent_tokens SET used_at = created_at",
        "UPDATE agent_tokens SET expires_at = created_at + interval '11 minutes' WHERE kind = 'access'",
    ],
)
def test_impossible_values_are_refused(statement: str, owner: psycopg.Connection, smiths: Household) -> None:
    with pytest.raises(errors.CheckViolation):
        owner.execute(statement)


@pytest.mark.completeness
def test_the_smallest_household_has_a_row_in_every_table(
    owner: psycopg.Connection, smiths: Household
) -> None:
    """Or the tests of the policies would look for leaks where there is nothing to see."""

    def without_a_row(tables: Iterable[str]) -> list[str]:
        return [table for table in tables if owner.execute(f"SELECT FROM {table}").rowcount != 1]

    missing = without_a_row(table for table in TABLES if table not in SANDBOX_ONLY)
    add_household(owner, smiths.organization_id, sandbox=True)
    missing += without_a_row(SANDBOX_ONLY)
    told = ", ".join(missing)
    assert not missing, f"let `add_household` of tests/database/household.py insert one row of {told}"


def test_what_was_taken_from_an_agent_is_not_given_back(owner: psycopg.Connection, smiths: Household) -> None:
    owner.execute("UPDATE agent_grants SET ended_at = created_at, ended_because = 'disconnected'")
    for again in ("ended_at = NULL, ended_because = NULL", "ended_because = 'revoked'", "tools = '{all}'"):
        with pytest.raises(errors.InsufficientPrivilege, match="not given back"):
            owner.execute(f"UPDATE agent_grants SET {again}")


def test_one_household_of_a_kind_is_primary(owner: psycopg.Connection, smiths: Household) -> None:
    owner.execute("UPDATE employers SET is_primary = true")
    with pytest.raises(errors.UniqueViolation, match="employers_one_primary_key"):
        insert(
            owner,
            "employers",
            organization_id=smiths.organization_id,
            sandbox=False,
            first_name="Bo",
            last_name="Smith",
            email="bo@example.com",
            state="NY",
            is_primary=True,
        )


def test_an_idempotency_key_is_claimed_once(owner: psycopg.Connection, smiths: Household) -> None:
    claim = {"organization_id": smiths.organization_id, "sandbox": False, "key": "k", "request_hash": b"1"}
    insert(owner, "idempotency_keys", **claim)
    insert(owner, "idempotency_keys", **claim | {"sandbox": True})
    with pytest.raises(errors.UniqueViolation):
        insert(owner, "idempotency_keys", **claim | {"request_hash": b"2"})


def test_a_paycheck_needs_its_payroll(owner: psycopg.Connection, smiths: Household) -> None:
    with pytest.raises(errors.ForeignKeyViolation):
        add_paycheck(owner, columns(smiths), uuid4(), smiths.employee_id, period="[2027-01-01,2027-01-07]")


def test_ids_made_by_the_database_are_time_ordered(owner: psycopg.Connection, smiths: Household) -> None:
    later = insert(owner, "organizations", name="Later")
    assert later.version == 7
    assert later > smiths.organization_id


def test_dates_come_back_as_they_were_written(owner: psycopg.Connection, smiths: Household) -> None:
    row = owner.execute("SELECT lower(period), upper(period) FROM paychecks").fetchone()
    assert row == (date(2026, 11, 9), date(2026, 11, 16))


def test_the_tables_are_emptied_children_first(owner_connection: psycopg.Connection) -> None:
    references = owner_connection.execute(
        "SELECT child.relname, parent.relname FROM pg_constraint k JOIN pg_class child ON child.oid = k.conrelid "
        "JOIN pg_class parent ON parent.oid = k.confrelid WHERE k.contype = 'f' "
        "AND k.connamespace = 'public'::regnamespace AND k.conrelid <> k.confrelid"
    ).fetchall()
    assert references
    order = {table: place for place, table in enumerate(EMPTIED)}
    assert [each for each in references if order[each[0]] > order[each[1]]] == []
