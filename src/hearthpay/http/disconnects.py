"""Work that is worth doing only while somebody waits for it: it ends when the client has gone."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

_NOBODY_THERE: Final = 499
"""What servers note of a request whose client left before the answer; nobody reads it."""

_LOOK_AGAIN: Final = 0.5


async def until_disconnected(request: Request, answering: Coroutine[Any, Any, Response]) -> Response:
    """Return the answer; where the client goes before, cancel it, so that it is undone as by a deadline.

    The request's body must have been read. Raises what the answering raises.
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
