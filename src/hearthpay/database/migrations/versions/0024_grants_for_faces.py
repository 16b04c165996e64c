"""What the clockwork needs to make payrolls by itself, and the service to make and revoke its organization's keys."""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

# A payroll, its entries and its history the clockwork may write already, for what is carried over the year's end.
PAYROLLS = """
GRANT INSERT ON payroll_estimates TO hearthpay_worker;
"""

# Nobody reads a hash: a key is found by `authenticate_api_key`, whose caller holds the key. That one was revoked, used
# or has lost its household is never said by who makes it.
KEYS = """
REVOKE SELECT ON api_keys FROM hearthpay_service;
GRANT SELECT (id, organization_id, employer_id, mode, scopes, last_four, created_at, revoked_at, expires_at, confined,
              last_used_at),
      INSERT (id, organization_id, employer_id, mode, scopes, key_hash, last_four, created_at, expires_at, confined)
    ON api_keys TO hearthpay_service;
"""

# On top of the tenant's policy. A key of one mode is made in that mode, so that nothing that happens in the sandbox can
# open real books. A key may reach every household: no transaction that sees but one of them makes it. Before PostgreSQL
# 16 the owner inherits the service's role, and with it what is made for that role: the operator makes keys of any mode.
MADE = """
CREATE POLICY made_in_its_mode ON api_keys AS RESTRICTIVE FOR INSERT TO hearthpay_service
    WITH CHECK (current_user <> 'hearthpay_service' OR
                (SELECT (api_keys.mode = 'test') = t.sandbox AND t.employer_id IS NULL FROM current_tenant() t));
"""

# There is no way back: a function can say so, a right to write the column cannot.
REVOKE = """
CREATE FUNCTION revoke_api_key(key_id uuid, revoked timestamptz) RETURNS timestamptz
    LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        UPDATE public.api_keys k SET revoked_at = coalesce(k.revoked_at, revoke_api_key.revoked)
          FROM public.current_tenant() t
         WHERE k.id = revoke_api_key.key_id AND k.organization_id = t.organization_id
           AND (k.mode = 'test') = t.sandbox AND t.employer_id IS NULL
        RETURNING k.revoked_at
    $$;
COMMENT ON FUNCTION revoke_api_key IS 'Takes a key of the tenant''s organization and mode out of force, for good; '
    'answers since when it is, and nothing for a key out of reach';
REVOKE ALL ON FUNCTION revoke_api_key(uuid, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION revoke_api_key(uuid, timestamptz) TO hearthpay_service;
"""


def upgrade() -> None:
    """Grant it, and say under which conditions."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (PAYROLLS, KEYS, MADE, REVOKE):
            cursor.execute(statements)
    finally:
        cursor.close()
