"""Every statement of the product is prepared against the migrated schema, and may be run by a role that has to."""

import contextlib
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, NewType, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import TextClause, text
from sqlalchemy.dialects.postgresql.psycopg import dialect as psycopg_dialect

import hearthpay
from hearthpay.database.embedded import ROLES
from hearthpay.database.typed_rows import Query
from tests.cases import every_case

PLANNED = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")
"""How a statement begins that has a plan; what begins otherwise is a command, or a part of a statement."""


def _found_in(value: object, depth: int = 0) -> Iterator[TextClause | Query[Any]]:
    if isinstance(value, TextClause | Query):
        yield value
    elif isinstance(value, Mapping) and depth < 3:
        for each in value.values():
            yield from _found_in(each, depth + 1)
    elif isinstance(value, tuple | list | frozenset | set) and depth < 3:
        for each in value:
            yield from _found_in(each, depth + 1)


@cache
def _constants() -> dict[str, list[TextClause | Query[Any]]]:
    """The statements of each module, each once, with the class of its rows where it tells one."""
    found: dict[str, list[TextClause | Query[Any]]] = {}
    seen: set[int] = set()
    for module in pkgutil.walk_packages(hearthpay.__path__, "hearthpay."):
        if ".versions" in module.name or module.name.endswith((".env", "__main__")):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            for each in _found_in(value):
                if id(each) not in seen:
                    seen.add(id(each))
                    found.setdefault(module.name, []).append(each)
    return found


def _numbered(clause: TextClause) -> str:
    numbers: dict[str, int] = {}

    def number(met: re.Match[str]) -> str:
        return f"${numbers.setdefault(met[1], len(numbers) + 1)}"

    return re.sub(r"%\((\w+)\)s", number, str(clause.compile(dialect=psycopg_dialect()))).replace("%%", "%")


@cache
def statements_of_modules() -> dict[str, list[str]]:
    """The statements of each module, with `$1` for their first parameter."""
    return {
        module: [_numbered(each.statement if isinstance(each, Query) else each) for each in found]
        for module, found in _constants().items()
    }


def _queries() -> dict[str, list[Query[Any]]]:
    """The statements of each module that tell the class of their rows."""
    return {
        module: queries
        for module, found in _constants().items()
        if (queries := [each for each in found if isinstance(each, Query)])
    }


COMMANDS_OF_THE_OWNER = (
    "hearthpay.backup.",
    "hearthpay.cli.",
    "hearthpay.database.",
    "hearthpay.doctor.",
)
"""What is run by the operator's commands alone, with the owner's login."""


def test_statements_are_found() -> None:
    assert sum(map(len, statements_of_modules().values())) > 400


def test_each_statement_is_one_that_its_role_may_run(owner_connection: psycopg.Connection) -> None:
    """PREPARE reads it against the schema; EXPLAIN EXECUTE asks whether the role may read and write what it names."""
    with every_case() as case:
        for module, statements in statements_of_modules().items():
            with case(module):
                assert _refused(owner_connection, module, statements) == []


def _refused(
    connection: psycopg.Connection, module: str, statements: Sequence[str]
) -> list[tuple[dict[str, str | None], str]]:
    """The statements of a module that no role may run that has to, with what the database has against each."""
    roles = (ROLES.service, ROLES.worker)
    wrong = []
    for statement in statements:
        if not statement.lstrip().upper().startswith(PLANNED):
            continue
        refused = {role: refused_as(connection, role, statement) for role in roles}
        if all(refused.values()) and module.startswith(COMMANDS_OF_THE_OWNER):
            refused = {"owner": refused_as(connection, None, statement)}
        if all(refused.values()):
            wrong.append((refused, " ".join(statement.split())[:400]))
    return wrong


def refused_as(connection: psycopg.Connection, role: str | None, statement: str) -> str | None:
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


PYTHON_TYPES: Mapping[str, type] = {
    "bool": bool,
    "bpchar": str,
    "bytea": bytes,
    "date": date,
    "float8": float,
    "int2": int,
    "int4": int,
    "int8": int,
    "interval": timedelta,
    "name": str,
    "numeric": Decimal,
    "pg_lsn": str,
    "text": str,
    "timestamptz": datetime,
    "unknown": str,
    "uuid": UUID,
    "varchar": str,
}
"""What the driver makes of a column of this type."""

UNTYPED = {
    "hearthpay.database.migrations": 1,
}
"""Modules with statements that return several columns and do not tell the class of their rows, and how many they may
have. Make these numbers smaller."""


class _Column(NamedTuple):
    name: str
    kind: str
    is_array: bool


def _columns(connection: psycopg.Connection, statement: str) -> list[_Column]:
    """The columns that a statement returns, as PostgreSQL tells them once it is prepared."""
    connection.execute(f"PREPARE described AS {statement}".encode(), prepare=False)
    try:
        described = connection.pgconn.describe_prepared(b"described")
        columns = []
        for at in range(described.nfields):
            oid = described.ftype(at)
            kind = psycopg.adapters.types.get(oid)
            name = (described.fname(at) or b"").decode()
            if kind is None:
                columns.append(_Column(name, f"type {oid}", is_array=False))
            else:
                columns.append(_Column(name, kind.name, is_array=oid == kind.array_oid))
        return columns
    finally:
        connection.execute("DEALLOCATE described", prepare=False)


def _differences(row: type, columns: Sequence[_Column]) -> list[str]:
    """How a row class differs from what its statement returns."""
    hints = get_type_hints(row)
    names = tuple(column.name for column in columns)
    if tuple(hints) != names:
        return [f"{row.__qualname__} has the fields {tuple(hints)}, the statement the columns {names}"]
    return [
        f"{row.__qualname__}.{column.name}: {hints[column.name]} cannot hold {column.kind}{'[]' * column.is_array}"
        for column in columns
        if not _holds(hints[column.name], column)
    ]


def _holds(annotation: Any, column: _Column) -> bool:
    """Whether a field of this annotation can hold what the column has, NULL apart."""
    if get_origin(annotation) in (Union, UnionType):
        others = [each for each in get_args(annotation) if each is not NoneType]
        return bool(others) and all(_holds(each, column) for each in others)
    if column.kind in ("json", "jsonb"):
        return get_origin(annotation) in (dict, list)
    if column.is_array:
        return get_origin(annotation) is list and _holds(
            get_args(annotation)[0], column._replace(is_array=False)
        )
    if isinstance(annotation, NewType):
        annotation = annotation.__supertype__
    if get_origin(annotation) is Literal:
        return {type(each) for each in get_args(annotation)} == {PYTHON_TYPES.get(column.kind)}
    return annotation is PYTHON_TYPES.get(column.kind)


def test_row_classes_have_the_columns_of_their_statements(owner_connection: psycopg.Connection) -> None:
    with every_case() as case:
        for module, queries in _queries().items():
            with case(module):
                assert [
                    difference
                    for query in queries
                    for difference in _differences(
                        query.row, _columns(owner_connection, _numbered(query.statement))
                    )
                ] == []


def test_statements_of_several_columns_tell_the_class_of_their_rows(
    owner_connection: psycopg.Connection,
) -> None:
    untyped: dict[str, int] = {}
    for module, found in _constants().items():
        for each in found:
            if isinstance(each, Query):
                continue
            statement = _numbered(each)
            if (
                statement.lstrip().upper().startswith(PLANNED)
                and len(_columns(owner_connection, statement)) > 1
            ):
                untyped[module] = untyped.get(module, 0) + 1
    assert {module: number for module, number in untyped.items() if number > UNTYPED.get(module, 0)} == {}


def test_typed_statements_name_their_columns() -> None:
    """A later migration may let a function or a table return more; a row class takes its own columns alone."""
    starred = [
        statement
        for queries in _queries().values()
        for query in queries
        if re.match(r"\s*SELECT \* FROM \w", statement := _numbered(query.statement))
    ]
    assert starred == []


class _Right(NamedTuple):
    id: UUID
    pay_date: date
    notes: str | None
    failure: dict[str, Any] | None
    tax_year: int


class _OtherName(NamedTuple):
    id: UUID
    payday: date


class _OtherOrder(NamedTuple):
    pay_date: date
    id: UUID


class _OneMore(NamedTuple):
    id: UUID
    pay_date: date
    net_pay: int


class _OtherType(NamedTuple):
    id: str
    pay_date: datetime | None


class _AnyType(NamedTuple):
    id: Any
    pay_date: list[date]


@pytest.mark.parametrize("row", [_OtherName, _OtherOrder, _OneMore, _OtherType, _AnyType])
def test_other_row_classes_are_refused(row: type, owner_connection: psycopg.Connection) -> None:
    columns = _columns(owner_connection, _numbered(text("SELECT id, pay_date FROM payrolls WHERE id = :id")))
    assert _differences(row, columns)


def test_the_right_row_class_is_taken(owner_connection: psycopg.Connection) -> None:
    columns = _columns(owner_connection, "SELECT id, pay_date, notes, failure, tax_year FROM payrolls")
    assert _differences(_Right, columns) == []
