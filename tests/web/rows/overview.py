"""The household's home page."""

from typing import Final

from tests.web.rows.row import at_household

ROWS: Final = {
    "GET /app/{household_id}": at_household(200),
}
