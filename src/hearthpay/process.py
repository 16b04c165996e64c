"""What each of our processes needs: a log without secrets, an event loop, a supervised database, and keys."""

import asyncio
import gc
import logging
import os
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Final

import orjson
import structlog

from hearthpay.database.sealing_keys import require_keys_for
from hearthpay.database.startup import OpenedDatabase
from hearthpay.database.supervisor import Supervisor
from hearthpay.http.request_log import describe_failure
from hearthpay.security.key_ring import KeyRing, load_key_ring

_ALLOCATIONS: Final = 50_000
"""Objects made, less those freed, before the youngest are searched for garbage: about those of two chunks."""


def collect_garbage_rarely() -> None:
    """Exclude what has been loaded from garbage collection, and search the rest less often.

    A worker makes many objects in each chunk, and a page of a household that has paid for years likewise; reference
    counting frees nearly all of them. At Python's thresholds the search takes a fifth of a worker's time, and a tenth
    of a page's.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS, 10, 10)


def configure_logging(level: str = "warning", form: str = "json") -> None:
    """Log to standard error, one JSON object per line (or readable text); `level` is for our own lines.

    Libraries log from warnings on, whatever the level: below that, they reveal statements, rows and addresses.
    Failures are described without their values, which may be someone's wages.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(_exception),
    ]
    readable = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    structlog.configure(
        processors=[*shared, readable if form == "text" else structlog.processors.JSONRenderer(orjson.dumps)],
        logger_factory=(
            structlog.PrintLoggerFactory(sys.stderr)
            if form == "text"
            else structlog.BytesLoggerFactory(sys.stderr.buffer)
        ),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared, _first_line],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                readable if form == "text" else structlog.processors.JSONRenderer(),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def log_settings(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the level and format of the service's log, from HEARTHPAY_LOG_LEVEL and HEARTHPAY_LOG; by default info
    and JSON.

    Raises `SystemExit` with a plain message for any other value.
    """
    return (
        _chosen(environment, "HEARTHPAY_LOG_LEVEL", "info", ("debug", "info", "warning", "error")),
        _chosen(environment, "HEARTHPAY_LOG", "json", ("json", "text")),
    )


def _chosen(environment: Mapping[str, str], variable: str, usual: str, choices: tuple[str, ...]) -> str:
    value = environment.get(variable, "").lower() or usual
    if value not in choices:
        raise SystemExit(f"hearthpay: {variable} must be one of {', '.join(choices)}, not {value!r}")
    return value


def _exception(exc_info: structlog.typing.ExcInfo) -> str:
    return describe_failure(exc_info[1])


def _first_line(
    _logger: object, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Keep only the first line of a library's message: asyncio continues with whole tasks and their contents."""
    event["event"] = str(event["event"]).partition("\n")[0]
    return event


def run_in_event_loop(work: Coroutine[object, object, None]) -> None:
    """Run ``work`` to completion in the fastest event loop available: uvloop, except on Windows."""
    factory = None
    if sys.platform != "win32":
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(work)


@asynccontextmanager
async def supervised(opened: OpenedDatabase) -> AsyncIterator[None]:
    """Watch the embedded database, if there is one."""
    if opened.embedded is None:
        yield
        return
    async with Supervisor(opened.embedded):
        yield


async def key_ring_of(opened: OpenedDatabase) -> KeyRing:
    """Return the vault's keys, from the environment or next to the embedded database.

    Raises KeyRingError, also if they aren't the keys that this database is encrypted with.
    """
    ring = load_key_ring(None if opened.embedded is None else opened.embedded.data_dir, os.environ)
    async with opened.as_operator() as operator, operator.transaction(None) as session:
        await require_keys_for(session, ring)
    return ring
