"""Filings that the household recorded: the list, and reversing one. The calendar's item has the form."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_TAX_LEDGER, READ_TAX_LEDGER
from hearthpay.access.refusal import Refusal
from hearthpay.employers.service import find_employer
from hearthpay.filing.commands import LedgerQuery
from hearthpay.filing.filings import filings_of_household, reverse_filing_of_household
from hearthpay.filing.reversals import find_filing
from hearthpay.filing.schemas import LedgerReversal
from hearthpay.languages.catalogue import mark
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_parsing import ROOT, Entries
from hearthpay.web.household.form_values import id_in
from hearthpay.web.household.queries import cursor_in
from hearthpay.web.household.taxes.payment_rows import filing_row

router: Final = APIRouter(include_in_schema=False)

_AT_ONCE: Final = 25
_IS_REVERSED: Final = mark("This filing is already reversed.")


@household_page(router, "GET", "/taxes/filings", permission=READ_TAX_LEDGER)
async def filings(at: HouseholdContext) -> Response:
    """List them, the last recorded first; reversed ones as well."""
    cursor = cursor_in(at.visitor)
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        found, next_cursor = await filings_of_household(
            session, at.actor, employer, LedgerQuery(at.id, cursor, _AT_ONCE)
        )
    facts = {
        "filings": [filing_row(at, each) for each in found],
        "next_cursor": next_cursor,
        "first": cursor is None,
        "may_keep": at.may(KEEP_TAX_LEDGER),
    }
    return at.show("taxes/filings.html", facts)


@household_page(router, "GET", "/taxes/filings/{filing_id}/reverse", permission=KEEP_TAX_LEDGER)
async def confirm_reversal(at: HouseholdContext) -> Response:
    """Ask for confirmation, and tell what changes."""
    return await _question(at)


@household_page(router, "POST", "/taxes/filings/{filing_id}/reverse", permission=KEEP_TAX_LEDGER)
async def reverse(at: HouseholdContext) -> Response:
    """Reverse the filing."""
    entries = Entries(at.form)
    checked = entries.checked(LedgerReversal, {"reason": entries.text("reason")})
    if checked is None:
        return await _question(at, entries.problems)
    try:
        async with at.transaction() as session:
            employer = await find_employer(session, at.actor, at.id)
            await reverse_filing_of_household(
                session, at.actor, at.clock, employer, id_in(at.visitor, "filing_id"), checked.reason
            )
    except Refusal as error:
        if error.code != "invalid_state":
            raise
        return await _question(at, {ROOT: _IS_REVERSED})
    return at.go("/taxes/filings")


async def _question(at: HouseholdContext, problems: dict[str, str] | None = None) -> Response:
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        found = await find_filing(session, at.actor, employer, id_in(at.visitor, "filing_id"))
    facts = {
        "row": filing_row(at, found),
        "problems": problems or {},
        "form_values": dict(at.form) if problems else {},
    }
    return at.show("taxes/filing_reverse.html", facts, status=400 if problems else 200)
