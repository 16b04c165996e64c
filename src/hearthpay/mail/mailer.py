"""Sends one email at a time through the operator's mail server; one that cannot be sent is reported, never retried.

The server is named by `SMTP_URL`: `smtp://user:password@host:587`, encrypted where the server offers STARTTLS, or
`smtps://…`, encrypted from the first byte. `MAIL_FROM` is the sender. Without them no email is ever sent.
"""

import asyncio
import contextlib
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from email.errors import MessageError
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid, parseaddr
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

import aiosmtplib
import structlog
from email_validator import EmailNotValidError, validate_email

from hearthpay.clock import Clock

SERVER_VARIABLE: Final = "SMTP_URL"
SENDER_VARIABLE: Final = "MAIL_FROM"

_PATIENCE: Final = 10.0
_FAREWELL: Final = 2.0
_AT_ONCE: Final = 5
_WAIT_FOR_A_TURN: Final = 1.0
_PORTS: Final = {"smtp": 587, "smtps": 465}
_log = structlog.get_logger("hearthpay.mail")


class MailSettingsError(Exception):
    """The settings name no usable mail server; the message says which, and never holds the password."""


@dataclass(frozen=True, slots=True)
class Mail:
    """One email to one person, as plain text and as HTML."""

    to: str
    subject: str
    text: str
    html: str


class Mailer:
    """The way to one mail server."""

    def __init__(self, url: str, sender: str, clock: Clock, *, patience: float = _PATIENCE) -> None:
        """Take the server's `url` and the `sender`'s address; `patience` in seconds is all the time a mail gets.

        Nothing is connected yet. Raises MailSettingsError.
        """
        server = _server_of(url)
        self._hostname: Final = str(server.hostname)
        self._port: Final = server.port or _PORTS[server.scheme]
        self._username: Final = unquote(server.username) if server.username else None
        self._password: Final = unquote(server.password) if server.password else None
        self._encrypted: Final = server.scheme == "smtps"
        # A password crosses a network only encrypted; otherwise STARTTLS is taken where it is offered.
        protected = self._username is not None and not _is_loopback(self._hostname)
        self._start_tls: Final = True if protected and not self._encrypted else None
        self._sender: Final = sender
        self._domain: Final = _domain_of(sender)
        self._clock: Final = clock
        self._patience: Final = patience
        self._turns: Final = asyncio.Semaphore(_AT_ONCE)

    async def send(self, mail: Mail) -> bool:
        """Hand the mail to the server; False, and a line in the log, when that fails or takes too long.

        Five mails are under way at once at most, and a sixth waits a second for its turn: who sends from within a
        transaction holds a connection to the database, and a server that hangs must not bind them all.
        """
        try:
            async with asyncio.timeout(_WAIT_FOR_A_TURN):
                await self._turns.acquire()
        except TimeoutError:
            _log.warning("email not sent", cause="TooManyUnderWay", code=None)
            return False
        try:
            return await self._deliver(mail)
        finally:
            self._turns.release()

    async def _deliver(self, mail: Mail) -> bool:
        client = aiosmtplib.SMTP(
            hostname=self._hostname,
            port=self._port,
            username=self._username,
            password=self._password,
            use_tls=self._encrypted,
            start_tls=False if self._encrypted else self._start_tls,
            local_hostname=self._domain,  # else the resolver is asked, which may take long
            timeout=self._patience,
        )
        try:
            message = self._message(mail)
            async with asyncio.timeout(self._patience):
                await client.connect()
                await client.send_message(message)
        except (aiosmtplib.SMTPException, OSError, MessageError, ValueError) as error:
            # The error's text may repeat the recipient's address.
            _log.warning("email not sent", cause=type(error).__name__, code=getattr(error, "code", None))
            client.close()
            return False
        except asyncio.CancelledError:
            client.close()
            raise
        with contextlib.suppress(aiosmtplib.SMTPException, OSError):
            await client.quit(timeout=_FAREWELL)
        client.close()
        return True

    def _message(self, mail: Mail) -> EmailMessage:
        message = EmailMessage()
        message["From"] = self._sender
        message["To"] = mail.to
        message["Subject"] = mail.subject
        message["Date"] = format_datetime(self._clock.now())
        message["Message-ID"] = make_msgid(domain=self._domain)
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(mail.text)
        message.add_alternative(mail.html, subtype="html")
        return message


def load_mailer(environment: Mapping[str, str], clock: Clock) -> Mailer | None:
    """The mailer of `SMTP_URL` and `MAIL_FROM`; None where no server is named. Raises MailSettingsError."""
    url = environment.get(SERVER_VARIABLE, "").strip()
    if not url:
        return None
    sender = environment.get(SENDER_VARIABLE, "").strip()
    if not sender:
        raise MailSettingsError(
            f"{SENDER_VARIABLE} is not set: with {SERVER_VARIABLE}, name the sender, such as payroll@example.com"
        )
    return Mailer(url, sender, clock)


def _server_of(url: str) -> SplitResult:
    try:
        server = urlsplit(url)
        usable = server.scheme in _PORTS and server.hostname and server.port != 0
    except ValueError:
        usable = False
    if not usable or server.path not in ("", "/") or server.query or server.fragment:
        raise MailSettingsError(
            f"{SERVER_VARIABLE} must be written smtp://user:password@host:587 or smtps://user:password@host:465"
        ) from None
    return server


def _domain_of(sender: str) -> str:
    """The domain of the sender's address. Raises MailSettingsError where there is none."""
    address = parseaddr(sender)[1] if sender.isprintable() else ""
    try:
        found = validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError:
        raise MailSettingsError(
            f"{SENDER_VARIABLE} must be an email address, with or without a name: Payroll <payroll@example.com>"
        ) from None
    return found.ascii_domain


def _is_loopback(hostname: str) -> bool:
    if hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(hostname).is_loopback
    except ValueError:
        return False
