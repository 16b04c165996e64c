"""A stop link takes away what is younger than the act it stops, within the household of the act.

A former address remembers since when it was held: one that was set within the week never comes back.
"""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0087"
down_revision = "0085"
branch_labels = None
depends_on = None

ADDRESSES: Final = """
ALTER TABLE former_addresses ADD COLUMN held_since timestamptz, ALTER COLUMN address DROP NOT NULL;
ALTER TABLE former_person_addresses ADD COLUMN held_since timestamptz;
COMMENT ON COLUMN former_addresses.held_since IS 'Null: for longer than addresses are former, or unknown';
COMMENT ON COLUMN former_person_addresses.held_since IS 'Null: for longer than addresses are former, or unknown';
COMMENT ON COLUMN former_addresses.address IS 'Null: there was none';
"""

# A freeze is a household's, unless a member of the organization asks for it. It isn't made longer, and what was done
# before it began, or before it was ended early, freezes nothing again.
FREEZE: Final = """
ALTER TABLE employers ADD COLUMN frozen_until timestamptz, ADD COLUMN unfrozen_at timestamptz;
ALTER TABLE organizations ADD COLUMN unfrozen_at timestamptz;
COMMENT ON COLUMN employers.frozen_until IS 'Until then nothing new is let in, and no money account changes';
COMMENT ON COLUMN employers.unfrozen_at IS 'What was done before freezes nothing again';
COMMENT ON COLUMN organizations.unfrozen_at IS 'What was done before freezes nothing again';

CREATE FUNCTION freeze_organization(since timestamptz, until timestamptz) RETURNS boolean
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
    BEGIN
        UPDATE public.organizations o SET frozen_until = until, unfrozen_at = clock_timestamp()
         WHERE o.id = (SELECT t.organization_id FROM public.current_tenant() t)
           AND (o.frozen_until IS NULL OR o.frozen_until <= since);
        RETURN FOUND;
    END
    $$;
COMMENT ON FUNCTION freeze_organization(timestamptz, timestamptz) IS
    'Lets nothing new into the tenant''s organization from since until then, unless it is frozen; whether it did';

CREATE FUNCTION freeze_household(household uuid, since timestamptz, until timestamptz) RETURNS boolean
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
    BEGIN
        UPDATE public.employers e SET frozen_until = until, unfrozen_at = clock_timestamp()
         WHERE e.id = household AND NOT e.sandbox
           AND e.organization_id = (SELECT t.organization_id FROM public.current_tenant() t)
           AND (e.frozen_until IS NULL OR e.frozen_until <= since);
        RETURN FOUND;
    END
    $$;
COMMENT ON FUNCTION freeze_household IS
    'Lets nothing new into this household of the tenant''s organization, unless it is frozen; whether it did';

CREATE FUNCTION unfreeze_of(organization uuid, household uuid) RETURNS void
    LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
        UPDATE public.organizations o SET frozen_until = NULL, unfrozen_at = clock_timestamp()
         WHERE household IS NULL AND o.id = organization;
        UPDATE public.employers e SET frozen_until = NULL, unfrozen_at = clock_timestamp()
         WHERE e.id = household AND e.organization_id = organization
    $$;
COMMENT ON FUNCTION unfreeze_of IS 'Ends the freeze of this household, or of the organization if none is named';

CREATE FUNCTION unfreeze(household uuid) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT public.unfreeze_of((SELECT t.organization_id FROM public.current_tenant() t), household) $$;
COMMENT ON FUNCTION unfreeze IS 'Ends the freeze of this household of the tenant, or of its organization';

REVOKE ALL ON FUNCTION freeze_organization(timestamptz, timestamptz), freeze_household(uuid, timestamptz, timestamptz),
    unfreeze_of(uuid, uuid), unfreeze(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION freeze_organization(timestamptz, timestamptz),
    freeze_household(uuid, timestamptz, timestamptz), unfreeze(uuid) TO hearthpay_service;
"""


def upgrade() -> None:
    """Add the columns and functions."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        for statements in (ADDRESSES, FREEZE):
            cursor.execute(statements)
    finally:
        cursor.close()
