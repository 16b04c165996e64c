"""Reminders of what a household has to do: two weeks and three days before it is due, each once.

They say what the list of to-dos says, so one that is done isn't announced. A payroll to run is announced three days
ahead only, an API key or a connected app in use a week and three days before it expires. Everything to report on one
day goes into one email, with what is late. A household is checked only when there is something to report, and once a
week for what is new: its calendar is calculated from its books, which takes some milliseconds. The day up to which it
was checked is stored in the transaction that queues the email.
"""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import BUSINESS_TIME, Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.turns import Turns
from hearthpay.employers.models import Employer
from hearthpay.employers.reminder_schedule import (
    claim_reminder_checks,
    count_reminder_checks,
    record_reminder_check,
)
from hearthpay.languages.catalogue import day_in, mark
from hearthpay.mail.letter import letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import Notice, NotificationSettings, queue_notice
from hearthpay.mail.wording import name_in_mail
from hearthpay.payroll.payday.notices import MUTED_BY
from hearthpay.people.recipients import NoticeReader, addressed, readers_of_households
from hearthpay.security.key_ring import KeyRing
from hearthpay.todos.service import read_agenda
from hearthpay.todos.to_do import ToDo
from hearthpay.todos.wording import action_text, action_with_amount_text, days_late_text, title_text

DAYS_AHEAD: Final = (14, 3)
"""How many days before its due date an item is announced."""
ACCESS_DAYS_AHEAD: Final = (7, 3)
"""The same for API keys and connected apps, which are on the list for the last two weeks only."""
LOOK_AGAIN: Final = datetime.timedelta(days=7)
"""The interval after which a household is checked even if nothing was to be announced: its books have changed."""
CHUNK: Final = 25
"""Households checked in one transaction."""

_DAY: Final = datetime.timedelta(days=1)
_FROM_HOUR: Final = 8
"""Reminders are sent from eight in the morning, Eastern time."""

_log = structlog.get_logger("hearthpay.todos")


async def remind(
    database: Database,
    ring: KeyRing,
    clock: Clock,
    notifications: NotificationSettings,
    *,
    chunk: int = CHUNK,
    turns: Turns[UUID] | None = None,
) -> tuple[int, int]:
    """Check up to `chunk` households due today and queue their reminders; return how many, and how many are left.

    Organizations take turns between calls with the same `turns`.

    `database` acts as the worker's role. A household whose check fails doesn't delay any other, and is checked again
    in a week. Raises DatabaseUnavailable.
    """
    now = clock.now()
    here = now.astimezone(BUSINESS_TIME)
    if here.hour < _FROM_HOUR:
        return 0, 0
    today = here.date()
    async with database.transaction(None) as session:
        taken = await claim_reminder_checks(session, today, chunk, turns or Turns())
        readers = await readers_of_households(session, [look.household for look in taken])
        for look in taken:
            again = today + LOOK_AGAIN
            try:
                async with session.begin_nested():
                    notices, again = await _notices_of_household(
                        session, look.household, look.seen_on, now, today, readers.get(look.household, ())
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
    now: datetime.datetime,
    today: datetime.date,
    readers: Sequence[NoticeReader],
) -> tuple[list[Notice], datetime.date]:
    """Return the household's reminders for today, and when to check it again."""
    employer = await session.get_one(Employer, household)
    to_dos = (await read_agenda(session, employer, now, today)).to_dos
    due = due_reminders(to_dos, last_seen or today - _DAY, today)
    if not due:
        return [], next_check(to_dos, today)
    notice = Notice(
        f"duties_due:{employer.id}:{today}",
        "duties_due",
        "household",
        None,
        employer.organization_id,
        employer.id,
        employer.sandbox,
    )
    late = tuple(each for each in to_dos if each.overdue and each.payment is None)
    payments = tuple(each for each in to_dos if each.payment is not None)
    write = partial(_write, employer.first_name, due, late, payments, today)
    return addressed(notice, readers, write, "duties"), next_check(to_dos, today)


def due_reminders(to_dos: Sequence[ToDo], last_seen: datetime.date, today: datetime.date) -> tuple[ToDo, ...]:
    """Return what to announce today: what has come within one of its days ahead of its due date since `last_seen`."""
    return tuple(
        each
        for each in to_dos
        if each.due_on is not None
        and any(last_seen < each.due_on - days * _DAY <= today <= each.due_on for days in _days_ahead(each))
    )


def next_check(to_dos: Sequence[ToDo], today: datetime.date) -> datetime.date:
    """Return the next day with something to announce, or LOOK_AGAIN from today if that is earlier."""
    ahead = (
        each.due_on - days * _DAY for each in to_dos if each.due_on is not None for days in _days_ahead(each)
    )
    return min([*(day for day in ahead if day > today), today + LOOK_AGAIN])


def _days_ahead(to_do: ToDo) -> tuple[int, ...]:
    """Return how many days ahead a to-do is announced; other notices announce the rest."""
    if to_do.kind == "run_payroll":
        return (min(DAYS_AHEAD),)
    if to_do.subject_type in ("api_key", "agent_grant"):
        return ACCESS_DAYS_AHEAD
    return DAYS_AHEAD if to_do.subject_type == "calendar_item" else ()


def duties_due_mail(
    to: NoticeReader,
    first_name: str,
    due: Sequence[ToDo],
    late: Sequence[ToDo],
    today: datetime.date,
    payments: Sequence[ToDo] = (),
) -> Mail:
    """The mail about what is due, and when, what is late, and first what is open about payments.

    Forms have their official names.
    """
    say, language = to.say, to.language
    lines = [f"{title_text(_safe(each), language, today)}." for each in payments]
    lines += [say(mark("This is due soon:")), *(_due_line(to, each, today) for each in due)]
    if late:
        lines += [say(mark("This is late:")), *(_late_line(to, each, today) for each in late)]
    lines.append(say(mark("See details and mark items as done in your Hearthpay calendar.")))
    first = day_in(language, min(each.due_on for each in due if each.due_on is not None))
    subject = say(mark("Due by {day}: {what}"), day=first, what=_action(to, due[0], today))
    if len(due) > 1:
        subject = say(mark("{number} deadlines, the first on {day}"), number=len(due), day=first)
    return letter(
        to.address,
        language,
        subject,
        to.greeted(first_name),
        tuple(lines),
        place=to.place,
        closing=(say(MUTED_BY),),
    )


def _due_line(to: NoticeReader, to_do: ToDo, today: datetime.date) -> str:
    day = "" if to_do.due_on is None else day_in(to.language, to_do.due_on)
    return to.say(mark("By {day}: {what}."), day=day, what=_what(to, to_do, today))


def _late_line(to: NoticeReader, to_do: ToDo, today: datetime.date) -> str:
    return f"{_what(to, to_do, today)}: {days_late_text(to_do, to.language, today)}."


def _what(to: NoticeReader, to_do: ToDo, today: datetime.date) -> str:
    """Return what to do, with what is left to pay."""
    return action_with_amount_text(_safe(to_do), to.language, today)


def _action(to: NoticeReader, to_do: ToDo, today: datetime.date) -> str:
    """Return what to do."""
    return action_text(_safe(to_do), to.language, today)


def _safe(to_do: ToDo) -> ToDo:
    """Return a to-do whose names, which people or an app chose, are safe for a mail."""
    if to_do.payment is not None:
        names = tuple(name_in_mail(each) for each in to_do.payment.names)
        return replace(to_do, payment=replace(to_do.payment, names=names))
    return to_do if to_do.name is None else replace(to_do, name=name_in_mail(to_do.name))


def _write(
    first_name: str,
    due: Sequence[ToDo],
    late: Sequence[ToDo],
    payments: Sequence[ToDo],
    today: datetime.date,
    reader: NoticeReader,
) -> Mail:
    return duties_due_mail(reader, first_name, due, late, today, payments)
