"""Autopilot: enrollments and versions, what became of each pay period, the standing authorization, the history."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_household

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

# `next_start` to `next_pay_date` are of the first period about which nothing is decided; `generate_at` is when it is
# to be, and only then does the worker look at the row.
ENROLLMENTS = """
CREATE TABLE autopilot_enrollments (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    status text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
    first_start date NOT NULL,
    next_start date NOT NULL CHECK (next_start >= first_start),
    next_end date NOT NULL CHECK (next_end >= next_start),
    next_pay_date date NOT NULL,
    generate_at timestamptz CHECK ((generate_at IS NOT NULL) = (status = 'active')),
    skip_through date,
    failure_count smallint NOT NULL DEFAULT 0 CHECK (failure_count >= 0),
    pause_reason text CHECK (pause_reason <> '' AND (pause_reason IS NULL OR status <> 'active')),
    enrolled_by_kind text NOT NULL CHECK (enrolled_by_kind IN ('user', 'operator')),
    enrolled_by uuid,
    enrolled_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    disabled_at timestamptz CHECK ((disabled_at IS NOT NULL) = (status = 'disabled')),
    UNIQUE (id, employer_id, organization_id, sandbox),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX autopilot_enrollments_one_live_key ON autopilot_enrollments (employee_id)
    WHERE status <> 'disabled';
CREATE INDEX autopilot_enrollments_due_idx ON autopilot_enrollments (generate_at, id) WHERE status = 'active';
CREATE INDEX autopilot_enrollments_employer_id_idx ON autopilot_enrollments (employer_id, id);
CREATE INDEX autopilot_enrollments_employee_id_idx ON autopilot_enrollments (employee_id, id);
COMMENT ON COLUMN autopilot_enrollments.next_start IS 'First day of the first period about which nothing is decided';
COMMENT ON COLUMN autopilot_enrollments.generate_at IS 'When that is decided: the worker looks at nothing before';
COMMENT ON COLUMN autopilot_enrollments.skip_through IS 'Periods that begin by then are not paid';
"""

# What is enrolled, in versions that are never changed: each from a period on.
VERSIONS = """
CREATE TABLE autopilot_versions (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    enrollment_id uuid NOT NULL,
    number smallint NOT NULL CHECK (number > 0),
    from_period date NOT NULL,
    frequency text NOT NULL CHECK (frequency IN ('weekly', 'biweekly', 'semimonthly', 'monthly')),
    anchor date NOT NULL CHECK (anchor <= from_period),
    pay_days_after smallint NOT NULL CHECK (pay_days_after BETWEEN 0 AND 14),
    standard_hours numeric NOT NULL CHECK (standard_hours > 0 AND scale(standard_hours) <= 3),
    expected_net bigint NOT NULL CHECK (expected_net >= 0),
    made_by_kind text NOT NULL CHECK (made_by_kind IN ('user', 'operator')),
    made_by uuid,
    made_at timestamptz NOT NULL,
    UNIQUE (enrollment_id, number),
    FOREIGN KEY (enrollment_id, employer_id, organization_id, sandbox)
        REFERENCES autopilot_enrollments (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
COMMENT ON COLUMN autopilot_versions.expected_net IS 'The net pay that was agreed to, in cents';
"""

# The Nacha rules ask for the record of what was agreed to, and for how long it held: nothing here is ever changed but
# that it ended.
AUTHORIZATIONS = """
CREATE TABLE autopilot_authorizations (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    enrollment_id uuid NOT NULL,
    bank_account_id uuid NOT NULL,
    text_version text NOT NULL CHECK (text_version <> ''),
    agreed_text text NOT NULL CHECK (agreed_text <> ''),
    authorized_by_kind text NOT NULL CHECK (authorized_by_kind IN ('user', 'operator')),
    authorized_by uuid,
    address text CHECK (address <> ''),
    request_id text,
    authorized_at timestamptz NOT NULL,
    ended_at timestamptz CHECK (ended_at >= authorized_at),
    revoked_at timestamptz CHECK (revoked_at >= ended_at),
    FOREIGN KEY (enrollment_id, employer_id, organization_id, sandbox)
        REFERENCES autopilot_enrollments (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (bank_account_id, employer_id, organization_id, sandbox)
        REFERENCES bank_accounts (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX autopilot_authorizations_one_key ON autopilot_authorizations (enrollment_id)
    WHERE ended_at IS NULL;
CREATE INDEX autopilot_authorizations_enrollment_id_idx ON autopilot_authorizations (enrollment_id, authorized_at);
CREATE INDEX autopilot_authorizations_bank_account_id_idx ON autopilot_authorizations (bank_account_id);
COMMENT ON COLUMN autopilot_authorizations.ended_at IS 'Payrolls made until then are covered still';
COMMENT ON COLUMN autopilot_authorizations.revoked_at IS 'From then on nothing is debited under it any more';
COMMENT ON COLUMN autopilot_authorizations.address IS 'The network address from which it was given, where one was';
"""

# One row for each period that is decided, and no day of an enrollment in two of them.
PERIODS = """
CREATE TABLE autopilot_periods (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    enrollment_id uuid NOT NULL,
    employee_id uuid NOT NULL,
    version smallint NOT NULL,
    period_start date NOT NULL,
    period_end date NOT NULL CHECK (period_end >= period_start),
    pay_date date NOT NULL,
    send_at timestamptz NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('scheduled', 'fired', 'paid', 'failed', 'voided', 'skipped', 'paused',
                                             'by_hand', 'ineligible')),
    payroll_id uuid UNIQUE,
    by_hand uuid[] NOT NULL DEFAULT '{}',
    reasons text[] NOT NULL DEFAULT '{}',
    held text[] NOT NULL DEFAULT '{}',
    confirmed_at timestamptz,
    net_pay bigint CHECK (net_pay >= 0),
    decided_at timestamptz NOT NULL,
    UNIQUE (enrollment_id, period_start),
    CHECK ((payroll_id IS NOT NULL) = (outcome IN ('scheduled', 'fired', 'paid', 'failed', 'voided'))),
    CHECK ((outcome = 'by_hand') = (by_hand <> '{}')),
    CHECK ((outcome = 'ineligible') = (reasons <> '{}')),
    CHECK (payroll_id IS NOT NULL OR (held = '{}' AND net_pay IS NULL)),
    CHECK (confirmed_at IS NULL OR held <> '{}'),
    FOREIGN KEY (enrollment_id, version) REFERENCES autopilot_versions (enrollment_id, number) ON DELETE CASCADE,
    FOREIGN KEY (enrollment_id, employer_id, organization_id, sandbox)
        REFERENCES autopilot_enrollments (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (payroll_id, employer_id, organization_id, sandbox)
        REFERENCES payrolls (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    CONSTRAINT autopilot_periods_no_overlap EXCLUDE USING gist (
        uuid_as_inet(enrollment_id) inet_ops WITH =, daterange(period_start, period_end, '[]') WITH &&)
);
CREATE INDEX autopilot_periods_waiting_idx ON autopilot_periods (enrollment_id, period_start)
    WHERE outcome = 'scheduled';
CREATE INDEX autopilot_periods_employee_id_idx ON autopilot_periods (employee_id) WHERE outcome = 'scheduled';
COMMENT ON COLUMN autopilot_periods.pay_date IS 'Where nothing is paid, the day on which it would have been';
COMMENT ON COLUMN autopilot_periods.by_hand IS 'The payrolls that pay for it, where Autopilot stepped over it';
COMMENT ON COLUMN autopilot_periods.held IS 'What the household must confirm before the payroll is sent';
"""

EVENTS = """
CREATE TABLE autopilot_events (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    enrollment_id uuid NOT NULL,
    employee_id uuid NOT NULL,
    event text NOT NULL CHECK (event IN ('enroll', 'skip', 'pause', 'resume', 'disable', 'generate', 'fire', 'fail')),
    at timestamptz NOT NULL,
    actor_kind text NOT NULL CHECK (actor_kind IN ('user', 'key', 'mcp', 'system', 'operator')),
    actor_id uuid,
    source text NOT NULL CHECK (source IN ('app', 'api', 'mcp', 'system')),
    request_id text,
    details jsonb NOT NULL CHECK (jsonb_typeof(details) = 'object'),
    FOREIGN KEY (enrollment_id, employer_id, organization_id, sandbox)
        REFERENCES autopilot_enrollments (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX autopilot_events_employer_id_idx ON autopilot_events (employer_id, id);
CREATE INDEX autopilot_events_enrollment_id_idx ON autopilot_events (enrollment_id, id);

-- What the worker still has to tell, or to draw conclusions from; gone once that is done.
CREATE TABLE autopilot_errands (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    enrollment_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('enrolled', 'debit_tomorrow', 'held', 'refused', 'paid', 'failed', 'paused')),
    payroll_id uuid,
    details jsonb NOT NULL CHECK (jsonb_typeof(details) = 'object'),
    due_at timestamptz NOT NULL,
    FOREIGN KEY (enrollment_id, employer_id, organization_id, sandbox)
        REFERENCES autopilot_enrollments (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX autopilot_errands_due_idx ON autopilot_errands (due_at, id);
CREATE INDEX autopilot_errands_enrollment_id_idx ON autopilot_errands (enrollment_id);
"""

# Whoever moves a payroll of Autopilot, by whatever way, moves its period with it and writes the history, in the same
# transaction. What Autopilot's own service voids it tells itself, with more to say: its reasons begin with its name.
FOLLOWING = """
CREATE FUNCTION autopilot_follows_payrolls() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            IF NOT EXISTS (SELECT FROM moved m WHERE m.from_status IS NOT NULL) THEN
                RETURN NULL;
            END IF;
            IF NOT EXISTS (SELECT FROM moved m JOIN public.autopilot_periods g ON g.payroll_id = m.payroll_id) THEN
                RETURN NULL;
            END IF;
            INSERT INTO public.autopilot_events (id, organization_id, employer_id, sandbox, enrollment_id, employee_id,
                                                 event, at, actor_kind, actor_id, source, details)
            SELECT public.new_id(), g.organization_id, g.employer_id, g.sandbox, g.enrollment_id, g.employee_id,
                   CASE m.to_status WHEN 'pending_funding' THEN 'fire' WHEN 'failed' THEN 'fail' ELSE 'skip' END,
                   m.at, m.actor_kind, m.actor_id,
                   CASE m.actor_kind WHEN 'key' THEN 'api' WHEN 'mcp' THEN 'mcp' WHEN 'system' THEN 'system'
                                     ELSE 'app' END,
                   jsonb_build_object('payroll_id', m.payroll_id, 'period_start', g.period_start,
                                      'period_end', g.period_end, 'pay_date', p.pay_date)
                   || CASE WHEN m.to_status = 'failed'
                           THEN jsonb_build_object('reasons',
                                                   jsonb_build_array(coalesce(p.failure ->> 'code', m.reason)))
                           WHEN m.to_status = 'voided'
                           THEN jsonb_build_object('voided', jsonb_build_array(m.payroll_id))
                           ELSE '{}' END
              FROM moved m JOIN public.autopilot_periods g ON g.payroll_id = m.payroll_id
              JOIN public.payrolls p ON p.id = m.payroll_id
             WHERE m.to_status IN ('pending_funding', 'failed')
                OR m.to_status = 'voided' AND coalesce(m.reason, '') NOT LIKE 'autopilot.%'
             ORDER BY m.id;
            INSERT INTO public.autopilot_errands (id, organization_id, employer_id, sandbox, enrollment_id, kind,
                                                  payroll_id, details, due_at)
            SELECT public.new_id(), g.organization_id, g.employer_id, g.sandbox, g.enrollment_id,
                   CASE m.to_status WHEN 'completed' THEN 'paid' ELSE 'failed' END, m.payroll_id, '{}', m.at
              FROM moved m JOIN public.autopilot_periods g ON g.payroll_id = m.payroll_id
             WHERE m.to_status IN ('completed', 'failed') ORDER BY m.id;
            UPDATE public.autopilot_periods g
               SET outcome = CASE s.to_status WHEN 'completed' THEN 'paid' WHEN 'failed' THEN 'failed'
                                              WHEN 'voided' THEN 'voided' ELSE 'fired' END
              FROM (SELECT DISTINCT ON (m.payroll_id) m.payroll_id, m.to_status FROM moved m
                     ORDER BY m.payroll_id, m.id DESC) s
             WHERE g.payroll_id = s.payroll_id;
            RETURN NULL;
        END
    $$;
CREATE TRIGGER autopilot_follows AFTER INSERT ON payroll_transitions
    REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION autopilot_follows_payrolls();
"""

GRANTS = """
GRANT SELECT, INSERT, UPDATE (status, next_start, next_end, next_pay_date, generate_at, skip_through, failure_count,
                              pause_reason, updated_at, disabled_at)
    ON autopilot_enrollments TO hearthpay_service;
GRANT SELECT, INSERT ON autopilot_versions, autopilot_events TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (ended_at, revoked_at) ON autopilot_authorizations TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (outcome, confirmed_at) ON autopilot_periods TO hearthpay_service;
GRANT SELECT, INSERT ON autopilot_errands TO hearthpay_service;

GRANT SELECT, UPDATE (status, next_start, next_end, next_pay_date, generate_at, failure_count, pause_reason, updated_at)
    ON autopilot_enrollments TO hearthpay_worker;
GRANT SELECT ON autopilot_versions TO hearthpay_worker;
GRANT SELECT, UPDATE (ended_at, revoked_at) ON autopilot_authorizations TO hearthpay_worker;
GRANT SELECT, INSERT, UPDATE (outcome) ON autopilot_periods TO hearthpay_worker;
GRANT INSERT ON autopilot_events TO hearthpay_worker;
-- To lock what is to be done takes the right to update a column.
GRANT SELECT, INSERT, UPDATE (due_at), DELETE ON autopilot_errands TO hearthpay_worker;
"""

_TABLES = (
    "autopilot_enrollments",
    "autopilot_versions",
    "autopilot_authorizations",
    "autopilot_periods",
    "autopilot_events",
    "autopilot_errands",
)

# As the payrolls that would be made of them: what a restored copy has is not acted upon before the operator says so.
HELD = """
CREATE POLICY held_after_restore ON {table} AS RESTRICTIVE TO hearthpay_worker
    USING (sandbox OR (SELECT NOT EXISTS (SELECT FROM public.restorations r WHERE r.resumed_at IS NULL)));
"""


def upgrade() -> None:
    """Create the tables, bound to their households, and let periods follow their payrolls."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (ENROLLMENTS, VERSIONS, AUTHORIZATIONS, PERIODS, EVENTS, FOLLOWING, GRANTS):
            cursor.execute(statements)
        for table in _TABLES:
            cursor.execute(guard_of_household(table))
        for table in ("autopilot_enrollments", "autopilot_errands"):
            cursor.execute(HELD.format(table=table))
    finally:
        cursor.close()
