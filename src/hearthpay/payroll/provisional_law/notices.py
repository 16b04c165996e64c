"""Notifies operators of pay dates under rules that aren't final: by mail and in the log, at a limited rate."""

import datetime
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import Clock
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import fetch_one, query
from hearthpay.languages.catalogue import Say, mark, month_in
from hearthpay.mail.letter import letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import Notice, NotificationSettings, queue_notice
from hearthpay.payroll.provisional_law.pay_dates import Pieces, ProvisionalRules, read_provisional_rules
from hearthpay.people.recipients import NoticeReader, addressed, readers_of_installation
from hearthpay.security.key_ring import KeyRing

TELL_AGAIN: Final = datetime.timedelta(days=7)
"""How often operators are notified while the same lines are awaited."""

LOG_AGAIN: Final = datetime.timedelta(days=1)

UPDATE_COMMAND: Final = "pip install --upgrade hearthpay"
LIST_COMMAND: Final = "hearthpay rules"

_KEPT: Final = datetime.timedelta(days=400)
_MY_TURN: Final = text("SELECT pg_try_advisory_xact_lock(hashtextextended('hearthpay.awaited_rules', 0))")


class _NoteRow(NamedTuple):
    to_tell: bool
    to_log: bool


_NOTE: Final = query(
    _NoteRow,
    "INSERT INTO awaited_rules AS a (key, since, seen_at, told_at, logged_at) VALUES (:key, :now, :now, :now, :now) "
    "ON CONFLICT (key) DO UPDATE SET seen_at = :now, "
    "told_at = CASE WHEN a.told_at <= :told_before THEN :now ELSE a.told_at END, "
    "logged_at = CASE WHEN a.logged_at <= :logged_before OR a.told_at <= :told_before THEN :now ELSE a.logged_at END "
    "RETURNING told_at = :now AS to_tell, logged_at = :now AS to_log",
)
_FORGET: Final = text("DELETE FROM awaited_rules WHERE seen_at < :before")
_log = structlog.get_logger("hearthpay.payroll")


async def notify_of_provisional_rules(
    database: Database, ring: KeyRing, clock: Clock, notifications: NotificationSettings
) -> int:
    """Notify operators by mail and log, if it is time; return how many notices were queued.

    The database is the worker's. Does nothing while another worker is doing this. Raises DatabaseUnavailable.
    """
    now = clock.now()
    async with database.transaction(None) as session:
        if not await session.scalar(_MY_TURN):
            return 0
        awaited = await read_provisional_rules(session, clock.today())
        if not awaited:
            return 0
        noted = {
            "key": awaited.key,
            "now": now,
            "told_before": now - TELL_AGAIN,
            "logged_before": now - LOG_AGAIN,
        }
        row = await fetch_one(session, _NOTE, noted)
        await session.execute(_FORGET, {"before": now - _KEPT})
        notices = await _notices(session, notifications, awaited, now) if row.to_tell else []
        for notice in notices:
            await queue_notice(session, ring, notifications, now, notice)
    if row.to_log:
        _log.warning("pay dates under rules that are not final", **_facts(awaited))
    return len(notices)


async def _notices(
    session: AsyncSession,
    notifications: NotificationSettings,
    awaited: ProvisionalRules,
    now: datetime.datetime,
) -> list[Notice]:
    readers = await readers_of_installation(session, notifications.operator)
    notice = Notice(f"awaited_rules:{awaited.key}:{now.isoformat()}", "awaited_rules", "operator", None)
    return addressed(notice, readers, lambda reader: provisional_rules_mail(reader, awaited))


def provisional_rules_mail(to: NoticeReader, awaited: ProvisionalRules) -> Mail:
    """Return the mail to an operator: how many pay dates, the figures used to pay them, and what to do."""
    say = to.say
    sentences = [
        headline(say, awaited),
        *standing(say, awaited),
        *(
            say(
                mark("{jurisdiction} {year}: {pieces}. Lines: {lines}. Expected: {months}."),
                jurisdiction=each.jurisdiction,
                year=each.tax_year,
                pieces=pieces_in(say, each.pieces),
                lines=", ".join(each.lines),
                months=", ".join(_month(to.language, month) for month in each.months),
            )
            if each.lines
            else say(
                mark("{jurisdiction} {year}: {pieces}. There are no rules for this year yet."),
                jurisdiction=each.jurisdiction,
                year=each.tax_year,
                pieces=pieces_in(say, each.pieces),
            )
            for each in awaited.jurisdictions
        ),
        what_to_do(say),
    ]
    subject = say(mark("Update Hearthpay: pay dates under rules that are not final"))
    return letter(to.address, to.language, subject, "", tuple(sentences))


def headline(say: Say, awaited: ProvisionalRules) -> str:
    """Return the opening sentence, which all interfaces share."""
    return say(
        mark("{enrollments} and {payrolls} have pay dates under rules that are not final."),
        **_counted(say, awaited.all),
    )


def standing(say: Say, awaited: ProvisionalRules) -> list[str]:
    """Return how many are paid by substitute figures, and how many aren't paid until rules are installed."""
    parts = []
    if awaited.provisional:
        pieces = pieces_in(say, awaited.provisional)
        parts.append(
            say(
                mark("Paid on time with substitute figures until the year's own are published: {pieces}."),
                pieces=pieces,
            )
        )
    if awaited.held:
        pieces = pieces_in(say, awaited.held)
        parts.append(say(mark("Not paid until the missing rules are installed: {pieces}."), pieces=pieces))
    return parts


def what_to_do(say: Say) -> str:
    """Return what the operator should do."""
    return say(
        mark(
            "What to do: update the package ({update}) and restart the service. Then run {list}, which shows "
            "what is still awaited."
        ),
        update=UPDATE_COMMAND,
        list=LIST_COMMAND,
    )


def pieces_in(say: Say, pieces: Pieces) -> str:
    """Return both numbers, such as "3 enrollments and 1 scheduled payroll"."""
    return say(mark("{enrollments} and {payrolls}"), **_counted(say, pieces))


def _counted(say: Say, pieces: Pieces) -> dict[str, str]:
    one = pieces.enrollments == 1
    enrollments = say(
        mark("1 enrollment") if one else mark("{number} enrollments"), number=pieces.enrollments
    )
    one = pieces.payrolls == 1
    payrolls = say(
        mark("1 scheduled payroll") if one else mark("{number} scheduled payrolls"), number=pieces.payrolls
    )
    return {"enrollments": enrollments, "payrolls": payrolls}


def _month(language: str, month: str) -> str:
    return month_in(language, datetime.date.fromisoformat(f"{month}-01"))


def _facts(awaited: ProvisionalRules) -> Mapping[str, Any]:
    return {
        "enrollments": awaited.all.enrollments,
        "payrolls": awaited.all.payrolls,
        "provisional": sum((awaited.provisional.enrollments, awaited.provisional.payrolls)),
        "held": sum((awaited.held.enrollments, awaited.held.payrolls)),
        "years": list(awaited.years),
        "jurisdictions": [each.jurisdiction for each in awaited.jurisdictions],
        "months": sorted({month for each in awaited.jurisdictions for month in each.months}),
        "what_to_do": UPDATE_COMMAND,
    }
