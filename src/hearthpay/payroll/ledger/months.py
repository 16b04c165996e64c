"""A household's ledger, month by month of the pay dates, and where its employees were paid for work.

Read from the sums that are kept for each employee and month: what a void or a failure reversed is deducted, by its
negative lines.
"""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.ledger.line_headings import read_headings


class LineOfMonth(NamedTuple):
    """A line of one employee's paychecks in a month, in cents."""

    employee_id: UUID
    code: str
    category: str
    year: int
    month: int
    amount: int
    subject_wages: int
    taxable_wages: int


class _MonthRow(NamedTuple):
    employee_id: UUID
    year: int
    month: int
    refund: bool
    codes: str
    amounts: str
    subject_wages: str
    taxable_wages: str


_MONTHS: Final = query(
    _MonthRow,
    "SELECT employee_id, tax_year AS year, CAST(extract(month FROM month) AS int) AS month, refund, "
    "array_to_string(codes, ',') AS codes, array_to_string(amounts, ',') AS amounts, "
    "array_to_string(subject_wages, ',') AS subject_wages, array_to_string(taxable_wages, ',') AS taxable_wages "
    "FROM month_balances WHERE employer_id = :employer AND tax_year BETWEEN :first AND :last AND codes <> '{}' "
    "ORDER BY 1, 2, 3",
)
"""Each array comes as one text, since the driver would check every element."""


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


_WAGES: Final = query(
    WagesOfMonth,
    "SELECT employee_id, work_state, tax_year AS year, CAST(extract(month FROM month) AS int) AS month, "
    "CAST(sum(gross_pay) AS bigint) AS cents FROM month_balances "
    "WHERE employer_id = :employer AND tax_year BETWEEN :first AND :last GROUP BY 1, 2, 3, 4 ORDER BY 1, 3, 4, 2",
)


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
    "FROM paychecks c WHERE c.employer_id = :employer AND c.reverses IS NULL AND c.gross_pay > 0 "
    "AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id)) AS worked "
    "GROUP BY employee_id, work_state, stretch ORDER BY employee_id, min(since), max(until)",
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


async def read_lines_by_month(
    session: AsyncSession, employer_id: UUID, *, first_year: int, last_year: int
) -> list[LineOfMonth]:
    """Return the sums of the household's lines in these years; those of other payrolls aren't included.

    A line that repaid FICA counts with its amount and taxable wages: the wages were paid, so they stay subject to it.
    """
    requested = {"employer": employer_id, "first": first_year, "last": last_year}
    rows = await fetch_all(session, _MONTHS, requested)
    codes: dict[int, set[str]] = {}
    for lines in {(row.year, row.codes) for row in rows}:
        codes.setdefault(lines[0], set()).update(lines[1].split(","))
    categories = {
        year: {
            code: heading.category
            for code, heading in (await read_headings(session, employer_id, year, of_year)).items()
        }
        for year, of_year in codes.items()
    }
    return [
        line for _, group in groupby(rows, itemgetter(0, 1, 2)) for line in _lines_of(list(group), categories)
    ]


def _lines_of(
    rows: Sequence[_MonthRow], categories: Mapping[int, Mapping[str, str]]
) -> Iterator[LineOfMonth]:
    """Yield the lines of one employee's month by code: of one row, unless it has a refund or two work states."""
    first = rows[0]
    of_year = categories[first.year]
    cents: dict[str, tuple[int, int, int]] = {}
    for row in rows:
        codes, amounts, taxable = (text.split(",") for text in (row.codes, row.amounts, row.taxable_wages))
        subject = ["0"] * len(codes) if row.refund else row.subject_wages.split(",")
        added = zip(map(int, amounts), map(int, subject), map(int, taxable), strict=True)
        if not cents:
            cents = dict(zip(codes, added, strict=True))
            continue
        for code, own in zip(codes, added, strict=True):
            before = cents.get(code, (0, 0, 0))
            cents[code] = (before[0] + own[0], before[1] + own[1], before[2] + own[2])
    for code in sorted(cents) if len(rows) > 1 else cents:
        yield LineOfMonth(first.employee_id, code, of_year[code], first.year, first.month, *cents[code])


async def read_lines_by_payday(
    session: AsyncSession, employer_id: UUID, codes: Sequence[str], *, first_year: int, last_year: int
) -> list[LineOfPayday]:
    """Return the totals of the lines with these codes on each pay date of these years."""
    requested = {"employer": employer_id, "first": first_year, "last": last_year, "codes": list(codes)}
    return await fetch_all(session, _PAYDAYS, requested)


async def read_wages_by_month(
    session: AsyncSession, employer_id: UUID, *, first_year: int, last_year: int
) -> list[WagesOfMonth]:
    """Return what the household paid in these years, without wages from other payrolls."""
    requested = {"employer": employer_id, "first": first_year, "last": last_year}
    return await fetch_all(session, _WAGES, requested)


async def read_paid_places(session: AsyncSession, employer_id: UUID) -> list[PaidPlace]:
    """Return where each employee was paid for work, in order, by the paychecks that aren't reversed."""
    return await fetch_all(session, _PLACES, {"employer": employer_id})


async def read_wages_from_before(
    session: AsyncSession, employer_id: UUID, *, first_year: int, last_year: int
) -> list[WagesFromBefore]:
    """Return what was entered about other payrolls' wages in these years."""
    requested = {"employer": employer_id, "first": first_year, "last": last_year}
    return await fetch_all(session, _PRIOR, requested)
