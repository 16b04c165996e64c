"""What `connection.py` builds on inside uvicorn, which promises none of it: looked for at each start.

`pyproject.toml` admits the releases that have it all. Under another one, and where the settings ask for it, connections
are uvicorn's own: they keep its limits and not ours.
"""

import asyncio
import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Final

import structlog

from hearthpay.http.connection_limits import ConnectionLimiter
from hearthpay.http.deadlines import Deadlines

PLAIN_HTTP_VARIABLE: Final = "HEARTHPAY_PLAIN_HTTP"
"""`1`: connections are uvicorn's own, without our limits and deadlines."""

UVICORNS_OWN: Final = "auto"
"""The value of uvicorn's setting `http` for its default connections."""

_PROTOCOL: Final = "uvicorn.protocols.http.httptools_impl"
_METHODS: Final = (
    "connection_made",
    "connection_lost",
    "data_received",
    "on_message_begin",
    "on_url",
    "on_header",
    "on_headers_complete",
    "on_body",
    "on_message_complete",
    "on_response_complete",
    "_unset_keepalive_if_required",
)
_SET_AT_FIRST: Final[Mapping[str, tuple[str, ...]]] = {
    "HttpToolsProtocol": (
        "client",
        "cycle",
        "flow",
        "loop",
        "parser",
        "pipeline",
        "timeout_keep_alive_task",
        "transport",
    ),
    "RequestResponseCycle": ("disconnected", "message_event", "response_complete", "response_started"),
    "FlowControl": ("read_paused",),
}
"""The attributes that instances must have, by class."""

_log = structlog.get_logger("hearthpay.http")


def plain_http_of(environment: Mapping[str, str]) -> bool:
    """Return whether HEARTHPAY_PLAIN_HTTP asks for uvicorn's own connections; raises ValueError for another word."""
    word = environment.get(PLAIN_HTTP_VARIABLE, "").strip() or "0"
    if word not in ("0", "1"):
        raise ValueError(f"{PLAIN_HTTP_VARIABLE} must be 0 or 1")
    return word == "1"


def missing_internals(protocol: ModuleType) -> tuple[str, ...]:
    """Return the names that `connection.py` uses of uvicorn's module of connections and that are not there."""
    missing = [] if 400 in getattr(protocol, "STATUS_LINE", ()) else ["STATUS_LINE"]
    connection = getattr(protocol, "HttpToolsProtocol", None)
    missing += [f"HttpToolsProtocol.{name}" for name in _METHODS if not hasattr(connection, name)]
    for kind, names in _SET_AT_FIRST.items():
        made = getattr(getattr(getattr(protocol, kind, None), "__init__", None), "__code__", None)
        attributes = () if made is None else made.co_names
        missing += [f"{kind}.{name}" for name in names if name not in attributes]
    return tuple(missing)


def http_protocol(
    deadlines: Deadlines, limiter: ConnectionLimiter, *, plain: bool
) -> type[asyncio.Protocol] | str:
    """Return what speaks HTTP, as uvicorn takes it for its setting `http`: connections with these deadlines and limits.

    Uvicorn's own where they are to be `plain`, where there is no such parser (Windows), and, with a warning, where
    uvicorn is not as we know it.
    """
    if plain:
        return UVICORNS_OWN
    try:
        missing = missing_internals(importlib.import_module(_PROTOCOL))
    except ModuleNotFoundError as error:
        if error.name == "httptools":
            return UVICORNS_OWN
        missing = (_PROTOCOL,)
    if missing:
        _log.warning(
            "connections without limits",
            reason="this release of uvicorn is not one that Hearthpay knows",
            missing=missing,
        )
        return UVICORNS_OWN
    from hearthpay.http.connection import timed_by

    return timed_by(deadlines, limiter)
