"""Amounts of money as they are typed."""

from decimal import Decimal

from hearthpay.taxes.errors import TaxInputError
from hearthpay.wire.typed_numbers import typed_decimal


def decimal_of(text: str, field: str) -> Decimal:
    """Return the number that was typed; raises `TaxInputError` naming the field."""
    number = typed_decimal(text)
    if number is None:
        raise TaxInputError(field, f"{text!r} is not a number")
    return number
