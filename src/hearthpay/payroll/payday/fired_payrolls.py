"""Fired payrolls in the database: final amounts and dates, the new state and its history, with one statement.

A payroll is updated once. A second update of a row in the same transaction would write every index again, and
PostgreSQL would check the row's foreign keys again.
"""

import datetime
from collections.abc import Mapping, Set
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.statements import column_list
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.ledger.columns import arrays, columns_of
from hearthpay.payroll.ledger.rows import PayrollRecord
from hearthpay.payroll.lifecycle import Cause, PayrollStatus, left_for

_FIRED: Final[tuple[PayrollStatus, ...]] = ("firing", "pending_funding")
_FIRED_WITHOUT_MONEY: Final[tuple[PayrollStatus, ...]] = (*_FIRED, "processing", "completed")
"""The states to pass if nothing is to be collected or paid: withholding and set-asides take all of it."""

_FIRED_TYPES: Final = {
    "id": "uuid",
    "status": "text",
    "pay_date": "date",
    "pay_date_asked": "date",
    "tax_year": "smallint",
    "rulebook_version": "text",
    "gross_pay": "bigint",
    "total_deductions": "bigint",
    "net_pay": "bigint",
    "employer_taxes": "bigint",
    "total_cost": "bigint",
}
_STEP_TYPES: Final = {"last": "text", "number": "smallint", "leave": "text", "enter": "text"}


class _FiredRow(NamedTuple):
    payroll_id: UUID


_FIRE: Final = query(
    _FiredRow,
    "WITH moved AS (UPDATE payrolls p SET status = r.status, pay_date = r.pay_date, "
    "pay_date_asked = r.pay_date_asked, tax_year = r.tax_year, rulebook_version = r.rulebook_version, "
    "gross_pay = r.gross_pay, total_deductions = r.total_deductions, net_pay = r.net_pay, "
    "employer_taxes = r.employer_taxes, total_cost = r.total_cost, failure = NULL, next_attempt_at = NULL "
    "FROM unnest({fired_arrays}) AS r({fired_columns}) WHERE p.id = r.id AND p.status = 'scheduled' "
    "RETURNING p.id, p.organization_id, p.employer_id, p.sandbox, p.status) "
    "INSERT INTO payroll_transitions (id, organization_id, employer_id, sandbox, payroll_id, from_status, to_status, "
    "actor_kind, at) "
    "SELECT new_id(), m.organization_id, m.employer_id, m.sandbox, m.id, step.leave, step.enter, 'system', :at "
    "FROM moved m JOIN unnest({step_arrays}) AS step({step_columns}) ON step.last = m.status "
    "ORDER BY m.id, step.number RETURNING payroll_id",
    fired_arrays=arrays(_FIRED_TYPES),
    fired_columns=column_list(_FIRED_TYPES),
    step_arrays=arrays(_STEP_TYPES),
    step_columns=column_list(_STEP_TYPES),
)


async def save_fired(
    session: AsyncSession,
    calculated: Mapping[UUID, PayrollRecord],
    debited: Set[UUID],
    now: datetime.datetime,
) -> None:
    """Save the result of each payroll and its new state: waiting for its debit, or completed if it has none.

    The payrolls' rows must be locked while they are scheduled.
    """
    if not calculated:
        return
    rows = [
        (
            payroll_id,
            (_FIRED if payroll_id in debited else _FIRED_WITHOUT_MONEY)[-1],
            record.dates.pay_date,
            record.dates.asked,
            record.tax_year,
            record.rulebook_version,
            *record.totals,
        )
        for payroll_id, record in calculated.items()
    ]
    parameters = columns_of(_FIRED_TYPES, rows) | columns_of(_STEP_TYPES, _steps(Cause("system", now)))
    written = await fetch_all(session, _FIRE, parameters | {"at": now})
    assert {row.payroll_id for row in written} == calculated.keys(), "their rows are locked"


def _steps(cause: Cause) -> list[tuple[object, ...]]:
    """Return the steps of each way, by the state it ends with."""
    return [
        (entered[-1], number, *step)
        for entered in (_FIRED, _FIRED_WITHOUT_MONEY)
        for number, step in enumerate(zip(left_for("scheduled", entered, cause), entered, strict=True))
    ]
