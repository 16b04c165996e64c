"""The paychecks in the database, read back as the rows they were written from."""

import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.statements import column_list, compose
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.ledger.earnings import Earnings
from hearthpay.payroll.ledger.lines import LINE_ARRAYS, lines_of
from hearthpay.payroll.ledger.rows import Carried, Owner, PaycheckRow, SetAside, YearToDate
from hearthpay.payroll.orders import SalaryShare
from hearthpay.taxes.messages import of_json

_SAYS: Final = compose(
    "c.employee_id, c.employee_name, c.payment_method, {earnings}, "
    "c.gross_pay, c.employee_taxes, c.employer_taxes, c.set_aside, c.set_aside_source, c.set_aside_balance, "
    "c.ytd_gross_pay, c.ytd_net_pay, c.ytd_employee_taxes, c.ytd_employer_taxes, c.work_state, c.residence_state, "
    "c.reciprocity_certificate, coalesce(c.messages, c.warnings) AS warnings, c.carried, c.provisional, c.salary, "
    "{line_arrays}",
    earnings=column_list(Earnings._fields, "c"),
    line_arrays=LINE_ARRAYS,
)
"""The contents of a paycheck `c` and, at the end, of the set of its lines `s`."""


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
    codes: list[str] | None
    names: list[str] | None
    payers: list[str] | None
    agencies: list[str] | None
    categories: list[str] | None
    line_subject_wages: list[int] | None
    line_taxable_wages: list[int] | None
    line_rates: list[Decimal | None] | None
    line_amounts: list[int] | None
    line_ytd_amounts: list[int] | None


_PAYCHECKS: Final = query(
    _PaychecksRow,
    "SELECT c.id, c.organization_id, c.employer_id, c.sandbox, c.position, c.tax_year, "
    "lower(c.period) AS period_start, upper(c.period) - 1 AS period_end, "
    "(SELECT p.pay_date FROM payrolls p WHERE p.id = c.payroll_id) AS pay_date, {says} FROM paychecks c "
    "LEFT JOIN line_sets s ON s.id = c.line_set_id WHERE payroll_id = :payroll AND reverses IS NULL ORDER BY position",
    says=_SAYS,
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
    codes: list[str] | None
    names: list[str] | None
    payers: list[str] | None
    agencies: list[str] | None
    categories: list[str] | None
    line_subject_wages: list[int] | None
    line_taxable_wages: list[int] | None
    line_rates: list[Decimal | None] | None
    line_amounts: list[int] | None
    line_ytd_amounts: list[int] | None


_OF_A_YEAR: Final = query(
    _OfAYearRow,
    "SELECT c.id, c.payroll_id, c.reverses, p.status, p.pay_date, lower(c.period) AS period_start, "
    "upper(c.period) - 1 AS period_end, p.pay_frequency, {says} FROM paychecks c "
    "JOIN payrolls p ON p.id = c.payroll_id LEFT JOIN line_sets s ON s.id = c.line_set_id "
    "WHERE c.employer_id = :employer AND c.tax_year = :tax_year ORDER BY c.id",
    says=_SAYS,
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
    return [
        Posted(
            id=row.id,
            owner=Owner(row.organization_id, row.employer_id, row.sandbox),
            position=row.position,
            tax_year=row.tax_year,
            period_start=row.period_start,
            period_end=row.period_end,
            pay_date=row.pay_date,
            paycheck=_paycheck(row),
        )
        for row in paychecks
    ]


async def read_year(session: AsyncSession, employer_id: UUID, tax_year: int) -> list[PostedInYear]:
    """Return all paychecks of a household's tax year in posting order, including those that reverse others."""
    which = {"employer": employer_id, "tax_year": tax_year}
    paychecks = await fetch_all(session, _OF_A_YEAR, which)
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
            _paycheck(row),
        )
        for row in paychecks
    ]


def _paycheck(row: _PaychecksRow | _OfAYearRow) -> PaycheckRow:
    """Return the contents of a paycheck; the row ends with the columns of `_SAYS`."""
    return PaycheckRow(
        employee_id=row.employee_id,
        employee_name=row.employee_name,
        payment_method=row.payment_method,
        earnings=Earnings(*(getattr(row, name) for name in Earnings._fields)),
        gross_pay=row.gross_pay,
        employee_taxes=row.employee_taxes,
        employer_taxes=row.employer_taxes,
        set_aside=SetAside(row.set_aside, row.set_aside_source, row.set_aside_balance),
        lines=lines_of(row),
        ytd=YearToDate(row.ytd_gross_pay, row.ytd_net_pay, row.ytd_employee_taxes, row.ytd_employer_taxes),
        warnings=tuple(of_json(each) for each in row.warnings),
        residence_state=row.residence_state,
        reciprocity_certificate=row.reciprocity_certificate,
        work_state=row.work_state,
        carried=tuple(Carried(*each) for each in row.carried),
        provisional=tuple(row.provisional),
        salary=SalaryShare.of_json(row.salary),
    )
