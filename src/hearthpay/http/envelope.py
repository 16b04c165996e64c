"""The envelope around every JSON response, and the one way to render it.

Success: `{"success": true, "data": …, "meta": {"requestId": …}}`; lists add `meta.next_cursor`. Error: `{"success":
false, "error": {"code", "message", …}, "meta": {"requestId": …}}`.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hearthpay.wire.answer import Answer

REQUEST_ID_KEY: Final = "hearthpay.request_id"
"""Where the middleware stores the request's id in the ASGI scope."""

T = TypeVar("T")


class JsonResponse(Response):
    """A response whose body is already rendered JSON; the headers are built without Starlette's overhead."""

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
    """Return the id of the request, as in `meta.requestId`, in `X-Request-Id`, in the log and in the audit trail."""
    identity: str = request.scope[REQUEST_ID_KEY]
    return identity


def answer(
    request: Request, data: object, status: int = 200, *, as_of: datetime.date | None = None
) -> Response:
    """Return a successful response with `data`; one that changes daily says which day it applies to."""
    return JsonResponse(Answer(data, status, as_of=as_of).body(request_id_of(request)), status)


def listing(request: Request, items: object, next_cursor: str | None) -> Response:
    """Return a successful response with one page of a list; `next_cursor` is None on the last page."""
    page = Answer(items, is_list=True, next_cursor=next_cursor)
    return JsonResponse(page.body(request_id_of(request)))


# The shapes below exist for OpenAPI: they describe as types what `Answer` and `errors` render.


@dataclass(frozen=True, slots=True)
class Meta:
    """What accompanies every response."""

    requestId: str  # noqa: N815 - the wire's own spelling


@dataclass(frozen=True, slots=True)
class PageMeta:
    """What accompanies every list: pass `next_cursor` as `cursor` to continue; null at the end."""

    requestId: str  # noqa: N815 - the wire's own spelling
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Envelope(Generic[T]):
    """A successful answer."""

    success: bool
    data: T
    meta: Meta


@dataclass(frozen=True, slots=True)
class DatedMeta:
    """What accompanies a response that changes daily: `as_of` is the day it applies to."""

    requestId: str  # noqa: N815 - the wire's own spelling
    as_of: datetime.date


@dataclass(frozen=True, slots=True)
class DatedEnvelope(Generic[T]):
    """A successful response as of a day."""

    success: bool
    data: T
    meta: DatedMeta


@dataclass(frozen=True, slots=True)
class ListEnvelope(Generic[T]):
    """A successful response that is one page of a list."""

    success: bool
    data: list[T]
    meta: PageMeta


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What went wrong; every 400 carries `example`, a correct request, and `docs_url`.

    `hearthpay.http.error_schemas` documents it by code, with its details.
    """

    code: str
    message: str
    details: Any = None
    example: Any = None
    docs_url: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorEnvelope:
    """A response that refuses or failed."""

    success: bool
    error: ErrorBody
    meta: Meta
