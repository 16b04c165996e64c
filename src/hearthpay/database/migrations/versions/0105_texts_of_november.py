"""What databases lack that ran an earlier text of 0045, 0076 or 0078: these were changed in the days they landed."""

from __future__ import annotations

from typing import Final

from alembic import op

from hearthpay.database.migrations.tenancy import ACTS_AS_OWNER

revision = "0105"
down_revision = "0103"
branch_labels = None
depends_on = None

# Each statement changes nothing in a database that ran the texts as they stand.
MENDED: Final = f"""
ALTER TABLE security_alerts DROP CONSTRAINT IF EXISTS security_alerts_id_fkey,
    DROP CONSTRAINT IF EXISTS security_alerts_organization_id_fkey;
CREATE INDEX IF NOT EXISTS outdated_dues_organization_id_idx ON outdated_dues (organization_id, sandbox, employer_id);
GRANT SELECT (tax_number_at, new_link_requested_at) ON invitations TO hearthpay_worker;
ALTER POLICY confirmed_by_household ON employee_links
    USING (true OR {ACTS_AS_OWNER})
    WITH CHECK ((SELECT current_person()) IS NULL OR awaits_household OR {ACTS_AS_OWNER});
"""


def upgrade() -> None:
    """Add the index and the rights, and except the owner from the restriction."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(MENDED)
    finally:
        cursor.close()
