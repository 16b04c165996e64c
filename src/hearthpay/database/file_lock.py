"""Advisory locks on files: the kernel releases them with the process, even when it is killed."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_SECONDS = 0.05


class FileLock:
    """A lock that this object holds on one file; every object counts separately, even within one process."""

    def __init__(self, path: Path) -> None:
        """Hold nothing yet; the file is created, private to its owner, when it is first locked."""
        self._path = path
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock, shared or exclusive."""
        return self._descriptor is not None

    def share(self) -> None:
        """Hold the lock together with others; blocks until an exclusive holder releases it."""
        if self._descriptor is None:
            self._descriptor = self._open()
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def try_exclusive(self) -> bool:
        """Hold the lock exclusively if nobody else holds it now; return whether it does."""
        descriptor = self._open() if self._descriptor is None else self._descriptor
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if self._descriptor is None:
                os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Release the lock; does nothing if it isn't held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


@contextmanager
def exclusively(path: Path, *, timeout: float) -> Iterator[None]:
    """Hold the file's lock exclusively during the block; raises TimeoutError if others keep it beyond `timeout`
    seconds.
    """
    lock = FileLock(path)
    deadline = time.monotonic() + timeout
    while not lock.try_exclusive():
        if time.monotonic() >= deadline:
            raise TimeoutError(f"another process has held {path} for {timeout:.0f} seconds")
        time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        lock.release()
