"""From which wages a household pays what waits for a threshold: from the first dollar, or once the law asks for it."""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

# Empty for all who never chose: nothing of the years before changes, and nothing is looked at anew.
EMPLOYERS = """
ALTER TABLE employers ADD COLUMN threshold_bases jsonb NOT NULL DEFAULT '{}'
    CHECK (jsonb_typeof(threshold_bases) = 'object');
COMMENT ON COLUMN employers.threshold_bases IS
    'By the tax year from which it holds: assume_crossed or as_paid. Empty: assume_crossed, never changed';
"""

BALANCES = """
ALTER TABLE year_balances ADD COLUMN fica_refunded boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN year_balances.fica_refunded IS
    'Social Security and Medicare were repaid: from then on they are due once the year''s wages reach the threshold';
GRANT UPDATE (fica_refunded) ON year_balances TO hearthpay_service, hearthpay_worker;
"""


def upgrade() -> None:
    """Add the columns."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (EMPLOYERS, BALANCES):
            cursor.execute(statements)
    finally:
        cursor.close()
