"""Killed, stopped, or without room: what is left never looks like a backup, nor like an installation."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hearthpay.database.embedded import EmbeddedServer, EmbeddedServerError
from tests.backup.conftest import Installation, back_up, cli


def started(*arguments: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "hearthpay.cli", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def stop_when(process: subprocess.Popen[bytes], begun: Callable[[], object], how: signal.Signals) -> int:
    deadline = time.monotonic() + 120
    while not begun():
        assert process.poll() is None, "it ended before it could be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(how)
    return process.wait(60)


@pytest.mark.long
def test_a_backup_that_is_killed_leaves_none(installation: Installation, place: Path) -> None:
    store = place / "store"
    arguments = ("backup", store, "--physical", "--data-dir", installation.data_dir)
    half = lambda: list(store.glob(".unfinished-*/cluster/base/*"))  # noqa: E731
    assert stop_when(started(*arguments), half, signal.SIGKILL) == -signal.SIGKILL
    [left] = store.iterdir()
    assert left.name.startswith(".unfinished-")
    assert cli("restore", store, "--data-dir", place / "new").returncode == 2
    assert cli("restore", left, "--data-dir", place / "new").returncode == 2

    wait_for_orphans(store)
    made = back_up(store, installation.data_dir)
    assert list(store.iterdir()) == [made]

    assert stop_when(started(*arguments), half, signal.SIGTERM) == 3
    assert list(store.iterdir()) == [made]


def wait_for_orphans(store: Path) -> None:
    """The program that was copying goes on a moment after its parent was killed."""
    deadline = time.monotonic() + 60
    while any(
        str(store) in line
        for line in subprocess.check_output(["ps", "-ewwo", "args"], text=True).splitlines()
        if "pg_basebackup" in line
    ):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.long
def test_a_restore_that_is_killed_leaves_no_installation(
    installation: Installation, logical: Path, place: Path
) -> None:
    target = place / "new"
    arguments = ("restore", logical, "--data-dir", target, "--keys", installation.keys)
    begun = lambda: (target / "restoring" / "server" / "data" / "postmaster.pid").exists()  # noqa: E731
    try:
        assert stop_when(started(*arguments), begun, signal.SIGKILL) == -signal.SIGKILL
        with pytest.raises(EmbeddedServerError, match="has not been finished"):
            EmbeddedServer(target).start()
        again = cli(*arguments)
        assert (again.returncode, "was not finished" in again.stderr) == (2, True), again.stderr
    finally:
        pid = EmbeddedServer(target / "restoring").postmaster_pid
        if pid is not None:
            os.kill(pid, signal.SIGQUIT)
            while EmbeddedServer(target / "restoring").postmaster_pid is not None:
                time.sleep(0.05)

    other = place / "other"
    arguments = ("restore", logical, "--data-dir", other, "--keys", installation.keys)
    begun = lambda: (other / "restoring" / "server" / "data" / "postmaster.pid").exists()  # noqa: E731
    assert stop_when(started(*arguments), begun, signal.SIGTERM) == 3
    assert not other.exists()


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no file system may be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize(("how", "size"), [((), "96k"), (("--physical",), "20m")])
def test_a_full_disk_leaves_no_backup(
    how: tuple[str, ...], size: str, installation: Installation, place: Path
) -> None:
    with small_disk(place, size):
        result = cli("backup", place, *how, "--data-dir", installation.data_dir)
        assert result.returncode == 3, result.stderr
        assert "No space left on device" in result.stderr
        assert "Traceback" not in result.stderr
        assert list(place.iterdir()) == []
