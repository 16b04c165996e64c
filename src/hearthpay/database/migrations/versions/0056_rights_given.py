"""Rights given: a person's events are chained, mails are registered, and each right is noted as it stands.

From here on the event that gives a right says what it gave, so that the doctor can hold the one against the other. Of
what was given before, only the upgrade itself can speak: it notes each such right once, and says that it did.
"""

from __future__ import annotations

from typing import Final

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_worker

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

# Nobody waits for anybody: two events at once name the same one before. Whatever is deleted but the last is missed.
CHAIN: Final = """
ALTER TABLE person_events ADD COLUMN before uuid, ADD COLUMN digest bytea CHECK (octet_length(digest) = 32);
COMMENT ON COLUMN person_events.before IS 'The person''s event before this one, as far as known; null: the first';
COMMENT ON COLUMN person_events.digest IS 'SHA-256 of what the row says';

CREATE FUNCTION person_event_digest(entry person_events) RETURNS bytea
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT sha256(convert_to(jsonb_build_array(entry.id, entry.person_id, entry.action, entry.address,
            entry.request_id, entry.details, (extract(epoch FROM entry.at) * 1000000)::bigint, entry.before)::text,
            'UTF8'))
    $$;
CREATE FUNCTION chain_person_event() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            NEW.before := (SELECT e.id FROM public.person_events e WHERE e.person_id = NEW.person_id
                            ORDER BY e.id DESC LIMIT 1);
            NEW.digest := public.person_event_digest(NEW);
            RETURN NEW;
        END
    $$;
REVOKE ALL ON FUNCTION person_event_digest(person_events) FROM PUBLIC;
REVOKE ALL ON FUNCTION chain_person_event() FROM PUBLIC;

UPDATE person_events e SET before = b.before
  FROM (SELECT id, lag(id) OVER (PARTITION BY person_id ORDER BY id) AS before FROM person_events) b
 WHERE b.id = e.id;
UPDATE person_events e SET digest = person_event_digest(e);
"""

# What comes with a digest is what a backup kept.
TRIGGER: Final = """
ALTER TABLE person_events ALTER COLUMN digest SET NOT NULL;
CREATE TRIGGER chained BEFORE INSERT ON person_events
    FOR EACH ROW WHEN (NEW.digest IS NULL) EXECUTE FUNCTION chain_person_event();
"""

# What a sandbox household is emptied of goes from the outbox, and from here with it.
MAILS: Final = """
CREATE TABLE mail_register (
    mail_id uuid PRIMARY KEY,
    kind text NOT NULL CHECK (kind <> ''),
    queued_at timestamptz NOT NULL,
    employer_id uuid REFERENCES employers ON DELETE CASCADE,
    employee_id uuid REFERENCES employees ON DELETE CASCADE,
    payroll_id uuid REFERENCES payrolls ON DELETE CASCADE
);
CREATE INDEX mail_register_employer_id_idx ON mail_register (employer_id) WHERE employer_id IS NOT NULL;
CREATE INDEX mail_register_employee_id_idx ON mail_register (employee_id) WHERE employee_id IS NOT NULL;
CREATE INDEX mail_register_payroll_id_idx ON mail_register (payroll_id) WHERE payroll_id IS NOT NULL;
COMMENT ON TABLE mail_register IS 'Every mail that was put into the outbox, so that one that is gone is missed';

CREATE FUNCTION register_mail() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            INSERT INTO public.mail_register (mail_id, kind, queued_at, employer_id, employee_id, payroll_id)
            VALUES (NEW.id, NEW.kind, NEW.created_at, NEW.employer_id, NEW.employee_id, NEW.payroll_id)
                ON CONFLICT DO NOTHING;
            RETURN NULL;
        END
    $$;
REVOKE ALL ON FUNCTION register_mail() FROM PUBLIC;
"""

REGISTERED: Final = """
CREATE TRIGGER registered AFTER INSERT ON mail_outbox
    FOR EACH ROW EXECUTE FUNCTION register_mail();
INSERT INTO mail_register (mail_id, kind, queued_at, employer_id, employee_id, payroll_id)
SELECT id, kind, created_at, employer_id, employee_id, payroll_id FROM mail_outbox;
"""

_OF_PEOPLE: Final = """
INSERT INTO person_events (id, person_id, action, details)
SELECT new_id(), p.id, 'rights.as_of_upgrade',
       jsonb_build_object('operator', p.operator_since IS NOT NULL) FROM people p ORDER BY p.id
"""
_WAYS_IN: Final = """
INSERT INTO person_events (id, person_id, action, details)
SELECT new_id(), c.person_id, 'rights.as_of_upgrade',
       jsonb_build_object('credential', c.id, 'kind', c.kind, 'digest', encode(sha256(
           convert_to(coalesce(c.password_hash, ''), 'UTF8') || coalesce(c.passkey_id, '') || coalesce(c.public_key, '')
       ), 'hex'))
  FROM credentials c
 WHERE c.ended_at IS NULL AND (c.kind IN ('password', 'passkey') OR c.kind = 'totp' AND c.confirmed_at IS NOT NULL)
 ORDER BY c.id
"""
_SESSIONS: Final = """
INSERT INTO person_events (id, person_id, action, details)
SELECT new_id(), s.person_id, 'rights.as_of_upgrade',
       jsonb_build_object('session', encode(sha256(s.token_hash), 'hex')) FROM person_sessions s ORDER BY s.id
"""


def _noted(household: str, sandbox: str, subject: str, details: str, source: str) -> str:
    """Return the statement that leaves one row in the audit log for each row of the source `r`."""
    return f"""
        INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, action, subject_id, details)
        SELECT new_id(), r.organization_id, {household}, {sandbox}, 'system', 'rights.as_of_upgrade', {subject},
               jsonb_build_object({details}) FROM {source} ORDER BY r.id
    """


_MEMBERS: Final = _noted(
    "NULL",
    "NULL",
    "r.person_id",
    "'right', 'member', 'role', r.role",
    """memberships r WHERE r.ended_at IS NULL AND NOT EXISTS (
           SELECT FROM audit_log a WHERE a.organization_id = r.organization_id
              AND (a.action IN ('member.join', 'member.change_role') AND a.subject_id = r.person_id
                   OR a.action = 'organization.create' AND a.actor_id = r.person_id))""",
)
_LINKS: Final = _noted(
    "r.employer_id",
    "r.sandbox",
    "r.employee_id",
    "'right', 'employee', 'person_id', r.person_id",
    """employee_links r WHERE r.ended_at IS NULL AND NOT EXISTS (
           SELECT FROM audit_log a WHERE a.organization_id = r.organization_id AND a.action = 'employee.link'
              AND a.subject_id = r.employee_id)""",
)
_KEYS: Final = _noted(
    "NULL",
    "NULL",
    "r.id",
    "'right', 'key', 'mode', r.mode, 'scopes', r.scopes, 'household', r.employer_id, 'confined', r.confined, "
    "'expires_at', r.expires_at, 'digest', encode(sha256(r.key_hash), 'hex')",
    "api_keys r",
)
_AGENTS: Final = _noted(
    "r.employer_id",
    "r.sandbox",
    "r.id",
    "'right', 'agent', 'person_id', r.person_id, 'client_id', r.client_id, 'returns_to', r.returns_to, "
    "'tools', r.tools, 'demands_preview', r.demands_preview, 'expires_at', r.expires_at",
    "agent_grants r",
)
_DEBITS: Final = _noted(
    "r.employer_id",
    "r.sandbox",
    "r.id",
    "'right', 'debits', 'bank_account_id', r.bank_account_id, 'text_version', r.text_version, "
    "'authorized_at', r.authorized_at, 'expires_at', r.expires_at",
    "ach_authorizations r",
)
_STANDING_DEBITS: Final = _noted(
    "r.employer_id",
    "r.sandbox",
    "r.id",
    "'right', 'standing_debits', 'enrollment_id', r.enrollment_id, 'bank_account_id', r.bank_account_id, "
    "'text_version', r.text_version, 'text_sha256', encode(sha256(convert_to(r.agreed_text, 'UTF8')), 'hex'), "
    "'authorized_at', r.authorized_at",
    "autopilot_authorizations r",
)
_PAPERS: Final = _noted(
    "r.employer_id",
    "r.sandbox",
    "r.id",
    "'right', 'paper', 'kind', r.kind, 'tax_year', r.tax_year, 'variant', r.variant, 'version', r.version, "
    "'about', r.subject_id, 'employee_id', r.employee_id, 'payroll_id', r.payroll_id, "
    "'content_sha256', encode(r.content_hash, 'hex')",
    "documents r",
)
_ENROLLED: Final = _noted(
    "r.employer_id",
    "r.sandbox",
    "r.enrollment_id",
    "'right', 'enrolled', 'version', r.number, 'expected_net', r.expected_net, 'from_period', r.from_period, "
    "'standard_hours', r.standard_hours, 'frequency', r.frequency",
    "autopilot_versions r",
)

RIGHTS: Final = (
    _OF_PEOPLE,
    _WAYS_IN,
    _SESSIONS,
    _MEMBERS,
    _LINKS,
    _KEYS,
    _AGENTS,
    _DEBITS,
    _STANDING_DEBITS,
    _ENROLLED,
    _PAPERS,
)
"""What notes the rights that stand at the upgrade: of people in their events, of an organization in its audit log."""


def upgrade() -> None:
    """Chain what happened to people so far, register the mails, and note what no event tells of in full."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        cursor.execute(CHAIN)
        for statement in (TRIGGER, MAILS, guard_of_worker("mail_register"), REGISTERED, *RIGHTS):
            cursor.execute(statement)
    finally:
        cursor.close()
