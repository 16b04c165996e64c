"""Makes the pages of /help from guides in `docs/`: `python -m tools.help_pages`.

The app is shipped without `docs/`, and renders no Markdown while it runs. A test compares each page with what this
module returns. Sections for developers and administrators are left out; a link to another guide leads to its page of
/help, and one to a page that the app doesn't show becomes plain text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT: Final = Path(__file__).resolve().parent.parent
DOCS: Final = ROOT / "docs"
FOLDER: Final = ROOT / "src" / "hearthpay" / "web" / "help"
_OTHERS: Final = re.compile(
    r"^(With (the|an) (API|command line)|For (developers|administrators))", re.IGNORECASE
)
_IN_PROGRAMS: Final = re.compile(r"(?:^|(?<=[.:] ))With the\s+API,[^\n]*(?:\n(?!\n)[^\n]+)*", re.MULTILINE)
_COMMAND: Final = re.compile(r":\n\n```\w*\nhearthpay [\s\S]*?```\n")
_SEE: Final = re.compile(r"(?:^More)?:\s+\[[^\]]+\]\((?P<link>[^)\s]+)\)(?=\.)", re.MULTILINE)
_DETAILS: Final = re.compile(r"\[[^\]]+\]\((?P<link>[^)\s]+)\) (?:has|lists|shows)\b[^.]*\.")
_AUDIENCE: Final = re.compile(r"^(For|Para) \w+\.\s+")


@cache
def _pages() -> Sequence[Mapping[str, str]]:
    return tomllib.loads((FOLDER / "pages.toml").read_text(encoding="utf-8"))["page"]  # type: ignore[no-any-return]


@cache
def _slugs() -> Mapping[Path, str]:
    """Return the slug of each source, in either language."""
    return {
        (DOCS / each[key]).resolve(): each["slug"]
        for each in _pages()
        for key in ("source", "spanish")
        if key in each
    }


def help_pages() -> Iterator[tuple[Path, str]]:
    """Return each page's file and its HTML: the title, a summary and the text."""
    for each in _pages():
        for language, key in (("en", "source"), ("es", "spanish")):
            if key in each:
                yield FOLDER / language / f"{each['slug']}.html", render(DOCS / each[key])


def render(source: Path) -> str:
    """Return the HTML of one guide."""
    text = _IN_PROGRAMS.sub("", source.read_text(encoding="utf-8"))
    text = _COMMAND.sub(".\n", text)
    for pattern in (_SEE, _DETAILS):
        text = pattern.sub(lambda found: found[0] if _address(found["link"], source) else "", text)
    text = re.sub(r"^\.$", "", text, flags=re.MULTILINE)
    tokens = _for_people(MarkdownIt("commonmark").enable("table").parse(text))
    _mark_summary(tokens)
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag != "h1":
            token.attrSet("id", _anchor(tokens[place + 1].content))
        if token.type == "inline":
            token.children = _linked(token.children or [], source)
    markdown = MarkdownIt("commonmark")
    return str(markdown.renderer.render(tokens, markdown.options, {}))


def _for_people(tokens: list[Token]) -> list[Token]:
    """Leave out the sections that are about programs."""
    kept, left_out = [], False
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            left_out = _OTHERS.match(tokens[place + 1].content) is not None
        if not left_out:
            kept.append(token)
    return kept


def _mark_summary(tokens: list[Token]) -> None:
    """Make the first paragraph the summary, without whom it is for."""
    place = next(place for place, token in enumerate(tokens) if token.type == "paragraph_open")
    tokens[place].attrSet("class", "lead")
    first = (tokens[place + 1].children or [])[0]
    first.content = _AUDIENCE.sub("", first.content)


def _linked(children: list[Token], source: Path) -> list[Token]:
    kept: list[Token] = []
    dropped = 0
    for token in children:
        if token.type == "image":
            continue
        if token.type == "link_open":
            address = _address(str(token.attrGet("href")), source)
            if address is None:
                dropped += 1
                continue
            token.attrSet("href", address)
            if not address.startswith(("/", "#")):
                token.attrSet("rel", "external noreferrer")
        if token.type == "link_close" and dropped:
            dropped -= 1
            continue
        kept.append(token)
    return kept


def _address(link: str, source: Path) -> str | None:
    """Return where the link leads in the app; None if the app has no such page."""
    if "://" in link or link.startswith("#"):
        return link
    path, _, anchor = link.partition("#")
    slug = _slugs().get((source.parent / path).resolve())
    return None if slug is None else f"/help/{slug}" + (f"#{anchor}" if anchor else "")


def _anchor(heading: str) -> str:
    """Return a heading's anchor, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def stale() -> Iterator[str]:
    """Return the pages that differ from their guides."""
    made = dict(help_pages())
    for path, html in made.items():
        if not path.exists() or path.read_text(encoding="utf-8") != html:
            yield str(path.relative_to(ROOT))
    yield from (str(path.relative_to(ROOT)) for path in FOLDER.glob("*/*.html") if path not in made)


def main() -> None:
    """Write every page."""
    for path, html in help_pages():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, encoding="utf-8")


if __name__ == "__main__":
    main()
