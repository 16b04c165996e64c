"""Help, which anyone may read, and the search."""

from typing import Final

from tests.web.rows.row import Row, at_household
from tests.web.rows.world import World

_OPEN: Final = Row(200, 200, 200, 200, 200, 200)

ROWS: Final = {
    "GET /help": _OPEN,
    "GET /help/terms": _OPEN,
    "GET /help/terms/{term_key}": _OPEN,
    "GET /help/minimum-wages": _OPEN,
    "GET /help/{guide_slug}": _OPEN,
    "GET /search": Row(303, 200, 200, 200, 200, 200),
    "GET /more": Row(303, 200, 200, 200, 200, 200),
    "GET /app/{household_id}/search": at_household(200),
}


async def things(world: World) -> dict[str, str]:
    return {"guide_slug": "first-payroll", "term_key": "net-pay"}
