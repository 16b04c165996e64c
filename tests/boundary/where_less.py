"""A build of the service that has forgotten its WHERE clauses: whatever it asks for, it asks for of everybody.

Just before a statement goes to PostgreSQL, the conditions on the given columns in its WHERE clauses become `true`.
So the service behaves as if nobody had written them, and what keeps tenants apart is the database alone.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.engine import ExceptionContext

from hearthpay.database.session import Database

TENANT_COLUMNS: Final = ("organization_id", "employer_id", "sandbox")
"""What says whose a row is."""

ALL_IDS: Final = (*TENANT_COLUMNS, r"(?:\w+_)?id")
"""What says whose a row is, and which one."""

_MEANINGLESS: Final = "42"  # the class of SQLSTATEs for syntax errors, unknown names and unfit types
_FORBIDDEN: Final = "42501"

_PARAMETER: Final = r"%\(\w+\)s(?:::\w+(?:\[\])?)?"


def _nested(depth: int) -> str:
    """The pattern of a text whose parentheses are balanced, down to `depth`."""
    return "[^()]*" if not depth else rf"(?:[^()]|\({_nested(depth - 1)}\))*"


_VALUES: Final = "|".join(
    (
        rf"=\s*{_PARAMETER}",
        rf"=\s*ANY\s*\({_nested(6)}\)",
        r"=\s*\w+\.\w+",
        r"=\s*\(\s*SELECT\b(?:[^()]|\([^()]*\))*\)",
        r"IS\s+(?:NOT\s+)?(?:true|false|null)",
        r"=\s*(?:true|false)",
        r"IN\s*\(\s*NULL(?:::\w+)?\s*\)\s*AND\s*\(\s*1 != 1\s*\)",  # of nothing, as SQLAlchemy writes it
        rf"IN\s*\(\s*{_PARAMETER}(?:\s*,\s*{_PARAMETER})*\s*\)",
    )
)


@dataclass
class Forgetting:
    """The statements seen while the conditions on `columns` (patterns) were being forgotten, each once."""

    columns: tuple[str, ...]
    #: The statement as it was written, and as it was sent.
    changed: dict[str, str] = field(default_factory=dict)
    unchanged: set[str] = field(default_factory=set)
    #: Statements that PostgreSQL could not make sense of; a refusal by its policies is none.
    broken: list[str] = field(default_factory=list)

    def rewrite(self, statement: str) -> str:
        """The statement without those conditions; INSERTs and what comes before a WHERE stay."""
        if statement in self.unchanged:
            return statement
        if statement in self.changed:
            return self.changed[statement]
        head, where, tail = _split(statement)
        columns = "|".join(self.columns)
        # The end of a longer name is no column, nor is the name of a parameter.
        condition = rf"(?<![\w.])(?<!%\()(?:\w+\.)?(?:{columns})\s*(?:{_VALUES})(?![\w.])"
        rewritten = head + where + re.sub(condition, "true", tail, flags=re.IGNORECASE)
        if rewritten == statement:
            self.unchanged.add(statement)
        else:
            self.changed[statement] = rewritten
        return rewritten

    @property
    def left(self) -> list[str]:
        """Statements that were sent with such a condition: a form which `rewrite` does not know."""
        columns = "|".join(self.columns)
        condition = re.compile(rf"(?<!\w)(?:{columns})\s*(?:=|IN\b|IS\b)", re.IGNORECASE)
        sent = {*self.changed.values(), *self.unchanged}
        return sorted(each for each in sent if condition.search(_split(each)[2]))


def _split(statement: str) -> tuple[str, str, str]:
    found = re.search(r"\bWHERE\b", statement, re.IGNORECASE)
    if found is None or statement.lstrip()[:6].upper() == "INSERT":
        return statement, "", ""
    return statement[: found.start()], found.group(), statement[found.end() :]


@contextmanager
def forgetting_where(database: Database, columns: tuple[str, ...]) -> Iterator[Forgetting]:
    """Let everything that goes through `database` meanwhile forget its conditions on `columns`."""
    forgetting = Forgetting(columns)

    def forget(
        _c: Any, _cursor: Any, statement: str, parameters: Any, _x: Any, _many: bool
    ) -> tuple[str, Any]:
        return forgetting.rewrite(statement), parameters

    def note(context: ExceptionContext) -> None:
        state = getattr(context.original_exception, "sqlstate", None) or ""
        if state.startswith(_MEANINGLESS) and state != _FORBIDDEN:
            forgetting.broken.append(f"{context.statement}: {context.original_exception}")

    engine = database._engine.sync_engine
    event.listen(engine, "before_cursor_execute", forget, retval=True)
    event.listen(engine, "handle_error", note)
    try:
        yield forgetting
    finally:
        event.remove(engine, "before_cursor_execute", forget)
        event.remove(engine, "handle_error", note)
