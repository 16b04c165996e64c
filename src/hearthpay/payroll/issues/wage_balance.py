"""What a household owes for wages that were sent before its debit was returned, from the bank's entries."""

import datetime
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import BANK_ENTRIES
from hearthpay.database.typed_rows import fetch_one, query


class WageBalance(NamedTuple):
    """What the household owes for a payroll and has paid by other means, in cents, and when a debit last came back."""

    owed: Decimal
    received: Decimal
    returned_on: datetime.date | None

    @property
    def still_owed(self) -> int:
        """The cents that are still owed; not positive if nothing is."""
        return int(self.owed) - int(self.received)


_BALANCE: Final = query(
    WageBalance,
    """
    SELECT coalesce(sum(b.amount) FILTER (WHERE b.kind <> 'debit' AND b.status IN ('pending', 'sent', 'settled')), 0)
           + coalesce((SELECT sum(c.set_aside) FROM paychecks c
                        WHERE c.payroll_id = :id AND c.payment_method = 'direct_deposit' AND c.reverses IS NULL
                          AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id)), 0)
           - coalesce(sum(b.amount) FILTER (WHERE b.kind = 'debit' AND b.status IN ('pending', 'sent', 'settled')), 0)
               AS owed,
           coalesce((SELECT sum(s.amount) FROM wage_settlements s WHERE s.payroll_id = :id), 0) AS received,
           max((b.updated_at AT TIME ZONE 'America/New_York')::date)
               FILTER (WHERE b.kind = 'debit' AND b.status = 'returned') AS returned_on
      FROM {bank_entries} b WHERE b.payroll_id = :id
""",
    bank_entries=BANK_ENTRIES,
)


async def read_wage_balance(session: AsyncSession, payroll_id: UUID) -> WageBalance:
    """Return what the household owes for the payroll; the session sees it."""
    return await fetch_one(session, _BALANCE, {"id": payroll_id})
