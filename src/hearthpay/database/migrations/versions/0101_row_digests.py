"""Digests of what never changes in a row, so that a fact of money, duty or time can't be rewritten unseen.

Each table lists the columns that no program updates. The database writes their digest when it inserts the row, also
for programs of the version before. Rows from before this version have the digest of what they said at the upgrade.
What is answered or calculated once has its digest from that moment. Bank entries keep the steps of their state.
"""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0101"
down_revision = "0097"
branch_labels = None
depends_on = None

_OWNER: Final = "id organization_id employer_id sandbox"

DIGESTED: Final = {
    "payrolls": f"{_OWNER} period_start period_end pay_date_defaulted pay_frequency notes created_by_kind created_by "
    "created_at@ scheduled_send_at@ direct_deposit approved_at@ kind preview_token_hash#",
    "payroll_entries": "organization_id employer_id sandbox payroll_id position employee_id period% payment_method "
    "regular_hours regular_pay overtime_hours overtime_pay bonus other_earnings set_aside_skip set_aside_amount "
    "supplemental salary",
    "payroll_estimates": "organization_id employer_id sandbox payroll_id estimate",
    "payroll_transitions": f"{_OWNER} payroll_id from_status to_status actor_kind actor_id reason at@",
    "paycheck_remedies": f"{_OWNER} payroll_id paycheck_id employee_id action until decided_by_kind decided_by "
    "decided_at@",
    "wage_settlements": f"{_OWNER} payroll_id amount received_on told_by settled_by_kind settled_by settled_at@",
    "prior_wages": f"{_OWNER} employee_id tax_year source as_of gross_pay net_pay employee_taxes employer_taxes lines "
    "codes subject_wages taxable_wages amounts warnings created_at@ messages",
    "escrow_movements": f"{_OWNER} employee_id paycheck_id kind payment_method amount balance note created_at@",
    "set_aside_requests": f"{_OWNER} employee_id rate amount asked_at@",
    "bank_accounts": f"{_OWNER} employee_id bank_name verification created_at@ simulated_answer",
    "bank_entries": f"{_OWNER} kind employee_id payroll_id paycheck_id escrow_movement_id amount attempt send_on "
    "settle_on created_at@ reverses reversal_reason",
    "account_changes": f"{_OWNER} employee_id account_type last_four replaces asked_at@ effective_at@ needs_word",
    "ach_authorizations": f"{_OWNER} bank_account_id authorized_by_kind authorized_by request_id text_version "
    "authorized_at@ expires_at@",
    "autopilot_authorizations": f"{_OWNER} enrollment_id bank_account_id text_version agreed_text authorized_by_kind "
    "authorized_by address request_id authorized_at@",
    "tax_payments": f"{_OWNER} agency jurisdiction account period period_start period_end item_key amount paid_on "
    "method confirmation actor_kind actor_id reverses created_at@",
    "filings": f"{_OWNER} item_key filed_on confirmation figures actor_kind actor_id reverses created_at@",
    "duty_marks": f"{_OWNER} item_key created_at@",
    "filing_choices": f"{_OWNER} jurisdiction account since_year created_at@",
    "closed_accounts": f"{_OWNER} jurisdiction account created_at@",
    "insurance_policies": f"{_OWNER} state kind created_at@",
    "calendar_links": f"{_OWNER} token_hash# created_at@",
    "autopilot_enrollments": f"{_OWNER} employee_id first_start enrolled_by_kind enrolled_by enrolled_at@",
    "autopilot_versions": f"{_OWNER} enrollment_id number from_period frequency anchor pay_days_after standard_hours "
    "expected_net made_by_kind made_by made_at@ large_confirmed",
    "autopilot_events": f"{_OWNER} enrollment_id employee_id event at@ actor_kind actor_id source request_id details",
    "autopilot_periods": f"{_OWNER} enrollment_id employee_id version period_start period_end pay_date send_at@ "
    "payroll_id by_hand reasons held net_pay decided_at@",
}
"""By table, the columns of the digest; `@` marks an instant, `%` a range of days and `#` bytes, whose texts would
depend on the session's settings."""

_ANSWER: Final = (
    "{row}.organization_id, {row}.sandbox, {row}.key, encode({row}.request_hash, 'hex'), {row}.path, "
    "{row}.confined_to, (extract(epoch FROM {row}.created_at) * 1000000)::bigint, {row}.status, {row}.permissions, "
    "CASE WHEN {row}.key_id IS NULL THEN encode({row}.body, 'hex') END"
)
"""What an answer says; an encrypted one is bound to its key by the encryption, and encrypted again with new keys."""

_DUES: Final = (
    "organization_id employer_id sandbox computed_on rules overdue_since overdue_count overdue_cents week_count "
    "week_cents next_due payday_to_run"
)
_FIGURES: Final = (
    "id pay_date pay_date_asked tax_year rulebook_version gross_pay total_deductions net_pay employer_taxes "
    "total_cost"
)
_PAYCHECK: Final = (
    "id organization_id employer_id sandbox position period% regular_hours regular_pay overtime_hours overtime_pay "
    "bonus other_earnings total_cost warnings carried salary messages"
)
"""What the digest of a paycheck and its lines, which the program makes, doesn't say."""


def _value(row: str, column: str) -> str:
    named = f"{row}.{column.rstrip('@%#')}"
    match column[-1]:
        case "@":
            return f"(extract(epoch FROM {named}) * 1000000)::bigint"
        case "%":
            return f"lower({named}), upper({named})"
        case "#":
            return f"encode({named}, 'hex')"
        case _:
            return named


def _digest(values: str) -> str:
    return f"sha256(convert_to(jsonb_build_array({values})::text, 'UTF8'))"


def _values(row: str, columns: str) -> str:
    return ", ".join(_value(row, column) for column in columns.split())


def _functions(name: str, table: str, column: str, values: str) -> str:
    """Return what computes a digest for the doctor, and what writes it; `values` has `{row}` for the row."""
    return f"""
        ALTER TABLE {table} ADD COLUMN {column} bytea CHECK (octet_length({column}) = 32);
        CREATE FUNCTION {name}_digest(entry {table}) RETURNS bytea
            LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
            AS $$ SELECT {_digest(values.format(row="entry"))} $$;
        CREATE FUNCTION write_{name}_digest() RETURNS trigger
            LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
            AS $$
                BEGIN
                    NEW.{column} := {_digest(values.format(row="NEW"))};
                    RETURN NEW;
                END
            $$;
        REVOKE ALL ON FUNCTION {name}_digest({table}) FROM PUBLIC;
        REVOKE ALL ON FUNCTION write_{name}_digest() FROM PUBLIC;
    """


def _present(name: str, table: str, column: str, where: str) -> str:
    """Return what writes the digests of the rows that there are; what follows a change of a row doesn't concern it."""
    return f"""
        ALTER TABLE {table} DISABLE TRIGGER USER;
        UPDATE {table} t SET {column} = {name}_digest(t) WHERE {where};
        ALTER TABLE {table} ENABLE TRIGGER USER;
    """


def _written_once(table: str, columns: str, column: str = "digest") -> str:
    return f"""{_functions(table, table, column, _values("{row}", columns))}{_present(table, table, column, "true")}
        COMMENT ON COLUMN {table}.{column} IS 'SHA-256 of what never changes in the row, as it was written';
        CREATE TRIGGER write_digest BEFORE INSERT ON {table}
            FOR EACH ROW WHEN (NEW.{column} IS NULL) EXECUTE FUNCTION write_{table}_digest();
    """


ANSWERS: Final = f"""
    {_functions("idempotency_keys", "idempotency_keys", "digest", _ANSWER)}
    {_present("idempotency_keys", "idempotency_keys", "digest", "status IS NOT NULL")}
    COMMENT ON COLUMN idempotency_keys.digest IS 'SHA-256 of the request and its answer, as it was answered';
    CREATE TRIGGER write_digest BEFORE UPDATE OF status ON idempotency_keys
        FOR EACH ROW WHEN (OLD.status IS NULL AND NEW.status IS NOT NULL)
        EXECUTE FUNCTION write_idempotency_keys_digest();
"""

# Figures count only while they have a day; every calculation says it.
DUES: Final = f"""
    {_functions("household_dues", "household_dues", "digest", _values("{row}", _DUES))}
    {_present("household_dues", "household_dues", "digest", "true")}
    COMMENT ON COLUMN household_dues.digest IS 'SHA-256 of the figures, as they were calculated';
    CREATE TRIGGER write_digest BEFORE UPDATE OF computed_on ON household_dues
        FOR EACH ROW EXECUTE FUNCTION write_household_dues_digest();
"""

# They are calculated when a payroll is made, and again when it is fired.
FIGURES: Final = f"""
    {_functions("payroll_figures", "payrolls", "figures_digest", _values("{row}", _FIGURES))}
    {_present("payroll_figures", "payrolls", "figures_digest", "true")}
    COMMENT ON COLUMN payrolls.figures_digest IS 'SHA-256 of pay date, year and totals, as they were calculated';
    CREATE TRIGGER write_figures BEFORE INSERT OR UPDATE OF total_cost ON payrolls
        FOR EACH ROW EXECUTE FUNCTION write_payroll_figures_digest();
"""

# What becomes of a bank entry: each state with its day and its time, as often as it changes.
STEPS: Final = """
    ALTER TABLE bank_entries ADD COLUMN steps jsonb;
    COMMENT ON COLUMN bank_entries.steps IS 'Each state of the entry: its name, the effective date, and when, in '
        'microseconds; the first of an entry from before this was kept is the one that it had then';
    CREATE FUNCTION bank_entry_step(entry bank_entries) RETURNS jsonb
        LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
        AS $$
            SELECT jsonb_build_array(jsonb_build_array(entry.status, entry.effective_date,
                                                       (extract(epoch FROM entry.updated_at) * 1000000)::bigint))
        $$;
    REVOKE ALL ON FUNCTION bank_entry_step(bank_entries) FROM PUBLIC;
    CREATE FUNCTION keep_bank_entry_step() RETURNS trigger
        LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
        AS $$
            BEGIN
                NEW.steps := coalesce(NEW.steps, '[]') || jsonb_build_array(jsonb_build_array(NEW.status,
                    NEW.effective_date, (extract(epoch FROM NEW.updated_at) * 1000000)::bigint));
                RETURN NEW;
            END
        $$;
    REVOKE ALL ON FUNCTION keep_bank_entry_step() FROM PUBLIC;
    ALTER TABLE bank_entries DISABLE TRIGGER USER;
    UPDATE bank_entries b SET steps = bank_entry_step(b);
    ALTER TABLE bank_entries ENABLE TRIGGER USER;
    CREATE TRIGGER keep_step BEFORE INSERT ON bank_entries
        FOR EACH ROW WHEN (NEW.steps IS NULL) EXECUTE FUNCTION keep_bank_entry_step();
    CREATE TRIGGER keep_later_step BEFORE UPDATE OF status ON bank_entries
        FOR EACH ROW WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION keep_bank_entry_step();
"""

# Of before there were digests; those who were restored from there have them from now on.
PAYCHECKS: Final = """
    ALTER TABLE paychecks DISABLE TRIGGER USER;
    UPDATE paychecks p SET digest = d.computed
      FROM (SELECT c.id, sha256(convert_to(
                concat_ws('|', c.id, c.payroll_id, c.employee_id, coalesce(c.reverses::text, ''), c.tax_year,
                          c.payment_method, c.gross_pay, c.employee_taxes, c.employer_taxes, c.set_aside,
                          c.set_aside_source, c.set_aside_balance, c.net_pay, c.ytd_gross_pay, c.ytd_net_pay,
                          c.ytd_employee_taxes, c.ytd_employer_taxes, c.employee_name, c.work_state,
                          c.residence_state, coalesce(c.reciprocity_certificate, ''))
                || CASE WHEN c.provisional = '[]' THEN '' ELSE E'\\n' || c.provisional::text END
                || coalesce(string_agg(E'\\n' || concat_ws('|', l.code, l.name, l.payer, l.agency, l.category,
                       l.subject_wages, l.taxable_wages, coalesce(l.rate::text, ''), l.amount, l.ytd_amount), ''
                       ORDER BY l.position), ''), 'UTF8')) AS computed
              FROM paychecks c LEFT JOIN paycheck_lines l ON l.paycheck_id = c.id
             WHERE c.digest IS NULL GROUP BY c.id) d
     WHERE p.id = d.id;
    ALTER TABLE paychecks ENABLE TRIGGER USER;
    COMMENT ON COLUMN paychecks.digest IS 'SHA-256 of the paycheck and its lines';
"""


def upgrade() -> None:
    """Add the digests and steps, what writes them, and those of the rows that there are."""
    cursor = op.get_bind().connection.cursor()
    try:
        for table, columns in DIGESTED.items():
            cursor.execute(_written_once(table, columns))
        cursor.execute(_written_once("paychecks", _PAYCHECK, "row_digest"))
        for statements in (ANSWERS, DUES, FIGURES, STEPS, PAYCHECKS):
            cursor.execute(statements)
    finally:
        cursor.close()
