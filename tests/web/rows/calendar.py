"""The calendar."""

from datetime import date
from typing import Final

from hearthpay.duties.service import CalendarQuery, read_calendar
from tests.web.rows.row import at_household, kept
from tests.web.rows.world import World

_HERE: Final = "/app/{household_id}/calendar"

ROWS: Final = {
    f"GET {_HERE}": at_household(200),
    f"GET {_HERE}/link": kept(200, fresh=True),
    f"POST {_HERE}/link": kept(200, fresh=True),
    f"POST {_HERE}/link/revoke": kept(303, fresh=True),
    f"GET {_HERE}/{{item_id}}": at_household(200),
    f"POST {_HERE}/{{item_id}}/done": kept(303, done_on="2026-11-01"),
    f"POST {_HERE}/{{item_id}}/filed": kept(303, filed_on="2026-11-01", confirmation="0-418-229-304"),
    f"POST {_HERE}/{{item_id}}/undo": kept(303),
}


async def things(world: World) -> dict[str, str]:
    """Something that is due within a year."""
    requested = CalendarQuery(world.household_id, date(2026, 11, 1), date(2027, 11, 1))
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        found = await read_calendar(session, world.actor, world.people_context.clock, requested)
    return {"item_id": str(next(each.uid for each in found.items if each.kind == "return"))}
