"""Amounts as people type them: what is one, and what only a programming language takes for one."""

from decimal import Decimal

import pytest

from hearthpay.cli.amounts import decimal_of
from hearthpay.taxes.errors import TaxInputError
from hearthpay.wire.typed_numbers import typed_decimal
from tests.http.api import Account, refusal


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        *(("28.50", "28.50"), ("28", "28"), (" 28. ", "28"), (".5", "0.5"), ("-1", "-1"), ("+1", "1")),
        *(
            ("1,234.5", "1234.5"),
            ("12,345,678", "12345678"),
            ("28,50", "28.50"),
            ("28,5", "28.5"),
            ("-1,000", "-1000"),
        ),
    ],
)
def test_amounts(typed: str, number: str) -> None:
    assert typed_decimal(typed) == Decimal(number) == decimal_of(typed, "amount")


@pytest.mark.parametrize(
    "typed",
    [
        *(
            "",
            " ",
            ".",
            "-",
            "1e5",
            "1E5",
            "1e-5",
            "1_000",
            "NaN",
            "sNaN",
            "Infinity",
            "inf",
            "0x10",
            "1 000",
            "5 5",
        ),
        *(
            "٣٥",
            "１２",
            "1,2,3",
            "1,0000",
            "1,000,00",
            "12,34,567",
            "1.000,50",
            "--1",
            "1.2.3",
            "$5",
            "5\n5",
            "½",
        ),
    ],
)
def test_no_amounts(typed: str) -> None:
    assert typed_decimal(typed) is None
    with pytest.raises(TaxInputError, match="amount"):
        decimal_of(typed, "amount")


async def test_a_query_takes_no_exponent(account: Account) -> None:
    """In JSON it is a number like any other."""
    for typed in ("1e4", "1_000", "٣٥"):
        refused = await account.live.get("/threshold", state="CA", annual_wages=typed, tax_year=2026)
        refusal(refused, 400, "validation_error")
    body = b'{"state": "CA", "annual_wages": 1e4}'
    assert (await account.live.post_raw("/calculate", body)).status_code == 200
