"""One name stands for one thing: no public class or type of the service is called like another one."""

import ast
from collections import defaultdict

from tests.source_trees import SOURCE, modules_with

#: Each state's module speaks of its own `Period` and `Schedule`, as its guide does, and nobody imports them.
_APART = ("taxes/withholding/special/", "database/migrations/versions/")


def _types_of(tree: ast.Module) -> list[str]:
    """The public classes that a module defines, and the names that it gives to types."""
    names = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names.append(node.targets[0].id)
    return [name for name in names if not name.startswith("_") and not name.isupper() and name[0].isupper()]


def test_no_public_type_is_called_like_another() -> None:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in modules_with(r"^(class\b|[A-Z]\w*\s*=)"):
        module = path.relative_to(SOURCE).as_posix()
        if not module.startswith(_APART):
            for name in _types_of(tree):
                homes[name].append(module)
    assert len(homes) > 300
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}
