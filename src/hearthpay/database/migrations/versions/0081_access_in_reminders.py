"""The worker reads when API keys and connected apps expire, so that its mails have the same to-dos as the pages."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0081"
down_revision = "0080"
branch_labels = None
depends_on = None

# Neither the hash of a key nor what a key or an app may do. A key for all households, or one that is revoked, is no
# household's to-do: the worker doesn't see it. Grants of apps have the worker's policy already.
ACCESS: Final = """
GRANT SELECT (id, employer_id, last_four, created_at, revoked_at, expires_at, last_used_at)
    ON api_keys TO hearthpay_worker;
CREATE POLICY worker ON api_keys FOR SELECT TO hearthpay_worker
    USING (employer_id IS NOT NULL AND expires_at IS NOT NULL AND revoked_at IS NULL);
CREATE INDEX api_keys_of_household_idx ON api_keys (employer_id) WHERE employer_id IS NOT NULL;
GRANT SELECT (employer_id, person_id, client_name, created_at) ON agent_grants TO hearthpay_worker;
"""

BACK: Final = """
DROP INDEX api_keys_of_household_idx;
DROP POLICY worker ON api_keys;
REVOKE SELECT (id, employer_id, last_four, created_at, revoked_at, expires_at, last_used_at)
    ON api_keys FROM hearthpay_worker;
REVOKE SELECT (employer_id, person_id, client_name, created_at) ON agent_grants FROM hearthpay_worker;
"""


def upgrade() -> None:
    """Let the worker read what the to-dos say."""
    op.execute(ACCESS)


def downgrade() -> None:
    """Let it read neither again."""
    op.execute(BACK)
