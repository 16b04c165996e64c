"""Deleting and resetting sandbox households: the one way in which the service can delete anything of payroll's."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# A live key made under a sandbox household never falls back on a real one by itself. That must outlive the
# household, which the key can no longer name.
KEYS = """
ALTER TABLE api_keys ADD COLUMN forgot_sandbox boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN api_keys.forgot_sandbox IS
    'A live key which remembered a sandbox household that has been deleted since';

CREATE OR REPLACE FUNCTION authenticate_api_key(key_hash bytea)
    RETURNS TABLE (key_id uuid, organization_id uuid, employer_id uuid, mode text, scopes text[],
                   employer_sandbox boolean)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT k.id, k.organization_id, k.employer_id, k.mode, k.scopes,
               coalesce(e.sandbox, CASE WHEN k.forgot_sandbox THEN true END)
          FROM public.api_keys k
          LEFT JOIN public.employers e ON e.id = k.employer_id
         WHERE k.key_hash = authenticate_api_key.key_hash AND k.revoked_at IS NULL
    $$;
"""

# Runs as its owner, whom the policies do not bind, so it looks at the tenant itself: the transaction must be in
# sandbox mode, and the household the organization's own and a sandbox one. Otherwise nothing happens and no
# row comes back.
#
# The order of the locks is that of every other writer. The household comes first, in the mode that keeps new
# employees out and lets a payroll under way refer to it; then the employees, whom a payroll locks before it
# refers to anything. So payrolls under way are waited for, and none can begin.
CLEAR = """
CREATE FUNCTION clear_sandbox_household(household uuid, keep_household boolean)
    RETURNS TABLE (employees_removed bigint, payrolls_removed bigint)
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            own_organization uuid := nullif(current_setting('hearthpay.organization_id', true), '');
            in_sandbox boolean := nullif(current_setting('hearthpay.sandbox', true), '');
            chosen uuid := nullif(current_setting('hearthpay.employer_id', true), '');
        BEGIN
            IF in_sandbox IS NOT TRUE OR chosen <> household THEN
                RETURN;
            END IF;
            PERFORM FROM public.employers e
              WHERE e.id = household AND e.organization_id = own_organization AND e.sandbox
                FOR NO KEY UPDATE;
            IF NOT FOUND THEN
                RETURN;
            END IF;
            PERFORM FROM public.employees e WHERE e.employer_id = household ORDER BY e.id FOR UPDATE;

            DELETE FROM public.paycheck_lines l
             USING public.paychecks c, public.payrolls p
             WHERE l.paycheck_id = c.id AND c.payroll_id = p.id AND p.employer_id = household;
            DELETE FROM public.paychecks c
             USING public.payrolls p WHERE c.payroll_id = p.id AND p.employer_id = household;
            DELETE FROM public.payrolls p WHERE p.employer_id = household;
            GET DIAGNOSTICS payrolls_removed = ROW_COUNT;
            DELETE FROM public.employees e WHERE e.employer_id = household;
            GET DIAGNOSTICS employees_removed = ROW_COUNT;

            IF NOT keep_household THEN
                DELETE FROM public.assigned_rates r WHERE r.employer_id = household;
                UPDATE public.api_keys k SET employer_id = NULL, forgot_sandbox = k.mode = 'live'
                 WHERE k.employer_id = household;
                DELETE FROM public.employers e WHERE e.id = household;
            END IF;
            RETURN NEXT;
        END
    $$;
COMMENT ON FUNCTION clear_sandbox_household(uuid, boolean) IS
    'Deletes a sandbox household of the current tenant, or only its employees and payrolls';
REVOKE ALL ON FUNCTION clear_sandbox_household(uuid, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION clear_sandbox_household(uuid, boolean) TO hearthpay_service;
"""


def upgrade() -> None:
    """Let keys outlive the sandbox household they remember, and make the function that deletes one."""
    for statements in (KEYS, CLEAR):
        _run(statements)


def _run(statements: str) -> None:
    """Send several statements as they stand; SQLAlchemy's own path would look for parameters in them."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(statements)
    finally:
        cursor.close()
