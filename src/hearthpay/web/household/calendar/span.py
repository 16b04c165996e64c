"""The days that the calendar covers: a year before today and a year after it."""

import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.service import CalendarQuery, read_calendar
from hearthpay.web.household.context import HouseholdContext

_BACK: Final = datetime.timedelta(days=365)
_FREE: Final = frozenset({"election", "notice"})
"""What is optional, or leaves nothing to mark: it is never overdue."""


async def items_at(at: HouseholdContext, session: AsyncSession) -> tuple[CalendarItem, ...]:
    """Return the household's items from a year ago to a year from now."""
    today = at.clock.today()
    requested = CalendarQuery(at.id, today - _BACK, today + _BACK)
    return (await read_calendar(session, at.actor, at.clock, requested)).items


def is_overdue(item: CalendarItem, today: datetime.date) -> bool:
    """Return whether the day has passed without the item being marked as done; for a payment, only if one was due."""
    nothing_to_pay = item.kind == "payment" and item.amount is not None and item.amount <= 0
    return item.done_on is None and item.due < today and item.kind not in _FREE and not nothing_to_pay
