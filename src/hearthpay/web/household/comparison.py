"""The households of an organization by name, for pages that offer a choice of them."""

from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_MEMBERS, allow
from hearthpay.database.relations import EMPLOYERS
from hearthpay.database.typed_rows import fetch_all, query


class _HouseholdsRow(NamedTuple):
    id: UUID
    first_name: str
    last_name: str
    state: str


_HOUSEHOLDS: Final = query(
    _HouseholdsRow,
    "SELECT id, first_name, last_name, state FROM {employers} h "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox ORDER BY last_name, first_name, id",
    employers=EMPLOYERS,
)


@dataclass(frozen=True, slots=True)
class HouseholdLine:
    """A household to choose."""

    id: UUID
    name: str
    state: str


async def households_as(session: AsyncSession, actor: Actor) -> tuple[HouseholdLine, ...]:
    """Return the households that a member sees as this actor, in the actor's mode."""
    allow(actor, READ_MEMBERS)
    rows = await fetch_all(
        session, _HOUSEHOLDS, {"organization_id": actor.organization_id, "sandbox": actor.sandbox}
    )
    return tuple(
        HouseholdLine(row.id, f"{row.first_name} {row.last_name}", row.state)
        for row in rows
        if actor.reaches(row.id)
    )
