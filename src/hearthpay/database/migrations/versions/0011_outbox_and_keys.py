"""The vault's keys as the database knows them, mail on its way out, and stored answers that hold a secret."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

# The secrets themselves never come here. `proof` is a keyed hash of a constant: it tells two keys of the same id apart
# and says nothing about either.
KEYS = """
CREATE TABLE vault_keys (
    id text PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 32),
    proof bytea CHECK (octet_length(proof) = 16),
    status text NOT NULL CHECK (status IN ('current', 'known', 'retired', 'removed')),
    noted_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX vault_keys_current_key ON vault_keys ((true)) WHERE status = 'current';
COMMENT ON TABLE vault_keys IS 'Which key encrypts, and which have: the one word on it that every process obeys';
COMMENT ON COLUMN vault_keys.proof IS 'Tells another key of the same id; null for keys from before it was noted';
COMMENT ON COLUMN vault_keys.status IS 'known: has encrypted, and nobody has said since when it is not current';

INSERT INTO vault_keys (id, status)
SELECT DISTINCT key_id, 'known' FROM (SELECT key_id FROM vault UNION ALL SELECT key_id FROM bank_files) used;
"""

# Who writes holds the shared lock to the end of its transaction; who makes another key current, or removes one, takes
# it alone. So there is no write under a key of yesterday that a rotation could miss.
WRITING = """
CREATE FUNCTION vault_key_for_writing(offered text, offered_proof bytea)
    RETURNS TABLE (id text, proof bytea)
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            PERFORM pg_advisory_xact_lock_shared(hashtextextended('hearthpay vault keys', 0));
            RETURN QUERY SELECT k.id, k.proof FROM public.vault_keys k WHERE k.status = 'current';
            IF FOUND THEN
                RETURN;
            END IF;
            PERFORM pg_advisory_xact_lock(hashtextextended('hearthpay first vault key', 0));
            IF NOT EXISTS (SELECT FROM public.vault_keys k WHERE k.status = 'current') THEN
                IF EXISTS (SELECT FROM public.vault_keys)
                   AND NOT EXISTS (SELECT FROM public.vault_keys k WHERE k.id = offered AND k.status = 'known'
                                      AND coalesce(k.proof, offered_proof) = offered_proof) THEN
                    RAISE EXCEPTION 'no key has been made current yet' USING ERRCODE = 'HP001';
                END IF;
                INSERT INTO public.vault_keys AS k (id, proof, status) VALUES (offered, offered_proof, 'current')
                    ON CONFLICT ON CONSTRAINT vault_keys_pkey
                    DO UPDATE SET proof = offered_proof, status = 'current', changed_at = now();
            END IF;
            RETURN QUERY SELECT k.id, k.proof FROM public.vault_keys k WHERE k.status = 'current';
        END
    $$;
COMMENT ON FUNCTION vault_key_for_writing IS 'The key to encrypt with, until the end of the transaction; of an '
    'installation that has encrypted nothing yet, the one that is offered';
REVOKE ALL ON FUNCTION vault_key_for_writing(text, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION vault_key_for_writing(text, bytea) TO hearthpay_service, hearthpay_worker;

CREATE FUNCTION refuse_replaced_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            PERFORM pg_advisory_xact_lock_shared(hashtextextended('hearthpay vault keys', 0));
            IF EXISTS (SELECT FROM public.vault_keys k WHERE k.status = 'current' AND k.id <> NEW.key_id) THEN
                RAISE EXCEPTION 'this key does not encrypt any more' USING ERRCODE = 'HP001';
            END IF;
            RETURN NEW;
        END
    $$;
REVOKE ALL ON FUNCTION refuse_replaced_key() FROM PUBLIC;
CREATE TRIGGER current_key_only BEFORE INSERT OR UPDATE OF key_id, ciphertext ON vault
    FOR EACH ROW EXECUTE FUNCTION refuse_replaced_key();
CREATE TRIGGER current_key_only BEFORE INSERT OR UPDATE OF key_id, sealed_content ON bank_files
    FOR EACH ROW EXECUTE FUNCTION refuse_replaced_key();
"""

# A sandbox household's mail is noted and goes nowhere, whatever the code believes.
OUTBOX = """
CREATE TABLE mail_outbox (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    employee_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind <> ''),
    status text NOT NULL CHECK (status IN ('queued', 'sent', 'failed', 'withdrawn', 'withheld')),
    reason text CHECK (reason <> ''),
    content bytea,
    nonce bytea CHECK (octet_length(nonce) = 12),
    key_id text CHECK (length(key_id) BETWEEN 1 AND 32),
    attempts smallint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
    due_at timestamptz NOT NULL,
    leased_until timestamptz,
    finished_at timestamptz,
    CHECK (NOT sandbox OR status = 'withheld'),
    CHECK ((status = 'queued') = (finished_at IS NULL)),
    CHECK ((status = 'queued') = (content IS NOT NULL)),
    CHECK (num_nulls(content, nonce, key_id) IN (0, 3)),
    FOREIGN KEY (employee_id, employer_id, organization_id, sandbox)
        REFERENCES employees (id, employer_id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX mail_outbox_due_idx ON mail_outbox (due_at) WHERE status = 'queued';
CREATE INDEX mail_outbox_of_day_idx ON mail_outbox (organization_id, created_at);
CREATE INDEX mail_outbox_employee_id_idx ON mail_outbox (employee_id);
COMMENT ON TABLE mail_outbox IS 'Mail on its way out, its content encrypted until it has left and erased then';
COMMENT ON COLUMN mail_outbox.leased_until IS 'Until then one process is sending it; after that it has died';
CREATE TRIGGER current_key_only BEFORE INSERT OR UPDATE OF key_id, content ON mail_outbox
    FOR EACH ROW WHEN (NEW.key_id IS NOT NULL) EXECUTE FUNCTION refuse_replaced_key();

-- How many mails have been queued for an organization is more than one household's transaction can see. Those that
-- the limit itself turned away do not count.
CREATE FUNCTION mails_since(household uuid, person uuid, since timestamptz)
    RETURNS TABLE (of_organization bigint, of_household bigint, of_employee bigint)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT count(*), count(*) FILTER (WHERE m.employer_id = household),
               count(*) FILTER (WHERE m.employee_id = person)
          FROM public.mail_outbox m
         WHERE (m.organization_id, m.sandbox) = (SELECT t.organization_id, t.sandbox FROM public.current_tenant() t)
           AND m.created_at >= since AND NOT starts_with(coalesce(m.reason, ''), 'daily_limit_of_')
    $$;
REVOKE ALL ON FUNCTION mails_since(uuid, uuid, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mails_since(uuid, uuid, timestamptz) TO hearthpay_service;

ALTER TABLE invitations ADD COLUMN mail_id uuid REFERENCES mail_outbox ON DELETE SET NULL;
COMMENT ON COLUMN invitations.mail_id IS 'The mail that brings the link, and tells whether it has been sent';
COMMENT ON COLUMN invitations.email_sent IS 'Of invitations without mail_id, from before there was an outbox';
CREATE INDEX invitations_mail_id_idx ON invitations (mail_id);

GRANT SELECT, INSERT, UPDATE (status, reason, content, nonce, key_id, attempts, due_at, leased_until, finished_at)
    ON mail_outbox TO hearthpay_service;
GRANT SELECT, UPDATE (status, reason, content, nonce, key_id, attempts, due_at, leased_until, finished_at)
    ON mail_outbox TO hearthpay_worker;
GRANT UPDATE (mail_id) ON invitations TO hearthpay_service;
"""

# Only a run is guarded for ever: its repetition years later must still not pay twice. A preview changes nothing, and
# what else there is under /payroll, voiding, is refused by the payroll's own state.
ANSWERS = """
ALTER TABLE idempotency_keys
    ADD COLUMN nonce bytea CHECK (octet_length(nonce) = 12),
    ADD COLUMN key_id text CHECK (length(key_id) BETWEEN 1 AND 32),
    ADD CONSTRAINT idempotency_keys_sealed CHECK ((nonce IS NULL) = (key_id IS NULL));
COMMENT ON COLUMN idempotency_keys.key_id IS 'The vault key that the body is encrypted with; null for a plain body';
GRANT UPDATE (nonce, key_id) ON idempotency_keys TO hearthpay_service;
CREATE TRIGGER current_key_only BEFORE INSERT OR UPDATE OF key_id, nonce ON idempotency_keys
    FOR EACH ROW WHEN (NEW.key_id IS NOT NULL) EXECUTE FUNCTION refuse_replaced_key();
CREATE INDEX idempotency_keys_sealed_idx ON idempotency_keys (key_id) WHERE key_id IS NOT NULL;

DROP INDEX idempotency_keys_expiry_idx;
CREATE INDEX idempotency_keys_expiry_idx ON idempotency_keys (created_at) WHERE path NOT LIKE '%/payroll/run';
CREATE INDEX idempotency_keys_short_lived_idx ON idempotency_keys (created_at)
    WHERE path LIKE '%/payroll/preview' OR path LIKE '%/invite' AND key_id IS NULL;
GRANT SELECT (key_id) ON idempotency_keys TO hearthpay_worker;
"""

_VISIBLE = """
    (organization_id, sandbox) = (SELECT t.organization_id, t.sandbox FROM current_tenant() t)
    AND employer_id = coalesce((SELECT t.employer_id FROM current_tenant() t), employer_id)
"""

GUARDS = f"""
CREATE POLICY tenant ON mail_outbox TO hearthpay_service USING ({_VISIBLE}) WITH CHECK ({_VISIBLE});
CREATE POLICY worker ON mail_outbox TO hearthpay_worker USING (true) WITH CHECK (true);
"""


def upgrade() -> None:
    """Create the tables, their guards and functions, and change what is kept of answers."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (KEYS, WRITING, OUTBOX, ANSWERS):
            cursor.execute(statements)
        for table in ("vault_keys", "mail_outbox"):
            cursor.execute(
                f"""
                ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
                ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
                CREATE POLICY operator ON {table} TO CURRENT_USER USING (true) WITH CHECK (true);
                """
            )
        cursor.execute(GUARDS)
    finally:
        cursor.close()
