"""Work that is useful only while the client is waiting: it ends when the client disconnects."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

_NOBODY_THERE: Final = 499
"""The status that servers log for a request whose client disconnected before the response; nobody reads it."""

_LOOK_AGAIN: Final = 0.5


async def until_disconnected(request: Request, answering: Coroutine[Any, Any, Response]) -> Response:
    """Return the response; if the client disconnects first, cancel the work, which rolls it back as a deadline does.

    The request's body must have been read. Raises what the handler raises.
    """
    work = asyncio.create_task(answering)
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        return Response(status_code=_NOBODY_THERE)
    finally:
        for task in (work, gone):
            task.cancel()
        await asyncio.gather(work, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":  # noqa: ASYNC110 - each is a message
        await asyncio.sleep(_LOOK_AGAIN)
