"""The paychecks in the database, read back as the rows they were written from."""

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.statements import column_list, compose
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.ledger.earnings import Earnings
from hearthpay.payroll.ledger.rows import Carried, LineRow, Owner, PaycheckRow, SetAside, YearToDate
from hearthpay.payroll.orders import SalaryShare
from hearthpay.taxes.messages import of_json

_SAYS: Final = compose(
    "c.employee_id, c.employee_name, c.payment_method, {earnings}, "
    "c.gross_pay, c.employee_taxes, c.employer_taxes, c.set_aside, c.set_aside_source, c.set_aside_balance, "
    "c.ytd_gross_pay, c.ytd_net_pay, c.ytd_employee_taxes, c.ytd_employer_taxes, c.work_state, c.residence_state, "
    "c.reciprocity_certificate, coalesce(c.messages, c.warnings) AS warnings, c.carried, c.provisional, c.salary",
    earnings=column_list(Earnings._fields, "c"),
)
"""The contents of a paycheck, without its lines."""


class _PaychecksRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    position: int
    tax_year: int
    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    employee_id: UUID
    employee_name: str
    payment_method: str
    regular_hours: Decimal
    regular_pay: int
    overtime_hours: Decimal
    overtime_pay: int
    bonus: int
    other_earnings: int
    gross_pay: int
    employee_taxes: int
    employer_taxes: int
    set_aside: int
    set_aside_source: str
    set_aside_balance: int
    ytd_gross_pay: int
    ytd_net_pay: int
    ytd_employee_taxes: int
    ytd_employer_taxes: int
    work_state: str
    residence_state: str
    reciprocity_certificate: str | None
    warnings: list[object]
    carried: list[list[Any]]
    provisional: list[str]
    salary: dict[str, Any] | None


_PAYCHECKS: Final = query(
    _PaychecksRow,
    "SELECT c.id, c.organization_id, c.employer_id, c.sandbox, c.position, c.tax_year, "
    "lower(c.period) AS period_start, upper(c.period) - 1 AS period_end, "
    "(SELECT p.pay_date FROM payrolls p WHERE p.id = c.payroll_id) AS pay_date, {says} FROM paychecks c "
    "WHERE payroll_id = :payroll AND reverses IS NULL ORDER BY position",
    says=_SAYS,
)


class _LinesRow(NamedTuple):
    paycheck_id: UUID
    code: str
    name: str
    payer: str
    agency: str
    category: str
    subject_wages: int
    taxable_wages: int
    rate: Decimal | None
    amount: int
    ytd_amount: int


_LINES: Final = query(
    _LinesRow,
    "SELECT l.paycheck_id, {columns} FROM paychecks c "
    "JOIN paycheck_lines l ON l.paycheck_id = c.id WHERE c.payroll_id = :payroll AND c.reverses IS NULL "
    "ORDER BY l.paycheck_id, l.position",
    columns=column_list(LineRow._fields, "l"),
)


class _OfAYearRow(NamedTuple):
    id: UUID
    payroll_id: UUID
    reverses: UUID | None
    status: str
    pay_date: datetime.date
    period_start: datetime.date
    period_end: datetime.date
    pay_frequency: str
    employee_id: UUID
    employee_name: str
    payment_method: str
    regular_hours: Decimal
    regular_pay: int
    overtime_hours: Decimal
    overtime_pay: int
    bonus: int
    other_earnings: int
    gross_pay: int
    employee_taxes: int
    employer_taxes: int
    set_aside: int
    set_aside_source: str
    set_aside_balance: int
    ytd_gross_pay: int
    ytd_net_pay: int
    ytd_employee_taxes: int
    ytd_employer_taxes: int
    work_state: str
    residence_state: str
    reciprocity_certificate: str | None
    warnings: list[object]
    carried: list[list[Any]]
    provisional: list[str]
    salary: dict[str, Any] | None


_OF_A_YEAR: Final = query(
    _OfAYearRow,
    "SELECT c.id, c.payroll_id, c.reverses, p.status, p.pay_date, lower(c.period) AS period_start, "
    "upper(c.period) - 1 AS period_end, p.pay_frequency, {says} FROM paychecks c "
    "JOIN payrolls p ON p.id = c.payroll_id WHERE c.employer_id = :employer AND c.tax_year = :tax_year ORDER BY c.id",
    says=_SAYS,
)


_LINES_OF_A_YEAR: Final = query(
    _LinesRow,
    "SELECT l.paycheck_id, {columns} FROM paychecks c "
    "JOIN paycheck_lines l ON l.paycheck_id = c.id WHERE c.employer_id = :employer AND c.tax_year = :tax_year "
    "ORDER BY l.paycheck_id, l.position",
    columns=column_list(LineRow._fields, "l"),
)


class PostedInYear(NamedTuple):
    """A paycheck of a household's year, including one that reverses another, with its payroll's data."""

    id: UUID
    payroll_id: UUID
    reverses: UUID | None
    status: str
    pay_date: datetime.date
    period_start: datetime.date
    period_end: datetime.date
    pay_frequency: str
    paycheck: PaycheckRow


class Posted(NamedTuple):
    """A paycheck in the database that isn't reversed."""

    id: UUID
    owner: Owner
    position: int
    tax_year: int
    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    paycheck: PaycheckRow


async def read_paychecks(session: AsyncSession, payroll_id: UUID) -> list[Posted]:
    """Return the paychecks of a payroll in their order; those that only reverse others are left out."""
    which = {"payroll": payroll_id}
    paychecks = await fetch_all(session, _PAYCHECKS, which)
    lines: dict[UUID, list[LineRow]] = {row.id: [] for row in paychecks}
    for line in await fetch_all(session, _LINES, which):
        lines[line.paycheck_id].append(LineRow(*line[1:]))
    return [
        Posted(
            id=row.id,
            owner=Owner(row.organization_id, row.employer_id, row.sandbox),
            position=row.position,
            tax_year=row.tax_year,
            period_start=row.period_start,
            period_end=row.period_end,
            pay_date=row.pay_date,
            paycheck=_with_messages(row, lines[row.id]),
        )
        for row in paychecks
    ]


async def read_year(session: AsyncSession, employer_id: UUID, tax_year: int) -> list[PostedInYear]:
    """Return all paychecks of a household's tax year in posting order, including those that reverse others."""
    which = {"employer": employer_id, "tax_year": tax_year}
    paychecks = await fetch_all(session, _OF_A_YEAR, which)
    lines: dict[UUID, list[LineRow]] = {row.id: [] for row in paychecks}
    for line in await fetch_all(session, _LINES_OF_A_YEAR, which):
        lines[line.paycheck_id].append(LineRow(*line[1:]))
    return [
        PostedInYear(
            row.id,
            row.payroll_id,
            row.reverses,
            row.status,
            row.pay_date,
            row.period_start,
            row.period_end,
            row.pay_frequency,
            _with_messages(row, lines[row.id]),
        )
        for row in paychecks
    ]


def _with_messages(row: _PaychecksRow | _OfAYearRow, lines: Sequence[LineRow]) -> PaycheckRow:
    """Return the contents of a paycheck; the row has the columns of `_SAYS`."""
    return PaycheckRow(
        employee_id=row.employee_id,
        employee_name=row.employee_name,
        payment_method=row.payment_method,
        earnings=Earnings(*(getattr(row, name) for name in Earnings._fields)),
        gross_pay=row.gross_pay,
        employee_taxes=row.employee_taxes,
        employer_taxes=row.employer_taxes,
        set_aside=SetAside(row.set_aside, row.set_aside_source, row.set_aside_balance),
        lines=tuple(lines),
        ytd=YearToDate(row.ytd_gross_pay, row.ytd_net_pay, row.ytd_employee_taxes, row.ytd_employer_taxes),
        warnings=tuple(of_json(each) for each in row.warnings),
        residence_state=row.residence_state,
        reciprocity_certificate=row.reciprocity_certificate,
        work_state=row.work_state,
        carried=tuple(Carried(*each) for each in row.carried),
        provisional=tuple(row.provisional),
        salary=SalaryShare.of_json(row.salary),
    )
