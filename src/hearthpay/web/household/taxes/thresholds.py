"""How thresholds of wages count: from the first dollar on, or once the wages paid have reached them."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_HOUSEHOLD
from hearthpay.employers.threshold_basis import is_threshold_basis
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.years.threshold_choice import BasisChoice, choose_own_basis
from hearthpay.web.household.context import HouseholdContext, household_page

router: Final = APIRouter(include_in_schema=False)

_CHOOSE: Final = mark("Choose one")


@household_page(router, "GET", "/taxes/thresholds", permission=CHANGE_HOUSEHOLD)
async def basis_form(at: HouseholdContext) -> Response:
    """Show the current choice."""
    return _form(at)


@household_page(router, "POST", "/taxes/thresholds", permission=CHANGE_HOUSEHOLD)
async def choose_basis(at: HouseholdContext) -> Response:
    """Save the choice, and say what it makes due or what was overcharged."""
    basis = at.form.get("threshold_basis", "")
    if not is_threshold_basis(basis):
        return _form(at, problems={"threshold_basis": _CHOOSE})
    async with at.transaction() as session:
        choice = await choose_own_basis(session, at.actor, at.clock, at.id, basis)
    return _form(at, choice) if choice.open_taxes else at.go("/taxes")


def _form(
    at: HouseholdContext, choice: BasisChoice | None = None, problems: dict[str, str] | None = None
) -> Response:
    basis = at.household.threshold_basis if choice is None else choice.after
    facts = {"basis": basis, "choice": choice, "problems": problems or {}, "form_values": {}}
    return at.show("taxes/thresholds.html", facts, status=400 if problems else 200)
