"""Read by household: what one household asks for is found by an index, however many others there are; and what is due.

PostgreSQL takes COALESCE for a function that may leak what it is shown. Under row security an index over it is then
never a condition, only an order: what is due when is a column of its own. Adding it writes the table of payrolls anew,
which stands still for about two seconds for each million of them.
"""

from __future__ import annotations

from alembic import op

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

DUE = """
ALTER TABLE payrolls ADD COLUMN due_at timestamptz
    GENERATED ALWAYS AS (coalesce(next_attempt_at, scheduled_send_at)) STORED;
COMMENT ON COLUMN payrolls.due_at IS 'When it is fired next, where it is scheduled';
DROP INDEX payrolls_due_idx;
CREATE INDEX payrolls_due_idx ON payrolls (due_at, id) WHERE status = 'scheduled';
"""

# Whoever holds the chain seals some of what waits, and never so much that others wait for him.
SEALS = """
CREATE OR REPLACE FUNCTION seal_audit_log(organization uuid, written uuid[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            waiting uuid[];
            before record;
        BEGIN
            IF NOT pg_try_advisory_xact_lock(hashtextextended('hearthpay.audit ' || organization, 0)) THEN
                INSERT INTO public.audit_unsealed SELECT w.id, organization FROM unnest(written) AS w(id);
                RETURN;
            END IF;
            WITH next AS (
                SELECT u.audit_id FROM public.audit_unsealed u WHERE u.organization_id = organization LIMIT 1000
            ), taken AS (
                DELETE FROM public.audit_unsealed u USING next n WHERE u.audit_id = n.audit_id RETURNING u.audit_id
            ) SELECT coalesce(array_agg(t.audit_id), '{}') INTO waiting FROM taken t;
            IF cardinality(written || waiting) = 0 THEN
                RETURN;
            END IF;
            SELECT s.number, s.seal INTO before FROM public.audit_seals s
              WHERE s.organization_id = organization ORDER BY s.number DESC LIMIT 1;
            INSERT INTO public.audit_seals
                SELECT organization, coalesce(before.number, 0) + 1,
                       (SELECT array_agg(w.id ORDER BY w.id) FROM unnest(written || waiting) AS w(id)),
                       sha256(coalesce(before.seal, '')
                              || coalesce(string_agg(public.audit_digest(a), '' ORDER BY a.id), ''))
                  FROM public.audit_log a WHERE a.id = ANY(written || waiting);
        END
    $$;
CREATE OR REPLACE FUNCTION seal_waiting_audit_log() RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            each uuid;
        BEGIN
            FOR each IN SELECT DISTINCT u.organization_id
                          FROM (SELECT w.organization_id FROM public.audit_unsealed w LIMIT 5000) u LOOP
                PERFORM public.seal_audit_log(each, '{}');
            END LOOP;
            RETURN (SELECT count(*) FROM (SELECT FROM public.audit_unsealed LIMIT 10000) u);
        END
    $$;
COMMENT ON FUNCTION seal_waiting_audit_log IS 'Seals rows that no later one has sealed; tells how many still wait, '
    'counted up to 10,000';
"""

BY_HOUSEHOLD = """
CREATE INDEX paychecks_employer_id_idx ON paychecks (employer_id, tax_year, id);
CREATE INDEX autopilot_authorizations_employer_id_idx ON autopilot_authorizations (employer_id, authorized_at);
CREATE INDEX bank_accounts_new_idx ON bank_accounts (created_at) WHERE employee_id IS NULL;
CREATE INDEX autopilot_periods_employer_id_idx ON autopilot_periods (employer_id, id);
"""


def upgrade() -> None:
    """Add the column and the indexes, and bound what seals the audit log."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (DUE, SEALS, BY_HOUSEHOLD):
            cursor.execute(statements)
    finally:
        cursor.close()
