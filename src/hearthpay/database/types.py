"""Column types: money is BIGINT cents in the database and an exact Decimal of dollars in the code."""

from __future__ import annotations

from decimal import Decimal

from sqlalchemy import BigInteger
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_LARGEST = 2**63 - 1


class Cents(TypeDecorator[Decimal]):
    """Dollars as a Decimal with exactly two places, stored as a whole number of cents.

    Inexact values are refused: a value that isn't a Decimal raises TypeError; NaN, Infinity, a fraction of a cent or
    an amount beyond BIGINT raises ValueError. SQLAlchemy wraps both in StatementError.
    """

    impl = BigInteger
    cache_ok = True

    def process_bind_param(
        self,
        value: Decimal | None,
        dialect: Dialect,  # noqa: ARG002 - SQLAlchemy's signature
    ) -> int | None:
        """Dollars to cents."""
        return None if value is None else to_cents(value)

    def process_result_value(
        self,
        value: int | Decimal | None,
        dialect: Dialect,  # noqa: ARG002 - SQLAlchemy's signature
    ) -> Decimal | None:
        """Convert cents to dollars. `sum()` of a BIGINT column is NUMERIC, so cents may also arrive as a Decimal."""
        return None if value is None else from_cents(int(value))


def to_cents(dollars: Decimal) -> int:
    """Return the amount as a whole number of cents; raises ValueError if it isn't one, TypeError if it is no
    Decimal.
    """
    if not isinstance(dollars, Decimal):
        raise TypeError(f"money must be a Decimal, not {type(dollars).__name__}")
    if not dollars.is_finite():
        raise ValueError(f"money must be finite, not {dollars}")
    if dollars and not -3 < dollars.adjusted() < 17:
        raise ValueError(f"money must be whole cents within BIGINT, not {dollars}")
    numerator, denominator = dollars.as_integer_ratio()
    cents, fraction = divmod(numerator * 100, denominator)
    if fraction:
        raise ValueError(f"money has at most two decimals, not {dollars}")
    if abs(cents) > _LARGEST:
        raise ValueError(f"money must fit into BIGINT cents, not {dollars}")
    return cents


def from_cents(cents: int) -> Decimal:
    """Return a whole number of cents as dollars with exactly two places."""
    return Decimal(cents).scaleb(-2)
