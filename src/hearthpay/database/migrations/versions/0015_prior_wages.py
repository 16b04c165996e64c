"""Wages that were paid and withheld elsewhere earlier in the year: what a household brings from another provider."""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

# A record is never changed: one that is entered anew takes the place of the one before, which stays to be read.
PRIOR_WAGES = """
CREATE TABLE prior_wages (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    tax_year smallint NOT NULL CHECK (tax_year BETWEEN 2000 AND 2200),
    source text NOT NULL CHECK (source <> ''),
    as_of date NOT NULL CHECK (extract(year FROM as_of) = tax_year),
    gross_pay bigint NOT NULL CHECK (gross_pay >= 0),
    net_pay bigint NOT NULL CHECK (net_pay >= 0),
    employee_taxes bigint NOT NULL CHECK (employee_taxes >= 0),
    employer_taxes bigint NOT NULL CHECK (employer_taxes >= 0),
    lines jsonb NOT NULL CHECK (jsonb_typeof(lines) = 'array'),
    codes text[] NOT NULL,
    subject_wages bigint[] NOT NULL,
    taxable_wages bigint[] NOT NULL,
    amounts bigint[] NOT NULL,
    warnings jsonb NOT NULL CHECK (jsonb_typeof(warnings) = 'array'),
    created_at timestamptz NOT NULL,
    replaced_by uuid,
    CHECK (cardinality(codes) = cardinality(subject_wages) AND cardinality(codes) = cardinality(taxable_wages)
           AND cardinality(codes) = cardinality(amounts)),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX prior_wages_one_of_a_source_key ON prior_wages (employee_id, tax_year, source)
    WHERE replaced_by IS NULL;
CREATE INDEX prior_wages_employee_id_idx ON prior_wages (employee_id, tax_year, id);
COMMENT ON COLUMN prior_wages.lines IS 'As they were entered; the arrays hold the same, for adding up';

GRANT SELECT, INSERT, UPDATE (replaced_by) ON prior_wages TO hearthpay_service;
GRANT SELECT ON prior_wages TO hearthpay_worker;
"""

_VISIBLE = """
    (organization_id, sandbox) = (SELECT t.organization_id, t.sandbox FROM current_tenant() t)
    AND employer_id = coalesce((SELECT t.employer_id FROM current_tenant() t), employer_id)
"""


def upgrade() -> None:
    """Create the table, bound to its tenant."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(PRIOR_WAGES)
        cursor.execute(
            f"""
            ALTER TABLE prior_wages ENABLE ROW LEVEL SECURITY;
            ALTER TABLE prior_wages FORCE ROW LEVEL SECURITY;
            CREATE POLICY operator ON prior_wages TO CURRENT_USER USING (true) WITH CHECK (true);
            CREATE POLICY tenant ON prior_wages TO hearthpay_service USING ({_VISIBLE}) WITH CHECK ({_VISIBLE});
            CREATE POLICY worker ON prior_wages TO hearthpay_worker USING (true) WITH CHECK (true);
            """
        )
    finally:
        cursor.close()
