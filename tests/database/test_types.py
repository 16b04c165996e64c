"""Money survives the database to the cent, and what is not exact money never gets there."""

from __future__ import annotations

from decimal import Decimal

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Column, Integer, MetaData, Table, func, insert, select, text
from sqlalchemy.exc import StatementError

from hearthpay.database.session import Database
from hearthpay.database.types import Cents, from_cents, to_cents

WAGES = Table("wages", MetaData(), Column("id", Integer, primary_key=True), Column("amount", Cents))
LARGEST = Decimal(2**63 - 1).scaleb(-2)


@given(st.integers(min_value=-(2**63) + 1, max_value=2**63 - 1))
def test_cents_and_dollars_are_inverse(cents: int) -> None:
    dollars = from_cents(cents)
    assert dollars.as_tuple().exponent == -2
    assert to_cents(dollars) == cents


@pytest.mark.parametrize(
    ("dollars", "cents"),
    [
        ("0", 0),
        ("-0.00", 0),
        ("1", 100),
        ("1.5", 150),
        ("1.50000", 150),
        ("-12.34", -1234),
        ("1E+3", 100_000),
    ],
)
def test_the_way_a_number_is_written_does_not_matter(dollars: str, cents: int) -> None:
    assert to_cents(Decimal(dollars)) == cents


@pytest.mark.parametrize(
    "dollars",
    [
        "0.001",
        "1.005",
        "1.00000000000000000000000000000001",  # more digits than the decimal context keeps
        "1E-1000000",
        "NaN",
        "sNaN",
        "Infinity",
        "-Infinity",
        "1E+1000000",
        str(LARGEST + Decimal("0.01")),
    ],
)
def test_inexact_money_is_refused(dollars: str) -> None:
    with pytest.raises(ValueError, match="money"):
        to_cents(Decimal(dollars))


@pytest.mark.parametrize("dollars", [1, 1.5, "1.50", True])
def test_only_a_decimal_is_money(dollars: object) -> None:
    with pytest.raises(TypeError, match="Decimal"):
        to_cents(dollars)  # type: ignore[arg-type]  # the wrong type is the test


async def test_a_column_keeps_money_and_its_sums_exact(owner_database: Database) -> None:
    amounts = [Decimal("0.10"), Decimal("0.20"), LARGEST - 1, Decimal("-5.00"), None]
    async with owner_database.transaction(None) as session:
        await session.execute(text("CREATE TEMPORARY TABLE wages (id int, amount bigint) ON COMMIT DROP"))
        await session.execute(
            insert(WAGES), [{"id": i, "amount": amount} for i, amount in enumerate(amounts)]
        )
        stored = list(await session.scalars(select(WAGES.c.amount).order_by(WAGES.c.id)))
        assert stored == amounts
        assert str(stored[0]) == "0.10"
        assert str(await session.scalar(select(func.sum(WAGES.c.amount)))) == str(sum(filter(None, amounts)))
        assert await session.scalar(select(WAGES.c.id).where(WAGES.c.amount == Decimal("0.2"))) == 1
        assert await session.scalar(text("SELECT amount FROM wages WHERE id = 0")) == 10
        with pytest.raises(StatementError, match="two decimals"):
            await session.execute(insert(WAGES), {"id": 9, "amount": Decimal("0.123")})


def test_the_schema_keeps_money_as_whole_cents(owner: psycopg.Connection) -> None:
    rows = owner.execute(
        "SELECT table_name, column_name, ltrim(udt_name, '_') FROM information_schema.columns "
        "WHERE table_schema = 'public' "
        "AND (column_name ~ '(pay|taxes|cost|wages|amount|bonus|earnings|deductions|aside|balance|cents)$') "
        "AND column_name <> 'owed_wages'"  # cents by line code, as JSON
    ).fetchall()
    assert len(rows) >= 25
    assert {data_type for *_, data_type in rows} == {"int8"}
