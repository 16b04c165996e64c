"""Every statement of the product is prepared against the migrated schema, and may be run by a role that has to."""

import contextlib
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping

import psycopg
import pytest
from sqlalchemy import TextClause
from sqlalchemy.dialects.postgresql.psycopg import dialect as psycopg_dialect

import hearthpay
from hearthpay.database.embedded import ROLES

PLANNED = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")
"""How a statement begins that has a plan; what begins otherwise is a command, or a part of a statement."""


def _clauses(value: object, depth: int = 0) -> Iterator[TextClause]:
    if isinstance(value, TextClause):
        yield value
    elif isinstance(value, Mapping) and depth < 3:
        for each in value.values():
            yield from _clauses(each, depth + 1)
    elif isinstance(value, tuple | list | frozenset | set) and depth < 3:
        for each in value:
            yield from _clauses(each, depth + 1)


def _statements() -> dict[str, list[str]]:
    """The statements of each module, with `$1` for their first parameter."""
    found: dict[str, list[str]] = {}
    seen: set[int] = set()
    for module in pkgutil.walk_packages(hearthpay.__path__, "hearthpay."):
        if ".versions" in module.name or module.name.endswith((".env", "__main__")):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            for clause in _clauses(value):
                if id(clause) not in seen:
                    seen.add(id(clause))
                    found.setdefault(module.name, []).append(_numbered(clause))
    return found


def _numbered(clause: TextClause) -> str:
    numbers: dict[str, int] = {}

    def number(met: re.Match[str]) -> str:
        return f"${numbers.setdefault(met[1], len(numbers) + 1)}"

    return re.sub(r"%\((\w+)\)s", number, str(clause.compile(dialect=psycopg_dialect()))).replace("%%", "%")


STATEMENTS = _statements()
COMMANDS_OF_THE_OWNER = (
    "hearthpay.backup.",
    "hearthpay.cli.",
    "hearthpay.database.",
    "hearthpay.doctor.",
)
"""What is run by the operator's commands alone, with the owner's login."""


def test_statements_are_found() -> None:
    assert sum(map(len, STATEMENTS.values())) > 400


@pytest.mark.parametrize("module", STATEMENTS)
def test_each_statement_is_one_that_its_role_may_run(
    module: str, owner_connection: psycopg.Connection
) -> None:
    """PREPARE reads it against the schema; EXPLAIN EXECUTE asks whether the role may read and write what it names."""
    roles = (ROLES.service, ROLES.worker)
    wrong = []
    for statement in STATEMENTS[module]:
        if not statement.lstrip().upper().startswith(PLANNED):
            continue
        refused = {role: _refusal(owner_connection, role, statement) for role in roles}
        if all(refused.values()) and module.startswith(COMMANDS_OF_THE_OWNER):
            refused = {"owner": _refusal(owner_connection, None, statement)}
        if all(refused.values()):
            wrong.append((refused, " ".join(statement.split())[:400]))
    assert wrong == []


def _refusal(connection: psycopg.Connection, role: str | None, statement: str) -> str | None:
    """What the database has against the statement; None where it would run it."""
    try:
        with connection.transaction(force_rollback=True):
            if role is not None:
                connection.execute(f"SET LOCAL ROLE {role}")
            connection.execute(f"PREPARE tried AS {statement}".encode(), prepare=False)
            [(count,)] = connection.execute(
                "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'tried'",
                prepare=False,
            ).fetchall()
            values = f"({', '.join(['NULL'] * count)})" if count else ""
            connection.execute(f"EXPLAIN EXECUTE tried{values}", prepare=False)
    except psycopg.Error as error:
        return f"{type(error).__name__}: {error.diag.message_primary}"
    finally:
        # A prepared statement outlives its transaction.
        with contextlib.suppress(psycopg.errors.InvalidSqlStatementName):
            connection.execute("DEALLOCATE tried", prepare=False)
    return None
