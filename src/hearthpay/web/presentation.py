"""How amounts, days, hours and rates are formatted in the reader's language: the filters of the pages.

A filter reads the page's language from its context, so macros that use one are imported `with context`. Whole cents
go through `money`, dollars from services through `dollars`; a limit of law, in cents, through `threshold`.
"""

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from babel import Locale
from babel.dates import format_date, format_interval
from jinja2 import pass_context
from jinja2.runtime import Context

from hearthpay.banking.calendar import debited_on
from hearthpay.languages.catalogue import mark, moment_in, say_in
from hearthpay.time_zones import shown_time_zone

NO_BREAK: Final = "\u00a0"
"""The space between a month and a day that people plan with."""

NOTHING: Final = "—"
"""Shown if there is no value."""

_LOCALES: Final = {"en": Locale.parse("en_US"), "es": Locale.parse("es_US")}
_DAYS: Final[Mapping[str, Mapping[str, str]]] = {
    "weekday": {"en": "EEE, MMM\u00a0d", "es": "EEEE, d\u00a0'de'\u00a0MMMM"},
    "short_weekday": {"en": "EEE, MMM\u00a0d", "es": "EEE, d\u00a0MMM"},
    "day": {"en": "MMM d", "es": "d MMM"},
    "date": {"en": "MMM d, y", "es": "d MMM y"},
    "month": {"en": "MMMM y", "es": "MMMM 'de' y"},
    "short_month": {"en": "MMM", "es": "MMM"},
}
_ONE_HOUR: Final = mark("{hours} hour")
_HOURS: Final = mark("{hours} hours")


def money_text(cents: int | None) -> str:
    """Return whole cents as "$1,482.16", a negative amount with a leading minus sign."""
    if cents is None:
        return NOTHING
    dollars, rest = divmod(abs(cents), 100)
    return f"{'−' if cents < 0 else ''}${dollars:,}.{rest:02d}"


def dollars_text(dollars: Decimal | int | None) -> str:
    """Return dollars, with two decimals, as "$1,482.16". Raises ValueError for a fraction of a cent."""
    if dollars is None:
        return NOTHING
    cents = Decimal(dollars) * 100
    if cents != int(cents):
        raise ValueError("a fraction of a cent is not shown as money")
    return money_text(int(cents))


def threshold_text(cents: int | None) -> str:
    """Return whole cents as "$1,000", with cents only if there are any."""
    return money_text(cents).removesuffix(".00")


def percent_text(rate: Decimal | None) -> str:
    """Return a rate, 0.0765, as "7.65%"."""
    return NOTHING if rate is None else f"{_plain(Decimal(rate) * 100)}%"


def hours_text(language: str, hours: Decimal | int) -> str:
    """Return "64 hours", "1 hour", "7.5 hours"."""
    sentence = _ONE_HOUR if hours == 1 else _HOURS
    return say_in(language)(sentence, hours=_plain(Decimal(hours)))


def day_text(language: str, form: str, day: datetime.date | None) -> str:
    """Return the day as `form` of `weekday`, `day`, `date`, `month` and `short_month` has it.

    Of an instant it is the day in the household's time. `weekday` is for days that people plan with.
    """
    if day is None:
        return NOTHING
    return _day_text(
        language,
        form,
        day.astimezone(shown_time_zone()).date() if isinstance(day, datetime.datetime) else day,
    )


@lru_cache(maxsize=4096)
def _day_text(language: str, form: str, day: datetime.date) -> str:
    return format_date(day, _DAYS[form][language], locale=_LOCALES[language])


@lru_cache(maxsize=4096)
def period_text(language: str, start: datetime.date, end: datetime.date) -> str:
    """Return a pay period as "Nov 2–15" or "Oct 19–Nov 1", within a line."""
    shown = format_interval(start, end, "MMMd", locale=_LOCALES[language])
    for between in ("\u2009–\u2009", " – "):
        shown = shown.replace(between, "–")
    return shown.replace(" ", NO_BREAK)


def filters() -> dict[str, Callable[..., Any]]:
    """Return the filters by their names in templates."""

    def day_filter(form: str) -> Callable[..., str]:
        @pass_context
        def shown(context: Context, day: datetime.date | None) -> str:
            return day_text(context["language"], form, day)

        return shown

    @pass_context
    def hours(context: Context, worked: Decimal | int) -> str:
        return hours_text(context["language"], worked)

    @pass_context
    def moment(context: Context, at: datetime.datetime | None) -> str:
        return NOTHING if at is None else moment_in(context["language"], at)

    return {
        "money": money_text,
        "dollars": dollars_text,
        "threshold": threshold_text,
        "percent": percent_text,
        "hours": hours,
        "moment": moment,
        "debited_on": debited_on,
        "number": lambda value: NOTHING if value is None else _plain(Decimal(value)),
        **{form: day_filter(form) for form in _DAYS},
    }


def _plain(number: Decimal) -> str:
    """Return the number with thousands separators and without trailing zeros."""
    shown = f"{number:,f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown
