"""The cold start of the command line: a whole process that answers one calculation."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from benchmarks.report import Row, spread

RUNS = 7
ARGUMENTS = ("calculate", "--state", "CA", "--annual-wages", "35000", "--json")


def measure() -> list[Row]:
    """Time the command in turns with an interpreter that does nothing."""
    print(f"Command line: {RUNS} processes of `hearthpay {' '.join(ARGUMENTS)}` …", flush=True)
    program = Path(sys.executable).with_name("hearthpay")
    command = [str(program), *ARGUMENTS]
    nothing = [sys.executable, "-c", "pass"]
    with tempfile.TemporaryDirectory(prefix="hearthpay-bench-") as cache:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = cache
        first = _seconds(command, environment)  # compiles every module, as right after an installation
        _seconds(nothing, environment)
        answers, idle = [], []
        for _ in range(RUNS):
            answers.append(_seconds(command, environment))
            idle.append(_seconds(nothing, environment))
    print(f"  right after an installation, before Python has compiled anything: {first * 1e3:.0f} ms")
    print(f"  the middle half of the runs lies within {spread(answers):.0%}")
    return [
        Row(
            "hearthpay calculate --json, whole process",
            f"{median(answers) * 1e3:.0f} ms",
            f"python -c pass: {median(idle) * 1e3:.0f} ms",
            median(answers) / median(idle),
        )
    ]


def _seconds(command: list[str], environment: Mapping[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started
