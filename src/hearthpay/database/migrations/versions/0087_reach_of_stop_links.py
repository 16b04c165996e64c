"""A stop link takes away what is younger than the act it stops, within the household of the act.

A former address remembers since when it was held: one that was set within the week never comes back.
"""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0087"
down_revision = "0085"
branch_labels = None
depends_on = None

ADDRESSES: Final = """
ALTER TABLE former_addresses ADD COLUMN held_since timestamptz, ALTER COLUMN address DROP NOT NULL;
ALTER TABLE former_person_addresses ADD COLUMN held_since timestamptz;
COMMENT ON COLUMN former_addresses.held_since IS 'Null: for longer than addresses are former, or unknown';
COMMENT ON COLUMN former_person_addresses.held_since IS 'Null: for longer than addresses are former, or unknown';
COMMENT ON COLUMN former_addresses.address IS 'Null: there was none';
"""


def upgrade() -> None:
    """Add the columns."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        for statements in (ADDRESSES,):
            cursor.execute(statements)
    finally:
        cursor.close()
