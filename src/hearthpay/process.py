"""What every process of ours needs: a log without secrets, an event loop, its database watched, its keys."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager

import orjson
import structlog

from hearthpay.database.sealing_keys import require_keys_for
from hearthpay.database.startup import OpenedDatabase
from hearthpay.database.supervisor import Supervisor
from hearthpay.http.request_log import describe_failure
from hearthpay.security.key_ring import KeyRing, load_key_ring


def configure_logging(level: str = "warning", form: str = "json") -> None:
    """Log to standard error, a JSON object a line (or readable text); `level` is for our own lines.

    Libraries are heard from their warnings on, whatever the level: below, they tell of statements, rows and
    addresses. Failures are described without their values, which may be somebody's wages.
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
    """Level and form of the service's log, from HEARTHPAY_LOG_LEVEL and HEARTHPAY_LOG; info and JSON without them.

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
    """Of a library's message keep the first line: asyncio goes on with whole tasks and what is in them."""
    event["event"] = str(event["event"]).partition("\n")[0]
    return event


def run_in_event_loop(work: Coroutine[object, object, None]) -> None:
    """Run ``work`` to its end in the fastest event loop there is: uvloop, except on Windows."""
    factory = None
    if sys.platform != "win32":
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(work)


@asynccontextmanager
async def supervised(opened: OpenedDatabase) -> AsyncIterator[None]:
    """Watch the embedded database, where there is one."""
    if opened.embedded is None:
        yield
        return
    async with Supervisor(opened.embedded):
        yield


async def key_ring_of(opened: OpenedDatabase) -> KeyRing:
    """Return the vault's keys, of the environment or beside the embedded database.

    Raises KeyRingError, also where they are not the keys that this database is encrypted with.
    """
    ring = load_key_ring(None if opened.embedded is None else opened.embedded.data_dir, os.environ)
    async with opened.as_operator() as operator, operator.transaction(None) as session:
        await require_keys_for(session, ring)
    return ring
