"""The year by its subject wages: what caps follow, what is carried, and amounts that may be given back."""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0012"
branch_labels = None
depends_on = None

# Filled from the lines; null where a process of the version before has opened a year since, and then read from them.
BALANCES = """
ALTER TABLE year_balances
    ADD COLUMN subject_wages bigint[],
    ADD COLUMN owed jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(owed) = 'object');
COMMENT ON COLUMN year_balances.subject_wages IS 'By line, as codes: the wages that the year''s caps are measured on';
COMMENT ON COLUMN year_balances.owed IS
    'Cents by line that the year''s paychecks demand beyond what was charged; negative where it is to be given back';

UPDATE year_balances b SET subject_wages = s.subject_wages
  FROM (SELECT y.employee_id, y.tax_year,
               array_agg(coalesce(l.subject_wages, 0) ORDER BY c.position) AS subject_wages
          FROM year_balances y
         CROSS JOIN LATERAL unnest(y.codes) WITH ORDINALITY AS c (code, position)
          LEFT JOIN (SELECT employee_id, tax_year, code, sum(subject_wages)::bigint AS subject_wages
                       FROM paycheck_lines GROUP BY 1, 2, 3) l
            ON l.employee_id = y.employee_id AND l.tax_year = y.tax_year AND l.code = c.code
         GROUP BY 1, 2) s
 WHERE s.employee_id = b.employee_id AND s.tax_year = b.tax_year;
UPDATE year_balances SET subject_wages = '{}' WHERE cardinality(codes) = 0;

GRANT UPDATE (subject_wages, owed) ON year_balances TO hearthpay_service, hearthpay_worker;
"""

# Taxes of a paycheck that gives back what others charged too much may be negative; what it pays never is.
SIGNS = """
ALTER TABLE paychecks
    ADD COLUMN carried jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(carried) = 'array'),
    DROP CONSTRAINT paychecks_signs,
    ADD CONSTRAINT paychecks_signs CHECK (
        CASE WHEN reverses IS NULL
             THEN position >= 0 AND least(regular_hours, regular_pay, overtime_hours, overtime_pay, bonus,
                  other_earnings, gross_pay, set_aside, net_pay) >= 0
             ELSE position < 0 AND greatest(regular_hours, regular_pay, overtime_hours, overtime_pay, bonus,
                  other_earnings, gross_pay, set_aside, net_pay) <= 0
         END);
COMMENT ON COLUMN paychecks.carried IS 'Tax of earlier wages that net pay did not reach for; the next one charges it';
ALTER TABLE payrolls
    DROP CONSTRAINT payrolls_total_deductions_check,
    DROP CONSTRAINT payrolls_employer_taxes_check,
    DROP CONSTRAINT payrolls_total_cost_check;
"""


def upgrade() -> None:
    """Add the columns, fill them from the lines, and let taxes be given back."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (BALANCES, SIGNS):
            cursor.execute(statements)
    finally:
        cursor.close()
