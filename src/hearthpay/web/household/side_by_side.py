"""The households of an organization side by side, as a member sees them first."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_MEMBERS, allow

_HOUSEHOLDS: Final = text(
    "SELECT id, first_name, last_name, state FROM employers "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox ORDER BY last_name, first_name, id"
)


@dataclass(frozen=True, slots=True)
class HouseholdLine:
    """A household as one of several."""

    id: UUID
    name: str
    state: str


async def households_of(session: AsyncSession, actor: Actor) -> tuple[HouseholdLine, ...]:
    """Return the households of the mode that the member is looking at, by name, whatever the plan has."""
    allow(actor, READ_MEMBERS)
    rows = await session.execute(
        _HOUSEHOLDS, {"organization_id": actor.organization_id, "sandbox": actor.sandbox}
    )
    return tuple(
        HouseholdLine(row.id, f"{row.first_name} {row.last_name}", row.state)
        for row in rows
        if actor.reaches(row.id)
    )
