"""The issued documents: each version, available again unchanged."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import OBTAIN_DOCUMENTS
from hearthpay.access.refusal import Refusal
from hearthpay.documents.service import list_documents, open_issued
from hearthpay.languages.catalogue import mark
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import id_in
from hearthpay.web.household.queries import cursor_in
from hearthpay.web.household.taxes.papers import file_of
from hearthpay.wire.paging import Page

router: Final = APIRouter(include_in_schema=False)

_AT_ONCE: Final = 25
_NAMES: Final = {
    "paystub": mark("Pay stub"),
    "w2": mark("Form W-2"),
    "w2c": mark("Form W-2c"),
    "w3": mark("Form W-3"),
    "w3c": mark("Form W-3c"),
    "schedule_h": mark("Schedule H"),
    "efw2": mark("Wage file (EFW2)"),
    "year_cover": mark("Cover sheet"),
    "year_package": mark("Everything of the year"),
    "work_agreement": mark("Work agreement"),
    "hire_notice": mark("Notice of pay at hire"),
    "new_hire_report": mark("New hire report"),
}


@household_page(router, "GET", "/taxes/papers/issued", permission=OBTAIN_DOCUMENTS, fresh=True)
async def issued(at: HouseholdContext) -> Response:
    """All of them, the newest first."""
    cursor = cursor_in(at.visitor)
    requested = Page(limit=_AT_ONCE).model_copy(update={"cursor": cursor})
    async with at.transaction() as session:
        found, next_cursor = await list_documents(session, at.actor, at.id, None, requested)
    facts = {"documents": found, "names": _NAMES, "next_cursor": next_cursor, "first": cursor is None}
    return at.show("taxes/issued.html", facts)


@household_page(router, "POST", "/taxes/papers/issued/{document_id}", permission=OBTAIN_DOCUMENTS, fresh=True)
async def again(at: HouseholdContext) -> Response:
    """Download one of them, byte for byte, with an audit row."""
    ring = at.visitor.people_context.keys()
    async with at.transaction() as session:
        kept = await open_issued(session, ring, at.actor, id_in(at.visitor, "document_id"))
        if kept.document.employer_id != at.id:
            raise Refusal("not_found", mark("Nothing found with this name."))
    return file_of(at, kept)
