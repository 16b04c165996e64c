"""Runs tests for `tools.mutants` in forks of a process that has imported pytest and the libraries, not the product.

Each fork imports the product from the copy of the tree, as it is then, and uses a database server that is already
started. It is a process group of its own, so that nothing of it outlives a timeout.
"""

from __future__ import annotations

import gc
import importlib
import importlib.machinery
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any, Final

import pytest
from hypothesis import Phase, settings
from tools.mutations import marked

ROOT: Final = Path(__file__).resolve().parent.parent

Place = tuple[str, int]
"""A file and a line of it."""
ANYWHERE: Final = 0
"""The line that stands for any statement of a file."""
COLLECTION: Final = "collection"

_LIBRARIES: Final = (
    "hypothesis", "fastapi.testclient", "sqlalchemy.ext.asyncio", "sqlalchemy.dialects.postgresql", "psycopg",
    "psycopg_pool", "pydantic", "cryptography.hazmat.primitives.ciphers.aead", "httpx", "alembic.command", "typer",
    "jinja2", "structlog", "babel.dates", "orjson", "holidays", "uvloop", "mcp.server", "asyncssh", "webauthn",
    "xml.etree.ElementTree", "procrastinate", "typst", "icalendar", "argon2",
)  # fmt: skip
_MARK: Final = "__reached__"
_DATABASE: Final = """
import sys
from pathlib import Path
from tests.worlds.installations import install
server = install(Path(sys.argv[1]))
server.start()
print("ready", flush=True)
sys.stdin.read()
server.stop()
"""


@dataclass(frozen=True, slots=True)
class TimedTest:
    """One test of the first run: how it ended, how long it took, and the statements that it reached."""

    nodeid: str
    passed: bool
    seconds: float
    reached: frozenset[Place]


@dataclass
class Workplace:
    """A copy of the tree with a database server beside it; mutants are put into the copy alone."""

    folder: Path
    tree: Path = field(init=False)
    database: Path = field(init=False)

    def __post_init__(self) -> None:
        self.tree, self.database = self.folder / "tree", self.folder / "database"

    def file(self, path: Path) -> Path:
        """Return a file of the copy."""
        return self.tree / path

    def put(self, path: Path, source: bytes) -> None:
        """Write a module of the copy, and forget what was compiled of it."""
        target = self.file(path)
        target.write_bytes(source)
        for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
            compiled.unlink()


@contextmanager
def workplace() -> Iterator[Workplace]:
    """Copy what git knows, and what it does not know yet, to a temporary folder, and start a database there."""
    memory = Path("/dev/shm")
    room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 4 << 30
    folder = Path(tempfile.mkdtemp(prefix="mutants-", dir=memory if room else None))
    folder.chmod(0o755)
    place = Workplace(folder)
    try:
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0"):
            source = ROOT / os.fsdecode(name)
            if name and source.is_file():
                target = place.tree / os.fsdecode(name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        with _database(place):
            yield place
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _database(place: Workplace) -> Iterator[None]:
    environment = _environment(place) | {"TMPDIR": str(place.folder)}
    process = subprocess.Popen(
        [sys.executable, "-c", _DATABASE, str(place.database)],
        cwd=place.tree,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        if process.stdout.readline().strip() != b"ready":
            raise RuntimeError("the database server did not start")
        yield
    finally:
        process.communicate()


def _environment(place: Workplace) -> dict[str, str]:
    return dict(os.environ) | {"PYTHONPATH": f"{place.tree / 'src'}{os.pathsep}{place.tree}"}


def import_libraries() -> None:
    """Import pytest and what the product stands on, once for all forks."""
    for name in _LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)
    assert threading.active_count() == 1, "a process of several threads cannot be forked"
    assert not any(name.partition(".")[0] == "hearthpay" for name in sys.modules)
    gc.collect()
    gc.freeze()


class _Tests:
    """The plugin of every run: the shared database, and the tests to run, the shortest first."""

    def __init__(self, place: Workplace, scratch: Path, chosen: Sequence[str] | None) -> None:
        self.place, self.scratch, self.chosen = place, scratch, chosen

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self) -> None:
        places: Any = importlib.import_module("tests.worlds.places")
        places._MEMORY = self.scratch
        phases = (Phase.explicit, Phase.generate)  # the shortest example of a failure is of no interest
        settings.register_profile("mutants", settings.default, phases=phases, database=None)
        settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.chosen is not None:
            order = {nodeid: number for number, nodeid in enumerate(self.chosen)}
            items[:] = sorted(
                (item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid]
            )

    def pytest_collection_finish(self) -> None:
        conftest: Any = sys.modules.get("tests.conftest")
        if conftest is not None:
            embedded = importlib.import_module("hearthpay.database.embedded").EmbeddedServer
            conftest.install = lambda _: embedded(self.place.database)


class _Reached(_Tests):
    """Writes a line for each test: how it ended, and which of the wanted statements and which modules it reached."""

    def __init__(
        self, place: Workplace, scratch: Path, marks: set[Place], requested: Set[Place], output: Path
    ) -> None:
        super().__init__(place, scratch, None)
        self.marks, self.requested, self.output = marks, requested, output
        self.passed, self.seconds = True, 0.0

    def pytest_collection_finish(self) -> None:
        super().pytest_collection_finish()
        self._write(COLLECTION)

    def pytest_runtest_logstart(self) -> None:
        self.marks.clear()
        self.passed, self.seconds = True, 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed = self.passed and report.outcome != "failed"
        self.seconds += report.duration

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._write(nodeid)

    def _write(self, nodeid: str) -> None:
        told = (self.marks & self.requested) | {(path, ANYWHERE) for path, _ in self.marks}
        row = [nodeid, self.passed, round(self.seconds, 4), sorted(told)]
        with self.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _mark_modules(place: Workplace, modules: Iterable[Path], marks: set[Place]) -> None:
    """Have modules of the copy compiled so that each statement of theirs says that it is reached."""
    paths = {str(place.file(module)): module for module in modules}
    loader: Any = importlib.machinery.SourceFileLoader
    usual = loader.get_code
    vars(importlib.import_module("builtins"))[_MARK] = marks.add

    def get_code(self: Any, fullname: str) -> CodeType | None:
        module = paths.get(self.get_filename(fullname))
        if module is None:
            code: CodeType | None = usual(self, fullname)
            return code
        source = place.file(module).read_bytes()
        return compile(marked(str(module), source, _MARK), str(place.file(module)), "exec", dont_inherit=True)

    loader.get_code = get_code


def first_run(
    place: Workplace, requested: Set[Place], files: Sequence[Path], seconds: float, log: Path
) -> list[TimedTest]:
    """Run test files on the tree as it is; return which of the wanted statements each test reached.

    Of a module that it reached at all it has the line `ANYWHERE` too. The first is no test but `COLLECTION`: what the
    imports reach, and what test modules calculate for their parameters. Ends after so many seconds.
    """
    output = place.folder / "reached.jsonl"
    output.unlink(missing_ok=True)

    def work(scratch: Path) -> int:
        marks: set[Place] = set()
        _mark_modules(place, {Path(path) for path, _ in requested}, marks)
        return _pytest(files, (), _Reached(place, scratch, marks, requested, output))

    _fork(place, work, seconds, log)
    rows = output.read_text("utf-8").splitlines() if output.exists() else []
    return [_timed_test(*json.loads(row)) for row in rows]


def _timed_test(nodeid: str, passed: bool, seconds: float, reached: list[list[Any]]) -> TimedTest:
    return TimedTest(nodeid, passed, seconds, frozenset((path, line) for path, line in reached))


def run_tests(place: Workplace, nodeids: Sequence[str], seconds: float, log: Path) -> int | None:
    """Run tests of the copy until one fails; return pytest's exit code, or None where the time is over."""
    files = [Path(name) for name in dict.fromkeys(nodeid.partition("::")[0] for nodeid in nodeids)]
    sys.dont_write_bytecode = True

    def work(scratch: Path) -> int:
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        return _pytest(files, ("-x",), _Tests(place, scratch, nodeids))

    return _fork(place, work, seconds, log)


def _pytest(files: Sequence[Path], options: Sequence[str], plugin: object) -> int:
    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not long", "--timeout=300"]
    return int(pytest.main([*arguments, *options, *map(str, files)], plugins=[plugin]))


def _fork(place: Workplace, work: Any, seconds: float, log: Path) -> int | None:
    """Call `work` in a process of its own; return its exit code, or None where it took longer, and is killed."""
    scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=place.folder))
    scratch.chmod(0o755)
    sys.stdout.flush()
    child = os.fork()
    if not child:
        code = 3
        try:
            os.setsid()
            _enter(place, log)
            code = work(scratch)
        finally:
            sys.stdout.flush()
            os._exit(code)
    try:
        return _wait(child, seconds)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)
        shutil.rmtree(scratch, ignore_errors=True)


def _wait(child: int, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    return None


def _enter(place: Workplace, log: Path) -> None:
    """Be a process that works in the copy and knows nothing of the checkout."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(place.tree)
    os.environ.update(_environment(place))
    own = {str(ROOT), str(ROOT / "src"), ""}
    sys.path[:] = [str(place.tree / "src"), str(place.tree), *(path for path in sys.path if path not in own)]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tools", "tests")]:
        del sys.modules[name]
    importlib.invalidate_caches()


def describe_failure(log: Path) -> str:
    """Return the test that failed, from what pytest wrote."""
    lines = log.read_text("utf-8", errors="replace").splitlines() if log.exists() else []
    failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return failed[0][:200] if failed else (lines[-1][:200] if lines else "")
