"""A newcomer's terminal: an empty folder, nothing set, and the commands of a page, run word for word."""

from __future__ import annotations

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
"""The README's block, and what it prints."""
SECONDS = 400

#: What a terminal has that belongs to no installation: no setting of Hearthpay, no database, no proxy.
KEPT = ("HOME", "LANG", "LC_ALL", "USER", "LOGNAME")

_FORKED = """#!{python} -E
import sys, tempfile
sys.path.insert(0, {root!r})
tempfile.tempdir = {home!r}
from tests.worlds.commands import run_in_place
sys.exit(run_in_place(sys.argv[1:]))
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


def newcomers_environment(folder: Path, *, forked: bool) -> dict[str, str]:
    """The environment of a terminal in which `make setup && source .venv/bin/activate` was said in this folder.

    With `forked` each `hearthpay` is the installed one without the seconds that its imports take.
    """
    installed = Path(sys.executable).parent
    (folder / ".venv" / "bin").mkdir(parents=True)
    first = [str(_forked_command(folder / ".venv" / "bin"))] if forked else []
    path = os.pathsep.join([*first, str(installed), os.environ["PATH"]])
    (folder / ".venv" / "bin" / "activate").write_text(f"export PATH='{path}'\n")
    (folder / "examples").symlink_to(README.parent / "examples")
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    return kept | {
        "PATH": path,
        "PORT": str(port),
        "TMPDIR": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
    }


def run_script(script: str, folder: Path, environment: dict[str, str], answers: str = "") -> tuple[int, str]:
    """The script's status and what it prints; after SECONDS it is ended, with all that it started."""
    (folder / "answers").write_text(answers)
    with (folder / "printed").open("w+") as printed, (folder / "answers").open() as given:
        shell = subprocess.Popen(
            ["bash", "-c", script],
            cwd=folder,
            env=environment,
            stdin=given,
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


def _forked_command(folder: Path) -> Path:
    """Put a `hearthpay` into the folder that is the installed one, except that it starts without the imports."""
    hearthpay("--version")  # from here on the process is there that it forks from
    command = folder / "hearthpay"
    command.write_text(
        _FORKED.format(python=sys.executable, root=str(README.parent), home=tempfile.gettempdir())
    )
    command.chmod(0o755)
    return folder
