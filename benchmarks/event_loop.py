"""The event loop that the measured parts run on: uvloop, as under uvicorn's own command, where it exists."""

import asyncio
import importlib.util
from collections.abc import Callable

NAME = "uvloop" if importlib.util.find_spec("uvloop") else "asyncio"


def _factory() -> Callable[[], asyncio.AbstractEventLoop]:
    if NAME == "asyncio":
        return asyncio.SelectorEventLoop  # psycopg cannot use the other one that Windows has
    import uvloop

    return uvloop.new_event_loop


new_event_loop = _factory()
