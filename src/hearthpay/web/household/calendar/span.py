"""The days that the calendar covers: since the beginning of last year, to a year after today."""

import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.service import calendar_of_household
from hearthpay.employers.service import find_employer
from hearthpay.filing.service import balances_span
from hearthpay.web.household.context import HouseholdContext

_AHEAD: Final = datetime.timedelta(days=365)


async def items_at(at: HouseholdContext, session: AsyncSession) -> tuple[CalendarItem, ...]:
    """Return the household's items of last year, this year, and up to a year from now."""
    today = at.clock.today()
    employer = await find_employer(session, at.actor, at.id)
    since, until = balances_span(today)[0], today + _AHEAD
    return await calendar_of_household(session, at.actor, at.clock, employer, since, until)
