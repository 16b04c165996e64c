"""A process that has imported the whole product once and runs each command in a fork of itself.

`python -m tests.worlds.fork_server SOCKET` answers each connection with a process of its own that is `hearthpay`, or
another module, from its first line on: its own number, streams, environment and end. Only the imports, the rules,
words and templates that any of them may load, and the OpenAPI document of the endpoints, some seconds of computing in
each process, are there already. Standard input is the lifeline: when the run of tests ends, so does this.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import random
import resource
import runpy
import select
import signal
import socket
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy.orm import configure_mappers

import hearthpay
from hearthpay.clock import SystemClock
from hearthpay.database.service_account import account_for
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.warming import load_for_first_requests

_MEASURED = "HEARTHPAY_TEST_BRANCHES"
"""Set where the branches are measured that the tests go through; `tests.branches` is not imported otherwise."""
_LARGEST_REQUEST = 1 << 20
_STREAMS = 3
_kept_documents = contextlib.ExitStack()


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """One request, which ends with a line break, and the three streams that came with it."""
    request, streams, _, _ = socket.recv_fds(connection, _LARGEST_REQUEST, _STREAMS)
    while not request.endswith(b"\n"):
        more = connection.recv(_LARGEST_REQUEST)
        if not more:
            raise ConnectionError("the request broke off")
        request += more
    return json.loads(request), streams


def _import_everything() -> None:
    gc.disable()  # what is imported does not become garbage, and looking for it takes a sixth of the time
    if _MEASURED in os.environ:
        from tests.branches import leave_at_the_end

        leave_at_the_end()
    for module in pkgutil.walk_packages(hearthpay.__path__, "hearthpay."):
        if "__main__" not in module.name and ".migrations." not in module.name:
            importlib.import_module(module.name)
    for needed_late in ("alembic.command", "typer.rich_utils"):
        importlib.import_module(needed_late)
    load_for_first_requests(datetime.now(UTC).date())
    for rulebook in map(rulebook_of, supported_years()):
        for state in rulebook.supported_states:
            rulebook.state(state)
    configure_mappers()
    _build_document()
    account_for(Path("/nonexistent")).popen_arguments(
        []
    )  # finds the program that takes on PostgreSQL's account
    assert threading.active_count() == 1, "a process of several threads cannot be forked"
    gc.freeze()
    gc.enable()


def _build_document() -> None:
    """Build the OpenAPI document that each service would build for itself before its first request."""
    # Only now: branches are measured from the first import on.
    from hearthpay.app import create_app
    from hearthpay.database.session import Database
    from tests.worlds.documents import documents_are_built_once

    _kept_documents.enter_context(documents_are_built_once())
    # The document is made of the routes alone: nothing connects to this address.
    create_app(Database("postgresql://nobody@127.0.0.1:1/nothing", role="nobody"), SystemClock()).openapi()


def _run_command(request: dict[str, Any], streams: list[int]) -> None:
    """Be the module with these arguments; whatever ends it ends the process."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for the process's whole life
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    random.seed()
    if request["files"] is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, tuple(request["files"]))
    if request["at"] is not None:
        _begin_at(datetime.fromisoformat(request["at"]))
    sys.argv = ["hearthpay", *request["arguments"]]
    runpy.run_module(request["module"], run_name="__main__", alter_sys=True)


def _begin_at(instant: datetime) -> None:
    """Set this process's clock, which goes on from there."""
    ahead = instant - datetime.now(UTC)
    SystemClock.now = lambda _: datetime.now(UTC) + ahead  # type: ignore[method-assign]


class _IsCommand(BaseException):
    """Leaves the loop in the process that is the command."""


class _Commands:
    """The commands that run, each with the connection over which it is told how it ended."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._running: dict[int, socket.socket] = {}
        self.ended, self._wakes = socket.socketpair()
        for end in (self.ended, self._wakes):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def start(self, connection: socket.socket) -> None:
        """Start what the connection asks for, and tell its number; raises _IsCommand in the new process."""
        request, streams = receive(connection)
        command = os.fork()
        if not command:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)
            for each in (self._listening, self.ended, self._wakes, connection, *self._running.values()):
                each.close()
            raise _IsCommand(request, streams)
        for stream in streams:
            os.close(stream)
        self._running[command] = connection
        _tell(connection, command)

    def tell_ends(self) -> None:
        """Tell how those ended that have."""
        with contextlib.suppress(BlockingIOError):
            while self.ended.recv(4096):
                pass
        with contextlib.suppress(ChildProcessError):
            while True:
                command, status = os.waitpid(-1, os.WNOHANG)
                if not command:
                    return
                with self._running.pop(command) as connection:
                    _tell(connection, os.waitstatus_to_exitcode(status))


def _tell(connection: socket.socket, number: int) -> None:
    """Send a number; whoever asked may be gone."""
    with contextlib.suppress(OSError):
        connection.sendall(f"{number}\n".encode())


def _serve(place: Path) -> tuple[dict[str, Any], list[int]]:
    """Start commands for those that connect; returns in a process that is to be a command, with what it is to do."""
    with socket.socket(socket.AF_UNIX) as listening:
        unready = place.with_name("unready")
        listening.bind(str(unready))
        listening.listen()
        unready.rename(place)
        commands = _Commands(listening)
        while True:
            ready, _, _ = select.select([listening, commands.ended, 0], [], [])
            if 0 in ready:
                os._exit(0)
            if commands.ended in ready:
                commands.tell_ends()
            if listening in ready:
                connection, _ = listening.accept()
                try:
                    commands.start(connection)
                except _IsCommand as command:
                    return command.args  # type: ignore[return-value]
                except ConnectionError:
                    connection.close()


def _end(status: int) -> None:
    """End the process as the interpreter does, except that modules are not taken apart: most commands compute less.

    Returns where what was written cannot be sent on, so that the interpreter tells of it.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _import_everything()
    request_and_streams = _serve(Path(sys.argv[1]))
    try:
        _run_command(*request_and_streams)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            _end((ended.code or 0) & 0xFF)
        raise
    _end(0)
