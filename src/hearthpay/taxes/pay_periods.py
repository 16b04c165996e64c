"""Whether a pay period's length fits its pay frequency, by which withholding annualizes its pay."""

import datetime
from collections.abc import Mapping
from typing import NamedTuple

from hearthpay.taxes.assumptions import Assumption, assumption
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.messages import message


class _Length(NamedTuple):
    """The number of days, first and last included, in a regular period of a frequency."""

    noun: str
    shortest: int
    """A period may be given by its working days: Monday to Friday is a week."""

    longest: int


_LENGTHS: Mapping[str, _Length] = {
    "daily": _Length("day", 1, 1),
    "weekly": _Length("week", 5, 7),
    "biweekly": _Length("two weeks", 12, 14),
    "semimonthly": _Length("half a month", 11, 16),
    "monthly": _Length("month", 26, 31),
    "quarterly": _Length("quarter", 88, 92),
    "semiannual": _Length("half a year", 179, 184),
    "annual": _Length("year", 363, 366),
}

_MOST_PERIODS = 2
"""A period longer than this many regular ones isn't a pay period of its frequency."""


def check_period(
    start: datetime.date, end: datetime.date, frequency: str, field: str = "pay_period_end"
) -> Assumption | None:
    """Compare a period, both days included, with its frequency; return what is assumed if they differ.

    None if the length fits. A shorter period is accepted, since employments begin and end within a period, and so is
    one of up to twice the length; either way its pay is treated as that of a regular period. Raises `TaxInputError`
    naming ``field`` for a period that ends before it starts or is longer than two regular ones, and ``pay_frequency``
    for an unknown frequency.
    """
    length = _LENGTHS.get(frequency)
    if length is None:
        raise TaxInputError("pay_frequency", f"must be one of {', '.join(_LENGTHS)}")
    days = (end - start).days + 1
    if days < 1:
        raise TaxInputError(field, message("ends_before_start"))
    if days > _MOST_PERIODS * length.longest:
        raise TaxInputError(
            field,
            message(
                "not_a_pay_period",
                start=start,
                end=end,
                days=days,
                frequency=frequency,
                noun=_one(length.noun),
            ),
        )
    if length.shortest <= days <= length.longest:
        return None
    period: dict[str, object] = {"start": start, "end": end, "days": days, "frequency": frequency}
    if days < length.shortest:
        text = (
            f"The period from {start} to {end} has {_days(days)}, less than {_one(length.noun)}, and its pay is taken "
            f"for that of {_one(length.noun)} ({frequency}): income tax is lower than by a frequency that fits. Right "
            f"for the first or last period of an employment; otherwise change pay_frequency."
        )
        return assumption(message("period_shorter_than_frequency", text=text, **period))
    text = (
        f"The period from {start} to {end} has {_days(days)}, more than {_one(length.noun)}, and its pay is taken for "
        f"that of {_one(length.noun)} ({frequency}): income tax is higher than by a frequency that fits. Change "
        f"pay_frequency or split the period."
    )
    return assumption(message("period_longer_than_frequency", text=text, **period))


def regular_days(frequency: str) -> int:
    """Return the most days in a regular period of a frequency; raises KeyError for an unknown one."""
    return _LENGTHS[frequency].longest


def _one(noun: str) -> str:
    return noun if " " in noun else f"a {noun}"


def _days(days: int) -> str:
    return "1 day" if days == 1 else f"{days} days"
