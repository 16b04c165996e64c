"""The agents connected to an organization: what each was granted, what it did, and how it is disconnected."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import END_AGENTS, READ_AGENTS, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock, real_clock
from hearthpay.database.audit import agent_audit_entries, last_agent_activity
from hearthpay.oauth.models import AgentGrant


@dataclass(frozen=True, slots=True)
class GrantedAgent:
    """An agent that was authorized; `last_used_at` None: it has done nothing yet."""

    grant: AgentGrant
    last_used_at: datetime.datetime | None


@dataclass(frozen=True, slots=True)
class AgentAuditEntry:
    """One thing that an agent did, or was refused."""

    at: datetime.datetime
    action: str
    details: dict[str, Any]


async def list_agents(session: AsyncSession, actor: Actor) -> Sequence[GrantedAgent]:
    """Return the agents of the actor's organization and mode, the latest first, including ended ones."""
    allow(actor, READ_AGENTS)
    grants = (
        await session.scalars(
            select(AgentGrant)
            .where(
                AgentGrant.organization_id == actor.organization_id,
                AgentGrant.sandbox == actor.sandbox,
            )
            .order_by(AgentGrant.id.desc())
        )
    ).all()
    last = await last_agent_activity(session, [each.id for each in grants])
    return [GrantedAgent(each, last.get(each.id)) for each in grants if actor.reaches(each.employer_id)]


async def read_agent(
    session: AsyncSession, actor: Actor, grant_id: UUID, *, limit: int = 100
) -> tuple[AgentGrant, Sequence[AgentAuditEntry]]:
    """Return an agent and its latest actions. Raises `not_found`."""
    allow(actor, READ_AGENTS)
    grant = await _grant(session, actor, grant_id)
    audit_entries = await agent_audit_entries(session, grant.id, limit=limit)
    return grant, [AgentAuditEntry(*each) for each in audit_entries]


async def revoke_grant(session: AsyncSession, actor: Actor, clock: Clock, grant_id: UUID) -> None:
    """Disconnect an agent: its next request is refused. Raises `not_found`; does nothing if it has ended."""
    allow(actor, END_AGENTS)
    grant = await _grant(session, actor, grant_id)
    ended = await session.scalar(
        update(AgentGrant)
        .where(AgentGrant.id == grant.id, AgentGrant.ended_at.is_(None))
        .values(ended_at=max(real_clock(clock).now(), grant.created_at), ended_because="disconnected")
        .returning(AgentGrant.id)
    )
    if ended is not None:
        await record_audit(
            session,
            actor,
            "agent.disconnect",
            employer_id=grant.employer_id,
            subject_id=grant.id,
            details={"client": grant.client_name},
        )


async def _grant(session: AsyncSession, actor: Actor, grant_id: UUID) -> AgentGrant:
    found = await session.scalar(
        select(AgentGrant).where(
            AgentGrant.id == grant_id,
            AgentGrant.organization_id == actor.organization_id,
            AgentGrant.sandbox == actor.sandbox,
        )
    )
    if found is None or not actor.reaches(found.employer_id):
        raise Refusal("not_found", "There is no such agent.")
    return found
