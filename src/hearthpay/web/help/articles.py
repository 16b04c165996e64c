"""The guides and the terms that /help shows, and how they are found by words in either language.

The guides are made from `docs/` (`python -m tools.help_pages`) and read once. Nothing here knows a household.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape
from importlib.resources import files
from typing import Final, Literal

from hearthpay.languages.glossary import Term, glossary

GuideAudience = Literal["families", "employees"]

MOST_WORDS: Final = 5
"""The most words of a search."""

_FOLDER: Final = files(__name__.rpartition(".")[0])
_PAGE: Final = re.compile(
    r'<h1>(?P<title>.*?)</h1>\n<p class="lead">(?P<summary>.*?)</p>\n(?P<body>.*)', re.DOTALL
)
_TAG: Final = re.compile(r"<[^>]+>")
_WORD: Final = re.compile(r"\w+")
_BRACKETS: Final = re.compile(r"\s*[(/].*")


@dataclass(frozen=True, slots=True)
class Article:
    """One guide in one language; `body` is HTML of our own, without the title and the summary."""

    slug: str
    audience: GuideAudience
    language: str
    title: str
    summary: str
    body: str

    @property
    def address(self) -> str:
        """Its address in the app."""
        return f"/help/{self.slug}"


@dataclass(frozen=True, slots=True)
class TermPage:
    """One term in a reader's language, and its name in the other one."""

    key: str
    area: str
    name: str
    meaning: str
    other: str

    @property
    def address(self) -> str:
        """Its address in the app."""
        return f"/help/terms/{self.key}"


@cache
def articles() -> Mapping[str, Mapping[str, Article]]:
    """Return the guides by slug and language, in their order; English is always there."""
    listed = tomllib.loads(_FOLDER.joinpath("pages.toml").read_text(encoding="utf-8"))["page"]
    return {
        each["slug"]: {
            language: _read(each["slug"], each["audience"], language)
            for language, key in (("en", "source"), ("es", "spanish"))
            if key in each
        }
        for each in listed
    }


def _read(slug: str, audience: GuideAudience, language: str) -> Article:
    html = _FOLDER.joinpath(language, f"{slug}.html").read_text(encoding="utf-8")
    found = _PAGE.fullmatch(html)
    assert found is not None, slug
    title, summary = (unescape(_TAG.sub("", found[part])) for part in ("title", "summary"))
    return Article(slug, audience, language, title, summary, found["body"])


def articles_in(language: str) -> Sequence[Article]:
    """Return every guide, in the language if there is such a text; those come first."""
    chosen = [texts.get(language, texts["en"]) for texts in articles().values()]
    return sorted(chosen, key=lambda article: article.language != language)


@cache
def _terms() -> Mapping[str, Term]:
    return {key_of(term): term for term in glossary()}


def key_of(term: Term) -> str:
    """Return the part of the term's address that names it: its English name without brackets."""
    name = _BRACKETS.sub("", term.english)
    shared = sum(_BRACKETS.sub("", each.english) == name for each in glossary()) > 1
    return "-".join(fold_words(term.english if shared else name))


def term_page(key: str, language: str) -> TermPage:
    """Return a term in the language. Raises KeyError for an unknown one."""
    term = _terms()[key]
    if language == "es":
        return TermPage(key, term.area, term.spanish, term.significado, term.english)
    return TermPage(key, term.area, term.english, term.meaning, term.spanish)


def term_pages(language: str) -> Sequence[TermPage]:
    """Return every term in the language, in the order of the glossary."""
    return [term_page(key, language) for key in _terms()]


def fold_words(text: str) -> list[str]:
    """Return the words of a text without case and accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall("".join(each for each in plain if not unicodedata.combining(each)))


def find_articles(text: str, language: str) -> Sequence[Article]:
    """Return the guides that have every word of the text, in either language, or a longer one; best first."""
    words = fold_words(text)[:MOST_WORDS]
    ranked = [
        (score, article)
        for article in articles_in(language)
        if (score := _score(words, *_indexed()[article.slug])) > 0
    ]
    return [article for _, article in sorted(ranked, key=lambda each: -each[0])]


def find_terms(text: str, language: str) -> Sequence[TermPage]:
    """Return the terms whose name in either language has every word of the text."""
    words = fold_words(text)[:MOST_WORDS]
    return [
        page
        for page in term_pages(language)
        if words and _score(words, frozenset(fold_words(f"{page.name} {page.other}")), frozenset()) > 0
    ]


@cache
def _indexed() -> Mapping[str, tuple[frozenset[str], frozenset[str]]]:
    """Return the words of each guide's title and summary, and of its text, in all its languages."""
    return {
        slug: (
            _all_words(f"{each.title} {each.summary}" for each in texts.values()),
            _all_words(unescape(_TAG.sub(" ", each.body)) for each in texts.values()),
        )
        for slug, texts in articles().items()
    }


def _all_words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in fold_words(text))


def _score(words: Sequence[str], title: frozenset[str], body: frozenset[str]) -> int:
    """Return how well the words match: 0 if one of them begins no word here."""
    total = 0
    for word in words:
        if any(each.startswith(word) for each in title):
            total += 3
        elif any(each.startswith(word) for each in body):
            total += 1
        else:
            return 0
    return total
