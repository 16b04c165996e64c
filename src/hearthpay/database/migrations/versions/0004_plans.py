"""Plans: what an organization may use, and the limits that the operator has lifted for it."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# Which plans there are, and what each allows, is data of the program: here stands only the name.
ORGANIZATIONS = """
ALTER TABLE organizations
    ADD COLUMN plan text NOT NULL DEFAULT 'professional' CHECK (plan ~ '^[a-z][a-z_]{0,31}$'),
    ADD COLUMN lifted_limits jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(lifted_limits) = 'object');
COMMENT ON COLUMN organizations.lifted_limits IS
    'Limits of the plan which the operator replaced: by name, a whole number, or null for none';
"""

# The answer grows two columns, which CREATE OR REPLACE cannot do.
AUTHENTICATE = """
DROP FUNCTION authenticate_api_key(bytea);
CREATE FUNCTION authenticate_api_key(key_hash bytea)
    RETURNS TABLE (key_id uuid, organization_id uuid, employer_id uuid, mode text, scopes text[],
                   employer_sandbox boolean, plan text, lifted_limits jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT k.id, k.organization_id, k.employer_id, k.mode, k.scopes,
               coalesce(e.sandbox, CASE WHEN k.forgot_sandbox THEN true END), o.plan, o.lifted_limits
          FROM public.api_keys k
          JOIN public.organizations o ON o.id = k.organization_id
          LEFT JOIN public.employers e ON e.id = k.employer_id
         WHERE k.key_hash = authenticate_api_key.key_hash AND k.revoked_at IS NULL
    $$;
REVOKE ALL ON FUNCTION authenticate_api_key(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION authenticate_api_key(bytea) TO hearthpay_service;
"""

# A deed may also be done over an MCP connection: the client of a person who agreed to it.
ACTORS = """
ALTER TABLE audit_log DROP CONSTRAINT audit_log_actor_kind_check,
    ADD CONSTRAINT audit_log_actor_kind_check
        CHECK (actor_kind IN ('user', 'key', 'mcp', 'employee', 'system', 'operator'));
ALTER TABLE payrolls DROP CONSTRAINT payrolls_created_by_kind_check,
    ADD CONSTRAINT payrolls_created_by_kind_check
        CHECK (created_by_kind IN ('user', 'key', 'mcp', 'system', 'operator'));
"""


def upgrade() -> None:
    """Give every organization a plan, and let the authentication tell it."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (ORGANIZATIONS, AUTHENTICATE, ACTORS):
            cursor.execute(statements)
    finally:
        cursor.close()
