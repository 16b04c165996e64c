"""The README's block, from `serve` to a pay stub, runs as a newcomer pastes it.

In the suite its `hearthpay serve` is forked from a process that has imported the product; with `make test-long` all of
it is what a newcomer installed.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearthpay.database.embedded import EmbeddedServer
from tests.worlds.commands import hearthpay

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"```bash\n(.*?)```\n+```\n(.*?)```", re.DOTALL)
SECONDS = 400

#: What a terminal has that belongs to no installation: no setting of Hearthpay, no database, no proxy.
KEPT = ("HOME", "LANG", "LC_ALL", "USER", "LOGNAME")


_SERVE_FORKED = """#!{python}
import os, signal, sys, tempfile
if sys.argv[1] != "serve":
    os.execv({installed!r}, sys.argv)
sys.path.insert(0, {root!r})
tempfile.tempdir = {home!r}
from tests.worlds.commands import start
process = start(*sys.argv[1:], output=sys.stdout.buffer, errors=2)
signal.signal(signal.SIGTERM, lambda number, _: os.kill(process.pid, number))
sys.exit(process.wait())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty directory, also the home of what `mktemp -d` makes; readable, for PostgreSQL's own user."""
    path = Path(tempfile.mkdtemp(prefix="hearthpay-readme-"))
    path.chmod(0o755)
    yield path
    for data_dir in path.glob("tmp.*"):
        EmbeddedServer(data_dir).stop()
    shutil.rmtree(path, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _run(script: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """The script's status and what it prints; after SECONDS it is ended, with all that it started."""
    with (folder / "printed").open("w+") as printed:
        shell = subprocess.Popen(
            ["bash", "-c", script],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = shell.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGTERM)
            status = shell.wait(timeout=60)
        printed.seek(0)
        return status, printed.read()


def _serving_forked(folder: Path) -> Path:
    """A directory with a `hearthpay` that is the installed one, except that `serve` starts without the imports."""
    hearthpay("--version")  # from here on the process is there that `start` forks from
    folder.mkdir()
    command = folder / "hearthpay"
    installed = Path(sys.executable).with_name("hearthpay")
    root, home = README.parent, tempfile.gettempdir()
    command.write_text(
        _SERVE_FORKED.format(python=sys.executable, installed=str(installed), root=str(root), home=home)
    )
    command.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    "forked", [True, pytest.param(False, marks=pytest.mark.long)], ids=["forked", "installed"]
)
def test_the_block_from_serve_to_a_pay_stub_runs_as_it_stands(folder: Path, forked: bool) -> None:
    ((block, shown),) = BLOCK.findall(README.read_text(encoding="utf-8"))
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    first = [str(_serving_forked(folder / "forked"))] if forked else []
    environment |= {
        "PATH": os.pathsep.join([*first, str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PORT": str(_free_port()),
        "TMPDIR": str(folder),
    }
    script = f'trap \'kill "$SERVER"; wait "$SERVER"\' EXIT\n{block}'
    status, output = _run(script, folder, environment)
    log = (folder / "hearthpay.log").read_text(encoding="utf-8")
    assert output == shown, log
    assert status == 0, log
    assert shown.splitlines()[-1] == "completed"
    assert (folder / "pay-stub.pdf").read_bytes().startswith(b"%PDF")
    assert "/welcome/" in log
