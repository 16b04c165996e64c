"""Reminders say what the list of to-dos says, which knows the invitations that wait for an answer."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0071"
down_revision = "0070"
branch_labels = None
depends_on = None

GRANT: Final = "GRANT SELECT (employee_id, type, created_at) ON invitations TO hearthpay_worker"


def upgrade() -> None:
    """Let the worker read whose invitation it is, which kind, and since when."""
    op.execute(GRANT)


def downgrade() -> None:
    """Take the right back."""
    op.execute("REVOKE SELECT (employee_id, type, created_at) ON invitations FROM hearthpay_worker")
