"""Drafts of payrolls: what a member typed of one, kept until it is sent or dropped."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_household

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

# A draft is never a payroll: it holds what was typed, and nothing that was calculated. Nothing is deleted; the worker
# has nothing to do with it.
DRAFTS = """
CREATE TABLE payroll_drafts (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    period_start date NOT NULL,
    period_end date NOT NULL,
    pay_date date,
    pay_frequency text NOT NULL CHECK (pay_frequency IN ('weekly', 'biweekly', 'semimonthly', 'monthly')),
    notes text CHECK (length(notes) BETWEEN 1 AND 500),
    employees jsonb NOT NULL CHECK (jsonb_typeof(employees) = 'array'
                                    AND jsonb_array_length(employees) BETWEEN 1 AND 100),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    payroll_id uuid UNIQUE,
    dropped_at timestamptz,
    CHECK (num_nonnulls(payroll_id, dropped_at) < 2),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (payroll_id, employer_id, organization_id, sandbox)
        REFERENCES payrolls (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX payroll_drafts_open_idx ON payroll_drafts (employer_id, id)
    WHERE payroll_id IS NULL AND dropped_at IS NULL;
COMMENT ON COLUMN payroll_drafts.employees IS 'Each as typed: employee_id, hours and dollars as text, and how to pay';
COMMENT ON COLUMN payroll_drafts.payroll_id IS 'The payroll that it was sent as: a draft is sent once';

GRANT SELECT, INSERT,
      UPDATE (period_start, period_end, pay_date, pay_frequency, notes, employees, updated_at, payroll_id, dropped_at)
      ON payroll_drafts TO hearthpay_service;
"""

# A transaction that is a household's and a person's at once is an employee's: what is planned is not hers to see.
NOT_THE_EMPLOYEES = """
CREATE POLICY own_record ON payroll_drafts AS RESTRICTIVE TO hearthpay_service
    USING ((SELECT current_person()) IS NULL);
"""


def upgrade() -> None:
    """Create the table, bound to its household."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(DRAFTS)
        cursor.execute(guard_of_household("payroll_drafts"))
        cursor.execute(NOT_THE_EMPLOYEES)
    finally:
        cursor.close()
