"""Refusals and failures on the wire: one shape for what services refuse and for all else that goes wrong.

A failure nobody foresaw is answered as `internal_error`: its cause goes to the log,
under the request's id, and never to the client.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import structlog
from fastapi import FastAPI
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from hearthpay.access.refusal import Refusal, from_tax_engine
from hearthpay.database.outage import DatabaseUnavailable, WrongRoleError
from hearthpay.http.database_failures import OUT_OF_REACH, DatabaseFailure, database_failure_of, sqlstate_of
from hearthpay.http.envelope import JsonResponse, request_id_of
from hearthpay.http.example import docs_url_of, example_of
from hearthpay.http.request_log import describe_failure, route_of
from hearthpay.http.statuses import HttpRefusal, status_of
from hearthpay.security.key_ring import KeyRingError
from hearthpay.taxes.errors import TaxInputError
from hearthpay.wire.answer import render

ELSEWHERE: Final = "x-entered-elsewhere"
"""Where an operation tells who tries another method on its address where that is done instead."""

_PROGRAMS: Final = frozenset({"/api", "/healthz", "/readyz", "/metrics", "/openapi.json"})
"""What only programs ask for, beside the API."""
_FOR_PROGRAMS: Final = ("/oauth/token", "/oauth/register", "/oauth/revoke")
"""What answers in OAuth's own shape (RFC 6749, section 5.2), whatever goes wrong."""
_KEY_RETRY_AFTER: Final = "60"
_log = structlog.get_logger("hearthpay.http")


FailurePage = Callable[[Request, Refusal], Response]


def error_response(request: Request, error: Refusal) -> Response:
    """`error` on the wire, with an example and a link to the documentation where the request was at fault.

    A browser is shown a page, save by the API: who writes a program reads there what it will read.
    """
    status = status_of(error)
    if request.url.path in _FOR_PROGRAMS:
        told = {"error": _oauth_code(status), "error_description": error.message}
        return JsonResponse(render(told), status, {**(error.headers or {}), "Cache-Control": "no-store"})
    if (page := _page_for(request)) is not None:
        return page(request, error)
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.details is not None:
        details = error.details
        body["details"] = (
            details
            if isinstance(details, Mapping)
            else [{"field": each.field, "message": each.message} for each in details]
        )
    if status == 400:
        body["example"] = example_of(request) if error.example is None else error.example
        body["docs_url"] = docs_url_of(request)
    envelope = {"success": False, "error": body, "meta": {"requestId": request_id_of(request)}}
    return JsonResponse(render(envelope), status, error.headers)


def _oauth_code(status: int) -> str:
    """Return the code of OAuth that is nearest to a status; of RFC 6749, sections 4.1.2.1 and 5.2."""
    if status in (429, 503):
        return "temporarily_unavailable"
    return "invalid_request" if status < 500 else "server_error"


def internal_error(request: Request, cause: Exception) -> Response:
    """Return the answer to a failure nobody foresaw: its cause is logged without values, and answered without a
    word.
    """
    _log.error(
        "request failed",
        request_id=request_id_of(request),
        method=request.method,
        route=route_of(request.scope),
        exception=describe_failure(cause),
    )
    message = "Something went wrong on our side. The request's id is in meta.requestId and in the log."
    return error_response(request, Refusal("internal_error", message))


async def _on_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return error_response(request, error)


async def _on_tax_input_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, TaxInputError)
    return error_response(request, from_tax_engine(error))


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    refusal: Refusal
    if error.status_code == 404:
        refusal = Refusal("not_found", "There is nothing at this address.")
    elif error.status_code == 405:
        refusal = Refusal(
            "method_not_allowed",
            f"This address does not answer {request.method}; the header Allow lists what it does answer."
            + _elsewhere(request),
            headers={"Allow": ", ".join(_methods_of(request))},
        )
    else:
        refusal = HttpRefusal(
            "validation_error", error.detail, status=error.status_code, headers=error.headers
        )
    return error_response(request, refusal)


def nothing_here(request: Request) -> HTTPException:
    """Return the refusal of a path parameter that can be nothing of ours.

    `/payroll/run` is no `/payroll/{payroll_id}`: where the address is another route's own, the method is at fault.
    """
    return HTTPException(405 if _routes_of_exactly(request) else 404)


def _routes_of_exactly(request: Request) -> list[Any]:
    return [route for route in request.app.routes if getattr(route, "path", None) == request.scope["path"]]


def _elsewhere(request: Request) -> str:
    extras = (getattr(route, "openapi_extra", None) or {} for route in _routes_of_exactly(request))
    return next((f" {extra[ELSEWHERE]}" for extra in extras if ELSEWHERE in extra), "")


def _methods_of(request: Request) -> list[str]:
    """Return what the address does answer, of all its routes (the router itself tells of the first only)."""
    exact = _routes_of_exactly(request)
    matching = exact or [
        route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE
    ]
    methods: set[str] = set()
    for route in matching:
        methods |= route.methods or set()
    if "GET" in methods:
        methods.add("HEAD")  # the middleware answers it as a GET
    return sorted(methods)


async def _on_database_unavailable(request: Request, error: Exception) -> Response:
    return unavailable(request, error, database_failure_of(error) or OUT_OF_REACH)


async def _on_database_error(request: Request, error: Exception) -> Response:
    """Return what the transaction itself did not take for an outage: the SQLSTATE has the last word."""
    trouble = database_failure_of(error)
    return internal_error(request, error) if trouble is None else unavailable(request, error, trouble)


def unavailable(request: Request, error: Exception, trouble: DatabaseFailure) -> Response:
    """Return the 503 for trouble with the database; the log gets its kind, the SQLSTATE and the class of the error."""
    cause = error.__cause__
    level = "error" if isinstance(error, WrongRoleError) else "warning"
    getattr(_log, level)(
        "database unavailable",
        request_id=request_id_of(request),
        trouble=trouble.kind,
        sqlstate=sqlstate_of(error),
        error=type(error if cause is None else cause).__name__,
        cause=str(error) if isinstance(error, DatabaseUnavailable) else None,
    )
    headers = {"Retry-After": str(trouble.retry_after)}
    return error_response(request, Refusal("service_unavailable", trouble.message, headers=headers))


async def _on_key_ring_error(request: Request, error: Exception) -> Response:
    """Return a process that lacks a key writes nothing, and says so; its message holds ids of keys and never a key."""
    _log.error("key ring outdated", request_id=request_id_of(request), cause=str(error))
    refusal = Refusal(
        "service_unavailable",
        "This process does not have the encryption key that is needed: nothing was saved. Its environment or key file "
        "is outdated; the operator finds the key's id in the log.",
        headers={"Retry-After": _KEY_RETRY_AFTER},
    )
    return error_response(request, refusal)


def reads_pages(request: Request) -> bool:
    """Return whether a person reads the answer: a browser names HTML among what it takes, a program does not."""
    return "text/html" in request.headers.get("accept", "").lower()


def _page_for(request: Request) -> FailurePage | None:
    path = request.scope["path"]
    if path in _PROGRAMS or path.startswith("/api/") or not reads_pages(request):
        return None
    page: FailurePage | None = getattr(request.app.state, "failure_page", None)
    return page


def install(app: FastAPI, page: FailurePage) -> None:
    """Give every failure of `app` the envelope, or in a browser its `page`; the middleware catches the rest."""
    app.state.failure_page = page
    app.add_exception_handler(Refusal, _on_refusal)
    app.add_exception_handler(TaxInputError, _on_tax_input_error)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(DatabaseUnavailable, _on_database_unavailable)
    app.add_exception_handler(DBAPIError, _on_database_error)
    app.add_exception_handler(KeyRingError, _on_key_ring_error)
