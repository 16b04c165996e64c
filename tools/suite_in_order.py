"""`make test-order`: does a test need what its neighbors leave, or suffer from it?

All files run in one process, one after another in a random order, then each file by itself. The seed of the order is
printed first; given as an argument, it repeats that order.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
_NOTHING_COLLECTED: Final = 5
"""pytest's exit status for a file that has only long tests."""


def in_order_of(seed: int) -> list[str]:
    """Return the suite's files in the order of a seed."""
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))
    random.Random(seed).shuffle(files)
    return files


def run_files(files: Sequence[str], *, quietly: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the quick tests of these files in one process, in this order."""
    command = [sys.executable, "-m", "pytest", "-m", "not long", "-p", "no:xdist", *files]
    environment = os.environ | {"HEARTHPAY_TEST_ORDER": "given"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=quietly, text=True)


def failing_alone(files: Sequence[str]) -> list[str]:
    """Run each file by itself, as many at once as there are processors; print and return those that fail."""
    failing: list[str] = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as runs:
        for file, ran in zip(
            files, runs.map(lambda file: run_files([file], quietly=True), files), strict=True
        ):
            if ran.returncode not in (0, _NOTHING_COLLECTED):
                print(ran.stdout, ran.stderr, f"{file} fails by itself.", sep="\n", flush=True)
                failing.append(file)
    return failing


def main(arguments: Sequence[str]) -> int:
    """Run both; return 1 if anything failed."""
    seed = int(arguments[0]) if arguments else random.SystemRandom().randrange(10**6)
    files = in_order_of(seed)
    print(f"{len(files)} files in the order of seed {seed}:", flush=True)
    together = run_files(files).returncode
    alone = failing_alone(files)
    print(f"Seed {seed}: {'FAILED' if together else 'passed'}. By themselves: {alone or 'passed'}.")
    return int(bool(together or alone))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
