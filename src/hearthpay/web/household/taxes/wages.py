"""A state's wages by employee, for its quarterly report, and as a table for a spreadsheet."""

from __future__ import annotations

from functools import partial
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_PAYROLLS
from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.ledger.quarters import read_quarters
from hearthpay.reports.commands import AskStateWages
from hearthpay.reports.csv_table import state_wages_csv
from hearthpay.reports.service import state_wages_of_household
from hearthpay.reports.state_wages import StateWageDetail
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.liability import quarter_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import YEARS_BACK, year_in, years_of
from hearthpay.web.household.taxes.downloads import csv_file
from hearthpay.web.household.taxes.quarters import QUARTERS

router: Final = APIRouter(include_in_schema=False)

_WHOLE_YEAR: Final = mark("The whole year")
_QUARTER: Final = mark("Quarter {number}")


@household_page(router, "GET", "/taxes/wages", permission=READ_PAYROLLS)
async def wages(at: HouseholdContext) -> Response:
    """The wages of a state and quarter, and the choice of others."""
    asked = _wages_query(at)
    today = at.clock.today()
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        paid = await read_quarters(session, at.id, first_year=today.year - YEARS_BACK, last_year=today.year)
        report = await state_wages_of_household(session, at.actor, employer, asked)
    states = sorted({each.work_state for each in paid} | {at.household.state, asked.state})
    facts = {
        "report": report,
        "base": [each.line(report.unemployment_line) for each in report.people],
        "years": [(year, year) for year in years_of(today)],
        "states": [(state, STATES[state]) for state in states],
        "quarters": [
            *((each, at.say(_QUARTER, number=each)) for each in QUARTERS),
            ("all", at.say(_WHOLE_YEAR)),
        ],
        "form_values": {"year": asked.year, "state": asked.state, "quarter": asked.quarter or "all"},
        "state_name": STATES[asked.state],
        "line_name": partial(line_name, language=at.visitor.language),
    }
    return at.show("taxes/wages.html", facts)


@household_page(router, "GET", "/taxes/wages.csv", permission=READ_PAYROLLS)
async def wages_table(at: HouseholdContext) -> Response:
    """Download the same as a table with one row per employee."""
    asked = _wages_query(at)
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        report: StateWageDetail = await state_wages_of_household(session, at.actor, employer, asked)
    span = str(asked.year) if asked.quarter is None else f"{asked.year}-Q{asked.quarter}"
    return csv_file(state_wages_csv(report), f"state-wages-{asked.state}-{span}.csv")


def _wages_query(at: HouseholdContext) -> AskStateWages:
    """Return the request from the query; by default the household's state, the current year and its current quarter."""
    today, named = at.clock.today(), at.visitor.request.query_params
    year, state = year_in(at.visitor, today), named.get("state", "")
    usual = quarter_of(today) if year == today.year else None
    quarter = {"all": None, **{str(each): each for each in QUARTERS}}.get(named.get("quarter", ""), usual)
    return AskStateWages(state if state in STATES else at.household.state, year, quarter, at.id)
