"""The payrolls in the database: each with its request and its expected result; paychecks are stored separately."""

import datetime
import json
from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.database.audit import ActorKind
from hearthpay.database.statements import column_list, statement
from hearthpay.payroll.ledger.columns import arrays, columns_of
from hearthpay.payroll.ledger.earnings import EARNINGS_TYPES
from hearthpay.payroll.ledger.estimates import Estimate
from hearthpay.payroll.ledger.paychecks import read_paychecks
from hearthpay.payroll.ledger.rows import TENANT_TYPES, Owner, PayrollRecord, PayrollTotals, StoredPayroll
from hearthpay.payroll.lifecycle import Cause, PayrollStatus, history_of, require_initial
from hearthpay.payroll.models import Payroll
from hearthpay.payroll.orders import SettledOrder
from hearthpay.payroll.orders.pay_dates import PayDates

_ENTRY: Final = "entry_"
_EXPECTED: Final = "expected_"
"""What the parameters of entries and estimates begin with."""

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
    "metadata": "jsonb",
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
    "preview_token_hash": "bytea",
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
    "salary": "jsonb",
}
_ESTIMATE_TYPES: Final = {"id": "uuid", "estimate": "jsonb"}
_INSERT: Final = statement(
    "WITH made AS (INSERT INTO payrolls ({payroll_columns}) SELECT r.* FROM unnest({payrolls}) AS r "
    "RETURNING id, organization_id, employer_id, sandbox, status), "
    "requested AS (INSERT INTO payroll_entries ({entry_columns}) SELECT r.* FROM unnest({entries}) AS r), "
    "expected AS (INSERT INTO payroll_estimates (organization_id, employer_id, sandbox, payroll_id, estimate) "
    "SELECT m.organization_id, m.employer_id, m.sandbox, m.id, e.estimate "
    "FROM unnest({estimates}) AS e(id, estimate) JOIN made m ON m.id = e.id) "
    "INSERT INTO payroll_transitions (id, organization_id, employer_id, sandbox, payroll_id, to_status, actor_kind, "
    "actor_id, at) SELECT new_id(), m.organization_id, m.employer_id, m.sandbox, m.id, m.status, "
    "CAST(:actor_kind AS text), CAST(:actor_id AS uuid), CAST(:at AS timestamptz) FROM made m ORDER BY m.id",
    payroll_columns=column_list(_PAYROLL_TYPES),
    payrolls=arrays(_PAYROLL_TYPES),
    entry_columns=column_list(_ENTRY_TYPES),
    entries=arrays(_ENTRY_TYPES, _ENTRY),
    estimates=arrays(_ESTIMATE_TYPES, _EXPECTED),
)


class NewPayroll(NamedTuple):
    """A payroll to be written, calculated and in its initial state; its creator by kind and id.

    ``approved_at`` is when a person approved it, if that was earlier than it is written. ``estimate`` is a scheduled
    payroll's expected result: the JSON of its response. ``preview_token_hash`` is that of the preview which it was run
    from (`ledger.preview_tokens.hash_of`).
    """

    owner: Owner
    order: SettledOrder
    record: PayrollRecord
    status: PayrollStatus
    created_by: tuple[ActorKind, UUID | None]
    approved_at: datetime.datetime | None = None
    estimate: bytes | None = None
    preview_token_hash: bytes | None = None


async def insert_payroll(session: AsyncSession, payroll: NewPayroll, now: datetime.datetime) -> UUID:
    """Write a payroll as `insert_payrolls` does; return its id."""
    (payroll_id,) = await insert_payrolls(session, [payroll], now)
    return payroll_id


async def insert_payrolls(
    session: AsyncSession, payrolls: Sequence[NewPayroll], now: datetime.datetime
) -> list[UUID]:
    """Write payrolls of one creator with their requests, estimates and first states, with one statement.

    The ids are returned in the same order. Paychecks are posted separately. Raises ForbiddenTransitionError for a
    state that isn't initial for such a creator.
    """
    if not payrolls:
        return []
    ((actor_kind, actor_id),) = {payroll.created_by for payroll in payrolls}
    require_initial({payroll.status for payroll in payrolls}, Cause(actor_kind, now, actor_id))
    ids = [uuid7() for _ in payrolls]
    new = list(zip(ids, payrolls, strict=True))
    entries = [entry for payroll_id, payroll in new for entry in _entry_values(payroll_id, payroll)]
    estimates = [
        (payroll_id, payroll.estimate.decode()) for payroll_id, payroll in new if payroll.estimate is not None
    ]
    await session.execute(
        _INSERT,
        {"actor_kind": actor_kind, "actor_id": actor_id, "at": now}
        | columns_of(
            _PAYROLL_TYPES, [_payroll_values(payroll_id, payroll, now) for payroll_id, payroll in new]
        )
        | columns_of(_ENTRY_TYPES, entries, _ENTRY)
        | columns_of(_ESTIMATE_TYPES, estimates, _EXPECTED),
    )
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
        json.dumps(dict(order.metadata)),
        record.rulebook_version,
        record.tax_year,
        *record.totals,
        dates.send_at,
        order.direct_deposit,
        *payroll.created_by,
        now,
        payroll.approved_at,
        None if payroll.preview_token_hash is None else rf"\x{payroll.preview_token_hash.hex()}",
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
            None if paycheck.salary is None else json.dumps(paycheck.salary.to_json()),
        )
        for position, (entry, paycheck) in enumerate(
            zip(order.entries, payroll.record.paychecks, strict=True)
        )
    ]


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
        metadata=payroll.metadata_,
        rulebook_version=payroll.rulebook_version,
        tax_year=payroll.tax_year,
        totals=totals_of(payroll),
        created_at=payroll.created_at,
        paychecks=tuple(posted.paycheck for posted in await read_paychecks(session, payroll_id)),
        estimate=None if estimate is None else Estimate.parse(estimate),
        history=await history_of(session, payroll_id),
        failure=payroll.failure,
        direct_deposit=payroll.direct_deposit,
        handed_over_at=payroll.handed_over_at,
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
