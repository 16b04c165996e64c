"""`serve` has a worker beside it, which dies and comes back without harm, and never outlives it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
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


@pytest.fixture
def data_dir() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-serve-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def service(data_dir: Path, *options: str) -> Iterator[tuple[psutil.Popen, str]]:
    """A running `hearthpay serve`, and its address."""
    process = psutil.Popen(
        [
            *(sys.executable, "-m", "hearthpay.cli", "serve", "--port", "0", "--data-dir", str(data_dir)),
            *options,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
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


def workers(process: psutil.Popen) -> list[psutil.Process]:
    found = []
    for child in process.children():
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


def is_registered(data_dir: Path) -> bool:
    """Whether a worker has told the queue of itself."""
    server = EmbeddedServer(data_dir)
    server.start()
    try:
        with psycopg.connect(server.owner_url().replace("+psycopg", "")) as connection:
            return bool(connection.execute("SELECT id FROM procrastinate.procrastinate_workers").fetchall())
    finally:
        server.stop()


def test_the_worker_comes_back_and_leaves_with_the_service(data_dir: Path) -> None:
    with service(data_dir) as (process, address):
        wait_for(lambda: is_registered(data_dir))
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
        wait_for(lambda: is_registered(data_dir))
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
