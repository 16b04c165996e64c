"""The docs keep to their limits, and name only what exists: modules, commands, API calls and words of pages."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import typer
from babel.messages.pofile import read_po

from hearthpay.cli.main import app
from tests.cases import every_case
from tests.test_documentation_links import PAGES, ROOT

LONGEST = 300
GENERATED = {
    "docs/reference/coverage.md",
    "docs/reference/coverage-duties.md",
    "docs/reference/coverage-labor.md",
}
INDEX = ROOT / "docs" / "README.md"

#: Where a path in backticks may begin: the package first, then the repository.
BASES = (ROOT / "src" / "hearthpay", ROOT, ROOT / "tests", ROOT / "docs")
MODULE = re.compile(r"`((?:[\w.-]+/)+(?:[\w.-]+\.(?:py|toml|md|typ|po|html|css|js))?)`")
COMMAND = re.compile(r"(?:`|^\$ |^)hearthpay ([^`\n]+)", re.MULTILINE)
CALL = re.compile(r"`(GET|POST|PATCH|PUT|DELETE) (/[^`\s?]+)")
BOLD = re.compile(r"\*\*([^*]+)\*\*")
#: Pages for families, in which what is bold is written so on a page of the app.
GUIDES = [
    page
    for page in PAGES
    if "\n\nFor families" in page.read_text("utf-8") and page.parent.name in {"how-to", "tutorials", "guides"}
]
#: What pages name of PostgreSQL.
OF_POSTGRES = {"array_cat"}
HISTORIES = {"docs/reference/api-changelog.md", "docs/reference/rules-changelog.md"}
PRESENT = [page for page in PAGES if page.relative_to(ROOT).as_posix() not in HISTORIES]
FOR_ENGINEERS = [page for page in PAGES if page.parent.name in {"explanation", "contribute"}]


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_pages_stay_short() -> None:
    with every_case() as case:
        for page in PAGES:
            with case(_name(page)):
                if _name(page) not in GENERATED:
                    assert len(page.read_text("utf-8").splitlines()) <= LONGEST


def test_the_index_links_to_every_page() -> None:
    linked = {
        (INDEX.parent / each).resolve() for each in re.findall(r"\]\(([^)#]+)", INDEX.read_text("utf-8"))
    }
    missing = [
        _name(page) for page in PAGES if page.is_relative_to(INDEX.parent) and page not in linked | {INDEX}
    ]
    assert missing == []


def test_files_that_pages_name_exist() -> None:
    with every_case() as case:
        for page in PAGES:
            with case(_name(page)):
                named = MODULE.findall(page.read_text("utf-8"))
                assert [each for each in named if not _exists(each)] == []


@cache
def _file_names() -> frozenset[str]:
    folders = ("src", "tests", "tools", "benchmarks", "examples", "packaging")
    return frozenset(path.name for folder in folders for path in (ROOT / folder).rglob("*.*"))


def test_modules_named_without_their_folder_exist() -> None:
    with every_case() as case:
        for page in PAGES:
            with case(_name(page)):
                named = re.findall(r"`(\w+\.(?:py|typ|html))`", page.read_text("utf-8"))
                assert [each for each in named if each not in _file_names()] == []


def test_names_of_code_that_engineers_pages_use_exist() -> None:
    with every_case() as case:
        for page in FOR_ENGINEERS:
            with case(_name(page)):
                prose = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
                named = set(re.findall(r"`([A-Za-z]+_\w+|[A-Z][a-z]+[A-Z]\w+)`", prose))
                assert {each for each in named - OF_POSTGRES if each not in _written()} == set()


@cache
def _written() -> str:
    """The text of the code and its tests, in which a page's names are looked for."""
    paths = (path for folder in ("src", "tests", "tools") for path in (ROOT / folder).rglob("*"))
    texts = (path.read_text("utf-8") for path in paths if path.suffix in {".py", ".toml", ".html", ".typ"})
    more = (ROOT / "pyproject.toml", ROOT / "docs" / "api" / "openapi.json")
    return "\n".join([*texts, *(path.read_text("utf-8") for path in more)])


def test_tests_named_by_the_threat_model_exist() -> None:
    page = (ROOT / "docs" / "explanation" / "security.md").read_text("utf-8")
    written = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`[^`]*?\b(test_\w+)`", page))
    assert len(named) > 30
    assert {each for each in named if f"def {each}(" not in written} == set()


def _exists(path: str) -> bool:
    return any((base / path).exists() for base in BASES) or bool(list((ROOT / "src/hearthpay").rglob(path)))


@cache
def _commands() -> dict[str, Any]:
    def walk(command: Any, name: str) -> Iterator[tuple[str, Any]]:
        yield name, command
        for inner, each in getattr(command, "commands", {}).items():
            yield from walk(each, f"{name} {inner}".strip())

    return dict(walk(typer.main.get_command(app), ""))


def test_commands_and_options_that_pages_name_exist() -> None:
    with every_case() as case:
        for page in PRESENT:
            with case(_name(page)):
                _check_commands(page)


def _check_commands(page: Path) -> None:
    wrong = []
    for line in COMMAND.findall(page.read_text("utf-8")):
        words = line.replace("|", " ").split()
        first = words[0] if words else ""
        if not re.fullmatch(r"[a-z][a-z0-9-]*", first):
            continue
        name = f"{first} {words[1]}" if len(words) > 1 and f"{first} {words[1]}" in _commands() else first
        known = {opt for each in _params(name) for opt in (*each.opts, *each.secondary_opts)}
        options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", line)) - {"--help", "--version"}
        if name not in _commands() or options - known:
            wrong.append(line)
    assert wrong == []


def _params(name: str) -> list[Any]:
    return list(_commands()[name].params) if name in _commands() else []


@cache
def _calls() -> set[str]:
    document = orjson.loads((ROOT / "docs/api/openapi.json").read_bytes())
    return {
        f"{method.upper()} {re.sub(r'{[^}]*}', '{}', path.removeprefix('/api/v1'))}"
        for path, methods in document["paths"].items()
        for method in methods
    }


def test_calls_that_pages_name_exist() -> None:
    known = _calls() | {
        "GET /healthz",
        "GET /readyz",
        "GET /metrics",
        "GET /openapi.json",
        "GET /llms.txt",
        "GET /docs",
    }
    with every_case() as case:
        for page in PRESENT:
            with case(_name(page)):
                wrong = []
                for method, path in CALL.findall(page.read_text("utf-8")):
                    call = f"{method} {re.sub(r'{[^}]*}', '{}', path.removeprefix('/api/v1'))}"
                    if call not in known:
                        wrong.append(f"{method} {path}")
                assert wrong == []


@cache
def _words_of_pages() -> set[str]:
    found = set()
    for path in (ROOT / "src/hearthpay/languages/es").glob("*.po"):
        with path.open("rb") as file:
            found |= {str(entry.id) for entry in read_po(file) if entry.id}
    return found


def test_families_have_guides() -> None:
    assert len(GUIDES) > 10


def test_bold_words_of_guides_are_on_pages() -> None:
    with every_case() as case:
        for page in GUIDES:
            with case(_name(page)):
                bold = {re.sub(r"\s+", " ", each) for each in BOLD.findall(page.read_text("utf-8"))}
                assert bold - _words_of_pages() == set()


@cache
def _spanish_words() -> set[str]:
    found = set()
    for path in (ROOT / "src/hearthpay/languages/es").glob("*.po"):
        with path.open("rb") as file:
            found |= {str(entry.string) for entry in read_po(file) if entry.id}
    return found


def test_bold_words_of_spanish_guides_are_on_pages() -> None:
    with every_case() as case:
        for page in sorted((ROOT / "docs").glob("*/es/*.md")):
            with case(_name(page)):
                bold = {re.sub(r"\s+", " ", each) for each in BOLD.findall(page.read_text("utf-8"))}
                assert {each for each in bold if not each.endswith(".")} - _spanish_words() == set()
                assert (page.parent.parent / page.name).exists()


def test_every_setting_is_described() -> None:
    names = re.compile(r"[\"']((?:HEARTHPAY|DATABASE|MAIL|SMTP|RATE_LIMIT)_[A-Z_]+)[\"']")
    source = (path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    settings = {name for text in source for name in names.findall(text)}
    pages = [ROOT / "docs" / "reference" / name for name in ("settings.md", "mcp.md")]
    described = set(re.findall(r"`([A-Z_]+)`", "".join(page.read_text("utf-8") for page in pages)))
    assert len(settings) > 20
    assert settings - described == set()
