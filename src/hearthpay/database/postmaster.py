"""PostgreSQL's lock files, and whether the process they name is alive and serves their data directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # the package ships no types

PID_FILE = "postmaster.pid"


@dataclass(frozen=True, slots=True)
class Postmaster:
    """The contents of a data directory's `postmaster.pid`."""

    data: Path
    pid: int
    socket_dir: str
    shared_memory_id: int | None
    status: str

    @property
    def ready(self) -> bool:
        """Whether the server has reported that it accepts connections."""
        return self.status == "ready"

    def is_running(self) -> bool:
        """Return whether the process is alive and works in this data directory."""
        return _serves(self.pid, self.data)

    def memory_in_use(self) -> bool:
        """Return whether backends that outlived their postmaster still hold its shared memory."""
        if self.shared_memory_id is None:
            return False
        try:
            segments = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
        except OSError:
            return False  # not Linux: PostgreSQL makes the same check when it starts
        for segment in segments:
            fields = segment.split()
            if int(fields[1]) == self.shared_memory_id:
                return int(fields[6]) > 0
        return False


def read_postmaster(data: Path) -> Postmaster | None:
    """Return the server that `data` names, alive or not; None if there is none or its file isn't written yet."""
    try:
        lines = (data / PID_FILE).read_text().splitlines()
    except FileNotFoundError:
        return None
    lines += [""] * (8 - len(lines))
    try:
        # A standalone backend (`postgres --single`) writes its process number with a minus sign.
        pid = abs(int(lines[0]))
    except ValueError:
        return None
    memory = lines[6].split()
    return Postmaster(
        data=data,
        pid=pid,
        socket_dir=lines[4],
        shared_memory_id=int(memory[1]) if len(memory) == 2 else None,
        status=lines[7].strip(),
    )


def remove_misleading_locks(data: Path, socket: Path) -> None:
    """Remove lock files of a dead server that PostgreSQL would mistake for a live one's and refuse to start.

    Those are the ones whose process number is in use again, or still. The caller makes sure that nobody starts a
    server here at the same time. PostgreSQL removes the other files itself.
    """
    for lock in (data / PID_FILE, socket.with_name(f"{socket.name}.lock")):
        try:
            pid = abs(int(lock.read_text().partition("\n")[0]))
        except (FileNotFoundError, ValueError):
            continue
        if psutil.pid_exists(pid) and not _serves(pid, data):
            lock.unlink(missing_ok=True)


def _serves(pid: int, data: Path) -> bool:
    """Return whether the process with this number is a server, and this data directory's.

    A number alone proves nothing: after a reboot or in a new container another process may have it, and a killed
    server whose parent doesn't collect it stays in the process table.
    """
    try:
        process = psutil.Process(pid)
        if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
            return False
        if process.uids().effective != data.stat().st_uid:
            return False
    except (psutil.NoSuchProcess, FileNotFoundError):
        return False
    try:
        return Path(process.cwd()).samefile(data)
    except psutil.AccessDenied:
        return bool(process.name() == "postgres")
    except (psutil.NoSuchProcess, OSError):
        return False
