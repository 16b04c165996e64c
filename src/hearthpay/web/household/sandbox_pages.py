"""Ending a test household: emptying it to start again, or deleting it. A real one keeps its books for good."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import DELETE_HOUSEHOLD
from hearthpay.access.refusal import Refusal
from hearthpay.employers.sandbox import delete_sandbox, reset_sandbox
from hearthpay.languages.catalogue import mark
from hearthpay.web.framework import go
from hearthpay.web.household.context import HouseholdContext, household_page

router: Final = APIRouter(include_in_schema=False)

_REAL: Final = mark("Only test households can be emptied or deleted: a real one keeps its books.")


@household_page(router, "GET", "/household/empty", permission=DELETE_HOUSEHOLD)
async def confirm_emptying(at: HouseholdContext) -> Response:
    """Ask for confirmation, and show what would be removed; for a real household, say that nothing is."""
    return at.show("sandbox.html", {"whole": False})


@household_page(router, "POST", "/household/empty", permission=DELETE_HOUSEHOLD)
async def empty_household(at: HouseholdContext) -> Response:
    """Remove employees and payrolls; the household and its settings stay."""
    _refuse_a_real_one(at)
    async with at.visitor.people_context.database.transaction(at.actor.tenant) as session:
        await reset_sandbox(session, at.actor, at.id)
    return at.go()


@household_page(router, "GET", "/household/delete", permission=DELETE_HOUSEHOLD)
async def confirm_deleting(at: HouseholdContext) -> Response:
    """Ask for confirmation, and show what would be removed; for a real household, say that nothing is."""
    return at.show("sandbox.html", {"whole": True})


@household_page(router, "POST", "/household/delete", permission=DELETE_HOUSEHOLD)
async def delete_household(at: HouseholdContext) -> Response:
    """Remove the household with everything in it."""
    _refuse_a_real_one(at)
    async with at.visitor.people_context.database.transaction(at.actor.tenant) as session:
        await delete_sandbox(session, at.actor, at.id)
    return go("/households")


def _refuse_a_real_one(at: HouseholdContext) -> None:
    if not at.household.sandbox:
        raise Refusal("invalid_state", _REAL)
