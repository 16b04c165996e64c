"""`hearthpay` as somebody types it: each command a process of its own, whose imports another one made (`fork_server`).

`hearthpay` and `hearthpay_says` run a command to its end; `start` leaves it running, be it `hearthpay serve` or a
module of the tests. A command reads the machine's clock, unless it is told what time it is (`at`): a test whose rows
have fixed dates tells it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import IO, Self

from hearthpay.database.file_lock import exclusively
from tests.worlds.places import run_of_tests

_START_SECONDS = 120


def hearthpay(
    *arguments: object,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    timeout: float = 240,
    at: datetime | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run `hearthpay` to its end, in this process's environment or that one. Its clock begins `at` an instant.

    Raises subprocess.TimeoutExpired when it does not end in so many seconds; it is killed then.
    """
    command = [str(argument) for argument in arguments]
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
    ):
        given.write(stdin)
        given.seek(0)
        streams = (given.fileno(), output.fileno(), errors.fileno())
        process = _ask(command, streams, environment=environment, folder=folder, at=at)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(command, status, output.read(), errors.read())


def run_in_place(arguments: list[str]) -> int:
    """Be `hearthpay` with these arguments: with this process's streams, and ended when this one is told to end."""
    process = _ask(arguments, (0, 1, 2))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: os.kill(process.pid, number))
    return process.wait()


def hearthpay_says(
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    timeout: float = 240,
    at: datetime | None = None,
) -> subprocess.CompletedProcess[str]:
    """The same, with what it says as text."""
    done = hearthpay(*arguments, environment=environment, folder=folder, timeout=timeout, at=at)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def code_that_says(at: datetime) -> str:
    """Python that stops the clock of its process; for a `python -c` that is no command of `hearthpay`."""
    return (
        "import datetime; from hearthpay.clock import SystemClock; "
        f"SystemClock.now = lambda _: datetime.datetime.fromisoformat({at.isoformat()!r})"
    )


class StartedProcess:
    """A running process, with what `subprocess.Popen` offers for one."""

    def __init__(
        self,
        arguments: list[str],
        connection: socket.socket,
        reading: IO[str] | None = None,
        writing: IO[str] | None = None,
    ) -> None:
        self.args = arguments
        self.stdin = writing
        self.stdout = reading
        self.returncode: int | None = None
        self._connection = connection
        self._answer = b""
        self._waiting = threading.Lock()
        self.pid = int(self._line())

    def poll(self) -> int | None:
        """Return how it ended, or None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return how it ended, as a negative number where a signal ended it.

        Raises subprocess.TimeoutExpired when it does not end in so many seconds.
        """
        with self._waiting:
            if self.returncode is None:
                if timeout is not None and not select.select([self._connection], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(self.args, timeout)
                self.returncode = int(self._line())
                self._connection.close()
            return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self.stdout, self.stdin):
            if stream is not None:
                stream.close()
        self.wait()

    def _line(self) -> bytes:
        while b"\n" not in self._answer:
            more = self._connection.recv(64)
            if not more:
                raise ConnectionError("nobody says how the process ended")
            self._answer += more
        line, _, self._answer = self._answer.partition(b"\n")
        return line


def start(
    *arguments: object,
    module: str = "hearthpay.cli",
    asked: bool = False,
    output: IO[bytes] | None = None,
    errors: int | None = None,
    environment: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    files: tuple[int, int] | None = None,
    at: datetime | None = None,
    terminal: int | None = None,
) -> StartedProcess:
    """Start `python -m module` with these arguments, and leave it running.

    It reads what is written to `stdin` if it is to be `asked`, else nothing. What it writes goes to `output`, or is
    read from `stdout` where that is None; its errors go to the same place unless `errors` is the number of another.
    `files` are its limits of open files. A `terminal` is what it reads from and writes its errors to. Its own clock
    begins `at` an instant; processes that it starts have the machine's.
    """
    command = [str(argument) for argument in arguments]
    with contextlib.ExitStack() as stack:
        asking: IO[str] | None = None
        if asked:
            source, sink = os.pipe()
            given = stack.enter_context(os.fdopen(source, "rb"))
            asking = os.fdopen(sink, "w", encoding="utf-8")
        else:
            given = stack.enter_context(Path(os.devnull).open("rb"))
        reading: IO[str] | None = None
        writing: IO[bytes]
        if output is None:
            source, sink = os.pipe()
            reading = os.fdopen(source, encoding="utf-8", errors="replace")
            writing = stack.enter_context(os.fdopen(sink, "wb"))
        else:
            writing = output
        out = writing.fileno()
        streams = (given.fileno(), out, out if errors is None else errors)
        if terminal is not None:
            streams = (terminal, out, terminal)
        return _ask(
            command,
            streams,
            module=module,
            reading=reading,
            asking=asking,
            environment=environment,
            folder=folder,
            files=files,
            at=at,
        )


def _ask(
    command: list[str],
    streams: tuple[int, int, int],
    *,
    module: str = "hearthpay.cli",
    reading: IO[str] | None = None,
    asking: IO[str] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    files: tuple[int, int] | None = None,
    at: datetime | None = None,
) -> StartedProcess:
    request = {
        "module": module,
        "arguments": command,
        "environment": dict(os.environ if environment is None else environment),
        "folder": str(Path.cwd() if folder is None else folder),
        "files": files,
        "at": None if at is None else at.isoformat(),
    }
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(_fork_server()))
    sent = socket.send_fds(connection, [line := json.dumps(request).encode() + b"\n"], streams)
    connection.sendall(line[sent:])
    return StartedProcess(command, connection, reading, asking)


@cache
def _fork_server() -> Path:
    """The socket of the process that the commands come from; the processes of a parallel run share it.

    Whoever needs it first starts it. It lives as long as the run.
    """
    home = Path(tempfile.gettempdir())
    place = home / "fork-server"
    with exclusively(home / "fork-server.lock", timeout=_START_SECONDS), run_of_tests(home) as lifeline:
        if not place.exists():
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.worlds.fork_server", str(place)], stdin=lifeline
            )
            deadline = time.monotonic() + _START_SECONDS
            while not place.exists():
                assert process.poll() is None, "the process that the commands come from did not start"
                assert time.monotonic() < deadline, "the process that the commands come from takes too long"
                time.sleep(0.01)
    return place
