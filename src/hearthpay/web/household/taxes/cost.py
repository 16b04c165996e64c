"""What wages would cost in a year, for a member of a household; the form begins with its state."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CALCULATE
from hearthpay.web.cost_estimate import cost_facts
from hearthpay.web.household.context import HouseholdContext, household_page

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/taxes/cost", permission=CALCULATE)
async def cost(at: HouseholdContext) -> Response:
    """Show the form, and below it the estimate."""
    query = dict(at.visitor.request.query_params)
    facts = cost_facts(at.say, at.visitor.language, at.clock.today(), query, at.household.state)
    return at.show("taxes/cost.html", facts, status=400 if facts["problems"] else 200)
