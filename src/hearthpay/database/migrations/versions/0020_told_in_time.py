"""What holds money up and who was told of it, reversals, the sandbox's magic numbers, and indexes for the lists."""

from __future__ import annotations

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

# Of a short account number fewer than four digits are shown, so what the sandbox's bank answers is noted beside them.
ACCOUNTS = """
ALTER TABLE bank_accounts
    ADD COLUMN simulated_answer text CHECK (simulated_answer ~ '^[RC][0-9]{2}$'),
    ADD CONSTRAINT bank_accounts_simulated CHECK (sandbox OR simulated_answer IS NULL);
UPDATE bank_accounts
   SET simulated_answer = CASE left(last_four, 1) WHEN '9' THEN 'R' ELSE 'C' END || right(last_four, 2)
 WHERE sandbox AND last_four ~ '^[89]0[0-9]{2}$';
DROP INDEX bank_accounts_simulated_idx;
CREATE INDEX bank_accounts_simulated_idx ON bank_accounts (id) WHERE simulated_answer IS NOT NULL;
COMMENT ON COLUMN bank_accounts.simulated_answer IS 'The code with which the sandbox''s bank answers to every entry';
"""

# A reversal takes back from an employee's account what a credit paid by mistake: same account, same amount.
ENTRIES = """
ALTER TABLE bank_entries
    ADD COLUMN reverses uuid REFERENCES bank_entries ON DELETE CASCADE,
    ADD COLUMN reversal_reason text
        CHECK (reversal_reason IN ('duplicate', 'wrong_receiver', 'wrong_amount', 'wrong_date')),
    ADD COLUMN held_reason text CHECK (held_reason <> ''),
    ADD COLUMN held_since timestamptz,
    ADD COLUMN held_logged_at timestamptz,
    ADD COLUMN held_told text,
    DROP CONSTRAINT bank_entries_kind_check,
    ADD CONSTRAINT bank_entries_kind_check
        CHECK (kind IN ('debit', 'credit', 'refund', 'payout', 'prenote', 'reversal')),
    DROP CONSTRAINT bank_entries_check2,
    ADD CONSTRAINT bank_entries_of_payroll
        CHECK ((kind IN ('debit', 'credit', 'refund', 'reversal')) = (payroll_id IS NOT NULL)),
    DROP CONSTRAINT bank_entries_check3,
    ADD CONSTRAINT bank_entries_of_paycheck
        CHECK ((kind IN ('credit', 'refund', 'reversal')) = (paycheck_id IS NOT NULL)),
    ADD CONSTRAINT bank_entries_reversal CHECK ((kind = 'reversal') = (reverses IS NOT NULL)),
    ADD CONSTRAINT bank_entries_reversal_reason CHECK ((kind = 'reversal') = (reversal_reason IS NOT NULL)),
    ADD CONSTRAINT bank_entries_held CHECK ((held_reason IS NULL) = (held_since IS NULL));
CREATE UNIQUE INDEX bank_entries_one_reversal_key ON bank_entries (reverses) WHERE kind = 'reversal';
CREATE INDEX bank_entries_held_idx ON bank_entries (id) WHERE status = 'pending' AND held_reason IS NOT NULL;
COMMENT ON COLUMN bank_entries.held_reason IS 'Why it could not go when it was tried last; counts while it is pending';
COMMENT ON COLUMN bank_entries.held_told IS 'The reason that household and employee were told last';
GRANT UPDATE (held_reason, held_since, held_logged_at, held_told) ON bank_entries TO hearthpay_worker;
"""

# What was told before there were notices is not told again.
PAYROLLS = """
ALTER TABLE payrolls ADD COLUMN failure_told text;
UPDATE payrolls SET failure_told = md5((status = 'failed')::text || failure::text) WHERE failure IS NOT NULL;
CREATE INDEX payrolls_untold_idx ON payrolls (id)
    WHERE failure IS NOT NULL AND failure_told IS DISTINCT FROM md5((status = 'failed')::text || failure::text);
CREATE INDEX payrolls_organization_id_idx ON payrolls (organization_id, sandbox, id);
CREATE INDEX payrolls_of_status_idx ON payrolls (organization_id, sandbox, status, id);
CREATE INDEX payrolls_of_day_idx ON payrolls (organization_id, sandbox, pay_date, id);
COMMENT ON COLUMN payrolls.failure_told IS 'Which failure the notices have told of';
GRANT UPDATE (failure_told) ON payrolls TO hearthpay_worker;
"""

# A notice goes to an employee, to a household or to the operator, who is no tenant's. What is told of the bank does
# not use up the mails that a household may cause by inviting, and the other way round.
NOTICES = """
ALTER TABLE mail_outbox
    ALTER COLUMN organization_id DROP NOT NULL,
    ALTER COLUMN employer_id DROP NOT NULL,
    ALTER COLUMN employee_id DROP NOT NULL,
    ADD COLUMN recipient text NOT NULL DEFAULT 'employee' CHECK (recipient IN ('employee', 'household', 'operator')),
    ADD COLUMN payroll_id uuid,
    ADD COLUMN notice_key text UNIQUE,
    ADD CONSTRAINT mail_outbox_of_household
        CHECK (recipient = 'operator' OR (organization_id IS NOT NULL AND employer_id IS NOT NULL)),
    ADD CONSTRAINT mail_outbox_of_employee CHECK (recipient <> 'employee' OR employee_id IS NOT NULL),
    ADD CONSTRAINT mail_outbox_payroll_id_fkey FOREIGN KEY (payroll_id) REFERENCES payrolls ON DELETE CASCADE,
    ADD CONSTRAINT mail_outbox_employer_id_fkey FOREIGN KEY (employer_id) REFERENCES employers ON DELETE CASCADE;
CREATE INDEX mail_outbox_payroll_id_idx ON mail_outbox (payroll_id) WHERE payroll_id IS NOT NULL;
CREATE INDEX mail_outbox_employer_id_idx ON mail_outbox (employer_id);
COMMENT ON COLUMN mail_outbox.notice_key IS 'What is told, once; null for mail that is no notice';
GRANT INSERT ON mail_outbox TO hearthpay_worker;

CREATE OR REPLACE FUNCTION mails_since(household uuid, person uuid, since timestamptz)
    RETURNS TABLE (of_organization bigint, of_household bigint, of_employee bigint)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT count(*), count(*) FILTER (WHERE m.employer_id = household),
               count(*) FILTER (WHERE m.employee_id = person)
          FROM public.mail_outbox m
         WHERE (m.organization_id, m.sandbox) = (SELECT t.organization_id, t.sandbox FROM public.current_tenant() t)
           AND m.created_at >= since AND NOT starts_with(coalesce(m.reason, ''), 'daily_limit_of_')
           AND m.notice_key IS NULL
    $$;
"""

# What stands in the way of all payments, such as a bank that cannot be reached, and what the workers have done.
WORKERS = """
CREATE TABLE worker_problems (
    key text PRIMARY KEY CHECK (length(key) = 32),
    kind text NOT NULL CHECK (kind IN ('outage', 'other')),
    problem text NOT NULL CHECK (problem <> ''),
    since timestamptz NOT NULL,
    seen_at timestamptz NOT NULL CHECK (seen_at >= since),
    logged_at timestamptz NOT NULL
);
CREATE INDEX worker_problems_outage_idx ON worker_problems (seen_at) WHERE kind = 'outage';
COMMENT ON TABLE worker_problems IS 'What keeps the clockwork from its work, since when, and when it was logged last';
COMMENT ON COLUMN worker_problems.key IS 'MD5 of the problem without its numbers and days, which change as it lasts';

CREATE TABLE worker_counts (
    name text PRIMARY KEY CHECK (name <> ''),
    total bigint NOT NULL CHECK (total >= 0)
);
COMMENT ON TABLE worker_counts IS 'What all workers together have done, for /metrics';

GRANT SELECT, INSERT, UPDATE, DELETE ON worker_problems TO hearthpay_worker;
GRANT SELECT, INSERT, UPDATE (total) ON worker_counts TO hearthpay_worker;

-- For /metrics, which sees no tenant: plain sums, and no more than the operator's own number.
CREATE FUNCTION clockwork_figures(at timestamptz)
    RETURNS TABLE (name text, figure double precision)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        WITH due AS (SELECT count(*) AS payrolls, min(coalesce(p.next_attempt_at, p.scheduled_send_at)) AS oldest
                       FROM public.payrolls p WHERE p.status = 'scheduled'
                        AND coalesce(p.next_attempt_at, p.scheduled_send_at) <= at)
        SELECT 'due', payrolls::double precision FROM due
        UNION ALL SELECT 'oldest_due_seconds', coalesce(extract(epoch FROM at - oldest), 0)::double precision FROM due
        UNION ALL SELECT 'held', count(*)::double precision FROM public.bank_entries b
                   WHERE b.status = 'pending' AND b.held_reason IS NOT NULL
        UNION ALL SELECT 'problems', count(*)::double precision FROM public.worker_problems w
                   WHERE w.seen_at > at - interval '15 minutes'
        UNION ALL SELECT c.name, c.total::double precision FROM public.worker_counts c
                   WHERE c.name IN ('fired', 'failed', 'put_off')
    $$;
COMMENT ON FUNCTION clockwork_figures IS 'How the clockwork is doing, over all tenants: numbers only';
REVOKE ALL ON FUNCTION clockwork_figures(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION clockwork_figures(timestamptz) TO hearthpay_service;

-- Of the transaction's tenant alone: the files themselves are nobody's to see.
CREATE FUNCTION bank_outage_of(payroll uuid, at timestamptz)
    RETURNS timestamptz
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT min(w.since) FROM public.worker_problems w
         WHERE w.kind = 'outage' AND w.seen_at > at - interval '15 minutes' AND EXISTS (
               SELECT FROM public.bank_entries b LEFT JOIN public.bank_files f ON f.id = b.file_id
                WHERE b.payroll_id = payroll AND NOT b.sandbox
                  AND (f.status = 'built' OR b.status = 'pending' AND b.held_reason IS NULL
                                             AND b.send_on < (at AT TIME ZONE 'America/New_York')::date)
                  AND (b.organization_id, b.sandbox, b.employer_id) =
                      (SELECT t.organization_id, t.sandbox, coalesce(t.employer_id, b.employer_id)
                         FROM public.current_tenant() t))
    $$;
COMMENT ON FUNCTION bank_outage_of IS 'Since when the bank is out of reach, where that keeps a payment of the payroll';
REVOKE ALL ON FUNCTION bank_outage_of(uuid, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION bank_outage_of(uuid, timestamptz) TO hearthpay_service;
"""


def upgrade() -> None:
    """Add the columns, the tables, their guards and functions."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (ACCOUNTS, ENTRIES, PAYROLLS, NOTICES, WORKERS):
            cursor.execute(statements)
        for table in ("worker_problems", "worker_counts"):
            cursor.execute(
                f"""
                ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
                ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
                CREATE POLICY operator ON {table} TO CURRENT_USER USING (true) WITH CHECK (true);
                CREATE POLICY worker ON {table} TO hearthpay_worker USING (true) WITH CHECK (true);
                """
            )
    finally:
        cursor.close()
