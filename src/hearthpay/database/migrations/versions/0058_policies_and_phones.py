"""Insurance policies of households, papers of a hire, and the telephone number that stands on pay stubs."""

from __future__ import annotations

from typing import Final

from alembic import op

from hearthpay.database.migrations.tenancy import ACTS_AS_OWNER, guard_of_household

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None

POLICIES: Final = """
CREATE TABLE insurance_policies (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    state char(2) NOT NULL CHECK (state ~ '^[A-Z]{2}$'),
    kind text NOT NULL CHECK (kind IN ('workers_compensation', 'disability')),
    carrier text CHECK (length(carrier) BETWEEN 1 AND 80),
    policy_number text CHECK (length(policy_number) BETWEEN 1 AND 80),
    starts_on date,
    ends_on date CHECK (ends_on >= starts_on),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (employer_id, state, kind),
    CHECK ((carrier IS NULL) = (starts_on IS NULL)),
    CHECK (carrier IS NOT NULL OR (policy_number IS NULL AND ends_on IS NULL)),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
);
COMMENT ON TABLE insurance_policies IS 'The policies that a household has, by its word';
COMMENT ON COLUMN insurance_policies.carrier IS 'Who insures; null: what was entered is taken back';
COMMENT ON COLUMN insurance_policies.ends_on IS 'The last day, by which it is renewed; null: it goes on';

GRANT SELECT, INSERT, UPDATE (carrier, policy_number, starts_on, ends_on, updated_at)
    ON insurance_policies TO hearthpay_service;
GRANT SELECT ON insurance_policies TO hearthpay_worker;
"""

# As of the tables that the worker reads by a household's time.
OF_ITS_CLOCK: Final = f"""
CREATE POLICY of_its_clock ON insurance_policies AS RESTRICTIVE TO hearthpay_worker USING (
    CASE WHEN (SELECT coalesce(current_setting('hearthpay.clock_of', true), '') = '')
         THEN NOT sandbox OR employer_id NOT IN (SELECT c.employer_id FROM public.household_clocks c)
         ELSE employer_id = (SELECT nullif(current_setting('hearthpay.clock_of', true), '')::uuid) END
    OR {ACTS_AS_OWNER})
"""

# The reminders ask whether an employee has signed a Form W-4.
CERTIFICATES: Final = f"""
GRANT SELECT (organization_id, employer_id, sandbox, employee_id, jurisdiction, signed_on)
    ON signed_certificates TO hearthpay_worker;
CREATE POLICY of_its_clock ON signed_certificates AS RESTRICTIVE TO hearthpay_worker USING (
    CASE WHEN (SELECT coalesce(current_setting('hearthpay.clock_of', true), '') = '')
         THEN NOT sandbox OR employer_id NOT IN (SELECT c.employer_id FROM public.household_clocks c)
         ELSE employer_id = (SELECT nullif(current_setting('hearthpay.clock_of', true), '')::uuid) END
    OR {ACTS_AS_OWNER})
"""

PAPERS: Final = """
ALTER TABLE documents DROP CONSTRAINT documents_kind_check;
ALTER TABLE documents ADD CONSTRAINT documents_kind_check CHECK (kind IN (
    'paystub', 'w2', 'w2c', 'w3', 'w3c', 'schedule_h', 'efw2', 'year_cover', 'year_package',
    'work_agreement', 'hire_notice', 'new_hire_report'));
"""

PHONE: Final = """
ALTER TABLE employers ADD COLUMN phone text CHECK (phone ~ '^[0-9]{10}$');
COMMENT ON COLUMN employers.phone IS 'Ten digits, as pay stubs show it; null: not told';
"""


def upgrade() -> None:
    """Create the table and the column, and let the papers be kept."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(POLICIES)
        cursor.execute(guard_of_household("insurance_policies"))
        cursor.execute(OF_ITS_CLOCK)
        cursor.execute(CERTIFICATES)
        cursor.execute(PAPERS)
        cursor.execute(PHONE)
    finally:
        cursor.close()
