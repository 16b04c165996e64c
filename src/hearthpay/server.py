"""The serving process: database, supervisor and web server, started in order and stopped in reverse."""

import asyncio
import contextlib
import gc
import os
import signal
import socket
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import structlog
import uvicorn
from fastapi import FastAPI

from hearthpay.app import AppSettings, create_app
from hearthpay.banking.originator import BankSettingsError, load_bank
from hearthpay.clock import Clock, SystemClock
from hearthpay.database.embedded import EmbeddedServer, default_data_dir
from hearthpay.database.replica import ReplicaSettings
from hearthpay.database.running_services import recorded_as_running
from hearthpay.database.session import Database
from hearthpay.database.startup import Addresses
from hearthpay.http.connection_limits import (
    ConnectionLimiter,
    ConnectionLimits,
    connection_limits,
    queue_within,
    raise_descriptor_limit,
    room_within,
)
from hearthpay.http.deadlines import Deadlines
from hearthpay.http.fair_share import share_of
from hearthpay.http.hosts import place_of_address
from hearthpay.http.metrics import TOKEN_VARIABLE, metrics_of
from hearthpay.http.rate_limit import rate_limits
from hearthpay.http.uvicorn_internals import UVICORNS_OWN, http_protocol, plain_http_of
from hearthpay.mail.limits import MailLimitsError, mail_limits
from hearthpay.mail.mail_folder import MailFolder
from hearthpay.mail.mailer import SERVER_VARIABLE, MailSettingsError, load_mailer
from hearthpay.mail.notices import OPERATOR_VARIABLE, PUBLIC_URL_VARIABLE
from hearthpay.process import collect_garbage_rarely, configure_logging, log_settings
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.security.seal_file import SealFileError
from hearthpay.separation import StaysRootError, WebUser, lesser_user, web_process
from hearthpay.serving_database import open_and_migrate, open_migrated
from hearthpay.warming import load_for_first_requests
from hearthpay.worker.child_process import worker_beside

SIGN_UP_VARIABLE = "HEARTHPAY_SIGN_UP"
COST_PAGE_VARIABLE = "HEARTHPAY_COST_PAGE"
"""Whether strangers may create accounts: `open`, or `closed`, by invitation only."""

GRACE_SECONDS = 10
"""How long requests in progress may take to finish once the service is asked to stop, in seconds."""

_log = structlog.get_logger(__name__)


class WebServer(uvicorn.Server):
    """Uvicorn without its own signal handling: the process stops in our order, the database last."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Install no handlers: `serve` handles the signals."""
        yield


def listen(host: str, port: int, backlog: int = 2_048) -> socket.socket:
    """Open the listening socket; raises `OSError` if the address is in use.

    Its connections send at once: head and body of a response are two writes, and on a kept-alive connection the
    second would otherwise wait some forty milliseconds for the client's acknowledgement.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=backlog)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


@asynccontextmanager
async def running(
    app: FastAPI,
    host: str,
    port: int,
    deadlines: Deadlines = Deadlines(),  # noqa: B008 - frozen
    connections: ConnectionLimits = ConnectionLimits(),  # noqa: B008 - frozen
) -> AsyncIterator[tuple[str, asyncio.Task[None]]]:
    """Serve ``app`` for the length of the block: yields its URL and the serving task.

    Port 0 picks a free one. Connections follow `deadlines` and `connections`; the app's request middleware has its
    own. Raises `OSError` if the address is in use.
    """
    with listen(host, port, queue_within(raise_descriptor_limit())) as listener:
        async with serving(app, listener, host, deadlines, connections) as served:
            yield served


@asynccontextmanager
async def serving(
    app: FastAPI,
    listener: socket.socket,
    host: str,
    deadlines: Deadlines = Deadlines(),  # noqa: B008 - frozen
    connections: ConnectionLimits = ConnectionLimits(),  # noqa: B008 - frozen
) -> AsyncIterator[tuple[str, asyncio.Task[None]]]:
    """Serve as `running` does, on a socket that is already listening, opened for `host`."""
    descriptors = raise_descriptor_limit()
    limiter = ConnectionLimiter(
        connections, descriptors=descriptors, read_within=deadlines.reading, metrics=metrics_of(app)
    )
    protocol = http_protocol(deadlines, limiter, plain=connections.plain)
    config = uvicorn.Config(
        app,
        http=protocol,
        limit_concurrency=room_within(connections, descriptors) + 1 if protocol == UVICORNS_OWN else None,
        ws="none",
        backlog=queue_within(descriptors),
        forwarded_allow_ips=[str(network) for network in connections.proxies],
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=deadlines.idle,
    )
    server = WebServer(config)
    runtime = getattr(app.state, "runtime", None)
    task = asyncio.create_task(server.serve(sockets=[listener]), name="hearthpay-web")
    try:
        while not server.started and not task.done():  # noqa: ASYNC110 - uvicorn sets a flag, no event
            await asyncio.sleep(0.01)
        if runtime is not None:
            loading = asyncio.to_thread(load_for_first_requests, runtime.clock.today())
            app.state.loading = asyncio.create_task(loading, name="hearthpay-loading")
        bound = listener.getsockname()[1]
        yield f"http://{f'[{host}]' if ':' in host else host}:{bound}", task
    finally:
        server.should_exit = True
        await asyncio.gather(task, return_exceptions=True)
        if runtime is not None:
            await runtime.deferred_audit.settle()
            if runtime.replica is not None:
                await runtime.replica.dispose()


def freeze_start_objects(app: FastAPI) -> None:
    """Exclude permanent objects from every later garbage collection, what is still loading once it is there: a full
    one stops the loop, by 90 ms with the rules of three years loaded.
    """
    collect_garbage_rarely()
    loading: asyncio.Task[None] | None = getattr(app.state, "loading", None)
    if loading is not None:
        loading.add_done_callback(lambda _: gc.freeze())


def public_url_of(environment: Mapping[str, str]) -> str | None:
    """Return the service's own address, from HEARTHPAY_PUBLIC_URL; if None, each client's own address for it is used.

    Raises ValueError for anything but an http(s) address without a path, and if emails are to be sent but the
    variable isn't set: a link in an email must lead here, whatever name the request used.
    """
    url = environment.get(PUBLIC_URL_VARIABLE, "").strip().rstrip("/")
    if not url and environment.get(SERVER_VARIABLE):
        raise ValueError(
            f"{PUBLIC_URL_VARIABLE} is not set: with {SERVER_VARIABLE}, name the address that links begin with, "
            "such as https://pay.example.com"
        )
    parts = urlsplit(url)
    if url and (
        parts.scheme not in ("http", "https") or not place_of_address(url) or parts[2:] != ("", "", "")
    ):
        raise ValueError(f"{PUBLIC_URL_VARIABLE} must be an address such as https://pay.example.com")
    return url or None


def sign_up_open_of(environment: Mapping[str, str]) -> bool:
    """Return whether strangers may create accounts, from HEARTHPAY_SIGN_UP: open unless it says closed.

    Raises ValueError for any other word.
    """
    return _is_open(environment, SIGN_UP_VARIABLE, "open")


def cost_page_open_of(environment: Mapping[str, str]) -> bool:
    """Return whether anybody may estimate a cost at /cost, from HEARTHPAY_COST_PAGE: closed unless it says open.

    Raises ValueError for any other word.
    """
    return _is_open(environment, COST_PAGE_VARIABLE, "closed")


def _is_open(environment: Mapping[str, str], variable: str, otherwise: str) -> bool:
    word = environment.get(variable, "").strip().lower() or otherwise
    if word not in ("open", "closed"):
        raise ValueError(f"{variable} must be open or closed")
    return word == "open"


class WebSettingsError(Exception):
    """A web setting is invalid; the message says which."""


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The web settings from the environment."""

    application: AppSettings
    connections: ConnectionLimits

    @classmethod
    def of(cls, environment: Mapping[str, str], clock: Clock) -> Self:
        """Raises WebSettingsError."""
        try:
            return cls(
                AppSettings(
                    rate_limits=rate_limits(clock, environment.get("RATE_LIMIT_URL") or None),
                    public_url=public_url_of(environment),
                    mailer=load_mailer(environment),
                    mail_limits=mail_limits(environment),
                    metrics_token=environment.get(TOKEN_VARIABLE),
                    requests_at_once=share_of(environment),
                    sign_up_open=sign_up_open_of(environment),
                    cost_page_open=cost_page_open_of(environment),
                    operator=environment.get(OPERATOR_VARIABLE, "").strip() or None,
                    replica=ReplicaSettings.of(environment),
                ),
                replace(connection_limits(environment), plain=plain_http_of(environment)),
            )
        except (ValueError, MailSettingsError, MailLimitsError) as error:
            raise WebSettingsError(str(error)) from None

    def app(
        self, database: Database, clock: Clock, ring: KeyRing, *, direct_deposit: bool, keeps_mail: bool
    ) -> FastAPI:
        """Return the application with these settings."""
        settings = replace(self.application, ring=ring, direct_deposit=direct_deposit, keeps_mail=keeps_mail)
        app = create_app(database, clock, settings)
        app.openapi()  # built now: it takes most of a second, which would delay a request
        return app


def stop_signal() -> asyncio.Event:
    """Return an event that is set by SIGTERM and SIGINT."""
    stopping = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stopping.set)
    return stopping


def welcome(path: str | None, public_url: str | None, host: str, port: int) -> None:
    """Show the operator the first owner's link, once; on the local machine with the name that passkeys work with."""
    if path is None:
        return
    name = "localhost" if host in ("127.0.0.1", "::1", "0.0.0.0", "::") else host  # noqa: S104 - only compared
    begin = public_url or f"http://{name}:{port}"
    text = f"Nobody can sign in yet. Make the first owner's account, within 24 hours: {begin}{path}"
    print(text, flush=True)  # noqa: T201


def announce(address: str) -> None:
    """Print the service's address for the person who started it."""
    print(f"Hearthpay is ready at {address} (documentation at /docs).", flush=True)  # noqa: T201


async def serve(
    host: str,
    port: int,
    data_dir: Path | None,
    addresses: Addresses,
    clock: Clock | None = None,
    *,
    with_worker: bool = False,
    migrates: bool = True,
) -> None:
    """Serve until SIGTERM or SIGINT; then finish the requests in progress, and stop the worker and the database.

    If started as root, the web is served by another user's process, except with a `clock`, which can't be passed to
    one. Unless it `migrates`, it uses the service's login alone. Raises `SystemExit` with a plain message if the
    address is in use, the database can't be started, the vault has no keys, a setting is invalid or the web process
    dies.
    """
    configure_logging(*log_settings(os.environ))
    separable = clock is None and os.geteuid() == 0
    clock = clock or SystemClock()
    try:
        settings = WebSettings.of(os.environ, clock)
        direct_deposit = load_bank(os.environ) is not None
    except (WebSettingsError, BankSettingsError) as error:
        raise SystemExit(f"hearthpay: {error}") from None
    print("Starting the database …", flush=True)  # noqa: T201
    async with AsyncExitStack() as stack:
        stack.enter_context(
            recorded_as_running(_embedded_dir(data_dir, addresses, migrates=migrates), host, port)
        )
        try:
            found = await stack.enter_async_context(
                open_and_migrate(data_dir, addresses, clock)
                if migrates
                else open_migrated(addresses, with_worker=with_worker)
            )
        except (KeyRingError, SealFileError) as error:
            raise SystemExit(f"hearthpay: {error}") from None
        keeps_mail = MailFolder.of(os.environ, found.data_dir) is not None
        user = await asyncio.to_thread(_lesser_user, found.embedded) if separable else None
        stopping = stop_signal()
        worker = worker_beside(found.data_dir, migrates=migrates) if with_worker else contextlib.nullcontext()
        try:
            if user is None:
                app = settings.app(
                    found.service.database,
                    clock,
                    found.ring,
                    direct_deposit=direct_deposit,
                    keeps_mail=keeps_mail,
                )
                async with (
                    worker,
                    running(app, host, port, connections=settings.connections) as (address, served),
                ):
                    freeze_start_objects(app)
                    announce(address)
                    welcome(
                        found.first_owner,
                        settings.application.public_url,
                        host,
                        urlsplit(address).port or port,
                    )
                    await either(stopping, served)
                    print("Stopping …", flush=True)  # noqa: T201
                return
            await found.service.database.dispose()  # the web process has its own connections
            async with worker, AsyncExitStack() as inner:
                with listen(host, port, queue_within(raise_descriptor_limit())) as listener:
                    order = user.order(
                        found.service, listener, host, direct_deposit=direct_deposit, keeps_mail=keeps_mail
                    )
                    process = await inner.enter_async_context(web_process(order, GRACE_SECONDS + 5))
                    welcome(
                        found.first_owner, settings.application.public_url, host, listener.getsockname()[1]
                    )
                await either(stopping, asyncio.create_task(process.wait()))
                if not stopping.is_set():
                    raise SystemExit(f"hearthpay: the web process has ended ({process.returncode})")
                print("Stopping …", flush=True)  # noqa: T201
        except OSError as error:
            raise SystemExit(f"hearthpay: cannot listen on {host}:{port}: {error.strerror}") from None


async def either(stopping: asyncio.Event, task: asyncio.Task[Any]) -> None:
    """Wait for the stop signal or for the task to end; after a stop signal the task continues."""
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait({waiting, task}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


def _embedded_dir(data_dir: Path | None, addresses: Addresses, *, migrates: bool) -> Path | None:
    """Return the absolute directory of the embedded database; None if the database is given by its URL."""
    if addresses.owner or not migrates:
        return None
    return (data_dir or default_data_dir()).expanduser().resolve()


def _lesser_user(embedded: EmbeddedServer | None) -> WebUser | None:
    try:
        return lesser_user(embedded, os.environ)
    except StaysRootError as error:
        _log.warning("web_runs_as_root", reason=str(error))
        return None
