"""Links entered in parts, requests for a new link, and accounts that open once the household has confirmed them."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import ACTS_AS_OWNER

revision = "0076"
down_revision = "0075"
branch_labels = None
depends_on = None

PARTS = """
ALTER TABLE invitations
    ADD COLUMN tax_number_at timestamptz,
    ADD COLUMN tax_number_kind text CHECK (tax_number_kind IN ('ssn', 'itin')),
    ADD COLUMN address_at timestamptz,
    ADD COLUMN new_link_requested_at timestamptz;
COMMENT ON COLUMN invitations.tax_number_at IS 'When the number was entered by this link, which takes one';
COMMENT ON COLUMN invitations.address_at IS 'When the address was entered by this link, which takes one';
COMMENT ON COLUMN invitations.new_link_requested_at IS 'When its holder asked for a new link, after this one had ended';
GRANT UPDATE (tax_number_at, tax_number_kind, address_at, new_link_requested_at) ON invitations TO hearthpay_service;
GRANT SELECT (tax_number_at, new_link_requested_at) ON invitations TO hearthpay_worker;
"""

# An account whose address nobody has proven sees nothing of a household before the household has confirmed it. In a
# transaction of the person, a link can only begin to wait: the household alone ends that.
CONFIRMATION = f"""
ALTER TABLE employee_links ADD COLUMN awaits_household boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN employee_links.awaits_household IS
    'Made by the link alone, without a proven address: shows no record until the household has confirmed it';
GRANT UPDATE (awaits_household) ON employee_links TO hearthpay_service;
CREATE POLICY confirmed_by_household ON employee_links AS RESTRICTIVE FOR UPDATE TO hearthpay_service
    USING (true OR {ACTS_AS_OWNER})
    WITH CHECK ((SELECT current_person()) IS NULL OR awaits_household OR {ACTS_AS_OWNER});
CREATE OR REPLACE FUNCTION own_employees() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT l.employee_id FROM public.employee_links l
         WHERE l.person_id = public.current_person() AND l.ended_at IS NULL AND NOT l.awaits_household
    $$;
CREATE OR REPLACE FUNCTION own_employments()
    RETURNS TABLE (link_id uuid, employee_id uuid, organization_id uuid, employer_id uuid, sandbox boolean,
                   household text, first_name text, last_name text, status text, state text, time_zone text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT l.id, l.employee_id, l.organization_id, l.employer_id, l.sandbox, h.first_name || ' ' || h.last_name,
               e.first_name, e.last_name, e.status, h.state::text, h.time_zone
          FROM public.employee_links l
          JOIN public.employees e ON e.id = l.employee_id
          JOIN public.employers h ON h.id = l.employer_id
         WHERE l.person_id = public.current_person() AND l.ended_at IS NULL AND NOT l.awaits_household
         ORDER BY e.status, l.linked_at, l.id
    $$;
"""


def upgrade() -> None:
    """Add the columns, and leave what waits out of the functions that say whose records are whose."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (PARTS, CONFIRMATION):
            cursor.execute(statements)
    finally:
        cursor.close()
