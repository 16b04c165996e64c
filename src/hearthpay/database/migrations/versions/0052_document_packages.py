"""Packages of papers that the worker makes: who wants which year, how far it has come, and what came of it."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_household

revision = "0052"
down_revision = "0050"
branch_labels = None
depends_on = None

# A package goes with its household, and a finished one with its paper when a sandbox household is reset. There is no
# policy of test clocks on it: the worker finds all that wait at real time, and makes each at its household's.
TABLE = """
CREATE TABLE document_packages (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    tax_year smallint NOT NULL,
    submitter jsonb CHECK (jsonb_typeof(submitter) = 'object'),
    status text NOT NULL CHECK (status IN ('waiting', 'drawing', 'ready', 'failed')),
    papers integer NOT NULL CHECK (papers > 0),
    drawn integer NOT NULL DEFAULT 0 CHECK (drawn BETWEEN 0 AND papers),
    attempts smallint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    failure jsonb CHECK (jsonb_typeof(failure) = 'object'),
    document_id uuid,
    requested_at timestamptz NOT NULL,
    turn integer NOT NULL DEFAULT 0,
    held_until timestamptz,
    finished_at timestamptz,
    CHECK ((finished_at IS NULL) = (status IN ('waiting', 'drawing'))),
    CHECK ((document_id IS NOT NULL) = (status = 'ready')),
    CHECK ((failure IS NOT NULL) = (status = 'failed')),
    CHECK (status <> 'ready' OR drawn = papers),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (document_id, employer_id, organization_id, sandbox)
        REFERENCES documents (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX document_packages_unfinished ON document_packages (employer_id, tax_year)
    WHERE finished_at IS NULL;
CREATE INDEX document_packages_turn_idx ON document_packages (organization_id, turn) WHERE finished_at IS NULL;
CREATE INDEX document_packages_employer_id_idx ON document_packages (employer_id, id);
CREATE INDEX document_packages_document_id_idx ON document_packages (document_id);
COMMENT ON TABLE document_packages IS 'Packages of a year''s papers that the worker makes';
COMMENT ON COLUMN document_packages.submitter IS 'Who uploads the wage file; null: it is not in the package';
COMMENT ON COLUMN document_packages.drawn IS 'How many of its papers are in the archive';
COMMENT ON COLUMN document_packages.requested_at IS 'Real time, as the other times here';
COMMENT ON COLUMN document_packages.turn IS 'When a worker last had it in hand, counted; 0: never';
COMMENT ON COLUMN document_packages.held_until IS 'Until then the worker that has it in hand is taken to be alive';

GRANT SELECT, INSERT (id, organization_id, employer_id, sandbox, tax_year, submitter, status, papers, requested_at)
    ON document_packages TO hearthpay_service;
GRANT SELECT, UPDATE (status, papers, drawn, attempts, failure, document_id, turn, held_until, finished_at)
    ON document_packages TO hearthpay_worker;
"""

# What the papers of a year are made of, and where they are kept.
WORKER = """
GRANT SELECT, INSERT, UPDATE (superseded_by) ON documents TO hearthpay_worker;
GRANT SELECT ON state_registrations TO hearthpay_worker;
"""


def upgrade() -> None:
    """Create the table; let the worker keep papers."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(TABLE)
        cursor.execute(guard_of_household("document_packages"))
        cursor.execute(WORKER)
    finally:
        cursor.close()
