"""The form for terms: hours, frequency, first period, and the payday after each period."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, cast

from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.commands import EnrolledTerms, is_standard_hours
from hearthpay.autopilot.enrolling import FURTHEST_ANCHOR
from hearthpay.autopilot.schedule import LATEST_PAY_DAY, AutopilotPeriod, Schedule
from hearthpay.autopilot.versions import refuse_hours
from hearthpay.clock import Clock
from hearthpay.employees.commands import PayFrequency
from hearthpay.languages.catalogue import Say, mark
from hearthpay.web.household.employees.words import FREQUENCIES
from hearthpay.web.household.form_parsing import Entries

_REQUIRED: Final = mark("Fill in this field.")
_HOURS: Final = mark("Enter more than 0 hours, with at most 3 decimals.")
_TOO_MANY: Final = mark("Enter fewer hours: the pay period is shorter than that.")
_WITHIN_A_YEAR: Final = mark("Choose a date within a year of today.")
_ON_THE_FIRST: Final = mark("Choose the first day of a month.")
_ON_HALVES: Final = mark("Choose the 1st or the 16th of a month.")
_CHOOSE: Final = mark("Choose one.")
_BY_SCHEDULE: Final = {"semimonthly": _ON_HALVES, "monthly": _ON_THE_FIRST}

_LAST_DAY: Final = mark("On the period's last day")
_ONE_DAY: Final = mark("The day after the period ends")
_DAYS: Final = mark("{days} days after the period ends")


def pay_day_choices(say: Say) -> tuple[tuple[str, str], ...]:
    """Return the rules for the payday, each with its name."""
    names = {0: say(_LAST_DAY), 1: say(_ONE_DAY)}
    return tuple((str(days), names.get(days) or say(_DAYS, days=days)) for days in range(LATEST_PAY_DAY + 1))


def read_hours(entries: Entries) -> Decimal | None:
    """Return the hours of each period; None if they are invalid, which the form then shows."""
    hours = entries.amount("standard_hours")
    if entries.text("standard_hours") is None:
        entries.problems["standard_hours"] = _REQUIRED
    elif hours is None or not is_standard_hours(hours) or not (hours or entries.ticked("by_salary")):
        entries.problems["standard_hours"] = _HOURS
        return None
    return hours


def read_rhythm(entries: Entries) -> tuple[PayFrequency, int] | None:
    """Return the frequency and the number of days after a period; None if not chosen."""
    frequency, days = entries.text("frequency"), entries.number("pay_days_after")
    if frequency not in FREQUENCIES:
        entries.problems["frequency"] = _CHOOSE
    if days is None or days > LATEST_PAY_DAY:
        entries.problems["pay_days_after"] = _CHOOSE
    if frequency not in FREQUENCIES or days is None or entries.problems:
        return None
    return cast(PayFrequency, frequency), days


def read_terms(entries: Entries, clock: Clock) -> EnrolledTerms | None:
    """Return the terms to enroll; None if something is wrong, which the form then shows."""
    hours, anchor = read_hours(entries), entries.day("anchor_period_start")
    rhythm = read_rhythm(entries)
    if anchor is None:
        entries.problems.setdefault("anchor_period_start", _REQUIRED)
    elif abs(anchor - clock.today()) > FURTHEST_ANCHOR:
        entries.problems["anchor_period_start"] = _WITHIN_A_YEAR
    if hours is None or anchor is None or rhythm is None or entries.problems:
        return None
    frequency, days = rhythm
    try:
        first = Schedule(frequency, anchor, days).period(anchor)
    except ValueError:
        entries.problems["anchor_period_start"] = _BY_SCHEDULE[frequency]
        return None
    if has_too_many_hours(entries, hours, first):
        return None
    return EnrolledTerms(standard_hours=hours, frequency=frequency, anchor=anchor, pay_days_after=days)


def has_too_many_hours(entries: Entries, hours: Decimal, period: AutopilotPeriod) -> bool:
    """Return whether there are more hours than the period has, which the form then shows."""
    try:
        refuse_hours(hours, period)
    except Refusal:
        entries.problems["standard_hours"] = _TOO_MANY
        return True
    return False


def form_values_of_terms(terms: EnrolledTerms) -> Mapping[str, str]:
    """Return the terms as values of the form's fields."""
    return {
        "standard_hours": f"{terms.standard_hours:f}",
        "frequency": terms.frequency,
        "anchor_period_start": terms.anchor.isoformat(),
        "pay_days_after": str(terms.pay_days_after),
    }
