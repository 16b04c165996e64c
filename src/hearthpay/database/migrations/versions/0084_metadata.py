"""Clients keep keys and texts of their own with households, employees and payrolls, and filter lists by them.

Under row security only a leakproof condition reads an index: `@>` of jsonb is none, so no GIN index would be read.
Comparing text is leakproof. So each key is a row besides, which triggers keep; what has no metadata has no rows.
"""

from __future__ import annotations

from typing import Final

from alembic import op

from hearthpay.database.migrations.tenancy import ACTS_AS_OWNER, guard_of_household

revision = "0084"
down_revision = "0083"
branch_labels = None
depends_on = None

COLUMNS: Final = """
ALTER TABLE employers ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(metadata) = 'object');
ALTER TABLE employees ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(metadata) = 'object');
ALTER TABLE payrolls ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(metadata) = 'object');
ALTER TABLE payroll_drafts ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(metadata) = 'object');
COMMENT ON COLUMN employers.metadata IS 'Keys and texts that clients keep with the household';
COMMENT ON COLUMN employees.metadata IS 'Keys and texts that clients keep with the employee';
COMMENT ON COLUMN payrolls.metadata IS 'Keys and texts that clients keep with the payroll; they never change';
COMMENT ON COLUMN payroll_drafts.metadata IS 'The metadata of the payroll that the draft corrects';
"""

ENTRIES: Final = """
CREATE TABLE metadata_entries (
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    object_type text NOT NULL CHECK (object_type IN ('employer', 'employee', 'payroll')),
    object_id uuid NOT NULL,
    key text COLLATE "C" NOT NULL CHECK (length(key) BETWEEN 1 AND 40),
    value text COLLATE "C" NOT NULL CHECK (length(value) BETWEEN 1 AND 500),
    PRIMARY KEY (employer_id, object_id, key),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX metadata_entries_of_household_idx ON metadata_entries (employer_id, object_type, key, value, object_id);
CREATE INDEX metadata_entries_of_organization_idx
    ON metadata_entries (organization_id, sandbox, object_type, key, value, object_id);
COMMENT ON TABLE metadata_entries IS 'The metadata by which lists are filtered; kept by triggers';
COMMENT ON COLUMN metadata_entries.object_id IS 'The household, employee or payroll that has the key';
GRANT SELECT ON metadata_entries TO hearthpay_service;

CREATE FUNCTION keep_metadata_entries() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            household uuid;
        BEGIN
            IF TG_OP <> 'INSERT' THEN
                DELETE FROM public.metadata_entries m WHERE m.object_id = OLD.id
                   AND m.employer_id = CASE TG_TABLE_NAME WHEN 'employers' THEN OLD.id
                                       ELSE (to_jsonb(OLD) ->> 'employer_id')::uuid END;
            END IF;
            IF TG_OP = 'DELETE' THEN
                RETURN NULL;
            END IF;
            household := CASE TG_TABLE_NAME WHEN 'employers' THEN NEW.id
                         ELSE (to_jsonb(NEW) ->> 'employer_id')::uuid END;
            INSERT INTO public.metadata_entries
                   (organization_id, employer_id, sandbox, object_type, object_id, key, value)
                SELECT NEW.organization_id, household, NEW.sandbox, TG_ARGV[0], NEW.id, e.key, e.value
                  FROM jsonb_each_text(NEW.metadata) AS e;
            RETURN NULL;
        END
    $$;
REVOKE ALL ON FUNCTION keep_metadata_entries() FROM PUBLIC;
"""

# A transaction that is a household's and a person's at once is an employee's: the client's notes are not theirs to see.
NOT_THE_EMPLOYEES: Final = f"""
CREATE POLICY own_record ON metadata_entries AS RESTRICTIVE TO hearthpay_service
    USING ((SELECT current_person()) IS NULL OR {ACTS_AS_OWNER});
"""

# A household's own entries are deleted with it, by the foreign key.
TRIGGERS: Final = """
CREATE TRIGGER keep_metadata_of_new AFTER INSERT ON employers
    FOR EACH ROW WHEN (NEW.metadata <> '{}') EXECUTE FUNCTION keep_metadata_entries('employer');
CREATE TRIGGER keep_metadata AFTER UPDATE OF metadata ON employers
    FOR EACH ROW WHEN (NEW.metadata <> OLD.metadata) EXECUTE FUNCTION keep_metadata_entries('employer');
CREATE TRIGGER keep_metadata_of_new AFTER INSERT ON employees
    FOR EACH ROW WHEN (NEW.metadata <> '{}') EXECUTE FUNCTION keep_metadata_entries('employee');
CREATE TRIGGER keep_metadata AFTER UPDATE OF metadata ON employees
    FOR EACH ROW WHEN (NEW.metadata <> OLD.metadata) EXECUTE FUNCTION keep_metadata_entries('employee');
CREATE TRIGGER drop_metadata AFTER DELETE ON employees
    FOR EACH ROW WHEN (OLD.metadata <> '{}') EXECUTE FUNCTION keep_metadata_entries('employee');
CREATE TRIGGER keep_metadata_of_new AFTER INSERT ON payrolls
    FOR EACH ROW WHEN (NEW.metadata <> '{}') EXECUTE FUNCTION keep_metadata_entries('payroll');
CREATE TRIGGER keep_metadata AFTER UPDATE OF metadata ON payrolls
    FOR EACH ROW WHEN (NEW.metadata <> OLD.metadata) EXECUTE FUNCTION keep_metadata_entries('payroll');
CREATE TRIGGER drop_metadata AFTER DELETE ON payrolls
    FOR EACH ROW WHEN (OLD.metadata <> '{}') EXECUTE FUNCTION keep_metadata_entries('payroll');
"""


def upgrade() -> None:
    """Add the columns, the rows that lists are filtered by, and the triggers that keep them."""
    cursor = op.get_bind().connection.cursor()
    try:
        guard = guard_of_household("metadata_entries")
        for statements in (COLUMNS, ENTRIES, guard, NOT_THE_EMPLOYEES, TRIGGERS):
            cursor.execute(statements)
    finally:
        cursor.close()
