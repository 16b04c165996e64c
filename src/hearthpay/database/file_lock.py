"""Advisory locks on files: the kernel drops them with the process, also when it is killed."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_SECONDS = 0.05


class FileLock:
    """A lock which this object holds on one file; every object counts by itself, also within one process."""

    def __init__(self, path: Path) -> None:
        """Hold nothing yet; the file is made, private to its owner, when it is first locked."""
        self._path = path
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock, shared or exclusive."""
        return self._descriptor is not None

    def share(self) -> None:
        """Hold the lock together with others; waits for an exclusive holder to go."""
        if self._descriptor is None:
            self._descriptor = self._open()
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def try_exclusive(self) -> bool:
        """Hold the lock alone if nobody else holds it now; says whether it does."""
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
        """Let go; does nothing when nothing is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


@contextmanager
def exclusively(path: Path, *, timeout: float) -> Iterator[None]:
    """Hold the file's lock alone during the block; TimeoutError when others keep it beyond `timeout` seconds."""
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
