"""Provisional law: which lines of a paycheck rested on unpublished figures, and by which rules a year was measured."""

from __future__ import annotations

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

PAYCHECKS = """
ALTER TABLE paychecks ADD COLUMN provisional jsonb NOT NULL DEFAULT '[]'
    CHECK (jsonb_typeof(provisional) = 'array');
COMMENT ON COLUMN paychecks.provisional IS
    'Codes of lines by figures that stood in until those of the year were published';
"""

# A year is measured again when the rules of it change: the tax of its provisional lines follows the figures in force.
YEARS = """
ALTER TABLE year_balances
    ADD COLUMN provisional text[] NOT NULL DEFAULT '{}',
    ADD COLUMN rulebook_version text;
COMMENT ON COLUMN year_balances.provisional IS 'The codes that stand in provisional of any paycheck of the year';
COMMENT ON COLUMN year_balances.rulebook_version IS
    'The rulebook by which the year was last measured; null where no paycheck was posted since this column exists';
CREATE INDEX year_balances_rulebook_version_idx ON year_balances (tax_year, rulebook_version);
GRANT UPDATE (provisional, rulebook_version) ON year_balances TO hearthpay_service, hearthpay_worker;
"""


def upgrade() -> None:
    """Add the columns."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (PAYCHECKS, YEARS):
            cursor.execute(statements)
    finally:
        cursor.close()
