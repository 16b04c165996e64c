"""Statements that tell the class of their rows, and the helpers that fetch them.

    class _Payday(NamedTuple):
        id: UUID
        pay_date: date

    _PAYDAYS: Final = query(_Payday, "SELECT id, pay_date FROM payrolls WHERE employer_id = :employer")

    paydays = await fetch_all(session, _PAYDAYS, {"employer": employer_id})

A row class has a field for each column, of the same name, in the same order. `tests/database/test_statements.py`
prepares every statement against the schema and compares names and types; whether a column can be NULL, only the
statement's author knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import TextClause
from sqlalchemy.exc import MultipleResultsFound, NoResultFound
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.driver_session import DriverSession
from hearthpay.database.statements import Fragment, statement

RowT = TypeVar("RowT", bound=NamedTuple)
"""The class of a statement's rows."""


@dataclass(frozen=True, slots=True)
class Query(Generic[RowT]):
    """A statement that returns rows, and their class."""

    row: type[RowT]
    statement: TextClause


def query(row: type[RowT], template: str, /, **fragments: Fragment | int) -> Query[RowT]:
    """Return the statement that the template makes with these fragments, its rows of this class.

    Raises ValueError as `statements.compose` does.
    """
    return Query(row, statement(template, **fragments))


async def fetch_all(
    session: AsyncSession, query: Query[RowT], parameters: Mapping[str, object] | None = None
) -> list[RowT]:
    """Return all rows."""
    make = query.row._make
    return [make(row) for row in await _rows(session, query, parameters)]


async def fetch_one(
    session: AsyncSession, query: Query[RowT], parameters: Mapping[str, object] | None = None
) -> RowT:
    """Return the only row; raises NoResultFound or MultipleResultsFound of SQLAlchemy where it is not one."""
    rows = await _rows(session, query, parameters)
    if not rows:
        raise NoResultFound("No row was found when one was required")
    if len(rows) > 1:
        raise MultipleResultsFound("Multiple rows were found when exactly one was required")
    return query.row._make(rows[0])


async def fetch_optional(
    session: AsyncSession, query: Query[RowT], parameters: Mapping[str, object] | None = None
) -> RowT | None:
    """Return the only row, or None where there is none; raises MultipleResultsFound where there are several."""
    rows = await _rows(session, query, parameters)
    if len(rows) > 1:
        raise MultipleResultsFound("Multiple rows were found when one or none was required")
    return query.row._make(rows[0]) if rows else None


async def _rows(
    session: AsyncSession, query: Query[RowT], parameters: Mapping[str, object] | None
) -> Sequence[Sequence[Any]]:
    if isinstance(session, DriverSession):
        return await session.fetch(query.statement, parameters)
    return (await session.execute(query.statement, parameters)).all()
