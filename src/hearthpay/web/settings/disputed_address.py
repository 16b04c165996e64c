"""The page on which a dispute about one's address is decided; on the members' page another owner decides it."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_MEMBERS
from hearthpay.access.refusal import Refusal
from hearthpay.people.address_dispute import own_dispute, settle_for_member, settle_own
from hearthpay.people.secured_mails import ADDRESS_PATH
from hearthpay.web.framework import go, id_in_path, page_of, problems_of, show
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)


@page_of(router, "GET", ADDRESS_PATH, "signed_in", fresh=True)
async def choose(visitor: Visitor) -> Response:
    """Show the two addresses; without a dispute, the profile."""
    return await _page(visitor, {})


@page_of(router, "POST", ADDRESS_PATH, "signed_in", fresh=True)
async def settle(visitor: Visitor) -> Response:
    """Keep or restore the chosen address."""
    choice = visitor.form.get("address", "")
    try:
        await settle_own(visitor.people_context, visitor.signed_in, choice, visitor.visit)
    except Refusal as error:
        if error.code != "validation_error":
            raise
        return await _page(visitor, problems_of(error))
    return go("/settings/security")


@page_of(
    router, "POST", "/settings/members/{membership_id}/address", "member", permission=KEEP_MEMBERS, fresh=True
)
async def settle_of_member(visitor: Visitor) -> Response:
    """Decide the dispute about the address of another member."""
    await settle_for_member(
        visitor.people_context,
        visitor.actor(of_both_modes=True),
        id_in_path(visitor, "membership_id"),
        visitor.form.get("address", ""),
        visitor.visit,
    )
    return go("/settings/members")


async def _page(visitor: Visitor, problems: dict[str, str]) -> Response:
    dispute = await own_dispute(visitor.people_context, visitor.signed_in)
    if dispute is None:
        return go("/settings/profile")
    facts = {"dispute": dispute, "problems": problems}
    return show(visitor, "disputed_address.html", facts, status=400 if problems else 200)
