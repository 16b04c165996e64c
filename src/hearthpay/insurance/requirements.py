"""Which policies a household needs, from plain facts: the rules of ``policies.toml``, and whether they are met."""

import datetime
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final, Literal, cast
from uuid import UUID

from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

PolicyKind = Literal["workers_compensation", "disability"]
POLICY_KINDS: Final[tuple[PolicyKind, ...]] = ("workers_compensation", "disability")

Measure = Literal[
    "everyone", "weekly_hours", "quarterly_hours", "quarterly_wages", "yearly_wages", "yearly_payroll", "none"
]
MEASURES: Final[tuple[Measure, ...]] = (
    "everyone", "weekly_hours", "quarterly_hours", "quarterly_wages", "yearly_wages", "yearly_payroll", "none",
)  # fmt: skip

Need = Literal["required", "unknown", "not_required"]
"""``unknown``: the rule counts hours, and the usual hours aren't known."""

RELATIVES: Final = frozenset({"spouse", "parent", "child_under_18", "child_18_to_20", "child_under_21"})
"""Relatives, whom no state counts as a household's workers."""

WEEKS_OF_QUARTER: Final = 13
WEEKS_OF_YEAR: Final = 52
_FILE: Final = Path(__file__).with_name("policies.toml")


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """Who must have one kind of policy in one state."""

    state: str
    kind: PolicyKind
    measure: Measure
    limit: int | None
    """Hours or dollars; None if everybody counts or nobody does."""

    above: bool
    """Whether the limit itself is still exempt."""

    workers: int
    days_a_week: int | None
    lives_in: bool
    together: bool
    fund: str | None
    words: str
    penalty: str
    homeowner: Literal["usual", "never"] | None
    sources: tuple[Source, ...]
    confidence: Confidence

    def reached(self, figure: Decimal) -> bool:
        """Return whether a figure (hours or dollars) meets the measure."""
        if self.limit is None:
            return self.measure == "everyone"
        return figure > self.limit if self.above else figure >= self.limit


@dataclass(frozen=True, slots=True)
class Worker:
    """A person who works for the household in a state, with usual hours and pay per week, None if not known."""

    id: UUID
    state: str
    since: datetime.date
    relationship: str
    lives_in: bool
    weekly_hours: Decimal | None
    weekly_wages: Decimal | None
    days_a_week: int | None


@dataclass(frozen=True, slots=True)
class NeededPolicy:
    """A policy of a state, and whether the household needs it."""

    rule: PolicyRule
    need: Need
    since: datetime.date
    """The first day of anybody who works there."""


def rules_of(state: str) -> tuple[PolicyRule, ...]:
    """Return the rules of a state. Raises KeyError for an unknown state."""
    return _load()[state]


def needed_policies(workers: Sequence[Worker]) -> tuple[NeededPolicy, ...]:
    """Return each policy of each work state, by state, with whether these workers require it."""
    found = []
    for state in sorted({worker.state for worker in workers}):
        there = [
            worker for worker in workers if worker.state == state and worker.relationship not in RELATIVES
        ]
        for rule in rules_of(state):
            if there:
                since = min(worker.since for worker in there)
                found.append(NeededPolicy(rule, _need(rule, there), since))
    return tuple(found)


def _need(rule: PolicyRule, workers: Sequence[Worker]) -> Need:
    if rule.measure in ("everyone", "none"):
        return "required" if rule.measure == "everyone" else "not_required"
    if rule.lives_in and any(worker.lives_in for worker in workers):
        return "required"
    if rule.days_a_week is not None and any(
        (worker.days_a_week or 0) >= rule.days_a_week for worker in workers
    ):
        return "required"
    figures = [_figure(rule, worker) for worker in workers]
    known = [figure for figure in figures if figure is not None]
    if rule.together or rule.measure in ("quarterly_hours", "yearly_payroll"):
        met = rule.reached(sum(known, Decimal(0)))
    else:
        met = sum(rule.reached(figure) for figure in known) >= rule.workers
    if met:
        return "required"
    return "unknown" if len(known) < len(figures) and len(workers) >= rule.workers else "not_required"


def _figure(rule: PolicyRule, worker: Worker) -> Decimal | None:
    """Return the worker's hours or dollars in the period that the rule counts; None if they aren't known."""
    if rule.measure == "weekly_hours":
        return worker.weekly_hours
    if rule.measure == "quarterly_hours":
        return None if worker.weekly_hours is None else worker.weekly_hours * WEEKS_OF_QUARTER
    if worker.weekly_wages is None:
        return None
    weeks = WEEKS_OF_QUARTER if rule.measure == "quarterly_wages" else WEEKS_OF_YEAR
    return worker.weekly_wages * weeks


def read_policies(table: RuleTable) -> dict[str, tuple[PolicyRule, ...]]:
    """Read the policies file; raises `RuleError` for a mistake and for a missing state."""
    rules: dict[str, tuple[PolicyRule, ...]] = {}
    for entry in table.tables("policy"):
        rule = _read_rule(entry)
        rules[rule.state] = (*rules.get(rule.state, ()), rule)
    table.close()
    for state in STATES:
        kinds = [rule.kind for rule in rules.get(state, ())]
        if kinds.count("workers_compensation") != 1 or len(kinds) != len(set(kinds)):
            raise table.error("policy", f"{state} needs one rule of each kind")
    return rules


def _read_rule(entry: RuleTable) -> PolicyRule:
    measure = cast("Measure", entry.choice("measure", MEASURES))
    above = entry.has("above")
    counted = measure not in ("everyone", "none")
    limit = entry.integer("above" if above else "at_least") if counted else None
    rule = PolicyRule(
        state=entry.choice("state", tuple(STATES)),
        kind=cast("PolicyKind", entry.choice("kind", POLICY_KINDS)),
        measure=measure,
        limit=limit,
        above=above,
        workers=entry.integer("workers") if entry.has("workers") else 1,
        days_a_week=entry.integer("days_a_week") if entry.has("days_a_week") else None,
        lives_in=entry.flag("lives_in", default=False),
        together=entry.flag("together", default=False),
        fund=entry.optional_text("fund"),
        words=entry.text("words"),
        penalty=entry.text("penalty", default=""),
        homeowner=cast('Literal["usual", "never"] | None', entry.optional_text("homeowner")),
        sources=entry.sources(),
        confidence=entry.confidence(),
    )
    entry.close()
    return rule


@functools.cache
def _load() -> dict[str, tuple[PolicyRule, ...]]:
    return read_policies(RuleTable.load(_FILE))
