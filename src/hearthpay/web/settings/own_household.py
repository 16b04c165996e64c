"""A household of one's own: anyone with an account may start one, whatever their other roles."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.people import sessions
from hearthpay.people.sign_up import begin_own_organization
from hearthpay.web.framework import go, page_of, problems_of, show
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

BEGIN_PATH: Final = "/begin"


@page_of(router, "GET", BEGIN_PATH, "signed_in")
async def own_household_form(visitor: Visitor) -> Response:
    """Ask for its name."""
    return _form(visitor, {})


@page_of(router, "POST", BEGIN_PATH, "signed_in")
async def begin(visitor: Visitor) -> Response:
    """Create the organization, and continue to the household."""
    who = visitor.signed_in
    try:
        organization_id = await begin_own_organization(
            visitor.people_context, who, visitor.form.get("organization", ""), visitor.visit
        )
    except Refusal as error:
        return _form(visitor, problems_of(error))
    again = await sessions.find_session(visitor.people_context, visitor.cookie)
    if again is not None:
        await sessions.choose(visitor.people_context, again, organization_id, sandbox=False)
    return go("/app/start")


def _form(visitor: Visitor, problems: dict[str, str]) -> Response:
    form_values = dict(visitor.form) or {"organization": visitor.signed_in.name.rpartition(" ")[2]}
    facts = {"problems": problems, "form_values": form_values}
    return show(visitor, "begin.html", facts, status=400 if problems else 200)
