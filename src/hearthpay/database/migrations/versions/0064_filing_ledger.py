"""What a household paid to tax agencies and filed with them: two ledgers to which rows are only added."""

from __future__ import annotations

from typing import Final

from alembic import op

from hearthpay.database.migrations.tenancy import ACTS_AS_OWNER, guard_of_household

revision = "0064"
down_revision = "0063"
branch_labels = None
depends_on = None

# A reversal is a row of its own with the amount below zero; of each row there is at most one.
PAYMENTS: Final = """
CREATE TABLE tax_payments (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    agency text NOT NULL CHECK (agency ~ '^[a-z]{2}-[a-z0-9-]+$' AND length(agency) <= 64),
    jurisdiction char(2) NOT NULL CHECK (jurisdiction ~ '^[A-Z]{2}$'),
    account text NOT NULL CHECK (account ~ '^[a-z]+(-[a-z]+)*$' AND length(account) <= 64),
    period text NOT NULL CHECK (period ~ '^[0-9]{4}(-[A-Z][0-9]{1,2}|-[0-9]{2}-[0-9]{2})?$'),
    period_start date NOT NULL,
    period_end date NOT NULL CHECK (period_end >= period_start),
    item_key text CHECK (item_key ~ '^[A-Z]{2}/[a-z0-9-]+/[A-Za-z0-9-]+$' AND length(item_key) <= 120),
    amount bigint NOT NULL CHECK (amount <> 0),
    paid_on date NOT NULL,
    method text NOT NULL CHECK (method IN ('bank_account', 'card', 'check', 'wire', 'cash', 'other')),
    confirmation text CHECK (length(confirmation) BETWEEN 1 AND 60),
    actor_kind text NOT NULL,
    actor_id uuid,
    reverses uuid UNIQUE,
    created_at timestamptz NOT NULL,
    CHECK ((reverses IS NULL) = (amount > 0)),
    CHECK (reverses <> id),
    UNIQUE (id, employer_id, organization_id, sandbox),
    FOREIGN KEY (reverses, employer_id, organization_id, sandbox)
        REFERENCES tax_payments (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX tax_payments_employer_id_idx ON tax_payments (employer_id, id);
COMMENT ON TABLE tax_payments IS 'What a household paid to tax agencies, by its word; never changed';
COMMENT ON COLUMN tax_payments.period IS 'As the calendar names it: 2026, 2026-H1, 2026-Q3, 2026-I2, or a day';
COMMENT ON COLUMN tax_payments.item_key IS 'The item of the calendar that it was for when it was recorded, if any';
COMMENT ON COLUMN tax_payments.reverses IS 'The payment that this row takes back, by its amount below zero';
"""

FILINGS: Final = """
CREATE TABLE filings (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    item_key text NOT NULL CHECK (item_key ~ '^[A-Z]{2}/[a-z0-9-]+/[A-Za-z0-9-]+(/[0-9a-f-]{36})?$'
                                  AND length(item_key) <= 120),
    filed_on date NOT NULL,
    confirmation text CHECK (length(confirmation) BETWEEN 1 AND 60),
    figures jsonb NOT NULL CHECK (jsonb_typeof(figures) = 'object'),
    actor_kind text NOT NULL,
    actor_id uuid,
    reverses uuid UNIQUE,
    created_at timestamptz NOT NULL,
    CHECK (reverses <> id),
    UNIQUE (id, employer_id, organization_id, sandbox),
    FOREIGN KEY (reverses, employer_id, organization_id, sandbox)
        REFERENCES filings (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX filings_employer_id_idx ON filings (employer_id, id);
COMMENT ON TABLE filings IS 'What a household filed with agencies, by its word; never changed';
COMMENT ON COLUMN filings.item_key IS 'The key of an item of the calendar, which names it for good';
COMMENT ON COLUMN filings.figures IS 'The amounts of the item when it was filed, in cents, in total and by line';
COMMENT ON COLUMN filings.reverses IS 'The filing that this row takes back';
"""

# The reminders ask what is open.
GRANTS: Final = """
GRANT SELECT, INSERT ON tax_payments TO hearthpay_service;
GRANT SELECT, INSERT ON filings TO hearthpay_service;
GRANT SELECT (id, organization_id, employer_id, sandbox, agency, jurisdiction, account, period, period_start,
              period_end, amount, paid_on, reverses, created_at) ON tax_payments TO hearthpay_worker;
GRANT SELECT (id, organization_id, employer_id, sandbox, item_key, filed_on, figures, reverses, created_at)
    ON filings TO hearthpay_worker;
"""

# As of the tables that the worker reads by a household's time.
OF_ITS_CLOCK: Final = f"""
CREATE POLICY of_its_clock ON {{table}} AS RESTRICTIVE TO hearthpay_worker USING (
    CASE WHEN (SELECT coalesce(current_setting('hearthpay.clock_of', true), '') = '')
         THEN NOT sandbox OR employer_id NOT IN (SELECT c.employer_id FROM public.household_clocks c)
         ELSE employer_id = (SELECT nullif(current_setting('hearthpay.clock_of', true), '')::uuid) END
    OR {ACTS_AS_OWNER})
"""


def upgrade() -> None:
    """Create the ledgers, bound to their household, and let the worker read them."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (PAYMENTS, FILINGS, GRANTS):
            cursor.execute(statements)
        for table in ("tax_payments", "filings"):
            cursor.execute(guard_of_household(table))
            cursor.execute(OF_ITS_CLOCK.format(table=table))
    finally:
        cursor.close()
