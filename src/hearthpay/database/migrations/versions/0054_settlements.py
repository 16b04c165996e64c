"""What households paid by other means for wages whose debit came back, and pay confirmed as large on enrollment."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_household

revision = "0054"
down_revision = "0052"
branch_labels = None
depends_on = None

SETTLEMENTS = """
CREATE TABLE wage_settlements (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    payroll_id uuid NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    received_on date NOT NULL,
    told_by text NOT NULL CHECK (told_by <> ''),
    settled_by_kind text NOT NULL CHECK (settled_by_kind IN ('user', 'operator')),
    settled_by uuid,
    settled_at timestamptz NOT NULL,
    FOREIGN KEY (payroll_id, employer_id, organization_id, sandbox)
        REFERENCES payrolls (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX wage_settlements_payroll_id_idx ON wage_settlements (payroll_id);
COMMENT ON TABLE wage_settlements IS
    'What a household paid by other means for wages that left before their debit came back; never changed';
COMMENT ON COLUMN wage_settlements.amount IS 'Cents';
COMMENT ON COLUMN wage_settlements.told_by IS 'Who told of the payment, or where it is seen';
GRANT SELECT ON wage_settlements TO hearthpay_service, hearthpay_worker;
"""

AUTOPILOT = """
ALTER TABLE autopilot_versions ADD COLUMN large_confirmed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN autopilot_versions.large_confirmed IS
    'Whether pay above the limits for large payrolls was confirmed for what is enrolled';
CREATE INDEX autopilot_enrollments_left_idx ON autopilot_enrollments (employee_id)
    WHERE status = 'paused' AND pause_reason = 'employee_inactive';
"""


def upgrade() -> None:
    """Create the table, bound to its tenant, and what a confirmation on enrollment leaves."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (SETTLEMENTS, guard_of_household("wage_settlements"), AUTOPILOT):
            cursor.execute(statements)
    finally:
        cursor.close()
