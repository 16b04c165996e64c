"""The paychecks in the database, read back as the rows they were written from."""

import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.payroll.ledger.earnings import Earnings
from hearthpay.payroll.ledger.rows import Carried, LineRow, Owner, PaycheckRow, SetAside, YearToDate

_PAYCHECKS: Final = text(
    "SELECT id, organization_id, employer_id, sandbox, position, tax_year, lower(period) AS period_start, "
    "upper(period) - 1 AS period_end, employee_id, employee_name, payment_method, "
    f"{', '.join(Earnings._fields)}, gross_pay, employee_taxes, employer_taxes, set_aside, set_aside_source, "
    "set_aside_balance, ytd_gross_pay, ytd_net_pay, ytd_employee_taxes, ytd_employer_taxes, work_state, "
    "residence_state, reciprocity_certificate, warnings, carried "
    "FROM paychecks WHERE payroll_id = :payroll AND reverses IS NULL ORDER BY position"
)
_LINES: Final = text(
    f"SELECT l.paycheck_id, {', '.join(f'l.{name}' for name in LineRow._fields)} FROM paychecks c "
    "JOIN paycheck_lines l ON l.paycheck_id = c.id WHERE c.payroll_id = :payroll AND c.reverses IS NULL "
    "ORDER BY l.paycheck_id, l.position"
)


class Posted(NamedTuple):
    """A paycheck that stands in the database."""

    id: UUID
    owner: Owner
    position: int
    tax_year: int
    period_start: datetime.date
    period_end: datetime.date
    paycheck: PaycheckRow


async def read_paychecks(session: AsyncSession, payroll_id: UUID) -> list[Posted]:
    """Return the paychecks of a payroll in their order; those that only undo others are left out."""
    which = {"payroll": payroll_id}
    paychecks = (await session.execute(_PAYCHECKS, which)).all()
    lines: dict[UUID, list[LineRow]] = {row.id: [] for row in paychecks}
    for line in await session.execute(_LINES, which):
        lines[line[0]].append(LineRow(*line[1:]))
    return [
        Posted(
            id=row.id,
            owner=Owner(row.organization_id, row.employer_id, row.sandbox),
            position=row.position,
            tax_year=row.tax_year,
            period_start=row.period_start,
            period_end=row.period_end,
            paycheck=PaycheckRow(
                employee_id=row.employee_id,
                employee_name=row.employee_name,
                payment_method=row.payment_method,
                earnings=Earnings(*(getattr(row, name) for name in Earnings._fields)),
                gross_pay=row.gross_pay,
                employee_taxes=row.employee_taxes,
                employer_taxes=row.employer_taxes,
                set_aside=SetAside(row.set_aside, row.set_aside_source, row.set_aside_balance),
                lines=tuple(lines[row.id]),
                ytd=YearToDate(
                    row.ytd_gross_pay, row.ytd_net_pay, row.ytd_employee_taxes, row.ytd_employer_taxes
                ),
                warnings=tuple(row.warnings),
                residence_state=row.residence_state,
                reciprocity_certificate=row.reciprocity_certificate,
                work_state=row.work_state,
                carried=tuple(Carried(*each) for each in row.carried),
            ),
        )
        for row in paychecks
    ]
