"""Mail to a person who signs in: it belongs to no household, waits in the outbox, and is sent by the worker.

Mail to one address is counted by its sort, each separately: nothing that strangers request, and nothing that somebody
repeats in another person's account, keeps a warning or a link from its reader.
"""

import datetime
import hashlib
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.database.sealing_keys import key_for_writing
from hearthpay.mail.mailer import Mail
from hearthpay.security.content_seal import mail_place, seal_content
from hearthpay.security.key_ring import KeyRing


@dataclass(frozen=True, slots=True)
class MailSort:
    """Mails to one address that are counted together, over 24 hours.

    Of one subject `at_once` are sent at once. Of those after them only the last is sent, `pause` after the one before
    it, and it replaces any that is still waiting. With `a_day` there are no more than that of all subjects; the rest
    fails.
    """

    name: str
    at_once: int
    pause: datetime.timedelta = datetime.timedelta()
    a_day: int | None = None


LINKS: Final = MailSort("link", 12, a_day=12)
"""Links that strangers may request: forms must not turn us into a relay."""
ASKED_LINKS: Final = MailSort("asked_link", 5, datetime.timedelta(minutes=30))
"""Links that a member of an organization, an employee's invitation or the person themself requests: counted by who
requests them (`about`), so that neither strangers nor another organization use them up.
"""
RESETS: Final = MailSort("reset", 5, datetime.timedelta(minutes=10))
"""Links for a new password: never used up by any requester. After the first few the last is sent within minutes."""
SIGN_IN_LINKS: Final = MailSort("sign_in", 3, datetime.timedelta(hours=1))
"""Links to sign in from a new browser, which strangers may request as well: never used up, and no flood. Each works
longer than the pause, so that one that works is always in the mailbox.
"""
NEWS: Final = MailSort("news", 3, datetime.timedelta(hours=1), a_day=24)
"""What a person may change any number of times, and nobody loses by."""
WARNINGS: Final = MailSort("warning", 5, datetime.timedelta(hours=1))
"""What its reader may need to stop: never used up. If it is repeated, the first few are sent at once, and the last
within the hour.
"""

_QUEUE: Final = text(
    "SELECT queue_counted_mail(:id, :kind, :address_hash, :content, :nonce, :key_id, :now, :expires_at, :counted_as, "
    ":about, :at_once, :pause, CAST(:a_day AS integer))"
)
_FOR_FOLDER: Final = text("SELECT leave_person_mail_to_folder(:mail)")


async def queue_person_mail(
    session: AsyncSession,
    ring: KeyRing,
    now: datetime.datetime,
    kind: str,
    mail: Mail,
    expires_at: datetime.datetime,
    sort: MailSort = LINKS,
    about: str = "",
) -> UUID:
    """Put the mail into the outbox, to be sent when its sort allows; beyond the daily number it is recorded as
    failed.

    `about` is its subject: for one subject the last is sent. Raises what `key_for_writing` raises.
    """
    mail_id = uuid7()
    key = await key_for_writing(session, ring)
    sealed = seal_content(key, mail_place(mail_id), orjson.dumps(mail))
    await session.execute(
        _QUEUE,
        {
            "id": mail_id,
            "kind": f"person.{kind}",
            "address_hash": hashlib.sha256(mail.to.encode()).digest(),
            "content": sealed.ciphertext,
            "nonce": sealed.nonce,
            "key_id": sealed.key_id,
            "now": now,
            "expires_at": expires_at,
            "counted_as": sort.name,
            "about": hashlib.sha256(about.encode()).digest(),
            "at_once": sort.at_once,
            "pause": sort.pause,
            "a_day": sort.a_day,
        },
    )
    return mail_id


async def leave_to_folder(session: AsyncSession, mail_id: UUID) -> None:
    """Leave a mail that was just queued to the operator's folder, because there is no mail server."""
    await session.execute(_FOR_FOLDER, {"mail": mail_id})
