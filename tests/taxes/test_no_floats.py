"""Money is never a float, and no figure of law stands in a Python file: read from the source itself."""

import ast
from pathlib import Path

import pytest

import hearthpay.taxes
from tests.cases import every_case

PACKAGE = Path(hearthpay.taxes.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

#: Anything above the days of a year could be a rate in disguise, a bound or an amount.
MOST = 366

#: Module → figures above it that are no law: scales, the most that an input may be, how far a search
#: looks, the wages of a trial run.
ALLOWED = {
    "calculator.py": {999_999},
    "certificates.py": {999},
    "gross_up.py": {2_500},
    "state.py": {100_000},
    "money.py": {10**9, 99_999_999_999},
}


def _name(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def _folded(node: ast.AST) -> int | None:
    """Return the value of a whole number, also of a power written out such as 10**9."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, exponent = _folded(node.left), _folded(node.right)
        if base is not None and exponent is not None:
            return base**exponent
    return None


@pytest.fixture(scope="module")
def modules():
    """Each module of the engine by its name, with its path and the nodes of its syntax tree."""
    return {_name(path): (path, list(ast.walk(ast.parse(path.read_text("utf-8"))))) for path in MODULES}


def test_no_float_and_no_complex_literal(modules):
    with every_case() as case:
        for name, (_, nodes) in modules.items():
            with case(name):
                found = [
                    node.lineno
                    for node in nodes
                    if isinstance(node, ast.Constant) and isinstance(node.value, float | complex)
                ]
                assert found == []


def test_float_is_neither_called_nor_named(modules):
    with every_case() as case:
        for name, (_, nodes) in modules.items():
            with case(name):
                assert [
                    node.lineno for node in nodes if isinstance(node, ast.Name) and node.id == "float"
                ] == []
                assert [
                    node.lineno
                    for node in nodes
                    if isinstance(node, ast.Attribute)
                    and node.attr in ("from_float", "fromhex", "as_integer_ratio")
                ] == []


def test_math_is_not_needed(modules):
    """`math` works on floats; whole numbers need none of it."""
    with every_case() as case:
        for name, (_, nodes) in modules.items():
            with case(name):
                imported = {
                    alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names
                } | {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
                assert not imported & {"math", "cmath", "statistics", "random", "numpy"}


#: Where a path of folders is joined by ``/``; every other division must be of Decimals, for show.
PATHS = {"editions.py", "rulebook.py", "thresholds.py"}
DECIMALS = {"trace.py"}
#: Where an error message shows cents of a rule file as dollars, inside the text itself.
MESSAGES = {"rule_file.py"}


def test_nothing_is_truly_divided(modules):
    """Whole cents are divided by `//` after rounding; ``/`` would yield a float."""
    with every_case() as case:
        for name, (path, nodes) in modules.items():
            with case(name):
                found = [
                    node
                    for node in nodes
                    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div)
                ]
                if path.name in PATHS:
                    assert all(_is_path(node) for node in found)
                elif path.name in DECIMALS:
                    assert all(_is_decimal(node.left) for node in found)
                else:
                    texts = [node for node in nodes if isinstance(node, ast.FormattedValue)]
                    shown = (
                        {id(part) for text in texts for part in ast.walk(text)}
                        if path.name in MESSAGES
                        else set()
                    )
                    assert [node.lineno for node in found if id(node) not in shown] == []


def _is_path(node: ast.BinOp) -> bool:
    """Tell whether a division joins a path: one of its parts is a text or a path's attribute."""
    text = ast.unparse(node)
    return isinstance(node, ast.BinOp) and (
        "folder" in text or "RULES" in text or "'" in text or "_base" in text
    )


def _is_decimal(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Decimal"


def test_no_figure_of_law_stands_in_code(modules):
    with every_case() as case:
        for name, (path, nodes) in modules.items():
            with case(name):
                allowed = ALLOWED.get(path.name, set())
                inside_powers = {
                    id(part)
                    for node in nodes
                    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
                    for part in (node.left, node.right)
                }
                for node in nodes:
                    value = None if id(node) in inside_powers else _folded(node)
                    if value is not None and abs(value) > MOST:
                        assert value in allowed, (
                            f"{path.name}:{node.lineno}: {value} belongs into a rule file"
                        )


def test_no_decimal_is_written_out(modules):
    """A ``Decimal("0.062")`` in code would be law that no source stands behind."""
    with every_case() as case:
        for name, (path, nodes) in modules.items():
            with case(name):
                for node in nodes:
                    if (
                        isinstance(node, ast.Call)
                        and isinstance(node.func, ast.Name)
                        and node.func.id == "Decimal"
                    ):
                        for argument in node.args:
                            if isinstance(argument, ast.Constant):
                                small = argument.value in (0, 1)
                                where = f"{path.name}:{node.lineno}: {ast.unparse(node)}"
                                assert small or argument.value in ALLOWED.get(path.name, set()), where
