"""Compares the hours and rates of a paycheck with labor law. Findings are reported; nothing is refused because of
them.
"""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.labor_law.minimum_wages import (
    FEDERAL_LAW,
    MinimumWage,
    awaited_minimum_wage,
    governing_minimum_wage,
)
from hearthpay.taxes.labor_law.overtime import OvertimeRule, overtime_of, overtime_rules, salary_law
from hearthpay.taxes.messages import DollarAmount, Message, message
from hearthpay.taxes.money import from_cents, to_cents
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

LaborCode = Literal[
    "below_minimum_wage",
    "minimum_wage_outdated",
    "overtime_paid_as_regular",
    "salary_without_overtime",
    "overtime_rate_too_low",
]

_ZERO = Decimal(0)
_UNCERTAIN = " This rule or its figure is not certain: ask the state's labor office."


class HoursWorked(NamedTuple):
    """The hours of one paycheck; rates in dollars an hour, None if no hours are paid at them.

    ``localities`` are places where the work is done, by the names of local taxes, plain names or ZIP codes.
    ``employees`` is how many the household has, as far as known: some laws apply only from a certain number.
    """

    work_state: str
    pay_date: datetime.date
    period_start: datetime.date
    period_end: datetime.date
    regular_hours: Decimal
    overtime_hours: Decimal
    hourly_rate: Decimal | None
    overtime_rate: Decimal | None
    lives_in: bool = False
    localities: Sequence[str] = ()
    employees: int = 1
    salaried: bool = False
    """Whether the regular hours are paid by a salary: ``hourly_rate`` is then its hourly equivalent."""


class LaborWarning(NamedTuple):
    """Something that labor law may not allow: a stable ``code`` for programs, a sentence for people.

    ``field`` is what to change, ``figures`` are the numbers that were compared (dollars, or hours).
    """

    code: LaborCode
    field: str
    message: str
    figures: Mapping[str, Decimal]
    sources: tuple[Source, ...]
    confidence: Confidence
    coded_message: Message
    """The warning with its parameters, for translation."""


def salary_overtime(
    state: str, day: datetime.date, weekly_hours: Decimal, *, lives_in: bool
) -> LaborWarning | None:
    """Return the warning to give before a salary is agreed: it doesn't replace overtime pay.

    None if no law gives the employee overtime. Raises KeyError for an unknown state.
    """
    rules = overtime_rules(state, day, lives_in=lives_in)
    if not rules:
        return None
    rule = min(rules, key=_weekly_hours)
    text = (
        f"A salary does not make a household employee exempt from overtime: by {_by(rule.law)} hours over "
        f"{rule.weekly_hours} in a workweek are paid on top. Enter them as overtime_hours."
        + _printed(salary_law().sources)
    )
    return LaborWarning(
        "salary_without_overtime",
        "salary",
        text,
        {"usual_weekly_hours": weekly_hours, "hours_without_overtime": Decimal(rule.weekly_hours)},
        salary_law().sources,
        rule.confidence,
        message("salary_without_overtime", text=text, law=_law_of(rule.law), limit=rule.weekly_hours),
    )


def _weekly_hours(rule: OvertimeRule) -> int:
    return rule.weekly_hours


def labor_warnings(paid: HoursWorked) -> tuple[LaborWarning, ...]:
    """Return the labor-law warnings about a paycheck's hours and rates; usually none.

    The minimum wage is that of the pay date, in the state and the places where the work is done, or the federal one
    if that is higher or the only one that applies. Overtime follows the rules in force when the period ends. Since
    hours are known by the period and not by the day, only what no distribution over ordinary weeks explains is
    reported. Raises KeyError for an unknown state and `TaxInputError` for a rate that isn't an amount of money.
    """
    if not paid.regular_hours and not paid.overtime_hours:
        return ()
    return (*_below_minimum(paid), *_regular_beyond_room(paid), *_overtime_rate(paid))


def _minimum(paid: HoursWorked, day: datetime.date) -> MinimumWage:
    return governing_minimum_wage(
        paid.work_state, paid.localities, day, lives_in=paid.lives_in, employees=paid.employees
    )


def _below_minimum(paid: HoursWorked) -> Iterator[LaborWarning]:
    if paid.hourly_rate is None:
        return
    rate = to_cents(paid.hourly_rate, "hourly_rate")
    minimum = _minimum(paid, paid.pay_date)
    awaited = awaited_minimum_wage(
        paid.work_state, paid.localities, paid.pay_date, lives_in=paid.lives_in, employees=paid.employees
    )
    if rate >= minimum.cents:
        if awaited is not None and rate < awaited.likely_cents(paid.pay_date):
            yield _outdated(paid, rate, awaited)
        return
    whose_rate = "The salary comes to" if paid.salaried else "The rate of"
    verb = "an hour, below" if paid.salaried else "an hour is below"
    text = (
        f"{whose_rate} {from_cents(rate):,} {verb} the minimum wage on {paid.pay_date}: "
        f"{from_cents(minimum.cents):,} by {_whose(minimum, paid).text}, since {minimum.effective_from}."
    )
    earlier = _minimum(paid, paid.period_start)
    if earlier.cents <= rate:
        before = from_cents(earlier.cents)
        text += f" For hours before {minimum.effective_from} it was {before:,}, which the rate reaches."
    if awaited is not None:
        figure = "figure" if awaited.law == minimum.law else f"{awaited.law} figure"
        text += f" The {figure} of {awaited.awaited} is not known here and may be higher."
    text += _doubt(minimum.confidence, minimum.law) + _printed(minimum.sources)
    yield LaborWarning(
        "below_minimum_wage",
        "salary" if paid.salaried else "pay_rate",
        text,
        {"hourly_rate": from_cents(rate), "minimum_wage": from_cents(minimum.cents)},
        minimum.sources,
        minimum.confidence,
        message(
            "salary_below_minimum_wage" if paid.salaried else "below_minimum_wage",
            text=text,
            rate=DollarAmount(rate),
            minimum=DollarAmount(minimum.cents),
            day=paid.pay_date,
            law=_whose(minimum, paid),
            since=minimum.effective_from,
        ),
    )


def _outdated(paid: HoursWorked, rate: int, minimum: MinimumWage) -> LaborWarning:
    """Return the warning that the known figure is older than the law, for a rate that the new one may exceed."""
    text = (
        f"The minimum wage by {_whose(minimum, paid).text} changed on {minimum.awaited}, and the new figure is not "
        f"known here. The last known one is {from_cents(minimum.cents):,}, since {minimum.effective_from}: a rate of "
        f"{from_cents(rate):,} an hour may be below the new one. Look it up." + _printed(minimum.sources)
    )
    return LaborWarning(
        "minimum_wage_outdated",
        "salary" if paid.salaried else "pay_rate",
        text,
        {"hourly_rate": from_cents(rate), "minimum_wage": from_cents(minimum.cents)},
        minimum.sources,
        minimum.confidence,
        message(
            "minimum_wage_outdated",
            text=text,
            rate=DollarAmount(rate),
            minimum=DollarAmount(minimum.cents),
            law=_whose(minimum, paid),
            since=minimum.effective_from,
            awaited=minimum.awaited,
        ),
    )


def _whose(minimum: MinimumWage, paid: HoursWorked) -> Message:
    state = STATES[paid.work_state]
    if minimum.law in (FEDERAL_LAW, state):
        return _law_of(minimum.law)
    return message("part_local_law_of", place=minimum.law, state=state)


def _regular_beyond_room(paid: HoursWorked) -> Iterator[LaborWarning]:
    rules = overtime_rules(paid.work_state, paid.period_end, lives_in=paid.lives_in)
    if not rules or not paid.regular_hours:
        return
    days = (paid.period_end - paid.period_start).days + 1
    rate = to_cents(paid.hourly_rate or _ZERO, "hourly_rate")
    minimum = _minimum(paid, paid.pay_date).cents
    rule = rules[0]  # of rules with equal room the state's is shown, which comes first
    room = rule.room(days, rate, minimum)
    for other in rules[1:]:
        less = other.room(days, rate, minimum)
        if less < room:
            rule, room = other, less
    if paid.regular_hours <= room:
        return
    daily = rule.daily_hours is not None and room == rule.daily_hours * days
    counted = f"{rule.daily_hours} a day" if daily else f"{rule.weekly_hours} in a workweek"
    span = "1 day" if days == 1 else f"{days} days"
    beyond = paid.regular_hours - room
    params = {
        "hours": paid.regular_hours,
        "law": _law_of(rule.law),
        "limit": rule.daily_hours if daily else rule.weekly_hours,
        "room": room,
        "rest": beyond,
    }
    if paid.salaried:
        text = (
            f"{_hours(paid.regular_hours)} hours in {span} for a salary: it does not make a household employee exempt "
            f"from overtime. By {_by(rule.law)} hours over {counted} are overtime, and these days hold about {room} "
            f"without any. Enter the rest, at least {_hours(beyond)}, as overtime_hours: they are paid on top."
        )
        text += _doubt(rule.confidence, rule.law) + _printed(salary_law().sources)
        yield LaborWarning(
            "salary_without_overtime",
            "overtime_hours",
            text,
            {"regular_hours": paid.regular_hours, "hours_without_overtime": Decimal(room)},
            (*rule.sources, *salary_law().sources),
            rule.confidence,
            message("salary_hours_beyond_overtime", text=text, **params),
        )
        return
    text = (
        f"{_hours(paid.regular_hours)} regular hours in {span}: by {_by(rule.law)} hours over {counted} are overtime, "
        f"and these days hold about {room} without any. Enter the rest, at least {_hours(beyond)}, as overtime_hours."
    )
    state = overtime_of(paid.work_state)
    if state.law == "own":
        text += f" {STATES[paid.work_state]}: {state.rule}"
    text += _doubt(rule.confidence, rule.law) + _printed(rule.sources)
    yield LaborWarning(
        "overtime_paid_as_regular",
        "regular_hours",
        text,
        {"regular_hours": paid.regular_hours, "hours_without_overtime": Decimal(room)},
        rule.sources,
        rule.confidence,
        message("overtime_paid_as_regular", text=text, **params),
    )


def _overtime_rate(paid: HoursWorked) -> Iterator[LaborWarning]:
    if not paid.overtime_hours or paid.hourly_rate is None or paid.overtime_rate is None:
        return
    rules = overtime_rules(paid.work_state, paid.period_end, lives_in=paid.lives_in)
    if not rules:
        return
    rule = rules[0]
    for other in rules[1:]:
        if other.percent > rule.percent:
            rule = other
    rate, overtime = (
        to_cents(paid.hourly_rate, "hourly_rate"),
        to_cents(paid.overtime_rate, "overtime_rate"),
    )
    least = rate * rule.percent // 100  # a fraction of a cent owed to rounding is not held against anyone
    if overtime >= least:
        return
    times = Decimal(rule.percent).scaleb(-2).normalize()
    text = (
        f"The overtime rate of {from_cents(overtime):,} an hour is below {times} times the rate of "
        f"{from_cents(rate):,}, which is {from_cents(least):,} and the least by {_by(rule.law)}."
        + _doubt(rule.confidence, rule.law)
        + _printed(rule.sources)
    )
    yield LaborWarning(
        "overtime_rate_too_low",
        "overtime_rate",
        text,
        {
            "overtime_rate": from_cents(overtime),
            "hourly_rate": from_cents(rate),
            "least_overtime_rate": from_cents(least),
        },
        rule.sources,
        rule.confidence,
        message(
            "overtime_rate_too_low",
            text=text,
            overtime=DollarAmount(overtime),
            rate=DollarAmount(rate),
            times=times,
            least=DollarAmount(least),
            law=_law_of(rule.law),
        ),
    )


def _law_of(law: str) -> Message:
    return message("part_federal_law") if law == FEDERAL_LAW else message("part_law_of", place=law)


def _by(law: str) -> str:
    return _law_of(law).text


def _doubt(confidence: Confidence, law: str) -> str:
    return _UNCERTAIN if confidence == "low" and law != FEDERAL_LAW else ""


def _printed(sources: tuple[Source, ...]) -> str:
    return f" Source: {sources[0].title}."


def _hours(hours: Decimal) -> str:
    return f"{hours.normalize():f}"
