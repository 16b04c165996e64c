"""The serving process: database, supervisor and web server, started in order and stopped in reverse."""

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import AsyncIterator, Coroutine, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog
import uvicorn
from fastapi import FastAPI

from hearthpay.app import create_app
from hearthpay.clock import Clock, SystemClock
from hearthpay.database.startup import OpenedDatabase, open_database
from hearthpay.database.supervisor import Supervisor

#: How long requests under way may take to finish once the service is told to stop, in seconds.
GRACE_SECONDS = 10


def configure_logging() -> None:
    """Log lines as JSON; tracebacks without the values of local variables, which may be somebody's wages."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(),
        cache_logger_on_first_use=True,
    )


class WebServer(uvicorn.Server):
    """Uvicorn without its own signal handling: the process stops in our order, the database last."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave the signals to `serve`."""
        yield


def listen(host: str, port: int) -> socket.socket:
    """Open the listening socket; raises `OSError` where the address is taken.

    Its connections send at once: head and body of an answer are two writes, and a connection that is kept alive
    would otherwise wait some forty milliseconds between them for the client's acknowledgement.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def run_in_event_loop(work: Coroutine[object, object, None]) -> None:
    """Run ``work`` to its end in the fastest event loop there is: uvloop, except on Windows."""
    factory = None
    if sys.platform != "win32":
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(work)


@asynccontextmanager
async def running(app: FastAPI, host: str, port: int) -> AsyncIterator[tuple[str, asyncio.Task[None]]]:
    """Serve ``app`` for the length of the block: yields its URL and the task that serves.

    Port 0 takes a free one. Raises `OSError` where the address is taken.
    """
    with listen(host, port) as listener:
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            timeout_keep_alive=30,
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


@asynccontextmanager
async def supervised(opened: OpenedDatabase) -> AsyncIterator[None]:
    """Watch the embedded database, where there is one."""
    if opened.embedded is None:
        yield
        return
    async with Supervisor(opened.embedded):
        yield


async def serve(
    host: str, port: int, data_dir: Path | None, database_url: str | None, clock: Clock | None = None
) -> None:
    """Serve until SIGTERM or SIGINT; then finish the requests under way, and stop the database.

    Raises `SystemExit` with a plain message where the address is taken or the database cannot be started.
    """
    configure_logging()
    print("Starting the database …", flush=True)  # noqa: T201
    async with open_database(data_dir, database_url) as opened, supervised(opened):
        app = create_app(opened.database, clock or SystemClock())
        loop = asyncio.get_running_loop()
        stopping = asyncio.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, stopping.set)
        try:
            async with running(app, host, port) as (address, serving):
                print(f"Hearthpay is ready at {address} (documentation at /docs).", flush=True)  # noqa: T201
                waiting = asyncio.create_task(stopping.wait())
                await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                print("Stopping …", flush=True)  # noqa: T201
        except OSError as error:
            raise SystemExit(f"hearthpay: cannot listen on {host}:{port}: {error.strerror}") from None
