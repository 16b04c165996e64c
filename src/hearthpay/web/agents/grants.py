"""The connected agents, what each may do and has done, and how to disconnect one."""

from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import END_AGENTS, READ_AGENTS
from hearthpay.languages.catalogue import mark
from hearthpay.oauth import grants
from hearthpay.oauth.routes import resource_of
from hearthpay.oauth.scopes import OFFERS
from hearthpay.web.framework import go, id_in_path, page_of, show
from hearthpay.web.household.comparison import households_as
from hearthpay.web.mode_switch import in_other_mode
from hearthpay.web.settings.audit_entries import SERVICE_CALLS
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_ENDED: Final = {
    "disconnected": mark("disconnected"),
    "revoked": mark("returned by the app"),
    "code_reused": mark("ended: its code came twice, which a thief's would"),
    "refresh_reused": mark("disconnected: its token was used twice, which can mean it was stolen"),
    "left": mark("ended: the person who connected it is no longer in the organization"),
}

_CONFIRMED: Final = {
    "confirm_large_payroll": mark("The app said that you confirmed the large amount"),
    "confirm_ach_debit": mark("It said that you confirmed the debit of your account"),
    "as_previewed": mark("What was paid is what the preview showed"),
}
"""The details in the record of a run besides the run itself."""


@page_of(router, "GET", "/settings/agents", "member", permission=READ_AGENTS)
async def agents(visitor: Visitor) -> Response:
    """List all agents that were granted access, latest first."""
    actor = visitor.actor()
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        found = await grants.list_agents(session, actor)
        names = {each.id: each.name for each in await households_as(session, actor)}
    facts = {"agents": found, "names": names, "address": resource_of(visitor.request)}
    facts |= await in_other_mode(visitor, agents=_count_agents)
    return show(visitor, "agents.html", facts | _frame(visitor))


@page_of(router, "GET", "/settings/agents/{grant_id}", "member", permission=READ_AGENTS)
async def agent(visitor: Visitor) -> Response:
    """Show one agent and its last actions."""
    actor = visitor.actor()
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        grant, audit_entries = await grants.read_agent(session, actor, id_in_path(visitor, "grant_id"))
        names = {each.id: each.name for each in await households_as(session, actor)}
    facts = {
        "grant": grant,
        "deeds": audit_entries,
        "names": names,
        "words": SERVICE_CALLS,
        "confirmed": _CONFIRMED,
    }
    return show(visitor, "agent.html", facts | _frame(visitor))


@page_of(router, "POST", "/settings/agents/{grant_id}/disconnect", "member", permission=END_AGENTS)
async def disconnect(visitor: Visitor) -> Response:
    """Disconnect an agent without asking for confirmation; it may request access again."""
    actor, grant_id = visitor.actor(), id_in_path(visitor, "grant_id")
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        await grants.revoke_grant(session, actor, visitor.people_context.clock, grant_id)
    return go(f"/settings/agents/{grant_id}")


async def _count_agents(session: AsyncSession, actor: Actor) -> int:
    return len(await grants.list_agents(session, actor))


def _frame(visitor: Visitor) -> dict[str, object]:
    here = visitor.signed_in.here
    return {
        "offers": OFFERS,
        "ended": _ENDED,
        "now": visitor.people_context.clock.now(),
        "may_keep": here is not None and here.role != "viewer",
    }
