"""Responses that are the same for everybody until the program changes: rendered once, sent as they are."""

import asyncio
import gzip
import hashlib
from collections.abc import Callable, Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

_UNCHANGED: Final = 304


class Published:
    """A page without anything from the request in it; rendered when it is first requested."""

    def __init__(
        self,
        render: Callable[[], bytes],
        media_type: str,
        headers: Mapping[str, str] | None = None,
        *,
        compressed: bool = False,
    ) -> None:
        """Store the `headers` sent with it; clients may cache it and ask whether it has changed (`ETag`).

        A large page is sent `compressed` to clients that accept gzip.
        """
        self._render = render
        self._headers = {"Cache-Control": "no-cache", **(headers or {}), "Content-Type": media_type}
        self._compressed = compressed
        self._rendered: dict[bool, tuple[bytes, dict[str, str]]] = {}

    async def __call__(self, request: Request) -> Response:
        """Return the page, or 304 if the client has it already."""
        small = self._compressed and accepts_gzip(request.headers.get("accept-encoding", ""))
        if small not in self._rendered:
            body = self._render()
            headers = dict(self._headers)
            if self._compressed:
                headers["Vary"] = "Accept-Encoding"
            if small:
                body = await asyncio.to_thread(gzip.compress, body, mtime=0)
                headers["Content-Encoding"] = "gzip"
            headers["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
            self._rendered[small] = (body, headers)
        body, headers = self._rendered[small]
        if lists_tag(request.headers.get("if-none-match", ""), headers["ETag"]):
            return Response(status_code=_UNCHANGED, headers=headers)
        return Response(body, headers=headers)


def accepts_gzip(accepted: str) -> bool:
    """Return whether an `Accept-Encoding` header lists gzip, and not with `q=0` (RFC 9110, 12.5.3)."""
    for part in accepted.lower().split(","):
        coding, _, quality = part.replace(" ", "").partition(";q=")
        if coding == "gzip":
            return quality.strip("0.") != "" or not quality
    return False


def lists_tag(condition: str, tag: str) -> bool:
    """Return whether an `If-None-Match` header lists the tag (RFC 9110, 13.1.2: compared weakly)."""
    return any(part.strip().removeprefix("W/") in (tag, "*") for part in condition.split(","))
