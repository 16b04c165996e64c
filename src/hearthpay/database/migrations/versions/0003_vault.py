"""The vault: encrypted Social Security, taxpayer and bank numbers of households and their employees."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# `employee_id` repeats `owner_id` for an employee's row, so that a foreign key can hold it to an employee of this
# very household; where it is null nothing is checked. A secret goes with its owner.
TABLE = """
CREATE TABLE vault (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    owner_kind text NOT NULL CHECK (owner_kind IN ('employer', 'employee')),
    owner_id uuid NOT NULL,
    employee_id uuid GENERATED ALWAYS AS (CASE WHEN owner_kind = 'employee' THEN owner_id END) STORED,
    kind text NOT NULL CHECK (kind IN ('ssn', 'itin', 'ein', 'bank_routing', 'bank_account')),
    ciphertext bytea NOT NULL CHECK (octet_length(ciphertext) BETWEEN 20 AND 33),
    nonce bytea NOT NULL CHECK (octet_length(nonce) = 12),
    key_id text NOT NULL CHECK (length(key_id) BETWEEN 1 AND 32),
    last_four text NOT NULL CHECK (last_four ~ '^[0-9]{2,4}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    rotated_at timestamptz,
    UNIQUE (owner_kind, owner_id, kind),
    CHECK (owner_kind <> 'employer' OR owner_id = employer_id),
    CHECK (kind <> 'ein' OR owner_kind = 'employer'),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX vault_tenant_idx ON vault (employer_id, employee_id);
COMMENT ON COLUMN vault.rotated_at IS 'When the ciphertext was last replaced: by a new number, or under a new key';

GRANT SELECT, INSERT, UPDATE (ciphertext, nonce, key_id, last_four, rotated_at) ON vault TO hearthpay_service;
"""

_VISIBLE = """
    organization_id = (SELECT nullif(current_setting('hearthpay.organization_id', true), '')::uuid)
    AND sandbox = (SELECT nullif(current_setting('hearthpay.sandbox', true), '')::boolean)
    AND ((SELECT nullif(current_setting('hearthpay.employer_id', true), '')::uuid) IS NULL
         OR employer_id = (SELECT nullif(current_setting('hearthpay.employer_id', true), '')::uuid))
"""

GUARDS = f"""
ALTER TABLE vault ENABLE ROW LEVEL SECURITY;
ALTER TABLE vault FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON vault TO hearthpay_service USING ({_VISIBLE}) WITH CHECK ({_VISIBLE});
CREATE POLICY operator ON vault TO CURRENT_USER USING (true) WITH CHECK (true);
"""


def upgrade() -> None:
    """Create the table and its guards."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        cursor.execute(TABLE)
        cursor.execute(GUARDS)
    finally:
        cursor.close()
