"""What is delicate is told, also at the old address, can be taken back, and stands still for a day after an alarm."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_household, guard_of_worker

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

# Whoever changes where warnings go must not be the only one who is warned: for a while they go to the old address too.
ADDRESSES = """
CREATE TABLE former_addresses (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid,
    address text NOT NULL CHECK (length(address) BETWEEN 3 AND 254),
    changed_at timestamptz NOT NULL,
    told_until timestamptz NOT NULL CHECK (told_until > changed_at),
    taken_back_at timestamptz,
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE,
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX former_addresses_household_idx ON former_addresses (employer_id, employee_id);
CREATE INDEX former_addresses_told_until_idx ON former_addresses (told_until);
COMMENT ON TABLE former_addresses IS 'Addresses that households and employees had: warnings still go there for a while';
COMMENT ON COLUMN former_addresses.employee_id IS 'Null: it was the household''s own address';
GRANT SELECT, INSERT, UPDATE (taken_back_at) ON former_addresses TO hearthpay_service;
GRANT SELECT, DELETE ON former_addresses TO hearthpay_worker;

CREATE TABLE former_person_addresses (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL REFERENCES people,
    address text NOT NULL CHECK (length(address) BETWEEN 3 AND 254),
    changed_at timestamptz NOT NULL,
    told_until timestamptz NOT NULL CHECK (told_until > changed_at),
    taken_back_at timestamptz
);
CREATE INDEX former_person_addresses_person_id_idx ON former_person_addresses (person_id);
COMMENT ON TABLE former_person_addresses IS 'Addresses that accounts had: warnings still go there for a while';
GRANT SELECT, INSERT, UPDATE (taken_back_at) ON former_person_addresses TO hearthpay_service;
GRANT SELECT, DELETE ON former_person_addresses TO hearthpay_worker;
CREATE INDEX former_person_addresses_told_until_idx ON former_person_addresses (told_until);
ALTER TABLE former_person_addresses ENABLE ROW LEVEL SECURITY;
ALTER TABLE former_person_addresses FORCE ROW LEVEL SECURITY;
CREATE POLICY operator ON former_person_addresses TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY tenant ON former_person_addresses TO hearthpay_service
    USING (person_id = (SELECT current_person())) WITH CHECK (person_id = (SELECT current_person()));
CREATE POLICY worker ON former_person_addresses TO hearthpay_worker USING (true) WITH CHECK (true);
"""

# A row is written with the audit row itself, whoever acts and by whatever door; the worker tells of it.
ALERTS = """
CREATE TABLE security_alerts (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    told_at timestamptz
);
CREATE INDEX security_alerts_waiting_idx ON security_alerts (organization_id, id) WHERE told_at IS NULL;
COMMENT ON COLUMN security_alerts.id IS 'That of the act in the audit log';
COMMENT ON TABLE security_alerts IS 'Delicate acts of the audit log: when their household or person was told of them';
GRANT SELECT, UPDATE (told_at) ON security_alerts TO hearthpay_worker;
GRANT SELECT (name) ON people TO hearthpay_worker;
GRANT SELECT ON employee_links TO hearthpay_worker;

CREATE FUNCTION leave_security_alert(act uuid) RETURNS void
    LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        INSERT INTO public.security_alerts (id, organization_id)
        SELECT a.id, a.organization_id FROM public.audit_log a WHERE a.id = act AND a.sandbox IS NOT TRUE
        ON CONFLICT DO NOTHING
    $$;
COMMENT ON FUNCTION leave_security_alert IS 'Has the worker tell of an act of the audit log; never of a sandbox''s';
REVOKE ALL ON FUNCTION leave_security_alert(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION leave_security_alert(uuid) TO hearthpay_service, hearthpay_worker;
"""

FREEZE = """
ALTER TABLE organizations ADD COLUMN frozen_until timestamptz;
COMMENT ON COLUMN organizations.frozen_until IS 'Until then nothing new is let in, and no money account changes';
ALTER TABLE people ADD COLUMN frozen_until timestamptz, ADD COLUMN devices_since timestamptz;
COMMENT ON COLUMN people.frozen_until IS 'Until then no way in is added to the account, and its address stays';
COMMENT ON COLUMN people.devices_since IS 'Browsers that signed in before this are strangers again';
GRANT UPDATE (frozen_until, devices_since) ON people TO hearthpay_service;

CREATE FUNCTION freeze_organization(until timestamptz) RETURNS void
    LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        UPDATE public.organizations o SET frozen_until = greatest(o.frozen_until, until)
         WHERE o.id = (SELECT t.organization_id FROM public.current_tenant() t)
    $$;
COMMENT ON FUNCTION freeze_organization IS 'Lets nothing new into the tenant''s organization until then';
REVOKE ALL ON FUNCTION freeze_organization(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION freeze_organization(timestamptz) TO hearthpay_service;
"""

KEYS = """
ALTER TABLE api_keys ADD COLUMN made_by uuid REFERENCES people;
COMMENT ON COLUMN api_keys.made_by IS 'The member who made it; null: the operator, or before this was kept';
CREATE INDEX api_keys_made_by_idx ON api_keys (made_by) WHERE revoked_at IS NULL;
GRANT SELECT (made_by), INSERT (made_by) ON api_keys TO hearthpay_service;
UPDATE api_keys SET scopes = scopes || ARRAY['onboarding']
 WHERE scopes @> ARRAY['employees', 'ach'] AND NOT 'onboarding' = ANY(scopes);
"""

# Who changed an address a moment ago must not have the pay follow it: an owner has to agree.
BANK = """
ALTER TABLE account_changes
    ADD COLUMN needs_word boolean NOT NULL DEFAULT false,
    ADD COLUMN stopped_at timestamptz,
    ADD COLUMN word_given_at timestamptz,
    ADD COLUMN word_given_by uuid REFERENCES people,
    ADD CONSTRAINT account_changes_stopped CHECK (stopped_at IS NULL OR status = 'withdrawn'),
    ADD CONSTRAINT account_changes_word CHECK (num_nulls(word_given_at, word_given_by) IN (0, 2)),
    ADD CONSTRAINT account_changes_done_by_word
        CHECK (status <> 'done' OR NOT needs_word OR word_given_at IS NOT NULL);
COMMENT ON COLUMN account_changes.needs_word IS 'An address was changed shortly before: an owner has to agree';
COMMENT ON COLUMN account_changes.stopped_at IS 'By the link of the warning: for a day no other account is taken';
GRANT UPDATE (stopped_at, word_given_at, word_given_by) ON account_changes TO hearthpay_service;
"""

MEMBERS = """
ALTER TABLE memberships
    ADD COLUMN leaving_asked_at timestamptz,
    ADD COLUMN leaving_asked_by uuid REFERENCES people,
    ADD CONSTRAINT memberships_leaving CHECK (num_nulls(leaving_asked_at, leaving_asked_by) IN (0, 2));
COMMENT ON COLUMN memberships.leaving_asked_at IS 'Of an owner: when another one asked to remove him or make him less';
GRANT UPDATE (leaving_asked_at, leaving_asked_by) ON memberships TO hearthpay_service;
"""

# Numbers only: how much one mailbox, or one organization, has had of invitations is no other tenant's business.
MAIL = """
CREATE FUNCTION invitations_mailed(mailbox bytea, since timestamptz)
    RETURNS TABLE (to_mailbox bigint, mailboxes bigint)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT (SELECT count(*) FROM public.mail_outbox m
                 WHERE m.address_hash = mailbox AND m.kind LIKE 'invitation.%' AND m.created_at >= since
                   AND NOT m.sandbox AND m.status NOT IN ('failed', 'withdrawn')),
               (SELECT count(DISTINCT m.address_hash) FROM public.mail_outbox m
                 WHERE m.organization_id = (SELECT t.organization_id FROM public.current_tenant() t)
                   AND m.kind LIKE 'invitation.%' AND m.created_at >= since AND m.address_hash <> mailbox
                   AND NOT m.sandbox AND m.status NOT IN ('failed', 'withdrawn'))
    $$;
COMMENT ON FUNCTION invitations_mailed IS 'How many invitations one mailbox was sent since then, by all organizations, '
    'and how many other mailboxes the tenant''s organization has written to';
REVOKE ALL ON FUNCTION invitations_mailed(bytea, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION invitations_mailed(bytea, timestamptz) TO hearthpay_service;
"""


def upgrade() -> None:
    """Create the tables and their guards, add the columns, and give the scope to the keys that could do it before."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        for statements in (
            ADDRESSES,
            guard_of_household("former_addresses"),
            KEYS,
            ALERTS,
            guard_of_worker("security_alerts"),
            FREEZE,
            BANK,
            MEMBERS,
            MAIL,
        ):
            cursor.execute(statements)
    finally:
        cursor.close()
