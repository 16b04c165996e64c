"""Agents: programs that a person lets act for one household, what they were given, and the tokens they come with."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_household

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

# A program that has introduced itself belongs to nobody: what it says of itself is public, and proves nothing.
CLIENTS = """
CREATE TABLE agent_clients (
    id uuid PRIMARY KEY,
    client_id text NOT NULL UNIQUE CHECK (length(client_id) BETWEEN 1 AND 500),
    kind text NOT NULL CHECK (kind IN ('registered', 'document')),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    redirect_uris text[] NOT NULL CHECK (cardinality(redirect_uris) BETWEEN 1 AND 10),
    address_hash bytea NOT NULL CHECK (octet_length(address_hash) = 32),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at)
);
CREATE INDEX agent_clients_address_hash_idx ON agent_clients (address_hash, created_at);
CREATE INDEX agent_clients_expires_at_idx ON agent_clients (expires_at);
COMMENT ON COLUMN agent_clients.kind IS 'registered: told to us; document: read at the address that is its id';
COMMENT ON COLUMN agent_clients.expires_at IS 'When it is forgotten, unless something that it was given is in force';
"""

GRANTS = """
CREATE TABLE agent_grants (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    person_id uuid NOT NULL REFERENCES people,
    client_id text NOT NULL,
    client_name text NOT NULL CHECK (length(client_name) BETWEEN 1 AND 100),
    returns_to text NOT NULL,
    tools text[] NOT NULL CHECK (cardinality(tools) >= 1),
    demands_preview boolean NOT NULL,
    resource text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
    ended_at timestamptz CHECK (ended_at >= created_at),
    ended_because text CHECK (ended_because IN ('disconnected', 'revoked', 'code_reused', 'refresh_reused')),
    CHECK ((ended_at IS NULL) = (ended_because IS NULL)),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE INDEX agent_grants_employer_id_idx ON agent_grants (employer_id, id);
CREATE INDEX agent_grants_person_id_idx ON agent_grants (person_id);
CREATE INDEX agent_grants_client_id_idx ON agent_grants (client_id);
COMMENT ON COLUMN agent_grants.returns_to IS 'Where its answer was sent: a host, or the machine itself';
COMMENT ON COLUMN agent_grants.tools IS 'What it may call; nothing else is there for it';

CREATE FUNCTION keep_grant_ended() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$ BEGIN RAISE EXCEPTION 'what was taken from an agent is not given back' USING ERRCODE = '42501'; END $$;
CREATE TRIGGER ended_for_good BEFORE UPDATE ON agent_grants
    FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION keep_grant_ended();
REVOKE ALL ON FUNCTION keep_grant_ended() FROM PUBLIC;

CREATE TABLE agent_requests (
    id uuid PRIMARY KEY,
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    client_id text NOT NULL,
    redirect_uri text NOT NULL CHECK (length(redirect_uri) <= 2000),
    redirect_given boolean NOT NULL,
    state text CHECK (length(state) <= 2000),
    code_challenge text NOT NULL CHECK (length(code_challenge) = 43),
    scopes text[] NOT NULL,
    resource text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
    session_id uuid REFERENCES person_sessions ON DELETE SET NULL,
    answered_at timestamptz,
    grant_id uuid REFERENCES agent_grants ON DELETE CASCADE,
    code_hash bytea UNIQUE CHECK (octet_length(code_hash) = 32),
    code_expires_at timestamptz,
    code_used_at timestamptz,
    CHECK (num_nulls(grant_id, code_hash, code_expires_at) IN (0, 3)),
    CHECK (grant_id IS NULL OR answered_at IS NOT NULL)
);
CREATE INDEX agent_requests_expires_at_idx ON agent_requests (expires_at);
CREATE INDEX agent_requests_grant_id_idx ON agent_requests (grant_id);
CREATE INDEX agent_requests_session_id_idx ON agent_requests (session_id);
COMMENT ON COLUMN agent_requests.session_id IS 'Who opened the question first, and in which browser: it answers';

CREATE TABLE agent_tokens (
    id uuid PRIMARY KEY,
    grant_id uuid NOT NULL REFERENCES agent_grants ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('access', 'refresh')),
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
    used_at timestamptz,
    CHECK (kind = 'refresh' OR used_at IS NULL),
    CHECK (kind = 'refresh' OR expires_at <= created_at + interval '10 minutes')
);
CREATE UNIQUE INDEX agent_tokens_one_refresh_key ON agent_tokens (grant_id) WHERE kind = 'refresh' AND used_at IS NULL;
CREATE INDEX agent_tokens_expires_at_idx ON agent_tokens (expires_at);
COMMENT ON COLUMN agent_tokens.used_at IS 'When it was changed for the next; shown again, it ends the grant';

GRANT SELECT ON agent_clients TO hearthpay_service;
GRANT SELECT, INSERT (id, organization_id, employer_id, sandbox, person_id, client_id, client_name, returns_to, tools,
                      demands_preview, resource, created_at, expires_at),
      UPDATE (ended_at, ended_because) ON agent_grants TO hearthpay_service;
GRANT INSERT (id, token_hash, client_id, redirect_uri, redirect_given, state, code_challenge, scopes, resource,
              created_at, expires_at) ON agent_requests TO hearthpay_service;
GRANT SELECT (id, client_id, expires_at), DELETE ON agent_clients TO hearthpay_worker;
GRANT SELECT (id, client_id, expires_at, ended_at) ON agent_grants TO hearthpay_worker;
GRANT SELECT (id, expires_at), DELETE ON agent_requests TO hearthpay_worker;
GRANT SELECT (id, expires_at), DELETE ON agent_tokens TO hearthpay_worker;
CREATE INDEX audit_log_of_agents_idx ON audit_log (actor_id, id) WHERE actor_kind = 'mcp';
"""

# A question is nobody's until somebody opens it; a token is whose it is by its grant. Only the functions below reach
# them, and only for who holds the secret.
GUARDS = """
CREATE POLICY operator ON {table} TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY worker ON {table} TO hearthpay_worker USING (true) WITH CHECK (true);
"""
OPEN = """
CREATE POLICY anyone ON agent_clients FOR SELECT TO hearthpay_service USING (true);
CREATE POLICY asked ON agent_requests FOR INSERT TO hearthpay_service WITH CHECK (true);
"""

DEEDS = """
-- Introductions cost nothing, so they are counted: of an address in an hour, and of all that nobody has answered yet.
CREATE FUNCTION introduce_agent(new_id uuid, new_client_id text, new_kind text, new_name text, new_uris text[],
                                new_address bytea, at timestamptz, until timestamptz, an_hour integer, in_all integer)
    RETURNS boolean
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('hearthpay agents', 0));
            IF EXISTS (SELECT FROM public.agent_clients c WHERE c.client_id = new_client_id) THEN
                IF new_kind <> 'document' THEN
                    RETURN false;
                END IF;
                UPDATE public.agent_clients c SET name = new_name, redirect_uris = new_uris, expires_at = until
                 WHERE c.client_id = new_client_id AND c.kind = 'document';
                RETURN true;
            END IF;
            IF (SELECT count(*) FROM public.agent_clients c
                 WHERE c.address_hash = new_address AND c.created_at > at - interval '1 hour') >= an_hour
               OR (SELECT count(*) FROM public.agent_clients c WHERE c.expires_at > at
                      AND NOT EXISTS (SELECT FROM public.agent_grants g WHERE g.client_id = c.client_id)) >= in_all
            THEN
                RETURN false;
            END IF;
            INSERT INTO public.agent_clients (id, client_id, kind, name, redirect_uris, address_hash, created_at,
                                              expires_at)
            VALUES (new_id, new_client_id, new_kind, new_name, new_uris, new_address, at, until);
            RETURN true;
        END
    $$;

-- The first who opens the question, signed in, is who answers it: in that browser, and once.
CREATE FUNCTION open_agent_request(asked bytea, own_session uuid, at timestamptz)
    RETURNS TABLE (client_id text, redirect_uri text, scopes text[], resource text, state text)
    LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        UPDATE public.agent_requests r SET session_id = own_session
         WHERE r.token_hash = asked AND r.answered_at IS NULL AND r.expires_at > at
           AND coalesce(r.session_id, own_session) = own_session
           AND EXISTS (SELECT FROM public.person_sessions s WHERE s.id = own_session AND s.ended_at IS NULL
                          AND s.stage = 'full' AND s.person_id = public.current_person())
        RETURNING r.client_id, r.redirect_uri, r.scopes, r.resource, r.state
    $$;

CREATE FUNCTION answer_agent_request(asked bytea, own_session uuid, at timestamptz, given uuid, new_code bytea,
                                     code_until timestamptz)
    RETURNS boolean
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        WITH answered AS (
            UPDATE public.agent_requests r
               SET answered_at = at, grant_id = given, code_hash = new_code, code_expires_at = code_until
             WHERE r.token_hash = asked AND r.answered_at IS NULL AND r.expires_at > at AND r.session_id = own_session
               AND EXISTS (SELECT FROM public.person_sessions s WHERE s.id = own_session
                              AND s.person_id = public.current_person())
               AND (given IS NULL OR EXISTS (SELECT FROM public.agent_grants g WHERE g.id = given
                      AND g.person_id = public.current_person() AND g.client_id = r.client_id AND g.ended_at IS NULL))
            RETURNING r.client_id
        ), kept AS (
            UPDATE public.agent_clients c SET expires_at = greatest(c.expires_at, g.expires_at)
              FROM public.agent_grants g, answered a WHERE g.id = given AND c.client_id = a.client_id
        )
        SELECT EXISTS (SELECT FROM answered)
    $$;

CREATE FUNCTION find_agent_code(code bytea)
    RETURNS TABLE (client_id text, redirect_uri text, redirect_given boolean, code_challenge text, resource text,
                   expires_at timestamptz, used_at timestamptz)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT r.client_id, r.redirect_uri, r.redirect_given, r.code_challenge, r.resource, r.code_expires_at,
               r.code_used_at
          FROM public.agent_requests r WHERE r.code_hash = code
    $$;

CREATE FUNCTION end_agent_grant(which uuid, why text, at timestamptz) RETURNS void
    LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        UPDATE public.agent_grants g SET ended_at = greatest(at, g.created_at), ended_because = why
         WHERE g.id = which AND g.ended_at IS NULL
    $$;

-- Both exchanges: what was shown once and is shown again was stolen from one of the two, and ends everything.
CREATE FUNCTION exchange_agent_code(code bytea, client text, at timestamptz, access_id uuid, access_hash bytea,
                                    access_until timestamptz, refresh_id uuid, refresh_hash bytea,
                                    refresh_until timestamptz)
    RETURNS text
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            asked public.agent_requests;
            given public.agent_grants;
        BEGIN
            SELECT * INTO asked FROM public.agent_requests r WHERE r.code_hash = code AND r.client_id = client
               FOR UPDATE;
            IF NOT FOUND THEN
                RETURN 'unknown';
            END IF;
            IF asked.code_used_at IS NOT NULL THEN
                PERFORM public.end_agent_grant(asked.grant_id, 'code_reused', at);
                RETURN 'reused';
            END IF;
            SELECT * INTO given FROM public.agent_grants g WHERE g.id = asked.grant_id FOR UPDATE;
            IF asked.code_expires_at <= at OR given.ended_at IS NOT NULL OR given.expires_at <= at THEN
                RETURN 'over';
            END IF;
            UPDATE public.agent_requests r SET code_used_at = at WHERE r.id = asked.id;
            INSERT INTO public.agent_tokens (id, grant_id, kind, token_hash, created_at, expires_at) VALUES
                (access_id, given.id, 'access', access_hash, at, least(access_until, given.expires_at)),
                (refresh_id, given.id, 'refresh', refresh_hash, at, least(refresh_until, given.expires_at));
            RETURN 'issued';
        END
    $$;

CREATE FUNCTION exchange_agent_refresh(shown bytea, client text, at timestamptz, access_id uuid, access_hash bytea,
                                       access_until timestamptz, refresh_id uuid, refresh_hash bytea,
                                       refresh_until timestamptz)
    RETURNS text
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            given public.agent_grants;
            token public.agent_tokens;
        BEGIN
            SELECT g.* INTO given FROM public.agent_grants g JOIN public.agent_tokens t ON t.grant_id = g.id
             WHERE t.token_hash = shown AND t.kind = 'refresh' AND g.client_id = client FOR UPDATE OF g;
            IF NOT FOUND THEN
                RETURN 'unknown';
            END IF;
            SELECT * INTO STRICT token FROM public.agent_tokens t WHERE t.token_hash = shown;
            IF token.used_at IS NOT NULL THEN
                PERFORM public.end_agent_grant(given.id, 'refresh_reused', at);
                RETURN 'reused';
            END IF;
            IF token.expires_at <= at OR given.ended_at IS NOT NULL OR given.expires_at <= at THEN
                RETURN 'over';
            END IF;
            UPDATE public.agent_tokens t SET used_at = at WHERE t.id = token.id;
            INSERT INTO public.agent_tokens (id, grant_id, kind, token_hash, created_at, expires_at) VALUES
                (access_id, given.id, 'access', access_hash, at, least(access_until, given.expires_at)),
                (refresh_id, given.id, 'refresh', refresh_hash, at, least(refresh_until, given.expires_at));
            RETURN 'issued';
        END
    $$;

CREATE FUNCTION find_agent_refresh(shown bytea)
    RETURNS TABLE (client_id text, tools text[], resource text, expires_at timestamptz)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT g.client_id, g.tools, g.resource, t.expires_at
          FROM public.agent_tokens t JOIN public.agent_grants g ON g.id = t.grant_id
         WHERE t.token_hash = shown AND t.kind = 'refresh'
    $$;

CREATE FUNCTION revoke_agent_token(shown bytea, client text, at timestamptz) RETURNS void
    LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        UPDATE public.agent_grants g SET ended_at = greatest(at, g.created_at), ended_because = 'revoked'
          FROM public.agent_tokens t
         WHERE t.token_hash = shown AND t.grant_id = g.id AND g.client_id = client AND g.ended_at IS NULL
    $$;

-- What the agent may is what its person still is: who has left the organization takes along what he gave.
CREATE FUNCTION find_agent_token(shown bytea, at timestamptz)
    RETURNS TABLE (grant_id uuid, organization_id uuid, employer_id uuid, sandbox boolean, tools text[],
                   demands_preview boolean, resource text, client_name text, role text, plan text, lifted_limits jsonb)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT g.id, g.organization_id, g.employer_id, g.sandbox, g.tools, g.demands_preview, g.resource,
               g.client_name, m.role, o.plan, o.lifted_limits
          FROM public.agent_tokens t
          JOIN public.agent_grants g ON g.id = t.grant_id
          JOIN public.organizations o ON o.id = g.organization_id
          JOIN public.memberships m ON m.organization_id = g.organization_id AND m.person_id = g.person_id
                                   AND m.ended_at IS NULL
         WHERE t.token_hash = shown AND t.kind = 'access' AND t.expires_at > at AND g.expires_at > at
           AND g.ended_at IS NULL
    $$;
"""

_FUNCTIONS = (
    "introduce_agent(uuid, text, text, text, text[], bytea, timestamptz, timestamptz, integer, integer)",
    "open_agent_request(bytea, uuid, timestamptz)",
    "answer_agent_request(bytea, uuid, timestamptz, uuid, bytea, timestamptz)",
    "find_agent_code(bytea)",
    "exchange_agent_code(bytea, text, timestamptz, uuid, bytea, timestamptz, uuid, bytea, timestamptz)",
    "exchange_agent_refresh(bytea, text, timestamptz, uuid, bytea, timestamptz, uuid, bytea, timestamptz)",
    "find_agent_refresh(bytea)",
    "revoke_agent_token(bytea, text, timestamptz)",
    "find_agent_token(bytea, timestamptz)",
)


def upgrade() -> None:
    """Create the tables, bound to who may see them, and the functions that tokens are changed by."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        cursor.execute(CLIENTS)
        cursor.execute(GRANTS)
        cursor.execute(guard_of_household("agent_grants"))
        for table in ("agent_clients", "agent_requests", "agent_tokens"):
            cursor.execute(
                f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY; ALTER TABLE {table} FORCE ROW LEVEL SECURITY;"
            )
            cursor.execute(GUARDS.format(table=table))
        cursor.execute(OPEN)
        cursor.execute(DEEDS)
        cursor.execute("REVOKE ALL ON FUNCTION end_agent_grant(uuid, text, timestamptz) FROM PUBLIC")
        for function in _FUNCTIONS:
            cursor.execute(
                f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC; "
                f"GRANT EXECUTE ON FUNCTION {function} TO hearthpay_service"
            )
    finally:
        cursor.close()
