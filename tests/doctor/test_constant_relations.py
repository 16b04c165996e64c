"""Rows that a check's query brings with it come out of PostgreSQL as they went in."""

import datetime
from decimal import Decimal

import psycopg
import pytest

from hearthpay.doctor.constant_relations import constant_relation

COLUMNS = {
    "year": "int",
    "code": "text",
    "base": "bigint",
    "rate": "numeric",
    "capped": "bool",
    "first_day": "date",
}
ROWS = (
    (2026, "US-SS-EE", 18_450_000, Decimal("0.062"), True, datetime.date(2026, 1, 1)),
    (2026, "NULL", None, Decimal("0E-7"), False, datetime.date(2026, 7, 1)),
    (2027, "", 0, Decimal("1E+1"), True, datetime.date(2027, 1, 1)),
    (2027, "spouse,parent (of age) a/b & c.", -1, Decimal("0.0000001"), False, datetime.date(2027, 12, 31)),
)


@pytest.mark.parametrize("materialized", [False, True])
def test_rows_come_back_as_they_are(owner_connection: psycopg.Connection, materialized: bool) -> None:
    relation = constant_relation("law", COLUMNS, ROWS, materialized=materialized)
    assert owner_connection.execute(f"WITH {relation} SELECT * FROM law").fetchall() == list(ROWS)


@pytest.mark.parametrize("text", ['"', "'", "\\", "{", "a:b", "50%"])
def test_text_that_would_have_to_be_quoted_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not plain text"):
        constant_relation("law", {"code": "text"}, [(text,)])
