"""A household's ledger, month by month of the pay dates, and where its employees were paid for work.

Read from the sums that are kept for each employee and month: what a void or a failure reversed is deducted, by its
negative lines.
"""

import datetime
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import EMPLOYEES
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.ledger.line_headings import read_headings


@dataclass(frozen=True, slots=True)
class LineSet:
    """The codes of the lines of a month, with each line's category; most months of a household share one."""

    codes: tuple[str, ...]
    categories: tuple[str, ...]


@functools.lru_cache(1024)
def _shared_set(codes: tuple[str, ...], categories: tuple[str, ...]) -> LineSet:
    """Return one object for equal sets, so that months read twice are compared quickly."""
    return LineSet(codes, categories)


class LedgerMonth(NamedTuple):
    """The sums of one employee's paychecks in a month, in cents; each has one for each line of the set."""

    employee_id: UUID
    year: int
    month: int
    lines: LineSet
    amounts: list[int]
    subject_wages: list[int]
    taxable_wages: list[int]


class _MonthRow(NamedTuple):
    employee_id: UUID
    year: int
    month: int
    work_state: str
    refund: bool
    codes: str
    cents: str
    gross_pay: int


_MONTHS: Final = query(
    _MonthRow,
    "SELECT employee_id, tax_year AS year, CAST(extract(month FROM month) AS int) AS month, work_state, refund, "
    "array_to_string(codes, ',') AS codes, '[[' || array_to_string(amounts, ',') || '],[' "
    "|| array_to_string(subject_wages, ',') || '],[' || array_to_string(taxable_wages, ',') || ']]' AS cents, "
    "gross_pay FROM month_balances WHERE employer_id = :employer AND tax_year BETWEEN :first AND :last "
    "ORDER BY 1, 2, 3, 4",
)
"""The arrays come as one JSON text, since the driver would check every element."""


class LineOfPayday(NamedTuple):
    """A line of all paychecks with one pay date, in cents."""

    code: str
    pay_date: datetime.date
    amount: int


_PAYDAYS: Final = query(
    LineOfPayday,
    "WITH paid AS MATERIALIZED ("
    "SELECT p.pay_date, c.line_set_id, c.line_amounts FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
    "WHERE c.employer_id = :employer AND c.tax_year BETWEEN :first AND :last), "
    "places AS MATERIALIZED ("
    "SELECT s.id, l.code, l.number FROM (SELECT DISTINCT line_set_id FROM paid) u "
    "JOIN line_sets s ON s.id = u.line_set_id "
    "CROSS JOIN LATERAL unnest(s.codes) WITH ORDINALITY AS l(code, number) WHERE l.code = ANY(:codes)) "
    "SELECT s.code, c.pay_date, CAST(sum(c.line_amounts[s.number]) AS bigint) AS amount "
    "FROM paid c JOIN places s ON s.id = c.line_set_id "
    "GROUP BY 1, 2 HAVING sum(c.line_amounts[s.number]) <> 0 ORDER BY 2, 1",
)
"""The places of the codes are looked up once for each set of lines: most paychecks of a household have the same set."""


class WagesOfMonth(NamedTuple):
    """Gross pay of one employee in one state and month, in cents."""

    employee_id: UUID
    work_state: str
    year: int
    month: int
    cents: int


class PaidPlace(NamedTuple):
    """A range of pay periods for which an employee was paid for work in one state; both days are included."""

    employee_id: UUID
    work_state: str
    since: datetime.date
    until: datetime.date


_PLACES: Final = query(
    PaidPlace,
    "SELECT employee_id, work_state, min(since) AS since, max(until) AS until FROM ("
    "SELECT c.employee_id, c.work_state, lower(c.period) AS since, upper(c.period) - 1 AS until, "
    "row_number() OVER (PARTITION BY c.employee_id ORDER BY lower(c.period), c.id) "
    "- row_number() OVER (PARTITION BY c.employee_id, c.work_state ORDER BY lower(c.period), c.id) AS stretch "
    "FROM (SELECT DISTINCT m.employee_id FROM month_balances m JOIN {employees} w ON w.id = m.employee_id "
    "WHERE m.employer_id = :employer AND m.work_state <> w.work_state) moved "
    "JOIN paychecks c ON c.employee_id = moved.employee_id "
    "WHERE c.employer_id = :employer AND c.reverses IS NULL AND c.gross_pay > 0 "
    "AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id)) AS worked "
    "GROUP BY employee_id, work_state, stretch ORDER BY employee_id, min(since), max(until)",
    employees=EMPLOYEES,
)


class WagesFromBefore(NamedTuple):
    """What another payroll paid an employee in a year, up to a day, in cents: it counts for thresholds."""

    employee_id: UUID
    tax_year: int
    as_of: datetime.date
    gross_pay: int
    codes: list[str]
    subject_wages: list[int]


_PRIOR: Final = query(
    WagesFromBefore,
    "SELECT employee_id, tax_year, as_of, gross_pay, codes, subject_wages FROM prior_wages "
    "WHERE employer_id = :employer AND tax_year BETWEEN :first AND :last AND replaced_by IS NULL "
    "ORDER BY employee_id, id",
)


async def read_household_months(
    session: AsyncSession, employer_id: UUID, *, first_year: int, last_year: int
) -> tuple[list[LedgerMonth], list[WagesOfMonth]]:
    """Return the sums of the household's lines, and of its wages, in these years, without those of other payrolls.

    A line that repaid FICA counts with its amount and taxable wages: the wages were paid, so they stay subject to it.
    """
    requested = {"employer": employer_id, "first": first_year, "last": last_year}
    every = await fetch_all(session, _MONTHS, requested)
    wages = [
        WagesOfMonth(employee_id, work_state, year, month, sum(row.gross_pay for row in own))
        for (employee_id, year, month, work_state), own in groupby(every, itemgetter(0, 1, 2, 3))
    ]
    rows = [row for row in every if row.codes]
    codes: dict[int, set[str]] = {}
    for year, texts in {(row.year, row.codes) for row in rows}:
        codes.setdefault(year, set()).update(texts.split(","))
    categories = {
        year: {
            code: heading.category
            for code, heading in (await read_headings(session, employer_id, year, of_year)).items()
        }
        for year, of_year in codes.items()
    }
    sets: dict[tuple[int, str], LineSet] = {}

    def line_set(year: int, codes: str) -> LineSet:
        if (year, codes) not in sets:
            split = tuple(codes.split(","))
            sets[year, codes] = _shared_set(split, tuple(categories[year][code] for code in split))
        return sets[year, codes]

    months = [
        _month_of(first, line_set(first.year, first.codes))
        if len(own) == 1
        else _merged(own, categories[first.year])
        for first, own in _by_month(rows)
    ]
    return months, wages


def _by_month(rows: Sequence[_MonthRow]) -> Iterator[tuple[_MonthRow, Sequence[_MonthRow]]]:
    """Yield the rows of each employee's months, with the first of them."""
    for _, group in groupby(rows, itemgetter(0, 1, 2)):
        own = list(group)
        yield own[0], own


def _month_of(row: _MonthRow, lines: LineSet) -> LedgerMonth:
    amounts, subject, taxable = orjson.loads(row.cents)
    if row.refund:
        subject = [0] * len(subject)
    return LedgerMonth(row.employee_id, row.year, row.month, lines, amounts, subject, taxable)


def _merged(rows: Sequence[_MonthRow], categories: Mapping[str, str]) -> LedgerMonth:
    """Return a month with several rows, as with a refund or two work states, its lines by code."""
    cents: dict[str, list[int]] = {}
    for row in rows:
        amounts, subject, taxable = orjson.loads(row.cents)
        if row.refund:
            subject = [0] * len(subject)
        for code, *added in zip(row.codes.split(","), amounts, subject, taxable, strict=True):
            before = cents.get(code, (0, 0, 0))
            cents[code] = [one + other for one, other in zip(before, added, strict=True)]
    codes = tuple(sorted(cents))
    sums = [list(column) for column in zip(*(cents[code] for code in codes), strict=True)]
    lines = LineSet(codes, tuple(categories[code] for code in codes))
    return LedgerMonth(rows[0].employee_id, rows[0].year, rows[0].month, lines, *sums)


async def read_lines_by_payday(
    session: AsyncSession, employer_id: UUID, codes: Sequence[str], *, first_year: int, last_year: int
) -> list[LineOfPayday]:
    """Return the totals of the lines with these codes on each pay date of these years."""
    requested = {"employer": employer_id, "first": first_year, "last": last_year, "codes": list(codes)}
    return await fetch_all(session, _PAYDAYS, requested)


async def read_paid_places(session: AsyncSession, employer_id: UUID) -> list[PaidPlace]:
    """Return where employees were paid for work, in order, by the paychecks that aren't reversed.

    Only of those who were ever paid for work in another state than their record's: for all others it is that one, and
    not every paycheck of a household has to be read.
    """
    return await fetch_all(session, _PLACES, {"employer": employer_id})


async def read_wages_from_before(
    session: AsyncSession, employer_id: UUID, *, first_year: int, last_year: int
) -> list[WagesFromBefore]:
    """Return what was entered about other payrolls' wages in these years."""
    requested = {"employer": employer_id, "first": first_year, "last": last_year}
    return await fetch_all(session, _PRIOR, requested)
