"""Autopilot."""

from typing import Final

from tests.web.rows.row import at_household

ROWS: Final = {
    "GET /app/{household_id}/autopilot": at_household(200),
}
