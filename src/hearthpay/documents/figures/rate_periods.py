"""Each state's wages taxed for unemployment, by the household's rate: Schedule H, line 17."""

import datetime
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from hearthpay.documents.figures.books import PersonBooks
from hearthpay.documents.figures.figure import Part
from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.liability import quarter_of
from hearthpay.taxes.money import RATE_SCALE, scaled_rate
from hearthpay.taxes.prior_wages import PriorLine
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.year import MOST_ROUNDING_CENTS, is_due

_MILLIONTHS: Final = 10**6
"""The precision of a rate that is known only from an amount."""


class RatePeriod(NamedTuple):
    """A state's taxable wages at one rate; only what the state charges at the employer's own rate is a contribution.

    Employees' shares, surcharges, assessments and training taxes earn no credit.
    """

    state: str
    code: str
    rate: int
    """In billionths."""

    first_day: datetime.date
    last_day: datetime.date
    wages: tuple[Part, ...]
    demanded: int
    """Cents of the contribution, rounded for each payment."""

    charged: int
    """Cents charged by the ledger's lines of this rate, including corrections of wages at another rate."""


@dataclass(slots=True)
class _Group:
    """What is known so far of one state and rate."""

    law: Contribution
    rate: int
    days: list[datetime.date] = field(default_factory=list)
    wages: list[Part] = field(default_factory=list)
    demanded: int = 0
    charged: int = 0


def contribution_of(state: str, on: datetime.date) -> Contribution | None:
    """Return a state's unemployment contribution at the employer's own rate, as it is in force on a day."""
    if state not in STATES:
        return None
    lines = rulebook_of(on.year).state(state).contributions_on(on)
    return next((line for line in lines if line.assigned_rate), None)


def rate_periods(tax_year: int, everyone: Iterable[PersonBooks]) -> list[RatePeriod]:
    """Return each state's taxable wages by rate, in order of state and time.

    Each paycheck takes what the earlier ones left of the state's wage base, at its own rate, as the ledger calculates
    a year; wages paid before the state's tax was due are left out.

    A rate's period begins with the quarter of its first pay date, or with that day if the rate before was still paid
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
        periods += _dated(tax_year, state, own)
    return periods


def _add_ours(groups: dict[tuple[str, int], _Group], person: PersonBooks) -> None:
    last_day = datetime.date(person.tax_year, 12, 31)
    subject: dict[str, int] = {}
    for _, told in person.told():
        subject[told.code] = subject.get(told.code, 0) + told.subject_wages
    for booked, line in person.lines():
        law = contribution_of(line.code[:2], last_day) if line.payer == "employer" else None
        if law is None or law.code != line.code or line.rate is None:
            continue
        before = subject.get(line.code, 0)
        counted = line.subject_wages if is_due(person.liable, line.code, booked.pay_date) else 0
        subject[line.code] = before + counted
        wages = law.due(before + counted) - law.due(before)
        rate = scaled_rate(line.rate)
        if not (wages or line.amount):
            continue
        group = groups.setdefault((line.code, rate), _Group(law, rate))
        group.days.append(booked.pay_date)
        group.wages.append(booked.part(wages, f"{line.code} subject_wages below the base"))
        group.demanded += law.tax(wages, rate)
        group.charged += line.amount


def _add_prior(groups: dict[tuple[str, int], _Group], person: PersonBooks) -> None:
    for entry, line in person.told():
        law = contribution_of(line.code[:2], entry.as_of)
        if law is None or law.code != line.code or not (line.taxable_wages or line.amount):
            continue
        rate = _rate_told(line, law, [group.rate for (code, _), group in groups.items() if code == line.code])
        group = groups.setdefault((line.code, rate), _Group(law, rate))
        group.days.append(entry.as_of)
        group.wages.append(entry.part(line.taxable_wages, f"{line.code} taxable_wages"))
        group.demanded += line.amount
        group.charged += line.amount


def _rate_told(line: PriorLine, law: Contribution, ours: list[int]) -> int:
    """Return the rate behind a prior tax: one that our paychecks or the new employer's rate match, otherwise the one
    that results from the amount.
    """
    if not line.taxable_wages:
        return ours[0] if ours else law.rate
    nearest = min((*ours, law.rate), key=lambda rate: abs(law.tax(line.taxable_wages, rate) - line.amount))
    if abs(law.tax(line.taxable_wages, nearest) - line.amount) <= MOST_ROUNDING_CENTS:
        return nearest
    return half_up(line.amount * _MILLIONTHS, line.taxable_wages) * (RATE_SCALE // _MILLIONTHS)


def _dated(tax_year: int, state: str, groups: list[_Group]) -> list[RatePeriod]:
    in_order = sorted(groups, key=lambda group: (min(group.days), max(group.days)))
    starts = [datetime.date(tax_year, 1, 1)]
    for before, after in itertools.pairwise(in_order):
        first = min(after.days)
        quarter = datetime.date(tax_year, 3 * quarter_of(first) - 2, 1)
        starts.append(max(starts[-1], quarter if max(before.days) < quarter else first))
    ends = [start - datetime.timedelta(days=1) for start in starts[1:]] + [datetime.date(tax_year, 12, 31)]
    return [
        RatePeriod(
            state, group.law.code, group.rate, start, end, tuple(group.wages), group.demanded, group.charged
        )
        for group, start, end in zip(in_order, starts, ends, strict=True)
    ]
