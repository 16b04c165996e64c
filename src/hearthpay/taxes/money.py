"""Exact money: whole cents inside the engine, ``Decimal`` dollars in its interface."""

import functools
from decimal import MAX_PREC, Context, Decimal

from hearthpay.taxes.errors import TaxInputError

RATE_SCALE = 10**9
"""Rates are integers in units of one billionth, so that every legal rate is exact."""

HALF_RATE = RATE_SCALE // 2
"""Added to a product with a rate before dividing by the scale, to round to the nearest whole, half up."""

MAX_CENTS = 99_999_999_999
"""The largest single amount the engine accepts, in cents (999,999,999.99 dollars)."""

_LARGEST = 8
"""The highest decimal place of an amount: hundreds of millions."""

_ZERO = Decimal(0)
_HUNDRED = Decimal(1).scaleb(2)
_CENT = Decimal(1).scaleb(-2)

_EXACT = Context(prec=MAX_PREC)
"""Never rounds: the default context would cut an amount of more than 28 digits before it is checked."""


def to_cents(value: Decimal, field: str, entry: str | None = None) -> int:
    """Return ``value`` dollars as whole cents.

    Raises `TaxInputError` naming ``field``, or its ``entry``, for anything that isn't a non-negative amount of at
    most two decimals and 999,999,999.99: NaN, infinity, negatives, fractions of a cent.
    """
    if not value:
        return 0
    # Beyond hundreds of millions, an exponent alone could produce a number with that many digits.
    if value.is_finite() and not value.is_signed() and value.adjusted() <= _LARGEST:
        scaled = _EXACT.multiply(value, _HUNDRED)
        cents = int(scaled)
        if scaled == cents:
            return cents
    raise _no_amount(value, field if entry is None else f"{field}.{entry}")


def _no_amount(value: Decimal, field: str) -> TaxInputError:
    if not value.is_finite():
        return TaxInputError(field, "must be a finite amount of money")
    if value < _ZERO:
        return TaxInputError(field, "must not be negative")
    if value.adjusted() > _LARGEST:
        return TaxInputError(field, "must be at most 999999999.99")
    return TaxInputError(field, "must have at most two decimals")


def from_cents(cents: int) -> Decimal:
    """Return whole cents as a `Decimal` of dollars with two places."""
    return _CENT * cents


@functools.cache
def rate_of(scaled: int) -> Decimal:
    """Return a rate of billionths as a `Decimal` fraction; the law has few of them, so each is created once."""
    return Decimal(scaled).scaleb(-9).normalize()


def scaled_rate(value: Decimal) -> int:
    """Return a rate (0.062) as an integer of billionths; raises `ValueError` if it is finer than that."""
    scaled = value.scaleb(9, _EXACT)
    rate = int(scaled)
    if rate != scaled or rate < 0:
        raise ValueError(f"rate {value} is negative or has more than nine decimals")
    return rate
