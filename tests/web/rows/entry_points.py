"""The ways to a household."""

from typing import Final

from tests.web.rows.row import Row, at_household
from tests.web.rows.world import World

_LEADS_ON: Final = Row(303, 200, 200, 200, 303, 200)
"""The first organization has two households, to choose of; the other one none yet, which is made first."""

ROWS: Final = {
    "GET /home": _LEADS_ON,
    "GET /households": Row(303, 200, 200, 200, 200, 200),
    "GET /app": _LEADS_ON,
    "GET /app/payrolls": _LEADS_ON,
    "GET /app/employees": _LEADS_ON,
    "GET /app/autopilot": _LEADS_ON,
    "GET /app/taxes": _LEADS_ON,
    "GET /app/calendar": _LEADS_ON,
    "GET /app/bank": _LEADS_ON,
    "GET /app/state-accounts": _LEADS_ON,
    "GET /app/{household_id}/more": at_household(200),
}


async def things(world: World) -> dict[str, str]:
    """The household itself, which all other areas are about, and who works there."""
    return {"household_id": str(world.household_id), "employee_id": str(world.employee_id)}
