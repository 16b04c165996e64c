"""The envelope around every JSON response, and the one way to render it.

Success: `{"success": true, "data": …, "meta": {"requestId": …}}`; lists add `meta.next_cursor`. Error: `{"success":
false, "error": {"code", "message", …}, "meta": {"requestId": …}}`.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, TypeVar

from pydantic import Field
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

Success = Annotated[bool, Field(description="Always `true`: the request did what it was to do.")]
Unsuccessful = Annotated[bool, Field(description="Always `false`: the request was refused or failed.")]
RequestId = Annotated[
    str,
    Field(description="Names this request in our log and in the header `X-Request-Id`; quote it to support."),
]


@dataclass(frozen=True, slots=True)
class Meta:
    """What accompanies every response."""

    requestId: RequestId  # noqa: N815 - the wire's own spelling


@dataclass(frozen=True, slots=True)
class PageMeta:
    """What accompanies every list: pass `next_cursor` as `cursor` to continue; null at the end."""

    requestId: RequestId  # noqa: N815 - the wire's own spelling
    next_cursor: str | None
    """Pass it as `cursor` to get the next page; null on the last page."""


@dataclass(frozen=True, slots=True)
class Envelope(Generic[T]):
    """A successful answer."""

    success: Success
    data: T
    """The answer itself."""

    meta: Meta
    """What accompanies the answer."""


@dataclass(frozen=True, slots=True)
class DatedMeta:
    """What accompanies a response that changes daily: `as_of` is the day it applies to."""

    requestId: RequestId  # noqa: N815 - the wire's own spelling
    as_of: datetime.date
    """The day that the answer applies to; it may change from day to day."""


@dataclass(frozen=True, slots=True)
class DatedEnvelope(Generic[T]):
    """A successful response as of a day."""

    success: Success
    data: T
    """The answer itself."""

    meta: DatedMeta
    """What accompanies the answer."""


@dataclass(frozen=True, slots=True)
class ListEnvelope(Generic[T]):
    """A successful response that is one page of a list."""

    success: Success
    data: list[T]
    """One page of the list; empty if nothing matches."""

    meta: PageMeta
    """What accompanies the page."""


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What went wrong; every 400 carries `example`, a correct request, and `docs_url`.

    `hearthpay.http.error_schemas` documents it by code, with its details.
    """

    code: str
    """What went wrong, for programs; a code never changes its meaning."""

    message: str
    """The same in English, for people. Its words may change."""

    details: Any = None
    """What programs may need besides, by `code`."""

    example: Any = None
    """A correct request for the same endpoint; with every 400."""

    docs_url: str | None = None
    """The endpoint's documentation; with every 400."""


@dataclass(frozen=True, slots=True)
class ErrorEnvelope:
    """A response that refuses or failed."""

    success: Unsuccessful
    error: ErrorBody
    """What went wrong."""

    meta: Meta
    """What accompanies the answer."""
