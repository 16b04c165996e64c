"""What `postmaster.pid` says, and whether the process it names is alive and serves that data directory."""

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
        """Whether the server has said that it accepts connections."""
        return self.status == "ready"

    def is_running(self) -> bool:
        """Whether the process lives and works in this data directory.

        A number alone proves nothing: after a reboot or in a new container another process may have it, and
        a killed server whose parent does not collect it stays in the process table for ever. PostgreSQL
        itself takes both for a live server and would refuse to start.
        """
        try:
            process = psutil.Process(self.pid)
            if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                return False
            if process.uids().effective != self.data.stat().st_uid:
                return False
        except (psutil.NoSuchProcess, FileNotFoundError):
            return False
        try:
            return Path(process.cwd()).samefile(self.data)
        except psutil.AccessDenied:
            return bool(process.name() == "postgres")
        except (psutil.NoSuchProcess, OSError):
            return False

    def blocks_start(self) -> bool:
        """Whether PostgreSQL would take this dead server for a live one, since its number is still in use."""
        return bool(psutil.pid_exists(self.pid)) and not self.is_running()

    def memory_in_use(self) -> bool:
        """Whether backends that outlived their postmaster still hold its shared memory."""
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
    """The server that `data` names, alive or not; None when there is none or its file is not yet written."""
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
