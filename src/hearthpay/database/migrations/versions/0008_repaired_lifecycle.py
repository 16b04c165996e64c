"""Repairs databases migrated with an earlier text of 0006, which was changed twice after it had been run."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# Nothing happens where 0006 was run as it stands today. The pay of approved hours is that of the paycheck; where there
# is none yet, the hours at the employee's present rate, which is what such a payroll would have paid on its day.
REPAIR = """
DROP INDEX IF EXISTS paycheck_lines_year_to_date_idx;

DO $$
BEGIN
    IF pg_get_indexdef('payrolls_due_idx'::regclass) NOT LIKE '%, id) %' THEN
        DROP INDEX payrolls_due_idx;
        CREATE INDEX payrolls_due_idx ON payrolls (coalesce(next_attempt_at, scheduled_send_at), id)
            WHERE status = 'scheduled';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_attribute
                    WHERE attrelid = 'payroll_entries'::regclass AND attname = 'regular_pay') THEN
        ALTER TABLE payroll_entries
            ADD COLUMN regular_pay bigint CHECK (regular_pay >= 0),
            ADD COLUMN overtime_pay bigint CHECK (overtime_pay >= 0);
        UPDATE payroll_entries e SET regular_pay = c.regular_pay, overtime_pay = c.overtime_pay
          FROM paychecks c
         WHERE c.payroll_id = e.payroll_id AND c.employee_id = e.employee_id AND c.reverses IS NULL;
        UPDATE payroll_entries e SET regular_pay = round(e.regular_hours * p.pay_rate_cents),
                                     overtime_pay = round(e.overtime_hours * p.overtime_rate_cents)
          FROM employees p WHERE p.id = e.employee_id AND e.regular_pay IS NULL;
        ALTER TABLE payroll_entries
            ALTER COLUMN regular_pay SET NOT NULL,
            ALTER COLUMN overtime_pay SET NOT NULL;
        COMMENT ON COLUMN payroll_entries.regular_pay IS 'At the rate of the approval, whatever the rate is on payday';
    END IF;
END
$$;
"""


def upgrade() -> None:
    """Bring what an earlier text left out."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        cursor.execute(REPAIR)
    finally:
        cursor.close()
