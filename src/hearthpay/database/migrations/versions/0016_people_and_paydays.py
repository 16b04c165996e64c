"""One person over several employments, bonuses in a paid period, and paydays that move into another year."""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

# Hours of one employee are paid once. A bonus or other earnings without hours may be paid beside them.
ENTRIES = """
ALTER TABLE payroll_entries
    DROP CONSTRAINT payroll_entries_no_overlap,
    ADD CONSTRAINT payroll_entries_no_overlap
        EXCLUDE USING gist (uuid_as_inet(employee_id) inet_ops WITH =, period WITH &&)
        WHERE (live AND (regular_hours > 0 OR overtime_hours > 0)),
    ADD COLUMN supplemental boolean NOT NULL DEFAULT false,
    ADD CHECK (NOT supplemental OR (regular_hours = 0 AND overtime_hours = 0));
COMMENT ON COLUMN payroll_entries.supplemental IS 'Paid beside another payroll of the period: all supplemental wages';
"""

PAYROLLS = """
ALTER TABLE payrolls ADD COLUMN pay_date_asked date CHECK (pay_date_asked <> pay_date);
COMMENT ON COLUMN payrolls.pay_date_asked IS 'The day asked for, where the money arrives on another: pay_date';

-- A payroll that fires too late for its year belongs to the next one; a payment held over the year's end is made anew
-- in a payroll of the new year.
GRANT INSERT, UPDATE (pay_date, pay_date_asked, tax_year) ON payrolls TO hearthpay_worker;
GRANT INSERT ON payroll_entries TO hearthpay_worker;
"""

EMPLOYEES = """
ALTER TABLE employees
    ADD COLUMN person_id uuid,
    ADD COLUMN earlier_employments jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(earlier_employments) = 'array'),
    ADD COLUMN left_states jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(left_states) = 'object'),
    ADD CONSTRAINT employees_person_id_fkey FOREIGN KEY (person_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox);
CREATE INDEX employees_person_id_idx ON employees (person_id) WHERE person_id IS NOT NULL;
COMMENT ON COLUMN employees.person_id IS 'The first record of this person, as the tax numbers say; null: the only one';
COMMENT ON COLUMN employees.earlier_employments IS 'First and last day of each employment before a reinstatement';
COMMENT ON COLUMN employees.left_states IS 'Local taxes and certificate of each state of work that was left';
"""


def upgrade() -> None:
    """Let entries without hours overlap; add the columns and the worker's rights."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (ENTRIES, PAYROLLS, EMPLOYEES):
            cursor.execute(statements)
    finally:
        cursor.close()
