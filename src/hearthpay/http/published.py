"""Answers that are the same for everybody until the program changes: rendered once, sent as they are."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

_UNCHANGED: Final = 304


class Published:
    """A page without anything of the request in it; rendered when it is first asked for."""

    def __init__(
        self, render: Callable[[], bytes], media_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """`headers` are sent with it; clients may keep it and ask whether it has changed (`ETag`)."""
        self._render = render
        self._headers = {"Cache-Control": "no-cache", **(headers or {}), "Content-Type": media_type}
        self._rendered: tuple[bytes, str] | None = None

    async def __call__(self, request: Request) -> Response:
        """The page, or 304 where the client has it already."""
        if self._rendered is None:
            body = self._render()
            self._rendered = (body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
        body, tag = self._rendered
        headers = {**self._headers, "ETag": tag}
        if _names(request.headers.get("if-none-match", ""), tag):
            return Response(status_code=_UNCHANGED, headers=headers)
        return Response(body, headers=headers)


def _names(condition: str, tag: str) -> bool:
    """Whether a header `If-None-Match` names the tag (RFC 9110, 13.1.2: compared weakly)."""
    return any(part.strip().removeprefix("W/") in (tag, "*") for part in condition.split(","))
