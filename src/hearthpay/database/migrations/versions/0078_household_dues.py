"""What is overdue and due soon for each household, kept for lists, and a note of each change that makes it outdated.

A change only inserts a note; nobody waits for anybody, and no row is locked that a payroll would need. The worker
removes the notes of a household and calculates its row in one transaction, so a change that it didn't read leaves a
note.
"""

from __future__ import annotations

from typing import Final

from alembic import op

from hearthpay.database.migrations.tenancy import ACTS_AS_OWNER, guard_of_household

revision = "0078"
down_revision = "0076"
branch_labels = None
depends_on = None

DUES: Final = """
CREATE TABLE household_dues (
    employer_id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    computed_on date,
    rules text COLLATE "C" CHECK (length(rules) BETWEEN 1 AND 64),
    failed_on date,
    overdue_since date,
    overdue_count integer NOT NULL DEFAULT 0 CHECK (overdue_count >= 0),
    overdue_cents bigint NOT NULL DEFAULT 0 CHECK (overdue_cents >= 0),
    week_count integer NOT NULL DEFAULT 0 CHECK (week_count >= 0),
    week_cents bigint NOT NULL DEFAULT 0 CHECK (week_cents >= 0),
    next_due date,
    payday_to_run date,
    CHECK ((computed_on IS NULL) = (rules IS NULL)),
    CHECK ((overdue_since IS NULL) = (overdue_count = 0)),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX household_dues_computed_on_idx ON household_dues (computed_on NULLS FIRST, employer_id);
CREATE INDEX household_dues_rules_idx ON household_dues (rules);
CREATE INDEX household_dues_overdue_idx ON household_dues (organization_id, sandbox, overdue_since, employer_id)
    WHERE overdue_count > 0;
CREATE INDEX household_dues_payday_idx ON household_dues (organization_id, sandbox, payday_to_run, employer_id)
    WHERE payday_to_run IS NOT NULL;
COMMENT ON TABLE household_dues IS 'What a household has to do and pay, as of a day; calculated by the worker';
COMMENT ON COLUMN household_dues.computed_on IS 'As of which day; null: never, or the last calculation failed';
COMMENT ON COLUMN household_dues.rules IS 'The fingerprint of the program and its rules by which it was calculated';
COMMENT ON COLUMN household_dues.failed_on IS 'The day of a calculation that failed; it is tried again the next day';
COMMENT ON COLUMN household_dues.overdue_since IS 'The due date of what is overdue longest';
COMMENT ON COLUMN household_dues.week_count IS 'How much is due on the day of the calculation and the six days after';
COMMENT ON COLUMN household_dues.next_due IS 'The first due date of something open from that day on';
COMMENT ON COLUMN household_dues.payday_to_run IS
    'The next payday of employees without Autopilot, from their last payroll and how often they are paid';
"""

NOTES: Final = """
CREATE TABLE outdated_dues (
    employer_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    id uuid NOT NULL,
    PRIMARY KEY (employer_id, id)
);
CREATE INDEX outdated_dues_organization_id_idx ON outdated_dues (organization_id, sandbox, employer_id);
COMMENT ON TABLE outdated_dues IS 'A note of each change since household_dues was calculated; the worker removes it';
"""

GRANTS: Final = """
GRANT SELECT ON household_dues, outdated_dues TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (computed_on, rules, failed_on, overdue_since, overdue_count, overdue_cents, week_count,
                              week_cents, next_due, payday_to_run) ON household_dues TO hearthpay_worker;
GRANT SELECT, DELETE ON outdated_dues TO hearthpay_worker;
"""

# As of the tables that the worker writes at a household's time: a household with its own clock has no row that is kept.
OF_ITS_CLOCK: Final = f"""
CREATE POLICY of_its_clock ON {{table}} AS RESTRICTIVE TO hearthpay_worker USING (
    CASE WHEN (SELECT coalesce(current_setting('hearthpay.clock_of', true), '') = '')
         THEN NOT sandbox OR employer_id NOT IN (SELECT c.employer_id FROM public.household_clocks c)
         ELSE employer_id = (SELECT nullif(current_setting('hearthpay.clock_of', true), '')::uuid) END
    OR {ACTS_AS_OWNER})
"""

FUNCTIONS: Final = """
CREATE FUNCTION outdate_dues() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            IF TG_OP = 'DELETE' THEN
                INSERT INTO public.outdated_dues (employer_id, organization_id, sandbox, id)
                    SELECT e.id, e.organization_id, e.sandbox, public.new_id()
                      FROM public.employers e WHERE e.id = OLD.employer_id;
            ELSE
                INSERT INTO public.outdated_dues (employer_id, organization_id, sandbox, id)
                    VALUES (NEW.employer_id, NEW.organization_id, NEW.sandbox, public.new_id());
            END IF;
            RETURN NULL;
        END
    $$;
CREATE FUNCTION outdate_dues_of_paychecks() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            INSERT INTO public.outdated_dues (employer_id, organization_id, sandbox, id)
                SELECT DISTINCT ON (a.employer_id) a.employer_id, a.organization_id, a.sandbox, public.new_id()
                  FROM added a;
            RETURN NULL;
        END
    $$;
CREATE FUNCTION outdate_dues_of_household() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            IF TG_OP = 'DELETE' THEN
                DELETE FROM public.outdated_dues o WHERE o.employer_id = OLD.id;
                RETURN NULL;
            END IF;
            IF TG_OP = 'INSERT' THEN
                INSERT INTO public.household_dues (employer_id, organization_id, sandbox)
                    VALUES (NEW.id, NEW.organization_id, NEW.sandbox);
            ELSE
                INSERT INTO public.outdated_dues (employer_id, organization_id, sandbox, id)
                    VALUES (NEW.id, NEW.organization_id, NEW.sandbox, public.new_id());
            END IF;
            RETURN NULL;
        END
    $$;
REVOKE ALL ON FUNCTION outdate_dues(), outdate_dues_of_paychecks(), outdate_dues_of_household() FROM PUBLIC;
"""

# The notes have no reference to their household, which would cost each paycheck a look-up; so they are deleted with it
# here, and what is deleted with a household leaves none.
TRIGGERS: Final = """
CREATE TRIGGER outdate_dues AFTER INSERT ON employers FOR EACH ROW EXECUTE FUNCTION outdate_dues_of_household();
CREATE TRIGGER outdate_dues_changed AFTER UPDATE OF state, threshold_bases ON employers FOR EACH ROW
    WHEN (OLD.state IS DISTINCT FROM NEW.state OR OLD.threshold_bases IS DISTINCT FROM NEW.threshold_bases)
    EXECUTE FUNCTION outdate_dues_of_household();
CREATE TRIGGER outdate_dues_forgotten AFTER DELETE ON employers
    FOR EACH ROW EXECUTE FUNCTION outdate_dues_of_household();
CREATE TRIGGER outdate_dues AFTER INSERT ON paychecks REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION outdate_dues_of_paychecks();
CREATE TRIGGER outdate_dues AFTER INSERT ON payrolls FOR EACH ROW
    WHEN (NEW.status = 'scheduled' AND NEW.created_by_kind <> 'system') EXECUTE FUNCTION outdate_dues();
CREATE TRIGGER outdate_dues_changed AFTER UPDATE OF status, pay_date ON payrolls FOR EACH ROW
    WHEN (NEW.pay_date IS DISTINCT FROM OLD.pay_date
          OR NEW.status IN ('voided', 'failed') AND NEW.status IS DISTINCT FROM OLD.status)
    EXECUTE FUNCTION outdate_dues();
CREATE TRIGGER outdate_dues AFTER INSERT ON autopilot_enrollments FOR EACH ROW EXECUTE FUNCTION outdate_dues();
CREATE TRIGGER outdate_dues_changed AFTER UPDATE OF status ON autopilot_enrollments FOR EACH ROW
    WHEN (NEW.status IS DISTINCT FROM OLD.status) EXECUTE FUNCTION outdate_dues();
CREATE TRIGGER outdate_dues AFTER INSERT ON vault FOR EACH ROW
    WHEN (NEW.owner_kind = 'registration') EXECUTE FUNCTION outdate_dues();
CREATE TRIGGER outdate_dues_changed AFTER UPDATE ON vault FOR EACH ROW
    WHEN (NEW.owner_kind = 'registration' AND NEW.last_four IS DISTINCT FROM OLD.last_four)
    EXECUTE FUNCTION outdate_dues();
CREATE TRIGGER outdate_dues_removed AFTER DELETE ON vault FOR EACH ROW
    WHEN (OLD.owner_kind = 'registration') EXECUTE FUNCTION outdate_dues();
"""

TABLES: Final = (
    "employees",
    "signed_certificates",
    "prior_wages",
    "state_registrations",
    "duty_marks",
    "filing_choices",
    "closed_accounts",
    "insurance_policies",
    "tax_payments",
    "filings",
)

OF_TABLE: Final = """
CREATE TRIGGER outdate_dues AFTER INSERT OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION outdate_dues();
CREATE TRIGGER outdate_dues_changed AFTER UPDATE ON {table} FOR EACH ROW
    WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION outdate_dues();
"""

FILL: Final = """
INSERT INTO household_dues (employer_id, organization_id, sandbox) SELECT id, organization_id, sandbox FROM employers
    ON CONFLICT DO NOTHING;
"""


def upgrade() -> None:
    """Create the rows, none of them calculated yet, and note what makes them outdated."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(DUES)
        cursor.execute(NOTES)
        for table in ("household_dues", "outdated_dues"):
            cursor.execute(guard_of_household(table))
            cursor.execute(OF_ITS_CLOCK.format(table=table))
        cursor.execute(GRANTS)
        cursor.execute(FUNCTIONS)
        cursor.execute(TRIGGERS)
        for table in TABLES:
            cursor.execute(OF_TABLE.format(table=table))
        cursor.execute(FILL)
    finally:
        cursor.close()
