"""Agents: the question whether one may come in, and those that are connected."""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from tests.web.rows.row import Row
from tests.web.rows.world import World

_ONE: Final = "/settings/agents/{grant_id}"

ROWS: Final[dict[str, Row]] = {
    "GET /oauth/authorize": Row(*(400,) * 6),
    "GET /connect/{token}": Row(303, 403, 410, 410, 410, 303),
    "POST /connect/{token}": Row(303, 403, 410, 410, 410, 303, {"answer": "no"}),
    "GET /settings/agents": Row(303, 200, 200, 200, 200, 200),
    f"GET {_ONE}": Row(303, 200, 200, 200, 404, 200),
    f"POST {_ONE}/disconnect": Row(303, 403, 303, 303, 404, 303),
}


async def things(world: World) -> dict[str, str]:
    """An agent that the owner has let into her household."""
    grant_id = uuid4()
    world.connection.execute(
        "INSERT INTO agent_grants (id, organization_id, employer_id, sandbox, person_id, client_id, client_name, "
        "returns_to, tools, demands_preview, resource, created_at, expires_at) SELECT %s, organization_id, id, "
        "sandbox, %s, 'helper', 'Helper', 'agent.example.com', '{check_threshold}', false, "
        "'https://pay.example.com/mcp', '2026-11-20', '2026-12-20' FROM employers WHERE id = %s",
        (grant_id, world.owner.person_id, world.household_id),
    )
    return {"grant_id": str(grant_id)}
