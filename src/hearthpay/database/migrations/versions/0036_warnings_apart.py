"""Warnings are counted apart from what anyone can cause; a link leads to an account of the address on record alone."""

from __future__ import annotations

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

# What one reader is sent is counted by its sort. Of one and the same subject the first few mails leave at once; of
# those after them the last waits, in the place of the one that waited: so nobody uses up a warning by repeating it.
# `queue_person_mail` stays for processes of the version before.
OUTBOX = """
ALTER TABLE mail_outbox
    ADD COLUMN counted_as text CHECK (counted_as <> ''),
    ADD COLUMN about bytea CHECK (octet_length(about) = 32),
    ADD CONSTRAINT mail_outbox_counted CHECK (num_nulls(counted_as, about) IN (0, 2));
COMMENT ON COLUMN mail_outbox.counted_as IS 'Of mail to a person: the sort of mail, which is counted by itself';
COMMENT ON COLUMN mail_outbox.about IS 'Of mail to a person: the SHA-256 of its subject, of which the last is told';

CREATE FUNCTION queue_counted_mail(mail uuid, kind text, address_hash bytea, content bytea, nonce bytea, key_id text,
                                   at timestamptz, expires_at timestamptz, counted_as text, about bytea,
                                   at_once integer, pause interval, a_day integer)
    RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            told integer;
            latest timestamptz;
            waited timestamptz;
            due timestamptz := at;
            room boolean;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('hearthpay mail to ' || encode(address_hash, 'hex'), 0));
            SELECT count(*), max(m.due_at) INTO told, latest FROM public.mail_outbox m
             WHERE m.address_hash = queue_counted_mail.address_hash AND m.recipient = 'person'
               AND m.counted_as = queue_counted_mail.counted_as AND m.about = queue_counted_mail.about
               AND m.status NOT IN ('failed', 'withdrawn') AND m.created_at > at - interval '24 hours';
            IF told >= at_once THEN
                -- It was made to wait, nobody has it in hand, and it is not due yet.
                WITH replaced AS (
                    UPDATE public.mail_outbox m
                       SET status = 'withdrawn', reason = 'replaced', finished_at = at, content = NULL, nonce = NULL,
                           key_id = NULL
                     WHERE m.address_hash = queue_counted_mail.address_hash AND m.recipient = 'person'
                       AND m.counted_as = queue_counted_mail.counted_as AND m.about = queue_counted_mail.about
                       AND m.status = 'queued' AND m.attempts = 0 AND m.due_at > m.created_at AND m.due_at > at
                    RETURNING m.due_at)
                SELECT min(r.due_at) INTO waited FROM replaced r;
                due := coalesce(waited, greatest(at, least(latest, at) + pause));
            END IF;
            room := a_day IS NULL OR waited IS NOT NULL
                    OR (SELECT count(*) FROM public.mail_outbox m
                         WHERE m.address_hash = queue_counted_mail.address_hash AND m.recipient = 'person'
                           AND m.counted_as = queue_counted_mail.counted_as
                           AND m.status NOT IN ('failed', 'withdrawn')
                           AND m.created_at > at - interval '24 hours') < a_day;
            INSERT INTO public.mail_outbox (id, sandbox, recipient, address_hash, kind, status, reason, content, nonce,
                                            key_id, created_at, expires_at, due_at, finished_at, counted_as, about)
            VALUES (mail, false, 'person', queue_counted_mail.address_hash, queue_counted_mail.kind,
                    CASE WHEN room THEN 'queued' ELSE 'failed' END,
                    CASE WHEN room THEN NULL ELSE 'daily_limit_of_person' END,
                    CASE WHEN room THEN queue_counted_mail.content END,
                    CASE WHEN room THEN queue_counted_mail.nonce END,
                    CASE WHEN room THEN queue_counted_mail.key_id END,
                    at, queue_counted_mail.expires_at, due, CASE WHEN room THEN NULL ELSE at END,
                    queue_counted_mail.counted_as, queue_counted_mail.about);
            RETURN room;
        END
    $$;
COMMENT ON FUNCTION queue_counted_mail IS 'Queues mail to a person: at once, or in the place of what waits; without '
    '`a_day` always, else false beyond it';
"""

# Who holds a forwarded link must not make of it an account under an address of his own: it would be told what the
# employee should be told. Of an address in other letters than ASCII, which no account has as it is written, what
# stands before the @ is compared here, and the host by the service, which writes it as the Internet does.
LINKING = """
CREATE OR REPLACE FUNCTION link_employee(link uuid, token_hash bytea, at timestamptz)
    RETURNS TABLE (outcome text, employee_id uuid, organization_id uuid, employer_id uuid, sandbox boolean)
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            whose uuid := public.current_person();
            invited record;
            holder uuid;
            on_record text;
            own text;
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
            -- The address on record is the one of now, and stays until the transaction ends; so does her own.
            SELECT lower(e.email) INTO on_record FROM public.employees e
             WHERE e.id = invited.employee_id FOR NO KEY UPDATE;
            SELECT p.email INTO own FROM public.people p WHERE p.id = whose FOR SHARE;
            SELECT l.person_id INTO holder FROM public.employee_links l
             WHERE l.employee_id = invited.employee_id AND l.ended_at IS NULL;
            outcome := CASE WHEN holder = whose THEN 'kept' WHEN holder IS NOT NULL THEN 'taken'
                            WHEN EXISTS (SELECT FROM public.employee_links l WHERE l.invitation_id = invited.id)
                            THEN 'used'
                            WHEN octet_length(on_record) = length(on_record) AND on_record IS DISTINCT FROM own
                            THEN 'elsewhere'
                            WHEN split_part(on_record, '@', 1) <> split_part(own, '@', 1) THEN 'elsewhere'
                            ELSE 'linked' END;
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
    'linked now, kept as it was, taken by somebody else, used already, or elsewhere, as the record has another address '
    'than hers; nothing where the invitation is over';
"""

_QUEUE = (
    "queue_counted_mail(uuid, text, bytea, bytea, bytea, text, timestamptz, timestamptz, text, bytea, integer, "
    "interval, integer)"
)


def upgrade() -> None:
    """Add the columns to count by and the function that queues, and replace the one that links."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (OUTBOX, LINKING):
            cursor.execute(statements)
        cursor.execute(
            f"REVOKE ALL ON FUNCTION {_QUEUE} FROM PUBLIC; GRANT EXECUTE ON FUNCTION {_QUEUE} TO hearthpay_service"
        )
    finally:
        cursor.close()
