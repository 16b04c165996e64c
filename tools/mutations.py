"""Makes mutants of a module: copies of its source with one small fault each, for `tools.mutants`.

A mutant replaces one piece of the source text and leaves every other byte as it is. Faults are put into the code, found
by its syntax tree, and into the SQL in its strings. Messages, annotations, decorators, logging and what is only
formatting are left alone.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: `after` in the place of `before`, the bytes from `start` to `end`.

    `statement` is the first line of the innermost statement of a function that it is in. Outside of functions it is
    None, and `name` is what the module's statement defines.
    """

    path: Path
    line: int
    fault: str
    before: str
    after: str
    start: int
    end: int
    statement: int | None
    name: str | None

    @property
    def id(self) -> str:
        """A name that stays while the file stays as it is."""
        what = f"{self.path}:{self.start}:{self.end}:{self.after}"
        return sha256(what.encode()).hexdigest()[:8]

    def applied_to(self, source: bytes) -> bytes:
        """Return the source with the fault in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]


_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
_LOGGING: Final = frozenset({"debug", "info", "warning", "error", "exception"})
_INCIDENTAL: Final = frozenset({"strict", "frozen", "slots", "kw_only", "maxsize", "deprecated", "repr"})
_DECIMAL: Final = re.compile(r"\d+(\.\d+)?")


class _Finder(ast.NodeVisitor):
    """Walks the tree of a module and gathers mutants of its code."""

    def __init__(self, path: Path, source: bytes) -> None:
        self.path, self.source = path, source
        self.found: list[Mutant] = []
        starts, at = [0], 0
        for line in source.splitlines(keepends=True):
            at += len(line)
            starts.append(at)
        self.starts = starts
        self.statement: int | None = None
        self.name: str | None = None
        self.depth = 0
        self.generator = False

    def replace(self, node: ast.expr | ast.stmt, fault: str, after: ast.AST | str) -> None:
        """Gather the mutant that has `after` in the place of a node."""
        text = after if isinstance(after, str) else f"({ast.unparse(after)})"
        start = self.starts[node.lineno - 1] + node.col_offset
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        before = self.source[start:end].decode()
        self.found.append(
            Mutant(self.path, node.lineno, fault, before, text, start, end, self.statement, self.name)
        )

    def visit(self, node: ast.AST) -> None:
        """Look at a node; know the statement and the definition that it is in."""
        statement, name = self.statement, self.name
        if isinstance(node, ast.stmt):
            if self.depth:
                self.statement = node.lineno
            elif self.name is None:
                self.name = _defined_by(node)
        super().visit(node)
        self.statement, self.name = statement, name

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for default in (*node.args.defaults, *(each for each in node.args.kw_defaults if each)):
            self.visit(default)
        if node.name == "__repr__":
            return
        generator, self.generator = self.generator, _yields(node)
        self.depth += 1
        for position, statement in enumerate(node.body):
            if position or not _is_text(statement):
                self.visit(statement)
        self.depth -= 1
        self.generator = generator

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function  # noqa: N815 - the names that the visitor asks for

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Text; its parts have no places of their own."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """It tells a type, or holds what no input can break."""

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in _INCIDENTAL:
            self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(call, ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr in _LOGGING:
                return
            if self.depth:
                self.replace(node, "statement dropped", "pass")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        if self.depth and node.exc is not None:
            self.replace(node, "statement dropped", "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if self.depth:
            self.replace(node, "statement dropped", "pass")
        self.visit(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        value = node.value
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            if not self.generator:
                self.replace(node, "returns None", "return None")
            self.visit(value)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if not isinstance(node.test, ast.Compare):
            self.replace(node.test, "condition negated", f"not ({ast.unparse(node.test)})")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        if not isinstance(node.test, ast.Compare):
            self.replace(node.test, "condition negated", f"(not ({ast.unparse(node.test)}))")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self.replace(node, "loop ended", "break")

    def visit_Compare(self, node: ast.Compare) -> None:
        for position, operator in enumerate(node.ops):
            other = _COMPARISONS[type(operator)]()
            ops = [*node.ops[:position], other, *node.ops[position + 1 :]]
            self.replace(node, "comparison", ast.Compare(node.left, ops, node.comparators))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = _ARITHMETIC.get(type(node.op))
        if other is not None and not _is_text(node.left) and not _is_text(node.right):
            self.replace(node, "arithmetic", ast.BinOp(node.left, other(), node.right))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self.replace(node, "and, or", ast.BoolOp(other, node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self.replace(node, "sign or not dropped", node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.replace(node, "constant", str(not node.value))
        elif isinstance(node.value, int):
            self.replace(node, "constant", str(node.value + 1))
            if node.value > 1:
                self.replace(node, "constant", str(node.value - 1))

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in ("Decimal", "D") and len(node.args) == 1:
            text = node.args[0]
            if isinstance(text, ast.Constant) and _DECIMAL.fullmatch(str(text.value)):
                self.replace(text, "constant", f'"1{text.value}"')
        if isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
            other = "max" if node.func.id == "min" else "min"
            self.replace(node.func, "min, max", other)
        self.generic_visit(node)


def _defined_by(node: ast.stmt) -> str | None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return next((target.id for target in targets if isinstance(target, ast.Name)), None)


def _is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else node
    return isinstance(value, ast.JoinedStr) or (
        isinstance(value, ast.Constant) and isinstance(value.value, str)
    )


def _yields(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))


_STATEMENT: Final = re.compile(
    r"\b(SELECT|UPDATE|DELETE FROM|INSERT INTO)\b[\s\S]*\b(FROM|SET|VALUES)\b|\bWHERE\b"
)
_CONDITION: Final = re.compile(r"\b(?:AND|WHERE|FILTER \(WHERE) ")
_END_OF_CONDITION: Final = re.compile(
    r"\b(?:AND|OR|ORDER BY|GROUP BY|HAVING|LIMIT|RETURNING|FOR (?:NO KEY )?UPDATE|FOR SHARE|UNION|ON|WHERE|THEN|ELSE"
    r"|WHEN|END|JOIN|LEFT|SET)\b|[;\"']{3}|\Z"
)
_SWAPS: Final = (
    (re.compile(r"(?<![<>=!|-])<=(?!>)"), "<", "SQL comparison"),
    (re.compile(r"(?<![<>=!|-])>="), ">", "SQL comparison"),
    (re.compile(r" < "), " <= ", "SQL comparison"),
    (re.compile(r" > "), " >= ", "SQL comparison"),
    (re.compile(r" <> "), " = ", "SQL comparison"),
    (re.compile(r" - (?!\d*'|interval)"), " + ", "SQL arithmetic"),
    (re.compile(r"\bNOT EXISTS\b"), "EXISTS", "SQL not dropped"),
    (re.compile(r"\bIS NOT NULL\b"), "IS NULL", "SQL not dropped"),
    (re.compile(r"\bDESC\b"), "ASC", "SQL order"),
    (re.compile(r"\bmax\("), "min(", "SQL min, max"),
    (re.compile(r"\bmin\("), "max(", "SQL min, max"),
    (re.compile(r"\bbool_or\("), "bool_and(", "SQL min, max"),
)


def _sql_mutants(path: Path, source: bytes, tree: ast.Module) -> Iterator[Mutant]:
    """Yield mutants of the SQL in a module's strings; a condition that is dropped keeps its parameters."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type != tokenize.STRING or not _STATEMENT.search(token.string):
            continue
        row, column = token.start
        first = starts[row - 1] + len(token.line[:column].encode())
        statement, name = _place_of(tree, row)
        for begin, end, after, fault in _sql_faults(token.string):
            before = token.string[begin:end]
            start = first + len(token.string[:begin].encode())
            line = row + token.string[:begin].count("\n")
            yield Mutant(
                path, line, fault, before, after, start, start + len(before.encode()), statement, name
            )


def _sql_faults(sql: str) -> Iterator[tuple[int, int, str, str]]:
    for keyword in _CONDITION.finditer(sql):
        begin = keyword.end()
        end = _end_of_condition(sql, begin)
        condition = sql[begin:end].rstrip()
        before = sql[max(0, keyword.start() - 60) : keyword.start()]
        if condition and not re.search(r"\bBETWEEN\b(?:(?!\bAND\b)[\s\S])*$", before):
            yield begin, begin + len(condition), f"(TRUE OR ({condition}))", "SQL condition dropped"
    for pattern, after, fault in _SWAPS:
        for found in pattern.finditer(sql):
            yield found.start(), found.end(), after, fault


def _end_of_condition(sql: str, begin: int) -> int:
    """Return where a condition ends: at the next keyword outside of its parentheses, or at the one that closes it."""
    depth, at = 0, begin
    between = False
    while at < len(sql):
        character = sql[at]
        if character == "(":
            depth += 1
        elif character == ")":
            if not depth:
                return at
            depth -= 1
        elif not depth and (character == "," or (character in "\"'" and at + 1 == len(sql))):
            return at
        elif not depth and sql.startswith("BETWEEN", at):
            between = True
        elif not depth and (found := _END_OF_CONDITION.match(sql, at)) and sql[at - 1] != "_":
            if not (between and found[0] == "AND"):
                return at
            between = False
        at += 1
    return at


def _place_of(tree: ast.Module, line: int) -> tuple[int | None, str | None]:
    """Return the innermost statement of a function at a line, and what the module's statement there defines."""
    for top in tree.body:
        if top.lineno <= line <= (top.end_lineno or top.lineno):
            inner = [
                node.lineno
                for function in ast.walk(top)
                if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
                for node in ast.walk(function)
                if isinstance(node, ast.stmt)
                and node is not function
                and node.lineno <= line <= (node.end_lineno or node.lineno)
            ]
            return max(inner, default=None), _defined_by(top)
    return None, None


def mutants_of(path: Path, source: bytes) -> list[Mutant]:
    """Return all mutants of a module that can still be compiled, by their place in it."""
    tree = ast.parse(source)
    finder = _Finder(path, source)
    for statement in tree.body:
        finder.visit(statement)
    found = {mutant.id: mutant for mutant in (*finder.found, *_sql_mutants(path, source, tree))}
    return sorted(
        (mutant for mutant in found.values() if _compiles(mutant.applied_to(source))),
        key=lambda mutant: (mutant.start, mutant.end, mutant.after),
    )


def _compiles(source: bytes) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


class _Marker(ast.NodeTransformer):
    """Puts a call before each statement of each function, which says that it is reached."""

    def __init__(self, mark: str, key: str) -> None:
        self.mark, self.key = mark, key

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._fill(node)
        return node

    def _fill(self, node: ast.AST) -> None:
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, None)
            if not isinstance(inner, list):
                continue
            marked: list[ast.AST] = []
            for position, statement in enumerate(inner):
                if isinstance(statement, ast.stmt):
                    first = position == 0 and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                    if not (first and _is_text(statement)):
                        marked.append(self._call(statement))
                if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    self._fill(statement)
                marked.append(statement)
            inner[:] = marked

    def _call(self, statement: ast.stmt) -> ast.Expr:
        place = ast.Constant((self.key, statement.lineno))
        call = ast.Call(ast.Name(self.mark, ast.Load()), [place], [])
        return ast.copy_location(ast.Expr(call), statement)


def marked(path: str, source: bytes, mark: str) -> ast.Module:
    """Return the module's tree, in which each statement of a function first calls `mark((path, line))`."""
    tree = _Marker(mark, path).visit(ast.parse(source))
    ast.fix_missing_locations(tree)
    assert isinstance(tree, ast.Module)
    return tree
