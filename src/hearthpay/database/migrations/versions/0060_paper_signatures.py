"""Signatures under work agreements and notices of pay: who signed which version, as typed, and when."""

from __future__ import annotations

from typing import Final

from alembic import op

from hearthpay.database.migrations.tenancy import ACTS_AS_OWNER, guard_of_household

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None

SIGNATURES: Final = """
CREATE TABLE paper_signatures (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    document_id uuid NOT NULL,
    party text NOT NULL CHECK (party IN ('household', 'employee')),
    signed_name text NOT NULL CHECK (length(signed_name) BETWEEN 1 AND 100),
    signed_at timestamptz NOT NULL,
    person_id uuid REFERENCES people ON DELETE SET NULL,
    UNIQUE (document_id, party),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (document_id, employer_id, organization_id, sandbox)
        REFERENCES documents (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX paper_signatures_household_idx ON paper_signatures (employer_id, employee_id);
COMMENT ON TABLE paper_signatures IS 'Who signed which version of a paper of a hire';
COMMENT ON COLUMN paper_signatures.person_id IS 'Who was signed in; null: the account is gone';

GRANT SELECT, INSERT ON paper_signatures TO hearthpay_service;
"""

# As of the tables of one employee: a person confined to her own record sees hers alone.
OWN_RECORD: Final = f"""
CREATE POLICY own_record ON paper_signatures AS RESTRICTIVE TO hearthpay_service
    USING ((SELECT current_person()) IS NULL OR employee_id IN (SELECT own_employees())
           OR {ACTS_AS_OWNER});
"""


def upgrade() -> None:
    """Create the table, guarded."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(SIGNATURES)
        cursor.execute(guard_of_household("paper_signatures"))
        cursor.execute(OWN_RECORD)
    finally:
        cursor.close()
