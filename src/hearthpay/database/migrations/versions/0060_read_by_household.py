"""Read by household: what one household asks for is found by an index, however many others there are; and what is due.

PostgreSQL takes COALESCE for a function that may leak what it is shown. Under row security an index over it is then
never a condition, only an order: what is due when is a column of its own. Adding it writes the table of payrolls anew,
which stands still for about two seconds for each million of them.
"""

from __future__ import annotations

from alembic import op

revision = "0060"
down_revision = "0056"
branch_labels = None
depends_on = None

DUE = """
ALTER TABLE payrolls ADD COLUMN due_at timestamptz
    GENERATED ALWAYS AS (coalesce(next_attempt_at, scheduled_send_at)) STORED;
COMMENT ON COLUMN payrolls.due_at IS 'When it is fired next, where it is scheduled';
DROP INDEX payrolls_due_idx;
CREATE INDEX payrolls_due_idx ON payrolls (due_at, id) WHERE status = 'scheduled';
"""

BY_HOUSEHOLD = """
CREATE INDEX paychecks_employer_id_idx ON paychecks (employer_id, tax_year, id);
CREATE INDEX autopilot_authorizations_employer_id_idx ON autopilot_authorizations (employer_id, authorized_at);
CREATE INDEX bank_accounts_new_idx ON bank_accounts (created_at) WHERE employee_id IS NULL;
CREATE INDEX autopilot_periods_employer_id_idx ON autopilot_periods (employer_id, id);
"""


def upgrade() -> None:
    """Add the column and the indexes."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (DUE, BY_HOUSEHOLD):
            cursor.execute(statements)
    finally:
        cursor.close()
