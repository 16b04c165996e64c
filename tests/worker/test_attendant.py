"""`serve` has a worker beside it, which dies and comes back without harm, and never outlives it."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from tests.worlds.commands import StartedProcess, start
from tests.worlds.installations import install


@pytest.fixture
def data_dir() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-serve-"))
    folder.chmod(0o755)
    yield install(folder / "data").data_dir
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def service(data_dir: Path, *options: str) -> Iterator[tuple[StartedProcess, str]]:
    """A running `hearthpay serve`, and its address."""
    process = start("serve", "--port", "0", "--data-dir", data_dir, *options, errors=2)
    assert process.stdout is not None
    try:
        line = ""
        while "is ready at " not in line:
            line = process.stdout.readline()
            assert line, process.wait()
        yield process, line.split("is ready at ")[1].split()[0]
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
        process.stdout.close()


def workers(process: StartedProcess) -> list[psutil.Process]:
    found = []
    for child in psutil.Process(process.pid).children():
        try:
            if "worker" in child.cmdline() and child.status() != psutil.STATUS_ZOMBIE:
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


def wait_for(condition: Callable[[], object], within: float = 60) -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def wait_for_registration(data_dir: Path) -> None:
    """Wait until a worker has told the queue of itself."""
    registered = "SELECT id FROM procrastinate.procrastinate_workers"
    server = EmbeddedServer(data_dir)
    server.start()
    try:
        with psycopg.connect(server.owner_url().replace("+psycopg", ""), autocommit=True) as connection:
            wait_for(lambda: connection.execute(registered).fetchall())
    finally:
        server.stop()


def test_the_worker_comes_back_and_leaves_with_the_service(data_dir: Path) -> None:
    with service(data_dir) as (process, address):
        wait_for_registration(data_dir)
        (worker,) = workers(process)
        assert os.getpgid(worker.pid) == os.getpgid(process.pid)
        worker.kill()
        wait_for(lambda: httpx.get(f"{address}/readyz", timeout=30).status_code == 200)
        wait_for(lambda: workers(process) not in ([], [worker]))
        (successor,) = workers(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    assert is_gone(successor)
    assert not EmbeddedServer(data_dir).is_alive()


def test_a_killed_service_leaves_no_worker_behind(data_dir: Path) -> None:
    with service(data_dir) as (process, _):
        wait_for_registration(data_dir)
        (worker,) = workers(process)
        process.kill()
        process.wait()
        wait_for(lambda: is_gone(worker))
    # The last to leave stops the database.
    wait_for(lambda: not EmbeddedServer(data_dir).is_alive())


def test_it_can_be_left_out(data_dir: Path) -> None:
    with service(data_dir, "--no-worker") as (process, _):
        time.sleep(0.5)
        assert workers(process) == []
