"""An index for lists of an organization's payrolls by status and pay date.

Payrolls become `completed` as a rule, and those are found by pay date alone; `firing` lasts moments. Leaving both out
keeps the index small, and paydays that complete at once don't write to it.
"""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0083"
down_revision = "0081"
branch_labels = None
depends_on = None

BY_STATUS_AND_DAY: Final = """
CREATE INDEX payrolls_of_status_and_day_idx ON payrolls (organization_id, sandbox, status, pay_date, id)
    WHERE status NOT IN ('completed', 'firing');
"""


def upgrade() -> None:
    """Add the index."""
    op.execute(BY_STATUS_AND_DAY)


def downgrade() -> None:
    """Drop it."""
    op.execute("DROP INDEX payrolls_of_status_and_day_idx")
