"""Ways out for money that cannot reach its employee, and refunds that are sent again."""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0017"
branch_labels = None
depends_on = None

# What was decided about a direct deposit that could not leave; never changed, the latest counts.
REMEDIES = """
CREATE TABLE paycheck_remedies (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    payroll_id uuid NOT NULL,
    paycheck_id uuid NOT NULL,
    employee_id uuid NOT NULL,
    action text NOT NULL CHECK (action IN ('pay_by_check', 'wait_for_account', 'refund')),
    until date CHECK ((until IS NOT NULL) = (action = 'wait_for_account')),
    decided_by_kind text NOT NULL CHECK (decided_by_kind IN ('user', 'key', 'mcp', 'system', 'operator')),
    decided_by uuid,
    decided_at timestamptz NOT NULL,
    FOREIGN KEY (payroll_id, employer_id, organization_id, sandbox)
        REFERENCES payrolls (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (paycheck_id, employee_id, employer_id, organization_id, sandbox)
        REFERENCES paychecks (id, employee_id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX paycheck_remedies_final_key ON paycheck_remedies (paycheck_id) WHERE action <> 'wait_for_account';
CREATE INDEX paycheck_remedies_paycheck_id_idx ON paycheck_remedies (paycheck_id, id);
CREATE INDEX paycheck_remedies_payroll_id_idx ON paycheck_remedies (payroll_id);
CREATE INDEX paycheck_remedies_until_idx ON paycheck_remedies (until) WHERE action = 'wait_for_account';
COMMENT ON TABLE paycheck_remedies IS 'What was decided about a direct deposit that could not leave; the latest counts';
COMMENT ON COLUMN paycheck_remedies.until IS 'The last day whose bank file may still carry the deposit';

GRANT SELECT, INSERT ON paycheck_remedies TO hearthpay_service, hearthpay_worker;
-- A person's decision lets a payroll fail, with its reason; an authorization lets those that waited for it go on.
GRANT UPDATE (failure, next_attempt_at) ON payrolls TO hearthpay_service;
"""

# A payroll that the clockwork makes in the place of an approved one stands under that one's approval.
APPROVAL = """
ALTER TABLE payrolls ADD COLUMN approved_at timestamptz CHECK (approved_at <= created_at);
COMMENT ON COLUMN payrolls.approved_at IS 'When a person approved it, where that was before its creation';
"""

# A refund that came back is sent again as often as it takes; a debit is presented three times at most.
REFUNDS = """
ALTER TABLE bank_entries
    DROP CONSTRAINT bank_entries_attempt_check,
    ADD CONSTRAINT bank_entries_attempt_check CHECK (attempt >= 1 AND (attempt <= 3 OR kind = 'refund'));
DROP INDEX bank_entries_one_refund_key;
CREATE UNIQUE INDEX bank_entries_one_refund_key ON bank_entries (paycheck_id, attempt) WHERE kind = 'refund';

INSERT INTO bank_entries (id, organization_id, employer_id, sandbox, kind, bank_account_id, employee_id, payroll_id,
                          paycheck_id, amount, attempt, status, send_on, settle_on, created_at, updated_at)
SELECT new_id(), organization_id, employer_id, sandbox, kind, bank_account_id, employee_id, payroll_id, paycheck_id,
       amount, attempt + 1, 'pending', current_date, current_date + 1, now(), now()
  FROM bank_entries WHERE kind = 'refund' AND status = 'returned';
"""

_VISIBLE = """
    (organization_id, sandbox) = (SELECT t.organization_id, t.sandbox FROM current_tenant() t)
    AND employer_id = coalesce((SELECT t.employer_id FROM current_tenant() t), employer_id)
"""


def upgrade() -> None:
    """Create the table, bound to its tenant, and let refunds be sent again."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(REMEDIES)
        cursor.execute(APPROVAL)
        cursor.execute(REFUNDS)
        cursor.execute(
            f"""
            ALTER TABLE paycheck_remedies ENABLE ROW LEVEL SECURITY;
            ALTER TABLE paycheck_remedies FORCE ROW LEVEL SECURITY;
            CREATE POLICY operator ON paycheck_remedies TO CURRENT_USER USING (true) WITH CHECK (true);
            CREATE POLICY tenant ON paycheck_remedies TO hearthpay_service USING ({_VISIBLE}) WITH CHECK ({_VISIBLE});
            CREATE POLICY worker ON paycheck_remedies TO hearthpay_worker USING (true) WITH CHECK (true);
            """
        )
    finally:
        cursor.close()
