"""What other clients of this kind of API send and leave out: a pay rate to come, no email, addresses, finer hours."""

from __future__ import annotations

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

EMPLOYERS = """
ALTER TABLE employers
    ALTER COLUMN email DROP NOT NULL,
    ADD CONSTRAINT employers_real_has_email CHECK (sandbox OR email IS NOT NULL),
    ADD COLUMN address jsonb CHECK (jsonb_typeof(address) = 'object');
COMMENT ON COLUMN employers.address IS 'Postal address: line1, line2 or none, city, state, zip';
"""

EMPLOYEES = """
ALTER TABLE employees
    ALTER COLUMN pay_rate_cents DROP NOT NULL,
    ALTER COLUMN overtime_rate_cents DROP NOT NULL,
    ADD COLUMN city text CHECK (city <> '');
COMMENT ON COLUMN employees.pay_rate_cents IS 'Null until it is told: no hours can be paid before';
COMMENT ON COLUMN employees.city IS 'Where the employee lives, as it was told';
"""

# Without a scale of its own the column takes thousandths of an hour, and no row is rewritten.
HOURS = """
ALTER TABLE paychecks
    ALTER COLUMN regular_hours TYPE numeric,
    ALTER COLUMN overtime_hours TYPE numeric,
    ADD CONSTRAINT paychecks_hours_in_thousandths
        CHECK (scale(regular_hours) <= 3 AND scale(overtime_hours) <= 3) NOT VALID;
ALTER TABLE payroll_entries
    ALTER COLUMN regular_hours TYPE numeric,
    ALTER COLUMN overtime_hours TYPE numeric,
    ADD CONSTRAINT payroll_entries_hours_in_thousandths
        CHECK (scale(regular_hours) <= 3 AND scale(overtime_hours) <= 3) NOT VALID;
"""


def upgrade() -> None:
    """Loosen the columns and add the new ones."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (EMPLOYERS, EMPLOYEES, HOURS):
            cursor.execute(statements)
    finally:
        cursor.close()
