"""Sends mail to people at once, outside of the request that queued it: without the delay until the worker's next round.

Whatever goes wrong here, the mail stays in the outbox and the worker sends it.
"""

import asyncio
import datetime
from contextvars import Context
from typing import Final, NamedTuple
from uuid import UUID

import structlog
from sqlalchemy import event, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.statements import column_list
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.mail.mailer import Delivery, Mailer
from hearthpay.mail.outbox import LEASE, Claimed, open_mail, pause_after
from hearthpay.security.content_seal import SealedContent
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.security.vault_cipher import UnreadableSecretError

_AT_ONCE: Final = 20


class _ClaimRow(NamedTuple):
    id: UUID
    created_at: datetime.datetime
    expires_at: datetime.datetime
    attempts: int
    content: bytes
    nonce: bytes
    key_id: str


_CLAIM: Final = query(
    _ClaimRow,
    "SELECT {columns} FROM claim_person_mail(:mail, :now, :until)",
    columns=column_list(_ClaimRow._fields),
)
_NOTE: Final = text(
    "SELECT note_person_mail(:mail, CAST(:attempt AS smallint), :problem, :final, :now, :due_at)"
)
_log = structlog.get_logger("hearthpay.mail")


class PersonPostman:
    """Sends a mail that was just queued to the mail server."""

    def __init__(self, database: Database, ring: KeyRing, mailer: Mailer, clock: Clock) -> None:
        """Set the database; `database` acts as the service's role."""
        self._database: Final = database
        self._ring: Final = ring
        self._mailer: Final = mailer
        self._clock: Final = clock
        self._under_way: Final[set[asyncio.Task[None]]] = set()

    def send_once_committed(self, session: AsyncSession, mail_id: UUID) -> None:
        """Send the mail when the session's transaction has committed; if many are in progress, the worker will."""

        def committed(_: object) -> None:
            if len(self._under_way) < _AT_ONCE:
                # A separate context: it isn't part of the transaction that is just ending.
                task = asyncio.get_running_loop().create_task(self._try(mail_id), context=Context())
                self._under_way.add(task)
                task.add_done_callback(self._under_way.discard)

        event.listen(session.sync_session, "after_commit", committed, once=True)

    async def settle(self) -> None:
        """Wait until the mails in progress have been sent or have failed."""
        await asyncio.gather(*self._under_way)

    async def _try(self, mail_id: UUID) -> None:
        try:
            async with self._mailer.turn(within=True) as mine:
                if mine:
                    await self._send(mail_id)
        except (DatabaseUnavailable, SQLAlchemyError, KeyRingError, UnreadableSecretError) as error:
            _log.warning("email left to the worker", cause=type(error).__name__)

    async def _send(self, mail_id: UUID) -> None:
        now = self._clock.now()
        async with self._database.transaction(None) as session:
            values = {"mail": mail_id, "now": now, "until": now + LEASE}
            row = await fetch_optional(session, _CLAIM, values)
        if row is None:
            return
        sealed = SealedContent(row.content, row.nonce, row.key_id)
        claimed = Claimed(row.id, None, None, False, row.created_at, row.expires_at, row.attempts, sealed)
        delivery = await self._mailer.send(open_mail(self._ring, claimed), claimed.id, claimed.created_at)
        await self._note(claimed, delivery)

    async def _note(self, claimed: Claimed, delivery: Delivery) -> None:
        now = self._clock.now()
        due_at = now + pause_after(claimed.attempt)
        values = {
            "mail": claimed.id,
            "attempt": claimed.attempt,
            "problem": delivery.problem,
            "final": delivery.taken or delivery.for_good or due_at >= claimed.expires_at,
            "now": now,
            "due_at": due_at,
        }
        async with self._database.transaction(None) as session:
            await session.execute(_NOTE, values)
