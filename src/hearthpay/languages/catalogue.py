"""Catalogs: `say_in(language)` returns the function that translates a sentence and fills in its placeholders.

A sentence is identified by its English words. The files of `es/` hold the Spanish ones, one file per area, in the
format of translators' tools; a test checks that none is missing. Money and dates are written as US readers of either
language expect them.
"""

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple, cast

from babel import Locale
from babel.dates import format_date, format_datetime
from babel.messages.pofile import read_po
from babel.numbers import format_currency

from hearthpay.time_zones import TimeZone, shown_time_zone

Say = Callable[..., str]
"""Takes a sentence and its placeholder values by name; returns it in a language."""


class Sentence(str):
    """A sentence in English that can still be translated: it knows its words and the values of its placeholders.

    A language that lacks the words says `otherwise` instead of them.
    """

    words: str
    gaps: Mapping[str, object]
    otherwise: str | None

    def __new__(
        cls, words: str, gaps: Mapping[str, object] | None = None, *, otherwise: str | None = None
    ) -> "Sentence":
        """Return the words with their gaps filled in."""
        made = super().__new__(cls, _filled("en", words, gaps or {}))
        made.words, made.gaps, made.otherwise = words, gaps or {}, otherwise
        return made


def _filled(language: str, words: str, gaps: Mapping[str, object]) -> str:
    day = short_day_in if language == "en" else day_in
    shown = {
        name: day(language, gap) if isinstance(gap, datetime.date) else gap for name, gap in gaps.items()
    }
    return words.format(**shown) if shown else words


_LOCALES: Final = {"en": Locale.parse("en_US"), "es": Locale.parse("es_US")}


class _ZoneName(NamedTuple):
    """How a time zone is named: beside a time on a page, and in a sentence of either language."""

    short: str
    english: str
    spanish: str


_ZONES: Final[Mapping[TimeZone, _ZoneName]] = {
    "America/New_York": _ZoneName("ET", "Eastern time", "hora del Este"),
    "America/Chicago": _ZoneName("CT", "Central time", "hora del Centro"),
    "America/Denver": _ZoneName("MT", "Mountain time", "hora de la Montaña"),
    "America/Phoenix": _ZoneName("MST", "Arizona time", "hora de Arizona"),
    "America/Los_Angeles": _ZoneName("PT", "Pacific time", "hora del Pacífico"),
    "America/Anchorage": _ZoneName("AKT", "Alaska time", "hora de Alaska"),
    "Pacific/Honolulu": _ZoneName("HST", "Hawaii time", "hora de Hawái"),
}


def mark(sentence: str) -> str:
    """Return the sentence itself: it is translated later, so it must already be in the catalogs."""
    return sentence


@cache
def sentences(language: str) -> dict[str, str]:
    """Return the catalog of a language: its sentences by their English words. English has none."""
    return {english: translated for part in parts(language).values() for english, translated in part.items()}


def parts(language: str) -> dict[str, dict[str, str]]:
    """Return the sentences of each file of a language; two areas may share one, with the same translation."""
    if language == "en":
        return {}
    found = {}
    for path in sorted(files("hearthpay.languages").joinpath(language).iterdir(), key=lambda each: each.name):
        if path.name.endswith(".po"):
            with path.open("rb") as file:
                found[path.name] = {str(each.id): str(each.string) for each in read_po(file) if each.id}
    return found


@cache
def say_in(language: str) -> Say:
    """Return the function that translates sentences into the language; a missing one stays English."""
    known = sentences(language)

    def say(sentence: str, **gaps: object) -> str:
        if isinstance(sentence, Sentence):
            words = known.get(sentence.words)
            if words is None and language != "en" and sentence.otherwise is not None:
                return known.get(sentence.otherwise, sentence.otherwise)
            return _filled(language, words or sentence.words, sentence.gaps)
        text = known.get(sentence, sentence)
        return text.format(**gaps) if gaps else text

    return say


def moment_in(language: str, moment: datetime.datetime) -> str:
    """Return a moment as people read it: in the household's time (`shown_time_zone`), with the time zone named."""
    here = moment.astimezone(shown_time_zone())
    form = "MMM d, y, h:mm a" if language == "en" else "d MMM y, h:mm a"
    shown = format_datetime(here, form, locale=_LOCALES[language])
    return f"{shown} {_ZONES[_zone_name()].short}"


def day_in(language: str, day: datetime.date) -> str:
    """Return a day as written in a letter: November 24, 2026."""
    return format_date(day, "long", locale=_LOCALES[language])


def month_in(language: str, day: datetime.date) -> str:
    """Return the day's month as written in a letter: November 2026."""
    form = "MMMM y" if language == "en" else "MMMM 'de' y"
    return str(format_date(day, form, locale=_LOCALES[language]))


def month_name_in(language: str, day: datetime.date) -> str:
    """Return the name of the day's month alone: November."""
    return str(format_date(day, "LLLL", locale=_LOCALES[language]))


def short_day_in(language: str, day: datetime.date) -> str:
    """Return a day as shown on a page: Nov 24, 2026."""
    form = "MMM d, y" if language == "en" else "d MMM y"
    return str(format_date(day, form, locale=_LOCALES[language]))


def day_of_year_in(language: str, day: datetime.date) -> str:
    """Return a day without its year: Nov 24."""
    form = "MMM d" if language == "en" else "d 'de' MMMM"
    return str(format_date(day, form, locale=_LOCALES[language]))


def weekday_in(language: str, day: datetime.date) -> str:
    """Return a day that people plan with: Tue, Nov 24."""
    form = "EEE, MMM d" if language == "en" else "EEEE d 'de' MMMM"
    return str(format_date(day, form, locale=_LOCALES[language]))


def hour_in(language: str, moment: datetime.datetime) -> str:
    """Return a moment as in a letter, in the household's time: Tuesday, November 24, at 3:00 PM Eastern time."""
    here = moment.astimezone(shown_time_zone())
    zone = _ZONES[_zone_name()]
    if language == "en":
        return f"{here:%A, %B %-d, at %-I:%M %p} {zone.english}"
    day = format_datetime(here, "EEEE, d 'de' MMMM", locale=_LOCALES[language])
    hour = format_datetime(here, "h:mm a", locale=_LOCALES[language])
    return f"{day}, a las {hour}, {zone.spanish}"


def time_zone_in(language: str, zone: TimeZone) -> str:
    """Return the name of a time zone, as a list to choose from has it: Pacific time."""
    named = _ZONES[zone]
    name = named.english if language == "en" else named.spanish
    return name[:1].upper() + name[1:]


def _zone_name() -> TimeZone:
    return cast(TimeZone, shown_time_zone().key)


def money_in(language: str, amount: Decimal) -> str:
    """Return an amount of dollars: $1,234.50."""
    return format_currency(amount, "USD", locale=_LOCALES[language])


def preferred(accepted: str | None) -> str:
    """Return the available language that a browser's `Accept-Language` prefers."""
    choices: list[tuple[float, str]] = []
    for place, part in enumerate((accepted or "")[:200].split(",")):
        name, _, weight = part.strip().partition(";q=")
        try:
            quality = float(weight or 1)
        except ValueError:
            quality = 0.0
        language = name.partition("-")[0].lower()
        if language in _LOCALES and quality > 0:
            choices.append((quality - place / 1000, language))
    return max(choices, default=(0.0, "en"))[1]
