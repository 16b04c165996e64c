"""What the words of a search can mean: a day, a month or a year, or an amount of money."""

import datetime
import re
from calendar import monthrange
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Final

from babel import Locale

from hearthpay.web.help.articles import fold_words

DayRange = tuple[datetime.date, datetime.date]

_ISO: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_SLASHED: Final = re.compile(r"(\d{1,2})/(\d{1,2})(?:/(\d{4}))?")
_AMOUNT: Final = re.compile(r"\$?\s*(\d{1,3}(?:,\d{3})+|\d{1,9})(\.\d{2})?")
_YEAR: Final = re.compile(r"20\d\d")
_SHORTEST: Final = 3
"""As many letters name a month."""
_SOON: Final = datetime.timedelta(days=92)
"""A day without a year is the last one, or the next one if it is at most this far away."""


def days_in(text: str, today: datetime.date) -> DayRange | None:
    """Return the day, the month or the year that the text names; None if it names none.

    A text may be `2026-11-27`, `11/27`, `Nov 27, 2026`, `27 de noviembre`, `November` or `2026`.
    """
    if found := _ISO.fullmatch(text):
        return _one_day(int(found[1]), int(found[2]), int(found[3]))
    if found := _SLASHED.fullmatch(text):
        month, day = int(found[1]), int(found[2])
        return _one_day(int(found[3]), month, day) if found[3] else _near(month, day, today)
    if _YEAR.fullmatch(text):
        return datetime.date(int(text), 1, 1), datetime.date(int(text), 12, 31)
    return _in_words(fold_words(text), today)


def cents_in(text: str) -> tuple[int, int] | None:
    """Return the amounts that the text names, in cents: `969.44` is one, `969` all of those dollars."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return None
    dollars = int(found[1].replace(",", "")) * 100
    if found[2] is None:
        return dollars, dollars + 99
    cents = dollars + int(Decimal(found[2]) * 100)
    return cents, cents


def _in_words(words: list[str], today: datetime.date) -> DayRange | None:
    month = next((found for word in words if (found := _month(word))), None)
    rest = [word for word in words if not _month(word) and word not in ("de", "del", "of")]
    if month is None or not all(word.isdigit() for word in rest):
        return None
    years = [int(word) for word in rest if _YEAR.fullmatch(word)]
    days = [int(word) for word in rest if not _YEAR.fullmatch(word)]
    if len(years) > 1 or len(days) > 1:
        return None
    if days:
        return _one_day(years[0], month, days[0]) if years else _near(month, days[0], today)
    first = _near(month, 1, today)
    year = years[0] if years else first[0].year if first else today.year
    return datetime.date(year, month, 1), datetime.date(year, month, monthrange(year, month)[1])


def _month(word: str) -> int | None:
    return next((number for name, number in _months().items() if _names(word, name)), None)


def _names(word: str, name: str) -> bool:
    return len(word) >= _SHORTEST and name.startswith(word)


@cache
def _months() -> Mapping[str, int]:
    """Return the names of the months in both languages."""
    return {
        fold_words(str(name))[0]: int(number)
        for language in ("en_US", "es_US")
        for number, name in Locale.parse(language).months["format"]["wide"].items()
    }


def _near(month: int, day: int, today: datetime.date) -> DayRange | None:
    """Return the day in the year that makes it the last one, or one that comes soon."""
    found = _one_day(today.year, month, day)
    if found is not None and found[0] - today > _SOON:
        return _one_day(today.year - 1, month, day)
    if found is not None and (later := _one_day(today.year + 1, month, day)) and later[0] - today <= _SOON:
        return later if today - found[0] > _SOON else found
    return found


def _one_day(year: int, month: int, day: int) -> DayRange | None:
    try:
        found = datetime.date(year, month, day)
    except ValueError:
        return None
    return found, found
