"""How documents write amounts, rates, hours and dates."""

import datetime
from decimal import Decimal
from typing import Final

from hearthpay.documents.figures.figure import Figure
from hearthpay.taxes.money import from_cents, rate_of

MINUS: Final = "−"


def money(amount: Figure | int | None) -> str:
    """Return cents as dollars with two decimals and commas; empty for a blank box."""
    if amount is None:
        return ""
    cents = amount if isinstance(amount, int) else amount.cents
    return f"{MINUS if cents < 0 else ''}{from_cents(abs(cents)):,.2f}"


def plain_money(amount: Figure | int | None) -> str:
    """Return cents as dollars without commas, as Forms W-2 and W-3 require (General Instructions, "How to
    complete").
    """
    return money(amount).replace(",", "")


def number(value: Decimal | None) -> str:
    """Return hours or a pay rate with the decimals it has, at least two."""
    if value is None:
        return ""
    places = max(2, -int(value.normalize().as_tuple().exponent))
    return f"{value:,.{places}f}"


def percent(rate: Decimal | None) -> str:
    """Return a fraction as a percentage without trailing zeros."""
    return "" if rate is None else f"{(rate * 100).normalize():f}%"


def percent_of(scaled: int) -> str:
    """Return a rate of billionths as a percentage."""
    return percent(rate_of(scaled))


def american(day: datetime.date) -> str:
    """Return a date as forms write it: month, day and year."""
    return f"{day:%m/%d/%Y}"
