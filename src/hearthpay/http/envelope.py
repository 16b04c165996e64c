"""The envelope around every JSON answer, and the one way such an answer is rendered.

Success: `{"success": true, "data": …, "meta": {"requestId": …}}`; lists add `meta.next_cursor`.
Error: `{"success": false, "error": {"code", "message", …}, "meta": {"requestId": …}}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Final, Generic, TypeVar

import orjson
from pydantic import WithJsonSchema
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

REQUEST_ID_KEY: Final = "hearthpay.request_id"
"""Where the gate leaves the request's id in the ASGI scope."""

T = TypeVar("T")

_OPTIONS: Final = orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS


def _encode(value: object) -> object:
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise TypeError("a number that is not finite has no JSON form")
        return orjson.Fragment(str(value))
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def render(value: object) -> bytes:
    """`value` as JSON: decimals digit by digit as numbers, UUIDs and dates as text, timestamps in UTC with `Z`.

    Dataclasses and mappings become objects. Raises TypeError for a value without JSON form.
    """
    return orjson.dumps(value, default=_encode, option=_OPTIONS)


class JsonResponse(Response):
    """An answer whose body is already rendered JSON; the headers are built without Starlette's detours."""

    def __init__(self, body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.status_code = status
        self.body = body
        self.background = None
        self.raw_headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode("ascii")),
        ]
        if headers:
            self.raw_headers += [
                (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()
            ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send the answer."""
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        await send(start)
        await send({"type": "http.response.body", "body": self.body})


def request_id_of(request: Request) -> str:
    """The id of the request: in `meta.requestId`, in `X-Request-Id`, in the log and in the audit trail."""
    identity: str = request.scope[REQUEST_ID_KEY]
    return identity


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers: `data` for the envelope; a list also says where it goes on."""

    data: object
    status: int = 200
    is_list: bool = False
    next_cursor: str | None = None

    def body(self, request_id: str) -> bytes:
        """The answer in its envelope, rendered."""
        meta: dict[str, object] = {"requestId": request_id}
        if self.is_list:
            meta["next_cursor"] = self.next_cursor
        return render({"success": True, "data": self.data, "meta": meta})


def answer(request: Request, data: object, status: int = 200) -> Response:
    """A successful answer with `data`."""
    return JsonResponse(Answer(data, status).body(request_id_of(request)), status)


def listing(request: Request, items: object, next_cursor: str | None) -> Response:
    """A successful answer with one page of a list; `next_cursor` is None on the last page."""
    page = Answer(items, is_list=True, next_cursor=next_cursor)
    return JsonResponse(page.body(request_id_of(request)))


# The shapes below exist for OpenAPI: they describe in types what `Answer` and `errors` render.


@dataclass(frozen=True, slots=True)
class Meta:
    """What accompanies every answer."""

    requestId: str  # noqa: N815 - the wire's own spelling


@dataclass(frozen=True, slots=True)
class PageMeta:
    """What accompanies every list: pass `next_cursor` as `cursor` to read on; null at the end."""

    requestId: str  # noqa: N815 - the wire's own spelling
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Envelope(Generic[T]):
    """A successful answer."""

    success: bool
    data: T
    meta: Meta


@dataclass(frozen=True, slots=True)
class ListEnvelope(Generic[T]):
    """A successful answer that is one page of a list."""

    success: bool
    data: list[T]
    meta: PageMeta


_DETAILS: Final = {
    "anyOf": [
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
                "required": ["field", "message"],
                "additionalProperties": False,
            },
        },
        {"type": "object"},
    ],
    "description": "Of a `validation_error` the fields and what is wrong with each; of other codes an object.",
}


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What went wrong; every 400 carries `example`, a correct request, and `docs_url`."""

    code: str
    message: str
    details: Annotated[Any, WithJsonSchema(_DETAILS)] = None
    example: Any = None
    docs_url: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorEnvelope:
    """An answer that refuses or failed."""

    success: bool
    error: ErrorBody
    meta: Meta
