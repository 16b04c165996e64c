"""The serving process: database, supervisor and web server, started in order and stopped in reverse."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI

from hearthpay.app import create_app
from hearthpay.banking.originator import BankSettingsError, load_bank
from hearthpay.clock import Clock, SystemClock
from hearthpay.database.startup import Addresses, open_database
from hearthpay.http.deadlines import Deadlines
from hearthpay.http.door import (
    ConnectionLimits,
    Door,
    connection_limits,
    queue_within,
    raise_descriptor_limit,
)
from hearthpay.http.fair_share import share_of
from hearthpay.http.metrics import TOKEN_VARIABLE, metrics_of
from hearthpay.http.rate_limit import rate_limits
from hearthpay.mail.limits import MailLimitsError, mail_limits
from hearthpay.mail.mailer import SERVER_VARIABLE, MailSettingsError, load_mailer
from hearthpay.process import configure_logging, key_ring_of, log_settings, supervised
from hearthpay.security.key_ring import KeyRingError
from hearthpay.worker.attendant import worker_beside

PUBLIC_URL_VARIABLE = "HEARTHPAY_PUBLIC_URL"
"""Names the service's address as its clients and employees see it."""

#: How long requests under way may take to finish once the service is told to stop, in seconds.
GRACE_SECONDS = 10


class WebServer(uvicorn.Server):
    """Uvicorn without its own signal handling: the process stops in our order, the database last."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave the signals to `serve`."""
        yield


def listen(host: str, port: int, backlog: int = 2_048) -> socket.socket:
    """Open the listening socket; raises `OSError` where the address is taken.

    Its connections send at once: head and body of an answer are two writes, and a connection that is kept alive
    would otherwise wait some forty milliseconds between them for the client's acknowledgement.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=backlog)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _connections(deadlines: Deadlines, door: Door) -> type[asyncio.Protocol] | str:
    """What speaks HTTP: with deadlines and a door, save on Windows, where the parser does not exist."""
    if sys.platform == "win32":
        return "auto"
    from hearthpay.http.connection import timed_by

    return timed_by(deadlines, door)


@asynccontextmanager
async def running(
    app: FastAPI,
    host: str,
    port: int,
    deadlines: Deadlines = Deadlines(),  # noqa: B008 - frozen
    connections: ConnectionLimits = ConnectionLimits(),  # noqa: B008 - frozen
) -> AsyncIterator[tuple[str, asyncio.Task[None]]]:
    """Serve ``app`` for the length of the block: yields its URL and the task that serves.

    Port 0 takes a free one. Connections keep `deadlines` and `connections`; the app's gate has been given its own.
    Raises `OSError` where the address is taken.
    """
    descriptors = raise_descriptor_limit()
    door = Door(connections, descriptors=descriptors, read_within=deadlines.reading, metrics=metrics_of(app))
    backlog = queue_within(descriptors)
    with listen(host, port, backlog) as listener:
        config = uvicorn.Config(
            app,
            http=_connections(deadlines, door),
            ws="none",
            backlog=backlog,
            forwarded_allow_ips=[str(network) for network in connections.proxies],
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            timeout_keep_alive=deadlines.idle,
        )
        server = WebServer(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]), name="hearthpay-web")
        try:
            while not server.started and not serving.done():  # noqa: ASYNC110 - uvicorn sets a flag, no event
                await asyncio.sleep(0.01)
            bound = listener.getsockname()[1]
            yield f"http://{f'[{host}]' if ':' in host else host}:{bound}", serving
        finally:
            server.should_exit = True
            await asyncio.gather(serving, return_exceptions=True)


def public_url_of(environment: Mapping[str, str]) -> str | None:
    """The service's own address, from HEARTHPAY_PUBLIC_URL; None without it: then as each client calls it.

    Raises ValueError for anything but an http(s) address without a path, and where emails are to be sent but the
    variable is not set: a link that is sent must lead here, whoever asked for it by whatever name.
    """
    url = environment.get(PUBLIC_URL_VARIABLE, "").strip().rstrip("/")
    if not url and environment.get(SERVER_VARIABLE):
        raise ValueError(
            f"{PUBLIC_URL_VARIABLE} is not set: with {SERVER_VARIABLE}, name the address that links begin with, "
            "such as https://pay.example.com"
        )
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.hostname or parts[2:] != ("", "", "")):
        raise ValueError(f"{PUBLIC_URL_VARIABLE} must be an address such as https://pay.example.com")
    return url or None


async def serve(
    host: str,
    port: int,
    data_dir: Path | None,
    addresses: Addresses,
    clock: Clock | None = None,
    *,
    with_worker: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT; then finish the requests under way, and stop the worker and the database.

    Raises `SystemExit` with a plain message where the address is taken, the database cannot be started, the vault
    has no keys or a setting makes no sense.
    """
    configure_logging(*log_settings(os.environ))
    clock = clock or SystemClock()
    try:
        counted = rate_limits(clock, os.environ.get("RATE_LIMIT_URL") or None)
        public_url = public_url_of(os.environ)
        mailer = load_mailer(os.environ)
        limits = mail_limits(os.environ)
        bank = load_bank(os.environ)
        connections = connection_limits(os.environ)
        requests_at_once = share_of(os.environ)
    except (ValueError, MailSettingsError, MailLimitsError, BankSettingsError) as error:
        raise SystemExit(f"hearthpay: {error}") from None
    print("Starting the database …", flush=True)  # noqa: T201
    async with open_database(data_dir, addresses) as opened, supervised(opened):
        try:
            ring = await key_ring_of(opened)
        except KeyRingError as error:
            raise SystemExit(f"hearthpay: {error}") from None
        app = create_app(
            opened.database,
            clock,
            public_url=public_url,
            metrics_token=os.environ.get(TOKEN_VARIABLE),
            rate_limits=counted,
            ring=ring,
            mailer=mailer,
            mail_limits=limits,
            direct_deposit=bank is not None,
            requests_at_once=requests_at_once,
        )
        app.openapi()  # built now: it takes most of a second, which nobody's request shall wait for
        loop = asyncio.get_running_loop()
        stopping = asyncio.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, stopping.set)
        try:
            async with (
                worker_beside(data_dir) if with_worker else contextlib.nullcontext(),
                running(app, host, port, connections=connections) as (address, serving),
            ):
                print(f"Hearthpay is ready at {address} (documentation at /docs).", flush=True)  # noqa: T201
                waiting = asyncio.create_task(stopping.wait())
                await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                print("Stopping …", flush=True)  # noqa: T201
        except OSError as error:
            raise SystemExit(f"hearthpay: cannot listen on {host}:{port}: {error.strerror}") from None
