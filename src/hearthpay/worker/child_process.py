"""A worker process beside the web server: started with it, started again when it dies, stopped before it.

A separate process, because firing payrolls is arithmetic: in the web server's event loop every chunk of it would
hold up requests, and a fault of the one would end the other. It is in the same process group, and ends with
its parent however that ends, for its standard input is a pipe whose other end the parent holds.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import structlog

from hearthpay.worker.duty import FINISH_SECONDS

_SHORTEST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
_STOP_SECONDS: Final = FINISH_SECONDS + 15.0

_log = structlog.get_logger(__name__)


@asynccontextmanager
async def worker_beside(data_dir: Path | None, *, migrates: bool = True) -> AsyncIterator[None]:
    """Keep a worker process running for the length of the block.

    It uses the same database as this process: the embedded one in `data_dir`, or DATABASE_URL's; unless it `migrates`,
    with DATABASE_WORKER_URL alone.
    """
    options = [
        *([] if migrates else ["--no-migrate"]),
        *([] if data_dir is None else ["--data-dir", str(data_dir)]),
    ]
    keeping = asyncio.create_task(_keep_running(options), name="hearthpay-worker-attendant")
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


async def _keep_running(options: list[str]) -> None:
    loop = asyncio.get_running_loop()
    pause = _SHORTEST_PAUSE
    status: int | str | None
    while True:
        began = loop.time()
        try:
            status = await _run_to_its_end(options)
        except OSError as error:  # no memory for it, or no room in the process table: both pass
            status = error.strerror
        if loop.time() - began > _LONGEST_PAUSE:
            pause = _SHORTEST_PAUSE
        _log.warning("worker_died", status=status, again_in_seconds=pause)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


async def _run_to_its_end(options: list[str]) -> int:
    """Run a worker and return its exit status; stop it when canceled."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hearthpay.cli", "worker", "--attended", *options),
        stdin=asyncio.subprocess.PIPE,
    )
    try:
        return await process.wait()
    finally:
        await _stop(process)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Let the process finish its current work; kill it if it doesn't end. Does nothing if it has ended."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
        except TimeoutError:
            _log.warning("worker_killed", reason="it did not stop in time")
            process.kill()
            await process.wait()
