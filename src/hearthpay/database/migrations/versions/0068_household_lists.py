"""Lists of many households: found by name, in order of names, and by their next payday, each by an index; and
indexes that other statements lacked.

Under row security only a leakproof condition reads an index. LIKE is none, nor is lower(); comparing text is. So names
are kept as they are compared: sort keys of a household as generated columns, and the words to search for as rows,
which triggers keep. Adding the columns writes the table of households anew.
"""

from __future__ import annotations

from typing import Final

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_household

revision = "0068"
down_revision = "0066"
branch_labels = None
depends_on = None

FOLDING: Final = """
CREATE FUNCTION fold_name(name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN translate(lower(name), 'ÁÀÂÄÃÅÉÈÊËÍÌÎÏÓÒÔÖÕÚÙÛÜÑÇáàâäãåéèêëíìîïóòôöõúùûüñç''’`.',
                                  'aaaaaaeeeeiiiiooooouuuuncaaaaaaeeeeiiiiooooouuuunc');
COMMENT ON FUNCTION fold_name IS 'A name as it is compared: small letters without accents, apostrophes and periods';
GRANT EXECUTE ON FUNCTION fold_name(text) TO hearthpay_service;
"""

ORDER: Final = """
ALTER TABLE employers
    ADD COLUMN last_name_key text COLLATE "C" GENERATED ALWAYS AS (fold_name(last_name)) STORED,
    ADD COLUMN first_name_key text COLLATE "C" GENERATED ALWAYS AS (fold_name(first_name)) STORED;
COMMENT ON COLUMN employers.last_name_key IS 'The last name as lists of households are sorted by it';
CREATE INDEX employers_names_idx ON employers (organization_id, sandbox, last_name_key, first_name_key, id);
CREATE INDEX payrolls_upcoming_idx ON payrolls (employer_id, pay_date, id)
    WHERE status IN ('scheduled', 'firing', 'pending_funding', 'processing');
CREATE INDEX autopilot_enrollments_of_day_idx ON autopilot_enrollments (organization_id, sandbox, next_pay_date, id)
    WHERE status = 'active';
"""

# What the plans of statements lacked: each read a table whole, for one household or for each round of the worker.
BY_INDEX: Final = """
CREATE INDEX ach_authorizations_bank_account_id_idx ON ach_authorizations (bank_account_id);
CREATE INDEX bank_accounts_verifying_idx ON bank_accounts (id) WHERE status = 'verifying';
CREATE INDEX bank_entries_open_idx ON bank_entries (employer_id) WHERE status IN ('pending', 'sent');
CREATE INDEX employee_links_employee_id_idx ON employee_links (employee_id);
CREATE INDEX security_alerts_told_idx ON security_alerts (organization_id, told_at) WHERE told_at IS NOT NULL;
CREATE INDEX year_balances_employer_id_idx ON year_balances (employer_id, tax_year);
"""

WORDS: Final = """
CREATE TABLE household_words (
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    owner_id uuid NOT NULL,
    word text COLLATE "C" NOT NULL CHECK (length(word) BETWEEN 1 AND 100),
    PRIMARY KEY (employer_id, owner_id, word),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX household_words_word_idx ON household_words (organization_id, sandbox, word, employer_id);
COMMENT ON TABLE household_words IS 'The words that a household is found by; kept by triggers';
COMMENT ON COLUMN household_words.owner_id IS 'Whose name it is: the household itself, or one of its employees';
GRANT SELECT ON household_words TO hearthpay_service;

CREATE FUNCTION words_of_names(VARIADIC names text[]) RETURNS SETOF text LANGUAGE sql IMMUTABLE
    BEGIN ATOMIC
        SELECT DISTINCT w.word FROM unnest(names) AS n(name)
          CROSS JOIN regexp_split_to_table(public.fold_name(n.name), '[[:space:][:punct:]]+') AS w(word)
         WHERE w.word <> '' AND length(w.word) <= 100;
    END;
COMMENT ON FUNCTION words_of_names IS 'The words of names as a search compares them';

CREATE FUNCTION keep_household_words() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            household uuid;
            names text[];
        BEGIN
            IF TG_OP = 'UPDATE' AND (NEW.first_name, NEW.last_name, to_jsonb(NEW) ->> 'state')
                                    IS NOT DISTINCT FROM (OLD.first_name, OLD.last_name, to_jsonb(OLD) ->> 'state') THEN
                RETURN NULL;
            END IF;
            IF TG_OP <> 'INSERT' THEN
                DELETE FROM public.household_words w WHERE w.owner_id = OLD.id
                   AND w.employer_id = CASE TG_TABLE_NAME WHEN 'employers' THEN OLD.id
                                       ELSE (to_jsonb(OLD) ->> 'employer_id')::uuid END;
            END IF;
            IF TG_OP = 'DELETE' THEN
                RETURN NULL;
            END IF;
            IF TG_TABLE_NAME = 'employers' THEN
                household := NEW.id;
                names := ARRAY[NEW.first_name, NEW.last_name, (to_jsonb(NEW) ->> 'state')];
            ELSE
                household := (to_jsonb(NEW) ->> 'employer_id')::uuid;
                names := ARRAY[NEW.first_name, NEW.last_name];
            END IF;
            INSERT INTO public.household_words (organization_id, employer_id, sandbox, owner_id, word)
                SELECT NEW.organization_id, household, NEW.sandbox, NEW.id, w
                  FROM public.words_of_names(VARIADIC names) AS w;
            RETURN NULL;
        END
    $$;
REVOKE ALL ON FUNCTION keep_household_words() FROM PUBLIC;
CREATE TRIGGER keep_words AFTER INSERT OR UPDATE OF first_name, last_name, state ON employers
    FOR EACH ROW EXECUTE FUNCTION keep_household_words();
CREATE TRIGGER keep_words AFTER INSERT OR UPDATE OF first_name, last_name OR DELETE ON employees
    FOR EACH ROW EXECUTE FUNCTION keep_household_words();
"""

FILL: Final = """
INSERT INTO household_words (organization_id, employer_id, sandbox, owner_id, word)
    SELECT e.organization_id, e.id, e.sandbox, e.id, w.word
      FROM employers e CROSS JOIN words_of_names(e.first_name, e.last_name, e.state::text) AS w(word);
INSERT INTO household_words (organization_id, employer_id, sandbox, owner_id, word)
    SELECT e.organization_id, e.employer_id, e.sandbox, e.id, w.word
      FROM employees e CROSS JOIN words_of_names(e.first_name, e.last_name) AS w(word);
"""


def upgrade() -> None:
    """Add the sort keys, the words and the triggers that keep them, and the indexes."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (FOLDING, ORDER, BY_INDEX, WORDS, guard_of_household("household_words"), FILL):
            cursor.execute(statements)
    finally:
        cursor.close()
