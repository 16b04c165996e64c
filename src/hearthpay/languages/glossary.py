"""The glossary: the terms of the product in English and Spanish, what each means, and the names that it replaces."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Term:
    """One concept and its only name in each language; `meaning` and `significado` are one sentence each.

    `area` is the part of the product that it belongs to; `avoid` are names that pages and mails must not use for it.
    """

    area: str
    english: str
    spanish: str
    meaning: str
    significado: str
    avoid: tuple[str, ...]


@cache
def glossary() -> Sequence[Term]:
    """Return every term, in the order of the glossary."""
    text = files("hearthpay.languages").joinpath("glossary.toml").read_text(encoding="utf-8")
    return tuple(Term(**{**each, "avoid": tuple(each["avoid"])}) for each in tomllib.loads(text)["term"])


def glossary_page() -> str:
    """Return the glossary as a page of the docs, in Markdown."""
    lines = [
        "# Glossary",
        "",
        "One concept has one name, on every page, in every email, on every document and in the API.",
        "Names of forms and agencies stay English in Spanish text.",
        "This page is made from the catalog of terms: `python -m tools.glossary`.",
    ]
    area = ""
    for term in glossary():
        if term.area != area:
            area = term.area
            lines += [
                "",
                f"## {area}",
                "",
                "| English | Spanish | What it is | Qué es |",
                "|---|---|---|---|",
            ]
        lines.append(f"| {term.english} | {term.spanish} | {term.meaning} | {term.significado} |")
    return "\n".join(lines) + "\n"
