"""Payrolls."""

from typing import Final

from tests.web.rows.row import at_household

ROWS: Final = {
    "GET /app/{household_id}/payrolls": at_household(200),
}
