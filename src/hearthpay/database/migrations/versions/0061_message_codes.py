"""What a paycheck warns of by code, and why a payment is held by code."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None

MESSAGES: Final = """
ALTER TABLE paychecks ADD COLUMN messages jsonb
    CHECK (jsonb_array_length(messages) = jsonb_array_length(warnings));
COMMENT ON COLUMN paychecks.messages IS
    'What warnings says in English, by code with parameters; null: written before there were codes';
"""

# The words stay beside the code while a program of the version before may be running: it reads them.
HOLDS: Final = """
ALTER TABLE bank_entries
    ADD COLUMN hold_code text CHECK (hold_code IN (
        'account_failed', 'account_verifying', 'account_not_usable', 'not_authorized', 'name_not_readable',
        'arrives_in_other_year', 'internal')),
    ADD COLUMN hold_params jsonb CHECK (jsonb_typeof(hold_params) = 'object');
UPDATE bank_entries SET hold_code = CASE
        WHEN held_reason LIKE 'the bank account is failed%' THEN 'account_failed'
        WHEN held_reason LIKE 'the bank account is verifying%' THEN 'account_verifying'
        WHEN held_reason LIKE 'the bank account is%' THEN 'account_not_usable'
        WHEN held_reason LIKE 'the household has not authorized%' THEN 'not_authorized'
        WHEN held_reason LIKE 'the name has%' THEN 'name_not_readable'
        WHEN held_reason LIKE 'it would arrive%' THEN 'arrives_in_other_year'
        ELSE 'internal' END
    WHERE held_reason IS NOT NULL;
COMMENT ON COLUMN bank_entries.hold_code IS
    'Why it could not go when it was tried last, by code; null: nothing holds it, or an earlier version noted it';
GRANT UPDATE (hold_code, hold_params) ON bank_entries TO hearthpay_worker;
"""


def upgrade() -> None:
    """Add the codes beside the words, and give the holds of now theirs."""
    op.execute(MESSAGES)
    op.execute(HOLDS)
