"""Links by mail that let a person sign in from a new browser while somebody else keeps failing on the account."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0095"
down_revision = "0091"
branch_labels = None
depends_on = None

KINDS: Final = """
ALTER TABLE one_time_tokens
    DROP CONSTRAINT one_time_tokens_kind_check,
    ADD CONSTRAINT one_time_tokens_kind_check CHECK (
        kind IN ('sign_up', 'reset', 'new_email', 'first_owner', 'challenge', 'employee_account', 'sign_in')),
    DROP CONSTRAINT one_time_tokens_with_email,
    ADD CONSTRAINT one_time_tokens_with_email
        CHECK ((kind IN ('sign_up', 'reset', 'new_email', 'employee_account', 'sign_in')) = (email IS NOT NULL)),
    ADD CONSTRAINT one_time_tokens_to_sign_in CHECK ((kind = 'sign_in') <= (person_id IS NOT NULL));
"""


def upgrade() -> None:
    """Allow the new kind of link, which has the person and the address that it was sent to."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(KINDS)
    finally:
        cursor.close()
