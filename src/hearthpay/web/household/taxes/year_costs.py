"""The cost of a year beside that of the year before, month by month: a chart, and the same as a table."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.payroll.ledger.costs import MonthlyCost, costs_by_month
from hearthpay.web.household.charts import BarChart, Month, bar_chart
from hearthpay.web.household.context import HouseholdContext
from hearthpay.web.presentation import day_text

_MONTHS: Final = range(1, 13)


@dataclass(frozen=True, slots=True)
class YearCosts:
    """Two years side by side: of each month the cost of the year and of the year before, in cents, and their sums."""

    chart: BarChart
    rows: tuple[tuple[str, tuple[int, int]], ...]
    total: int
    before: int


async def year_costs(at: HouseholdContext, session: AsyncSession, year: int) -> YearCosts | None:
    """Return what wages and taxes cost in a year and the one before; None if nobody was paid in both."""
    first, last = datetime.date(year - 1, 1, 1), datetime.date(year, 12, 31)
    return compare_years(at.visitor.language, year, await costs_by_month(session, at.id, first, last))


def compare_years(language: str, year: int, costs: Sequence[MonthlyCost]) -> YearCosts | None:
    """Return the comparison of months with costs; None unless both years have any."""
    by_month = {each.month: sum(each[1:]) for each in costs}
    if len({month.year for month in by_month}) < 2:
        return None
    days = [datetime.date(year, month, 1) for month in _MONTHS]
    amounts = [(by_month.get(day, 0), by_month.get(day.replace(year=year - 1), 0)) for day in days]
    names = [day_text(language, "short_month", day) for day in days]
    # Every other month has its name below the chart: twelve don't fit a phone.
    columns = [
        Month(name if day.month % 2 else "", each)
        for day, name, each in zip(days, names, amounts, strict=True)
    ]
    return YearCosts(
        bar_chart(columns, side_by_side=True),
        tuple(zip(names, amounts, strict=True)),
        sum(this for this, _ in amounts),
        sum(before for _, before in amounts),
    )
