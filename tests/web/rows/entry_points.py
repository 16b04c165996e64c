"""The ways to a household."""

from typing import Final

from tests.web.rows.row import Row, at_household
from tests.web.rows.world import World

_LEADS_ON: Final = Row(303, 200, 200, 200, 303, 200)
"""The first organization has two households, to choose of; the other one none yet, which is made first."""

_NO_FORM: Final = "01a21400-0000-7000-8000-000000000000"
"""No household is selected by it; `test_several_payrolls.py` has those that are."""

ROWS: Final = {
    "GET /home": _LEADS_ON,
    "GET /households": Row(303, 200, 200, 200, 200, 200),
    "POST /households/payrolls": Row(303, 403, 400, 400, 400, 400, {"form_id": _NO_FORM}),
    "GET /households/payrolls/{form_id}": Row(303, 404, 404, 404, 404, 404),
    "POST /households/payrolls/{form_id}": Row(303, 403, 404, 404, 404, 404),
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
    return {
        "household_id": str(world.household_id),
        "employee_id": str(world.employee_id),
        "form_id": _NO_FORM,
    }
