"""Refusals and failures: one exception, one table of codes, one shape on the wire.

Services raise `ApiError` (or `invalid(field, message)`); everything else that can go wrong on a request is
turned into one here. A failure nobody foresaw is answered as `internal_error`: its cause goes to the log,
under the request's id, and never to the client.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import structlog
from fastapi import FastAPI
from pydantic_core import ErrorDetails
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from hearthpay.database.outage import DatabaseUnavailable, WrongRoleError
from hearthpay.http.database_trouble import OUT_OF_REACH, Trouble, sqlstate_of, trouble_of
from hearthpay.http.envelope import JsonResponse, render, request_id_of
from hearthpay.http.example import docs_url_of, example_of
from hearthpay.http.request_log import describe_failure, route_of
from hearthpay.http.secrecy import PORTAL_ONLY, names_a_secret, shown_name
from hearthpay.security.key_ring import KeyRingError
from hearthpay.taxes.errors import TaxInputError

STATUS: Final[Mapping[str, int]] = {
    "validation_error": 400,
    "invalid_state": 400,
    "unsupported_tax_year": 400,
    "unsupported_jurisdiction": 400,
    "tax_year_not_final": 400,
    "pay_date_past_deadline": 400,
    "confirmation_required": 400,
    "duplicate_employee": 400,
    "too_many_employees": 400,
    "employee_not_in_household": 400,
    "employee_not_started": 400,
    "employee_incomplete": 400,
    "authentication_required": 401,
    "plan_limit_reached": 403,
    "subscription_required": 403,
    "scope_required": 403,
    "household_forbidden": 403,
    "key_mode_mismatch": 403,
    "autopilot_enroll_in_app": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "autopilot_run_scheduled": 409,
    "period_ahead_of_anchor": 409,
    "payroll_overlap": 409,
    "idempotency_conflict": 409,
    "gone": 410,
    "invitation_too_soon": 412,
    "direct_deposit_unavailable": 412,
    "rate_limited": 429,
    "internal_error": 500,
    "service_unavailable": 503,
}
"""Every code the API answers with, and its HTTP status."""

_PLAIN_WORDS: Final = {
    "missing": "is required",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number",
    "int_from_float": "must be a whole number",
    "list_type": "must be a list",
    "dict_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
    "string_pattern_mismatch": "must be a name of small letters, digits and underscores",
}
"""What is wrong, by pydantic's names for it."""

_KEY_RETRY_AFTER: Final = "60"
_MOST_PROBLEMS: Final = 50
_log = structlog.get_logger("hearthpay.http")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a request: the field as the client wrote it (`employees[0].bonus`) and why."""

    field: str
    message: str


class ApiError(Exception):
    """A refusal the client can understand and act on.

    `details` is a list of `Problem` for `validation_error`, a mapping for every other code. `example`
    replaces the endpoint's own example (a request to send again, for `confirmation_required`). `status`
    departs from the code's usual one.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        details: Mapping[str, object] | Sequence[Problem] | None = None,
        example: object = None,
        headers: Mapping[str, str] | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details
        self.example = example
        self.headers = headers
        self.status = STATUS[code] if status is None else status


def invalid(field: str, message: str) -> ApiError:
    """The `validation_error` for one field, named as the client wrote it."""
    return invalid_fields([Problem(field, message)])


def invalid_fields(problems: Sequence[Problem]) -> ApiError:
    """The `validation_error` that lists every problem of a request; its message tells the first."""
    first = problems[0]
    more = f" ({len(problems) - 1} more in details)" if len(problems) > 1 else ""
    return ApiError("validation_error", f"{first.field}: {first.message}{more}", details=list(problems))


def from_tax_engine(error: TaxInputError) -> ApiError:
    """What the tax engine refuses, as the API says it."""
    if error.code == "validation_error":
        return invalid(error.field, error.message)
    return ApiError(error.code, f"{error.field}: {error.message}", details={"field": error.field})


def problems_of(errors: Sequence[ErrorDetails], *, root: str = "body") -> list[Problem]:
    """Pydantic's findings as problems, the first fifty; what concerns the request as a whole is said of `root`."""
    return [Problem(_spell(error["loc"], root), _explain(error)) for error in errors[:_MOST_PROBLEMS]]


def _spell(location: Sequence[int | str], root: str) -> str:
    spelled = ""
    for part in location:
        if isinstance(part, int):
            spelled += f"[{part}]"
        elif part != "[key]":  # pydantic's mark for the name, not the value, of a mapping's entry
            name = shown_name(part)
            spelled += f".{name}" if spelled else name
    return spelled or root


def _explain(error: ErrorDetails) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return PORTAL_ONLY if names_a_secret(str(error["loc"][-1])) else "is not a field of this request"
    plain = _PLAIN_WORDS.get(kind)
    if plain is not None:
        return plain
    context = error.get("ctx", {})
    match kind:
        case "literal_error" | "enum":
            return f"must be {context['expected'].replace(chr(39), '')}"
        case "greater_than_equal":
            return f"must be at least {context['ge']:,}"
        case "less_than_equal":
            return f"must be at most {context['le']:,}"
        case "too_short":
            return f"must have at least {_entries(context['min_length'])}"
        case "too_long":
            return f"must have at most {_entries(context['max_length'])}"
    message = error["msg"]
    return message[:1].lower() + message[1:]


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def error_response(request: Request, error: ApiError) -> Response:
    """`error` on the wire, with an example and a link to the documentation where the request was at fault."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.details is not None:
        details = error.details
        body["details"] = details if isinstance(details, Mapping) else [asdict(entry) for entry in details]
    if error.status == 400:
        body["example"] = example_of(request) if error.example is None else error.example
        body["docs_url"] = docs_url_of(request)
    envelope = {"success": False, "error": body, "meta": {"requestId": request_id_of(request)}}
    return JsonResponse(render(envelope), error.status, error.headers)


def internal_error(request: Request, cause: Exception) -> Response:
    """The answer to a failure nobody foresaw: its cause is logged without values, and answered without a word."""
    _log.error(
        "request failed",
        request_id=request_id_of(request),
        method=request.method,
        route=route_of(request.scope),
        exception=describe_failure(cause),
    )
    message = "Something went wrong on our side. The request's id is in meta.requestId and in the log."
    return error_response(request, ApiError("internal_error", message))


async def _on_api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return error_response(request, error)


async def _on_tax_input_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, TaxInputError)
    return error_response(request, from_tax_engine(error))


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        refusal = ApiError("not_found", "There is nothing at this address.")
    elif error.status_code == 405:
        refusal = ApiError(
            "method_not_allowed",
            f"This address does not answer {request.method}; the header Allow lists what it does answer.",
            headers={"Allow": ", ".join(_methods_of(request))},
        )
    else:
        refusal = ApiError("validation_error", error.detail, status=error.status_code, headers=error.headers)
    return error_response(request, refusal)


def nothing_here(request: Request) -> HTTPException:
    """The refusal of a path parameter that can be nothing of ours.

    `/payroll/run` is no `/payroll/{payroll_id}`: where the address is another route's own, the method is at fault.
    """
    return HTTPException(405 if _routes_of_exactly(request) else 404)


def _routes_of_exactly(request: Request) -> list[Any]:
    return [route for route in request.app.routes if getattr(route, "path", None) == request.scope["path"]]


def _methods_of(request: Request) -> list[str]:
    """What the address does answer, of all its routes (the router itself tells of the first only)."""
    exact = _routes_of_exactly(request)
    matching = exact or [
        route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE
    ]
    methods: set[str] = set()
    for route in matching:
        methods |= route.methods or set()
    if "GET" in methods:
        methods.add("HEAD")  # the gate answers it as a GET
    return sorted(methods)


async def _on_database_unavailable(request: Request, error: Exception) -> Response:
    return unavailable(request, error, trouble_of(error) or OUT_OF_REACH)


async def _on_database_error(request: Request, error: Exception) -> Response:
    """What the transaction itself did not take for an outage: the SQLSTATE has the last word."""
    trouble = trouble_of(error)
    return internal_error(request, error) if trouble is None else unavailable(request, error, trouble)


def unavailable(request: Request, error: Exception, trouble: Trouble) -> Response:
    """The 503 for trouble with the database; the log gets its kind, the SQLSTATE and the class of the error."""
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
    return error_response(request, ApiError("service_unavailable", trouble.message, headers=headers))


async def _on_key_ring_error(request: Request, error: Exception) -> Response:
    """A process that lacks a key writes nothing, and says so; its message holds ids of keys and never a key."""
    _log.error("key ring outdated", request_id=request_id_of(request), cause=str(error))
    refusal = ApiError(
        "service_unavailable",
        "This process does not have the encryption key that is needed: nothing was saved. Its environment or key file "
        "is outdated; the operator finds the key's id in the log.",
        headers={"Retry-After": _KEY_RETRY_AFTER},
    )
    return error_response(request, refusal)


def install(app: FastAPI) -> None:
    """Give every failure of `app` the envelope; what remains is caught by the gate."""
    app.add_exception_handler(ApiError, _on_api_error)
    app.add_exception_handler(TaxInputError, _on_tax_input_error)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(DatabaseUnavailable, _on_database_unavailable)
    app.add_exception_handler(DBAPIError, _on_database_error)
    app.add_exception_handler(KeyRingError, _on_key_ring_error)
