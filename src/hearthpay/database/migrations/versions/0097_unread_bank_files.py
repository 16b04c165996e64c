"""Files of the bank that can't be read, as a whole or in part: what they hold, and how they ended."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0097"
down_revision = "0096"
branch_labels = None
depends_on = None

# The same content under two names was noted twice: the row that counted stays.
COLUMNS: Final = """
DELETE FROM bank_intake a USING bank_intake b
 WHERE a.sha256 = b.sha256 AND a.id <> b.id
   AND ((a.status = 'processed')::int, b.received_at, b.id) < ((b.status = 'processed')::int, a.received_at, a.id);
ALTER TABLE bank_intake
    DROP CONSTRAINT bank_intake_name_key,
    DROP CONSTRAINT bank_intake_status_check,
    ADD CONSTRAINT bank_intake_status_check CHECK (status IN ('processed', 'partly', 'refused')),
    ALTER COLUMN sha256 DROP NOT NULL,
    ADD COLUMN size bigint CHECK (size >= 0),
    ADD COLUMN unread jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(unread) = 'array'),
    ADD COLUMN held_entries uuid[],
    ADD COLUMN reader integer NOT NULL DEFAULT 0,
    ADD COLUMN ended_at timestamptz,
    ADD COLUMN end_code text CHECK (end_code IN ('read', 'replaced', 'returned', 'set_aside', 'upgraded')),
    ADD COLUMN end_reason text CHECK ((end_reason IS NOT NULL) <= (end_code = 'set_aside')),
    ADD COLUMN ended_by uuid;
-- What was refused before and still lies at the bank is read again, and opened again, by the next round.
UPDATE bank_intake SET ended_at = received_at, end_code = CASE status WHEN 'processed' THEN 'read' ELSE 'upgraded' END;
ALTER TABLE bank_intake
    ADD CONSTRAINT bank_intake_ended_check CHECK ((ended_at IS NULL) = (end_code IS NULL)),
    ADD CONSTRAINT bank_intake_open_check CHECK (status <> 'processed' OR ended_at IS NOT NULL);
CREATE UNIQUE INDEX bank_intake_sha256_key ON bank_intake (sha256);
CREATE UNIQUE INDEX bank_intake_unopened_key ON bank_intake (name) WHERE sha256 IS NULL;
CREATE INDEX bank_intake_open_idx ON bank_intake (received_at) WHERE ended_at IS NULL;
COMMENT ON COLUMN bank_intake.name IS 'The latest name, in printable characters; files are told apart by their digest';
COMMENT ON COLUMN bank_intake.sha256 IS 'Of the content; null: the file could not be opened';
COMMENT ON COLUMN bank_intake.unread IS 'What could not be read or matched: codes with parameters';
COMMENT ON COLUMN bank_intake.reader IS 'The version of the reader that read it; 0: read it again each time';
COMMENT ON COLUMN bank_intake.held_entries IS
    'The payments that it holds while it is open; null: every debit presented before received_at';
"""

# Of a debit that has settled, a return matters until everything that was paid from it has left.
HELD: Final = """
CREATE FUNCTION held_by_bank_files()
    RETURNS TABLE (file_id uuid, entry_id uuid, organization_id uuid, employer_id uuid, kind text, amount bigint)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT i.id, e.id, e.organization_id, e.employer_id, e.kind, e.amount
          FROM public.bank_intake i JOIN public.bank_entries e
            ON (e.status = 'sent'
                OR e.status = 'settled' AND e.kind = 'debit'
                   AND EXISTS (SELECT FROM public.bank_entries c
                                WHERE c.payroll_id = e.payroll_id AND c.kind IN ('credit', 'refund')
                                  AND c.status = 'pending'))
           AND NOT e.sandbox
           AND (e.id = ANY (i.held_entries)
                OR i.held_entries IS NULL AND e.kind IN ('debit', 'reversal')
                   AND EXISTS (SELECT FROM public.bank_files f
                                WHERE f.id = e.file_id AND f.created_at <= i.received_at))
         WHERE i.ended_at IS NULL
    $$;
COMMENT ON FUNCTION held_by_bank_files IS
    'The payments that unread files of the bank hold: a return of them may lie there; amounts in cents';
REVOKE ALL ON FUNCTION held_by_bank_files() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION held_by_bank_files() TO hearthpay_worker;

-- The operator's alone, at the command line as the owner and on the operator's page by the function below. The rows of
-- the audit log have their ids from outside, which ascend with time.
CREATE FUNCTION end_bank_file(file uuid, why text, at timestamptz, person uuid, request text, ids uuid[])
    RETURNS bigint
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            held bigint;
        BEGIN
            PERFORM FROM public.bank_intake i WHERE i.id = file AND i.ended_at IS NULL FOR UPDATE;
            IF NOT FOUND THEN
                RETURN NULL;
            END IF;
            INSERT INTO public.audit_log (id, organization_id, employer_id, sandbox, actor_kind, actor_id, action,
                                          subject_id, request_id, details)
            SELECT ids[row_number() OVER (ORDER BY h.organization_id, h.entry_id)], h.organization_id, h.employer_id,
                   false, 'operator', person, 'bank_entry.release', h.entry_id, request,
                   jsonb_build_object('file', file)
              FROM public.held_by_bank_files() h WHERE h.file_id = file;
            GET DIAGNOSTICS held = ROW_COUNT;
            UPDATE public.bank_intake i SET ended_at = at, end_code = 'set_aside', end_reason = why, ended_by = person
             WHERE i.id = file;
            RETURN held;
        END
    $$;
COMMENT ON FUNCTION end_bank_file IS
    'Sets an unread file of the bank aside, noted in the audit log for each payment it held; null: it is not open';
REVOKE ALL ON FUNCTION end_bank_file(uuid, text, timestamptz, uuid, text, uuid[]) FROM PUBLIC;
"""

OPERATOR: Final = """
CREATE FUNCTION unread_bank_files()
    RETURNS TABLE (id uuid, name text, received_at timestamptz, problem text, unread jsonb, holds_all boolean,
                   payments bigint, households bigint, amount bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT i.id, i.name, i.received_at, i.problem, i.unread, i.held_entries IS NULL,
               count(h.entry_id), count(DISTINCT h.employer_id), coalesce(sum(h.amount), 0)::bigint
          FROM public.bank_intake i LEFT JOIN public.held_by_bank_files() h ON h.file_id = i.id
         WHERE i.ended_at IS NULL AND public.operates()
         GROUP BY i.id ORDER BY i.received_at, i.id
    $$;
COMMENT ON FUNCTION unread_bank_files IS
    'For an operator alone: the files of the bank that are not read, and what they hold; in cents';
REVOKE ALL ON FUNCTION unread_bank_files() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION unread_bank_files() TO hearthpay_service;

CREATE FUNCTION set_bank_file_aside(file uuid, why text, at timestamptz, person uuid, request text, ids uuid[])
    RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            IF public.operates() THEN
                RETURN public.end_bank_file(file, why, at, person, request, ids);
            END IF;
            RETURN NULL;
        END
    $$;
COMMENT ON FUNCTION set_bank_file_aside IS 'For an operator alone: sets an unread file of the bank aside';
REVOKE ALL ON FUNCTION set_bank_file_aside(uuid, text, timestamptz, uuid, text, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION set_bank_file_aside(uuid, text, timestamptz, uuid, text, uuid[]) TO hearthpay_service;
"""


def upgrade() -> None:
    """Tell files apart by their content, and hold what an unread one may concern."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (COLUMNS, HELD, OPERATOR):
            cursor.execute(statements)
    finally:
        cursor.close()
