"""A process of its own that uses an embedded server: `python -m tests.database.holder DATA_DIR [adopt]`.

Prints `starting`, then the server's process number, then stops when its input ends. With `adopt`, orphans become its
children, and like many a container's first process it never collects the dead ones.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hearthpay.database.embedded import EmbeddedServer
from tests.worlds.commands import StartedProcess, start

ROOT = Path(__file__).parents[2]
_PR_SET_CHILD_SUBREAPER = 36


Holder = StartedProcess | subprocess.Popen[str]


@contextmanager
def holder(data_dir: Path, *options: str, **environment: str) -> Iterator[Holder]:
    """Run this module on `data_dir`; whatever is left of it is killed at the end of the block."""
    process = start(
        *(data_dir, *options),
        module="tests.database.holder",
        asked=True,
        folder=ROOT,
        errors=2,
        environment=environment or None,
    )
    with _killed_at_the_end(process):
        yield process


@contextmanager
def holder_that_imports(data_dir: Path, **environment: str) -> Iterator[Holder]:
    """The same, with an interpreter that finds its modules as the environment says."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.database.holder", str(data_dir)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with _killed_at_the_end(process):
        yield process


@contextmanager
def _killed_at_the_end(process: Holder) -> Iterator[None]:
    with process:
        try:
            assert read_line(process) == "starting"
            yield
        finally:
            process.kill()


def read_line(process: Holder) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def main() -> None:
    if "adopt" in sys.argv[2:]:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    server = EmbeddedServer(Path(sys.argv[1]))
    print("starting", flush=True)
    server.start()
    print(server.postmaster_pid, flush=True)
    sys.stdin.read()
    server.stop()
    print("stopped", flush=True)


if __name__ == "__main__":
    main()
