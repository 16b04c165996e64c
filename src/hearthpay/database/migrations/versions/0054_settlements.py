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
GRANT INSERT ON wage_settlements TO hearthpay_service;
"""

OPERATOR = """
CREATE FUNCTION wages_not_collected()
    RETURNS TABLE (payroll_id uuid, organization_id uuid, organization text, household text, pay_date date,
                   returned_on date, owed bigint, received bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT p.id, p.organization_id, o.name, concat_ws(' ', e.first_name, e.last_name), p.pay_date,
               (m.returned_at AT TIME ZONE 'America/New_York')::date,
               m.paid + coalesce(s.held, 0) - m.collected, coalesce(w.received, 0)
          FROM (SELECT b.payroll_id,
                       coalesce(sum(b.amount) FILTER (
                           WHERE b.kind = 'debit' AND b.status IN ('pending', 'sent', 'settled')), 0) AS collected,
                       coalesce(sum(b.amount) FILTER (
                           WHERE b.kind <> 'debit' AND b.status IN ('pending', 'sent', 'settled')), 0) AS paid,
                       max(b.updated_at) FILTER (WHERE b.kind = 'debit' AND b.status = 'returned') AS returned_at
                  FROM public.bank_entries b
                 WHERE b.payroll_id IN (SELECT r.payroll_id FROM public.bank_entries r
                                         WHERE r.kind = 'debit' AND r.status = 'returned' AND NOT r.sandbox)
                 GROUP BY b.payroll_id) m
          JOIN public.payrolls p ON p.id = m.payroll_id
          JOIN public.organizations o ON o.id = p.organization_id
          JOIN public.employers e ON e.id = p.employer_id
          LEFT JOIN LATERAL (SELECT sum(c.set_aside)::bigint AS held FROM public.paychecks c
                              WHERE c.payroll_id = p.id AND c.payment_method = 'direct_deposit' AND c.reverses IS NULL
                                AND NOT EXISTS (SELECT FROM public.paychecks r WHERE r.reverses = c.id)) s ON true
          LEFT JOIN LATERAL (SELECT sum(x.amount)::bigint AS received FROM public.wage_settlements x
                              WHERE x.payroll_id = p.id) w ON true
         WHERE public.operates() AND p.status NOT IN ('scheduled', 'firing', 'pending_funding')
           AND m.paid + coalesce(s.held, 0) - m.collected > coalesce(w.received, 0)
         ORDER BY 6, p.id
    $$;
COMMENT ON FUNCTION wages_not_collected IS
    'For an operator alone: wages that left, whose debit came back, and what households still owe of them; in cents';
REVOKE ALL ON FUNCTION wages_not_collected() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION wages_not_collected() TO hearthpay_service;
"""

AUTOPILOT = """
ALTER TABLE autopilot_versions ADD COLUMN large_confirmed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN autopilot_versions.large_confirmed IS
    'Whether pay above the limits for large payrolls was confirmed for what is enrolled';
CREATE INDEX autopilot_enrollments_left_idx ON autopilot_enrollments (employee_id)
    WHERE status = 'paused' AND pause_reason = 'employee_inactive';
"""


def upgrade() -> None:
    """Create the table, bound to its tenant, the operator's list, and what a confirmation on enrollment leaves."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (SETTLEMENTS, guard_of_household("wage_settlements"), OPERATOR, AUTOPILOT):
            cursor.execute(statements)
    finally:
        cursor.close()
