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

ROOT = Path(__file__).parents[2]
_PR_SET_CHILD_SUBREAPER = 36


@contextmanager
def holder(data_dir: Path, *options: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run this module on `data_dir`; whatever is left of it is killed at the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.database.holder", str(data_dir), *options],
        cwd=ROOT,
        env=environment or None,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert read_line(process) == "starting"
            yield process
        finally:
            process.kill()


def read_line(process: subprocess.Popen[str]) -> str:
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
