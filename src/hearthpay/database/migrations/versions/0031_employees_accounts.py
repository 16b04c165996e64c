"""Accounts of employees: whose record is whose, what they signed and ask for, and where their pay shall go."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_household

revision = "0031"
down_revision = "0029"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE employee_links (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    person_id uuid NOT NULL REFERENCES people,
    invitation_id uuid NOT NULL UNIQUE REFERENCES invitations ON DELETE CASCADE,
    linked_at timestamptz NOT NULL,
    ended_at timestamptz,
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX employee_links_one_each_key ON employee_links (employee_id) WHERE ended_at IS NULL;
CREATE INDEX employee_links_person_id_idx ON employee_links (person_id) WHERE ended_at IS NULL;
CREATE INDEX employee_links_household_idx ON employee_links (employer_id);
COMMENT ON TABLE employee_links IS 'Which person an employee is: she sees that record, and no other of the household';

CREATE TABLE signed_certificates (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    jurisdiction char(2) NOT NULL,
    form text NOT NULL CHECK (form <> ''),
    law_year smallint NOT NULL,
    rulebook_version text NOT NULL,
    wording text NOT NULL,
    language text NOT NULL CHECK (language IN ('en', 'es')),
    asked jsonb NOT NULL CHECK (jsonb_typeof(asked) = 'array'),
    answered jsonb NOT NULL CHECK (jsonb_typeof(answered) = 'object'),
    entries jsonb NOT NULL CHECK (jsonb_typeof(entries) = 'object'),
    signed_name text NOT NULL CHECK (length(signed_name) BETWEEN 1 AND 100),
    signed_on date NOT NULL,
    signed_at timestamptz NOT NULL,
    person_id uuid REFERENCES people,
    invitation_id uuid REFERENCES invitations ON DELETE CASCADE,
    address text CHECK (length(address) <= 64),
    request_id text,
    ended_at timestamptz,
    CHECK (num_nonnulls(person_id, invitation_id) = 1),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX signed_certificates_in_force ON signed_certificates (employee_id, jurisdiction)
    WHERE ended_at IS NULL;
CREATE INDEX signed_certificates_household_idx ON signed_certificates (employer_id, employee_id);
COMMENT ON TABLE signed_certificates IS 'Withholding certificates as issued: what was asked, answered, signed';
COMMENT ON COLUMN signed_certificates.entries IS 'What the employee''s record says since, until `ended_at`';

CREATE TABLE account_changes (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    status text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'done', 'withdrawn')),
    account_type text NOT NULL CHECK (account_type IN ('checking', 'savings')),
    last_four text NOT NULL CHECK (last_four ~ '^[0-9]{2,4}$'),
    replaces uuid REFERENCES bank_accounts ON DELETE CASCADE,
    bank_account_id uuid UNIQUE REFERENCES bank_accounts ON DELETE CASCADE,
    numbers bytea,
    nonce bytea CHECK (octet_length(nonce) = 12),
    key_id text CHECK (length(key_id) BETWEEN 1 AND 32),
    asked_at timestamptz NOT NULL,
    effective_at timestamptz NOT NULL CHECK (effective_at > asked_at),
    ended_at timestamptz,
    CHECK ((status = 'waiting') = (ended_at IS NULL)),
    CHECK ((status = 'waiting') = (numbers IS NOT NULL)),
    CHECK (num_nulls(numbers, nonce, key_id) IN (0, 3)),
    CHECK ((status = 'done') = (bank_account_id IS NOT NULL)),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX account_changes_one_waiting_key ON account_changes (employee_id) WHERE status = 'waiting';
CREATE INDEX account_changes_due_idx ON account_changes (effective_at) WHERE status = 'waiting';
CREATE INDEX account_changes_household_idx ON account_changes (employer_id, employee_id);
CREATE INDEX account_changes_sealed_idx ON account_changes (key_id) WHERE key_id IS NOT NULL;
COMMENT ON TABLE account_changes IS 'Bank accounts that employees asked for, which wait a day';
COMMENT ON COLUMN account_changes.numbers IS 'Both numbers, encrypted; erased once they are in the vault';
CREATE TRIGGER current_key_only BEFORE INSERT OR UPDATE OF key_id, numbers ON account_changes
    FOR EACH ROW WHEN (NEW.key_id IS NOT NULL) EXECUTE FUNCTION refuse_replaced_key();

CREATE TABLE set_aside_requests (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'declined', 'withdrawn')),
    rate numeric CHECK (rate > 0 AND rate <= 1),
    amount bigint CHECK (amount BETWEEN 1 AND 999900),
    asked_at timestamptz NOT NULL,
    ended_at timestamptz CHECK ((ended_at IS NULL) = (status = 'pending')),
    decided_by uuid,
    CHECK (num_nonnulls(rate, amount) = 1),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX set_aside_requests_one_pending_key ON set_aside_requests (employee_id) WHERE status = 'pending';
CREATE INDEX set_aside_requests_household_idx ON set_aside_requests (employer_id, employee_id);
COMMENT ON TABLE set_aside_requests IS 'What employees ask to have set aside, until the household has decided';

GRANT SELECT, UPDATE (ended_at) ON employee_links TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (ended_at) ON signed_certificates TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (status, numbers, nonce, key_id, ended_at) ON account_changes TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (status, ended_at, decided_by) ON set_aside_requests TO hearthpay_service;
GRANT SELECT, UPDATE (status, numbers, nonce, key_id, ended_at, bank_account_id) ON account_changes
    TO hearthpay_worker;
GRANT INSERT ON bank_accounts TO hearthpay_worker;
"""

# A restored copy connects no real account before the operator has let it go on.
HELD = """
CREATE POLICY held_after_restore ON account_changes AS RESTRICTIVE TO hearthpay_worker
    USING (sandbox OR (SELECT NOT EXISTS (SELECT FROM public.restorations r WHERE r.resumed_at IS NULL)));
"""

# A link that brought an employee to a form may bring a person to her record, once. Whoever holds it is asked for it by
# the database itself: the service's role writes no such row.
LINKING = """
ALTER TABLE one_time_tokens
    DROP CONSTRAINT one_time_tokens_kind_check,
    ADD CONSTRAINT one_time_tokens_kind_check CHECK (
        kind IN ('sign_up', 'reset', 'new_email', 'first_owner', 'challenge', 'employee_account')),
    DROP CONSTRAINT one_time_tokens_check2,
    ADD CONSTRAINT one_time_tokens_with_email
        CHECK ((kind IN ('sign_up', 'reset', 'new_email', 'employee_account')) = (email IS NOT NULL)),
    ADD CONSTRAINT one_time_tokens_of_employee CHECK ((kind = 'employee_account') <= (person_id IS NULL));

CREATE FUNCTION link_employee(link uuid, token_hash bytea, at timestamptz)
    RETURNS TABLE (outcome text, employee_id uuid, organization_id uuid, employer_id uuid, sandbox boolean)
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            whose uuid := public.current_person();
            invited record;
            holder uuid;
        BEGIN
            IF whose IS NULL THEN
                RAISE EXCEPTION 'nobody is linked' USING ERRCODE = '42501';
            END IF;
            SELECT i.id, i.employee_id, i.organization_id, i.employer_id, i.sandbox INTO invited
              FROM public.invitations i
             WHERE i.token_hash = link_employee.token_hash AND i.status IN ('pending', 'completed')
               AND i.expires_at > at;
            IF NOT FOUND THEN
                RETURN;
            END IF;
            PERFORM FROM public.employees e WHERE e.id = invited.employee_id FOR NO KEY UPDATE;
            SELECT l.person_id INTO holder FROM public.employee_links l
             WHERE l.employee_id = invited.employee_id AND l.ended_at IS NULL;
            outcome := CASE WHEN holder = whose THEN 'kept' WHEN holder IS NOT NULL THEN 'taken'
                            WHEN EXISTS (SELECT FROM public.employee_links l WHERE l.invitation_id = invited.id)
                            THEN 'used' ELSE 'linked' END;
            IF outcome = 'linked' THEN
                INSERT INTO public.employee_links (id, organization_id, employer_id, sandbox, employee_id, person_id,
                                                   invitation_id, linked_at)
                VALUES (link, invited.organization_id, invited.employer_id, invited.sandbox, invited.employee_id, whose,
                        invited.id, at);
            END IF;
            employee_id := invited.employee_id;
            organization_id := invited.organization_id;
            employer_id := invited.employer_id;
            sandbox := invited.sandbox;
            RETURN NEXT;
        END
    $$;
COMMENT ON FUNCTION link_employee IS 'Links the person of this transaction to the employee whose invitation she holds: '
    'linked now, kept as it was, taken by somebody else, or used already; nothing where the invitation is over';

CREATE FUNCTION own_employees() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT l.employee_id FROM public.employee_links l
         WHERE l.person_id = public.current_person() AND l.ended_at IS NULL
    $$;
COMMENT ON FUNCTION own_employees IS 'The records of employees that the person of this transaction is';

CREATE FUNCTION own_employments()
    RETURNS TABLE (link_id uuid, employee_id uuid, organization_id uuid, employer_id uuid, sandbox boolean,
                   household text, first_name text, last_name text, status text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT l.id, l.employee_id, l.organization_id, l.employer_id, l.sandbox, h.first_name || ' ' || h.last_name,
               e.first_name, e.last_name, e.status
          FROM public.employee_links l
          JOIN public.employees e ON e.id = l.employee_id
          JOIN public.employers h ON h.id = l.employer_id
         WHERE l.person_id = public.current_person() AND l.ended_at IS NULL
         ORDER BY e.status, l.linked_at, l.id
    $$;
COMMENT ON FUNCTION own_employments IS 'The same with the households'' names, those that go on first';
"""

# Whatever changes what an employee's record says ends the certificate that it came from.
FOLLOWING = """
CREATE FUNCTION end_certificates() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            UPDATE public.signed_certificates c SET ended_at = NEW.updated_at
             WHERE c.employee_id = NEW.id AND c.ended_at IS NULL AND c.entries IS DISTINCT FROM
                   CASE c.jurisdiction WHEN 'US' THEN NEW.federal_withholding
                        WHEN NEW.work_state THEN NEW.state_withholding END;
            RETURN NULL;
        END
    $$;
CREATE TRIGGER certificates_follow AFTER UPDATE OF federal_withholding, state_withholding, work_state ON employees
    FOR EACH ROW EXECUTE FUNCTION end_certificates();
"""

_TABLES = ("employee_links", "signed_certificates", "account_changes", "set_aside_requests")
_FUNCTIONS = ("link_employee(uuid, bytea, timestamptz)", "own_employees()", "own_employments()")

# A transaction that is a household's and a person's at once is hers as an employee: of the household she sees her own
# record. The subselect about the person is evaluated once a statement, and without one nothing else is.
_CONFINED = """
CREATE POLICY own_record ON {table} AS RESTRICTIVE TO hearthpay_service
    USING ((SELECT current_person()) IS NULL OR {own});
"""
_OWN = "{column} IN (SELECT own_employees())"
_BY_EMPLOYEE = (
    "invitations",
    "payroll_entries",
    "paychecks",
    "escrow_accounts",
    "escrow_movements",
    "bank_accounts",
    "bank_entries",
    "documents",
    "prior_wages",
    "year_balances",
    "vault",
    "autopilot_enrollments",
    "autopilot_periods",
    "signed_certificates",
    "account_changes",
    "set_aside_requests",
)
_LINKS_GUARD = """
CREATE POLICY employed ON people FOR SELECT TO hearthpay_service
    USING (EXISTS (SELECT FROM employee_links l WHERE l.person_id = people.id AND l.ended_at IS NULL));
CREATE POLICY own ON employee_links FOR SELECT TO hearthpay_service
    USING (person_id = (SELECT current_person()));
CREATE POLICY own_record ON employee_links AS RESTRICTIVE TO hearthpay_service
    USING ((SELECT current_person()) IS NULL OR person_id = (SELECT current_person()));
"""


def upgrade() -> None:
    """Create the tables, the way of a person to her record, and what confines her to it."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        cursor.execute(TABLES)
        for table in _TABLES:
            cursor.execute(guard_of_household(table))
        for statements in (HELD, LINKING, FOLLOWING, _LINKS_GUARD):
            cursor.execute(statements)
        for function in _FUNCTIONS:
            cursor.execute(
                f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC; "
                f"GRANT EXECUTE ON FUNCTION {function} TO hearthpay_service"
            )
        cursor.execute("REVOKE ALL ON FUNCTION end_certificates() FROM PUBLIC")
        cursor.execute(_CONFINED.format(table="employees", own=_OWN.format(column="id")))
        for table in _BY_EMPLOYEE:
            cursor.execute(_CONFINED.format(table=table, own=_OWN.format(column="employee_id")))
        cursor.execute(
            _CONFINED.format(
                table="paycheck_lines",
                own="EXISTS (SELECT FROM paychecks c WHERE c.id = paycheck_id)",
            )
        )
        cursor.execute(
            _CONFINED.format(
                table="payrolls",
                own="EXISTS (SELECT FROM paychecks c WHERE c.payroll_id = payrolls.id)",
            )
        )
    finally:
        cursor.close()
