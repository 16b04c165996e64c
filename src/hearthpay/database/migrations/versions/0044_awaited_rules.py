"""Awaited rules: which pay dates lie ahead, by year and state, and when the operator was told of rules not final."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_worker

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE awaited_rules (
    key text PRIMARY KEY CHECK (key <> ''),
    since timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    told_at timestamptz NOT NULL,
    logged_at timestamptz NOT NULL
);
COMMENT ON TABLE awaited_rules IS 'Pay dates under rules that are not final: when operators were told, and the log';
COMMENT ON COLUMN awaited_rules.key IS 'MD5 of what is not final: years, lines, and which of them are held';
GRANT SELECT, INSERT, UPDATE, DELETE ON awaited_rules TO hearthpay_worker;
GRANT SELECT (operator_since) ON people TO hearthpay_worker;
CREATE INDEX people_operator_idx ON people (id) WHERE operator_since IS NOT NULL;
CREATE INDEX autopilot_enrollments_pay_date_idx ON autopilot_enrollments (next_pay_date)
    WHERE status = 'active' AND NOT sandbox;
CREATE INDEX payrolls_scheduled_idx ON payrolls (pay_date) WHERE status = 'scheduled' AND NOT sandbox;
"""

# The first is a plain selection, which the planner dissolves: it reads what its caller may read. An enrollment goes
# on: with `goes_on` it is counted in the year of `through`, unless its employee leaves before.
FUNCTIONS = """
CREATE FUNCTION pay_dates_ahead(today date, through date, goes_on boolean)
    RETURNS TABLE (kind text, tax_year integer, states text[], pieces bigint)
    LANGUAGE sql STABLE
    AS $$
        SELECT 'enrollment'::text, ahead.tax_year, ARRAY[ahead.work_state], count(*)
          FROM (SELECT extract(year FROM CASE WHEN goes_on THEN through
                                              ELSE greatest(a.next_pay_date, today) END)::integer AS tax_year,
                       e.work_state
                  FROM public.autopilot_enrollments a JOIN public.employees e ON e.id = a.employee_id
                 WHERE a.status = 'active' AND NOT a.sandbox AND a.next_pay_date <= through
                   AND (NOT goes_on OR e.end_date IS NULL OR e.end_date >= date_trunc('year', through)::date)
               ) AS ahead
         GROUP BY ahead.tax_year, ahead.work_state
        UNION ALL
        SELECT 'payroll'::text, ahead.tax_year, ahead.states, count(*)
          FROM (SELECT extract(year FROM p.pay_date)::integer AS tax_year,
                       array_agg(DISTINCT e.work_state ORDER BY e.work_state) AS states
                  FROM public.payrolls p
                  JOIN public.payroll_entries n ON n.payroll_id = p.id
                  JOIN public.employees e ON e.id = n.employee_id
                 WHERE p.status = 'scheduled' AND NOT p.sandbox AND p.pay_date <= through
                 GROUP BY p.id, p.pay_date) AS ahead
         GROUP BY ahead.tax_year, ahead.states
    $$;
COMMENT ON FUNCTION pay_dates_ahead IS 'How many enrollments and scheduled payrolls have pay dates ahead, by state';

CREATE FUNCTION pay_dates_ahead_of_all(today date, through date, goes_on boolean)
    RETURNS TABLE (kind text, tax_year integer, states text[], pieces bigint)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT ahead.kind, ahead.tax_year, ahead.states, ahead.pieces
          FROM public.pay_dates_ahead(today, through, goes_on) AS ahead WHERE public.operates()
    $$;
COMMENT ON FUNCTION pay_dates_ahead_of_all IS 'The same over all tenants: numbers, for an operator only';

REVOKE ALL ON FUNCTION pay_dates_ahead(date, date, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION pay_dates_ahead_of_all(date, date, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pay_dates_ahead(date, date, boolean) TO hearthpay_worker;
GRANT EXECUTE ON FUNCTION pay_dates_ahead_of_all(date, date, boolean) TO hearthpay_service;
"""


def upgrade() -> None:
    """Create the table, for the worker alone, the indexes, and the functions."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        for statements in (TABLE, guard_of_worker("awaited_rules"), FUNCTIONS):
            cursor.execute(statements)
    finally:
        cursor.close()
