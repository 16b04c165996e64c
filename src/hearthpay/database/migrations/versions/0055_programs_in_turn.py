"""Programs in turn: where too many were registered, one of the network with the most gives way, and an access token
tells whose budget of requests it is.
"""

from __future__ import annotations

from alembic import op

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

# A flood from one network takes its own places away, and never that of a program which somebody else registered.
INTRODUCE = """
CREATE OR REPLACE FUNCTION introduce_agent(new_id uuid, new_client_id text, new_kind text, new_name text,
                                new_uris text[], new_address bytea, at timestamptz, until timestamptz, an_hour integer,
                                in_all integer)
    RETURNS boolean
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            unanswered bigint;
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
                 WHERE c.address_hash = new_address AND c.created_at > at - interval '1 hour') >= an_hour THEN
                RETURN false;
            END IF;
            SELECT count(*) INTO unanswered FROM public.agent_clients c WHERE c.expires_at > at
               AND NOT EXISTS (SELECT FROM public.agent_grants g WHERE g.client_id = c.client_id);
            IF unanswered >= in_all THEN
                WITH waiting AS (
                    SELECT c.id, c.created_at, count(*) OVER (PARTITION BY c.address_hash) AS of_network
                      FROM public.agent_clients c WHERE c.expires_at > at
                       AND NOT EXISTS (SELECT FROM public.agent_grants g WHERE g.client_id = c.client_id))
                DELETE FROM public.agent_clients d USING (
                    SELECT w.id FROM waiting w ORDER BY w.of_network DESC, w.created_at, w.id LIMIT 1) AS first
                 WHERE d.id = first.id;
            END IF;
            INSERT INTO public.agent_clients (id, client_id, kind, name, redirect_uris, address_hash, created_at,
                                              expires_at)
            VALUES (new_id, new_client_id, new_kind, new_name, new_uris, new_address, at, until);
            RETURN true;
        END
    $$;
"""

FIND = """
DROP FUNCTION find_agent_token(bytea, timestamptz);
CREATE FUNCTION find_agent_token(shown bytea, at timestamptz)
    RETURNS TABLE (grant_id uuid, organization_id uuid, employer_id uuid, sandbox boolean, tools text[],
                   demands_preview boolean, resource text, client_name text, role text, plan text, lifted_limits jsonb,
                   person_id uuid)
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT g.id, g.organization_id, g.employer_id, g.sandbox, g.tools, g.demands_preview, g.resource,
               g.client_name, m.role, o.plan, o.lifted_limits, g.person_id
          FROM public.agent_tokens t
          JOIN public.agent_grants g ON g.id = t.grant_id
          JOIN public.organizations o ON o.id = g.organization_id
          JOIN public.memberships m ON m.organization_id = g.organization_id AND m.person_id = g.person_id
                                   AND m.ended_at IS NULL
         WHERE t.token_hash = shown AND t.kind = 'access' AND t.expires_at > at AND g.expires_at > at
           AND g.ended_at IS NULL
    $$;
REVOKE ALL ON FUNCTION find_agent_token(bytea, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_agent_token(bytea, timestamptz) TO hearthpay_service;
"""


def upgrade() -> None:
    """Replace both functions."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (INTRODUCE, FIND):
            cursor.execute(statements)
    finally:
        cursor.close()
