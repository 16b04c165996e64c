"""A weekly mail of what is due in all households of an organization, for the members who chose it."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0079"
down_revision = "0078"
branch_labels = None
depends_on = None

CHOICE: Final = """
ALTER TABLE people ADD COLUMN weekly_summary boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN people.weekly_summary IS 'Whether the person wants a mail on Mondays of what is due this week';
CREATE INDEX people_weekly_summary_idx ON people (id) WHERE weekly_summary;
GRANT UPDATE (weekly_summary) ON people TO hearthpay_service;
GRANT SELECT (weekly_summary) ON people TO hearthpay_worker;
"""


def upgrade() -> None:
    """Add the choice, which nobody has made yet."""
    op.execute(CHOICE)


def downgrade() -> None:
    """Drop the choice."""
    op.execute("ALTER TABLE people DROP COLUMN weekly_summary;")
