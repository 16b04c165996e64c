"""Sends what is in the outbox: at once for a request that waits briefly, and by the worker for all that is due.

No database connection is held while talking to the mail server: a claim is one transaction, the record of the outcome
another, and between the two there is none.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import structlog

from hearthpay.clock import Clock
from hearthpay.database.session import Database, Tenant
from hearthpay.database.turns import Turns
from hearthpay.mail.mailer import AT_ONCE, Delivery, Mailer
from hearthpay.mail.outbox import (
    Claimed,
    MailState,
    claim_due_mails,
    claim_mail,
    count_due_mails,
    give_up_expired,
    note_delivery,
    open_mail,
    state_of_mail,
)
from hearthpay.security.key_ring import KeyRing, UnknownKeyError
from hearthpay.security.vault_cipher import UnreadableSecretError

SHORT_WAIT_SECONDS: Final = 5.0
"""How many seconds a request gives the mail server before it responds that the mail is queued."""

_LOOK_AGAIN_SECONDS: Final = 0.1
_OUR_MAIL_SERVER: Final = frozenset(
    {"mail_server_unreachable", "mail_server_too_slow", "mail_server_refuses_us", "mail_server_busy"}
)
_UNDER_WAY: Final[set[asyncio.Task[bool]]] = set()
_log = structlog.get_logger("hearthpay.mail")


@dataclass(frozen=True, slots=True)
class Round:
    """What one round of the worker did: mails sent, not sent, and known to be still due."""

    sent: int
    failed: int
    remaining: int


class Postman:
    """Sends mails from the outbox to the mail server."""

    def __init__(
        self,
        database: Database,
        ring: KeyRing,
        mailer: Mailer,
        clock: Clock,
        *,
        short_wait: float = SHORT_WAIT_SECONDS,
    ) -> None:
        """Set the database; `database` acts as the service's role or as the worker's; `short_wait` in seconds."""
        self._database: Final = database
        self._ring: Final = ring
        self._mailer: Final = mailer
        self._clock: Final = clock
        self._short_wait: Final = short_wait

    async def hurry(self, tenant: Tenant, mail_id: UUID) -> MailState | None:
        """Send the mail now, and return its status after a short wait; None if there is no such mail.

        An attempt that takes longer continues in the background, and so does one whose request is cut off. Call it
        outside of any transaction.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._short_wait
        attempt = asyncio.create_task(self._attempt(tenant, mail_id), name="hearthpay-mail")
        _UNDER_WAY.add(attempt)  # the loop itself keeps no hold of a task
        attempt.add_done_callback(_finish)
        await asyncio.wait({attempt}, timeout=self._short_wait)
        while True:
            async with self._database.transaction(tenant) as session:
                state = await state_of_mail(session, self._clock, mail_id)
            # Another process may have claimed it: the worker, or one with the same request at the same time.
            if state is None or state.status != "queued" or not state.in_hand or loop.time() >= deadline:
                return state
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)

    async def send_due(
        self, stopping: Callable[[], bool], chunk: int = AT_ONCE, *, turns: Turns[str] | None = None
    ) -> Round:
        """Give up what has expired and send up to `chunk` of the mails that are due, of any owner, whose turn it is.

        If the mail server itself is at fault for all of them, the rest is left for a later round: trying each would
        only take long. Raises DatabaseUnavailable.
        """
        async with self._database.transaction(None) as session:
            given_up = await give_up_expired(session, self._clock)
            claimed = (
                [] if stopping() else await claim_due_mails(session, self._clock, chunk, turns or Turns())
            )
        outcomes = await asyncio.gather(*(self._send_in_turn(each) for each in claimed))
        sent = sum(outcome.taken for outcome in outcomes)
        if outcomes and all(outcome.problem in _OUR_MAIL_SERVER for outcome in outcomes):
            return Round(sent, given_up + len(outcomes), 0)
        async with self._database.transaction(None) as session:
            remaining = await count_due_mails(session, self._clock)
        return Round(sent, given_up + len(outcomes) - sent, remaining)

    async def _attempt(self, tenant: Tenant, mail_id: UUID) -> bool:
        """Send one mail if there is a turn for it and nobody else has it; return whether it was accepted."""
        async with self._mailer.turn(within=True) as mine:
            if not mine:
                return False
            async with self._database.transaction(tenant) as session:
                claimed = await claim_mail(session, self._clock, mail_id)
            if claimed is None:
                return False
            return (await self._send(claimed, tenant)).taken

    async def _send_in_turn(self, claimed: Claimed) -> Delivery:
        async with self._mailer.turn(within=False):
            return await self._send(claimed, None)

    async def _send(self, claimed: Claimed, tenant: Tenant | None) -> Delivery:
        try:
            mail = open_mail(self._ring, claimed)
        except UnknownKeyError as error:
            _log.error("email not readable", mail_id=str(claimed.id), key_id=error.key_id)
            delivery = Delivery("key_missing")
        except UnreadableSecretError:
            _log.error("email not readable", mail_id=str(claimed.id))
            delivery = Delivery("unreadable", for_good=True)
        else:
            delivery = await self._mailer.send(mail, claimed.id, claimed.created_at)
        async with self._database.transaction(tenant) as session:
            await note_delivery(session, self._clock, claimed, delivery)
        return delivery


def _finish(attempt: asyncio.Task[bool]) -> None:
    """Forget the attempt. A failure of ours is logged, and the worker sends the mail later."""
    _UNDER_WAY.discard(attempt)
    if not attempt.cancelled() and (error := attempt.exception()) is not None:
        _log.error("attempt to send failed", exc_info=error)
