"""The next question of setting up an employee, so that answers are kept when people leave in between."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0075"
down_revision = "0073"
branch_labels = None
depends_on = None

QUESTION: Final = """
ALTER TABLE employees ADD COLUMN setup_question smallint CHECK (setup_question BETWEEN 3 AND 5);
COMMENT ON COLUMN employees.setup_question IS
    'The next question of setup: 3 pay, 4 how often, 5 how to pay; null: all are answered, or added without setup';
"""


def upgrade() -> None:
    """Add the column; whoever was added before needs no more setup."""
    op.execute(QUESTION)


def downgrade() -> None:
    """Drop the column."""
    op.execute("ALTER TABLE employees DROP COLUMN setup_question")
