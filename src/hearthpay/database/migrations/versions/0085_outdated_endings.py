"""The worker finds numbers whose stored digits are outdated without reading the whole vault."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0085"
down_revision = "0084"
branch_labels = None
depends_on = None

INDEX: Final = """
CREATE INDEX vault_outdated_endings_idx ON vault (id) WHERE length(last_four) = 3;
"""


def upgrade() -> None:
    """Index the rows with three digits, of which there are ever fewer."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(INDEX)
    finally:
        cursor.close()
