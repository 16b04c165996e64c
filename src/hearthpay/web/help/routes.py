"""The pages of /help: guides, the terms of the product, and a search. Anyone may read them; none knows a household."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.languages.catalogue import mark
from hearthpay.web.framework import page_of, show
from hearthpay.web.help.articles import (
    Article,
    articles,
    articles_in,
    find_articles,
    find_terms,
    term_page,
    term_pages,
)
from hearthpay.web.help.minimum_wages import PATH as MINIMUM_WAGES
from hearthpay.web.help.minimum_wages import facts_of
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

LONGEST_SEARCH: Final = 100
"""Characters of a search that are looked at."""

_AUDIENCES: Final[Mapping[str, str]] = {
    "families": mark("For families"),
    "employees": mark("For employees"),
}
_AREAS: Final = (
    mark("Pay"),
    mark("Withholding and taxes"),
    mark("Forms and agencies"),
    mark("Household employment"),
    mark("Filings and deadlines"),
    mark("Time and leave"),
    mark("Bank and money"),
    mark("People and security"),
    mark("The product"),
)
"""The areas of the glossary, for the catalogs."""
_IN_ENGLISH: Final = mark("Guides in English")
_LANGUAGES: Final = {"en": "English", "es": "Español"}
_UNKNOWN: Final = "Page not found. Check the address."


@page_of(router, "GET", "/help", "anyone")
async def help_page(visitor: Visitor) -> Response:
    """List the guides, or what a search finds."""
    reader = _in_language(visitor)
    text = search_text(visitor)
    if text:
        facts: dict[str, Any] = {
            "found": find_articles(text, reader.language),
            "terms": find_terms(text, reader.language),
        }
    else:
        facts = {"groups": _groups(reader.language)}
    return _show(reader, "help.html", {"text": text, **facts})


@page_of(router, "GET", "/help/terms", "anyone")
async def terms(visitor: Visitor) -> Response:
    """List the terms of the product, by area."""
    reader = _in_language(visitor)
    areas = [
        (area, list(pages))
        for area, pages in groupby(term_pages(reader.language), key=lambda page: page.area)
    ]
    return _show(reader, "help_terms.html", {"areas": areas})


@page_of(router, "GET", "/help/terms/{term_key}", "anyone")
async def term(visitor: Visitor) -> Response:
    """Say what a term means."""
    reader = _in_language(visitor)
    try:
        page = term_page(visitor.request.path_params["term_key"], reader.language)
    except KeyError:
        raise Refusal("not_found", _UNKNOWN) from None
    return _show(
        reader,
        "help_term.html",
        {"term_page": page, "guides_found": find_articles(page.name, reader.language)[:3]},
    )


@page_of(router, "GET", MINIMUM_WAGES, "anyone")
async def minimum_wages(visitor: Visitor) -> Response:
    """List the minimum wages of all states, or of one with its cities and counties."""
    reader = _in_language(visitor)
    state = visitor.request.query_params.get("state", "").upper()
    facts = facts_of(state, visitor.people_context.clock.today())
    return _show(reader, "help_minimum_wages.html", facts, f"state={state}" if facts["figures"] else "")


@page_of(router, "GET", "/help/{guide_slug}", "anyone")
async def article(visitor: Visitor) -> Response:
    """Show one guide, in English where it has no text in the reader's language."""
    reader = _in_language(visitor)
    texts = articles().get(visitor.request.path_params["guide_slug"])
    if texts is None:
        raise Refusal("not_found", _UNKNOWN)
    return _show(reader, "help_article.html", {"article": texts.get(reader.language, texts["en"])})


def search_text(visitor: Visitor) -> str:
    """Return what the address searches for."""
    return " ".join(visitor.request.query_params.get("q", "")[:LONGEST_SEARCH].split())


def _groups(language: str) -> list[tuple[str, list[Article]]]:
    listed = articles_in(language)
    translated = [each for each in listed if each.language == language]
    groups = [
        (title, [each for each in translated if each.audience == audience])
        for audience, title in _AUDIENCES.items()
    ]
    in_english = [each for each in listed if each.language != language]
    return [*groups, (_IN_ENGLISH, in_english)] if in_english else groups


def _in_language(visitor: Visitor) -> Visitor:
    """Return the visitor as a reader of the language that the address names, if it names one."""
    asked = visitor.request.query_params.get("lang", "")
    return replace(visitor, language=asked) if asked in _LANGUAGES else visitor


def _show(reader: Visitor, template: str, facts: Mapping[str, Any], query: str = "") -> Response:
    """Show a page with a link to it in the other language, which keeps the ``query`` of the address."""
    other = "en" if reader.language == "es" else "es"
    switch = {
        "language": other,
        "name": _LANGUAGES[other],
        "address": f"{reader.request.url.path}?{query}{'&' if query else ''}lang={other}",
    }
    return show(reader, template, {"read": True, "switch": switch, **facts})
