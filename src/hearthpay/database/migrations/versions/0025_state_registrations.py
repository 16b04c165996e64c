"""What a household has and has applied for with the states' agencies; its numbers there, in the vault."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_household

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

# One row for each number, whatever accounts go by it. The worker has nothing to do with it.
REGISTRATIONS = """
CREATE TABLE state_registrations (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    state char(2) NOT NULL CHECK (state ~ '^[A-Z]{2}$'),
    number_id text NOT NULL CHECK (number_id ~ '^[a-z]+(-[a-z]+)*$' AND length(number_id) <= 32),
    applied_on date,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (employer_id, state, number_id),
    UNIQUE (id, employer_id, organization_id, sandbox),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
);
COMMENT ON COLUMN state_registrations.number_id IS 'The number''s name in the file of its state';
COMMENT ON COLUMN state_registrations.applied_on IS 'When the household applied, by its word; null: it never said so';

GRANT SELECT, INSERT, UPDATE (applied_on, updated_at) ON state_registrations TO hearthpay_service;
"""

# A number of an agency has letters too and is longer than any other; what is shown of a short one may be nothing.
VAULT = """
ALTER TABLE vault
    DROP CONSTRAINT vault_owner_kind_check,
    DROP CONSTRAINT vault_kind_check,
    DROP CONSTRAINT vault_ciphertext_check,
    DROP CONSTRAINT vault_last_four_check,
    ADD COLUMN registration_id uuid
        GENERATED ALWAYS AS (CASE WHEN owner_kind = 'registration' THEN owner_id END) STORED,
    ADD CONSTRAINT vault_owner_kind_check CHECK (owner_kind IN ('employer', 'employee', 'registration')),
    ADD CONSTRAINT vault_kind_check
        CHECK (kind IN ('ssn', 'itin', 'ein', 'bank_routing', 'bank_account', 'state_account')),
    ADD CONSTRAINT vault_state_account_check CHECK ((kind = 'state_account') = (owner_kind = 'registration')),
    ADD CONSTRAINT vault_ciphertext_check CHECK (
        octet_length(ciphertext) BETWEEN 20 AND 33
        OR kind = 'state_account' AND octet_length(ciphertext) BETWEEN 17 AND 56),
    ADD CONSTRAINT vault_last_four_check CHECK (
        last_four ~ '^[0-9]{2,4}$' OR kind = 'state_account' AND last_four ~ '^[0-9A-Za-z]{0,4}$'),
    ADD FOREIGN KEY (registration_id, employer_id, organization_id, sandbox)
        REFERENCES state_registrations (id, employer_id, organization_id, sandbox) ON DELETE CASCADE;
CREATE INDEX vault_registration_id_idx ON vault (registration_id) WHERE registration_id IS NOT NULL;
"""


def upgrade() -> None:
    """Create the table, bound to its household, and let the vault hold its numbers."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(REGISTRATIONS)
        cursor.execute(guard_of_household("state_registrations"))
        cursor.execute(VAULT)
    finally:
        cursor.close()
