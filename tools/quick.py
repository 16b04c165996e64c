"""`make quick`: the tests that a change touches directly, for work in between; `make test` proves.

Changed is what differs from the commit given as argument, by default the last one, and what git does not know yet. A
test file is run where it was changed itself or imports a changed module of `src/` or `tests/` by name; of a changed
template, catalogue or rule file, the tests of its package are run. Long tests are only named: those that a page of the
docs rests on (`long_tests.toml`).
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
LONGEST_LIST: Final = 60
"""Where more test files import what was changed, those of its own package are run."""


@dataclass(frozen=True, slots=True)
class LongTests:
    """What a page says, the long tests it rests on, and the files that these depend on; folders end with a slash."""

    page: str
    claim: str
    tests: tuple[str, ...]
    depends_on: tuple[str, ...]


@cache
def long_tests() -> tuple[LongTests, ...]:
    """Return the rows of `long_tests.toml`."""
    rows = tomllib.loads((ROOT / "tools" / "long_tests.toml").read_text(encoding="utf-8"))["row"]
    return tuple(
        LongTests(row["page"], row["claim"], tuple(row["tests"]), tuple(row["depends_on"])) for row in rows
    )


def select_long_tests(changed: Iterable[Path]) -> list[str]:
    """Return the long tests that pages rest on and changed files may break, in order of their names."""
    names = [path.as_posix() for path in changed]
    return sorted(
        {
            test
            for row in long_tests()
            if any(name == row.page or name.startswith(row.depends_on) for name in names)
            for test in row.tests
        }
    )


def changed_files(since: str) -> list[Path]:
    """Return the files that differ from a commit, and those that git does not know yet; deleted ones are left out."""
    commands = (
        ("git", "diff", "--name-only", "--diff-filter=d", since),
        ("git", "ls-files", "--others", "--exclude-standard"),
    )
    names: set[str] = set()
    for command in commands:
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        names.update(ran.stdout.split())
    return sorted(Path(name) for name in names)


def module_of(path: Path) -> str | None:
    """Return the name by which a Python file is imported; None of other files."""
    if path.suffix != ".py":
        return None
    parts = path.with_suffix("").parts
    if parts[0] == "src":
        parts = parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return the modules, and names in modules, that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
    return frozenset(found)


def select_tests(changed: Iterable[Path], tests: Iterable[Path]) -> list[Path]:
    """Return the test files to run for changed files, in order of their names."""
    imports = {path: imports_of(ROOT / path) for path in tests}
    chosen: set[Path] = set()
    for path in changed:
        if path in imports:
            chosen.add(path)
            continue
        module = module_of(path)
        direct = {test for test, names in imports.items() if module in names} if module else set()
        own = {test for test in imports if _package(test) == _package(path)}
        chosen |= direct if direct and len(direct) <= LONGEST_LIST else own & direct or own
    return sorted(chosen)


def _package(path: Path) -> str:
    parts = path.parts
    return (
        parts[2]
        if parts[:2] == ("src", "hearthpay") and len(parts) > 3
        else parts[1]
        if len(parts) > 2
        else ""
    )


def main() -> None:
    """Run the tests, with what pytest is given besides."""
    since = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    tests = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")]
    changed = changed_files(since)
    if long := select_long_tests(changed):
        print(f"Before this lands: pytest -m long {' '.join(long)}")
    chosen = select_tests(changed, tests)
    if not chosen:
        print("No test imports what was changed.")
        return
    print(f"{len(chosen)} test files: {', '.join(map(str, chosen))}")
    command = [sys.executable, "-m", "pytest", "-m", "not long", "-n", "2", "--dist", "loadfile", "-x"]
    sys.exit(subprocess.run([*command, *map(str, chosen)], cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
