"""Idempotency keys live in the household that the key or grant is confined to, and answers say who may have them.

The database takes the household from the signed tenant, so that requests of the previous version are confined too.
Keys from before it, and those of everybody who isn't confined to one household, have the nil UUID.
"""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0091"
down_revision = "0090"
branch_labels = None
depends_on = None

_NONE: Final = "'00000000-0000-0000-0000-000000000000'::uuid"

COLUMNS: Final = f"""
ALTER TABLE idempotency_keys ADD COLUMN confined_to uuid NOT NULL DEFAULT {_NONE}, ADD COLUMN permissions text[];
ALTER TABLE idempotency_keys ALTER COLUMN confined_to
    SET DEFAULT coalesce((current_tenant()).employer_id, {_NONE});
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey;
ALTER TABLE idempotency_keys ADD PRIMARY KEY (organization_id, sandbox, key, confined_to);
COMMENT ON COLUMN idempotency_keys.confined_to IS 'The one household that its sender could reach; nil where more';
COMMENT ON COLUMN idempotency_keys.permissions IS
    'What was needed for the answer, and is needed to have it again; null where that was not noted';
GRANT UPDATE (permissions) ON idempotency_keys TO hearthpay_service;
GRANT SELECT (confined_to) ON idempotency_keys TO hearthpay_worker;
"""

_OWN: Final = f"""(organization_id, sandbox) = (SELECT t.organization_id, t.sandbox FROM current_tenant() t)
    AND (confined_to = {_NONE}
         OR confined_to = coalesce((SELECT t.employer_id FROM current_tenant() t), confined_to))"""

GUARD: Final = f"""
ALTER POLICY tenant ON idempotency_keys USING ({_OWN}) WITH CHECK ({_OWN});
"""


def upgrade() -> None:
    """Add the household and the permissions to the keys, and show a household's keys to no sibling."""
    cursor = op.get_bind().connection.cursor()
    try:
        for statements in (COLUMNS, GUARD):
            cursor.execute(statements)
    finally:
        cursor.close()
