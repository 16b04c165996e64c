"""`make test-dates`: the whole suite on other days than today, as the machine's clock would show them.

A test that compares a fixed date with the machine's clock has a day on which it breaks. Every process of a run sees the
shifted clock, PostgreSQL among them: a small C library is loaded into each (`shifted_clock.c`). libfaketime would do
more than is wanted here: it shares semaphores between processes, so that a test which kills one stops the others.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from hearthpay.clock import BUSINESS_TIME

ROOT: Final = Path(__file__).resolve().parent.parent
LEAP_DAY: Final = datetime(2028, 2, 29, 12, tzinfo=BUSINESS_TIME)
SUITE: Final = ("-m", "not long", "--dist", "loadfile", "--no-loadscope-reorder")
_AT_START: Final = ROOT / "tests" / "shifted"


def dates(now: datetime) -> dict[str, datetime]:
    """Return the instants at which the suite is run, by name; New Year's Eve is the next one."""
    eve = datetime(now.astimezone(BUSINESS_TIME).year, 12, 31, 20, tzinfo=BUSINESS_TIME)
    return {
        "1-day": now + timedelta(days=1),
        "100-days": now + timedelta(days=100),
        "new-years-eve": eve if eve > now else eve.replace(year=eve.year + 1),
        "leap-day": LEAP_DAY,
        "400-days": now + timedelta(days=400),
    }


def run_shifted(library: Path, seconds: int, arguments: Sequence[str]) -> int:
    """Run pytest with these arguments on a clock that is so many seconds ahead; return its exit status."""
    path = os.pathsep.join(filter(None, (str(_AT_START), os.environ.get("PYTHONPATH"))))
    shift = {"LD_PRELOAD": str(library), "SHIFTED_CLOCK": str(seconds), "PYTHONPATH": path}
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, cwd=ROOT, env=os.environ | shift, check=False).returncode


def build_library(folder: Path) -> Path | None:
    """Compile the library into a folder; None where there is no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    library = folder / "shifted_clock.so"
    source = ROOT / "tools" / "shifted_clock.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
    return library


def main(arguments: Sequence[str]) -> int:
    """Run the suite on the named dates, by default on all; what follows `--` goes to pytest in place of the suite.

    Return 1 if a run failed, 2 where none could be made.
    """
    words = list(arguments)
    given = words.index("--") if "--" in words else len(words)
    names, rest = words[:given], words[given + 1 :]
    now = datetime.now(UTC)
    all_dates = dates(now)
    if unknown := set(names) - all_dates.keys():
        print(f"Unknown: {', '.join(sorted(unknown))}. Choose from {', '.join(all_dates)}.", file=sys.stderr)
        return 2
    results: list[str] = []
    failed = False
    with tempfile.TemporaryDirectory(prefix="hearthpay-dates-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL loads it too, on an account of its own
        library = build_library(Path(folder))
        if library is None:
            print("There is no C compiler (cc): no date was tried.", file=sys.stderr)
            return 2
        for name in names or all_dates:
            at = all_dates[name]
            print(f"On {at:%A, %d %B %Y, %H:%M %Z} ({name}):", flush=True)
            begun = time.monotonic()
            workers = min(4, (os.cpu_count() or 1) + 1)
            status = run_shifted(
                library, round((at - now).total_seconds()), rest or [*SUITE, "-n", str(workers)]
            )
            failed = failed or status != 0
            results.append(f"{name:14} {'FAILED' if status else 'passed'} {time.monotonic() - begun:5.0f} s")
    print("\n".join(results))
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
