"""The pages of /help are those of the docs, without what is for developers, and their links lead somewhere."""

import re

import pytest
from tools import help_pages

from hearthpay.languages.glossary import glossary
from hearthpay.web.help.articles import (
    articles,
    articles_in,
    find_articles,
    find_terms,
    key_of,
    term_page,
    term_pages,
)
from tests.cases import every_case


def test_pages_match_the_docs() -> None:
    assert list(help_pages.stale()) == [], "run: python -m tools.help_pages"


def test_pages_hold_nothing_for_developers_and_only_links_that_lead_somewhere() -> None:
    with every_case() as case:
        for slug, texts in articles().items():
            for language in texts:
                with case(slug, language):
                    _check_page(slug, language)


def _check_page(slug: str, language: str) -> None:
    article = articles()[slug][language]
    assert article.title
    assert article.summary
    for word in ("With the API", "GET /", "POST /", "hearthpay ", ".md"):
        assert word not in article.body.replace("mcp add --transport http hearthpay ", ""), word
    for link in re.findall(r'href="([^"]*)"', article.body):
        assert link.startswith("https://") or link.removeprefix("/help/").partition("#")[0] in articles(), (
            link
        )
    for target, anchor in re.findall(r'href="/help/([\w-]+)#([^"]+)"', article.body):
        texts = articles()[target]
        assert f'id="{anchor}"' in texts.get(language, texts["en"]).body
    assert not re.search(r"style=|<script|<img", article.body)


def test_guides_for_families_and_employees_are_there_in_spanish() -> None:
    assert {each.audience for each in articles_in("es")} == {"families", "employees"}
    assert [each.slug for each in articles_in("es") if each.language != "es"] == []


@pytest.mark.parametrize(
    ("text", "language", "first"),
    [
        ("void", "en", "void"),
        ("W-2", "en", "year-end-forms"),
        ("autopilot", "es", "set-up-autopilot"),
        ("nómina primera", "es", "first-payroll"),
        ("NOMINA PRIMERA", "en", "first-payroll"),
        ("employees guide", "en", "employee-page"),
    ],
)
def test_a_guide_is_found_by_words_of_either_language(text: str, language: str, first: str) -> None:
    assert find_articles(text, language)[0].slug == first


def test_words_that_no_guide_has_find_nothing() -> None:
    assert find_articles("zeppelin", "en") == []
    assert find_articles("", "en") == []
    assert find_articles("void zeppelin", "en") == []


def test_every_term_has_its_own_page_in_both_languages() -> None:
    keys = [key_of(term) for term in glossary()]
    assert len(set(keys)) == len(keys) > 100
    for term in glossary():
        assert term_page(key_of(term), "en").meaning == term.meaning
        assert term_page(key_of(term), "es").meaning == term.significado
    assert len(term_pages("es")) == len(keys)


def test_a_term_is_found_by_either_name() -> None:
    assert "net-pay" in {each.key for each in find_terms("neto", "en")}
    assert "net-pay" in {each.key for each in find_terms("net pay", "es")}
    assert find_terms("", "en") == []
