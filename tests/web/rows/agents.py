"""Agents: the question whether one may come in, and those that are connected."""

from typing import Final

from tests.database.household import add_agent
from tests.web.rows.row import Row
from tests.web.rows.world import World

_ONE: Final = "/settings/agents/{grant_id}"

ROWS: Final[dict[str, Row]] = {
    "GET /oauth/authorize": Row(*(400,) * 6),
    "GET /connect/{token}": Row(303, 403, 410, 410, 410, 303),
    "POST /connect/{token}": Row(303, 403, 410, 410, 410, 303, {"decision": "no"}),
    "GET /settings/agents": Row(303, 200, 200, 200, 200, 200),
    f"GET {_ONE}": Row(303, 200, 200, 200, 404, 200),
    f"POST {_ONE}/disconnect": Row(303, 403, 303, 303, 404, 303),
}


async def things(world: World) -> dict[str, str]:
    """An agent that the owner has let into her household."""
    household = {
        "organization_id": world.actor.organization_id,
        "employer_id": world.household_id,
        "sandbox": False,
    }
    return {"grant_id": str(add_agent(world.connection, household, world.owner.person_id))}
