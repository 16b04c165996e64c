"""The catalog that the migrations make: that of the newest schema as a file, and what each migration changed in it.

`schema.txt` has a line for each fact, `kind name: value`. `changes/<revision>.txt` has the lines that a migration
removed (`-`) and added (`+`), from FIRST on, so the catalog of an earlier schema is found by undoing them.
`python -m tools.schema_catalog` writes them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from hearthpay.database.catalog.facts import Facts
from hearthpay.database.migrations import revisions

FOLDER: Final = Path(__file__).parent
SCHEMA: Final = FOLDER / "schema.txt"
CHANGES: Final = FOLDER / "changes"
FIRST: Final = "0096"
"""The oldest schema whose catalog is known."""


def expected_facts(revision: str) -> Facts | None:
    """Return the catalog of the schema of this revision; None if it is older than FIRST, or unknown."""
    lines = _lines_of(revision)
    return None if lines is None else dict(map(_parse, lines))


def format_facts(facts: Facts) -> list[str]:
    """Return a line for each fact, in the order of the file."""
    return sorted(f"{kind} {name}: {value}" for (kind, name), value in facts.items())


def format_change(before: Iterable[str], after: Iterable[str]) -> list[str]:
    """Return what has changed from one catalog's lines to another's, as the file of a migration has it."""
    old, new = set(before), set(after)
    changed = [(line, "-") for line in old - new] + [(line, "+") for line in new - old]
    return [f"{sign} {line}" for line, sign in sorted(changed, key=lambda each: (each[0], each[1] == "+"))]


@cache
def _lines_of(revision: str) -> frozenset[str] | None:
    if revision not in revisions() or revision < FIRST:
        return None
    lines = set(_read(SCHEMA))
    for later in reversed([each for each in revisions() if each > revision]):
        changed = _read(CHANGES / f"{later}.txt")
        lines -= {line[2:] for line in changed if line.startswith("+")}
        lines |= {line[2:] for line in changed if line.startswith("-")}
    return frozenset(lines)


def _parse(line: str) -> tuple[tuple[str, str], str]:
    subject, _, value = line.partition(": ")
    kind, _, name = subject.partition(" ")
    return (kind, name), value


def _read(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line]
