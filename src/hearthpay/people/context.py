"""What the services for people work with: database, clock, key ring, throttling, and settings."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import LINKS_BEGIN
from hearthpay.mail.person_mail import LINKS, MailSort, leave_to_folder, queue_person_mail
from hearthpay.mail.person_postman import PersonPostman
from hearthpay.people.stop_links import Stop, stop_link
from hearthpay.people.throttle import SignInThrottle
from hearthpay.security.key_ring import KeyRing


@dataclass(frozen=True, slots=True)
class PeopleContext:
    """What the services for people share: database, clock, keys, throttling and mail.

    `sends_mail`: there is a mail server. `sign_up_open`: strangers may create accounts. `cost_page_open`: they may
    estimate the cost of an employee.

    `keeps_mail`: if there is no mail server, the worker puts mail into the operator's folder.

    Links in mails begin with `links_begin`, the configured address of the service, whatever address a request uses;
    `operator` is the contact of this installation's operator.

    Requests that must not reveal whether someone has an account take at least `no_sooner_than` seconds, whatever the
    outcome.
    """

    database: Database
    clock: Clock
    ring: KeyRing | None
    throttle: SignInThrottle
    sends_mail: bool = False
    sign_up_open: bool = True
    cost_page_open: bool = False
    no_sooner_than: float = field(default=0.25)
    postman: PersonPostman | None = None
    keeps_mail: bool = False
    links_begin: str = LINKS_BEGIN
    operator: str | None = None

    @property
    def writes_mail(self) -> bool:
        """Whether mail is written at all: for the mail server or, if there is none, for the operator's folder."""
        return self.sends_mail or self.keeps_mail

    @property
    def takes_sign_ups(self) -> bool:
        """Whether a stranger can create an account: without mail no address can be verified."""
        return self.sign_up_open and self.sends_mail

    async def queue_mail(
        self,
        session: AsyncSession,
        now: datetime.datetime,
        kind: str,
        mail: Mail,
        expires_at: datetime.datetime,
        *,
        sort: MailSort = LINKS,
        about: str = "",
    ) -> None:
        """Put the mail into the outbox, to be sent once the transaction has committed and its sort allows it.

        For what the sort counts, and the use of `about`, see `queue_person_mail`.
        """
        mail_id = await queue_person_mail(session, self.keys(), now, kind, mail, expires_at, sort, about)
        if not self.sends_mail:
            await leave_to_folder(session, mail_id)
        elif self.postman is not None:
            self.postman.send_once_committed(session, mail_id)

    def keys(self) -> KeyRing:
        """Return the key ring. Raises `service_unavailable` if there is none."""
        if self.ring is None:
            raise Refusal("service_unavailable", "This service has no encryption keys yet.")
        return self.ring

    def stop_link(self, stop: Stop) -> str | None:
        """Return the link that stops the change a warning reports; None without keys."""
        return None if self.ring is None else stop_link(self.ring, self.clock.now(), self.links_begin, stop)

    @asynccontextmanager
    async def in_constant_time(self) -> AsyncIterator[None]:
        """Make the block, whether it succeeds or fails, take at least `no_sooner_than` seconds."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self.no_sooner_than
        try:
            yield
        finally:
            await asyncio.sleep(max(0.0, until - loop.time()))
