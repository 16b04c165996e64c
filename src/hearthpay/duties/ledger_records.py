"""What a household recorded as paid to tax agencies, as its calendar counts it."""

import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import TAX_PAYMENTS
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.duties.household import RecordedPayment


class _PaymentRow(NamedTuple):
    id: UUID
    jurisdiction: str
    account: str
    period: str
    period_start: datetime.date
    period_end: datetime.date
    amount: int
    paid_on: datetime.date
    agency: str


_PAYMENTS: Final = query(
    _PaymentRow,
    "SELECT p.id, p.jurisdiction, p.account, p.period, p.period_start, p.period_end, p.amount, p.paid_on, p.agency "
    "FROM {payments} p WHERE p.employer_id = :employer AND p.reverses IS NULL "
    "AND NOT EXISTS (SELECT FROM {payments} r WHERE r.reverses = p.id) ORDER BY p.id",
    payments=TAX_PAYMENTS,
)


async def read_payments(session: AsyncSession, employer_id: UUID) -> tuple[RecordedPayment, ...]:
    """Return the payments of a household that were not reversed, in the order in which they were recorded."""
    rows = await fetch_all(session, _PAYMENTS, {"employer": employer_id})
    return tuple(RecordedPayment(*row) for row in rows)
