"""Payrolls by check that were handed over, lists by payday, and the time zone of a household.

The marks and the zone are nullable columns without a default, so adding them rewrites no table, and the version before
leaves them out.
"""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0073"
down_revision = "0070"
branch_labels = None
depends_on = None

HANDED_OVER: Final = """
ALTER TABLE payrolls ADD COLUMN handed_over_at timestamptz
    CONSTRAINT payrolls_handed_over_check
    CHECK (handed_over_at IS NULL OR (NOT direct_deposit AND status IN ('completed', 'voided')));
COMMENT ON COLUMN payrolls.handed_over_at IS
    'When somebody said that the checks or cash were handed over before the pay date; null: nobody did';
GRANT UPDATE (handed_over_at) ON payrolls TO hearthpay_service;
"""

TIME_ZONE: Final = """
ALTER TABLE employers ADD COLUMN time_zone text
    CONSTRAINT employers_time_zone_check CHECK (time_zone ~ '^[A-Z][A-Za-z]+/[A-Z][A-Za-z_]+$');
COMMENT ON COLUMN employers.time_zone IS 'The IANA name of the zone of times on its pages; null: the zone of its state';
"""

# As before, with where the household is; the version before names the columns that it reads.
OWN_EMPLOYMENTS: Final = """
DROP FUNCTION own_employments();
CREATE FUNCTION own_employments()
    RETURNS TABLE (link_id uuid, employee_id uuid, organization_id uuid, employer_id uuid, sandbox boolean,
                   household text, first_name text, last_name text, status text{columns})
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT l.id, l.employee_id, l.organization_id, l.employer_id, l.sandbox, h.first_name || ' ' || h.last_name,
               e.first_name, e.last_name, e.status{values}
          FROM public.employee_links l
          JOIN public.employees e ON e.id = l.employee_id
          JOIN public.employers h ON h.id = l.employer_id
         WHERE l.person_id = public.current_person() AND l.ended_at IS NULL
         ORDER BY e.status, l.linked_at, l.id
    $$;
COMMENT ON FUNCTION own_employments IS 'The same with the households'' names, those that continue first';
REVOKE ALL ON FUNCTION own_employments() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION own_employments() TO hearthpay_service;
"""

# Newest payday first, and an employee's latest periods: each is read in its order, as far as it is shown.
BY_INDEX: Final = """
CREATE INDEX payrolls_by_payday_idx ON payrolls (employer_id, pay_date, id);
CREATE INDEX payroll_entries_period_idx ON payroll_entries (employee_id, upper(period) DESC, payroll_id DESC)
    WHERE live;
"""


def upgrade() -> None:
    """Add the columns and the indexes."""
    cursor = op.get_bind().connection.cursor()
    try:
        with_zone = OWN_EMPLOYMENTS.format(
            columns=", state text, time_zone text", values=", h.state::text, h.time_zone"
        )
        for statements in (HANDED_OVER, TIME_ZONE, with_zone, BY_INDEX):
            cursor.execute(statements)
    finally:
        cursor.close()


def downgrade() -> None:
    """Drop them; who handed over a check stays in the audit log."""
    op.execute(OWN_EMPLOYMENTS.format(columns="", values=""))
    op.execute(
        "DROP INDEX payroll_entries_period_idx, payrolls_by_payday_idx; "
        "ALTER TABLE employers DROP COLUMN time_zone; ALTER TABLE payrolls DROP COLUMN handed_over_at"
    )
