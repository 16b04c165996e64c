"""The households of an organization side by side, as a member sees them first."""

import datetime
from dataclasses import dataclass, replace
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_MEMBERS, READ_PAYROLLS, allow
from hearthpay.database.relations import EMPLOYERS, PAYROLLS
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.web.household.to_dos import ToDo, find_to_dos
from hearthpay.web.visitor import Visitor


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


class _NextRow(NamedTuple):
    employer_id: UUID
    pay_date: datetime.date


_NEXT: Final = query(
    _NextRow,
    "SELECT employer_id, min(pay_date) AS pay_date FROM {payrolls} p "
    "WHERE status IN ('scheduled', 'firing', 'pending_funding', 'processing') AND pay_date >= :today GROUP BY 1",
    payrolls=PAYROLLS,
)


@dataclass(frozen=True, slots=True)
class HouseholdLine:
    """A household in a list: its next payday, if one is planned, and its to-dos by urgency."""

    id: UUID
    name: str
    state: str
    next_payday: datetime.date | None = None
    waits: tuple[ToDo, ...] = ()


async def households_of(session: AsyncSession, visitor: Visitor) -> tuple[HouseholdLine, ...]:
    """Return the households of the mode that the member is viewing, by name, whatever the plan allows."""
    return await households_as(session, visitor.actor())


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


async def with_to_dos(
    session: AsyncSession, visitor: Visitor, lines: tuple[HouseholdLine, ...]
) -> tuple[HouseholdLine, ...]:
    """Return the households with their next payday and their to-dos. Raises what `allow` raises."""
    allow(visitor.actor(), READ_PAYROLLS)
    clock = visitor.people_context.clock
    waits: dict[UUID, list[ToDo]] = {line.id: [] for line in lines}
    for each in await find_to_dos(session, list(waits), clock.now(), clock.today()):
        waits[each.employer_id].append(each)
    days = {
        row.employer_id: row.pay_date for row in await fetch_all(session, _NEXT, {"today": clock.today()})
    }
    return tuple(replace(line, next_payday=days.get(line.id), waits=tuple(waits[line.id])) for line in lines)


def matching(lines: tuple[HouseholdLine, ...], requested: str) -> tuple[HouseholdLine, ...]:
    """Return the households whose name or state contains each search word, in any case."""
    words = requested.casefold().split()
    return tuple(
        line for line in lines if all(word in f"{line.name} {line.state}".casefold() for word in words)
    )
