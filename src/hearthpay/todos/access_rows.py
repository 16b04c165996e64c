"""To-dos from a household's API keys and connected apps: those in use that expire soon, and keys that have expired.

Only what names the household is listed: a key for all households of an organization belongs to none of them. A request
for access is none, because the person who opened it answers it within minutes.
"""

import datetime
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.audit import last_agent_activity
from hearthpay.database.relations import AGENT_GRANTS, API_KEYS
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.todos.to_do import SubjectType, ToDo

_AHEAD: Final = datetime.timedelta(days=14)
"""How long before it expires something is listed; what was to last no longer than that is left out."""

_IN_USE: Final = datetime.timedelta(days=30)
"""What was used within so many days is in use."""


class _ExpiringRow(NamedTuple):
    kind: Literal["replace_key", "renew_agent"]
    id: UUID
    name: str
    expires_at: datetime.datetime


_EXPIRING: Final = query(
    _ExpiringRow,
    """
    SELECT 'replace_key' AS kind, k.id, k.last_four AS name, k.expires_at
      FROM {api_keys} k
     WHERE k.employer_id = :employer AND k.revoked_at IS NULL AND k.last_used_at > :used_since
       AND k.expires_at > :used_since AND k.expires_at <= :until
       AND k.expires_at > k.created_at + CAST(:ahead AS interval)
    UNION ALL
    SELECT 'renew_agent', g.id, g.client_name, g.expires_at
      FROM {agent_grants} g
     WHERE g.employer_id = :employer AND g.ended_at IS NULL
       AND g.expires_at > :now AND g.expires_at <= :until AND g.expires_at > g.created_at + CAST(:ahead AS interval)
       AND NOT EXISTS (SELECT FROM {agent_grants} n WHERE n.employer_id = g.employer_id AND n.ended_at IS NULL
                          AND n.client_id = g.client_id AND n.person_id = g.person_id AND n.expires_at > g.expires_at)
     ORDER BY 2
    """,
    api_keys=API_KEYS,
    agent_grants=AGENT_GRANTS,
)


async def find_expiring_access(
    session: AsyncSession, employer_id: UUID, now: datetime.datetime, today: datetime.date
) -> list[ToDo]:
    """Return a to-do for each key to replace and each app to connect again; the caller may show them."""
    values = {
        "employer": employer_id,
        "now": now,
        "until": now + _AHEAD,
        "ahead": _AHEAD,
        "used_since": now - _IN_USE,
    }
    rows = await fetch_all(session, _EXPIRING, values)
    agents = [row.id for row in rows if row.kind == "renew_agent"]
    used = await last_agent_activity(session, agents) if agents else {}
    return [
        _to_do(employer_id, row, today)
        for row in rows
        if row.kind == "replace_key" or (row.id in used and used[row.id] > now - _IN_USE)
    ]


def _to_do(employer_id: UUID, row: _ExpiringRow, today: datetime.date) -> ToDo:
    subject: SubjectType = "api_key" if row.kind == "replace_key" else "agent_grant"
    last_day = row.expires_at.astimezone(BUSINESS_TIME).date()
    return ToDo(
        employer_id=employer_id,
        kind=row.kind,
        key=f"{row.kind}/{row.id}",
        subject_type=subject,
        subject_id=str(row.id),
        path="/settings/keys" if row.kind == "replace_key" else f"/settings/agents/{row.id}",
        due_on=last_day,
        overdue=last_day < today,
        name=row.name,
    )
