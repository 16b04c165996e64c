"""Reminders of what a household must do: two weeks and three days before it is due, each once.

Everything to report on one day goes into one email. A household is checked only when there is something to report,
and once a week for what is new: its calendar is calculated from its books, which takes some milliseconds. The day up
to which it was checked is stored in the transaction that queues the email.
"""

import datetime
from collections.abc import Sequence
from functools import partial
from typing import Final
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import BUSINESS_TIME, Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.service import items_of
from hearthpay.employers.models import Employer
from hearthpay.employers.reminder_schedule import (
    claim_reminder_checks,
    count_reminder_checks,
    record_reminder_check,
)
from hearthpay.languages.catalogue import day_in, mark, money_in
from hearthpay.mail.letter import letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import Notice, NotificationSettings, queue_notice
from hearthpay.payroll.payday.notices import MUTED_BY
from hearthpay.people.recipients import NoticeReader, addressed, readers_of_households
from hearthpay.security.key_ring import KeyRing
from hearthpay.taxes.money import from_cents

DAYS_AHEAD: Final = (14, 3)
"""How many days before its due date an item is announced."""
LOOK_AGAIN: Final = datetime.timedelta(days=7)
"""The interval after which a household is checked even if nothing was to be announced: its books have changed."""
CHUNK: Final = 25
"""Households checked in one transaction."""

_DAY: Final = datetime.timedelta(days=1)
_FROM_HOUR: Final = 8
"""Reminders are sent from eight in the morning, Eastern time."""

_log = structlog.get_logger("hearthpay.duties")


async def remind(
    database: Database,
    ring: KeyRing,
    clock: Clock,
    notifications: NotificationSettings,
    *,
    chunk: int = CHUNK,
) -> tuple[int, int]:
    """Check up to `chunk` households due today and queue their reminders; return how many, and how many are left.

    `database` acts as the worker's role. A household whose check fails doesn't delay any other, and is checked again
    in a week. Raises DatabaseUnavailable.
    """
    now = clock.now()
    here = now.astimezone(BUSINESS_TIME)
    if here.hour < _FROM_HOUR:
        return 0, 0
    today = here.date()
    async with database.transaction(None) as session:
        taken = await claim_reminder_checks(session, today, chunk)
        readers = await readers_of_households(session, [look.household for look in taken])
        for look in taken:
            again = today + LOOK_AGAIN
            try:
                async with session.begin_nested():
                    notices, again = await _notices_of_household(
                        session, look.household, look.seen_on, today, readers.get(look.household, ())
                    )
                    for notice in notices:
                        await queue_notice(session, ring, notifications, now, notice)
            except DatabaseUnavailable:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
                _log.error("a household was not reminded", employer_id=str(look.household), exc_info=error)
            await record_reminder_check(session, look.household, today, again)
        left = await count_reminder_checks(session, today) if len(taken) == chunk else 0
    return len(taken), left


async def _notices_of_household(
    session: AsyncSession,
    household: UUID,
    last_seen: datetime.date | None,
    today: datetime.date,
    readers: Sequence[NoticeReader],
) -> tuple[list[Notice], datetime.date]:
    """Return the household's reminders for today, and when to check it again."""
    employer = await session.get_one(Employer, household)
    until = today + max(DAYS_AHEAD) * _DAY + LOOK_AGAIN
    items = [item for item in await items_of(session, employer, today, today, until) if item.done_on is None]
    due = due_reminders(items, last_seen or today - _DAY, today)
    if not due:
        return [], next_check(items, today)
    notice = Notice(
        f"duties_due:{employer.id}:{today}",
        "duties_due",
        "household",
        None,
        employer.organization_id,
        employer.id,
        employer.sandbox,
    )
    write = partial(_write, employer.first_name, due)
    return addressed(notice, readers, write, "duties"), next_check(items, today)


def due_reminders(
    items: Sequence[CalendarItem], last_seen: datetime.date, today: datetime.date
) -> tuple[CalendarItem, ...]:
    """Return what to announce today: items that have come within one of DAYS_AHEAD of their due date since `seen`."""
    return tuple(
        item
        for item in items
        if any(last_seen < item.due - days * _DAY <= today <= item.due for days in DAYS_AHEAD)
    )


def next_check(items: Sequence[CalendarItem], today: datetime.date) -> datetime.date:
    """Return the next day with something to announce, or LOOK_AGAIN from today if that is earlier."""
    ahead = (item.due - days * _DAY for item in items for days in DAYS_AHEAD)
    return min([*(day for day in ahead if day > today), today + LOOK_AGAIN])


def duties_due_mail(to: NoticeReader, first_name: str, items: Sequence[CalendarItem]) -> Mail:
    """The mail about what is due, and when; legal terms are in English, and forms have their official names."""
    say, language = to.say, to.language
    lines = [say(mark("This is due soon:")), *(_line(to, item) for item in items)]
    lines.append(say(mark("See details and mark items as done in your Hearthpay calendar.")))
    first = day_in(language, min(item.due for item in items))
    subject = say(mark("Due by {day}: {what}"), day=first, what=_what(to, items[0]))
    if len(items) > 1:
        subject = say(mark("{number} deadlines, the first on {day}"), number=len(items), day=first)
    return letter(
        to.address, language, subject, first_name, tuple(lines), place=to.place, closing=(say(MUTED_BY),)
    )


def _line(to: NoticeReader, item: CalendarItem) -> str:
    say, language = to.say, to.language
    day = day_in(language, item.due)
    return f"{say(mark('By {day}: {what}.'), day=day, what=say(item.what))}{_amount(to, item)}"


def _amount(to: NoticeReader, item: CalendarItem) -> str:
    """Return what is left to pay, and of how much where a part was paid."""
    if not item.amount:
        return ""
    amount = money_in(to.language, from_cents(item.amount))
    if not item.paid or item.open is None:
        return f" {amount}."
    if item.open <= 0:
        return ""
    left = money_in(to.language, from_cents(item.open))
    return " " + to.say(mark("{left} of {amount} left to pay."), left=left, amount=amount)


def _what(to: NoticeReader, item: CalendarItem) -> str:
    return to.say(item.what)


def _write(first_name: str, items: Sequence[CalendarItem], reader: NoticeReader) -> Mail:
    return duties_due_mail(reader, first_name, items)
