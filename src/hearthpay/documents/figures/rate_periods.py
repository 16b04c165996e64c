"""The wages that each state taxed for unemployment, apart by the household's rate: what Schedule H asks in line 17."""

import datetime
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hearthpay.documents.figures.books import BookedPaycheck, PersonBooks
from hearthpay.documents.figures.figure import Part
from hearthpay.payroll.ledger.rows import LineRow
from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.liability import quarter_of
from hearthpay.taxes.money import scaled_rate
from hearthpay.taxes.rulebook import rulebook_of


class RatePeriod(NamedTuple):
    """A state's taxable wages under one rate; only what the state counts by the employer's own rate is a contribution.

    Employees' shares, surcharges, assessments and training taxes earn no credit.
    """

    state: str
    code: str
    rate: int
    """In billionths."""

    first_day: datetime.date
    last_day: datetime.date
    wages: tuple[Part, ...]
    charged: int
    """Cents of the contribution, as the payments came to it."""


@dataclass(slots=True)
class _Group:
    """What is known so far of one state and rate."""

    law: Contribution
    rate: int
    days: list[datetime.date] = field(default_factory=list)
    wages: list[Part] = field(default_factory=list)
    charged: int = 0


def contribution_of(state: str, on: datetime.date) -> Contribution | None:
    """Return a state's unemployment contribution at the employer's own rate, as it is in force on a day."""
    if state not in STATES:
        return None
    lines = rulebook_of(on.year).state(state).contributions_on(on)
    return next((line for line in lines if line.assigned_rate), None)


def rate_periods(tax_year: int, everyone: Iterable[PersonBooks]) -> list[RatePeriod]:
    """Return each state's taxable wages by rate, in the order of the states and of time.

    Each paycheck takes what the earlier ones left of the state's base, at its own rate, as the ledger reckons a year.
    Where that is not what the paychecks taxed (some wages were not due yet, or a void is not made up for), each line
    counts as it was charged; should that leave a rate with wages below zero, the state has one row, at the rate of most
    of its wages.

    A rate's period begins with the quarter of its first pay date, or with that day where the rate before was still paid
    in the quarter; the first begins, and the last ends, with the year.
    """
    groups: dict[tuple[str, int], _Group] = {}
    for person in everyone:
        _add_ours(groups, person)
    for person in everyone:
        _add_prior(groups, person)
    periods: list[RatePeriod] = []
    for state in sorted({code[:2] for code, _ in groups}):
        own = [group for group in groups.values() if group.law.code.startswith(state)]
        kept = _none_below_zero(own)
        if kept:
            periods += _dated(tax_year, state, kept)
    return periods


class _Taxed(NamedTuple):
    """What a paycheck's line taxed, and what was charged for it; cents."""

    booked: BookedPaycheck
    line: LineRow
    wages: int
    charged: int


def _add_ours(groups: dict[tuple[str, int], _Group], person: PersonBooks) -> None:
    last_day = datetime.date(person.tax_year, 12, 31)
    by_code: dict[str, list[_Taxed]] = {}
    laws: dict[str, Contribution] = {}
    for booked, line in person.lines():
        law = contribution_of(line.code[:2], last_day) if line.payer == "employer" else None
        if law is not None and law.code == line.code and line.rate is not None:
            laws[line.code] = law
            taxed = _Taxed(booked, line, line.taxable_wages, line.amount)
            by_code.setdefault(line.code, []).append(taxed)
    for code, charged in by_code.items():
        before = sum(told.subject_wages for _, told in person.told() if told.code == code)
        for booked, line, wages, amount in _each_at_its_own_rate(laws[code], before, charged):
            if not (wages or amount):
                continue
            assert line.rate is not None
            rate = scaled_rate(line.rate)
            group = groups.setdefault((code, rate), _Group(laws[code], rate))
            group.days.append(booked.pay_date)
            group.wages.append(booked.part(wages, f"{code} taxable_wages"))
            group.charged += amount


def _each_at_its_own_rate(law: Contribution, before: int, charged: list[_Taxed]) -> list[_Taxed]:
    """Return what each paycheck taxes of the base that is left; as it was charged where that comes to something else.

    The cents that were charged stay together: what rounding and corrections make of them goes to the last paycheck.
    """
    found = []
    subject = before
    for each in charged:
        wages = law.due(subject + each.line.subject_wages) - law.due(subject)
        subject += each.line.subject_wages
        assert each.line.rate is not None
        found.append(each._replace(wages=wages, charged=law.tax(wages, scaled_rate(each.line.rate))))
    if sum(each.wages for each in found) != sum(each.wages for each in charged):
        return charged
    rest = sum(each.charged for each in charged) - sum(each.charged for each in found)
    last = max(number for number, each in enumerate(found) if each.wages or not number)
    found[last] = found[last]._replace(charged=found[last].charged + rest)
    return found


def _add_prior(groups: dict[tuple[str, int], _Group], person: PersonBooks) -> None:
    """Count prior wages under the first rate that our own paychecks bear in the state, else the new employer's."""
    for entry, line in person.told():
        state = line.code[:2]
        law = contribution_of(state, entry.as_of)
        if law is None or law.code != line.code or not (line.taxable_wages or line.amount):
            continue
        alike = [group for (code, _), group in groups.items() if code == line.code]
        if alike:
            group = min(alike, key=lambda each: min(each.days))
        else:
            group = groups.setdefault((line.code, law.rate), _Group(law, law.rate))
        group.days.append(entry.as_of)
        group.wages.append(entry.part(line.taxable_wages, f"{line.code} taxable_wages"))
        group.charged += line.amount


def _none_below_zero(groups: list[_Group]) -> list[_Group]:
    kept = [group for group in groups if any(part.cents for part in group.wages) or group.charged]
    if len(kept) < 2 or all(_sum(group) >= 0 for group in kept):
        return [group for group in kept if _sum(group) or group.charged]
    most = max(kept, key=_sum)
    return [
        replace(
            most,
            days=[day for group in kept for day in group.days],
            wages=[part for group in kept for part in group.wages],
            charged=sum(group.charged for group in kept),
        )
    ]


def _sum(group: _Group) -> int:
    return sum(part.cents for part in group.wages)


def _dated(tax_year: int, state: str, groups: list[_Group]) -> list[RatePeriod]:
    in_order = sorted(groups, key=lambda group: (min(group.days), max(group.days)))
    starts = [datetime.date(tax_year, 1, 1)]
    for before, after in itertools.pairwise(in_order):
        first = min(after.days)
        quarter = datetime.date(tax_year, 3 * quarter_of(first) - 2, 1)
        starts.append(max(starts[-1], quarter if max(before.days) < quarter else first))
    ends = [start - datetime.timedelta(days=1) for start in starts[1:]] + [datetime.date(tax_year, 12, 31)]
    return [
        RatePeriod(state, group.law.code, group.rate, start, end, tuple(group.wages), group.charged)
        for group, start, end in zip(in_order, starts, ends, strict=True)
    ]
