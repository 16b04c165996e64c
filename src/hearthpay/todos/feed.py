"""What a household's calendar feed has: its duties, the payrolls to run, and the checks to hand over."""

import datetime
from typing import Final

from sqlalchemy import select

from hearthpay.clock import BUSINESS_TIME, Clock
from hearthpay.database.household_clocks import clock_at
from hearthpay.database.session import Database
from hearthpay.duties.feed import OpenLink
from hearthpay.duties.ical import DatedEntry, feed_of
from hearthpay.duties.models import CalendarLink
from hearthpay.duties.service import items_of
from hearthpay.employers.models import Employer
from hearthpay.taxes.money import from_cents
from hearthpay.todos.service import read_other_to_dos
from hearthpay.todos.to_do import ToDo
from hearthpay.todos.wording import action_text

_DAYS_BACK: Final = datetime.timedelta(days=183)
_DAYS_AHEAD: Final = datetime.timedelta(days=400)
"""How many days ahead a feed extends: past due items stay visible for half a year."""


async def read_feed(database: Database, clock: Clock, link: OpenLink) -> bytes | None:
    """Return the feed of a link; None if the link or its household has been removed since.

    Its timestamp is the beginning of the day, so that it stays the same to the byte until something changes.
    """
    async with database.transaction(link.tenant) as session:
        employer = await session.scalar(
            select(Employer)
            .join(CalendarLink, CalendarLink.employer_id == Employer.id)
            .where(CalendarLink.id == link.id, CalendarLink.revoked_at.is_(None))
        )
        if employer is None:
            return None
        here = await clock_at(session, employer.id, clock)
        today = here.today()
        items = await items_of(session, employer, today, today - _DAYS_BACK, today + _DAYS_AHEAD)
        others = await read_other_to_dos(session, employer, here.now(), today, coming=True)
    began = datetime.datetime.combine(today, datetime.time.min, BUSINESS_TIME)
    return feed_of(
        employer.id, items, began, [_entry(each, each.due_on, today) for each in others if each.due_on]
    )


def _entry(to_do: ToDo, day: datetime.date, today: datetime.date) -> DatedEntry:
    about = [to_do.name] if to_do.name is not None else []
    if to_do.amount is not None:
        about.append(f"Amount: ${from_cents(to_do.amount):,.2f}")
    return DatedEntry(to_do.id, day, action_text(to_do, "en", today), "\n".join(about))
