"""Amounts of requests: exact, bounded, numbers only."""

from decimal import Decimal

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from hearthpay.wire.answer import render
from hearthpay.wire.money import Amount
from tests.cases import every_case

MONEY = Amount()


@given(st.integers(min_value=0, max_value=99_999_999_900))
def test_every_amount_survives_the_wire_to_the_cent(cents: int) -> None:
    amount = Decimal(cents).scaleb(-2)
    written = render(amount)
    assert MONEY.read(orjson.loads(written)) == amount


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (b"0", "0.00"),
        (b"-0.0", "0.00"),
        (b"28.5", "28.50"),
        (b"1e2", "100.00"),
        (b"0.1", "0.10"),
        (b"999999999", "999999999.00"),
    ],
)
def test_numbers_are_read_exactly(written: bytes, expected: str) -> None:
    assert str(MONEY.read(orjson.loads(written))) == expected


REFUSED = [
    "12.50",
    True,
    False,
    None,
    [],
    {},
    float("nan"),
    float("inf"),
    Decimal("NaN"),
    -0.01,
    -5,
    0.001,
    1.005,
    1e308,
    10**30,
    1_000_000_000,
    999_999_999.01,
]


def test_everything_else_is_refused() -> None:
    with every_case() as case:
        for value in REFUSED:
            with case(value), pytest.raises(PydanticCustomError):
                MONEY.read(value)


def test_a_query_parameter_may_be_text_and_bounds_are_the_fields_own() -> None:
    wages = Amount(maximum=Decimal(999_999), from_query=True)
    assert wages.read("35000") == 35000
    assert wages.read("2999.99") == Decimal("2999.99")
    for bad in ("", " ", "abc", "NaN", "Infinity", "-1", "1000000", "1.001", "9" * 50, "1e999999999"):
        with pytest.raises(PydanticCustomError):
            wages.read(bad)


def test_an_answer_never_holds_a_number_that_json_does_not_know() -> None:
    assert (
        render({"amount": Decimal("1234.50"), "rate": Decimal("0.0145")})
        == b'{"amount":1234.50,"rate":0.0145}'
    )
    for bad in (Decimal("NaN"), Decimal("Infinity")):
        with pytest.raises(TypeError):
            render(bad)
