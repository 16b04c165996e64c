"""Evidence: a digest of every paycheck, and the audit log sealed in a chain for each organization."""

from __future__ import annotations

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

PAYCHECKS = """
ALTER TABLE paychecks ADD COLUMN digest bytea CHECK (octet_length(digest) = 32);
COMMENT ON COLUMN paychecks.digest IS 'SHA-256 of the paycheck and its lines; null: written before there was one';
"""

# A seal is made over the one before it, so that no row can be changed, taken out or put in without breaking the chain.
SEALS = """
CREATE TABLE audit_seals (
    organization_id uuid NOT NULL,
    number bigint NOT NULL CHECK (number > 0),
    audit_ids uuid[] NOT NULL CHECK (cardinality(audit_ids) > 0),
    seal bytea NOT NULL CHECK (octet_length(seal) = 32),
    PRIMARY KEY (organization_id, number)
);
CREATE TABLE audit_unsealed (
    audit_id uuid PRIMARY KEY,
    organization_id uuid NOT NULL
);
CREATE INDEX audit_unsealed_organization_id_idx ON audit_unsealed (organization_id);
COMMENT ON TABLE audit_seals IS 'The chain over each organization''s log; SHA-256 of the seal before and the rows';
COMMENT ON TABLE audit_unsealed IS 'Written while another transaction held the chain: the next to hold it seals them';
"""

DIGEST = """
CREATE FUNCTION audit_digest(entry audit_log) RETURNS bytea
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT sha256(convert_to(jsonb_build_array(entry.id, entry.organization_id, entry.employer_id, entry.sandbox,
            entry.actor_kind, entry.actor_id, entry.action, entry.subject_id, entry.request_id, entry.details,
            (extract(epoch FROM entry.at) * 1000000)::bigint)::text, 'UTF8'))
    $$;
"""

# Nobody waits for a chain: what another transaction holds is sealed by whoever comes after it. A row that is gone by
# then is sealed as well, by its id: so it is missed.
SEAL = """
CREATE FUNCTION seal_audit_log(organization uuid, written uuid[]) RETURNS void
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
            WITH taken AS (
                DELETE FROM public.audit_unsealed u WHERE u.organization_id = organization RETURNING u.audit_id
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
CREATE FUNCTION seal_written_audit_log() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            each record;
        BEGIN
            FOR each IN SELECT w.organization_id AS organization, array_agg(w.id) AS ids FROM written w GROUP BY 1 LOOP
                PERFORM public.seal_audit_log(each.organization, each.ids);
            END LOOP;
            RETURN NULL;
        END
    $$;
CREATE FUNCTION seal_waiting_audit_log() RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            each uuid;
        BEGIN
            FOR each IN SELECT DISTINCT u.organization_id FROM public.audit_unsealed u LIMIT 1000 LOOP
                PERFORM public.seal_audit_log(each, '{}');
            END LOOP;
            RETURN (SELECT count(*) FROM public.audit_unsealed);
        END
    $$;
REVOKE ALL ON FUNCTION seal_audit_log(uuid, uuid[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION seal_written_audit_log() FROM PUBLIC;
REVOKE ALL ON FUNCTION seal_waiting_audit_log() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION seal_waiting_audit_log() TO hearthpay_worker;
"""

# What was written so far is sealed as it stands, a row at a time.
PRESENT = """
DO $$
    DECLARE
        each record;
    BEGIN
        FOR each IN SELECT a.organization_id AS organization, a.id FROM audit_log a ORDER BY a.id LOOP
            PERFORM seal_audit_log(each.organization, ARRAY[each.id]);
        END LOOP;
    END
$$;
CREATE TRIGGER seal_written AFTER INSERT ON audit_log REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION seal_written_audit_log();
"""


def upgrade() -> None:
    """Add the digests' column, the chains, what seals them, and the seals of what is there."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (PAYCHECKS, SEALS, DIGEST, SEAL, PRESENT):
            cursor.execute(statements)
        for table in ("audit_seals", "audit_unsealed"):
            cursor.execute(
                f"""
                ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
                ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
                CREATE POLICY operator ON {table} TO CURRENT_USER USING (true) WITH CHECK (true);
                """
            )
    finally:
        cursor.close()
