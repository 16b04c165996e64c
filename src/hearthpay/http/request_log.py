"""One log line for every request, and descriptions of failures without the values that caused them.

A line has the route's template, the status, the duration and the actor. What a client sends, such as the query, the
body or a made-up address, is never logged: it may contain wages, names or numbers.
"""

import traceback
from typing import Final

import structlog
from starlette.requests import Request
from starlette.types import Scope

from hearthpay.access.actor import Actor

UNANSWERED: Final = 0
"""The status of a request that was cut off before its response began."""

_ACTOR_KEY: Final = "hearthpay.actor"
_QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})
_FAILED: Final = 500

_log = structlog.get_logger("hearthpay.http")


def note_actor(request: Request, actor: Actor) -> None:
    """Remember the actor for the request's log line; called as soon as the key is known to be valid."""
    request.scope[_ACTOR_KEY] = actor


def route_of(scope: Scope) -> str | None:
    """Return the template of the route that handled the request, such as `/api/v1/payroll/{payroll_id}`; None without
    one.
    """
    route = scope.get("route")
    template: str | None = getattr(route, "path_format", None) or getattr(route, "path", None)
    return template


def log_request(scope: Scope, route: str | None, status: int, seconds: float) -> None:
    """Write the request's line: probes at the debug level, our own failures as errors, the rest as info.

    `seconds` is how long the response took; the line has milliseconds. The request's id is added from the context.
    """
    if status >= _FAILED or status == UNANSWERED:
        write = _log.error
    elif route in _QUIET:
        write = _log.debug
    else:
        write = _log.info
    who: dict[str, str] = {}
    actor: Actor | None = scope.get(_ACTOR_KEY)
    if actor is not None:
        who = {
            "organization_id": str(actor.organization_id),
            "actor": actor.kind,
            "actor_id": str(actor.id),
            "mode": actor.mode,
        }
    write("request", method=scope["method"], route=route, status=status, ms=round(seconds * 1000, 2), **who)


def describe_failure(failure: BaseException) -> str:
    """Return where and why it failed: the stacks and types of the exception and of all its causes, causes first.

    The exceptions' own texts are left out: they quote values, such as a refused row with a name and a wage in it. For
    a database refusal, its code and the names of constraint, table and column are included.
    """
    return "\n".join(_described(failure, set()))


def _described(failure: BaseException, seen: set[int]) -> list[str]:
    seen.add(id(failure))
    parts: list[str] = []
    before = failure.__cause__
    if before is None and not failure.__suppress_context__:
        before = failure.__context__
    if before is not None and id(before) not in seen:
        parts += [*_described(before, seen), "which led to:"]
    parts.append("Traceback (most recent call last):")
    parts += [line.rstrip("\n") for line in traceback.format_tb(failure.__traceback__)]
    parts.append(_failure_fields(failure))
    if isinstance(failure, BaseExceptionGroup):
        for member in failure.exceptions:
            if id(member) not in seen:
                parts += ["of which one is:", *_described(member, seen)]
    return parts


def _failure_fields(failure: BaseException) -> str:
    kind = type(failure)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    diagnosis = getattr(failure, "diag", None)
    facts = {
        "sqlstate": getattr(diagnosis, "sqlstate", None),
        "constraint": getattr(diagnosis, "constraint_name", None),
        "table": getattr(diagnosis, "table_name", None),
        "column": getattr(diagnosis, "column_name", None),
    }
    described = ", ".join(f"{fact}={value}" for fact, value in facts.items() if value)
    return f"{name} ({described})" if described else name
