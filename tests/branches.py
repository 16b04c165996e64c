"""Which lines and branches of `src/` the suite goes through: `make coverage`, which loads this as a plugin of pytest.

SlipCover puts probes into the code and takes each out once it has been passed, so that it costs some seconds where
a tracer would take several times as long as the tests. No tracer also means that greenlets, through which SQLAlchemy
runs the database's work, and threads need no care. Measured are the processes that run tests and the commands forked by
`tests.worlds.fork_server`; a process that a test starts otherwise (`hearthpay serve`, a worker) is not.
"""

from __future__ import annotations

import atexit
import marshal
import os
import shutil
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from slipcover import FileMatcher, ImportManager, Slipcover, wrap_spec_from_file_location

FOLDER_VARIABLE = "HEARTHPAY_TEST_BRANCHES"
"""Where the processes of this run leave what they have seen."""

_ROOT = Path(__file__).parents[1]
_SOURCE = _ROOT / "src" / "hearthpay"


def leave_at_the_end() -> None:
    """Leave what this process has seen when it ends."""
    folder = os.environ[FOLDER_VARIABLE]

    def leave() -> None:
        content = [
            {file: list(places) for file, places in seen.items()}
            for seen in (_measured.all_seen, _measured.newly_seen)
        ]
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(marshal.dumps(content))

    atexit.register(leave)


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        leave_at_the_end()
    else:
        os.environ[FOLDER_VARIABLE] = tempfile.mkdtemp(prefix="hearthpay-branches-", dir="/tmp")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the figure, and the files that lack most; fail where it is below the floor of `pyproject.toml`."""
    if hasattr(config, "workerinput"):
        return
    summary, files = _gathered()
    settings = tomllib.loads((_ROOT / "pyproject.toml").read_text())["tool"]["slipcover"]
    floor, share = settings["fail-under"], summary["percent_covered"]
    terminalreporter.section("coverage of src/")
    for name, file in sorted(files.items(), key=lambda each: _missing(each[1]), reverse=True)[:15]:
        told = file["summary"]
        missing = f"{told['missing_lines']:>5} lines  {told['missing_branches']:>4} branches"
        terminalreporter.write_line(f"{missing}  missing in {name} ({told['percent_covered']:.0f} %)")
    branches = summary["covered_branches"], summary["covered_branches"] + summary["missing_branches"]
    lines = summary["covered_lines"], summary["covered_lines"] + summary["missing_lines"]
    terminalreporter.write_line(
        f"branches {branches[0]} of {branches[1]}, lines {lines[0]} of {lines[1]}: {share:.2f} %, floor {floor} %"
    )
    session = terminalreporter._session
    if share < floor and session is not None and session.exitstatus == pytest.ExitCode.OK:
        terminalreporter.write_line("Coverage has fallen below its floor.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _gathered() -> tuple[dict[str, Any], dict[str, Any]]:
    """What this process and those that left it word have seen."""
    folder = Path(os.environ[FOLDER_VARIABLE])
    for left in folder.iterdir():
        for each in marshal.loads(left.read_bytes()):
            for file, places in each.items():
                _measured.all_seen[file].update(places)
    shutil.rmtree(folder)
    coverage = _measured.get_coverage()
    return coverage["summary"], coverage["files"]


def _missing(file: dict[str, Any]) -> int:
    return file["summary"]["missing_lines"] + file["summary"]["missing_branches"]


def _measure() -> Slipcover:
    """Watch all of the product that this process imports from now on."""
    measured = Slipcover(branch=True, source=[str(_SOURCE)])
    matcher = FileMatcher(sources=[_SOURCE])
    wrap_spec_from_file_location(measured, matcher)
    ImportManager(measured, matcher).__enter__()
    return measured


_measured = _measure()
