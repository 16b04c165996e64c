"""Restored from a backup: until a person has looked, the clockwork sees no real money."""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

# A restore makes the table itself, before anything else of a backup can be acted upon.
TABLE = """
CREATE TABLE IF NOT EXISTS restorations (
    id uuid PRIMARY KEY,
    backup text NOT NULL CHECK (backup <> ''),
    taken_at timestamptz NOT NULL,
    restored_at timestamptz NOT NULL,
    resumed_at timestamptz CHECK (resumed_at >= restored_at)
);
COMMENT ON TABLE restorations IS 'Restores from a backup; while resumed_at is null, real money waits';
ALTER TABLE restorations ENABLE ROW LEVEL SECURITY;
ALTER TABLE restorations FORCE ROW LEVEL SECURITY;
CREATE POLICY operator ON restorations TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY worker ON restorations FOR SELECT TO hearthpay_worker USING (true);
GRANT SELECT ON restorations TO hearthpay_worker;
"""

# Restrictive: on top of the policy that shows the clockwork every tenant. The subselect is evaluated once a statement.
_NOT_HELD = "(SELECT NOT EXISTS (SELECT FROM public.restorations r WHERE r.resumed_at IS NULL))"
_REAL_MONEY = {
    "payrolls": f"sandbox OR {_NOT_HELD}",
    "bank_entries": f"sandbox OR {_NOT_HELD}",
    "bank_accounts": f"sandbox OR {_NOT_HELD}",
    "bank_files": _NOT_HELD,
}


def upgrade() -> None:
    """Make the table, and hide from the clockwork what must wait."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(TABLE)
        for table, visible in _REAL_MONEY.items():
            cursor.execute(
                f"CREATE POLICY held_after_restore ON {table} AS RESTRICTIVE TO hearthpay_worker USING ({visible})"
            )
    finally:
        cursor.close()
