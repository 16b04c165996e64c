"""Agents kept in check: questions are counted, the end of a grant is told, who leaves takes along what he gave."""

from __future__ import annotations

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

# A question costs nothing, so those that wait are counted: of a network, and of a program; but the first of a network
# always has room, so that strangers shut nobody else's program out. One that was never answered
# with a grant is of no use once it is over; the others tell whether a code comes twice.
QUESTIONS = """
ALTER TABLE agent_requests ADD COLUMN address_hash bytea CHECK (octet_length(address_hash) = 32);
CREATE INDEX agent_requests_address_hash_idx ON agent_requests (address_hash, expires_at) WHERE answered_at IS NULL;
CREATE INDEX agent_requests_client_id_idx ON agent_requests (client_id, expires_at) WHERE answered_at IS NULL;
COMMENT ON COLUMN agent_requests.address_hash IS 'The network that it was asked from, to count by';
GRANT INSERT (address_hash) ON agent_requests TO hearthpay_service;
GRANT SELECT (grant_id) ON agent_requests TO hearthpay_worker;

CREATE FUNCTION room_for_agent_request(address bytea, client text, at timestamptz, of_address integer,
                                       of_client integer)
    RETURNS timestamptz
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            here record;
            theirs record;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('hearthpay questions of agents', 0));
            SELECT count(*) AS waiting, min(r.expires_at) AS until INTO here FROM public.agent_requests r
             WHERE r.address_hash = address AND r.answered_at IS NULL AND r.expires_at > at;
            SELECT count(*) AS waiting, min(r.expires_at) AS until INTO theirs FROM public.agent_requests r
             WHERE r.client_id = client AND r.answered_at IS NULL AND r.expires_at > at;
            RETURN greatest(CASE WHEN here.waiting >= of_address THEN here.until END,
                            CASE WHEN theirs.waiting >= of_client AND here.waiting > 0 THEN theirs.until END);
        END
    $$;
COMMENT ON FUNCTION room_for_agent_request IS 'When there is room for another question; null: now, and until the '
    'transaction ends for nobody else';
"""

GRANTS = """
ALTER TABLE agent_grants
    DROP CONSTRAINT agent_grants_ended_because_check,
    ADD CONSTRAINT agent_grants_ended_because_check
        CHECK (ended_because IN ('disconnected', 'revoked', 'code_reused', 'refresh_reused', 'left'));

DROP FUNCTION end_agent_grant(uuid, text, timestamptz);
CREATE FUNCTION end_agent_grant(which uuid, why text, at timestamptz) RETURNS boolean
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            UPDATE public.agent_grants g SET ended_at = greatest(at, g.created_at), ended_because = why
             WHERE g.id = which AND g.ended_at IS NULL;
            RETURN FOUND;
        END
    $$;
COMMENT ON FUNCTION end_agent_grant IS 'Ends a grant; false where it had ended before';

DROP FUNCTION revoke_agent_token(bytea, text, timestamptz);
CREATE FUNCTION revoke_agent_token(shown bytea, client text, at timestamptz) RETURNS boolean
    LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT coalesce((SELECT public.end_agent_grant(g.id, 'revoked', at)
                           FROM public.agent_tokens t JOIN public.agent_grants g ON g.id = t.grant_id
                          WHERE t.token_hash = shown AND g.client_id = client), false)
    $$;
COMMENT ON FUNCTION revoke_agent_token IS 'Whether a grant has ended by it';

-- Whose grant a secret belongs to, so that its end can be told: for who holds it, of a code or a token, used or not.
CREATE FUNCTION find_agent_grant(shown bytea, client text)
    RETURNS TABLE (grant_id uuid, organization_id uuid, employer_id uuid, sandbox boolean, person_id uuid,
                   client_name text, ended_because text)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT g.id, g.organization_id, g.employer_id, g.sandbox, g.person_id, g.client_name, g.ended_because
          FROM public.agent_grants g
         WHERE g.client_id = client
           AND g.id IN (SELECT t.grant_id FROM public.agent_tokens t WHERE t.token_hash = shown
                        UNION ALL SELECT r.grant_id FROM public.agent_requests r WHERE r.code_hash = shown)
    $$;

CREATE OR REPLACE FUNCTION exchange_agent_code(code bytea, client text, at timestamptz, access_id uuid,
                                               access_hash bytea, access_until timestamptz, refresh_id uuid,
                                               refresh_hash bytea, refresh_until timestamptz)
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
                RETURN CASE WHEN public.end_agent_grant(asked.grant_id, 'code_reused', at) THEN 'ended'
                            ELSE 'reused' END;
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

CREATE OR REPLACE FUNCTION exchange_agent_refresh(shown bytea, client text, at timestamptz, access_id uuid,
                                                  access_hash bytea, access_until timestamptz, refresh_id uuid,
                                                  refresh_hash bytea, refresh_until timestamptz)
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
                RETURN CASE WHEN public.end_agent_grant(given.id, 'refresh_reused', at) THEN 'ended'
                            ELSE 'reused' END;
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
"""

# Whoever comes back to an organization has nobody acting for him there until he lets somebody in again. Both modes:
# a membership is of the organization.
LEAVING = """
CREATE FUNCTION end_agents_of_member(person uuid, at timestamptz)
    RETURNS TABLE (grant_id uuid, employer_id uuid, sandbox boolean, client_name text)
    LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        UPDATE public.agent_grants g SET ended_at = greatest(at, g.created_at), ended_because = 'left'
          FROM public.current_tenant() t
         WHERE g.person_id = person AND g.organization_id = t.organization_id AND g.ended_at IS NULL
           AND t.employer_id IS NULL
        RETURNING g.id, g.employer_id, g.sandbox, g.client_name
    $$;
COMMENT ON FUNCTION end_agents_of_member IS 'Ends what the person has given agents in the organization of the tenant';

UPDATE agent_grants g SET ended_at = greatest(now(), g.created_at), ended_because = 'left'
 WHERE g.ended_at IS NULL
   AND NOT EXISTS (SELECT FROM memberships m WHERE m.organization_id = g.organization_id
                      AND m.person_id = g.person_id AND m.ended_at IS NULL);
"""

_FUNCTIONS = (
    "room_for_agent_request(bytea, text, timestamptz, integer, integer)",
    "revoke_agent_token(bytea, text, timestamptz)",
    "find_agent_grant(bytea, text)",
    "end_agents_of_member(uuid, timestamptz)",
)


def upgrade() -> None:
    """Add the column, and the functions that count questions and tell what a grant ended by."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (QUESTIONS, GRANTS, LEAVING):
            cursor.execute(statements)
        cursor.execute("REVOKE ALL ON FUNCTION end_agent_grant(uuid, text, timestamptz) FROM PUBLIC")
        for function in _FUNCTIONS:
            cursor.execute(
                f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC; "
                f"GRANT EXECUTE ON FUNCTION {function} TO hearthpay_service"
            )
    finally:
        cursor.close()
