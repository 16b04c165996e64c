"""Let two organizations have one name, and let the first owner join an organization that has no people."""

from __future__ import annotations

from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

# Two families are called Lopez. A name that had to be unique told a stranger who else is here, or was changed for him.
NAMES = """
ALTER TABLE organizations DROP CONSTRAINT organizations_name_key;
CREATE INDEX organizations_name_idx ON organizations (name);

CREATE OR REPLACE FUNCTION found_organization(organization uuid, membership uuid, wanted text, plan text,
                                              at timestamptz)
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
            INSERT INTO public.organizations (id, name, created_at, plan) VALUES (organization, given, at, plan);
            INSERT INTO public.memberships (id, organization_id, person_id, role, joined_at)
                VALUES (membership, organization, founder, 'owner', at);
            RETURN given;
        END
    $$;
COMMENT ON FUNCTION found_organization IS 'Makes an organization whose owner is the person of this transaction; '
    'answers its name, and nothing to a person who owns five';
"""

# The lock is also taken where the operator creates an organization: the link and the command line follow each other.
FIRST_OWNER = """
CREATE FUNCTION organizations_without_people(token_hash bytea, at timestamptz)
    RETURNS TABLE (organization_id uuid, name text)
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            IF NOT EXISTS (SELECT FROM public.one_time_tokens t
                            WHERE t.token_hash = organizations_without_people.token_hash AND t.kind = 'first_owner'
                              AND t.used_at IS NULL AND t.expires_at > at) THEN
                RETURN;
            END IF;
            PERFORM pg_advisory_xact_lock(hashtextextended('hearthpay new organization', 0));
            RETURN QUERY SELECT o.id, o.name FROM public.organizations o
                          WHERE NOT EXISTS (SELECT FROM public.memberships m WHERE m.organization_id = o.id)
                          ORDER BY o.id;
        END
    $$;
COMMENT ON FUNCTION organizations_without_people IS 'Lists organizations that never had a member, to a person who '
    'holds a first owner''s link that still works';
REVOKE ALL ON FUNCTION organizations_without_people(bytea, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION organizations_without_people(bytea, timestamptz) TO hearthpay_service;
"""


def upgrade() -> None:
    """Drop the unique constraint, and create the function that the first owner's link asks."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(NAMES)
        cursor.execute(FIRST_OWNER)
    finally:
        cursor.close()
