"""Which hours of household work are overtime, how many a period can have without any, and a salary's hourly rate."""

import datetime
import functools
from pathlib import Path
from typing import Literal, NamedTuple, cast

from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.labor_law.minimum_wages import COVERS, FEDERAL_LAW, Covers, covers
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

OvertimeLaw = Literal["own", "federal"]
_OVERTIME_LAWS: tuple[OvertimeLaw, ...] = ("own", "federal")

_FILE = Path(__file__).parents[1].joinpath("rules", "overtime.toml")
_WEEK = 7
_LONG_DAY = 10
"""Hours allowed on each day of a partial week: those of four long days, so that these cause no warning."""


class OvertimeRule(NamedTuple):
    """The number of hours beyond which a rule counts overtime. ``law`` names its source."""

    law: str
    effective_from: datetime.date
    covers: Covers
    weekly_hours: int
    daily_hours: int | None
    daily_below_percent_of_minimum: int | None
    """If given, the daily hours count only at a rate below this percentage of the minimum wage."""

    percent: int
    """The price of an overtime hour, as a percentage of the regular rate."""

    sources: tuple[Source, ...]
    confidence: Confidence

    def room(self, days: int, rate_cents: int, minimum_cents: int) -> int:
        """Return the hours that this many days can have without overtime, with workweeks assumed to begin with the
        period.

        A period shorter than a week counts as a week. Each day of a partial week counts as a long one.
        """
        daily = self.daily_hours
        limit = self.daily_below_percent_of_minimum
        if limit is not None and rate_cents * 100 >= minimum_cents * limit:
            daily = None
        weeks, rest = divmod(days, _WEEK)
        begun = min(self.weekly_hours, rest * _LONG_DAY) if weeks else self.weekly_hours
        room = self.weekly_hours * weeks + begun
        return room if daily is None else min(room, daily * days)


class SalaryLaw(NamedTuple):
    """How a salary is converted to an hourly rate: by the weeks of a year and the hours of a usual week."""

    weeks: int
    usual_hours: int
    """Used as the hours of a usual week if they aren't known."""

    most_hours: int
    """The most hours of a week that a salary pays for: the rest is overtime."""

    sources: tuple[Source, ...]
    confidence: Confidence

    def hourly_cents(self, annual_cents: int, weekly_hundredths: int) -> int:
        """Return the cents per hour of a year's salary that pays for this many hundredths of an hour each week."""
        return half_up(annual_cents * 100, self.weeks * weekly_hundredths)

    def regular_rate(self, annual_cents: int, weekly_hundredths: int) -> int:
        """Return the cents of the regular rate, on which overtime is paid at one and a half times."""
        return self.hourly_cents(annual_cents, min(weekly_hundredths, 100 * self.most_hours))


class StateOvertime(NamedTuple):
    """The overtime rules of a state, oldest first; none if only federal law applies. ``rule`` states it in words."""

    state: str
    law: OvertimeLaw
    rule: str
    rules: tuple[OvertimeRule, ...]


def federal_overtime() -> OvertimeRule:
    """Return the rule of federal law (29 U.S.C. 207 (l)), which excludes employees who live in the household."""
    return _load()[0]


def salary_law() -> SalaryLaw:
    """Return how the regular rate of a salary is calculated (29 CFR 778.113)."""
    return _load()[2]


def overtime_of(state: str) -> StateOvertime:
    """Return the overtime rules of a state (upper case); raises KeyError for an unknown one."""
    return _load()[1][state]


def overtime_rules(state: str, day: datetime.date, *, lives_in: bool) -> tuple[OvertimeRule, ...]:
    """Return the rules that protect an employee on a day, the state's first; none for some live-in employees."""
    return _rules(state, day, lives_in)


@functools.lru_cache(maxsize=256)
def _rules(state: str, day: datetime.date, lives_in: bool) -> tuple[OvertimeRule, ...]:
    own = [
        rule
        for rule in overtime_of(state).rules
        if rule.effective_from <= day and covers(rule.covers, lives_in=lives_in)
    ]
    federal = federal_overtime()
    return (*own[-1:], *([federal] if covers(federal.covers, lives_in=lives_in) else ()))


def _read_rule(entry: RuleTable, law: str) -> OvertimeRule:
    def hours(key: str, most: int) -> int:
        value = entry.integer(key)
        if not 0 < value <= most:
            raise entry.error(key, f"must be from 1 to {most}")
        return value

    rule = OvertimeRule(
        law=law,
        effective_from=entry.date("effective_from"),
        covers=cast("Covers", entry.choice("covers", COVERS)),
        weekly_hours=hours("weekly_hours", 168),
        daily_hours=hours("daily_hours", 24) if entry.has("daily_hours") else None,
        daily_below_percent_of_minimum=entry.integer("daily_below_percent_of_minimum")
        if entry.has("daily_below_percent_of_minimum")
        else None,
        percent=hours("percent", 300),
        sources=entry.sources(),
        confidence=entry.confidence(),
    )
    if rule.daily_below_percent_of_minimum is not None and rule.daily_hours is None:
        raise entry.error("daily_below_percent_of_minimum", "needs daily_hours")
    entry.close()
    return rule


def _read_state(entry: RuleTable) -> StateOvertime:
    code = entry.choice("state", tuple(STATES))
    law = cast("OvertimeLaw", entry.choice("law", _OVERTIME_LAWS))
    rules = tuple(_read_rule(row, STATES[code]) for row in entry.tables("overtime")) if law == "own" else ()
    if law == "federal":
        entry.sources()
        entry.confidence()
    elif not rules:
        raise entry.error("overtime", "is missing")
    if list(rules) != sorted(rules, key=_since):
        raise entry.error("overtime", "days must ascend")
    state = StateOvertime(code, law, entry.text("rule"), rules)
    entry.close()
    return state


def _since(rule: OvertimeRule) -> datetime.date:
    return rule.effective_from


def _read_salary(entry: RuleTable) -> SalaryLaw:
    law = SalaryLaw(
        weeks=entry.integer("weeks"),
        usual_hours=entry.integer("usual_hours"),
        most_hours=entry.integer("most_hours"),
        sources=entry.sources(),
        confidence=entry.confidence(),
    )
    entry.close()
    return law


def read_overtime(table: RuleTable) -> tuple[OvertimeRule, dict[str, StateOvertime], SalaryLaw]:
    """Return the federal rule, each state's, and that of salaries.

    Raises `RuleError` for a mistake or a missing state.
    """
    federal = _read_rule(table.table("federal"), FEDERAL_LAW)
    salaries = _read_salary(table.table("salary"))
    states: dict[str, StateOvertime] = {}
    for row in table.tables("state"):
        state = _read_state(row)
        if state.state in states:
            raise row.error("state", f"{state.state} stands here twice")
        states[state.state] = state
    table.close()
    if missing := STATES.keys() - states.keys():
        raise table.error("state", f"{min(missing)} is missing")
    return federal, states, salaries


@functools.cache
def _load() -> tuple[OvertimeRule, dict[str, StateOvertime], SalaryLaw]:
    return read_overtime(RuleTable.load(_FILE))
