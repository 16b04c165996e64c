"""The payrolls in the database: written once, set-based, and read back as they were answered."""

import datetime
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import orjson
from sqlalchemy import TextClause, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.http.actor import Actor
from hearthpay.payroll.earnings import Earnings
from hearthpay.payroll.models import LineRow, PaycheckRow, Payroll
from hearthpay.payroll.pay_dates import PayDates
from hearthpay.payroll.records import (
    LineRecord,
    PaycheckRecord,
    PayrollRecord,
    SetAside,
    StoredPayroll,
    YearToDate,
)
from hearthpay.payroll.register import History

_YEAR_BY_LINE: Final = text(
    "SELECT employee_id, code, sum(taxable_wages)::bigint, sum(amount)::bigint FROM paycheck_lines "
    "WHERE employee_id = ANY(:employees) AND tax_year = :tax_year GROUP BY employee_id, code"
)
_YEAR_TOTALS: Final = text(
    "SELECT employee_id, sum(gross_pay)::bigint, sum(net_pay)::bigint, sum(employee_taxes)::bigint, "
    "sum(employer_taxes)::bigint FROM paychecks "
    "WHERE employee_id = ANY(:employees) AND tax_year = :tax_year AND live GROUP BY employee_id"
)
_SET_ASIDE_BALANCES: Final = text(
    "SELECT employee_id, sum(set_aside)::bigint FROM paychecks "
    "WHERE employee_id = ANY(:employees) AND live AND set_aside > 0 GROUP BY employee_id"
)
_OVERLAP: Final = text(
    "SELECT employee_id, payroll_id, lower(period), upper(period) - 1 FROM paychecks "
    "WHERE employee_id = ANY(:employees) AND live AND period && daterange(:start, :end, '[]') "
    "ORDER BY employee_id, id LIMIT 1"
)

_PAYROLL_COLUMNS: Final = (
    "id, organization_id, employer_id, sandbox, status, period_start, period_end, pay_date, pay_date_defaulted, "
    "pay_frequency, notes, rulebook_version, tax_year, gross_pay, total_deductions, net_pay, employer_taxes, "
    "total_cost, created_by_kind, created_by, created_at"
)
_INSERT_PAYROLL: Final = text(
    f"INSERT INTO payrolls ({_PAYROLL_COLUMNS}) VALUES "
    f"({', '.join(':' + name.strip() for name in _PAYROLL_COLUMNS.split(','))})"
)

#: Columns of a paycheck with their array types: many rows go in with one statement.
_PAYCHECK_TYPES: Final = {
    "id": "uuid",
    "employee_id": "uuid",
    "position": "smallint",
    "payment_method": "text",
    "regular_hours": "numeric",
    "regular_pay": "bigint",
    "overtime_hours": "numeric",
    "overtime_pay": "bigint",
    "bonus": "bigint",
    "other_earnings": "bigint",
    "gross_pay": "bigint",
    "employee_taxes": "bigint",
    "employer_taxes": "bigint",
    "set_aside": "bigint",
    "set_aside_source": "text",
    "set_aside_balance": "bigint",
    "net_pay": "bigint",
    "total_cost": "bigint",
    "ytd_gross_pay": "bigint",
    "ytd_net_pay": "bigint",
    "ytd_employee_taxes": "bigint",
    "ytd_employer_taxes": "bigint",
    "employee_name": "text",
    "work_state": "text",
    "residence_state": "text",
    "reciprocity_certificate": "text",
    "warnings": "jsonb",
}
_LINE_TYPES: Final = {
    "paycheck_id": "uuid",
    "employee_id": "uuid",
    "position": "smallint",
    "code": "text",
    "name": "text",
    "payer": "text",
    "agency": "text",
    "category": "text",
    "subject_wages": "bigint",
    "taxable_wages": "bigint",
    "rate": "numeric",
    "amount": "bigint",
    "ytd_amount": "bigint",
}


def _insert_many(table: str, fixed: str, values: str, types: dict[str, str]) -> TextClause:
    columns = ", ".join(types)
    arrays = ", ".join(f"CAST(:{name} AS {kind}[])" for name, kind in types.items())
    insert = f"INSERT INTO {table} ({fixed}, {columns}) SELECT {values}, r.*"
    return text(f"{insert} FROM unnest({arrays}) AS r")


_INSERT_PAYCHECKS: Final = _insert_many(
    "paychecks",
    "organization_id, employer_id, sandbox, payroll_id, tax_year, period",
    ":organization, :employer, :sandbox, :payroll, :tax_year, daterange(:start, :end, '[]')",
    _PAYCHECK_TYPES,
)
_INSERT_LINES: Final = _insert_many(
    "paycheck_lines",
    "organization_id, employer_id, sandbox, tax_year",
    ":organization, :employer, :sandbox, :tax_year",
    _LINE_TYPES,
)


class Overlap:
    """A live paycheck whose period overlaps the one asked for."""

    def __init__(self, row: Any) -> None:
        self.employee_id: UUID = row[0]
        self.payroll_id: UUID = row[1]
        self.start: datetime.date = row[2]
        self.end: datetime.date = row[3]


async def find_overlap(session: AsyncSession, employees: Sequence[UUID], dates: PayDates) -> Overlap | None:
    """Return a live paycheck of one of the employees that overlaps the pay period, if there is one."""
    row = (
        await session.execute(
            _OVERLAP,
            {"employees": list(employees), "start": dates.period_start, "end": dates.period_end},
        )
    ).first()
    return Overlap(row) if row is not None else None


async def read_histories(
    session: AsyncSession, employees: Sequence[UUID], tax_year: int
) -> dict[UUID, History]:
    """Return what each employee's paychecks of the year add up to, derived from their lines."""
    parameters = {"employees": list(employees), "tax_year": tax_year}
    taxable: dict[UUID, dict[str, int]] = {}
    amounts: dict[UUID, dict[str, int]] = {}
    for employee, code, wages, amount in await session.execute(_YEAR_BY_LINE, parameters):
        taxable.setdefault(employee, {})[code] = wages
        amounts.setdefault(employee, {})[code] = amount
    totals = {
        row[0]: YearToDate(row[1], row[2], row[3], row[4])
        for row in await session.execute(_YEAR_TOTALS, parameters)
    }
    balances = {
        row[0]: row[1] for row in await session.execute(_SET_ASIDE_BALANCES, {"employees": list(employees)})
    }
    return {
        employee: History(
            totals=totals.get(employee, YearToDate()),
            taxable_wages=taxable.get(employee, {}),
            amounts=amounts.get(employee, {}),
            set_aside_balance=balances.get(employee, 0),
        )
        for employee in employees
    }


async def insert_payroll(
    session: AsyncSession, actor: Actor, record: PayrollRecord, status: str, now: datetime.datetime
) -> UUID:
    """Write a payroll with its paychecks and lines, one statement for each table; return its id."""
    payroll_id = uuid7()
    await session.execute(
        _INSERT_PAYROLL,
        {
            "id": payroll_id,
            "organization_id": actor.organization_id,
            "employer_id": record.employer_id,
            "sandbox": actor.sandbox,
            "status": status,
            "period_start": record.dates.period_start,
            "period_end": record.dates.period_end,
            "pay_date": record.dates.pay_date,
            "pay_date_defaulted": record.dates.defaulted,
            "pay_frequency": record.pay_frequency,
            "notes": record.notes,
            "rulebook_version": record.rulebook_version,
            "tax_year": record.tax_year,
            "gross_pay": record.gross_pay,
            "total_deductions": record.total_deductions,
            "net_pay": record.net_pay,
            "employer_taxes": record.employer_taxes,
            "total_cost": record.total_cost,
            "created_by_kind": actor.kind,
            "created_by": actor.id,
            "created_at": now,
        },
    )
    ids = [uuid7() for _ in record.paychecks]
    tenant = {
        "organization": actor.organization_id,
        "employer": record.employer_id,
        "sandbox": actor.sandbox,
        "tax_year": record.tax_year,
    }
    paychecks = [
        _paycheck_values(paycheck_id, position, paycheck)
        for position, (paycheck_id, paycheck) in enumerate(zip(ids, record.paychecks, strict=True))
    ]
    await session.execute(
        _INSERT_PAYCHECKS,
        tenant
        | {"payroll": payroll_id, "start": record.dates.period_start, "end": record.dates.period_end}
        | _columns(_PAYCHECK_TYPES, paychecks),
    )
    lines = [
        (
            paycheck_id,
            paycheck.employee_id,
            position,
            line.code,
            line.name,
            line.payer,
            line.agency,
            line.category,
            line.subject_wages,
            line.taxable_wages,
            line.rate,
            line.amount,
            line.ytd_amount,
        )
        for paycheck_id, paycheck in zip(ids, record.paychecks, strict=True)
        for position, line in enumerate(paycheck.lines)
    ]
    await session.execute(_INSERT_LINES, tenant | _columns(_LINE_TYPES, lines))
    return payroll_id


def _paycheck_values(paycheck_id: UUID, position: int, paycheck: PaycheckRecord) -> tuple[object, ...]:
    earnings = paycheck.earnings
    return (
        paycheck_id,
        paycheck.employee_id,
        position,
        paycheck.payment_method,
        earnings.regular_hours,
        _cents(earnings.regular_pay),
        earnings.overtime_hours,
        _cents(earnings.overtime_pay),
        _cents(earnings.bonus),
        _cents(earnings.other_earnings),
        paycheck.gross_pay,
        paycheck.employee_taxes,
        paycheck.employer_taxes,
        paycheck.set_aside.amount,
        paycheck.set_aside.source,
        paycheck.set_aside.balance,
        paycheck.net_pay,
        paycheck.total_cost,
        paycheck.ytd.gross_pay,
        paycheck.ytd.net_pay,
        paycheck.ytd.employee_taxes,
        paycheck.ytd.employer_taxes,
        paycheck.employee_name,
        paycheck.work_state,
        paycheck.residence_state,
        paycheck.reciprocity_certificate,
        orjson.dumps(paycheck.warnings).decode(),
    )


def _cents(dollars: Decimal) -> int:
    return int(dollars.scaleb(2))


def _columns(types: dict[str, str], rows: Sequence[tuple[object, ...]]) -> dict[str, list[object]]:
    """Turn rows into one array for each column."""
    return {name: list(values) for name, values in zip(types, zip(*rows, strict=True), strict=True)}


async def read_payroll(session: AsyncSession, payroll_id: UUID) -> StoredPayroll | None:
    """Return a payroll of the transaction's tenant with everything in it, or None."""
    payroll = await session.get(Payroll, payroll_id)
    if payroll is None:
        return None
    paychecks = (
        await session.scalars(
            select(PaycheckRow).where(PaycheckRow.payroll_id == payroll_id).order_by(PaycheckRow.position)
        )
    ).all()
    lines: dict[UUID, list[LineRow]] = {paycheck.id: [] for paycheck in paychecks}
    for line in await session.scalars(
        select(LineRow).where(LineRow.paycheck_id.in_(lines)).order_by(LineRow.paycheck_id, LineRow.position)
    ):
        lines[line.paycheck_id].append(line)
    record = PayrollRecord(
        employer_id=payroll.employer_id,
        dates=PayDates(
            payroll.period_start, payroll.period_end, payroll.pay_date, payroll.pay_date_defaulted
        ),
        pay_frequency=payroll.pay_frequency,
        paychecks=tuple(_paycheck(paycheck, lines[paycheck.id]) for paycheck in paychecks),
        rulebook_version=payroll.rulebook_version,
        tax_year=payroll.tax_year,
        notes=payroll.notes,
    )
    return StoredPayroll(payroll.id, payroll.status, payroll.created_at, record)


def _paycheck(row: PaycheckRow, lines: Iterable[LineRow]) -> PaycheckRecord:
    return PaycheckRecord(
        employee_id=row.employee_id,
        employee_name=row.employee_name,
        payment_method=row.payment_method,
        earnings=Earnings(
            row.regular_hours,
            row.regular_pay,
            row.overtime_hours,
            row.overtime_pay,
            row.bonus,
            row.other_earnings,
        ),
        gross_pay=_cents(row.gross_pay),
        employee_taxes=_cents(row.employee_taxes),
        employer_taxes=_cents(row.employer_taxes),
        set_aside=SetAside(_cents(row.set_aside), row.set_aside_source, _cents(row.set_aside_balance)),
        lines=tuple(
            LineRecord(
                line.code,
                line.name,
                line.payer,
                line.agency,
                line.category,
                _cents(line.subject_wages),
                _cents(line.taxable_wages),
                line.rate,
                _cents(line.amount),
                _cents(line.ytd_amount),
            )
            for line in lines
        ),
        ytd=YearToDate(
            _cents(row.ytd_gross_pay),
            _cents(row.ytd_net_pay),
            _cents(row.ytd_employee_taxes),
            _cents(row.ytd_employer_taxes),
        ),
        warnings=tuple(row.warnings),
        residence_state=row.residence_state,
        reciprocity_certificate=row.reciprocity_certificate,
        work_state=row.work_state,
    )
