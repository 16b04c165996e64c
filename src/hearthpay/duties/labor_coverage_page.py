"""The documentation page of labor law: minimum wages by state and place, overtime, and the last wages, with sources."""

from collections.abc import Iterable, Iterator, Sequence

from hearthpay.duties.employment_rules import LastWages, employment_rules
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.labor_law.minimum_wages import (
    MinimumWage,
    PlaceWages,
    federal_minimum_wage,
    minimum_wages_of,
    usual_step_percent,
)
from hearthpay.taxes.labor_law.overtime import OvertimeRule, federal_overtime, overtime_of
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.trace import Source

_HEAD = """# Coverage: labor law

Made from the rule files by `hearthpay coverage --labor`; do not edit. The taxes stand in [coverage.md](coverage.md),
deadlines in [coverage-duties.md](coverage-duties.md).

The check of a paycheck takes the highest minimum wage that applies where the home is. A law or an ordinance that begins
with more employees than a household has is listed, but doesn't apply to it. *Next change* is a day on which the figure
changes and the new one isn't published in what these rows rest on. From then on a rate up to {percent} percent a year
above the last known figure is warned about too. A confidence of *low* means that no publication could be read.
"""

_COVERS = {"all": "", "live_out": "only those who live elsewhere", "live_in": "only those who live in"}


def labor_page() -> str:
    """Return ``docs/reference/coverage-labor.md``: minimum wages by state and place, overtime, last wages."""
    parts = [_HEAD.format(percent=usual_step_percent()), *_minimum_wages(), *_overtime(), *_last_wages()]
    return "\n".join(parts).rstrip() + "\n"


def _minimum_wages() -> Iterator[str]:
    yield "## Minimum wages by state\n"
    yield "| state | from | an hour | applies to | next change | confidence | source |\n|---|---|---|---|---|---|---|"
    yield from _wages("US", (federal_minimum_wage(),))
    for state in sorted(STATES):
        found = minimum_wages_of(state)
        if found.wages:
            yield from _wages(state, found.wages)
        else:
            yield _row(state, "", "the federal figure", "", "", found.confidence, _cited(found.sources))
    yield "\n## What the states' laws say\n"
    yield "| state | rule |\n|---|---|"
    yield from (_row(state, minimum_wages_of(state).rule) for state in sorted(STATES))
    yield "\n## Minimum wages by city and county\n"
    yield "| state | place | from | an hour | applies to | next change | confidence | source |"
    yield "|---|---|---|---|---|---|---|---|"
    places = [(state, place) for state in sorted(STATES) for place in minimum_wages_of(state).places]
    for state, place in places:
        yield from _wages(f"{state} | {place.name}", place.wages)
    yield "\n## How an address finds a place\n"
    yield "By the place's name, and by:\n"
    yield "| state | place | also by | note |\n|---|---|---|---|"
    yield from (
        _row(state, place.name, _found_by(place), place.rule)
        for state, place in places
        if _found_by(place) or place.rule
    )
    yield ""


def _wages(where: str, wages: Sequence[MinimumWage]) -> Iterator[str]:
    for at, wage in enumerate(wages, 1):
        awaited = wage.awaited if at == len(wages) and wage.awaited is not None else ""
        yield _row(
            where,
            str(wage.effective_from),
            f"{from_cents(wage.cents)}",
            _applies_to(wage),
            str(awaited),
            wage.confidence,
            _cited(wage.sources),
        )


def _applies_to(wage: MinimumWage) -> str:
    size = f"from {wage.smallest_employer} employees" if wage.smallest_employer > 1 else ""
    return "; ".join(each for each in (size, _COVERS[wage.covers]) if each)


def _found_by(place: PlaceWages) -> str:
    names = ", ".join(sorted(each.title() for each in place.keys if each != place.name.upper()))
    zips = f"ZIP codes {', '.join(place.zips)}" if place.zips else ""
    return "; ".join(each for each in (names, zips) if each)


def _overtime() -> Iterator[str]:
    yield "## Overtime\n"
    yield "| state | from | hours a week | hours a day | times | applies to | confidence | source |"
    yield "|---|---|---|---|---|---|---|---|"
    yield _overtime_row("US", federal_overtime())
    for state in sorted(STATES):
        yield from (_overtime_row(state, rule) for rule in overtime_of(state).rules)
    yield "\n| state | rule |\n|---|---|"
    yield from (_row(state, overtime_of(state).rule) for state in sorted(STATES))
    yield ""


def _overtime_row(state: str, rule: OvertimeRule) -> str:
    daily = "" if rule.daily_hours is None else str(rule.daily_hours)
    if rule.daily_below_percent_of_minimum is not None:
        daily += f", below {rule.daily_below_percent_of_minimum / 100:g} times the minimum wage"
    return _row(
        state,
        str(rule.effective_from),
        str(rule.weekly_hours),
        daily,
        f"{rule.percent / 100:g}",
        _COVERS[rule.covers],
        rule.confidence,
        _cited(rule.sources),
    )


def _last_wages() -> Iterator[str]:
    yield "## Last wages\n"
    yield "| state | after a dismissal | after the employee quits | confidence | source |\n|---|---|---|---|---|"
    rules = employment_rules().last_wages
    for state in sorted(STATES):
        rule = rules.get(state)
        if rule is None:
            yield _row(state, "no law", "no law", "", "")
        else:
            yield _row(state, _after_dismissal(rule), rule.quit, rule.confidence, _cited(rule.sources))


def _after_dismissal(rule: LastWages) -> str:
    days = []
    if rule.office_days is not None:
        days.append(f"{rule.office_days} working day{'s' * (rule.office_days != 1)}")
    if rule.days is not None:
        days.append(f"{rule.days} day{'s' * (rule.days != 1)}" if rule.days else "the last day of work")
    if rule.payday:
        days.append("the next payday")
    which = {None: "", "first": ", whichever is sooner", "last": ", whichever is later"}[rule.whichever]
    return " or ".join(days) + which


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _cited(sources: Iterable[Source]) -> str:
    return "; ".join(
        f"[{_plain(each.title)}]({each.url}) {each.date}" if each.url else f"{_plain(each.title)} {each.date}"
        for each in sources
    )


def _plain(text: str) -> str:
    return text.replace("|", "/").replace("[", "(").replace("]", ")")
