"""The titles of deadlines: what is to be done, and for which period, in the reader's language."""

import datetime
from typing import Final

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.periods import CoveredDays
from hearthpay.languages.catalogue import (
    day_in,
    day_of_year_in,
    mark,
    month_in,
    month_name_in,
    say_in,
    short_day_in,
)

_TITLE: Final = mark("{what}: {period}")
_PAYDAY: Final = mark("payday of {day}")
_PAYDAYS: Final = mark("paydays {first} to {last}")


def title_of_item(item: CalendarItem, language: str) -> str:
    """Return what an item asks for, with its period: "Send Forms W-2 to the state: 2026"."""
    return with_period(say_in(language)(item.what), item.covers, language)


def with_period(text: str, covered: CoveredDays | None, language: str) -> str:
    """Return what is to be done with the days that it is for; without them if there are none."""
    if covered is None:
        return text
    return say_in(language)(_TITLE, what=text, period=covered_days_text(covered, language))


def covered_days_text(covered: CoveredDays, language: str) -> str:
    """Return the days in words: "April–June 2026", "October 2026", "2026", "payday of Nov 20, 2026"."""
    if not covered.of_paydays:
        return months_text(covered.first, covered.last, language)
    say, last = say_in(language), _day(covered.last, language)
    if covered.first == covered.last:
        return say(_PAYDAY, day=last)
    return say(_PAYDAYS, first=day_of_year_in(language, covered.first), last=last)


def months_text(first: datetime.date, last: datetime.date, language: str) -> str:
    """Return whole months of a year in words: "April–June 2026", "October 2026", "2026"."""
    if (first.month, last.month) == (1, 12):
        return str(first.year)
    end = month_in(language, last)
    return end if first.month == last.month else f"{month_name_in(language, first)}–{end}"


def _day(day: datetime.date, language: str) -> str:
    return short_day_in(language, day) if language == "en" else day_in(language, day)
