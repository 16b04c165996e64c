"""Households enter the unemployment rates of their states' notices themselves, with the day of the notice."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0080"
down_revision = "0079"
branch_labels = None
depends_on = None

# Rows are of the tenant alone: the table's policy for the service compares what it reads and what it writes.
RATES: Final = """
ALTER TABLE assigned_rates ADD COLUMN notice_on date;
COMMENT ON COLUMN assigned_rates.notice_on IS 'The day of the state''s notice, if it was entered';
GRANT INSERT (organization_id, employer_id, sandbox, tax_year, state, sui_rate, notice_on),
      UPDATE (sui_rate, notice_on) ON assigned_rates TO hearthpay_service;
"""

BACK: Final = """
REVOKE INSERT (organization_id, employer_id, sandbox, tax_year, state, sui_rate, notice_on),
       UPDATE (sui_rate, notice_on) ON assigned_rates FROM hearthpay_service;
ALTER TABLE assigned_rates DROP COLUMN notice_on;
"""


def upgrade() -> None:
    """Add the day, and let the service write what a household enters."""
    op.execute(RATES)


def downgrade() -> None:
    """Drop the day; the service only reads rates again."""
    op.execute(BACK)
