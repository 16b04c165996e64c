"""Draws papers in threads of their own, a few at a time: the event loop answers others meanwhile.

Each paper is a job. Those that wait are taken in turn by organization, so that one paper for one waits for as many
papers of others as there are organizations before it, however many papers each of them wants. A job whose asker has
gone is not drawn. Nothing of the database is held while a paper is drawn.
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
"""The compiler draws one paper at a time; meanwhile the other thread prepares the next one."""

_Drawn = TypeVar("_Drawn")
_Job = tuple["Future[Any]", Callable[[], Any]]


class DrawingQueue:
    """Jobs that wait for a thread, in turn by organization."""

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        """Run `at_once` jobs at a time."""
        self._threads: Final = ThreadPoolExecutor(at_once, thread_name_prefix="hearthpay-papers")
        self._lock: Final = threading.Lock()
        self._pending_paragraphs: OrderedDict[UUID, deque[_Job]] = OrderedDict()

    def submit(self, organization_id: UUID, draw: Callable[[], _Drawn]) -> "Future[_Drawn]":
        """Let `draw` wait for its turn; what it returns or raises is the future's. A cancelled future is not drawn."""
        future: Future[_Drawn] = Future()
        with self._lock:
            self._pending_paragraphs.setdefault(organization_id, deque()).append((future, draw))
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
        """Return the oldest job of the organization whose turn it is, which then goes to the end of the row."""
        with self._lock:
            organization_id, jobs = self._pending_paragraphs.popitem(last=False)
            job = jobs.popleft()
            if jobs:
                self._pending_paragraphs[organization_id] = jobs
            return job


async def drawn_in_turn(organization_id: UUID, draw: Callable[[], _Drawn]) -> _Drawn:
    """Return what ``draw`` returns, in a thread once it is the organization's turn; cancelled, it leaves the row."""
    return await asyncio.wrap_future(_queue().submit(organization_id, draw))


@functools.cache
def _queue() -> DrawingQueue:
    return DrawingQueue()
