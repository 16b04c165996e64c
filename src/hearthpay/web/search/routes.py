"""The page of the search: within one household, and for people who have none or several.

A household's search reads rows of this household alone, each kind only for those who may see its list.
"""

from functools import partial
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_EMPLOYEES, READ_HOUSEHOLD, READ_MEMBERS, READ_PAYROLLS, may
from hearthpay.employees.search import search_employees
from hearthpay.employers import list_queries
from hearthpay.payroll.search import PayrollSearch, search_payrolls
from hearthpay.web.framework import go, page_of, show
from hearthpay.web.help.articles import find_articles, find_terms
from hearthpay.web.help.routes import search_text
from hearthpay.web.household.context import ROOT, HouseholdContext, household_page
from hearthpay.web.household.payrolls.payroll_states import state_of_payroll
from hearthpay.web.household.worklist import find_households, first_households
from hearthpay.web.mode_switch import count_households, in_other_mode
from hearthpay.web.search.pages import HOUSEHOLD_PAGES, SETTINGS_PAGES, AppPage, find_pages
from hearthpay.web.search.reading import cents_in, days_in
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_MOST_HOUSEHOLDS: Final = 10
_MOST_IN_HELP: Final = 5


@household_page(router, "GET", "/search", permission=READ_HOUSEHOLD)
async def search_household(at: HouseholdContext) -> Response:
    """Show the search, and what it finds in this household, among its pages and in help."""
    text = search_text(at.visitor)
    employees, payrolls = [], []
    if text:
        words = list_queries.words_in(text)[: list_queries.MOST_WORDS]
        async with at.transaction() as session:
            if at.may(READ_EMPLOYEES):
                employees = await search_employees(session, at.actor, at.id, words)
            if at.may(READ_PAYROLLS):
                wanted = PayrollSearch(
                    days_in(text, at.clock.today()), cents_in(text), [each.id for each in employees]
                )
                payrolls = await search_payrolls(session, at.actor, at.id, wanted)
    pages = [
        each._replace(address=at.root + each.address) for each in find_pages(text, HOUSEHOLD_PAGES, at.may)
    ]
    facts = {"employees": employees, "payrolls": [(each, state_of_payroll(at, each)) for each in payrolls]}
    return at.show("search.html", facts | _everywhere(at.visitor, text, pages))


@page_of(router, "GET", "/search", "signed_in")
async def search(visitor: Visitor) -> Response:
    """Show the search over households; with a single household, redirect to its own search."""
    text = search_text(visitor)
    households: list[list_queries.ListedHousehold] = []
    if visitor.signed_in.here is not None:
        actor = visitor.actor()
        async with visitor.people_context.database.transaction(actor.tenant) as session:
            first = await first_households(session, actor, 2)
            if len(first) == 1:
                query = visitor.request.url.query
                return go(f"{ROOT}/{first[0]}/search" + (f"?{query}" if query else ""))
            if text and may(actor, READ_MEMBERS):
                found = await find_households(session, actor, text)
                today = visitor.people_context.clock.today()
                lines = await list_queries.lines_of(session, sorted(found)[:_MOST_HOUSEHOLDS], today, today)
                households = sorted(lines.values(), key=lambda line: line.name)
    facts = {"households": households} | _everywhere(visitor, text, [])
    if text:
        matching = partial(count_households, text=text)
        facts |= await in_other_mode(visitor, households=matching)
    return show(visitor, "search.html", facts)


def _everywhere(visitor: Visitor, text: str, pages: list[AppPage]) -> dict[str, Any]:
    """Return what is found outside of households: pages of settings, guides and terms."""
    settings = find_pages(text, SETTINGS_PAGES) if visitor.signed_in.here is not None else []
    return {
        "text": text,
        "pages": [*pages, *settings],
        "guides": find_articles(text, visitor.language)[:_MOST_IN_HELP],
        "terms": find_terms(text, visitor.language)[:_MOST_IN_HELP],
    }
