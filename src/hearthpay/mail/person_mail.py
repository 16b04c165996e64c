"""Mail to a person who signs in: it is no household's, waits in the outbox like any other, and leaves by the worker.

What one address is sent is counted by its sort, each by itself: nothing that strangers ask for, and nothing that
somebody repeats in another's account, keeps a warning from its reader, or a link.
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

    Of one subject `at_once` leave at once. Of those after them the last leaves, `pause` after the one before it, and
    takes the place of what waits till then. With `a_day` there are no more than that of all subjects; the rest fails.
    """

    name: str
    at_once: int
    pause: datetime.timedelta = datetime.timedelta()
    a_day: int | None = None


LINKS: Final = MailSort("link", 12, a_day=12)
"""Links that anyone may ask for: forms must not make a relay of us."""
RESETS: Final = MailSort("reset", 5, datetime.timedelta(minutes=10))
"""Links for a new password: never used up, whoever asks. After the first few the last leaves within minutes."""
NEWS: Final = MailSort("news", 3, datetime.timedelta(hours=1), a_day=24)
"""What somebody changes as often as he likes, and nobody loses by."""
WARNINGS: Final = MailSort("warning", 5, datetime.timedelta(hours=1))
"""What its reader may have to stop: never used up. Whoever repeats it has the first few told at once, and the last
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
    """Put the mail into the outbox, to leave when its sort lets it; beyond the number of a day it is noted as failed.

    `about` is its subject: of one subject the last is told. Raises what `key_for_writing` raises.
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
    """Leave a mail that was just queued to the operator's folder: there is no mail server."""
    await session.execute(_FOR_FOLDER, {"mail": mail_id})
