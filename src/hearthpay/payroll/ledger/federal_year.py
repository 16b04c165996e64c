"""A household's federal lines of a year by month, and each employee's last paycheck: not every paycheck of the year."""

import datetime
from typing import Final, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query

_FEDERAL: Final = "US-"


class FederalMonth(NamedTuple):
    """The federal lines of one employee's paychecks in a month: amount and subject wages in cents, by code.

    What is reversed is deducted. An employee has several for a month with a refund or with two work states.
    """

    employee_id: UUID
    month: int
    amounts: dict[str, int]
    subject_wages: dict[str, int]


class _MonthRow(NamedTuple):
    employee_id: UUID
    month: int
    codes: str
    cents: str


_MONTHS: Final = query(
    _MonthRow,
    "SELECT employee_id, CAST(extract(month FROM month) AS int) AS month, array_to_string(codes, ',') AS codes, "
    "'[[' || array_to_string(amounts, ',') || '],[' || array_to_string(subject_wages, ',') || ']]' AS cents "
    "FROM month_balances WHERE employer_id = :employer AND tax_year = :year AND codes <> '{}' ORDER BY 1, 2",
)
"""The arrays come as one JSON text, since the driver would check every element."""


class LastPaycheck(NamedTuple):
    """An employee's last paycheck with wages in a year that isn't reversed, with its lines; in cents."""

    employee_id: UUID
    id: UUID
    pay_date: datetime.date
    pay_frequency: str
    work_state: str
    codes: list[str]
    subject_wages: list[int]
    amounts: list[int]


_LAST: Final = query(
    LastPaycheck,
    "SELECT l.employee_id, l.id, l.pay_date, l.pay_frequency, c.work_state, coalesce(s.codes, '{}') AS codes, "
    "coalesce(c.line_subject_wages, '{}') AS subject_wages, coalesce(c.line_amounts, '{}') AS amounts FROM ("
    "SELECT DISTINCT ON (c.employee_id) c.employee_id, c.id, p.pay_date, p.pay_frequency "
    "FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
    "WHERE c.employer_id = :employer AND c.tax_year = :year AND c.gross_pay <> 0 AND c.reverses IS NULL "
    "AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id) "
    "ORDER BY c.employee_id, p.pay_date DESC, c.id DESC) l "
    "JOIN paychecks c ON c.id = l.id LEFT JOIN line_sets s ON s.id = c.line_set_id ORDER BY l.employee_id",
)


async def read_federal_months(session: AsyncSession, employer_id: UUID, tax_year: int) -> list[FederalMonth]:
    """Return the sums of the federal lines of a year, without those of other payrolls."""
    found = []
    for row in await fetch_all(session, _MONTHS, {"employer": employer_id, "year": tax_year}):
        codes = row.codes.split(",")
        amounts, subject = (
            {code: cents for code, cents in zip(codes, column, strict=True) if code.startswith(_FEDERAL)}
            for column in orjson.loads(row.cents)
        )
        found.append(FederalMonth(row.employee_id, row.month, amounts, subject))
    return found


async def read_last_paychecks(session: AsyncSession, employer_id: UUID, tax_year: int) -> list[LastPaycheck]:
    """Return the last paycheck with wages of each employee who has one in a year, by pay date."""
    return await fetch_all(session, _LAST, {"employer": employer_id, "year": tax_year})
