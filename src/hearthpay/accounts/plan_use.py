"""What an organization's plan allows and how much of it is used, for its members."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_PLAN, allow
from hearthpay.database.relations import EMPLOYEES, EMPLOYERS
from hearthpay.database.typed_rows import fetch_one, query


class _UseRow(NamedTuple):
    households: int
    most_employees: int
    keys: int


_USE: Final = query(
    _UseRow,
    "SELECT (SELECT count(*) FROM {employers} e WHERE e.organization_id = :organization_id "
    "AND e.sandbox = :sandbox) AS households, "
    "(SELECT coalesce(max(number), 0) FROM (SELECT count(*) AS number FROM {employees} w "
    "WHERE w.organization_id = :organization_id AND w.sandbox = :sandbox AND w.status = 'active' "
    "GROUP BY w.employer_id) each) AS most_employees, "
    "(SELECT count(*) FROM api_keys k WHERE k.organization_id = :organization_id AND k.revoked_at IS NULL) AS keys",
    employers=EMPLOYERS,
    employees=EMPLOYEES,
)


@dataclass(frozen=True, slots=True)
class PlanUse:
    """How much an organization uses of what its plan limits, in the mode that the actor is viewing.

    `most_employees` counts the active employees of the household that has the most; `keys` counts those in force in
    both modes.
    """

    households: int
    most_employees: int
    keys: int


async def plan_use(session: AsyncSession, actor: Actor) -> PlanUse:
    """Return how much of the plan is used. Raises what `allow` raises."""
    allow(actor, READ_PLAN)
    values = {"organization_id": actor.organization_id, "sandbox": actor.sandbox}
    row = await fetch_one(session, _USE, values)
    return PlanUse(row.households, row.most_employees, row.keys)
