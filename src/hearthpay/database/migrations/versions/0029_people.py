"""People: who signs in, with what, from where, and what he is in which organization."""

from __future__ import annotations

from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

# A person belongs to no organization: he may be in several, and in none yet. What is his alone is bound to a claim of
# its own, signed like the tenant's, so that no smuggled statement can name another person.
CURRENT_PERSON = """
CREATE FUNCTION current_person() RETURNS uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            claim text := current_setting('hearthpay.person', true);
            part text[];
            pads record;
        BEGIN
            IF coalesce(claim, '') = '' THEN
                RETURN NULL;
            END IF;
            part := string_to_array(claim, ' ');
            SELECT i.inner_pad, i.outer_pad INTO STRICT pads FROM public.installation i;
            IF cardinality(part) <> 3 OR part[1] <> 'person'
               OR part[3] <> encode(sha256(pads.outer_pad || sha256(pads.inner_pad ||
                    convert_to(part[1] || ' ' || part[2], 'UTF8'))), 'hex') THEN
                RAISE EXCEPTION 'the person of this transaction is not signed' USING ERRCODE = '42501';
            END IF;
            RETURN part[2]::uuid;
        END
    $$;
COMMENT ON FUNCTION current_person() IS 'Whose account this transaction is about, as the program has signed it';
REVOKE ALL ON FUNCTION current_person() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION current_person() TO hearthpay_service;
"""

TABLES = """
CREATE TABLE people (
    id uuid PRIMARY KEY,
    email text NOT NULL UNIQUE CHECK (length(email) BETWEEN 3 AND 254 AND email = lower(email)),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    language text NOT NULL CHECK (language IN ('en', 'es')),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
COMMENT ON COLUMN people.email IS 'Proved: a link that was sent there has been opened';

CREATE TABLE credentials (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL REFERENCES people,
    kind text NOT NULL CHECK (kind IN ('password', 'passkey', 'totp', 'recovery_code')),
    name text CHECK (length(name) BETWEEN 1 AND 60),
    password_hash text CHECK (password_hash LIKE '$argon2id$%'),
    passkey_id bytea UNIQUE CHECK (octet_length(passkey_id) BETWEEN 16 AND 1023),
    public_key bytea,
    sign_count bigint CHECK (sign_count >= 0),
    secret bytea,
    nonce bytea CHECK (octet_length(nonce) = 12),
    key_id text CHECK (length(key_id) BETWEEN 1 AND 32),
    last_step bigint,
    code_hash bytea UNIQUE CHECK (octet_length(code_hash) = 32),
    created_at timestamptz NOT NULL,
    confirmed_at timestamptz,
    last_used_at timestamptz,
    ended_at timestamptz,
    CHECK ((kind = 'password') = (password_hash IS NOT NULL)),
    CHECK ((kind = 'passkey') = (passkey_id IS NOT NULL)),
    CHECK (num_nulls(passkey_id, public_key, sign_count) IN (0, 3)),
    CHECK ((kind = 'totp') = (secret IS NOT NULL)),
    CHECK (num_nulls(secret, nonce, key_id) IN (0, 3)),
    CHECK ((kind = 'recovery_code') = (code_hash IS NOT NULL))
);
CREATE UNIQUE INDEX credentials_one_password_key ON credentials (person_id)
    WHERE kind = 'password' AND ended_at IS NULL;
CREATE UNIQUE INDEX credentials_one_totp_key ON credentials (person_id) WHERE kind = 'totp' AND ended_at IS NULL;
CREATE INDEX credentials_person_id_idx ON credentials (person_id, kind);
CREATE INDEX credentials_sealed_idx ON credentials (key_id) WHERE key_id IS NOT NULL;
COMMENT ON COLUMN credentials.secret IS 'The secret of one-time passwords, encrypted with the vault''s key';
COMMENT ON COLUMN credentials.last_step IS 'The step of time whose password was used last: none is taken twice';
COMMENT ON COLUMN credentials.confirmed_at IS 'A second factor counts once a password of it was entered';
CREATE TRIGGER current_key_only BEFORE INSERT OR UPDATE OF key_id, secret ON credentials
    FOR EACH ROW WHEN (NEW.key_id IS NOT NULL) EXECUTE FUNCTION refuse_replaced_key();

CREATE TABLE memberships (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    person_id uuid NOT NULL REFERENCES people,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'viewer')),
    joined_at timestamptz NOT NULL,
    ended_at timestamptz
);
CREATE UNIQUE INDEX memberships_one_each_key ON memberships (organization_id, person_id) WHERE ended_at IS NULL;
CREATE INDEX memberships_person_id_idx ON memberships (person_id);

CREATE TABLE member_invitations (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    email text NOT NULL CHECK (length(email) BETWEEN 3 AND 254 AND email = lower(email)),
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'viewer')),
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'withdrawn')),
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    invited_by uuid REFERENCES people,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
    ended_at timestamptz CHECK ((ended_at IS NULL) = (status = 'pending'))
);
CREATE UNIQUE INDEX member_invitations_one_pending_key ON member_invitations (organization_id, email)
    WHERE status = 'pending';
COMMENT ON COLUMN member_invitations.invited_by IS 'Null: the operator';

CREATE TABLE person_sessions (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL REFERENCES people,
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    stage text NOT NULL CHECK (stage IN ('second_factor', 'full')),
    method text NOT NULL CHECK (method IN ('password', 'passkey', 'link')),
    chosen_organization_id uuid REFERENCES organizations ON DELETE SET NULL,
    in_sandbox boolean NOT NULL DEFAULT false,
    address text CHECK (length(address) <= 64),
    device text CHECK (length(device) <= 200),
    created_at timestamptz NOT NULL,
    authenticated_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
    ended_at timestamptz
);
CREATE INDEX person_sessions_person_id_idx ON person_sessions (person_id) WHERE ended_at IS NULL;
CREATE INDEX person_sessions_expires_at_idx ON person_sessions (expires_at);
COMMENT ON COLUMN person_sessions.stage IS 'second_factor: opens nothing but the question for it';

CREATE TABLE one_time_tokens (
    id uuid PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('sign_up', 'reset', 'new_email', 'first_owner', 'challenge')),
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    email text CHECK (length(email) BETWEEN 3 AND 254 AND email = lower(email)),
    person_id uuid REFERENCES people,
    organization_id uuid REFERENCES organizations ON DELETE CASCADE,
    bound_to bytea CHECK (octet_length(bound_to) = 32),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
    used_at timestamptz,
    CHECK ((kind IN ('reset', 'new_email')) <= (person_id IS NOT NULL)),
    CHECK ((kind IN ('sign_up', 'reset', 'new_email')) = (email IS NOT NULL)),
    CHECK (organization_id IS NULL OR kind = 'first_owner'),
    CHECK ((kind = 'challenge') = (bound_to IS NOT NULL))
);
CREATE INDEX one_time_tokens_person_id_idx ON one_time_tokens (person_id) WHERE used_at IS NULL;
CREATE INDEX one_time_tokens_expires_at_idx ON one_time_tokens (expires_at);
COMMENT ON COLUMN one_time_tokens.bound_to IS 'Of a challenge: the hash of the browser''s cookie that it was given to';

CREATE TABLE person_events (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL REFERENCES people,
    action text NOT NULL CHECK (action <> ''),
    address text CHECK (length(address) <= 64),
    request_id text,
    details jsonb NOT NULL DEFAULT '{}',
    at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX person_events_person_id_idx ON person_events (person_id, id);
COMMENT ON TABLE person_events IS 'The audit trail of accounts: what happened to whose, which is no organization''s';

GRANT SELECT, INSERT, UPDATE (email, name, language, updated_at) ON people TO hearthpay_service;
GRANT SELECT, INSERT,
      UPDATE (name, password_hash, sign_count, last_step, confirmed_at, last_used_at, ended_at)
    ON credentials TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (role, ended_at) ON memberships TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (status, ended_at) ON member_invitations TO hearthpay_service;
GRANT SELECT, INSERT,
      UPDATE (chosen_organization_id, in_sandbox, authenticated_at, last_seen_at, ended_at)
    ON person_sessions TO hearthpay_service;
GRANT INSERT ON one_time_tokens TO hearthpay_service;
GRANT SELECT, INSERT (id, person_id, action, address, request_id, details) ON person_events TO hearthpay_service;
GRANT SELECT (id, expires_at), DELETE ON one_time_tokens TO hearthpay_worker;
GRANT SELECT (id, expires_at), DELETE ON person_sessions TO hearthpay_worker;
"""

# What a person has is his alone. Who is in an organization is seen by it, with name and address; and a person sees
# where he is.
_TENANTS = "organization_id = (SELECT t.organization_id FROM current_tenant() t)"
_OWN = "person_id = (SELECT current_person())"

GUARDS = f"""
CREATE POLICY tenant ON people TO hearthpay_service
    USING (id = (SELECT current_person())) WITH CHECK (id = (SELECT current_person()));
CREATE POLICY fellows ON people FOR SELECT TO hearthpay_service
    USING (EXISTS (SELECT FROM memberships m WHERE m.person_id = people.id AND m.{_TENANTS}));
CREATE POLICY tenant ON credentials TO hearthpay_service USING ({_OWN}) WITH CHECK ({_OWN});
CREATE POLICY tenant ON memberships TO hearthpay_service USING ({_TENANTS}) WITH CHECK ({_TENANTS});
CREATE POLICY tenant ON member_invitations TO hearthpay_service USING ({_TENANTS}) WITH CHECK ({_TENANTS});
CREATE POLICY tenant ON person_sessions TO hearthpay_service USING ({_OWN}) WITH CHECK ({_OWN});
CREATE POLICY worker ON person_sessions TO hearthpay_worker USING (true) WITH CHECK (true);
CREATE POLICY tenant ON one_time_tokens FOR INSERT TO hearthpay_service
    WITH CHECK (organization_id IS NULL AND kind <> 'first_owner'
                AND (person_id IS NULL OR person_id = (SELECT current_person())));
CREATE POLICY worker ON one_time_tokens TO hearthpay_worker USING (true) WITH CHECK (true);
CREATE POLICY tenant ON person_events TO hearthpay_service USING ({_OWN}) WITH CHECK ({_OWN});
"""

# They run as their owner, since whose it is, is known only once it was found. Who asks must hold the secret whose hash
# he names; by an address alone he learns no more than the id, which opens nothing without the program's signature.
FINDING = """
CREATE FUNCTION find_person(address text) RETURNS uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT p.id FROM public.people p WHERE p.email = find_person.address $$;

CREATE FUNCTION find_person_session(token_hash bytea) RETURNS TABLE (session_id uuid, person_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT s.id, s.person_id FROM public.person_sessions s
         WHERE s.token_hash = find_person_session.token_hash AND s.ended_at IS NULL
    $$;

CREATE FUNCTION find_passkey(passkey_id bytea) RETURNS TABLE (credential_id uuid, person_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT c.id, c.person_id FROM public.credentials c
         WHERE c.passkey_id = find_passkey.passkey_id AND c.ended_at IS NULL
    $$;

CREATE FUNCTION find_one_time_token(token_hash bytea)
    RETURNS TABLE (token_id uuid, kind text, email text, person_id uuid, organization_id uuid, expires_at timestamptz,
                   used_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT t.id, t.kind, t.email, t.person_id, t.organization_id, t.expires_at, t.used_at
          FROM public.one_time_tokens t WHERE t.token_hash = find_one_time_token.token_hash
    $$;

-- A statement that two run at once lets one of them have it.
CREATE FUNCTION use_one_time_token(token_hash bytea, wanted text, holder bytea, at timestamptz)
    RETURNS TABLE (email text, person_id uuid, organization_id uuid)
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        UPDATE public.one_time_tokens t SET used_at = use_one_time_token.at
         WHERE t.token_hash = use_one_time_token.token_hash AND t.kind = wanted AND t.used_at IS NULL
           AND t.expires_at > use_one_time_token.at AND t.bound_to IS NOT DISTINCT FROM holder
        RETURNING t.email, t.person_id, t.organization_id
    $$;
COMMENT ON FUNCTION use_one_time_token IS 'Uses a token up, once, before it expires and for what it was made; else '
    'answers nothing';

-- Whoever changes how he signs in takes the links back that were sent before.
CREATE FUNCTION end_own_tokens(at timestamptz) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        UPDATE public.one_time_tokens t SET used_at = end_own_tokens.at
         WHERE t.person_id = public.current_person() AND t.used_at IS NULL
    $$;

CREATE FUNCTION find_member_invitation(token_hash bytea)
    RETURNS TABLE (invitation_id uuid, organization_id uuid, organization text, email text, role text, status text,
                   expires_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT i.id, i.organization_id, o.name, i.email, i.role, i.status, i.expires_at
          FROM public.member_invitations i JOIN public.organizations o ON o.id = i.organization_id
         WHERE i.token_hash = find_member_invitation.token_hash
    $$;

CREATE FUNCTION own_memberships()
    RETURNS TABLE (membership_id uuid, organization_id uuid, organization text, role text, plan text,
                   lifted_limits jsonb, joined_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT m.id, m.organization_id, o.name, m.role, o.plan, o.lifted_limits, m.joined_at
          FROM public.memberships m JOIN public.organizations o ON o.id = m.organization_id
         WHERE m.person_id = public.current_person() AND m.ended_at IS NULL
         ORDER BY o.name
    $$;
COMMENT ON FUNCTION own_memberships IS 'Where the person of this transaction is a member, and on which terms';
"""

# The service's role cannot create organizations; a person may found a few, of which he is the owner.
FOUNDING = """
CREATE FUNCTION found_organization(organization uuid, membership uuid, wanted text, plan text, at timestamptz)
    RETURNS text
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            founder uuid := public.current_person();
            given text := btrim(wanted);
        BEGIN
            IF founder IS NULL THEN
                RAISE EXCEPTION 'nobody founds an organization' USING ERRCODE = '42501';
            END IF;
            PERFORM pg_advisory_xact_lock(hashtextextended('hearthpay founder ' || founder::text, 0));
            IF (SELECT count(*) FROM public.memberships m
                 WHERE m.person_id = founder AND m.role = 'owner' AND m.ended_at IS NULL) >= 5 THEN
                RETURN NULL;
            END IF;
            IF EXISTS (SELECT FROM public.organizations o WHERE o.name = given) THEN
                given := given || ' ' || upper(right(organization::text, 6));
            END IF;
            INSERT INTO public.organizations (id, name, created_at, plan) VALUES (organization, given, at, plan);
            INSERT INTO public.memberships (id, organization_id, person_id, role, joined_at)
                VALUES (membership, organization, founder, 'owner', at);
            RETURN given;
        END
    $$;
COMMENT ON FUNCTION found_organization IS 'Makes an organization whose owner is the person of this transaction; '
    'answers its name, which gets an ending where it is taken, and nothing to who owns five';
"""

# However it is tried: an organization that has people keeps an owner. The lock makes two who go at once follow each
# other, and the second sees that the first has gone.
OWNERS = """
CREATE FUNCTION keep_an_owner() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('hearthpay members ' || OLD.organization_id::text, 0));
            IF NOT EXISTS (SELECT FROM public.memberships m WHERE m.organization_id = OLD.organization_id
                              AND m.role = 'owner' AND m.ended_at IS NULL) THEN
                RAISE EXCEPTION 'the last owner stays' USING ERRCODE = 'HP002';
            END IF;
            RETURN NULL;
        END
    $$;
CREATE TRIGGER last_owner_stays AFTER UPDATE OF role, ended_at ON memberships
    FOR EACH ROW WHEN (OLD.role = 'owner' AND OLD.ended_at IS NULL
                       AND (NEW.role <> 'owner' OR NEW.ended_at IS NOT NULL))
    EXECUTE FUNCTION keep_an_owner();
"""

# Mail to a person is no tenant's. The function counts what an address gets, so that nobody is flooded by forms.
MAIL = """
ALTER TABLE mail_outbox
    ADD COLUMN address_hash bytea CHECK (octet_length(address_hash) = 32),
    DROP CONSTRAINT mail_outbox_recipient_check,
    ADD CONSTRAINT mail_outbox_recipient_check
        CHECK (recipient IN ('employee', 'household', 'operator', 'person')),
    DROP CONSTRAINT mail_outbox_of_household,
    ADD CONSTRAINT mail_outbox_of_household
        CHECK (recipient IN ('operator', 'person') OR (organization_id IS NOT NULL AND employer_id IS NOT NULL)),
    ADD CONSTRAINT mail_outbox_of_person CHECK ((recipient = 'person') = (address_hash IS NOT NULL));
CREATE INDEX mail_outbox_address_hash_idx ON mail_outbox (address_hash, created_at) WHERE address_hash IS NOT NULL;
COMMENT ON COLUMN mail_outbox.address_hash IS 'Of mail to a person: the SHA-256 of the address, to count by';

CREATE FUNCTION queue_person_mail(mail uuid, kind text, address_hash bytea, content bytea, nonce bytea, key_id text,
                                  at timestamptz, expires_at timestamptz, a_day integer)
    RETURNS boolean
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            room boolean;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('hearthpay mail to ' || encode(address_hash, 'hex'), 0));
            room := (SELECT count(*) FROM public.mail_outbox m
                      WHERE m.address_hash = queue_person_mail.address_hash AND m.status <> 'failed'
                        AND m.created_at > at - interval '24 hours') < a_day;
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

-- Who has just queued a mail may try to send it at once; what is left, the worker sends.
CREATE FUNCTION claim_person_mail(mail uuid, at timestamptz, until timestamptz)
    RETURNS TABLE (id uuid, created_at timestamptz, expires_at timestamptz, attempts smallint, content bytea,
                   nonce bytea, key_id text)
    LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        UPDATE public.mail_outbox m SET leased_until = until, attempts = m.attempts + 1
         WHERE m.id = mail AND m.recipient = 'person' AND m.status = 'queued' AND m.due_at <= at
           AND (m.leased_until IS NULL OR m.leased_until <= at)
        RETURNING m.id, m.created_at, m.expires_at, m.attempts, m.content, m.nonce, m.key_id
    $$;

CREATE FUNCTION note_person_mail(mail uuid, attempt smallint, problem text, final boolean, at timestamptz,
                                 due_at timestamptz)
    RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        UPDATE public.mail_outbox m
           SET status = CASE WHEN NOT final THEN 'queued' WHEN problem IS NULL THEN 'sent' ELSE 'failed' END,
               reason = problem, leased_until = NULL,
               due_at = CASE WHEN final THEN m.due_at ELSE note_person_mail.due_at END,
               finished_at = CASE WHEN final THEN at END,
               content = CASE WHEN NOT final THEN m.content END,
               nonce = CASE WHEN NOT final THEN m.nonce END,
               key_id = CASE WHEN NOT final THEN m.key_id END
         WHERE m.id = mail AND m.recipient = 'person' AND m.status = 'queued'
           AND (problem IS NULL OR m.attempts = attempt)
    $$;
"""

_FUNCTIONS = (
    "find_person(text)",
    "find_person_session(bytea)",
    "find_passkey(bytea)",
    "find_one_time_token(bytea)",
    "use_one_time_token(bytea, text, bytea, timestamptz)",
    "end_own_tokens(timestamptz)",
    "find_member_invitation(bytea)",
    "own_memberships()",
    "found_organization(uuid, uuid, text, text, timestamptz)",
    "queue_person_mail(uuid, text, bytea, bytea, bytea, text, timestamptz, timestamptz, integer)",
    "claim_person_mail(uuid, timestamptz, timestamptz)",
    "note_person_mail(uuid, smallint, text, boolean, timestamptz, timestamptz)",
)
_TABLES = (
    "people",
    "credentials",
    "memberships",
    "member_invitations",
    "person_sessions",
    "one_time_tokens",
    "person_events",
)


def upgrade() -> None:
    """Create the tables, their guards, and the functions by which someone who signs in is found."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        cursor.execute(CURRENT_PERSON)
        cursor.execute(TABLES)
        for table in _TABLES:
            cursor.execute(
                f"""
                ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
                ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
                CREATE POLICY operator ON {table} TO CURRENT_USER USING (true) WITH CHECK (true);
                """
            )
        for statements in (GUARDS, FINDING, FOUNDING, OWNERS, MAIL):
            cursor.execute(statements)
        for function in _FUNCTIONS:
            cursor.execute(
                f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC; "
                f"GRANT EXECUTE ON FUNCTION {function} TO hearthpay_service"
            )
        cursor.execute("REVOKE ALL ON FUNCTION keep_an_owner() FROM PUBLIC")
    finally:
        cursor.close()
