"""Who was told of a prenote or a payout that came back."""

from __future__ import annotations

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

# What came back before there were notices of it is not told any more.
ENTRIES = """
ALTER TABLE bank_entries ADD COLUMN return_told_at timestamptz;
UPDATE bank_entries SET return_told_at = updated_at WHERE status = 'returned' AND kind IN ('prenote', 'payout');
CREATE INDEX bank_entries_return_untold_idx ON bank_entries (id)
    WHERE status = 'returned' AND kind IN ('prenote', 'payout') AND return_told_at IS NULL;
COMMENT ON COLUMN bank_entries.return_told_at IS
    'When the return of a prenote or a payout was told; what comes back of a payroll is told with the payroll';
GRANT UPDATE (return_told_at) ON bank_entries TO hearthpay_worker;
"""


def upgrade() -> None:
    """Add the column with its index and grant."""
    op.execute(ENTRIES)
