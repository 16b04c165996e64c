"""What the package imports at run time is what it asks for: nothing of the tests' tools."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
OPTIONAL = {"limits", "valkey"}
OF_ANOTHER = {
    "anyio",
    "argon2",
    "httpx2",
    "jsonschema",
    "mcp_types",
    "psycopg_pool",
    "pydantic_core",
    "starlette",
}
"""Installed with a dependency that is asked for, and only ever together with it."""


IMPORTS = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)
"""The package of an import, and at times a word of a docstring."""


def test_everything_imported_is_a_runtime_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {re.split(r"[\[<>=; ]", entry)[0] for entry in project["dependencies"]}
    asked = {name.replace("-", "_") for name in names} | OPTIONAL | OF_ANOTHER
    imported: dict[str, Path] = {}
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text("utf-8")
        if not set(IMPORTS.findall(text)) - sys.stdlib_module_names - imported.keys():
            continue  # no package that is new; to parse a module takes long
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0]: path for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported[node.module.split(".")[0]] = path
    foreign = set(imported) - set(sys.stdlib_module_names) - {"hearthpay"}
    assert foreign
    assert not foreign - asked, {name: imported[name] for name in foreign - asked}
    assert {"httpx", "tomli"}.isdisjoint(foreign)
