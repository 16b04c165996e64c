"""Illinois and Indiana: what a household pays with its own income tax return has a name of its own.

``annual`` is the yearly return of a registered account from now on; what was chosen before meant the household's own.
"""

from __future__ import annotations

from alembic import op

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Name what was chosen by its new name."""
    op.execute(
        "UPDATE filing_choices SET frequency = 'own_return' "
        "WHERE jurisdiction IN ('IL', 'IN') AND account = 'withholding' AND frequency = 'annual'"
    )


def downgrade() -> None:
    """Name it as before."""
    op.execute(
        "UPDATE filing_choices SET frequency = 'annual' "
        "WHERE jurisdiction IN ('IL', 'IN') AND account = 'withholding' AND frequency = 'own_return'"
    )
