"""A stopped account keeps what is older than the act; disputes of two mailboxes are decided; owners count in time."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0088"
down_revision = "0087"
branch_labels = None
depends_on = None

ACCOUNTS: Final = """
ALTER TABLE credentials ADD COLUMN doubted_at timestamptz;
COMMENT ON COLUMN credentials.doubted_at IS
    'Of a password: reported as known to somebody else; taken only in a known browser or before a second factor';
GRANT UPDATE (doubted_at) ON credentials TO hearthpay_service;

ALTER TABLE people
    ADD COLUMN strangers_from timestamptz,
    ADD COLUMN strangers_until timestamptz,
    ADD COLUMN disputed_address text CHECK (length(disputed_address) BETWEEN 3 AND 254),
    ADD COLUMN disputed_at timestamptz,
    ADD CONSTRAINT people_strangers CHECK (num_nulls(strangers_from, strangers_until) IN (0, 2)),
    ADD CONSTRAINT people_dispute CHECK (num_nulls(disputed_address, disputed_at) IN (0, 2));
COMMENT ON COLUMN people.strangers_from IS 'Browsers first seen from then on, until strangers_until, are not known';
COMMENT ON COLUMN people.disputed_address IS
    'The address before this one, whose reader says that the change was not theirs: no reset is mailed meanwhile';
CREATE UNIQUE INDEX people_disputed_address_key ON people (disputed_address) WHERE disputed_address IS NOT NULL;

-- Who doesn't know the new address, since an intruder chose it, signs in with the one before.
CREATE OR REPLACE FUNCTION find_person(address text) RETURNS uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT coalesce((SELECT p.id FROM public.people p WHERE p.email = find_person.address),
                        (SELECT p.id FROM public.people p WHERE p.disputed_address = find_person.address))
    $$;
GRANT UPDATE (strangers_from, strangers_until, disputed_address, disputed_at) ON people TO hearthpay_service;
"""

# An owner of yesterday must not vote the others out.
OWNERS: Final = """
ALTER TABLE memberships
    ADD COLUMN role_since timestamptz,
    ADD COLUMN kept_at timestamptz;
UPDATE memberships m SET role_since = c.at FROM (
    SELECT a.organization_id, a.subject_id, max(a.at) AS at FROM audit_log a
     WHERE a.action = 'member.change_role' GROUP BY a.organization_id, a.subject_id) c
 WHERE c.organization_id = m.organization_id AND c.subject_id = m.person_id AND c.at > m.joined_at;
COMMENT ON COLUMN memberships.role_since IS 'When the member was given this role; null: on joining';
COMMENT ON COLUMN memberships.kept_at IS
    'When the member stopped their own removal by the link of the warning, which they can do once';
GRANT UPDATE (role_since, kept_at) ON memberships TO hearthpay_service;
"""


def upgrade() -> None:
    """Add the columns; an owner counts since the last change of their role."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (ACCOUNTS, OWNERS):
            cursor.execute(statements)
    finally:
        cursor.close()
