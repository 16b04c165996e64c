"""The first schema: organizations, keys, households, employees, payrolls, paychecks, and their guards."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Roles belong to the whole cluster: another database may have made this one already, maybe in this moment.
# The migrating role must be able to act as the service (`-c role=…`), without inheriting its rights.
ROLES = """
DO $$
BEGIN
    IF current_user = 'hearthpay_service' THEN
        RAISE EXCEPTION 'the role hearthpay_service must not own the tables: migrate as another role';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'hearthpay_service') THEN
        BEGIN
            CREATE ROLE hearthpay_service NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOINHERIT;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
    END IF;
    IF EXISTS (SELECT FROM pg_roles
               WHERE rolname = 'hearthpay_service' AND (rolsuper OR rolbypassrls OR rolcreaterole)) THEN
        RAISE EXCEPTION 'the role hearthpay_service must not be able to bypass row-level security';
    END IF;
    IF NOT pg_has_role(current_user, 'hearthpay_service', 'SET') THEN
        EXECUTE format('GRANT hearthpay_service TO %I WITH SET TRUE, INHERIT FALSE', current_user);
    END IF;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO hearthpay_service', current_database());
END
$$;
GRANT USAGE ON SCHEMA public TO hearthpay_service;
"""

# Core PostgreSQL has a GiST operator class for inet but none for uuid; both hold 128 bits.
UUID_AS_INET = """
CREATE FUNCTION uuid_as_inet(id uuid) RETURNS inet
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(replace(id::text, '-', ''), '(....)(?!$)', '\\1:', 'g')::inet;
COMMENT ON FUNCTION uuid_as_inet(uuid) IS 'A uuid as an IPv6 address, for exclusion constraints';
"""

TABLES = """
CREATE TABLE organizations (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE employers (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL REFERENCES organizations,
    sandbox boolean NOT NULL,
    first_name text NOT NULL CHECK (first_name <> ''),
    last_name text NOT NULL CHECK (last_name <> ''),
    email text NOT NULL CHECK (email <> ''),
    state char(2) NOT NULL CHECK (state ~ '^[A-Z]{2}$'),
    is_primary boolean NOT NULL DEFAULT false,
    ein_status text NOT NULL DEFAULT 'none' CHECK (ein_status IN ('none', 'pending', 'approved')),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (id, organization_id),
    UNIQUE (id, organization_id, sandbox)
);
CREATE INDEX employers_tenant_idx ON employers (organization_id, sandbox, id);
CREATE UNIQUE INDEX employers_one_primary_key ON employers (organization_id, sandbox) WHERE is_primary;

CREATE TABLE assigned_rates (
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    tax_year smallint NOT NULL CHECK (tax_year BETWEEN 2000 AND 2200),
    state char(2) NOT NULL CHECK (state ~ '^[A-Z]{2}$'),
    sui_rate numeric NOT NULL CHECK (sui_rate >= 0 AND sui_rate < 1),
    PRIMARY KEY (employer_id, tax_year, state),
    FOREIGN KEY (employer_id, organization_id, sandbox) REFERENCES employers (id, organization_id, sandbox)
);

CREATE TABLE api_keys (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL REFERENCES organizations,
    employer_id uuid,
    mode text NOT NULL CHECK (mode IN ('live', 'test')),
    scopes text[] NOT NULL,
    key_hash bytea NOT NULL UNIQUE CHECK (length(key_hash) = 32),
    last_four text NOT NULL CHECK (length(last_four) = 4),
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz,
    FOREIGN KEY (employer_id, organization_id) REFERENCES employers (id, organization_id)
);
CREATE INDEX api_keys_organization_id_idx ON api_keys (organization_id);

CREATE TABLE employees (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    first_name text NOT NULL CHECK (first_name <> ''),
    last_name text NOT NULL CHECK (last_name <> ''),
    email text,
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'terminated')),
    work_state char(2) NOT NULL CHECK (work_state ~ '^[A-Z]{2}$'),
    residence_state char(2) NOT NULL CHECK (residence_state ~ '^[A-Z]{2}$'),
    localities text[] NOT NULL DEFAULT '{}',
    pay_rate_cents bigint NOT NULL CHECK (pay_rate_cents >= 0),
    overtime_rate_cents bigint NOT NULL CHECK (overtime_rate_cents >= 0),
    pay_frequency text NOT NULL CHECK (pay_frequency IN ('weekly', 'biweekly', 'semimonthly', 'monthly')),
    start_date date NOT NULL,
    end_date date CHECK (end_date >= start_date),
    payment_method text NOT NULL DEFAULT 'check'
        CHECK (payment_method IN ('direct_deposit', 'check', 'cash')),
    relationship text NOT NULL DEFAULT 'none' CHECK (relationship <> ''),
    birth_year smallint CHECK (birth_year BETWEEN 1900 AND 2200),
    lives_in boolean NOT NULL DEFAULT false,
    federal_withholding jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(federal_withholding) = 'object'),
    state_withholding jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(state_withholding) = 'object'),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (id, employer_id, organization_id, sandbox),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox)
);
CREATE INDEX employees_employer_id_idx ON employees (employer_id, id);

CREATE TABLE payrolls (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    status text NOT NULL CHECK (status IN ('draft', 'scheduled', 'firing', 'pending_funding', 'processing',
                                           'completed', 'voided', 'failed')),
    period_start date NOT NULL,
    period_end date NOT NULL,
    pay_date date NOT NULL,
    pay_date_defaulted boolean NOT NULL,
    pay_frequency text NOT NULL CHECK (pay_frequency IN ('weekly', 'biweekly', 'semimonthly', 'monthly')),
    notes text,
    rulebook_version text NOT NULL,
    tax_year smallint NOT NULL,
    gross_pay bigint NOT NULL CHECK (gross_pay >= 0),
    total_deductions bigint NOT NULL CHECK (total_deductions >= 0),
    net_pay bigint NOT NULL CHECK (net_pay >= 0),
    employer_taxes bigint NOT NULL CHECK (employer_taxes >= 0),
    total_cost bigint NOT NULL CHECK (total_cost >= 0),
    created_by_kind text NOT NULL CHECK (created_by_kind IN ('user', 'key', 'system', 'operator')),
    created_by uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK (period_end >= period_start),
    UNIQUE (id, employer_id, organization_id, sandbox),
    FOREIGN KEY (employer_id, organization_id, sandbox) REFERENCES employers (id, organization_id, sandbox)
);
CREATE INDEX payrolls_employer_id_idx ON payrolls (employer_id, id);

CREATE TABLE paychecks (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    payroll_id uuid NOT NULL,
    employee_id uuid NOT NULL,
    position smallint NOT NULL CHECK (position >= 0),
    live boolean NOT NULL DEFAULT true,
    tax_year smallint NOT NULL,
    period daterange NOT NULL CHECK (NOT isempty(period) AND NOT lower_inf(period) AND NOT upper_inf(period)),
    payment_method text NOT NULL CHECK (payment_method IN ('direct_deposit', 'check', 'cash')),
    regular_hours numeric(7, 2) NOT NULL CHECK (regular_hours >= 0),
    regular_pay bigint NOT NULL CHECK (regular_pay >= 0),
    overtime_hours numeric(7, 2) NOT NULL CHECK (overtime_hours >= 0),
    overtime_pay bigint NOT NULL CHECK (overtime_pay >= 0),
    bonus bigint NOT NULL CHECK (bonus >= 0),
    other_earnings bigint NOT NULL CHECK (other_earnings >= 0),
    gross_pay bigint NOT NULL CHECK (gross_pay >= 0),
    employee_taxes bigint NOT NULL CHECK (employee_taxes >= 0),
    employer_taxes bigint NOT NULL CHECK (employer_taxes >= 0),
    set_aside bigint NOT NULL DEFAULT 0 CHECK (set_aside >= 0),
    set_aside_source text NOT NULL DEFAULT 'none'
        CHECK (set_aside_source IN ('rule', 'override', 'skipped', 'none')),
    set_aside_balance bigint NOT NULL DEFAULT 0,
    net_pay bigint NOT NULL CHECK (net_pay >= 0),
    total_cost bigint NOT NULL CHECK (total_cost >= 0),
    ytd_gross_pay bigint NOT NULL,
    ytd_net_pay bigint NOT NULL,
    ytd_employee_taxes bigint NOT NULL,
    ytd_employer_taxes bigint NOT NULL,
    employee_name text NOT NULL,
    work_state char(2) NOT NULL,
    residence_state char(2) NOT NULL,
    reciprocity_certificate text,
    warnings jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(warnings) = 'array'),
    UNIQUE (payroll_id, position),
    UNIQUE (id, employee_id, employer_id, organization_id, sandbox),
    FOREIGN KEY (payroll_id, employer_id, organization_id, sandbox)
        REFERENCES payrolls (id, employer_id, organization_id, sandbox),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox),
    CONSTRAINT paychecks_no_overlap
        EXCLUDE USING gist (uuid_as_inet(employee_id) inet_ops WITH =, period WITH &&) WHERE (live)
);
CREATE INDEX paychecks_employee_id_idx ON paychecks (employee_id, tax_year, id);

CREATE TABLE paycheck_lines (
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    paycheck_id uuid NOT NULL,
    employee_id uuid NOT NULL,
    tax_year smallint NOT NULL,
    position smallint NOT NULL CHECK (position >= 0),
    code text NOT NULL CHECK (code <> ''),
    name text NOT NULL,
    payer text NOT NULL CHECK (payer IN ('employee', 'employer')),
    agency text NOT NULL,
    category text NOT NULL CHECK (category <> ''),
    subject_wages bigint NOT NULL,
    taxable_wages bigint NOT NULL,
    rate numeric,
    amount bigint NOT NULL,
    ytd_amount bigint NOT NULL,
    PRIMARY KEY (paycheck_id, position),
    FOREIGN KEY (paycheck_id, employee_id, employer_id, organization_id, sandbox)
        REFERENCES paychecks (id, employee_id, employer_id, organization_id, sandbox)
);
CREATE INDEX paycheck_lines_year_to_date_idx
    ON paycheck_lines (employee_id, tax_year, code) INCLUDE (taxable_wages, amount);

CREATE TABLE idempotency_keys (
    organization_id uuid NOT NULL REFERENCES organizations,
    sandbox boolean NOT NULL,
    key text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    request_hash bytea NOT NULL,
    status smallint CHECK (status BETWEEN 100 AND 599),
    body bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, sandbox, key)
);

CREATE TABLE audit_log (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL REFERENCES organizations,
    employer_id uuid,
    sandbox boolean,
    actor_kind text NOT NULL CHECK (actor_kind IN ('user', 'key', 'system', 'operator')),
    actor_id uuid,
    action text NOT NULL CHECK (action <> ''),
    subject_id uuid,
    request_id text,
    details jsonb NOT NULL DEFAULT '{}',
    at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_log_organization_id_idx ON audit_log (organization_id, id);
"""

# What the service may do, and nothing else. No row can be deleted by it; lines and audit rows cannot be
# changed.
GRANTS = """
GRANT SELECT ON organizations, api_keys, assigned_rates TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE ON employers, employees TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (status) ON payrolls TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (live) ON paychecks TO hearthpay_service;
GRANT SELECT, INSERT ON paycheck_lines, audit_log TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (status, body) ON idempotency_keys TO hearthpay_service;
"""

# A setting which was set once in a session reads as '' afterwards: nullif makes that the same as never set,
# and a comparison with NULL shows nothing. The sub-selects are evaluated once per statement instead of once
# per row.
_ORGANIZATION = "(SELECT nullif(current_setting('hearthpay.organization_id', true), '')::uuid)"
_SANDBOX = "(SELECT nullif(current_setting('hearthpay.sandbox', true), '')::boolean)"
_EMPLOYER = "(SELECT nullif(current_setting('hearthpay.employer_id', true), '')::uuid)"

OWN_ORGANIZATION = f"organization_id = {_ORGANIZATION}"
OWN_MODE = f"sandbox = {_SANDBOX}"
CHOSEN_HOUSEHOLD = f"({_EMPLOYER} IS NULL OR employer_id = {_EMPLOYER})"

VISIBLE = {
    "organizations": f"id = {_ORGANIZATION}",
    "api_keys": f"{OWN_ORGANIZATION} AND {CHOSEN_HOUSEHOLD}",
    "employers": f"{OWN_ORGANIZATION} AND {OWN_MODE} AND ({_EMPLOYER} IS NULL OR id = {_EMPLOYER})",
    "assigned_rates": f"{OWN_ORGANIZATION} AND {OWN_MODE} AND {CHOSEN_HOUSEHOLD}",
    "employees": f"{OWN_ORGANIZATION} AND {OWN_MODE} AND {CHOSEN_HOUSEHOLD}",
    "payrolls": f"{OWN_ORGANIZATION} AND {OWN_MODE} AND {CHOSEN_HOUSEHOLD}",
    "paychecks": f"{OWN_ORGANIZATION} AND {OWN_MODE} AND {CHOSEN_HOUSEHOLD}",
    "paycheck_lines": f"{OWN_ORGANIZATION} AND {OWN_MODE} AND {CHOSEN_HOUSEHOLD}",
    "idempotency_keys": f"{OWN_ORGANIZATION} AND {OWN_MODE}",
    "audit_log": f"{OWN_ORGANIZATION} AND (sandbox IS NULL OR {OWN_MODE}) AND {CHOSEN_HOUSEHOLD}",
}
# A transaction bound to one household may still note what it did to the organization as a whole.
WRITABLE = VISIBLE | {
    "audit_log": f"{OWN_ORGANIZATION} AND (sandbox IS NULL OR {OWN_MODE}) "
    f"AND (employer_id IS NULL OR {CHOSEN_HOUSEHOLD})",
}

# Runs as its owner, since the tenant is only known once the key is. The caller must already hold the key to
# know its hash, so it learns nothing about any other key.
AUTHENTICATE = """
CREATE FUNCTION authenticate_api_key(key_hash bytea)
    RETURNS TABLE (key_id uuid, organization_id uuid, employer_id uuid, mode text, scopes text[],
                   employer_sandbox boolean)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT k.id, k.organization_id, k.employer_id, k.mode, k.scopes, e.sandbox
          FROM public.api_keys k
          LEFT JOIN public.employers e ON e.id = k.employer_id
         WHERE k.key_hash = authenticate_api_key.key_hash AND k.revoked_at IS NULL
    $$;
REVOKE ALL ON FUNCTION authenticate_api_key(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION authenticate_api_key(bytea) TO hearthpay_service;
"""


def upgrade() -> None:
    """Create everything."""
    for statements in (ROLES, UUID_AS_INET, TABLES, GRANTS):
        _run(statements)
    for table, visible in VISIBLE.items():
        _run(
            f"""
            ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
            ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
            CREATE POLICY tenant ON {table} TO hearthpay_service USING ({visible}) WITH CHECK ({WRITABLE[table]});
            CREATE POLICY operator ON {table} TO CURRENT_USER USING (true) WITH CHECK (true);
            """
        )
    _run(AUTHENTICATE)


def _run(statements: str) -> None:
    """Send several statements as they stand; SQLAlchemy's own path would look for parameters in them."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(statements)
    finally:
        cursor.close()
