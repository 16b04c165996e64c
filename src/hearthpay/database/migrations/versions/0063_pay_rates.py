"""How an employee's pay changed, in a table of its own: it was read from the audit log."""

from __future__ import annotations

from typing import Final

from alembic import op

from hearthpay.database.migrations.tenancy import ACTS_AS_OWNER, guard_of_household

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None

CHANGES: Final = """
CREATE TABLE pay_changes (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    changed_at timestamptz NOT NULL,
    former_pay_type text NOT NULL CHECK (former_pay_type IN ('hourly', 'salary')),
    former_pay_rate_cents bigint CHECK (former_pay_rate_cents >= 0),
    former_salary_cents bigint CHECK (former_salary_cents > 0),
    former_salary_per text CHECK (former_salary_per IN ('year', 'period')),
    pay_type text NOT NULL CHECK (pay_type IN ('hourly', 'salary')),
    pay_rate_cents bigint CHECK (pay_rate_cents >= 0),
    salary_cents bigint CHECK (salary_cents > 0),
    salary_per text CHECK (salary_per IN ('year', 'period')),
    CHECK ((former_pay_type, former_pay_rate_cents, former_salary_cents, former_salary_per)
           IS DISTINCT FROM (pay_type, pay_rate_cents, salary_cents, salary_per)),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX pay_changes_employee_idx ON pay_changes (employee_id, id);
COMMENT ON TABLE pay_changes IS 'Each change of an hourly rate or a salary; the latest says what the employee says';
COMMENT ON COLUMN pay_changes.changed_at IS 'The real time, also where a sandbox''s clock travels';

GRANT SELECT, INSERT ON pay_changes TO hearthpay_service;
"""

# As of the tables of one employee: a person confined to her own record sees hers alone.
OWN_RECORD: Final = f"""
CREATE POLICY own_record ON pay_changes AS RESTRICTIVE TO hearthpay_service
    USING ((SELECT current_person()) IS NULL OR employee_id IN (SELECT own_employees())
           OR {ACTS_AS_OWNER});
"""

# From the latest change of each employee back: what a change led to is what the one after it began with.
BACKFILL: Final = """
DO $$
    DECLARE
        change record;
        of_employee uuid;
        now_type text; now_rate bigint; now_salary bigint; now_per text;
        was_type text; was_rate bigint; was_salary bigint; was_per text;
    BEGIN
        FOR change IN
            SELECT a.id, a.at, a.details -> 'before' AS former, e.id AS employee_id, e.employer_id, e.organization_id,
                   e.sandbox, e.pay_type, e.pay_rate_cents, e.salary_cents, e.salary_per
              FROM public.audit_log a JOIN public.employees e ON e.id = a.subject_id
               AND (a.organization_id, a.employer_id) = (e.organization_id, e.employer_id)
             WHERE a.action = 'employee.update'
               AND a.details -> 'before' ?| ARRAY['pay_type', 'pay_rate', 'salary', 'salary_per']
             ORDER BY e.id, a.id DESC
        LOOP
            IF of_employee IS DISTINCT FROM change.employee_id THEN
                of_employee := change.employee_id;
                now_type := change.pay_type; now_rate := change.pay_rate_cents;
                now_salary := change.salary_cents; now_per := change.salary_per;
            END IF;
            was_type := CASE WHEN change.former ? 'pay_type' THEN change.former ->> 'pay_type' ELSE now_type END;
            was_rate := CASE WHEN change.former ? 'pay_rate'
                             THEN round(CAST(change.former ->> 'pay_rate' AS numeric) * 100) ELSE now_rate END;
            was_salary := CASE WHEN change.former ? 'salary'
                               THEN round(CAST(change.former ->> 'salary' AS numeric) * 100) ELSE now_salary END;
            was_per := CASE WHEN change.former ? 'salary_per'
                            THEN change.former ->> 'salary_per' ELSE now_per END;
            IF (was_type, was_rate, was_salary, was_per)
               IS DISTINCT FROM (now_type, now_rate, now_salary, now_per) THEN
                INSERT INTO public.pay_changes VALUES (
                    change.id, change.organization_id, change.employer_id, change.sandbox, change.employee_id,
                    change.at, was_type, was_rate, was_salary, was_per, now_type, now_rate, now_salary, now_per);
            END IF;
            now_type := was_type; now_rate := was_rate; now_salary := was_salary; now_per := was_per;
        END LOOP;
    END
$$;
"""

# By the database, in the transaction of the change: so the program before this one, at work beside it, leaves none out.
FOLLOWING: Final = """
CREATE FUNCTION note_pay_change() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            INSERT INTO public.pay_changes (id, organization_id, employer_id, sandbox, employee_id, changed_at,
                former_pay_type, former_pay_rate_cents, former_salary_cents, former_salary_per,
                pay_type, pay_rate_cents, salary_cents, salary_per)
            VALUES (public.new_id(), NEW.organization_id, NEW.employer_id, NEW.sandbox, NEW.id, now(),
                OLD.pay_type, OLD.pay_rate_cents, OLD.salary_cents, OLD.salary_per,
                NEW.pay_type, NEW.pay_rate_cents, NEW.salary_cents, NEW.salary_per);
            RETURN NULL;
        END
    $$;
CREATE TRIGGER note_pay_change AFTER UPDATE ON employees FOR EACH ROW
    WHEN ((OLD.pay_type, OLD.pay_rate_cents, OLD.salary_cents, OLD.salary_per)
          IS DISTINCT FROM (NEW.pay_type, NEW.pay_rate_cents, NEW.salary_cents, NEW.salary_per))
    EXECUTE FUNCTION note_pay_change();
"""


def upgrade() -> None:
    """Create the table, fill it from the audit log, and let the database keep it."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(CHANGES)
        cursor.execute(BACKFILL)
        cursor.execute(guard_of_household("pay_changes"))
        cursor.execute(OWN_RECORD)
        cursor.execute(FOLLOWING)
    finally:
        cursor.close()
