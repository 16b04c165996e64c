"""Who of the people runs the installation, what the doctor found last, and how it all goes, for them alone."""

from __future__ import annotations

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

# No tenant's, and nothing that the service's role may see or write: an operator is named at the command line alone.
TABLES = """
CREATE TABLE operators (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL UNIQUE REFERENCES people,
    named_at timestamptz NOT NULL
);
COMMENT ON TABLE operators IS 'People who may look at how the installation goes; it opens no household to them';

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

# They run as their owner and tell nobody but an operator anything, and him numbers only.
FUNCTIONS = """
CREATE FUNCTION is_operator() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT EXISTS (SELECT FROM public.operators o WHERE o.person_id = public.current_person()) $$;
COMMENT ON FUNCTION is_operator IS 'Whether the person of this transaction runs the installation';

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
         WHERE public.is_operator()
    $$;
COMMENT ON FUNCTION installation_health IS 'How the installation goes, over all tenants: numbers, for an operator only';
"""


def upgrade() -> None:
    """Create the two tables, for the owner alone, and the two functions by which an operator's page is made."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        cursor.execute(TABLES)
        for table in ("operators", "examinations"):
            cursor.execute(
                f"""
                ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
                ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
                CREATE POLICY operator ON {table} TO CURRENT_USER USING (true) WITH CHECK (true);
                """
            )
        cursor.execute(FUNCTIONS)
        for function in ("is_operator()", "installation_health(timestamptz)"):
            cursor.execute(
                f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC; "
                f"GRANT EXECUTE ON FUNCTION {function} TO hearthpay_service"
            )
    finally:
        cursor.close()
