"""Notices: who does without which, when a household was reminded of its duties, what bounced, and who operates."""

from __future__ import annotations

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

# Whoever runs the installation makes an operator, at the command line or by the first owner's link; the service's role
# can neither make one nor be one.
PEOPLE = """
ALTER TABLE people
    ADD COLUMN muted_notices text[] NOT NULL DEFAULT '{}'
        CHECK (muted_notices <@ ARRAY['payday', 'duties', 'documents']),
    ADD COLUMN operator_since timestamptz;
COMMENT ON COLUMN people.muted_notices IS 'What the person wants no mail about';
COMMENT ON COLUMN people.operator_since IS 'Set: may see what concerns the installation as a whole';
GRANT UPDATE (muted_notices) ON people TO hearthpay_service;
CREATE POLICY no_operator ON people AS RESTRICTIVE FOR INSERT TO hearthpay_service
    WITH CHECK (operator_since IS NULL);

CREATE FUNCTION operates() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT EXISTS (SELECT FROM public.people p
                        WHERE p.id = public.current_person() AND p.operator_since IS NOT NULL)
    $$;
COMMENT ON FUNCTION operates IS 'Whether the person of this transaction is an operator';

CREATE FUNCTION become_first_operator(token_hash bytea, at timestamptz) RETURNS boolean
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            UPDATE public.people p SET operator_since = at
             WHERE p.id = public.current_person()
               AND NOT EXISTS (SELECT FROM public.people other WHERE other.operator_since IS NOT NULL)
               AND EXISTS (SELECT FROM public.one_time_tokens t WHERE t.kind = 'first_owner' AND t.used_at = at
                                   AND t.token_hash = become_first_operator.token_hash);
            RETURN FOUND;
        END
    $$;
COMMENT ON FUNCTION become_first_operator IS 'Makes who uses the first owner''s link the operator, at the moment of it';
"""

# A household is looked at again on the day that something is to be told, and a week later at the latest.
EMPLOYERS = """
ALTER TABLE employers
    ADD COLUMN duties_seen_on date,
    ADD COLUMN duties_look_on date;
CREATE INDEX employers_duties_look_on_idx ON employers (duties_look_on NULLS FIRST, id) WHERE NOT sandbox;
COMMENT ON COLUMN employers.duties_seen_on IS 'Up to this day, what is due was looked at for reminders';
COMMENT ON COLUMN employers.duties_look_on IS 'When to look again; null: at once';
GRANT UPDATE (duties_seen_on, duties_look_on) ON employers TO hearthpay_worker;
CREATE INDEX payrolls_payday_idx ON payrolls (pay_date) WHERE status = 'completed' AND NOT sandbox;
CREATE INDEX documents_for_employee_idx ON documents (created_at) WHERE kind IN ('w2', 'w2c') AND NOT sandbox;
"""

WORKER = """
GRANT SELECT (id, email, language, muted_notices) ON people TO hearthpay_worker;
GRANT SELECT (organization_id, person_id, role, ended_at) ON memberships TO hearthpay_worker;
GRANT SELECT ON duty_marks, filing_choices, closed_accounts TO hearthpay_worker;
GRANT SELECT (id, organization_id, employer_id, sandbox, kind, employee_id, tax_year, version, created_at)
    ON documents TO hearthpay_worker;
CREATE POLICY worker ON people FOR SELECT TO hearthpay_worker USING (true);
CREATE POLICY worker ON memberships FOR SELECT TO hearthpay_worker USING (true);
"""

# An address is known by its hash in every mail, so that one which takes nothing is found. Mail to persons is counted
# by it as before, and by nothing else.
OUTBOX = """
ALTER TABLE mail_outbox
    DROP CONSTRAINT mail_outbox_of_person,
    ADD CONSTRAINT mail_outbox_of_person CHECK (recipient <> 'person' OR address_hash IS NOT NULL);
COMMENT ON COLUMN mail_outbox.address_hash IS 'The SHA-256 of the address, to count by, and to find what bounced';
CREATE INDEX mail_outbox_not_sent_idx ON mail_outbox (finished_at)
    WHERE status = 'failed' OR reason = 'kept_in_folder';

CREATE OR REPLACE FUNCTION queue_person_mail(mail uuid, kind text, address_hash bytea, content bytea, nonce bytea,
                                             key_id text, at timestamptz, expires_at timestamptz, a_day integer)
    RETURNS boolean
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            room boolean;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('hearthpay mail to ' || encode(address_hash, 'hex'), 0));
            room := (SELECT count(*) FROM public.mail_outbox m
                      WHERE m.address_hash = queue_person_mail.address_hash AND m.recipient = 'person'
                        AND m.status <> 'failed' AND m.created_at > at - interval '24 hours') < a_day;
            INSERT INTO public.mail_outbox (id, sandbox, recipient, address_hash, kind, status, reason, content, nonce,
                                            key_id, created_at, expires_at, due_at, finished_at)
            VALUES (mail, false, 'person', queue_person_mail.address_hash, queue_person_mail.kind,
                    CASE WHEN room THEN 'queued' ELSE 'failed' END,
                    CASE WHEN room THEN NULL ELSE 'daily_limit_of_person' END,
                    CASE WHEN room THEN queue_person_mail.content END,
                    CASE WHEN room THEN queue_person_mail.nonce END,
                    CASE WHEN room THEN queue_person_mail.key_id END,
                    at, queue_person_mail.expires_at, at, CASE WHEN room THEN NULL ELSE at END);
            RETURN room;
        END
    $$;

CREATE FUNCTION leave_person_mail_to_folder(mail uuid) RETURNS void
    LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        UPDATE public.mail_outbox m SET reason = 'no_mail_server'
         WHERE m.id = mail AND m.recipient = 'person' AND m.status = 'queued' AND m.attempts = 0
    $$;

CREATE FUNCTION bounced_addresses(hashes bytea[]) RETURNS TABLE (address_hash bytea, bounced_at timestamptz)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT latest.address_hash, latest.finished_at
          FROM (SELECT DISTINCT ON (m.address_hash) m.address_hash, m.status, m.finished_at
                  FROM public.mail_outbox m
                 WHERE m.address_hash = ANY(hashes)
                   AND (m.status = 'sent' OR (m.status = 'failed' AND m.reason = 'recipient_refused'))
                 ORDER BY m.address_hash, m.finished_at DESC) latest
         WHERE latest.status = 'failed'
    $$;
COMMENT ON FUNCTION bounced_addresses IS 'Of these addresses, those that refused the last mail that was sent there';

CREATE FUNCTION mails_not_sent(since timestamptz, most integer)
    RETURNS TABLE (mail_id uuid, organization text, kind text, recipient text, status text, reason text,
                   created_at timestamptz, finished_at timestamptz)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT m.id, o.name, m.kind, m.recipient, m.status, m.reason, m.created_at, m.finished_at
          FROM public.mail_outbox m LEFT JOIN public.organizations o ON o.id = m.organization_id
         WHERE public.operates() AND (m.status = 'failed' OR m.reason = 'kept_in_folder') AND m.finished_at >= since
         ORDER BY m.finished_at DESC, m.id DESC LIMIT most
    $$;
COMMENT ON FUNCTION mails_not_sent IS 'For an operator alone: mail that bounced, was given up, or is in the folder';
"""

_FUNCTIONS = (
    "operates()",
    "become_first_operator(bytea, timestamptz)",
    "leave_person_mail_to_folder(uuid)",
    "bounced_addresses(bytea[])",
    "mails_not_sent(timestamptz, integer)",
)


def upgrade() -> None:
    """Add the columns, the functions and what the worker may read."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (PEOPLE, EMPLOYERS, WORKER, OUTBOX):
            cursor.execute(statements)
        for function in _FUNCTIONS:
            cursor.execute(
                f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC; "
                f"GRANT EXECUTE ON FUNCTION {function} TO hearthpay_service"
            )
    finally:
        cursor.close()
