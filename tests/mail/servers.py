"""Real mail servers on the loopback interface: one that takes mail, one that refuses it, one that says nothing."""

import asyncio
import email
import email.policy
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword


class Postbox:
    """Takes mail, or answers each recipient with a `refusal`."""

    def __init__(self, refusal: str | None = None) -> None:
        self.refusal = refusal
        self.envelopes: list[Envelope] = []
        self.encrypted: list[bool] = []
        self.logins: list[str] = []

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refusal is not None:
            return self.refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:
        self.envelopes.append(envelope)
        self.encrypted.append(server.transport.get_extra_info("sslcontext") is not None)
        return "250 OK"

    @property
    def mails(self) -> list[EmailMessage]:
        """What has arrived, parsed."""
        policy = email.policy.default
        return [email.message_from_bytes(bytes(entry.content), policy=policy) for entry in self.envelopes]


@asynccontextmanager
async def mail_server(
    postbox: Postbox,
    *,
    login: tuple[str, str] | None = None,
    starttls: ssl.SSLContext | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[str]:
    """A server for `postbox`, in this event loop; yields its URL without credentials.

    It asks for a `login`, offers `starttls`, or speaks `tls` from the first byte.
    """

    def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        postbox.logins.append(data.login.decode())
        given = (data.login.decode(), data.password.decode())
        return AuthResult(success=given == login, handled=False)

    def protocol() -> SMTP:
        return SMTP(
            postbox,
            hostname="localhost",
            enable_SMTPUTF8=True,
            authenticator=authenticate,
            auth_required=login is not None,
            auth_require_tls=False,
            tls_context=starttls,
        )

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield f"{'smtps' if tls else 'smtp'}://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def silent_server() -> AsyncIterator[str]:
    """A server that takes the connection and never says a word; yields its URL."""

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    async with server:
        yield f"smtp://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@contextmanager
def in_a_thread(server: AbstractAsyncContextManager[str]) -> Iterator[str]:
    """Run the server in a thread of its own, for tests that wait for processes; yields its URL."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    url = asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
    try:
        yield url
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
