"""Which `hearthpay serve` of this user are running on this machine, and on which data directories.

Each keeps a small file in a directory that only its user can write, and holds the file's lock while it runs. The kernel
releases the lock with the process, however that ends. The file has no secrets: the process, the machine, the data
directory and the address, and nothing of a database's URL.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import structlog

STATE_VARIABLE: Final = "XDG_STATE_HOME"
_OF_ROOT: Final = Path("/run/hearthpay")
_SUFFIX: Final = ".json"
_LARGEST: Final = 8_192

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RunningService:
    """A `hearthpay serve` that is running."""

    pid: int
    machine: str
    """The host's name: a home directory may be shared by several machines or containers."""
    data_dir: str | None
    """The absolute path of the embedded database's directory; None if the database is given by its URL."""
    address: str
    """Where it listens, such as 127.0.0.1:8000."""


def records_directory() -> Path:
    """Return the directory of this user's records: below XDG_STATE_HOME, by default /run/hearthpay for root and
    ~/.local/state/hearthpay for others.
    """
    chosen = os.environ.get(STATE_VARIABLE, "")
    if chosen.startswith("/"):
        return Path(chosen) / "hearthpay" / "running"
    if os.geteuid() == 0:
        return _OF_ROOT / "running"
    return Path.home() / ".local" / "state" / "hearthpay" / "running"


@contextmanager
def recorded_as_running(data_dir: Path | None, host: str, port: int) -> Iterator[None]:
    """Let other commands of this user find this service during the block; a service that can't be recorded runs too."""
    service = RunningService(
        os.getpid(),
        socket.gethostname(),
        None if data_dir is None else str(data_dir),
        f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
    )
    try:
        path, descriptor = _write(service)
    except (OSError, RuntimeError) as error:  # no home, a full or read-only disk, no locks on that disk
        _log.info("service_not_recorded", reason=str(error))
        yield
        return
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def running_services() -> list[RunningService]:
    """Return this user's running services on this machine, by data directory; records of dead ones are removed."""
    try:
        directory = records_directory()
        if not _is_ours_alone(directory):
            return []
        found = [_read(path) for path in directory.glob(f"*{_SUFFIX}")]
    except (OSError, RuntimeError):
        return []
    return sorted(
        (each for each in found if each is not None and _is_alive(each)),
        key=lambda each: (each.data_dir or "", each.pid),
    )


def _write(service: RunningService) -> tuple[Path, int]:
    """Return the record and the descriptor that holds its lock. It gets its name once it is locked and complete."""
    directory = records_directory()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_ours_alone(directory):
        raise PermissionError(f"{directory} can be changed by others")
    descriptor, name = tempfile.mkstemp(prefix="serve-", dir=directory)
    unnamed = Path(name)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(descriptor, json.dumps(asdict(service)).encode())
        path = unnamed.with_suffix(_SUFFIX)
        unnamed.rename(path)
    except OSError:
        os.close(descriptor)
        unnamed.unlink(missing_ok=True)
        raise
    return path, descriptor


def _read(path: Path) -> RunningService | None:
    """Return the record whose lock a process holds; None for a dead one, which is removed, and for any other file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # ended just now, or a link
        return None
    try:
        entry = os.fstat(descriptor)
        if not stat.S_ISREG(entry.st_mode) or entry.st_uid != os.geteuid():
            return None
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
            return None
        values = json.loads(os.read(descriptor, _LARGEST))
        return RunningService(
            int(values["pid"]), str(values["machine"]), values["data_dir"], str(values["address"])
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None
    finally:
        os.close(descriptor)


def _is_alive(service: RunningService) -> bool:
    """Return whether the process that holds the lock is one of this machine."""
    if service.machine != socket.gethostname():
        return False
    try:
        os.kill(service.pid, 0)
    except OSError:
        return False
    return True


def _is_ours_alone(directory: Path) -> bool:
    """Return whether it is a directory of this user that nobody else may write."""
    try:
        entry = directory.lstat()
    except FileNotFoundError:
        return False
    writable = entry.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(entry.st_mode) and entry.st_uid == os.geteuid() and not writable
