"""The end of a freeze, which an owner decides before its day has passed."""

from typing import Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import END_FREEZE
from hearthpay.access.refusal import Refusal
from hearthpay.accounts.freezing import end_freeze
from hearthpay.web.framework import go, page_of
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)


@page_of(router, "POST", "/settings/members/unfreeze", "member", permission=END_FREEZE, fresh=True)
async def unfreeze(visitor: Visitor) -> Response:
    """End the freeze of the organization, or of the household that the form names."""
    actor = visitor.actor(of_both_modes=True)
    named = visitor.form.get("household", "")
    try:
        household = UUID(named) if named else None
    except ValueError:
        raise Refusal("not_found", "Page not found. Check the address.") from None
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        await end_freeze(session, actor, visitor.people_context.clock, household)
    return go("/settings/members")
