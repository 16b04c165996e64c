"""The engine's functions stay small enough to be read at once: no more than so many ways through, nor lines."""

import ast
from collections.abc import Iterator
from pathlib import Path

import hearthpay.taxes

PACKAGE = Path(hearthpay.taxes.__file__).parent
#: `make lint` holds all of the code to as many by mccabe's count, which leaves out what decides within an expression.
MOST_WAYS = 15
MOST_LINES = 60

_FORKS = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.Lambda)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _ways(function: ast.AST) -> int:
    """Count the ways through a function: one, and one more for each fork, also within expressions."""
    ways = 1
    below = list(ast.iter_child_nodes(function))
    while below:
        node = below.pop()
        if isinstance(node, _FUNCTIONS):
            continue
        if isinstance(node, _FORKS):
            ways += 1
        elif isinstance(node, ast.BoolOp):
            ways += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            ways += 1 + len(node.ifs)
        elif isinstance(node, ast.match_case):
            ways += not (isinstance(node.pattern, ast.MatchAs) and node.pattern.pattern is None)
        below.extend(ast.iter_child_nodes(node))
    return ways


def _functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, _FUNCTIONS):
                yield f"{path.relative_to(PACKAGE)}:{node.name}", node


def test_the_count_counts():
    source = "def f(a):\n    return [b or 1 for b in a if b] if a and a[0] else 0\n"
    assert _ways(ast.parse(source).body[0]) == 1 + 1 + 1 + 2 + 1


def test_no_function_has_too_many_ways_through_it():
    assert {name: ways for name, node in _functions() if (ways := _ways(node)) > MOST_WAYS} == {}


def test_no_function_is_too_long():
    lengths = {name: (node.end_lineno or 0) - node.lineno + 1 for name, node in _functions()}
    assert len(lengths) > 300
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}
