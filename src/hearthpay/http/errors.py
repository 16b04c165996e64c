"""Refusals and failures as HTTP responses: one shape for what services refuse and for everything else that goes
wrong.

An unexpected failure is answered as `internal_error`: its cause goes to the log, under the request's id, and never to
the client.
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
"""The OpenAPI extension with a hint for clients that use the wrong method here, about where to do it instead."""

_PROGRAMS: Final = frozenset({"/api", "/healthz", "/readyz", "/metrics", "/openapi.json", "/llms.txt"})
"""Paths besides the API that only programs request."""
_FOR_PROGRAMS: Final = ("/oauth/token", "/oauth/register", "/oauth/revoke")
"""Paths that always respond in OAuth's own shape (RFC 6749, section 5.2), whatever goes wrong."""
_KEY_RETRY_AFTER: Final = "60"
_log = structlog.get_logger("hearthpay.http")


FailurePage = Callable[[Request, Refusal], Response]


def error_response(request: Request, error: Refusal) -> Response:
    """Return `error` as a response, with an example and a link to the documentation if the request was at fault.

    A browser gets a page, except from the API: developers see there what their program will get.
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
    """Return the OAuth code nearest to a status, from RFC 6749, sections 4.1.2.1 and 5.2."""
    if status in (429, 503):
        return "temporarily_unavailable"
    return "invalid_request" if status < 500 else "server_error"


def internal_error(request: Request, cause: Exception) -> Response:
    """Return the response to an unexpected failure: its cause is logged without values, and not sent to the client."""
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
    """Return the refusal of a path parameter that can't be one of our ids.

    `/payroll/run` is no `/payroll/{payroll_id}`: if the address belongs to another route, the method is at fault.
    """
    return HTTPException(405 if _routes_of_exactly(request) else 404)


def _routes_of_exactly(request: Request) -> list[Any]:
    return [route for route in request.app.routes if getattr(route, "path", None) == request.scope["path"]]


def _elsewhere(request: Request) -> str:
    extras = (getattr(route, "openapi_extra", None) or {} for route in _routes_of_exactly(request))
    return next((f" {extra[ELSEWHERE]}" for extra in extras if ELSEWHERE in extra), "")


def _methods_of(request: Request) -> list[str]:
    """Return the methods that the address answers, from all its routes (the router itself lists only the first)."""
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
    """Return the response to what the transaction itself didn't treat as an outage: the SQLSTATE decides."""
    trouble = database_failure_of(error)
    return internal_error(request, error) if trouble is None else unavailable(request, error, trouble)


def unavailable(request: Request, error: Exception, trouble: DatabaseFailure) -> Response:
    """Return the 503 for a database failure; the log gets its kind, the SQLSTATE and the class of the error."""
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
    """Return the response of a process that lacks a key and so writes nothing; its log has ids of keys, never a key."""
    _log.error("key ring outdated", request_id=request_id_of(request), cause=str(error))
    refusal = Refusal(
        "service_unavailable",
        "This process does not have the encryption key that is needed: nothing was saved. Its environment or key file "
        "is outdated; the operator finds the key's id in the log.",
        headers={"Retry-After": _KEY_RETRY_AFTER},
    )
    return error_response(request, refusal)


def reads_pages(request: Request) -> bool:
    """Return whether a person reads the response: a browser lists HTML in its Accept header, a program doesn't."""
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
