"""The payroll lifecycle: what was asked for, running balances, escrow, history, and the money on its way."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# Like the service's role, but for the clockwork: it acts for every tenant at once, and bypasses nothing either.
WORKER = """
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'hearthpay_worker') THEN
        BEGIN
            CREATE ROLE hearthpay_worker NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOINHERIT;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
    END IF;
    IF EXISTS (SELECT FROM pg_roles
               WHERE rolname = 'hearthpay_worker' AND (rolsuper OR rolbypassrls OR rolcreaterole)) THEN
        RAISE EXCEPTION 'the role hearthpay_worker must not be able to bypass row-level security';
    END IF;
    IF NOT pg_has_role(current_user, 'hearthpay_worker', 'SET') THEN
        EXECUTE format('GRANT hearthpay_worker TO %I WITH SET TRUE, INHERIT FALSE', current_user);
    END IF;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO hearthpay_worker', current_database());
END
$$;
GRANT USAGE ON SCHEMA public TO hearthpay_worker;
"""

# What was asked for, one row per employee, also while a payroll is only scheduled. The guard against paying one
# employee twice for a day stands here, so that it holds from the moment of approval.
ENTRIES = """
CREATE TABLE payroll_entries (
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    payroll_id uuid NOT NULL,
    position smallint NOT NULL CHECK (position >= 0),
    employee_id uuid NOT NULL,
    period daterange NOT NULL CHECK (NOT isempty(period) AND NOT lower_inf(period) AND NOT upper_inf(period)),
    live boolean NOT NULL DEFAULT true,
    payment_method text NOT NULL CHECK (payment_method IN ('direct_deposit', 'check', 'cash')),
    regular_hours numeric(7, 2) NOT NULL CHECK (regular_hours >= 0),
    regular_pay bigint NOT NULL CHECK (regular_pay >= 0),
    overtime_hours numeric(7, 2) NOT NULL CHECK (overtime_hours >= 0),
    overtime_pay bigint NOT NULL CHECK (overtime_pay >= 0),
    bonus bigint NOT NULL CHECK (bonus >= 0),
    other_earnings bigint NOT NULL CHECK (other_earnings >= 0),
    set_aside_skip boolean NOT NULL DEFAULT false,
    set_aside_amount bigint CHECK (set_aside_amount >= 0),
    PRIMARY KEY (payroll_id, position),
    UNIQUE (payroll_id, employee_id),
    FOREIGN KEY (payroll_id, employer_id, organization_id, sandbox)
        REFERENCES payrolls (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    CONSTRAINT payroll_entries_no_overlap
        EXCLUDE USING gist (uuid_as_inet(employee_id) inet_ops WITH =, period WITH &&) WHERE (live)
);
CREATE INDEX payroll_entries_employee_id_idx ON payroll_entries (employee_id, payroll_id);
COMMENT ON COLUMN payroll_entries.regular_pay IS 'At the rate of the approval, whatever the rate is on payday';
COMMENT ON COLUMN payroll_entries.live IS 'False once the payroll is voided or the employee''s payment has failed';

INSERT INTO payroll_entries (organization_id, employer_id, sandbox, payroll_id, position, employee_id, period, live,
                             payment_method, regular_hours, regular_pay, overtime_hours, overtime_pay, bonus,
                             other_earnings, set_aside_skip, set_aside_amount)
SELECT organization_id, employer_id, sandbox, payroll_id, position, employee_id, period, live, payment_method,
       regular_hours, regular_pay, overtime_hours, overtime_pay, bonus, other_earnings, set_aside_source = 'skipped',
       CASE WHEN set_aside_source = 'override' THEN set_aside END
  FROM paychecks;

CREATE TABLE payroll_estimates (
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    payroll_id uuid PRIMARY KEY,
    estimate jsonb NOT NULL CHECK (jsonb_typeof(estimate) = 'object'),
    FOREIGN KEY (payroll_id, employer_id, organization_id, sandbox)
        REFERENCES payrolls (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
COMMENT ON TABLE payroll_estimates IS 'What a scheduled payroll was expected to be when it was approved';
"""

# Paychecks are now only what was calculated for good: never changed, and undone by a paycheck of negative amounts.
PAYCHECKS = """
ALTER TABLE paychecks
    ADD COLUMN reverses uuid,
    DROP CONSTRAINT paychecks_no_overlap,
    DROP CONSTRAINT paychecks_position_check,
    DROP CONSTRAINT paychecks_payroll_id_position_key,
    DROP CONSTRAINT paychecks_regular_hours_check,
    DROP CONSTRAINT paychecks_regular_pay_check,
    DROP CONSTRAINT paychecks_overtime_hours_check,
    DROP CONSTRAINT paychecks_overtime_pay_check,
    DROP CONSTRAINT paychecks_bonus_check,
    DROP CONSTRAINT paychecks_other_earnings_check,
    DROP CONSTRAINT paychecks_gross_pay_check,
    DROP CONSTRAINT paychecks_employee_taxes_check,
    DROP CONSTRAINT paychecks_employer_taxes_check,
    DROP CONSTRAINT paychecks_set_aside_check,
    DROP CONSTRAINT paychecks_net_pay_check,
    DROP CONSTRAINT paychecks_total_cost_check,
    DROP COLUMN live,
    ADD CONSTRAINT paychecks_reverses_key UNIQUE (reverses),
    ADD CONSTRAINT paychecks_reverses_fkey FOREIGN KEY (reverses, employee_id, employer_id, organization_id, sandbox)
        REFERENCES paychecks (id, employee_id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    ADD CONSTRAINT paychecks_signs CHECK (
        CASE WHEN reverses IS NULL
             THEN position >= 0 AND least(regular_hours, regular_pay, overtime_hours, overtime_pay, bonus,
                  other_earnings, gross_pay, employee_taxes, employer_taxes, set_aside, net_pay, total_cost) >= 0
             ELSE position < 0 AND greatest(regular_hours, regular_pay, overtime_hours, overtime_pay, bonus,
                  other_earnings, gross_pay, employee_taxes, employer_taxes, set_aside, net_pay, total_cost) <= 0
         END),
    ADD CONSTRAINT paychecks_sums CHECK (
        gross_pay = regular_pay + overtime_pay + bonus + other_earnings
        AND net_pay = gross_pay - employee_taxes - set_aside AND total_cost = gross_pay + employer_taxes),
    ADD CONSTRAINT paychecks_payroll_id_position_key UNIQUE (payroll_id, position);
COMMENT ON COLUMN paychecks.reverses IS 'The paycheck that this one undoes; then its position is -1 minus the other''s';
"""

BALANCES = """
CREATE TABLE year_balances (
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    tax_year smallint NOT NULL,
    codes text[] NOT NULL,
    taxable_wages bigint[] NOT NULL,
    amounts bigint[] NOT NULL,
    gross_pay bigint NOT NULL,
    net_pay bigint NOT NULL,
    employee_taxes bigint NOT NULL,
    employer_taxes bigint NOT NULL,
    PRIMARY KEY (employee_id, tax_year),
    CHECK (cardinality(codes) = cardinality(taxable_wages) AND cardinality(codes) = cardinality(amounts)),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
) WITH (fillfactor = 70);
COMMENT ON TABLE year_balances IS 'The sum of an employee''s paychecks and lines of a year, kept beside them';

INSERT INTO year_balances
SELECT t.organization_id, t.employer_id, t.sandbox, t.employee_id, t.tax_year, l.codes, l.taxable_wages, l.amounts,
       t.gross_pay, t.net_pay, t.employee_taxes, t.employer_taxes
  FROM (SELECT organization_id, employer_id, sandbox, employee_id, tax_year, sum(gross_pay)::bigint AS gross_pay,
               sum(net_pay)::bigint AS net_pay, sum(employee_taxes)::bigint AS employee_taxes,
               sum(employer_taxes)::bigint AS employer_taxes
          FROM paychecks GROUP BY 1, 2, 3, 4, 5) t
  JOIN (SELECT employee_id, tax_year, array_agg(code ORDER BY code) AS codes,
               array_agg(taxable_wages ORDER BY code) AS taxable_wages, array_agg(amount ORDER BY code) AS amounts
          FROM (SELECT employee_id, tax_year, code, sum(taxable_wages)::bigint AS taxable_wages,
                       sum(amount)::bigint AS amount
                  FROM paycheck_lines GROUP BY 1, 2, 3) s
         GROUP BY 1, 2) l USING (employee_id, tax_year);

-- The sums have been read from this index until now. Kept up to date it was the dearest part of a paycheck: a place of
-- its own for each line, in an index that grows with all the years.
DROP INDEX paycheck_lines_year_to_date_idx;

CREATE TABLE escrow_accounts (
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid PRIMARY KEY,
    rule_rate numeric CHECK (rule_rate > 0 AND rule_rate <= 1),
    rule_amount bigint CHECK (rule_amount > 0),
    balance bigint NOT NULL DEFAULT 0,
    held bigint NOT NULL DEFAULT 0,
    CHECK (rule_rate IS NULL OR rule_amount IS NULL),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
COMMENT ON COLUMN escrow_accounts.rule_rate IS 'Share of gross pay set aside each period; or rule_amount, in cents';
COMMENT ON COLUMN escrow_accounts.held IS 'The part of the balance that was collected by bank debit';

CREATE TABLE escrow_movements (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    paycheck_id uuid,
    kind text NOT NULL CHECK (kind IN ('deposit', 'reversal', 'payout', 'payout_returned')),
    payment_method text NOT NULL CHECK (payment_method IN ('direct_deposit', 'check', 'cash')),
    amount bigint NOT NULL CHECK (amount <> 0 AND (amount > 0) = (kind IN ('deposit', 'payout_returned'))),
    balance bigint NOT NULL,
    note text,
    created_at timestamptz NOT NULL,
    CHECK ((paycheck_id IS NOT NULL) = (kind IN ('deposit', 'reversal'))),
    UNIQUE (paycheck_id),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (paycheck_id, employee_id, employer_id, organization_id, sandbox)
        REFERENCES paychecks (id, employee_id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX escrow_movements_employee_id_idx ON escrow_movements (employee_id, id);

INSERT INTO escrow_accounts (organization_id, employer_id, sandbox, employee_id, balance)
SELECT organization_id, employer_id, sandbox, employee_id, sum(set_aside)
  FROM paychecks WHERE set_aside > 0 GROUP BY 1, 2, 3, 4;
INSERT INTO escrow_movements (id, organization_id, employer_id, sandbox, employee_id, paycheck_id, kind,
                              payment_method, amount, balance, created_at)
SELECT uuidv7(), c.organization_id, c.employer_id, c.sandbox, c.employee_id, c.id, 'deposit', c.payment_method,
       c.set_aside, sum(c.set_aside) OVER (PARTITION BY c.employee_id ORDER BY c.id), p.created_at
  FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id WHERE c.set_aside > 0;
"""

LIFECYCLE = """
ALTER TABLE payrolls
    ADD COLUMN scheduled_send_at timestamptz,
    ADD COLUMN direct_deposit boolean NOT NULL DEFAULT false,
    ADD COLUMN failure jsonb CHECK (jsonb_typeof(failure) = 'object'),
    ADD COLUMN attempts smallint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    ADD COLUMN next_attempt_at timestamptz,
    ADD CONSTRAINT payrolls_send_time CHECK (status <> 'scheduled' OR scheduled_send_at IS NOT NULL),
    ADD CONSTRAINT payrolls_failure CHECK (status <> 'failed' OR failure IS NOT NULL);
CREATE INDEX payrolls_due_idx ON payrolls (coalesce(next_attempt_at, scheduled_send_at), id)
    WHERE status = 'scheduled';
CREATE INDEX payrolls_under_way_idx ON payrolls (status, pay_date)
    WHERE status IN ('firing', 'pending_funding', 'processing');
COMMENT ON COLUMN payrolls.attempts IS 'How often firing it has failed, each time for the reason in failure';

CREATE TABLE payroll_transitions (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    payroll_id uuid NOT NULL,
    from_status text,
    to_status text NOT NULL,
    actor_kind text NOT NULL CHECK (actor_kind IN ('user', 'key', 'mcp', 'system', 'operator')),
    actor_id uuid,
    reason text,
    at timestamptz NOT NULL,
    FOREIGN KEY (payroll_id, employer_id, organization_id, sandbox)
        REFERENCES payrolls (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX payroll_transitions_payroll_id_idx ON payroll_transitions (payroll_id, id);
INSERT INTO payroll_transitions (id, organization_id, employer_id, sandbox, payroll_id, to_status, actor_kind,
                                 actor_id, at)
SELECT uuidv7(), organization_id, employer_id, sandbox, id, status, created_by_kind, created_by, created_at
  FROM payrolls;
"""

BANKING = """
CREATE TABLE bank_accounts (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid,
    account_type text NOT NULL CHECK (account_type IN ('checking', 'savings')),
    bank_name text CHECK (bank_name <> ''),
    last_four text NOT NULL CHECK (last_four ~ '^[0-9]{2,4}$'),
    status text NOT NULL CHECK (status IN ('verifying', 'active', 'failed', 'replaced')),
    verification text NOT NULL CHECK (verification IN ('prenote', 'instant')),
    reason text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (id, employer_id, organization_id, sandbox),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX bank_accounts_of_household_key ON bank_accounts (employer_id)
    WHERE employee_id IS NULL AND status <> 'replaced';
CREATE UNIQUE INDEX bank_accounts_of_employee_key ON bank_accounts (employee_id)
    WHERE employee_id IS NOT NULL AND status <> 'replaced';
CREATE INDEX bank_accounts_employer_id_idx ON bank_accounts (employer_id, employee_id, created_at);
CREATE INDEX bank_accounts_simulated_idx ON bank_accounts (id) WHERE sandbox AND last_four ~ '^[89]0';
COMMENT ON TABLE bank_accounts IS 'What is known of an account besides its numbers, which the vault keeps';
COMMENT ON COLUMN bank_accounts.employee_id IS 'Null for the household''s own account';

CREATE TABLE ach_authorizations (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    bank_account_id uuid NOT NULL,
    authorized_by_kind text NOT NULL CHECK (authorized_by_kind IN ('user', 'key', 'mcp', 'operator')),
    authorized_by uuid,
    request_id text,
    text_version text NOT NULL CHECK (text_version <> ''),
    authorized_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > authorized_at),
    revoked_at timestamptz,
    FOREIGN KEY (bank_account_id, employer_id, organization_id, sandbox)
        REFERENCES bank_accounts (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX ach_authorizations_employer_id_idx ON ach_authorizations (employer_id, authorized_at);

CREATE TABLE bank_files (
    id uuid PRIMARY KEY,
    name text NOT NULL UNIQUE,
    cut_off date NOT NULL UNIQUE,
    status text NOT NULL CHECK (status IN ('built', 'delivered')),
    entries integer NOT NULL CHECK (entries > 0),
    debit_total bigint NOT NULL CHECK (debit_total >= 0),
    credit_total bigint NOT NULL CHECK (credit_total >= 0),
    sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
    sealed_content bytea NOT NULL,
    nonce bytea NOT NULL CHECK (octet_length(nonce) = 12),
    key_id text NOT NULL,
    created_at timestamptz NOT NULL,
    delivered_at timestamptz CHECK ((delivered_at IS NOT NULL) = (status = 'delivered'))
);
COMMENT ON TABLE bank_files IS 'One Nacha file per banking day''s cut-off, encrypted, for delivery and proof';

CREATE TABLE bank_trace_numbers (
    originating_bank char(8) PRIMARY KEY CHECK (originating_bank ~ '^[0-9]{8}$'),
    last_used integer NOT NULL CHECK (last_used BETWEEN 0 AND 9999999)
);

CREATE TABLE bank_intake (
    id uuid PRIMARY KEY,
    name text NOT NULL UNIQUE,
    sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
    status text NOT NULL CHECK (status IN ('processed', 'refused')),
    returns integer NOT NULL CHECK (returns >= 0),
    changes integer NOT NULL CHECK (changes >= 0),
    problem text CHECK ((problem IS NOT NULL) = (status = 'refused')),
    received_at timestamptz NOT NULL
);
COMMENT ON TABLE bank_intake IS 'Files of returns and notifications of change picked up from the bank';

CREATE TABLE bank_entries (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    kind text NOT NULL CHECK (kind IN ('debit', 'credit', 'refund', 'payout', 'prenote')),
    bank_account_id uuid NOT NULL,
    employee_id uuid,
    payroll_id uuid,
    paycheck_id uuid,
    escrow_movement_id uuid REFERENCES escrow_movements ON DELETE CASCADE,
    amount bigint NOT NULL CHECK (amount BETWEEN 0 AND 9999999999 AND (amount = 0) = (kind = 'prenote')),
    attempt smallint NOT NULL DEFAULT 1 CHECK (attempt BETWEEN 1 AND 3),
    status text NOT NULL CHECK (status IN ('pending', 'sent', 'settled', 'returned', 'cancelled')),
    send_on date NOT NULL,
    settle_on date NOT NULL CHECK (settle_on > send_on),
    effective_date date,
    file_id uuid REFERENCES bank_files,
    trace_number char(15) CHECK (trace_number ~ '^[0-9]{15}$'),
    return_code text CHECK (return_code ~ '^R[0-9]{2}$'),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CHECK ((kind IN ('debit', 'credit', 'refund')) = (payroll_id IS NOT NULL)),
    CHECK ((kind IN ('credit', 'refund')) = (paycheck_id IS NOT NULL)),
    CHECK ((kind = 'payout') = (escrow_movement_id IS NOT NULL)),
    CHECK (status NOT IN ('sent', 'settled', 'returned') OR effective_date IS NOT NULL),
    CHECK (sandbox OR (status NOT IN ('sent', 'settled', 'returned'))
           OR (file_id IS NOT NULL AND trace_number IS NOT NULL)),
    CHECK (NOT sandbox OR file_id IS NULL),
    CHECK ((return_code IS NOT NULL) = (status = 'returned')),
    UNIQUE (trace_number, file_id),
    FOREIGN KEY (bank_account_id, employer_id, organization_id, sandbox)
        REFERENCES bank_accounts (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (payroll_id, employer_id, organization_id, sandbox)
        REFERENCES payrolls (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (paycheck_id, employee_id, employer_id, organization_id, sandbox)
        REFERENCES paychecks (id, employee_id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX bank_entries_one_debit_key ON bank_entries (payroll_id, attempt) WHERE kind = 'debit';
CREATE UNIQUE INDEX bank_entries_one_credit_key ON bank_entries (paycheck_id) WHERE kind = 'credit';
CREATE UNIQUE INDEX bank_entries_one_refund_key ON bank_entries (paycheck_id) WHERE kind = 'refund';
CREATE UNIQUE INDEX bank_entries_one_payout_key ON bank_entries (escrow_movement_id) WHERE kind = 'payout';
CREATE INDEX bank_entries_to_send_idx ON bank_entries (send_on, id) WHERE status = 'pending';
CREATE INDEX bank_entries_under_way_idx ON bank_entries (effective_date, id) WHERE status = 'sent';
CREATE INDEX bank_entries_payroll_id_idx ON bank_entries (payroll_id);
CREATE INDEX bank_entries_file_id_idx ON bank_entries (file_id);
CREATE INDEX bank_entries_bank_account_id_idx ON bank_entries (bank_account_id);
CREATE INDEX bank_entries_paycheck_id_idx ON bank_entries (paycheck_id);
COMMENT ON COLUMN bank_entries.send_on IS 'The first banking day at whose cut-off it may go out';
COMMENT ON COLUMN bank_entries.trace_number IS 'Starts again after ten million entries, so one file''s alone';
COMMENT ON COLUMN bank_entries.settle_on IS 'When the money shall move; effective_date is what the file said';
"""

# As before, but the payrolls are locked before the employees, as everybody does who changes a payroll; what hangs on
# payrolls and employees goes with them.
CLEAR = """
CREATE OR REPLACE FUNCTION clear_sandbox_household(household uuid, keep_household boolean)
    RETURNS TABLE (employees_removed bigint, payrolls_removed bigint)
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            own_organization uuid := nullif(current_setting('hearthpay.organization_id', true), '');
            in_sandbox boolean := nullif(current_setting('hearthpay.sandbox', true), '');
            chosen uuid := nullif(current_setting('hearthpay.employer_id', true), '');
        BEGIN
            IF in_sandbox IS NOT TRUE OR chosen <> household THEN
                RETURN;
            END IF;
            PERFORM FROM public.employers e
              WHERE e.id = household AND e.organization_id = own_organization AND e.sandbox
                FOR NO KEY UPDATE;
            IF NOT FOUND THEN
                RETURN;
            END IF;
            PERFORM FROM public.payrolls p WHERE p.employer_id = household ORDER BY p.id FOR UPDATE;
            PERFORM FROM public.employees e WHERE e.employer_id = household ORDER BY e.id FOR UPDATE;

            DELETE FROM public.bank_entries b WHERE b.employer_id = household;
            DELETE FROM public.escrow_movements m WHERE m.employer_id = household;
            DELETE FROM public.paycheck_lines l
             USING public.paychecks c, public.payrolls p
             WHERE l.paycheck_id = c.id AND c.payroll_id = p.id AND p.employer_id = household;
            DELETE FROM public.paychecks c
             USING public.payrolls p WHERE c.payroll_id = p.id AND p.employer_id = household;
            DELETE FROM public.payrolls p WHERE p.employer_id = household;
            GET DIAGNOSTICS payrolls_removed = ROW_COUNT;
            DELETE FROM public.employees e WHERE e.employer_id = household;
            GET DIAGNOSTICS employees_removed = ROW_COUNT;

            IF NOT keep_household THEN
                DELETE FROM public.assigned_rates r WHERE r.employer_id = household;
                UPDATE public.api_keys k SET employer_id = NULL, forgot_sandbox = k.mode = 'live'
                 WHERE k.employer_id = household;
                DELETE FROM public.employers e WHERE e.id = household;
            END IF;
            RETURN NEXT;
        END
    $$;
"""

_HOUSEHOLD_TABLES = (
    "payroll_entries",
    "payroll_estimates",
    "year_balances",
    "escrow_accounts",
    "escrow_movements",
    "payroll_transitions",
    "bank_accounts",
    "ach_authorizations",
    "bank_entries",
)
_BANK_TABLES = ("bank_files", "bank_trace_numbers", "bank_intake")

GRANTS = """
GRANT SELECT, INSERT, UPDATE (live) ON payroll_entries TO hearthpay_service;
GRANT SELECT, INSERT ON payroll_estimates, escrow_movements, payroll_transitions, ach_authorizations
    TO hearthpay_service;
GRANT UPDATE (revoked_at) ON ach_authorizations TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (codes, taxable_wages, amounts, gross_pay, net_pay, employee_taxes, employer_taxes)
    ON year_balances TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (rule_rate, rule_amount, balance, held) ON escrow_accounts TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (status, reason, account_type, bank_name, last_four, updated_at)
    ON bank_accounts TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (status, updated_at) ON bank_entries TO hearthpay_service;

GRANT SELECT ON organizations, employers, employees, assigned_rates, payroll_estimates TO hearthpay_worker;
-- To lock the employees whose year to date changes, as the service does, takes the right to update a column.
GRANT UPDATE (updated_at) ON employees TO hearthpay_worker;
GRANT SELECT, UPDATE (status, gross_pay, total_deductions, net_pay, employer_taxes, total_cost, rulebook_version,
                      failure, attempts, next_attempt_at) ON payrolls TO hearthpay_worker;
GRANT SELECT, UPDATE (live) ON payroll_entries TO hearthpay_worker;
GRANT SELECT, INSERT ON paychecks, paycheck_lines, payroll_transitions, audit_log, escrow_movements
    TO hearthpay_worker;
GRANT SELECT, INSERT, UPDATE (codes, taxable_wages, amounts, gross_pay, net_pay, employee_taxes, employer_taxes)
    ON year_balances TO hearthpay_worker;
GRANT SELECT, INSERT, UPDATE (balance, held) ON escrow_accounts TO hearthpay_worker;
GRANT SELECT, INSERT, UPDATE (ciphertext, nonce, key_id, last_four, rotated_at) ON vault TO hearthpay_worker;
GRANT SELECT, UPDATE (status, reason, account_type, bank_name, last_four, updated_at)
    ON bank_accounts TO hearthpay_worker;
GRANT SELECT, UPDATE (revoked_at) ON ach_authorizations TO hearthpay_worker;
GRANT SELECT, INSERT, UPDATE (bank_account_id, status, effective_date, file_id, trace_number, return_code, updated_at)
    ON bank_entries TO hearthpay_worker;
GRANT SELECT, INSERT, UPDATE (status, delivered_at) ON bank_files TO hearthpay_worker;
GRANT SELECT, INSERT, UPDATE (last_used) ON bank_trace_numbers TO hearthpay_worker;
GRANT SELECT, INSERT, UPDATE ON bank_intake TO hearthpay_worker;
"""

_WORKER_READS = (
    "organizations",
    "employers",
    "employees",
    "assigned_rates",
    "payrolls",
    "paychecks",
    "paycheck_lines",
    "audit_log",
    "vault",
)

_VISIBLE = """
    organization_id = (SELECT nullif(current_setting('hearthpay.organization_id', true), '')::uuid)
    AND sandbox = (SELECT nullif(current_setting('hearthpay.sandbox', true), '')::boolean)
    AND ((SELECT nullif(current_setting('hearthpay.employer_id', true), '')::uuid) IS NULL
         OR employer_id = (SELECT nullif(current_setting('hearthpay.employer_id', true), '')::uuid))
"""


def upgrade() -> None:
    """Create the clockwork's role and the tables, and move what there is into them."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (WORKER, ENTRIES, BALANCES, PAYCHECKS, LIFECYCLE, BANKING, CLEAR, GRANTS):
            cursor.execute(statements)
        for table in _HOUSEHOLD_TABLES + _BANK_TABLES:
            cursor.execute(
                f"""
                ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
                ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
                CREATE POLICY operator ON {table} TO CURRENT_USER USING (true) WITH CHECK (true);
                """
            )
        for table in _HOUSEHOLD_TABLES:
            cursor.execute(
                f"CREATE POLICY tenant ON {table} TO hearthpay_service USING ({_VISIBLE}) WITH CHECK ({_VISIBLE})"
            )
        for table in _HOUSEHOLD_TABLES + _BANK_TABLES + _WORKER_READS:
            cursor.execute(
                f"CREATE POLICY worker ON {table} TO hearthpay_worker USING (true) WITH CHECK (true)"
            )
    finally:
        cursor.close()
