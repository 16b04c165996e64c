"""The token of a preview belongs to the first payroll that was run with it, whatever becomes of that payroll."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0090"
down_revision = "0088"
branch_labels = None
depends_on = None

USED: Final = """
ALTER TABLE payrolls ADD COLUMN preview_token_hash bytea CHECK (length(preview_token_hash) = 32);
COMMENT ON COLUMN payrolls.preview_token_hash IS 'SHA-256 of the preview token that it was run with; null without one';
CREATE UNIQUE INDEX payrolls_preview_token_idx ON payrolls (organization_id, sandbox, preview_token_hash)
    WHERE preview_token_hash IS NOT NULL;
"""


def upgrade() -> None:
    """Add the hash of the token, unique in its organization and mode."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(USED)
    finally:
        cursor.close()
