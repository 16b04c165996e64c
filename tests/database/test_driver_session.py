"""Text statements that go straight to the driver: the same values, errors and connections as through SQLAlchemy."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from psycopg.errors import CheckViolation, UndefinedTable
from psycopg.types.json import Jsonb
from sqlalchemy import ARRAY, Uuid, bindparam, event, literal, select, text
from sqlalchemy.engine import CursorResult
from sqlalchemy.exc import (
    DBAPIError,
    IntegrityError,
    MultipleResultsFound,
    NoResultFound,
    ProgrammingError,
    StatementError,
)
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.driver_session import DirectResult
from hearthpay.database.session import Database
from tests.database.household import Household

ID = UUID("0190b5a0-7c1e-7000-8000-000000000001")
VALUES: dict[str, object] = {
    "id": ID,
    "ids": [ID, ID],
    "empty": [],
    "words": ["a", 'b "c" {d}', "ü % :x"],
    "texts": "plain 'text' 100 %",
    "money": Decimal("1234567.89"),
    "whole": 2**40,
    "yes": True,
    "nothing": None,
    "day": date(2026, 2, 28),
    "at": datetime(2026, 11, 1, 5, 30, tzinfo=UTC),
    "span": timedelta(hours=3),
    "data": b"\x00\xff",
    "json": Jsonb({"amount": Decimal("12.30"), "names": ["é"]}),
}
TYPES = {
    "id": "uuid",
    "ids": "uuid[]",
    "empty": "uuid[]",
    "words": "text[]",
    "texts": "text",
    "money": "numeric",
    "whole": "bigint",
    "yes": "boolean",
    "nothing": "date",
    "day": "date",
    "at": "timestamptz",
    "span": "interval",
    "data": "bytea",
    "json": "jsonb",
}
EVERY_TYPE = text(  # ":" and "%" of a literal stay as they are, and a parameter may be named twice
    "SELECT "
    + ", ".join(f"CAST(:{name} AS {type_}) AS {name}" for name, type_ in TYPES.items())
    + r", daterange(:day, NULL) AS range, 7 % 4 AS rest, '\:no %(name)s %' AS written, :id = ANY(:ids) AS found"
)
SERIES = text("SELECT n, n * 2 AS twice FROM generate_series(1, :last) AS n ORDER BY n")


@contextmanager
def listened_to(database: Database) -> Iterator[list[str]]:
    """Yield the statements that SQLAlchemy tells of; while anything listens, all of them pass through it."""
    seen: list[str] = []

    def note(_1: object, _2: object, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(database._engine.sync_engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(database._engine.sync_engine, "before_cursor_execute", note)


async def backend(session: AsyncSession) -> int:
    return int(await session.scalar(text("SELECT pg_backend_pid()")))


async def test_values_are_those_of_the_ordinary_way(database: Database) -> None:
    async with database.transaction(None) as session:
        direct = await session.execute(EVERY_TYPE, VALUES)
        assert isinstance(direct, DirectResult)
        with listened_to(database):
            ordinary = await session.execute(EVERY_TYPE, VALUES)
        assert isinstance(ordinary, CursorResult)
        (row,), (expected,) = direct.all(), ordinary.all()
    assert row._asdict() == expected._asdict()
    assert [type(value) for value in row] == [type(value) for value in expected]
    assert row.json == {"amount": "12.30", "names": ["é"]}
    assert (row.rest, row.written, row.found) == (3, ":no %(name)s %", True)


async def test_results_are_read_as_ordinary_ones(database: Database) -> None:
    async def read(session: AsyncSession) -> list[Any]:
        return [
            (await session.execute(SERIES, {"last": 3})).all(),
            [row.twice for row in await session.execute(SERIES, {"last": 3})],
            (await session.execute(SERIES, {"last": 2})).mappings().all(),
            (await session.execute(SERIES, {"last": 1})).one(),
            (await session.execute(SERIES, {"last": 0})).one_or_none(),
            (await session.execute(SERIES, {"last": 3})).first(),
            (await session.scalars(SERIES, {"last": 3})).all(),
            await session.scalar(SERIES, {"last": 3}),
            await session.scalar(SERIES, {"last": 0}),
        ]

    async with database.transaction(None) as session:
        direct = await read(session)
        with listened_to(database) as seen:
            assert direct == await read(session)
        assert len(seen) == len(direct)
        with pytest.raises(NoResultFound):
            (await session.execute(SERIES, {"last": 0})).one()
        with pytest.raises(MultipleResultsFound):
            (await session.execute(SERIES, {"last": 2})).one()


async def test_changed_rows_are_counted(database: Database, smiths: Household) -> None:
    rename = text("UPDATE employers SET last_name = :name WHERE last_name <> :name")
    async with database.transaction(smiths.tenant) as session:
        for expected in (1, 0):
            result = await session.execute(rename, {"name": "Diaz"})
            assert isinstance(result, DirectResult)
            assert result.rowcount == expected


async def test_what_needs_sqlalchemy_goes_through_it(database: Database) -> None:
    typed = text("SELECT CAST(:ids AS uuid[])").bindparams(bindparam("ids", type_=ARRAY(Uuid)))
    preset = text("SELECT CAST(:n AS integer)").bindparams(n=3)
    async with database.transaction(None) as session:
        for statement, parameters, value in (
            (typed, {"ids": [ID]}, [ID]),
            (preset, None, 3),
            (select(literal(5)), None, 5),
        ):
            result = await session.execute(statement, parameters)
            assert isinstance(result, CursorResult)
            assert result.scalar_one() == value


async def test_a_parameter_without_a_value_is_an_error(database: Database) -> None:
    async with database.transaction(None) as session:
        for parameters in (None, {}, {"other": 1}):
            with pytest.raises(StatementError, match="'last'"):
                await session.execute(SERIES, parameters)


async def test_faults_have_sqlalchemys_classes(database: Database, smiths: Household) -> None:
    async def fail(statement: str, value: object) -> None:
        async with database.transaction(smiths.tenant) as session:
            await session.execute(text(statement), {"value": value})

    for statement, value, class_, origin in (
        ("UPDATE employees SET status = :value", "secret", IntegrityError, CheckViolation),
        ("SELECT :value FROM nowhere", "secret", ProgrammingError, UndefinedTable),
    ):
        with pytest.raises(DBAPIError) as direct:
            await fail(statement, value)
        with listened_to(database), pytest.raises(DBAPIError) as ordinary:
            await fail(statement, value)
        for error in (direct.value, ordinary.value):
            assert type(error) is class_
            assert isinstance(error.orig, origin)
            assert error.params == {"value": value}
            assert error.hide_parameters
            assert not error.connection_invalidated
    with pytest.raises(ProgrammingError, match="cannot adapt type"):
        await fail("SELECT :value", object())


async def test_after_a_fault_a_savepoint_is_taken_back_and_the_transaction_goes_on(
    database: Database,
) -> None:
    async with database.transaction(None) as session:
        before = await backend(session)
        with pytest.raises(DBAPIError, match="division by zero"):
            async with session.begin_nested():
                await session.execute(text("SELECT 1 / CAST(:n AS integer)"), {"n": 0})
        assert await backend(session) == before


async def test_a_connection_whose_statement_was_canceled_is_not_used_again(database: Database) -> None:
    pids: list[int] = []
    begun = asyncio.Event()

    async def wait() -> None:
        async with database.transaction(None) as session:
            pids.append(await backend(session))
            begun.set()
            await session.execute(text("SELECT pg_sleep(:seconds)"), {"seconds": 60})

    task = asyncio.create_task(wait())
    await begun.wait()
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with database.transaction(None) as session:
        assert await backend(session) not in pids


async def test_after_a_commit_nothing_is_sent_on_the_connection_that_was_given_back(
    database: Database,
) -> None:
    async with database.transaction(None) as session:
        assert isinstance(await session.execute(SERIES, {"last": 1}), DirectResult)
        await session.commit()
        assert isinstance(await session.execute(SERIES, {"last": 1}), CursorResult)
