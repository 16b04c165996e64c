"""The sums of an employee's paychecks by month of the pay date, beside those of the year."""

from __future__ import annotations

from typing import Final

from alembic import op

from hearthpay.database.migrations.tenancy import ACTS_AS_OWNER, guard_of_household

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None

# A household's months lie side by side in the primary key; the pages of one household read them all.
TABLE: Final = """
CREATE TABLE month_balances (
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    tax_year smallint NOT NULL,
    month date NOT NULL CHECK (extract(day FROM month) = 1),
    work_state text NOT NULL,
    refund boolean NOT NULL,
    codes text[] NOT NULL,
    subject_wages bigint[] NOT NULL,
    taxable_wages bigint[] NOT NULL,
    amounts bigint[] NOT NULL,
    gross_pay bigint NOT NULL CHECK (NOT refund OR gross_pay = 0),
    PRIMARY KEY (employer_id, tax_year, employee_id, month, work_state, refund),
    CHECK (cardinality(codes) = cardinality(subject_wages) AND cardinality(codes) = cardinality(taxable_wages)
           AND cardinality(codes) = cardinality(amounts)),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
) WITH (fillfactor = 70);
COMMENT ON TABLE month_balances IS 'The sum of an employee''s paychecks and lines of a month, kept beside them';
COMMENT ON COLUMN month_balances.month IS
    'The first day of the month of the pay date; a refund of an earlier year''s taxes may be paid after that year';
COMMENT ON COLUMN month_balances.refund IS 'The sum of paychecks without gross pay, which repay FICA, or reverse that';
COMMENT ON COLUMN month_balances.codes IS 'The lines'' codes in the order of their bytes; the other arrays follow it';

GRANT SELECT, INSERT, UPDATE (codes, subject_wages, taxable_wages, amounts, gross_pay) ON month_balances
    TO hearthpay_service, hearthpay_worker;
"""

# As of the tables of one employee: a person confined to her own record sees hers alone.
OWN_RECORD: Final = f"""
CREATE POLICY own_record ON month_balances AS RESTRICTIVE TO hearthpay_service
    USING ((SELECT current_person()) IS NULL OR employee_id IN (SELECT own_employees())
           OR {ACTS_AS_OWNER});
"""

# As of the tables that the worker writes at a household's time.
OF_ITS_CLOCK: Final = f"""
CREATE POLICY of_its_clock ON month_balances AS RESTRICTIVE TO hearthpay_worker USING (
    CASE WHEN (SELECT coalesce(current_setting('hearthpay.clock_of', true), '') = '')
         THEN NOT sandbox OR employer_id NOT IN (SELECT c.employer_id FROM public.household_clocks c)
         ELSE employer_id = (SELECT nullif(current_setting('hearthpay.clock_of', true), '')::uuid) END
    OR {ACTS_AS_OWNER});
"""

FILL: Final = """
INSERT INTO month_balances (organization_id, employer_id, sandbox, employee_id, tax_year, month, work_state, refund,
                            codes, subject_wages, taxable_wages, amounts, gross_pay)
SELECT w.organization_id, w.employer_id, w.sandbox, w.employee_id, w.tax_year, w.month, w.work_state, w.refund,
       coalesce(l.codes, '{}'), coalesce(l.subject_wages, '{}'), coalesce(l.taxable_wages, '{}'),
       coalesce(l.amounts, '{}'), w.gross_pay
  FROM (SELECT c.organization_id, c.employer_id, c.sandbox, c.employee_id, c.tax_year,
               date_trunc('month', p.pay_date)::date AS month, c.work_state, c.gross_pay = 0 AS refund,
               sum(c.gross_pay)::bigint AS gross_pay
          FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id WHERE {which}
         GROUP BY 1, 2, 3, 4, 5, 6, 7, 8) w
  LEFT JOIN (SELECT employee_id, tax_year, month, work_state, refund,
                    array_agg(code ORDER BY code COLLATE "C") AS codes,
                    array_agg(subject_wages ORDER BY code COLLATE "C") AS subject_wages,
                    array_agg(taxable_wages ORDER BY code COLLATE "C") AS taxable_wages,
                    array_agg(amount ORDER BY code COLLATE "C") AS amounts
               FROM (SELECT c.employee_id, c.tax_year, date_trunc('month', p.pay_date)::date AS month, c.work_state,
                            c.gross_pay = 0 AS refund, l.code, sum(l.subject_wages)::bigint AS subject_wages,
                            sum(l.taxable_wages)::bigint AS taxable_wages, sum(l.amount)::bigint AS amount
                       FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id
                       JOIN paycheck_lines l ON l.paycheck_id = c.id WHERE {which}
                      GROUP BY 1, 2, 3, 4, 5, 6) s
              GROUP BY 1, 2, 3, 4, 5) l USING (employee_id, tax_year, month, work_state, refund)
"""

# Whoever inserts a paycheck without saying that it is in its month has it added at the commit, when its lines and its
# payroll's pay date are final: a program of the version before, and anything that isn't the service.
FOLLOWING: Final = """
ALTER TABLE paychecks ADD COLUMN in_month boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN paychecks.in_month IS
    'Whether who inserted it added it to month_balances; otherwise a trigger did, or the migration that made them';

CREATE FUNCTION add_paycheck_to_month() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
    AS $$
        BEGIN
            INSERT INTO month_balances AS m (organization_id, employer_id, sandbox, employee_id, tax_year, month,
                work_state, refund, codes, subject_wages, taxable_wages, amounts, gross_pay)
            SELECT c.organization_id, c.employer_id, c.sandbox, c.employee_id, c.tax_year,
                   date_trunc('month', p.pay_date)::date, c.work_state, c.gross_pay = 0,
                   coalesce(l.codes, '{}'), coalesce(l.subject_wages, '{}'), coalesce(l.taxable_wages, '{}'),
                   coalesce(l.amounts, '{}'), c.gross_pay
              FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id,
                   (SELECT array_agg(code ORDER BY code COLLATE "C") AS codes,
                           array_agg(subject_wages ORDER BY code COLLATE "C") AS subject_wages,
                           array_agg(taxable_wages ORDER BY code COLLATE "C") AS taxable_wages,
                           array_agg(amount ORDER BY code COLLATE "C") AS amounts
                      FROM (SELECT code, sum(k.subject_wages)::bigint AS subject_wages,
                                   sum(k.taxable_wages)::bigint AS taxable_wages, sum(k.amount)::bigint AS amount
                              FROM paycheck_lines k WHERE k.paycheck_id = NEW.id GROUP BY code) s) l
             WHERE c.id = NEW.id
            ON CONFLICT (employer_id, tax_year, employee_id, month, work_state, refund) DO UPDATE SET
                gross_pay = m.gross_pay + excluded.gross_pay,
                (codes, subject_wages, taxable_wages, amounts) = (
                    SELECT array_agg(s.code ORDER BY s.code COLLATE "C"),
                           array_agg(s.subject_wages ORDER BY s.code COLLATE "C"),
                           array_agg(s.taxable_wages ORDER BY s.code COLLATE "C"),
                           array_agg(s.amount ORDER BY s.code COLLATE "C")
                      FROM (SELECT code, sum(u.subject_wages)::bigint AS subject_wages,
                                   sum(u.taxable_wages)::bigint AS taxable_wages, sum(u.amount)::bigint AS amount
                              FROM unnest(m.codes || excluded.codes, m.subject_wages || excluded.subject_wages,
                                          m.taxable_wages || excluded.taxable_wages, m.amounts || excluded.amounts)
                                   AS u (code, subject_wages, taxable_wages, amount) GROUP BY code) s
                    HAVING count(*) > 0
                    UNION ALL SELECT '{}', '{}', '{}', '{}' WHERE m.codes || excluded.codes = '{}');
            RETURN NULL;
        END
    $$;
CREATE CONSTRAINT TRIGGER add_paycheck_to_month AFTER INSERT ON paychecks DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NOT NEW.in_month) EXECUTE FUNCTION add_paycheck_to_month();
"""

# Filled before paychecks are locked, since that takes long where there are many. What was posted meanwhile is summed
# again after the trigger is there: ids are made by the time, and no transaction of the service takes an hour.
AGAIN: Final = """
c.employee_id IN (SELECT n.employee_id FROM paychecks n WHERE n.id >=
    (lpad(to_hex(((extract(epoch FROM now()) - 3600) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid)
"""


def upgrade() -> None:
    """Create the months, fill them from the ledger, and let every writer of paychecks keep them."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(TABLE)
        cursor.execute(guard_of_household("month_balances"))
        cursor.execute(OWN_RECORD)
        cursor.execute(OF_ITS_CLOCK)
        cursor.execute(FILL.replace("{which}", "true"))
        cursor.execute(FOLLOWING)
        cursor.execute("DELETE FROM month_balances c WHERE " + AGAIN)
        cursor.execute(FILL.replace("{which}", AGAIN))
    finally:
        cursor.close()
