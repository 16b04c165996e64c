"""What a household recorded as paid to tax agencies and as filed with them, as its calendar counts it."""

from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import FILINGS, TAX_PAYMENTS
from hearthpay.duties.household import RecordedFiling, RecordedPayment

_PAYMENTS: Final = text(
    "SELECT p.id, p.jurisdiction, p.account, p.period, p.period_start, p.period_end, p.amount, p.paid_on, p.agency "
    f"FROM {TAX_PAYMENTS} p WHERE p.employer_id = :employer AND p.reverses IS NULL "
    f"AND NOT EXISTS (SELECT FROM {TAX_PAYMENTS} r WHERE r.reverses = p.id) ORDER BY p.id"
)
_FILINGS: Final = text(
    f"SELECT f.item_key, f.filed_on, CAST(f.figures ->> 'total' AS bigint) FROM {FILINGS} f "
    "WHERE f.employer_id = :employer AND f.reverses IS NULL "
    f"AND NOT EXISTS (SELECT FROM {FILINGS} r WHERE r.reverses = f.id) ORDER BY f.id"
)


async def read_payments(session: AsyncSession, employer_id: UUID) -> tuple[RecordedPayment, ...]:
    """Return the payments of a household that were not reversed, in the order in which they were recorded."""
    rows = await session.execute(_PAYMENTS, {"employer": employer_id})
    return tuple(RecordedPayment(*row) for row in rows)


async def read_filings(session: AsyncSession, employer_id: UUID) -> dict[str, RecordedFiling]:
    """Return what is filed by the key of its item; of several filings of an item, the last that was recorded."""
    rows = await session.execute(_FILINGS, {"employer": employer_id})
    return {key: RecordedFiling(filed_on, total) for key, filed_on, total in rows}
