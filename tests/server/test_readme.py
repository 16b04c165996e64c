"""The README's block, from `serve` to a pay stub, runs as a newcomer pastes it."""

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

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"```bash\n(.*?)```\n+```\n(.*?)```", re.DOTALL)
SECONDS = 400

#: What a terminal has that belongs to no installation: no setting of Hearthpay, no database, no proxy.
KEPT = ("HOME", "LANG", "LC_ALL", "USER", "LOGNAME")


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


def test_the_block_from_serve_to_a_pay_stub_runs_as_it_stands(folder: Path) -> None:
    ((block, shown),) = BLOCK.findall(README.read_text(encoding="utf-8"))
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
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
