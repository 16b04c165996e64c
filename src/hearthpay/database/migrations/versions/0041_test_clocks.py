"""Test clocks: a sandbox household may have a time of its own, at which the worker works for it alone."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_household

revision = "0041"
down_revision = "0039"
branch_labels = None
depends_on = None

CLOCKS = """
CREATE TABLE household_clocks (
    employer_id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    sandbox boolean NOT NULL CHECK (sandbox),
    created_at timestamptz NOT NULL,
    stands_at timestamptz NOT NULL,
    status text NOT NULL CHECK (status IN ('ready', 'advancing', 'internal_failure')),
    advanced_from timestamptz NOT NULL CHECK (advanced_from <= stands_at),
    target timestamptz NOT NULL CHECK (target >= stands_at AND target <= advanced_from + interval '2 years'),
    requested_at timestamptz NOT NULL,
    finished_at timestamptz,
    failed_steps smallint NOT NULL DEFAULT 0 CHECK (failed_steps >= 0),
    CHECK ((finished_at IS NULL) = (status = 'advancing')),
    CHECK (status <> 'ready' OR stands_at = target),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX household_clocks_advancing_idx ON household_clocks (requested_at, employer_id)
    WHERE status = 'advancing';
COMMENT ON TABLE household_clocks IS 'Sandbox households with a time of their own; all others go by real time';
COMMENT ON COLUMN household_clocks.stands_at IS 'The household''s time: everything due by then has been done';
COMMENT ON COLUMN household_clocks.target IS 'Where the last advance leads';
COMMENT ON COLUMN household_clocks.requested_at IS 'Real time, as created_at and finished_at';
COMMENT ON COLUMN household_clocks.failed_steps IS 'How often the step in hand has failed in a row';

GRANT SELECT, INSERT (employer_id, organization_id, sandbox, created_at, stands_at, status, advanced_from, target,
                      requested_at),
      UPDATE (status, advanced_from, target, requested_at, finished_at, failed_steps)
      ON household_clocks TO hearthpay_service;
GRANT SELECT, UPDATE (stands_at, status, finished_at, failed_steps) ON household_clocks TO hearthpay_worker;

CREATE FUNCTION keep_household_clock_forward() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            IF new.stands_at < old.stands_at THEN
                RAISE EXCEPTION 'a household''s clock runs forward only' USING ERRCODE = '23514';
            END IF;
            RETURN new;
        END
    $$;
CREATE TRIGGER forward_only BEFORE UPDATE ON household_clocks
    FOR EACH ROW EXECUTE FUNCTION keep_household_clock_forward();
"""

# What the worker does by the time. The audit log, idempotency keys, keys of the API and grants of agents go by real
# time whatever a household's clock says.
_BY_THE_TIME = (
    "account_changes",
    "ach_authorizations",
    "assigned_rates",
    "autopilot_authorizations",
    "autopilot_enrollments",
    "autopilot_errands",
    "autopilot_events",
    "autopilot_periods",
    "autopilot_versions",
    "bank_accounts",
    "bank_entries",
    "closed_accounts",
    "documents",
    "duty_marks",
    "employees",
    "escrow_accounts",
    "escrow_movements",
    "filing_choices",
    "invitations",
    "mail_outbox",
    "paycheck_lines",
    "paycheck_remedies",
    "paychecks",
    "payroll_entries",
    "payroll_estimates",
    "payroll_transitions",
    "payrolls",
    "prior_wages",
    "vault",
    "year_balances",
)

# On top of the policy that shows the worker every tenant: at real time it sees every household but those with a clock
# of their own, and at a household's time that household alone. Nothing that it writes can reach the other side.
_OF_ITS_CLOCK = """
CREATE POLICY of_its_clock ON {table} AS RESTRICTIVE TO hearthpay_worker USING (
    CASE WHEN (SELECT coalesce(current_setting('hearthpay.clock_of', true), '') = '')
         THEN NOT sandbox OR {household} IS NULL
              OR {household} NOT IN (SELECT c.employer_id FROM public.household_clocks c)
         ELSE {household} = (SELECT nullif(current_setting('hearthpay.clock_of', true), '')::uuid) END)
"""

# A payroll of a household whose clock stands still is not late.
FIGURES = """
CREATE OR REPLACE FUNCTION clockwork_figures(at timestamptz)
    RETURNS TABLE (name text, figure double precision)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        WITH due AS (SELECT count(*) AS payrolls, min(coalesce(p.next_attempt_at, p.scheduled_send_at)) AS oldest
                       FROM public.payrolls p WHERE p.status = 'scheduled'
                        AND coalesce(p.next_attempt_at, p.scheduled_send_at) <= at
                        AND (NOT p.sandbox OR p.employer_id NOT IN (SELECT c.employer_id
                                                                     FROM public.household_clocks c)))
        SELECT 'due', payrolls::double precision FROM due
        UNION ALL SELECT 'oldest_due_seconds', coalesce(extract(epoch FROM at - oldest), 0)::double precision FROM due
        UNION ALL SELECT 'held', count(*)::double precision FROM public.bank_entries b
                   WHERE b.status = 'pending' AND b.held_reason IS NOT NULL
        UNION ALL SELECT 'problems', count(*)::double precision FROM public.worker_problems w
                   WHERE w.seen_at > at - interval '15 minutes'
        UNION ALL SELECT c.name, c.total::double precision FROM public.worker_counts c
                   WHERE c.name IN ('fired', 'failed', 'put_off')
    $$;
"""


def upgrade() -> None:
    """Create the clocks, and part what the worker sees by them."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(CLOCKS)
        cursor.execute(guard_of_household("household_clocks"))
        for table in _BY_THE_TIME:
            cursor.execute(_OF_ITS_CLOCK.format(table=table, household="employer_id"))
        cursor.execute(_OF_ITS_CLOCK.format(table="employers", household="id"))
        cursor.execute(FIGURES)
    finally:
        cursor.close()
