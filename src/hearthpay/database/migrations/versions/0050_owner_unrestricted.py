"""The owner sees every row also where it inherits the acting roles: restrictions ask who acts, not who is a member."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import ACTS_AS_OWNER

revision = "0050"
down_revision = "0045"
branch_labels = None
depends_on = None

# It named the service's role, which a copy of the database under another name does not have.
MADE = """
DROP POLICY made_in_its_mode ON api_keys;
CREATE POLICY made_in_its_mode ON api_keys AS RESTRICTIVE FOR INSERT TO hearthpay_service
    WITH CHECK ((SELECT (api_keys.mode = 'test') = t.sandbox AND t.employer_id IS NULL FROM current_tenant() t));
"""

# A policy for a role binds whoever has that role's rights. Before PostgreSQL 16 these are all its members, and from
# then on those who were granted it so: the owner, who must be able to become the role, is one of them.
_QUOTED = ACTS_AS_OWNER.replace("'", "''")
EXCEPT_OWNER = f"""
DO $$
DECLARE policy record;
BEGIN
    FOR policy IN
        SELECT p.polname, p.polrelid::regclass AS relation, pg_get_expr(p.polqual, p.polrelid) AS visible,
               pg_get_expr(p.polwithcheck, p.polrelid) AS writable
          FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
         WHERE NOT p.polpermissive AND c.relnamespace = 'public'::regnamespace
    LOOP
        IF policy.visible IS NOT NULL THEN
            EXECUTE format('ALTER POLICY %I ON %s USING ((%s) OR {_QUOTED})',
                           policy.polname, policy.relation, policy.visible);
        END IF;
        IF policy.writable IS NOT NULL THEN
            EXECUTE format('ALTER POLICY %I ON %s WITH CHECK ((%s) OR {_QUOTED})',
                           policy.polname, policy.relation, policy.writable);
        END IF;
    END LOOP;
END $$;
"""


def upgrade() -> None:
    """Except the owner from every restriction."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        for statements in (MADE, EXCEPT_OWNER):
            cursor.execute(statements)
    finally:
        cursor.close()
