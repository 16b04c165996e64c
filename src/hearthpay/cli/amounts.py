"""Amounts of money as they are typed."""

from decimal import Decimal

from hearthpay.taxes.errors import TaxInputError


def decimal_of(text: str, field: str) -> Decimal:
    """Return the number that was typed; raises `TaxInputError` naming the field."""
    try:
        return Decimal(text.replace(",", ""))
    except ArithmeticError:
        raise TaxInputError(field, f"{text!r} is not an amount of money") from None
