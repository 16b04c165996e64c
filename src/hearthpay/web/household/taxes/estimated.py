"""The household's employment taxes in each installment of Form 1040-ES, or by one's own withholding."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_REPORTS
from hearthpay.access.refusal import Refusal
from hearthpay.documents.estimated_tax import EstimatedTax, estimate_tax
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.rules import duties_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import year_in, years_of

router: Final = APIRouter(include_in_schema=False)

_INSTALMENTS: Final = "estimated-tax"


@household_page(router, "GET", "/taxes/estimated", permission=READ_REPORTS)
async def estimated(at: HouseholdContext) -> Response:
    """Show the installments of a year."""
    today = at.clock.today()
    year = year_in(at.visitor, today)
    estimate: EstimatedTax | None = None
    try:
        async with at.transaction() as session:
            estimate = await estimate_tax(session, at.actor, at.clock, at.id, year)
    except Refusal as error:
        if error.code != "document_not_available":
            raise
    duty = next(each for each in duties_of(FEDERAL).duties if each.id == _INSTALMENTS)
    facts = {
        "year": year,
        "years": years_of(today),
        "estimate": estimate,
        "today": today,
        "sources": duty.sources,
        "link": duty.link,
    }
    return at.show("taxes/estimated.html", facts)
