"""The employee's postal address and language, and the papers that were issued: each version, sealed, with its hash."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_household

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

EMPLOYEES = """
ALTER TABLE employees ADD COLUMN address jsonb CHECK (jsonb_typeof(address) = 'object');
ALTER TABLE employees ADD COLUMN language text NOT NULL DEFAULT 'en' CHECK (language IN ('en', 'es'));
COMMENT ON COLUMN employees.address IS 'Postal address: line1, line2 or none, city, state, zip';
"""

# A paper holds tax numbers, so its bytes are sealed, together with the figures it was made of and a salt: what is
# hashed is what is sealed, salt included, or else the hash would give the number away to whoever tries them all.
# One version of each paper is in force; the one before names it. A household's papers go with a sandbox household, and
# when it is reset.
DOCUMENTS = """
CREATE TABLE documents (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    kind text NOT NULL CHECK (kind IN ('paystub', 'w2', 'w2c', 'w3', 'w3c', 'schedule_h', 'efw2', 'year_cover',
                                       'year_package')),
    subject_id uuid NOT NULL,
    employee_id uuid,
    payroll_id uuid,
    tax_year smallint NOT NULL,
    variant text NOT NULL CHECK (variant ~ '^[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*$' AND length(variant) <= 80),
    version smallint NOT NULL CHECK (version > 0),
    file_name text NOT NULL CHECK (file_name ~ '^[a-z0-9][a-z0-9.-]*$' AND length(file_name) <= 200),
    content_hash bytea NOT NULL CHECK (octet_length(content_hash) = 32),
    sealed_content bytea NOT NULL,
    nonce bytea NOT NULL CHECK (octet_length(nonce) = 12),
    key_id text NOT NULL,
    created_at timestamptz NOT NULL,
    superseded_by uuid CHECK (superseded_by <> id),
    UNIQUE (employer_id, kind, subject_id, tax_year, variant, version),
    UNIQUE (id, employer_id, organization_id, sandbox),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (payroll_id, employer_id, organization_id, sandbox)
        REFERENCES payrolls (id, employer_id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (superseded_by, employer_id, organization_id, sandbox)
        REFERENCES documents (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
        DEFERRABLE INITIALLY DEFERRED
);
CREATE UNIQUE INDEX documents_in_force ON documents (employer_id, kind, subject_id, tax_year, variant)
    WHERE superseded_by IS NULL;
CREATE INDEX documents_employee_id_idx ON documents (employee_id);
CREATE INDEX documents_payroll_id_idx ON documents (payroll_id);
CREATE INDEX documents_superseded_by_idx ON documents (superseded_by);
COMMENT ON COLUMN documents.subject_id IS 'What it is about: a paycheck, a person''s first record, a household';
COMMENT ON COLUMN documents.variant IS 'Which copy, in which language';
COMMENT ON COLUMN documents.content_hash IS 'SHA-256 of what is sealed';
COMMENT ON COLUMN documents.superseded_by IS 'The version that took its place; null: the one in force';
CREATE TRIGGER current_key_only BEFORE INSERT OR UPDATE OF key_id, sealed_content ON documents
    FOR EACH ROW EXECUTE FUNCTION refuse_replaced_key();

GRANT SELECT, INSERT, UPDATE (superseded_by) ON documents TO hearthpay_service;
"""

# As before, and the papers go too.
CLEAR = """
CREATE OR REPLACE FUNCTION clear_sandbox_household(household uuid, keep_household boolean)
    RETURNS TABLE (employees_removed bigint, payrolls_removed bigint)
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            tenant record;
        BEGIN
            SELECT * INTO tenant FROM public.current_tenant();
            IF tenant.sandbox IS NOT TRUE OR tenant.employer_id <> household THEN
                RETURN;
            END IF;
            PERFORM FROM public.employers e
              WHERE e.id = household AND e.organization_id = tenant.organization_id AND e.sandbox
                FOR NO KEY UPDATE;
            IF NOT FOUND THEN
                RETURN;
            END IF;
            PERFORM FROM public.payrolls p WHERE p.employer_id = household ORDER BY p.id FOR UPDATE;
            PERFORM FROM public.employees e WHERE e.employer_id = household ORDER BY e.id FOR UPDATE;

            DELETE FROM public.documents d WHERE d.employer_id = household;
            DELETE FROM public.bank_entries b WHERE b.employer_id = household;
            DELETE FROM public.escrow_movements m WHERE m.employer_id = household;
            DELETE FROM public.paycheck_lines l
             USING public.paychecks c, public.payrolls p
             WHERE l.paycheck_id = c.id AND c.payroll_id = p.id AND p.employer_id = household;
            DELETE FROM public.paychecks c
             USING public.payrolls p WHERE c.payroll_id = p.id AND p.employer_id = household;
            DELETE FROM public.payrolls p WHERE p.employer_id = household;
            GET DIAGNOSTICS payrolls_removed = ROW_COUNT;
            DELETE FROM public.employees e WHERE e.employer_id = household;
            GET DIAGNOSTICS employees_removed = ROW_COUNT;

            IF NOT keep_household THEN
                DELETE FROM public.assigned_rates r WHERE r.employer_id = household;
                UPDATE public.api_keys k SET employer_id = NULL, forgot_sandbox = k.mode = 'live'
                 WHERE k.employer_id = household;
                DELETE FROM public.employers e WHERE e.id = household;
            END IF;
            RETURN NEXT;
        END
    $$;
"""


def upgrade() -> None:
    """Add the column, create the table, bound to its household, and let a reset take the papers away."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(EMPLOYEES)
        cursor.execute(DOCUMENTS)
        cursor.execute(guard_of_household("documents"))
        cursor.execute(CLEAR)
    finally:
        cursor.close()
