"""A command that names no data directory makes no new database while a service of its user runs on another one."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from typer.main import get_command

from hearthpay.cli.data_directory import resolve_data_dir
from hearthpay.cli.main import app
from hearthpay.database.embedded import EmbeddedServer
from tests.worlds.commands import StartedProcess, start
from tests.worlds.installations import install
from tests.worlds.own_default import default_directory, environment_in, is_possible

MODULE = "tests.worlds.own_default"
CREATE_KEY = ("keys", "create", "--organization", "Lopez family", "--mode", "test")
MAKES_NEW = {"serve", "worker", "restore"}
"""`restore` names its directory always; `worker --no-migrate` has no embedded database, and asks otherwise too."""


class Ended(NamedTuple):
    """What a command did."""

    status: int
    output: str
    errors: str


class Home:
    """The home of a user, who has nothing else on the machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.environment = environment_in(path)
        self.default, self.real_default = default_directory(path)

    def run(self, *arguments: str, more: Mapping[str, str] | None = None, answer: str | None = None) -> Ended:
        """Run `hearthpay` to its end; with an answer it has a terminal, at which somebody types that."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            ours, terminal = pty.openpty() if answer is not None else (None, None)
            process = start(
                *arguments,
                module=MODULE,
                output=output,
                errors=errors.fileno(),
                environment=self.environment | dict(more or {}),
                folder=self.path,
                terminal=terminal,
            )
            shown = b""
            if ours is not None and terminal is not None:
                os.close(terminal)
                os.write(ours, f"{answer}\n".encode())
                shown = _read_terminal(ours)
            status = process.wait(60)
            output.seek(0)
            errors.seek(0)
            return Ended(status, output.read().decode(), errors.read().decode() + shown.decode())

    @contextmanager
    def recorded(self, directory: Path | None) -> Iterator[StartedProcess]:
        """A process that keeps the record of a service on this directory, or on a DATABASE_URL."""
        process = start("recorded", directory or "", module=MODULE, asked=True, environment=self.environment)
        assert process.stdout is not None
        assert process.stdout.readline() == "recorded\n"
        with process:
            yield process
            process.kill()


def _read_terminal(ours: int) -> bytes:
    """What the process writes to its terminal, until it ends."""
    shown = b""
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:  # the terminal is closed
            os.close(ours)
            return shown
        shown += more


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    if not is_possible():
        pytest.skip("root may not mount here")
    path = Path(tempfile.mkdtemp(prefix="hearthpay-home-"))
    path.chmod(0o755)  # the server's account passes through
    yield Home(path)
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test begins without a database in the default directory and without records."""
    yield
    if "home" in request.fixturenames:
        home = request.getfixturevalue("home")
        shutil.rmtree(home.real_default, ignore_errors=True)
        shutil.rmtree(home.path / "state", ignore_errors=True)


def test_every_command_with_a_data_directory_resolves_it() -> None:
    resolving = {}
    paths = [((), get_command(app))]
    for path, command in paths:
        paths += [((*path, name), below) for name, below in getattr(command, "commands", {}).items()]
        for parameter in command.params:
            if parameter.name == "data_dir":
                callback = getattr(parameter.callback, "__wrapped__", parameter.callback)
                resolving[path] = callback is not None
    assert len(resolving) > 70
    assert {path[0] for path, resolves in resolving.items() if not resolves} == MAKES_NEW
    assert resolve_data_dir(Path("/named")) == Path("/named")


def test_a_script_is_refused_and_told_both_directories(home: Home) -> None:
    running = home.path / "elsewhere"
    commands = (CREATE_KEY, ("doctor",), ("migrate",), ("worker", "--once"), ("backup", str(home.path / "b")))
    with home.recorded(running):
        for command in commands:
            ended = home.run(*command)
            assert ended.status == 2, (command, ended)
            assert ended.output == ""
            assert f"{home.default} has no database yet" in ended.errors
            assert f"{running} (127.0.0.1:8001)" in ended.errors
            assert f"HEARTHPAY_DATA_DIR={running}" in ended.errors
            assert not home.real_default.exists()


def test_a_named_database_is_used_without_a_question(home: Home) -> None:
    named = home.path / "named"
    with home.recorded(home.path / "elsewhere"):
        for options, more in (
            (("--data-dir", str(named)), {}),
            ((), {"HEARTHPAY_DATA_DIR": str(named)}),
        ):
            ended = home.run("backup", str(home.path / "b"), *options, more=more)
            assert (ended.status, ended.errors) == (2, f"hearthpay: {named} holds no database to back up\n")
        ended = home.run(*CREATE_KEY, more={"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"})
        assert ended.status == 1
        assert "of yours" not in ended.errors


def test_a_service_on_the_default_directory_is_used(home: Home) -> None:
    with home.recorded(home.default), home.recorded(home.path / "elsewhere"):
        ended = home.run("backup", str(home.path / "b"))
    assert ended.errors == f"hearthpay: {home.default} holds no database to back up\n"


def test_a_database_in_the_default_directory_is_used_and_named(home: Home) -> None:
    cluster = home.real_default / "server" / "data"
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text("9")
    with home.recorded(home.path / "elsewhere"):
        ended = home.run(*CREATE_KEY)
    first, second = ended.errors.splitlines()
    assert first.startswith(f"hearthpay: Using {home.default}. A service of yours is running: ")
    assert "was made by PostgreSQL 9" in second


def test_a_terminal_is_asked(home: Home) -> None:
    one, other = home.path / "one", home.path / "other"
    backup = ("backup", str(home.path / "b"))
    with home.recorded(other):
        yes = home.run(*backup, answer="")
        assert f"Use {other}? [Y/n]" in yes.errors
        assert f"{other} holds no database to back up" in yes.errors
        no = home.run(*backup, answer="n")
        assert no.status == 2
        assert "holds no database" not in no.errors
        with home.recorded(one):
            second = home.run(*backup, answer="2")
            assert f"{other} holds no database to back up" in second.errors
            third = home.run(*backup, answer="3")
            assert (third.status, "holds no database" in third.errors) == (2, False)
    with home.recorded(None):
        new = home.run(*backup, answer="")
        assert f"Create a new database in {home.default}? [y/N]" in new.errors
        assert new.status == 2
        assert "Set DATABASE_URL as for the service" in new.errors
    assert not home.real_default.exists()


def test_the_record_of_a_killed_service_is_not_believed(home: Home) -> None:
    with home.recorded(home.path / "elsewhere") as process:
        (record,) = (home.path / "state" / "hearthpay" / "running").iterdir()
        process.kill()
        process.wait(10)
        assert record.exists()
        ended = home.run("backup", str(home.path / "b"))
        assert ended.errors == f"hearthpay: {home.default} holds no database to back up\n"
        assert not record.exists()


def test_a_key_made_in_a_second_terminal_is_the_running_services(home: Home) -> None:
    directory = home.path / "of the first terminal"
    install(directory)
    service = start(
        *("serve", "--port", "0", "--no-worker", "--data-dir", str(directory)),
        module=MODULE,
        environment=home.environment,
        folder=home.path,
    )
    try:
        assert service.stdout is not None
        address = next(
            line.split("is ready at ")[1].split()[0] for line in service.stdout if "is ready at " in line
        )
        made = home.run(*CREATE_KEY, answer="y")
        assert f"Use {directory}? [Y/n]" in made.errors
        assert made.status == 0, made
        answer = httpx.get(
            f"{address}/api/v1/employers", headers={"Authorization": f"Bearer {made.output.strip()}"}
        )
        assert answer.status_code == 200
        assert not home.real_default.exists()
        (record,) = (home.path / "state" / "hearthpay" / "running").iterdir()
        assert set(record.read_text().split('"')[1::2]) >= {"pid", "machine", "data_dir", "address"}
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait(30)
        EmbeddedServer(directory).stop()
    assert not list((home.path / "state" / "hearthpay" / "running").iterdir())
