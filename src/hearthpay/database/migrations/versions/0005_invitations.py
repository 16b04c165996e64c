"""Invitations: links by which employees reach the portal to type their bank and tax details."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE invitations (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    type text NOT NULL CHECK (type IN ('bank_account', 'tax_info')),
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'cancelled', 'completed')),
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    email_sent boolean NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
    completed_at timestamptz CHECK ((completed_at IS NOT NULL) = (status = 'completed')),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX invitations_one_pending_key ON invitations (employee_id, type) WHERE status = 'pending';
CREATE INDEX invitations_employee_id_idx ON invitations (employee_id, type, id);
COMMENT ON COLUMN invitations.status IS 'A pending one that has expired stays pending and opens nothing';

GRANT SELECT, INSERT, UPDATE (status, email_sent, completed_at) ON invitations TO hearthpay_service;
"""

_VISIBLE = """
    organization_id = (SELECT nullif(current_setting('hearthpay.organization_id', true), '')::uuid)
    AND sandbox = (SELECT nullif(current_setting('hearthpay.sandbox', true), '')::boolean)
    AND ((SELECT nullif(current_setting('hearthpay.employer_id', true), '')::uuid) IS NULL
         OR employer_id = (SELECT nullif(current_setting('hearthpay.employer_id', true), '')::uuid))
"""

GUARDS = f"""
ALTER TABLE invitations ENABLE ROW LEVEL SECURITY;
ALTER TABLE invitations FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON invitations TO hearthpay_service USING ({_VISIBLE}) WITH CHECK ({_VISIBLE});
CREATE POLICY operator ON invitations TO CURRENT_USER USING (true) WITH CHECK (true);
"""

# Runs as its owner, since the tenant is only known once the invitation is. The caller must hold the token to know
# its hash, so it learns nothing about any other invitation.
FIND = """
CREATE FUNCTION find_invitation(token_hash bytea)
    RETURNS TABLE (invitation_id uuid, organization_id uuid, employer_id uuid, sandbox boolean, employee_id uuid,
                   type text, status text, expires_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT i.id, i.organization_id, i.employer_id, i.sandbox, i.employee_id, i.type, i.status, i.expires_at
          FROM public.invitations i
         WHERE i.token_hash = find_invitation.token_hash
    $$;
REVOKE ALL ON FUNCTION find_invitation(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_invitation(bytea) TO hearthpay_service;
"""


def upgrade() -> None:
    """Create the table, its guards and the function that opens an invitation."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (TABLE, GUARDS, FIND):
            cursor.execute(statements)
    finally:
        cursor.close()
