"""Passes one email to the operator's mail server and returns the outcome; it doesn't decide when to retry.

The server is set by `SMTP_URL`: `smtp://user:password@host:587`, encrypted if the server offers STARTTLS, or
`smtps://…`, encrypted from the first byte. `MAIL_FROM` is the sender. Without them no email is ever sent.
"""

import asyncio
import contextlib
import datetime
import email.policy
import ipaddress
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from email.errors import MessageError
from email.header import Header
from email.headerregistry import HeaderRegistry, UniqueUnstructuredHeader
from email.message import EmailMessage
from email.policy import Policy
from email.utils import format_datetime, parseaddr
from typing import Final, Literal
from urllib.parse import SplitResult, unquote, urlsplit
from uuid import UUID

import aiosmtplib
import structlog
from email_validator import EmailNotValidError, validate_email

from hearthpay.mail.wording import header_problem

SERVER_VARIABLE: Final = "SMTP_URL"
SENDER_VARIABLE: Final = "MAIL_FROM"

PATIENCE_SECONDS: Final = 10.0
"""The total time for one mail."""
AT_ONCE: Final = 5
"""Mails that one process sends at once."""

_SUBJECT: Final = "Subject"
_FAREWELL: Final = 2.0
_WAIT_FOR_A_TURN: Final = 1.0
_PORTS: Final = {"smtp": 587, "smtps": 465}
_PERMANENT: Final = range(500, 600)
_log = structlog.get_logger("hearthpay.mail")


class MailSettingsError(Exception):
    """The settings name no usable mail server; the message says which, and never contains the password."""


class UnsafeHeaderError(ValueError):
    """A header contains something that it must not; the message names the header and never repeats its text."""


@dataclass(frozen=True, slots=True)
class Mail:
    """One email to one person, as plain text and as HTML.

    Whatever a user chose appears in it as `wording.name_in_mail` formats it.
    """

    to: str
    subject: str
    text: str
    html: str


MailProblem = Literal[
    "mail_server_unreachable",
    "mail_server_too_slow",
    "mail_server_refuses_us",
    "mail_server_busy",
    "recipient_refused",
    "message_refused",
    "unsafe_content",
    "folder_not_writable",
    "key_missing",
    "unreadable",
]
"""Why a mail was not sent."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """The outcome of one attempt: the server accepted the mail (no problem), or didn't; `for_good` if it never will."""

    problem: MailProblem | None = None
    for_good: bool = False

    @property
    def taken(self) -> bool:
        """Whether the server has accepted the mail."""
        return self.problem is None


class Mailer:
    """The connection to one mail server."""

    def __init__(self, url: str, sender: str, *, patience: float = PATIENCE_SECONDS) -> None:
        """Set the server's `url` and the `sender`'s address; `patience` in seconds is the total time for a mail.

        Nothing is connected yet. Raises MailSettingsError.
        """
        server = _server_of(url)
        self._hostname: Final = str(server.hostname)
        self._port: Final = server.port or _PORTS[server.scheme]
        self._username: Final = unquote(server.username) if server.username else None
        self._password: Final = unquote(server.password) if server.password else None
        self._encrypted: Final = server.scheme == "smtps"
        # A password crosses a network only encrypted; otherwise STARTTLS is used if it is offered.
        protected = self._username is not None and not _is_loopback(self._hostname)
        self._start_tls: Final = True if protected and not self._encrypted else None
        self._sender: Final = sender
        self._domain: Final = _domain_of(sender)
        self._patience: Final = patience
        self._turns: Final = asyncio.Semaphore(AT_ONCE)

    @contextlib.asynccontextmanager
    async def turn(self, *, within: bool) -> AsyncIterator[bool]:
        """Hold one of the turns to send; yields whether there was one `within` a second, or waits as long as it
        takes.

        A server that hangs must not tie up more and more of our tasks.
        """
        try:
            async with asyncio.timeout(_WAIT_FOR_A_TURN if within else None):
                await self._turns.acquire()
        except TimeoutError:
            yield False
            return
        try:
            yield True
        finally:
            self._turns.release()

    async def send(self, mail: Mail, name: UUID, written_at: datetime.datetime) -> Delivery:
        """Send the mail to the server, in a turn; a problem is also logged, without an address.

        `name` makes the Message-ID: sent again after a crash, the mail has the same one, by which servers and readers
        recognize it. Call it outside of any transaction: it may take as long as the mailer's patience.
        """
        try:
            message = written_message(
                mail, sender=self._sender, domain=self._domain, name=name, written_at=written_at
            )
        except (MessageError, ValueError) as error:
            return _failed("unsafe_content", error, for_good=True)
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
            async with asyncio.timeout(self._patience):
                await client.connect()
                await client.send_message(message)
        except (aiosmtplib.SMTPException, OSError, MessageError, ValueError) as error:
            client.close()
            return _failed(*_diagnosis(error))
        except asyncio.CancelledError:
            client.close()
            raise
        with contextlib.suppress(aiosmtplib.SMTPException, OSError):
            await client.quit(timeout=_FAREWELL)
        client.close()
        return Delivery()


class _Subject(UniqueUnstructuredHeader):
    """A subject that keeps its spaces: before 3.12.4, the standard library's own folding loses one between an encoded
    word and one that isn't.
    """

    def fold(self, *, policy: "Policy[EmailMessage]") -> str:
        """Return the header's lines; if a letter is not ASCII, all of it is encoded (RFC 2047)."""
        folded = str(self)
        charset = "us-ascii" if folded.isascii() else "utf-8"
        written = Header(folded, charset, header_name=_SUBJECT).encode(linesep=policy.linesep)
        return f"{_SUBJECT}: {written}{policy.linesep}"


def _headers() -> HeaderRegistry:
    registry = HeaderRegistry()
    registry.map_to_type(_SUBJECT, _Subject)  # type: ignore[arg-type]  # a mixin, as the library's own are
    return registry


_POLICY: Final = email.policy.default.clone(header_factory=_headers())


def written_message(
    mail: Mail, *, sender: str, domain: str, name: UUID, written_at: datetime.datetime
) -> EmailMessage:
    """Return the message, as text and as HTML; `name` and `domain` make its Message-ID. Raises UnsafeHeaderError.

    Every header is checked before the standard library gets it: the library decodes encoded words first and checks
    for line breaks, if at all, only then.
    """
    headers = {
        "From": sender,
        "To": mail.to,
        _SUBJECT: mail.subject,
        "Date": format_datetime(written_at),
        "Message-ID": f"<{name}@{domain}>",
        "Auto-Submitted": "auto-generated",
    }
    message = EmailMessage(_POLICY)
    for header, value in headers.items():
        problem = header_problem(value)
        if problem is not None:
            raise UnsafeHeaderError(f"the header {header} {problem}")
        message[header] = value
    message.set_content(mail.text)
    message.add_alternative(mail.html, subtype="html")
    return message


def _diagnosis(error: Exception) -> tuple[MailProblem, Exception, int | None, bool]:
    """Return what went wrong, and whether it will again. If we are refused (sender, password), the operator must fix
    it.
    """
    code: int | None = getattr(error, "code", None)
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused) and error.recipients:
        code = error.recipients[0].code
    permanent = code in _PERMANENT
    problem: MailProblem
    match error:
        case aiosmtplib.SMTPRecipientsRefused() | aiosmtplib.SMTPRecipientRefused():
            problem = "recipient_refused" if permanent else "mail_server_busy"
        case aiosmtplib.SMTPDataError():
            problem = "message_refused" if permanent else "mail_server_busy"
        case aiosmtplib.SMTPNotSupported():  # an address with letters beyond ASCII, which this server cannot write
            problem, permanent = "recipient_refused", True
        case aiosmtplib.SMTPResponseException():
            problem, permanent = ("mail_server_refuses_us" if permanent else "mail_server_busy"), False
        case TimeoutError():
            problem, permanent = "mail_server_too_slow", False
        case aiosmtplib.SMTPException() | OSError():
            problem, permanent = "mail_server_unreachable", False
        case _:
            problem, permanent = "unsafe_content", True
    return problem, error, code, permanent


def _failed(
    problem: MailProblem, error: Exception, code: int | None = None, for_good: bool = False
) -> Delivery:
    # The error's text may repeat the recipient's address.
    _log.warning("email not sent", problem=problem, cause=type(error).__name__, code=code)
    return Delivery(problem, for_good)


def load_mailer(environment: Mapping[str, str]) -> Mailer | None:
    """Return the mailer of `SMTP_URL` and `MAIL_FROM`; None if no server is named. Raises MailSettingsError."""
    url = environment.get(SERVER_VARIABLE, "").strip()
    if not url:
        return None
    sender = environment.get(SENDER_VARIABLE, "").strip()
    if not sender:
        raise MailSettingsError(
            f"{SENDER_VARIABLE} is not set: with {SERVER_VARIABLE}, name the sender, such as payroll@example.com"
        )
    return Mailer(url, sender)


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
    """Return the domain of the sender's address. Raises MailSettingsError if there is none."""
    address = parseaddr(sender)[1] if sender.isprintable() and header_problem(sender) is None else ""
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
