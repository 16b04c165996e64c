"""`hearthpay` as somebody types it: each command a process of its own, whose imports another one made (`forge`)."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_START_SECONDS = 120


def hearthpay(
    *arguments: object,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    timeout: float = 240,
) -> subprocess.CompletedProcess[bytes]:
    """Run `hearthpay` to its end, in this process's environment or that one.

    Raises subprocess.TimeoutExpired when it does not end in so many seconds; it is killed then.
    """
    command = [str(argument) for argument in arguments]
    request = {
        "arguments": command,
        "environment": dict(os.environ if environment is None else environment),
        "folder": str(Path.cwd() if folder is None else folder),
    }
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        socket.socket(socket.AF_UNIX) as connection,
    ):
        given.write(stdin)
        given.seek(0)
        connection.connect(str(_forge()))
        streams = [given.fileno(), output.fileno(), errors.fileno()]
        sent = socket.send_fds(connection, [line := json.dumps(request).encode() + b"\n"], streams)
        connection.sendall(line[sent:])
        with connection.makefile() as answers:
            process = int(answers.readline())
            connection.settimeout(timeout)
            try:
                status = int(answers.readline())
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                raise subprocess.TimeoutExpired(command, timeout) from None
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(command, status, output.read(), errors.read())


def hearthpay_says(
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    timeout: float = 240,
) -> subprocess.CompletedProcess[str]:
    """The same, with what it says as text."""
    done = hearthpay(*arguments, environment=environment, folder=folder, timeout=timeout)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@cache
def _forge() -> Path:
    """The socket of the process that the commands come from; it lives as long as this one."""
    home = Path(tempfile.mkdtemp(prefix="forge-", dir="/tmp"))
    place = home / "socket"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.worlds.forge", str(place)], stdin=subprocess.PIPE
    )

    def end() -> None:
        process.communicate()
        shutil.rmtree(home, ignore_errors=True)

    atexit.register(end)
    deadline = time.monotonic() + _START_SECONDS
    while not place.exists():
        assert process.poll() is None, "the process that the commands come from did not start"
        assert time.monotonic() < deadline, "the process that the commands come from takes too long"
        time.sleep(0.01)
    return place
