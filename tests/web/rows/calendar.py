"""The calendar."""

from typing import Final

from tests.web.rows.row import at_household

ROWS: Final = {
    "GET /app/{household_id}/calendar": at_household(200),
}
