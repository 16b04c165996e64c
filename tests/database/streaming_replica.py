"""A streaming replica of the embedded server, made as an administrator makes one: pg_basebackup and a standby."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from hearthpay.database.binaries import postgres_programs
from hearthpay.database.embedded import DATABASE, OWNER_ROLE, ROLES, EmbeddedServer
from tests.conftest import plain_url

# A standby must have at least what its primary has.
_SIZES = ("max_connections", "max_worker_processes", "max_wal_senders", "max_locks_per_transaction")


class Replica:
    """A hot standby that applies what the primary commits."""

    def __init__(self, server: EmbeddedServer, folder: Path) -> None:
        self._account = server.account()
        self._programs = postgres_programs(self._account, server.data_dir / "programs")
        self._folder = folder
        self._account.own(folder)
        source = f"host={server.socket.parent} port=5432 user={OWNER_ROLE}"
        self._run("pg_basebackup", "-d", source, "-D", str(self._data), "-R", "-X", "stream", "-c", "fast")
        with psycopg.connect(plain_url(server.owner_url())) as primary:
            sizes = {name: self._setting(primary, name) for name in _SIZES}
        settings = sizes | {"unix_socket_directories": str(folder), "listen_addresses": "", "fsync": "off"}
        options = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())
        self._run("pg_ctl", "start", "-w", "-D", str(self._data), "-l", str(folder / "log"), "-o", options)

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    @property
    def service_url(self) -> str:
        return self._url(ROLES.service)

    def stop_applying(self) -> None:
        """Receive what the primary writes, and apply none of it."""
        self._execute("SELECT pg_wal_replay_pause()")

    def apply_again(self) -> None:
        self._execute("SELECT pg_wal_replay_resume()")

    def stop(self) -> None:
        if (self._data / "postmaster.pid").exists():
            self._run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", str(self._data))

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self._url(OWNER_ROLE), autocommit=True) as connection:
            connection.execute(statement)

    def _url(self, role: str) -> str:
        return f"postgresql://{role}@/{DATABASE}?host={self._folder}&port=5432"

    def _setting(self, primary: psycopg.Connection, name: str) -> str:
        row = primary.execute("SELECT current_setting(%s)", (name,)).fetchone()
        assert row is not None
        return str(row[0])

    def _run(self, program: str, *arguments: str) -> None:
        finished = subprocess.run(
            **self._account.popen_arguments([self._programs / program, *arguments]),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self._folder / "errors").open("ab"),
        )
        assert finished.returncode == 0, (self._folder / "errors").read_text()


@contextmanager
def streaming_replica(server: EmbeddedServer) -> Iterator[Replica]:
    """A replica for the length of the block."""
    folder = Path(tempfile.mkdtemp(prefix="hp-replica-", dir="/tmp"))
    replica = None
    try:
        replica = Replica(server, folder)
        yield replica
    finally:
        if replica is not None:
            replica.stop()
        shutil.rmtree(folder, ignore_errors=True)
