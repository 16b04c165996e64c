"""What the doctor found last, and how the installation goes: for operators alone."""

from __future__ import annotations

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

# No tenant's, and nothing that the service's role may see or write.
TABLES = """
CREATE TABLE examinations (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL,
    checks integer NOT NULL CHECK (checks > 0),
    differing integer NOT NULL CHECK (differing >= 0),
    open_cases integer NOT NULL CHECK (open_cases >= 0),
    open_amount bigint NOT NULL CHECK (open_amount >= 0)
);
COMMENT ON TABLE examinations IS 'What the doctor found each time: how many figures differ, and which money is exposed';
"""

# It runs as its owner and tells nobody but an operator anything, and him numbers only.
FUNCTIONS = """
CREATE FUNCTION installation_health(at timestamptz)
    RETURNS TABLE (name text, figure bigint, moment timestamptz)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT found.name, found.figure, found.moment FROM (
            SELECT 'workers' AS name, count(*) FILTER (WHERE w.last_heartbeat > now() - interval '2 minutes') AS figure,
                   max(w.last_heartbeat) AS moment
              FROM procrastinate.procrastinate_workers w
            UNION ALL
            SELECT 'problems', count(*), min(p.since) FROM public.worker_problems p
             WHERE p.seen_at > at - interval '15 minutes'
            UNION ALL
            SELECT 'payrolls_due', count(*), min(coalesce(p.next_attempt_at, p.scheduled_send_at))
              FROM public.payrolls p
             WHERE p.status = 'scheduled' AND coalesce(p.next_attempt_at, p.scheduled_send_at) <= at
            UNION ALL
            SELECT 'mail_waiting', count(*), min(m.created_at) FROM public.mail_outbox m WHERE m.status = 'queued'
            UNION ALL
            SELECT 'mail_failed', count(*), max(m.finished_at) FROM public.mail_outbox m
             WHERE m.status = 'failed' AND m.finished_at > at - interval '24 hours'
            UNION ALL
            SELECT 'files_waiting', count(*), min(f.created_at) FROM public.bank_files f WHERE f.status = 'built'
            UNION ALL
            SELECT 'files_delivered', count(*), max(f.delivered_at) FROM public.bank_files f
             WHERE f.status = 'delivered'
            UNION ALL
            SELECT 'money_held', coalesce(sum(b.amount), 0)::bigint, min(b.held_since) FROM public.bank_entries b
             WHERE b.status = 'pending' AND b.held_reason IS NOT NULL AND NOT b.sandbox
            UNION ALL
            SELECT * FROM (SELECT 'doctor_differing', e.differing::bigint, e.at FROM public.examinations e
                            ORDER BY e.id DESC LIMIT 1) AS word
            UNION ALL
            SELECT * FROM (SELECT 'doctor_exposed', e.open_amount, e.at FROM public.examinations e
                            ORDER BY e.id DESC LIMIT 1) AS exposed
        ) AS found
         WHERE public.operates()
    $$;
COMMENT ON FUNCTION installation_health IS 'How the installation goes, over all tenants: numbers, for an operator only';
REVOKE ALL ON FUNCTION installation_health(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION installation_health(timestamptz) TO hearthpay_service;
"""
GUARDS = """
ALTER TABLE examinations ENABLE ROW LEVEL SECURITY;
ALTER TABLE examinations FORCE ROW LEVEL SECURITY;
CREATE POLICY operator ON examinations TO CURRENT_USER USING (true) WITH CHECK (true);
"""


def upgrade() -> None:
    """Create the table, for the owner alone, and the function by which an operator's page is made."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        cursor.execute(TABLES)
        cursor.execute(GUARDS)
        cursor.execute(FUNCTIONS)
    finally:
        cursor.close()
