"""Where prior wages differ from the law, by code: the words alone could not be said in Spanish."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0070"
down_revision = "0069"
branch_labels = None
depends_on = None

MESSAGES: Final = """
ALTER TABLE prior_wages ADD COLUMN messages jsonb;
COMMENT ON COLUMN prior_wages.messages IS
    'The warnings by code with their parameters; absent where an earlier version wrote their words alone';
"""


def upgrade() -> None:
    """Add the column; what was entered before keeps its words."""
    op.execute(MESSAGES)


def downgrade() -> None:
    """Drop the column; the words are kept."""
    op.execute("ALTER TABLE prior_wages DROP COLUMN messages")
