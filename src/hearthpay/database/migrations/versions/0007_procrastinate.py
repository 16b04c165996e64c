"""The clockwork's queue: Procrastinate's tables in a schema of their own, and what the clockwork may tidy away."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# Procrastinate numbers its migrations and never changes one that is published. Its version is pinned exactly; one that
# brings further migrations needs a migration of ours that runs them, from this one to their last. A test compares what
# ours have made with the schema of the installed version.
LAST: Final = "03.04.00_50_post_add_retry_failed_job_procedure.sql"

SCHEMA = """
CREATE SCHEMA procrastinate;
COMMENT ON SCHEMA procrastinate IS 'The queue of the worker processes; for hearthpay_worker only';
"""

# The functions find their tables whoever calls them, an operator who repairs the queue by hand included.
RIGHTS = """
DO $$
DECLARE
    function regprocedure;
BEGIN
    FOR function IN SELECT oid FROM pg_proc WHERE pronamespace = 'procrastinate'::regnamespace LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = procrastinate, pg_temp', function);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', function);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO hearthpay_worker', function);
    END LOOP;
END
$$;
GRANT USAGE ON SCHEMA procrastinate TO hearthpay_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA procrastinate TO hearthpay_worker;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA procrastinate TO hearthpay_worker;
"""

# A key that has guarded a payroll is kept for ever: its repetition years later must still not pay twice. So is a key
# of which it is not known what it guarded.
EXPIRY = """
ALTER TABLE idempotency_keys ADD COLUMN path text;
COMMENT ON COLUMN idempotency_keys.path IS 'What was asked for; null for keys from before it was noted';
CREATE INDEX idempotency_keys_expiry_idx ON idempotency_keys (created_at) WHERE path NOT LIKE '%/payroll%';
GRANT SELECT (organization_id, sandbox, key, path, created_at), DELETE ON idempotency_keys TO hearthpay_worker;
CREATE POLICY worker ON idempotency_keys TO hearthpay_worker USING (true) WITH CHECK (true);

ALTER TABLE invitations DROP CONSTRAINT invitations_status_check,
    ADD CONSTRAINT invitations_status_check CHECK (status IN ('pending', 'cancelled', 'completed', 'expired'));
COMMENT ON COLUMN invitations.status IS 'A pending one opens nothing from expires_at on, and becomes expired after it';
CREATE INDEX invitations_expiry_idx ON invitations (expires_at) WHERE status = 'pending';
GRANT SELECT (id, status, expires_at), UPDATE (status) ON invitations TO hearthpay_worker;
CREATE POLICY worker ON invitations TO hearthpay_worker USING (true) WITH CHECK (true);
"""


def upgrade() -> None:
    """Make the queue with Procrastinate's own migrations, and give the clockwork its rights."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(SCHEMA)
        before = cursor.execute("SELECT current_setting('search_path')").fetchone()[0]
        cursor.execute("SET LOCAL search_path = procrastinate")
        for statements in _migrations():
            cursor.execute(statements)
        cursor.execute("SELECT set_config('search_path', %s, true)", (before,))
        for statements in (RIGHTS, EXPIRY):
            cursor.execute(statements)
    finally:
        cursor.close()


def _migrations() -> list[str]:
    """The packaged migrations up to LAST, in their order."""
    packaged = sorted((files("procrastinate") / "sql" / "migrations").iterdir(), key=lambda file: file.name)
    chosen = [file for file in packaged if file.name.endswith(".sql") and file.name <= LAST]
    if not chosen or chosen[-1].name != LAST:
        raise RuntimeError(f"the installed Procrastinate lacks its migration {LAST}")
    return [file.read_text(encoding="utf-8") for file in chosen]
