"""Routes of the API: FastAPI's, with a handler that has its own fixed order and little overhead.

A route reads like any FastAPI route: a `Request`, at most one body model, at most one query model, path parameters,
and dependencies such as `require(RUN_PAYROLL)`. A body with a default may be left out. `Endpoint` runs it in a fixed
order, which FastAPI's solver doesn't keep: authentication, then the path, the query and the body. So a caller without
a key learns only that it needs one, and a measured two thirds of the framework's time per request are saved.
"""

import functools
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final, cast

from fastapi import APIRouter
from fastapi.routing import APIRoute
from fastapi.utils import create_model_field
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hearthpay.access.actor import Actor
from hearthpay.access.plans import Feature
from hearthpay.access.refusal import invalid_fields
from hearthpay.clock import household_time
from hearthpay.http.auth import require
from hearthpay.http.envelope import ErrorEnvelope
from hearthpay.http.errors import ELSEWHERE, nothing_here
from hearthpay.http.example import operation_extras
from hearthpay.http.household_times import household_time_of, refuse_while_advancing
from hearthpay.http.json_body import read_json
from hearthpay.http.query_values import query_values
from hearthpay.http.runtime import runtime_of
from hearthpay.http.statuses import STATUS
from hearthpay.wire.problems import problems_of
from hearthpay.wire.year_names import under_sent_name

RouteGuard = Callable[[Request], Awaitable[object]]

_TOO_LATE: Final = 408
_TOO_LARGE: Final = 413
_ANY_ENDPOINT: Final = (
    "validation_error",
    "authentication_required",
    "subscription_required",
    "scope_required",
    "rate_limited",
)
_RATE_LIMITED: Final = STATUS["rate_limited"]
_RATE_LIMIT_HEADERS: Final = {
    name: {"description": what, "schema": {"type": "integer"}}
    for name, what in (
        ("Retry-After", "Seconds after which to try again; where the day is used up, until midnight UTC."),
        ("RateLimit-Limit", "How many requests the key may make per UTC day."),
        ("RateLimit-Remaining", "How many of them are left."),
        ("RateLimit-Reset", "Seconds until the count starts again."),
    )
}

_REFUSAL_FIELD: Final = create_model_field("Refusal", ErrorEnvelope, mode="serialization")
"""What FastAPI documents a refusal by; it would build another for each of an endpoint's statuses."""

OCTETS: Final = "application/octet-stream"
"""The type of any file's answer, for clients that list it in `Accept`; by default a file has its own type."""

_FILE_HEADERS: Final = {
    "Content-Disposition": "The name to keep it by.",
    "ETag": "Names this version; send it back in `If-None-Match` to `Content-Location`.",
    "Content-Location": "Where this version can be had again.",
}


class Endpoint(APIRoute):
    """A route that authenticates first, then reads path, query and body strictly."""

    @property
    def required_scope(self) -> str | None:
        """The scope without which the route refuses a key; None if any key will do."""
        guards = (entry.call for entry in self.dependant.dependencies)
        return next((guard.scope for guard in guards if isinstance(guard, require)), None)

    @property
    def required_feature(self) -> Feature | None:
        """What the organization's plan must include; None if any plan will do."""
        guards = (entry.call for entry in self.dependant.dependencies)
        return next((guard.feature for guard in guards if isinstance(guard, require)), None)

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """See FastAPI; its layers around the handler are for forms and for cleanup dependencies, which we don't use."""
        responses: dict[int | str, dict[str, Any]] = options.pop("responses", None) or {}
        refusals = {status for status, each in responses.items() if each.get("model") is ErrorEnvelope}
        others = {status: each for status, each in responses.items() if status not in refusals}
        super().__init__(path, endpoint, responses=others, **options)
        self.responses = responses
        self.response_fields |= dict.fromkeys(refusals, _REFUSAL_FIELD)
        self.app = self._serve

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self.respond(Request(scope, receive, send))
        await response(scope, receive, send)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler: `respond`."""
        return self.respond

    @functools.cached_property
    def respond(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, with everything prepared that doesn't depend on a request."""
        dependant = self.dependant
        call = cast(Callable[..., Awaitable[Response]], dependant.call)
        request_name = dependant.request_param_name
        guards = [(cast(str, entry.name), cast(RouteGuard, entry.call)) for entry in dependant.dependencies]
        path = [
            (field.name, TypeAdapter[object](field.field_info.rebuild_annotation()))
            for field in dependant.path_params
        ]
        query = _only_model(dependant.query_params)
        body = _only_model(dependant.body_params)
        of_households = self.required_scope not in (None, "calculator")
        optional = body is not None and not dependant.body_params[0].field_info.is_required()

        async def handle(request: Request) -> Response:
            values: dict[str, object] = {}
            if request_name is not None:
                values[request_name] = request
            actor: object = None
            for name, guard in guards:
                actor = values[name] = await guard(request)
            for name, adapter in path:
                try:
                    values[name] = adapter.validate_python(request.path_params[name])
                except ValidationError:
                    raise nothing_here(request) from None
            if query is not None:
                values[query[0]] = _validated(query[1], query_values(request, query[1]), root="query")
            if body is not None:
                values[body[0]] = _validated(
                    body[1], await read_json(request, optional=optional), root="body"
                )
            if not isinstance(actor, Actor):
                return await call(**values)
            async with runtime_of(request).fair_share.place(actor.organization_id):
                if not (actor.sandbox and of_households):
                    return await call(**values)
                with household_time(await household_time_of(request, actor, values)):
                    refuse_while_advancing(request.method)
                    return await call(**values)

        return handle


def _only_model(fields: list[Any]) -> tuple[str, type[BaseModel]] | None:
    """Return the one model among a route's body or query parameters; TypeError for anything `Endpoint` can't run."""
    if not fields:
        return None
    model = fields[0].field_info.annotation
    if len(fields) > 1 or not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise TypeError("an endpoint takes its body, and its query, as one model")
    return fields[0].name, model


def _validated(model: type[BaseModel], value: object, *, root: str) -> BaseModel:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        findings = under_sent_name(model, value, error.errors(include_url=False, include_input=False))
        raise invalid_fields(problems_of(findings, root=root)) from None


def api_router(tag: str) -> APIRouter:
    """Return a router for one feature package; its endpoints appear under `tag` in the documentation."""
    return APIRouter(prefix="/api/v1", tags=[tag], route_class=Endpoint)


def describe(
    *,
    answer: object,
    body: object = None,
    query: object = None,
    status: int = 200,
    errors: tuple[str, ...] = (),
    links: Mapping[str, Mapping[str, str]] | None = None,
    elsewhere: str | None = None,
) -> dict[str, Any]:
    """Return an endpoint's description, as arguments of FastAPI's `router.get` and its siblings.

    `answer` is the envelope type of its success; `body` or `query` a correct example request, shown in the
    documentation and with each of its 400s; `errors` the codes it may return beyond those that every endpoint may;
    `links` where the response leads: per operation id, its parameters and the fields of `data` to take them from;
    `elsewhere` a sentence for clients that use another method here, about where to do that instead.
    """
    codes: dict[int, list[str]] = {}
    advancing = ("clock_advancing",) if "idempotency_conflict" in errors else ()
    for code in dict.fromkeys((*_ANY_ENDPOINT, *errors, *advancing)):
        codes.setdefault(STATUS[code], []).append(code)
    if body is not None:
        codes[_TOO_LATE] = codes[_TOO_LARGE] = ["validation_error"]
    codes[500] = ["internal_error"]
    codes[503] = ["service_unavailable"]
    refusals: dict[int | str, dict[str, Any]] = {
        number: {"model": ErrorEnvelope, "description": " · ".join(f"`{code}`" for code in names)}
        for number, names in sorted(codes.items())
    }
    refusals[_RATE_LIMITED]["headers"] = _RATE_LIMIT_HEADERS
    return {
        "response_model": answer,
        "status_code": status,
        "responses": {status: {"links": _links(links)}, **refusals} if links else refusals,
        "openapi_extra": operation_extras(body=body, query=query)
        | ({} if elsewhere is None else {ELSEWHERE: elsewhere}),
    }


def describe_file(
    *,
    media_types: tuple[str, ...],
    what: str,
    errors: tuple[str, ...] = (),
    body: object = None,
    later: tuple[object, str] | None = None,
) -> dict[str, Any]:
    """Return the description of an endpoint that returns a file of these types; the rest is as in `describe`.

    `later` is the envelope of its 202, and its description, if the file may have to be made first.
    """
    described = describe(answer=None, body=body, errors=errors)
    described["response_class"] = Response
    described["responses"][200] = {
        "description": what,
        "content": _file_content(media_types),
        "headers": {
            name: {"description": description, "schema": {"type": "string"}}
            for name, description in _FILE_HEADERS.items()
        },
    }
    if later is not None:
        model, description = later
        where = {"Location": {"description": "Where to ask for it.", "schema": {"type": "string"}}}
        described["responses"][202] = {"model": model, "description": description, "headers": where}
    return described


def _file_content(media_types: tuple[str, ...]) -> dict[str, Any]:
    """Return the contents of a file's answer, so that generators of clients read them as bytes, and text as text.

    openapi-python-client takes the first type that it knows, and of bytes it knows `OCTETS` only: it stands first.
    """
    text = {name: {"schema": {"type": "string"}} for name in media_types if name.startswith("text/")}
    others = [name for name in media_types if name not in text]
    binary = {"schema": {"type": "string", "format": "binary"}}
    return dict.fromkeys((OCTETS, *others) if others else (), binary) | text


def _links(links: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    return {
        operation_id: {
            "operationId": operation_id,
            "parameters": {name: f"$response.body#/data/{field}" for name, field in parameters.items()},
        }
        for operation_id, parameters in links.items()
    }
