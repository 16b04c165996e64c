"""Mail to a person who signs in: it is no household's, waits in the outbox like any other, and leaves by the worker."""

import hashlib
from datetime import datetime
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

A_DAY: Final = 12
"""Mails that one address is sent within 24 hours: forms must not make a relay of us."""
NEWS_A_DAY: Final = 60
"""The same of news. What strangers can ask for leaves room for it, so that nobody keeps a warning from its reader."""

_NEWS: Final = frozenset(
    {"new_sign_in", "changed", "moved", "record_changed", "bank_changed", "employee_changed", "agent_ended"}
)

_QUEUE: Final = text(
    "SELECT queue_person_mail(:id, :kind, :address_hash, :content, :nonce, :key_id, :now, :expires_at, :a_day)"
)
_FOR_FOLDER: Final = text("SELECT leave_person_mail_to_folder(:mail)")


async def queue_person_mail(
    session: AsyncSession, ring: KeyRing, now: datetime, kind: str, mail: Mail, expires_at: datetime
) -> UUID:
    """Put the mail into the outbox; beyond the address's number of the day it is noted as failed.

    Raises what `key_for_writing` raises.
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
            "a_day": NEWS_A_DAY if kind in _NEWS else A_DAY,
        },
    )
    return mail_id


async def leave_to_folder(session: AsyncSession, mail_id: UUID) -> None:
    """Leave a mail that was just queued to the operator's folder: there is no mail server."""
    await session.execute(_FOR_FOLDER, {"mail": mail_id})
