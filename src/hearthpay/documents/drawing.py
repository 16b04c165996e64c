"""Draws documents in threads of their own, a few at a time, while the event loop answers other requests.

Each document is a job. Waiting jobs are taken in turn by organization, so that at most one document of each other
organization is drawn before an organization's next one, however many they want. A job whose requester is gone isn't
drawn. No database connection is held while a document is drawn.
"""

import asyncio
import functools
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar
from uuid import UUID

_AT_ONCE: Final = 2
"""The compiler draws one document at a time; the other thread prepares the next one."""

_Drawn = TypeVar("_Drawn")
_Job = tuple["Future[Any]", Callable[[], Any]]


class DrawingQueue:
    """Jobs waiting for a thread, in turn by organization."""

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        """Run `at_once` jobs at a time."""
        self._threads: Final = ThreadPoolExecutor(at_once, thread_name_prefix="hearthpay-papers")
        self._lock: Final = threading.Lock()
        self._queues: OrderedDict[UUID, deque[_Job]] = OrderedDict()

    def submit(self, organization_id: UUID, draw: Callable[[], _Drawn]) -> "Future[_Drawn]":
        """Queue `draw`; its result or error goes to the future. A canceled future isn't drawn."""
        future: Future[_Drawn] = Future()
        with self._lock:
            self._queues.setdefault(organization_id, deque()).append((future, draw))
        self._threads.submit(self._run_next)  # one for each job, but whose turn it is then is found then
        return future

    def _run_next(self) -> None:
        future, draw = self._take()
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(draw())
        except BaseException as error:  # noqa: BLE001 - the asker's to judge
            future.set_exception(error)

    def _take(self) -> _Job:
        """Return the oldest job of the organization whose turn it is, and move the organization to the end of the
        line.
        """
        with self._lock:
            organization_id, jobs = self._queues.popitem(last=False)
            job = jobs.popleft()
            if jobs:
                self._queues[organization_id] = jobs
            return job


async def drawn_in_turn(organization_id: UUID, draw: Callable[[], _Drawn]) -> _Drawn:
    """Return the result of ``draw``, run in a thread when it is the organization's turn; if canceled, it is removed
    from the queue.
    """
    return await asyncio.wrap_future(_queue().submit(organization_id, draw))


@functools.cache
def _queue() -> DrawingQueue:
    return DrawingQueue()
