"""The payrolls in the database: each with its request and its expected result; paychecks are stored separately."""

import datetime
import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.payroll.ledger.columns import columns_of, insert_many, quoted_array
from hearthpay.payroll.ledger.earnings import EARNINGS_TYPES
from hearthpay.payroll.ledger.estimates import Estimate
from hearthpay.payroll.ledger.paychecks import read_paychecks
from hearthpay.payroll.ledger.rows import TENANT_TYPES, Owner, PayrollRecord, PayrollTotals, StoredPayroll
from hearthpay.payroll.lifecycle import PayrollStatus, history_of
from hearthpay.payroll.models import Payroll
from hearthpay.payroll.orders import SettledOrder
from hearthpay.payroll.orders.pay_dates import PayDates

_INSERT_ESTIMATES: Final = text(
    "INSERT INTO payroll_estimates (organization_id, employer_id, sandbox, payroll_id, estimate) "
    "SELECT p.organization_id, p.employer_id, p.sandbox, p.id, e.estimate "
    "FROM unnest(CAST(:ids AS uuid[]), CAST(:estimates AS jsonb[])) AS e(id, estimate) JOIN payrolls p ON p.id = e.id"
)
_ESTIMATE: Final = text("SELECT estimate::text FROM payroll_estimates WHERE payroll_id = :id")

_PAYROLL_TYPES: Final = {
    **TENANT_TYPES,
    "id": "uuid",
    "status": "text",
    "period_start": "date",
    "period_end": "date",
    "pay_date": "date",
    "pay_date_asked": "date",
    "pay_date_defaulted": "boolean",
    "pay_frequency": "text",
    "notes": "text",
    "kind": "text",
    "rulebook_version": "text",
    "tax_year": "smallint",
    "gross_pay": "bigint",
    "total_deductions": "bigint",
    "net_pay": "bigint",
    "employer_taxes": "bigint",
    "total_cost": "bigint",
    "scheduled_send_at": "timestamptz",
    "direct_deposit": "boolean",
    "created_by_kind": "text",
    "created_by": "uuid",
    "created_at": "timestamptz",
    "approved_at": "timestamptz",
}
_ENTRY_TYPES: Final = {
    **TENANT_TYPES,
    "payroll_id": "uuid",
    "period": "daterange",
    "position": "smallint",
    "employee_id": "uuid",
    "payment_method": "text",
    **EARNINGS_TYPES,
    "set_aside_skip": "boolean",
    "set_aside_amount": "bigint",
    "supplemental": "boolean",
    "salary": "jsonb",
}
_INSERT_PAYROLLS: Final = insert_many("payrolls", _PAYROLL_TYPES)
_INSERT_ENTRIES: Final = insert_many("payroll_entries", _ENTRY_TYPES)


class NewPayroll(NamedTuple):
    """A payroll to be written, calculated and in its initial state; its creator by kind and id.

    ``approved_at`` is when a person approved it, if that was earlier than it is written.
    """

    owner: Owner
    order: SettledOrder
    record: PayrollRecord
    status: PayrollStatus
    created_by: tuple[str, UUID | None]
    approved_at: datetime.datetime | None = None


async def insert_payroll(session: AsyncSession, payroll: NewPayroll, now: datetime.datetime) -> UUID:
    """Write a payroll and its request; return its id. Paychecks are posted separately."""
    (payroll_id,) = await insert_payrolls(session, [payroll], now)
    return payroll_id


async def insert_payrolls(
    session: AsyncSession, payrolls: Sequence[NewPayroll], now: datetime.datetime
) -> list[UUID]:
    """Write payrolls and their requests with one statement per table; the ids are returned in the same order."""
    if not payrolls:
        return []
    ids = [uuid7() for _ in payrolls]
    new = list(zip(ids, payrolls, strict=True))
    rows = [_payroll_values(payroll_id, payroll, now) for payroll_id, payroll in new]
    await session.execute(_INSERT_PAYROLLS, columns_of(_PAYROLL_TYPES, rows))
    entries = [entry for payroll_id, payroll in new for entry in _entry_values(payroll_id, payroll)]
    await session.execute(_INSERT_ENTRIES, columns_of(_ENTRY_TYPES, entries))
    return ids


def _payroll_values(payroll_id: UUID, payroll: NewPayroll, now: datetime.datetime) -> tuple[object, ...]:
    order, record = payroll.order, payroll.record
    dates = order.dates
    return (
        *payroll.owner,
        payroll_id,
        payroll.status,
        dates.period_start,
        dates.period_end,
        dates.pay_date,
        dates.asked,
        dates.defaulted,
        order.pay_frequency,
        order.notes,
        order.kind,
        record.rulebook_version,
        record.tax_year,
        *record.totals,
        dates.send_at,
        order.direct_deposit,
        *payroll.created_by,
        now,
        payroll.approved_at,
    )


def _entry_values(payroll_id: UUID, payroll: NewPayroll) -> list[tuple[object, ...]]:
    order = payroll.order
    return [
        (
            *payroll.owner,
            payroll_id,
            f"[{order.dates.period_start},{order.dates.period_end}]",
            position,
            entry.employee_id,
            entry.payment_method,
            *paycheck.earnings,
            entry.set_aside_skip,
            entry.set_aside_wish,
            entry.supplemental,
            None if paycheck.salary is None else json.dumps(paycheck.salary.to_json()),
        )
        for position, (entry, paycheck) in enumerate(
            zip(order.entries, payroll.record.paychecks, strict=True)
        )
    ]


async def save_estimate(session: AsyncSession, payroll_id: UUID, estimate: bytes) -> None:
    """Store a scheduled payroll's expected result: the JSON of its response."""
    await save_estimates(session, {payroll_id: estimate})


async def save_estimates(session: AsyncSession, estimates: Mapping[UUID, bytes]) -> None:
    """Store the expected results of scheduled payrolls, each by its id."""
    texts = [estimate.decode() for estimate in estimates.values()]
    await session.execute(_INSERT_ESTIMATES, {"ids": list(estimates), "estimates": quoted_array(texts)})


async def read_payroll(session: AsyncSession, payroll_id: UUID) -> StoredPayroll | None:
    """Return a payroll of the transaction's tenant with everything in it, or None."""
    payroll = await session.get(Payroll, payroll_id, populate_existing=True)
    if payroll is None:
        return None
    estimate = await session.scalar(_ESTIMATE, {"id": payroll_id})
    return StoredPayroll(
        id=payroll.id,
        employer_id=payroll.employer_id,
        status=payroll.status,
        dates=PayDates(
            payroll.period_start,
            payroll.period_end,
            payroll.pay_date,
            payroll.pay_date_defaulted,
            payroll.scheduled_send_at,
            payroll.pay_date_asked,
        ),
        pay_frequency=payroll.pay_frequency,
        notes=payroll.notes,
        kind=payroll.kind,
        rulebook_version=payroll.rulebook_version,
        tax_year=payroll.tax_year,
        totals=totals_of(payroll),
        created_at=payroll.created_at,
        paychecks=tuple(posted.paycheck for posted in await read_paychecks(session, payroll_id)),
        estimate=None if estimate is None else Estimate.parse(estimate),
        history=await history_of(session, payroll_id),
        failure=payroll.failure,
    )


def totals_of(payroll: Payroll) -> PayrollTotals:
    """Return the sums of a payroll."""
    return PayrollTotals(
        payroll.gross_pay,
        payroll.total_deductions,
        payroll.net_pay,
        payroll.employer_taxes,
        payroll.total_cost,
    )
