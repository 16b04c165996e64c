"""What a year's wages owe to each agency by quarter, with the taxes, their months and the law."""

from __future__ import annotations

import datetime
from functools import partial
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_PAYROLLS
from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.employers.service import find_employer
from hearthpay.reports.commands import AskTaxLiability
from hearthpay.reports.csv_table import tax_liability_csv
from hearthpay.reports.service import tax_liability_of_household
from hearthpay.reports.tax_liability import TaxLiability
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.taxes.trace import Source
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import year_in, years_of
from hearthpay.web.household.taxes.downloads import csv_file
from hearthpay.web.household.taxes.quarters import QUARTERS, quarterly

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/taxes/owed", permission=READ_PAYROLLS)
async def owed(at: HouseholdContext) -> Response:
    """A table for each agency."""
    year = year_in(at.visitor, at.clock.today())
    report = await _report(at, year)
    facts = {
        "year": year,
        "years": years_of(at.clock.today()),
        "quarters": QUARTERS,
        "quarterly": quarterly,
        "report": report,
        "sources": _sources(report, year),
        "line_name": partial(line_name, language=at.visitor.language),
    }
    return at.show("taxes/owed.html", facts)


@household_page(router, "GET", "/taxes/owed.csv", permission=READ_PAYROLLS)
async def owed_table(at: HouseholdContext) -> Response:
    """The same by month, for a spreadsheet."""
    year = year_in(at.visitor, at.clock.today())
    return csv_file(tax_liability_csv(await _report(at, year)), f"tax-liability-{year}.csv")


async def _report(at: HouseholdContext, year: int) -> TaxLiability:
    span = AskTaxLiability(datetime.date(year, 1, 1), datetime.date(year, 12, 31))
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        return await tax_liability_of_household(session, at.actor, employer, span)


def _sources(report: TaxLiability, year: int) -> dict[str, tuple[Source, ...]]:
    """Return the printed sources of each line's law, by code; lines without their own are left out."""
    if year not in supported_years():
        return {}
    rulebook = rulebook_of(year)
    found: dict[str, tuple[Source, ...]] = {line.code: line.sources for line in rulebook.contributions}
    codes = {line.code for agency in report.agencies for line in agency.lines}
    found |= dict.fromkeys(
        (rulebook.income_tax.code, rulebook.income_tax.supplemental_code), rulebook.income_tax.sources
    )
    for state in sorted({code[:2] for code in codes} & STATES.keys()):
        if state in rulebook.supported_states:
            rules = rulebook.state(state)
            found |= {line.code: line.sources for line in rules.contributions}
            if rules.income_tax is not None:
                found[rules.income_tax.code] = rules.income_tax.versions[-1].sources
    return found
