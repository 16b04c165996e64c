"""Failed attempts to sign in, and keys that are not valid, counted for all processes of an installation together."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_worker

revision = "0069"
down_revision = "0068"
branch_labels = None
depends_on = None

# Unlogged: counts of minutes need no write-ahead log, no replica and no place in a physical backup.
ATTEMPTS = """
CREATE TABLE failed_attempts (
    name bytea PRIMARY KEY CHECK (octet_length(name) = 32),
    forgiven_at timestamptz NOT NULL
);
ALTER TABLE failed_attempts SET UNLOGGED;
CREATE INDEX failed_attempts_forgiven_at_idx ON failed_attempts (forgiven_at);
COMMENT ON TABLE failed_attempts IS 'Failed attempts by digests of accounts, networks and keys; for its functions';
COMMENT ON COLUMN failed_attempts.forgiven_at IS 'When all failures are forgiven; each adds the time that forgives one';
"""

# All rows are locked in the order of their names, so that two attempts never wait for each other. Each call removes a
# few rows that have been over for a minute: hosts' clocks may differ a little.
COUNT = """
CREATE FUNCTION count_failed_attempts(names bytea[], allowed interval[], each interval[], at timestamptz)
    RETURNS TABLE (counted bytea, until timestamptz, admitted boolean)
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            found bytea[];
            untils timestamptz[];
            refused boolean;
        BEGIN
            DELETE FROM public.failed_attempts d WHERE d.name IN (
                SELECT f.name FROM public.failed_attempts f WHERE f.forgiven_at < at - interval '1 minute'
                 ORDER BY f.forgiven_at LIMIT 8 FOR UPDATE SKIP LOCKED);
            WITH added AS (
                INSERT INTO public.failed_attempts AS f (name, forgiven_at)
                SELECT u.name, at + u.each FROM unnest(names, each) AS u (name, each) ORDER BY u.name
                ON CONFLICT (name) DO UPDATE
                   SET forgiven_at = greatest(f.forgiven_at, at) + (excluded.forgiven_at - at)
                RETURNING f.name, f.forgiven_at)
            SELECT array_agg(a.name), array_agg(a.forgiven_at),
                   bool_or(a.forgiven_at - at > u.allowed + u.each)
              INTO found, untils, refused
              FROM added a JOIN unnest(names, allowed, each) AS u (name, allowed, each) ON u.name = a.name;
            IF refused THEN
                UPDATE public.failed_attempts f SET forgiven_at = f.forgiven_at - u.each
                  FROM unnest(names, each) AS u (name, each) WHERE f.name = u.name;
                RETURN QUERY SELECT f.name, f.forgiven_at, false FROM public.failed_attempts f
                              WHERE f.name = ANY (names);
            ELSE
                RETURN QUERY SELECT u.name, u.until, true FROM unnest(found, untils) AS u (name, until);
            END IF;
        END
    $$;
COMMENT ON FUNCTION count_failed_attempts IS 'Counts one attempt for each name, or for none if one of them must wait';
"""

FORGIVE = """
CREATE FUNCTION forgive_failed_attempts(once bytea[], each interval[], entirely bytea[])
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            PERFORM 1 FROM public.failed_attempts f WHERE f.name = ANY (once || entirely)
              ORDER BY f.name FOR UPDATE;
            UPDATE public.failed_attempts f SET forgiven_at = f.forgiven_at - u.each
              FROM unnest(once, each) AS u (name, each) WHERE f.name = u.name;
            DELETE FROM public.failed_attempts f WHERE f.name = ANY (entirely);
        END
    $$;
COMMENT ON FUNCTION forgive_failed_attempts IS 'Takes back one attempt of some names, and all of others';
"""

_FUNCTIONS = (
    "count_failed_attempts(bytea[], interval[], interval[], timestamptz)",
    "forgive_failed_attempts(bytea[], interval[], bytea[])",
)


def upgrade() -> None:
    """Create the table, and the functions through which the service counts without reading it."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (ATTEMPTS, guard_of_worker("failed_attempts"), COUNT, FORGIVE):
            cursor.execute(statements)
        for function in _FUNCTIONS:
            cursor.execute(
                f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC; "
                f"GRANT EXECUTE ON FUNCTION {function} TO hearthpay_service"
            )
    finally:
        cursor.close()
