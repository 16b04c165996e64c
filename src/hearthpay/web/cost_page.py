"""What wages would cost in a year, for anybody who asks: a page without signing in, where the operator allows it.

Nothing that is entered is stored. Search engines may list the empty page, not the estimates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.languages.catalogue import mark
from hearthpay.web.cost_estimate import cost_facts
from hearthpay.web.framework import page_of, show
from hearthpay.web.visitor import Visitor

COST_PATH: Final = "/cost"

router: Final = APIRouter(include_in_schema=False)


@page_of(router, "GET", COST_PATH, "anyone")
async def public_cost(visitor: Visitor) -> Response:
    """Show the form, and below it the estimate. Raises `not_found` unless the operator opened the page."""
    context = visitor.people_context
    if not context.cost_page_open:
        raise Refusal("not_found", mark("Page not found. Check the address."))
    query = dict(visitor.request.query_params)
    if query:
        await context.throttle.estimate_asked_for(visitor.visit.address)
    facts = cost_facts(visitor.say, visitor.language, context.clock.today(), query, None)
    facts |= {"robots": "noindex" if query else "index", "alone": True}
    # No cookie: nothing is sent from here that it would have to vouch for.
    response = show(
        replace(visitor, new_visit=False), "cost.html", facts, status=400 if facts["problems"] else 200
    )
    if not query:
        del response.headers["X-Robots-Tag"]
    return response
