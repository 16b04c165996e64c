"""The tax lines of a paycheck in arrays of its own row: they were a row each, and the largest table.

What names a line (code, name, payer, agency, category) is the same for every paycheck with the same lines: it is in
`line_sets`, once. Converting takes 10 to 30 seconds for each 100,000 paychecks, in which nobody else can use them.
"""

from __future__ import annotations

from typing import Final

from alembic import op

from hearthpay.database.migrations.tenancy import ACTS_AS_OWNER, guard_of_household

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None

# The id follows from the contents: nobody can give another's id to other names, and programs need not ask for it.
SETS: Final = """
CREATE FUNCTION line_set_id(codes text[], names text[], payers text[], agencies text[], categories text[])
    RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ('x' || encode(substr(sha256(convert_to(array_to_string(
        codes || names || payers || agencies || categories, E'\\n'), 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint;

CREATE TABLE line_sets (
    id bigint PRIMARY KEY,
    codes text[] NOT NULL CHECK (codes = '{}' OR array_ndims(codes) = 1),
    names text[] NOT NULL CHECK (cardinality(names) = cardinality(codes)),
    payers text[] NOT NULL CHECK (cardinality(payers) = cardinality(codes)),
    agencies text[] NOT NULL CHECK (cardinality(agencies) = cardinality(codes)),
    categories text[] NOT NULL CHECK (cardinality(categories) = cardinality(codes)),
    CHECK (payers <@ ARRAY['employee', 'employer']),
    CHECK ('' <> ALL (codes || categories)),
    CHECK (array_position(codes || names || payers || agencies || categories, NULL) IS NULL),
    CHECK (position(E'\\n' IN array_to_string(codes || names || payers || agencies || categories, '')) = 0),
    CHECK (id = line_set_id(codes, names, payers, agencies, categories))
);
COMMENT ON TABLE line_sets IS 'The tax lines that paychecks have, by code and as they were named; no tenant''s';
COMMENT ON COLUMN line_sets.id IS 'The first eight bytes of the SHA-256 of its contents';

ALTER TABLE line_sets ENABLE ROW LEVEL SECURITY;
ALTER TABLE line_sets FORCE ROW LEVEL SECURITY;
CREATE POLICY operator ON line_sets TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY anyone ON line_sets TO hearthpay_service USING (true) WITH CHECK (true);
CREATE POLICY worker ON line_sets TO hearthpay_worker USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON line_sets TO hearthpay_service, hearthpay_worker;
"""

# The words of `warnings` are in `messages` too; only what was written before there were codes has them alone.
ARRAYS: Final = """
ALTER TABLE paychecks
    ADD COLUMN line_set_id bigint,
    ADD COLUMN line_subject_wages bigint[],
    ADD COLUMN line_taxable_wages bigint[],
    ADD COLUMN line_rates numeric[],
    ADD COLUMN line_amounts bigint[],
    ADD COLUMN line_ytd_amounts bigint[],
    DROP CONSTRAINT paychecks_check;
COMMENT ON COLUMN paychecks.line_set_id IS
    'What its tax lines are; null: none, or those that a program of the version before is about to write';
COMMENT ON COLUMN paychecks.line_subject_wages IS 'Cents by line; as the other arrays, in the order of the set';
"""

PACKING: Final = """
CREATE TEMPORARY TABLE packed ON COMMIT DROP AS
    SELECT paycheck_id, array_agg(code) AS codes, array_agg(name) AS names, array_agg(payer) AS payers,
           array_agg(agency) AS agencies, array_agg(category) AS categories,
           array_agg(subject_wages) AS subject_wages, array_agg(taxable_wages) AS taxable_wages,
           array_agg(rate) AS rates, array_agg(amount) AS amounts, array_agg(ytd_amount) AS ytd_amounts
      FROM (SELECT * FROM paycheck_lines ORDER BY paycheck_id, position) l GROUP BY paycheck_id;
INSERT INTO line_sets
    SELECT line_set_id(s.codes, s.names, s.payers, s.agencies, s.categories), s.*
      FROM (SELECT DISTINCT codes, names, payers, agencies, categories FROM packed) s;
UPDATE paychecks c
   SET line_set_id = s.id, line_subject_wages = p.subject_wages, line_taxable_wages = p.taxable_wages,
       line_rates = p.rates, line_amounts = p.amounts, line_ytd_amounts = p.ytd_amounts
  FROM packed p JOIN line_sets s ON (s.codes, s.names, s.payers, s.agencies, s.categories)
                                  = (p.codes, p.names, p.payers, p.agencies, p.categories)
 WHERE c.id = p.paycheck_id;
DROP TABLE paycheck_lines;
ALTER TABLE paychecks ADD CONSTRAINT paychecks_lines CHECK (CASE
    WHEN line_set_id IS NULL
    THEN num_nonnulls(line_subject_wages, line_taxable_wages, line_rates, line_amounts, line_ytd_amounts) = 0
    ELSE num_nulls(line_subject_wages, line_taxable_wages, line_rates, line_amounts, line_ytd_amounts) = 0
         AND cardinality(line_subject_wages) = cardinality(line_amounts)
         AND cardinality(line_taxable_wages) = cardinality(line_amounts)
         AND cardinality(line_rates) = cardinality(line_amounts)
         AND cardinality(line_ytd_amounts) = cardinality(line_amounts)
         AND array_position(line_subject_wages || line_taxable_wages || line_amounts || line_ytd_amounts, NULL) IS NULL
    END);
"""

# With its reader's eyes: it shows what the policies of `paychecks` show. What a statement does not read costs it
# nothing, which is not so where all arrays are unnested together.
VIEW: Final = """
CREATE VIEW paycheck_lines WITH (security_invoker = true) AS
    SELECT c.organization_id, c.employer_id, c.sandbox, c.id AS paycheck_id, c.employee_id, c.tax_year,
           CAST(l.number - 1 AS smallint) AS position, l.code, s.names[l.number] AS name, s.payers[l.number] AS payer,
           s.agencies[l.number] AS agency, s.categories[l.number] AS category,
           c.line_subject_wages[l.number] AS subject_wages, c.line_taxable_wages[l.number] AS taxable_wages,
           c.line_rates[l.number] AS rate, c.line_amounts[l.number] AS amount,
           c.line_ytd_amounts[l.number] AS ytd_amount
      FROM paychecks c JOIN line_sets s ON s.id = c.line_set_id
     CROSS JOIN LATERAL unnest(s.codes) WITH ORDINALITY AS l (code, number);
COMMENT ON VIEW paycheck_lines IS 'The tax lines of paychecks, one in a row';
GRANT SELECT ON paycheck_lines TO hearthpay_service, hearthpay_worker;
"""

# A program of the version before still writes lines one in a row: those of one statement become arrays at its end.
UNPACKED: Final = """
CREATE TABLE unpacked_lines (
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    paycheck_id uuid NOT NULL,
    employee_id uuid NOT NULL,
    tax_year smallint NOT NULL,
    position smallint NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    payer text NOT NULL,
    agency text NOT NULL,
    category text NOT NULL,
    subject_wages bigint NOT NULL,
    taxable_wages bigint NOT NULL,
    rate numeric,
    amount bigint NOT NULL,
    ytd_amount bigint NOT NULL,
    written_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (paycheck_id, position),
    FOREIGN KEY (paycheck_id, employee_id, employer_id, organization_id, sandbox)
        REFERENCES paychecks (id, employee_id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
COMMENT ON TABLE unpacked_lines IS
    'Lines that a program of the version before writes, until the end of its statement: empty at all other times';
COMMENT ON COLUMN unpacked_lines.written_in IS 'The transaction: it packs its own lines only';
GRANT SELECT, INSERT ON unpacked_lines TO hearthpay_service, hearthpay_worker;
GRANT INSERT ON paycheck_lines TO hearthpay_service, hearthpay_worker;

CREATE FUNCTION take_line() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
        INSERT INTO public.unpacked_lines VALUES (
            NEW.organization_id, NEW.employer_id, NEW.sandbox, NEW.paycheck_id, NEW.employee_id, NEW.tax_year,
            NEW.position, NEW.code, NEW.name, NEW.payer, NEW.agency, NEW.category, NEW.subject_wages, NEW.taxable_wages,
            NEW.rate, NEW.amount, NEW.ytd_amount);
        RETURN NEW;
    END
$$;
CREATE TRIGGER take_line INSTEAD OF INSERT ON paycheck_lines FOR EACH ROW EXECUTE FUNCTION take_line();

CREATE FUNCTION pack_lines() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            written bigint;
            packed bigint;
        BEGIN
            SELECT count(DISTINCT u.paycheck_id) INTO written
              FROM public.unpacked_lines u WHERE u.written_in = pg_current_xact_id();
            WITH taken AS (
                DELETE FROM public.unpacked_lines u WHERE u.written_in = pg_current_xact_id() RETURNING u.*
            ), lines AS MATERIALIZED (
                SELECT t.paycheck_id, array_agg(t.code) AS codes, array_agg(t.name) AS names,
                       array_agg(t.payer) AS payers, array_agg(t.agency) AS agencies,
                       array_agg(t.category) AS categories, array_agg(t.subject_wages) AS subject_wages,
                       array_agg(t.taxable_wages) AS taxable_wages, array_agg(t.rate) AS rates,
                       array_agg(t.amount) AS amounts, array_agg(t.ytd_amount) AS ytd_amounts
                  FROM (SELECT * FROM taken ORDER BY paycheck_id, position) t GROUP BY t.paycheck_id
            ), sets AS (
                INSERT INTO public.line_sets
                SELECT public.line_set_id(s.codes, s.names, s.payers, s.agencies, s.categories), s.*
                  FROM (SELECT DISTINCT l.codes, l.names, l.payers, l.agencies, l.categories FROM lines l) s
                 ORDER BY 1 ON CONFLICT DO NOTHING
            )
            UPDATE public.paychecks c
               SET line_set_id = public.line_set_id(l.codes, l.names, l.payers, l.agencies, l.categories),
                   line_subject_wages = l.subject_wages, line_taxable_wages = l.taxable_wages, line_rates = l.rates,
                   line_amounts = l.amounts, line_ytd_amounts = l.ytd_amounts
              FROM lines l WHERE c.id = l.paycheck_id AND c.line_set_id IS NULL;
            GET DIAGNOSTICS packed = ROW_COUNT;
            IF packed <> written THEN
                RAISE EXCEPTION 'the lines of a paycheck are written once' USING ERRCODE = 'check_violation';
            END IF;
            RETURN NULL;
        END
    $$;
REVOKE ALL ON FUNCTION pack_lines() FROM PUBLIC;
CREATE TRIGGER pack_lines AFTER INSERT ON paycheck_lines FOR EACH STATEMENT EXECUTE FUNCTION pack_lines();
"""

# As of the table of lines before.
POLICIES: Final = f"""
CREATE POLICY own_record ON unpacked_lines AS RESTRICTIVE TO hearthpay_service
    USING ((SELECT current_person()) IS NULL OR EXISTS (SELECT FROM paychecks c WHERE c.id = paycheck_id)
           OR {ACTS_AS_OWNER});
CREATE POLICY of_its_clock ON unpacked_lines AS RESTRICTIVE TO hearthpay_worker USING (
    CASE WHEN (SELECT coalesce(current_setting('hearthpay.clock_of', true), '') = '')
         THEN NOT sandbox OR employer_id NOT IN (SELECT c.employer_id FROM public.household_clocks c)
         ELSE employer_id = (SELECT nullif(current_setting('hearthpay.clock_of', true), '')::uuid) END
    OR {ACTS_AS_OWNER});
"""

# As before, without the lines.
CLEAR: Final = """
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
    """Pack the lines that there are, and let programs of the version before read and write them as before."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (SETS, ARRAYS, PACKING, VIEW, UNPACKED):
            cursor.execute(statements)
        cursor.execute(guard_of_household("unpacked_lines"))
        cursor.execute(POLICIES)
        cursor.execute(CLEAR)
    finally:
        cursor.close()
