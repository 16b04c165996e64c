"""Salaried employees: a salary beside the hourly rate, and the period's share of it on entries and paychecks."""

from __future__ import annotations

from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

EMPLOYEES = """
ALTER TABLE employees
    ADD COLUMN pay_type text NOT NULL DEFAULT 'hourly' CHECK (pay_type IN ('hourly', 'salary')),
    ADD COLUMN salary_cents bigint CHECK (salary_cents > 0),
    ADD COLUMN salary_per text CHECK (salary_per IN ('year', 'period')),
    ADD COLUMN usual_weekly_hours numeric
        CHECK (usual_weekly_hours > 0 AND usual_weekly_hours <= 168 AND scale(usual_weekly_hours) <= 2),
    ADD COLUMN working_days text[]
        CHECK (cardinality(working_days) > 0 AND array_position(working_days, NULL) IS NULL
               AND working_days <@ ARRAY['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']),
    ADD CONSTRAINT employees_salary_whole CHECK (num_nulls(salary_cents, salary_per) IN (0, 2)),
    ADD CONSTRAINT employees_paid_one_way
        CHECK (CASE pay_type WHEN 'hourly' THEN salary_cents IS NULL ELSE pay_rate_cents IS NULL END);
COMMENT ON COLUMN employees.salary_cents IS 'Of pay_type salary, for a year or a period (salary_per); null until set';
COMMENT ON COLUMN employees.usual_weekly_hours IS 'Hours of a usual week; null: not set';
COMMENT ON COLUMN employees.working_days IS 'Of a usual week, by which a salary is prorated; null: Monday to Friday';
"""

# What a salary paid for, as it was calculated: `regular_pay` is its amount. A period is paid once, by hours or salary.
PAY = """
ALTER TABLE payroll_entries
    ADD COLUMN salary jsonb CHECK (jsonb_typeof(salary) = 'object'),
    DROP CONSTRAINT payroll_entries_no_overlap,
    ADD CONSTRAINT payroll_entries_no_overlap
        EXCLUDE USING gist (uuid_as_inet(employee_id) inet_ops WITH =, period WITH &&)
        WHERE (live AND (regular_hours > 0 OR overtime_hours > 0 OR salary IS NOT NULL)),
    ADD CHECK (NOT supplemental OR salary IS NULL);
COMMENT ON COLUMN payroll_entries.salary IS 'How the share of the salary was calculated; regular_pay is the amount';
ALTER TABLE paychecks ADD COLUMN salary jsonb CHECK (jsonb_typeof(salary) = 'object');
COMMENT ON COLUMN paychecks.salary IS 'How the share of the salary was calculated; regular_pay is the amount';
"""

VERSIONS = """
ALTER TABLE autopilot_versions
    DROP CONSTRAINT autopilot_versions_standard_hours_check,
    ADD CONSTRAINT autopilot_versions_standard_hours_check CHECK (standard_hours >= 0 AND scale(standard_hours) <= 3);
COMMENT ON COLUMN autopilot_versions.standard_hours IS '0: a salary is paid';
"""


def upgrade() -> None:
    """Add the columns, and let a salary count as pay for its period."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (EMPLOYEES, PAY, VERSIONS):
            cursor.execute(statements)
    finally:
        cursor.close()
