"""Keeps the embedded PostgreSQL running: restarts a server that dies within a second."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

import structlog

from hearthpay.database.embedded import EmbeddedServer, EmbeddedServerError

_WATCH_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 5.0

_log = structlog.get_logger(__name__)


class Supervisor:
    """An asyncio task that watches one server for as long as its `async with` block lasts."""

    def __init__(self, server: EmbeddedServer) -> None:
        """Watch a started server."""
        self._server = server
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._watch(), name="hearthpay-database-supervisor")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _watch(self) -> None:
        pause = _WATCH_SECONDS
        while True:
            await asyncio.sleep(pause)
            if self._server.is_alive():
                pause = _WATCH_SECONDS
                continue
            _log.warning("database_died", data_dir=str(self._server.data_dir))
            try:
                await self._restart()
            except EmbeddedServerError as failure:
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
                _log.error("database_restart_failed", reason=str(failure))
            else:
                pause = _WATCH_SECONDS
                _log.warning("database_restarted", data_dir=str(self._server.data_dir))

    async def _restart(self) -> None:
        """Start the server in a thread. When canceled, wait until it has started: it must not start after a stop."""
        starting = asyncio.ensure_future(asyncio.to_thread(self._server.start))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            await asyncio.wait([starting])
            raise
