"""Turns of organizations: test clocks have them, and those of packages count after a package has ended."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0096"
down_revision = "0095"
branch_labels = None
depends_on = None

CLOCKS: Final = """
ALTER TABLE household_clocks ADD COLUMN turn bigint NOT NULL DEFAULT 0 CHECK (turn >= 0);
COMMENT ON COLUMN household_clocks.turn IS 'When a worker last had it in hand, counted; 0: never';
CREATE INDEX household_clocks_turn_idx ON household_clocks (organization_id, turn);
GRANT UPDATE (turn) ON household_clocks TO hearthpay_worker;
"""
PACKAGES: Final = """
DROP INDEX document_packages_turn_idx;
CREATE INDEX document_packages_turn_idx ON document_packages (organization_id, turn);
"""


def upgrade() -> None:
    """Count the turns of clocks, and find an organization's last turn among all its packages."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(CLOCKS)
        cursor.execute(PACKAGES)
    finally:
        cursor.close()
