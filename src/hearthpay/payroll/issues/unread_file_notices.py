"""Tells the operator of each file of the bank that isn't read: when it is found, and again each business day."""

import datetime
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.calendar import banking_day_on_or_before
from hearthpay.banking.entries import business_date
from hearthpay.banking.unread_files import UnreadFile, unread_files
from hearthpay.mail.notices import Notice, NotificationSettings, queue_notice
from hearthpay.payroll.issues.notice_mail import operator_notice
from hearthpay.security.key_ring import KeyRing
from hearthpay.taxes.money import from_cents

_MOST_REASONS: Final = 20
"""The most records that one mail names."""

_log: Final = structlog.get_logger("hearthpay.bank")


async def notify_of_unread_files(
    session: AsyncSession, ring: KeyRing, notifications: NotificationSettings, now: datetime.datetime
) -> int:
    """Notify the operator of each open file once on each business day, and log it; return how many notices are new."""
    day = banking_day_on_or_before(business_date(now))
    told = 0
    for file in await unread_files(session):
        mail = (
            None
            if notifications.operator is None
            else operator_notice(notifications.operator, "a file of the bank is not read", _lines(file))
        )
        key = f"file_unread:{file.id}:{day}"
        if await queue_notice(
            session, ring, notifications, now, Notice(key, "file_unread", "operator", mail)
        ):
            told += 1
            _log.error(
                "bank_file.unread",
                file_id=str(file.id),
                name=file.name,
                since=file.received_at.isoformat(),
                reasons=file.reasons[:_MOST_REASONS],
                payments=file.payments,
            )
    return told


def _lines(file: UnreadFile) -> list[str]:
    held = (
        f"It holds {file.payments} payments of {file.households} households, {from_cents(file.amount):,} dollars: "
        "no wages are paid from them."
        if file.payments
        else "It holds no payment now."
    )
    return [
        f"The file {file.name}, first seen on {file.received_at:%Y-%m-%d %H:%M} UTC, is not read:",
        *(f"{reason}." for reason in file.reasons[:_MOST_REASONS]),
        held,
        f"Ask the bank for the returns in it. Then set it aside: hearthpay bank set-aside {file.id} --reason …",
    ]
