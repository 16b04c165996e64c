"""The server under load: the real application, and beside its routes one that does nothing.

It reads the database's URL from the first line of standard input, prints its address, and serves until standard
input ends; so it cannot outlive the benchmark, whatever becomes of that. Where the line has the owner's URL too, it
serves everybody's data; else only what needs none.
"""

import asyncio
import sys

from starlette.requests import Request
from starlette.responses import Response

from benchmarks.event_loop import new_event_loop
from hearthpay.app import create_app
from hearthpay.clock import SystemClock
from hearthpay.database.embedded import ROLES
from hearthpay.database.migrations import read
from hearthpay.database.session import Database
from hearthpay.http.envelope import answer
from hearthpay.process import configure_logging
from hearthpay.server import freeze_start_objects, running

NO_OP_PATH = "/no-op"


async def no_op(request: Request) -> Response:
    """Answer in the envelope of every answer, and nothing else."""
    return answer(request, {"ok": True})


async def serve(database_url: str, owner_url: str | None = None) -> None:
    # The calculator's requests are nobody's in particular: all that is asked of the database is whose the key is.
    seal = None if owner_url is None else read(owner_url).seal
    database = Database(database_url, role=ROLES.service, seal=seal)
    app = create_app(database, SystemClock())
    app.add_api_route(NO_OP_PATH, no_op, include_in_schema=False)
    routes = app.router.routes
    routes.insert(0, routes.pop())  # found first: nothing may slow it down
    try:
        async with running(app, "127.0.0.1", 0) as (address, _):
            freeze_start_objects(app)  # as `serve` does once it has started
            print(address, flush=True)
            await asyncio.to_thread(sys.stdin.read)
    finally:
        await database.dispose()


if __name__ == "__main__":
    configure_logging()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(serve(*sys.stdin.readline().split()))
