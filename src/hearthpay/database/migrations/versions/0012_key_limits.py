"""Keys that expire, that are confined to one household, and that tell when they were last used."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

COLUMNS = """
ALTER TABLE api_keys
    ADD COLUMN expires_at timestamptz CHECK (expires_at > created_at),
    ADD COLUMN confined boolean NOT NULL DEFAULT false,
    ADD COLUMN last_used_at timestamptz;
COMMENT ON COLUMN api_keys.confined IS 'Reaches its household only; without a household it opens nothing';
COMMENT ON COLUMN api_keys.last_used_at IS 'To some minutes: not every use is noted';
"""

# The answer grows, which CREATE OR REPLACE cannot do. A confined key whose sandbox household was deleted must not
# fall back on the whole organization.
AUTHENTICATE = """
DROP FUNCTION authenticate_api_key(bytea);
CREATE FUNCTION authenticate_api_key(key_hash bytea)
    RETURNS TABLE (key_id uuid, organization_id uuid, employer_id uuid, mode text, scopes text[],
                   employer_sandbox boolean, plan text, lifted_limits jsonb, expires_at timestamptz,
                   confined boolean, last_used_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT k.id, k.organization_id, k.employer_id, k.mode, k.scopes,
               coalesce(e.sandbox, CASE WHEN k.forgot_sandbox THEN true END), o.plan, o.lifted_limits,
               k.expires_at, k.confined, k.last_used_at
          FROM public.api_keys k
          JOIN public.organizations o ON o.id = k.organization_id
          LEFT JOIN public.employers e ON e.id = k.employer_id
         WHERE k.key_hash = authenticate_api_key.key_hash AND k.revoked_at IS NULL
           AND (k.employer_id IS NOT NULL OR NOT k.confined)
    $$;
REVOKE ALL ON FUNCTION authenticate_api_key(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION authenticate_api_key(bytea) TO hearthpay_service;
"""

# The service's role cannot write keys. Who calls this holds the key itself, and can say no more than that it was used.
NOTE_USE = """
CREATE FUNCTION note_api_key_use(key_hash bytea, used_at timestamptz) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE public.api_keys k SET last_used_at = note_api_key_use.used_at
         WHERE k.key_hash = note_api_key_use.key_hash AND k.revoked_at IS NULL
           AND (k.last_used_at IS NULL OR k.last_used_at < note_api_key_use.used_at - interval '1 minute')
    $$;
REVOKE ALL ON FUNCTION note_api_key_use(bytea, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_api_key_use(bytea, timestamptz) TO hearthpay_service;
"""


def upgrade() -> None:
    """Add the columns, let the authentication tell them, and let a use be noted."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (COLUMNS, AUTHENTICATE, NOTE_USE):
            cursor.execute(statements)
    finally:
        cursor.close()
