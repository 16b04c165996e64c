"""PostgreSQL's own programs: which ones to use, and how they are run, watched and stopped."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from hearthpay.backup.errors import BackupError, RefusedError
from hearthpay.database.binaries import postgres_programs
from hearthpay.database.service_account import ServiceAccount

VARIABLE: Final = "HEARTHPAY_PG_PROGRAMS"
"""The environment variable that names a directory of other programs than the packaged ones, which don't support TLS."""

_SYSTEM: Final = Path("/usr/lib/postgresql")
_VERSION: Final = re.compile(r"\(PostgreSQL\) (\d+)(?:\.(\d+))?")
_POLL_SECONDS: Final = 0.1
_END_SECONDS: Final = 10.0
_LONGEST_REPORT: Final = 2000


@dataclass(frozen=True, slots=True)
class Programs:
    """A directory of programs of one version."""

    directory: Path
    major: int
    version: str

    def run(
        self, name: str, *arguments: str, environment: Mapping[str, str], watch: Callable[[], None]
    ) -> None:
        """Run a program to its end, calling `watch` ten times a second. Raises BackupError with its output if it
        fails.

        It ends together with this process's work on it, however that ends.
        """
        with tempfile.TemporaryFile() as report:
            process = self._start(name, arguments, environment, stdout=report, stderr=report)
            try:
                while process.poll() is None:
                    watch()
                    time.sleep(_POLL_SECONDS)
            finally:
                _end(process)
            if process.returncode != 0:
                raise _failure(name, process.returncode, report)

    @contextmanager
    def reading(self, name: str, *arguments: str) -> Iterator[IO[bytes]]:
        """Yield a program's output, to be read to the end. Raises BackupError with its report if it fails."""
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
        with tempfile.TemporaryFile() as report:
            process = self._start(name, arguments, environment, stdout=subprocess.PIPE, stderr=report)
            assert process.stdout is not None
            try:
                yield process.stdout
                unread = process.stdout.read(1)
                process.stdout.close()
                process.wait()
            finally:
                _end(process)
            if process.returncode != 0 or unread:
                raise _failure(name, process.returncode, report)

    def _start(
        self,
        name: str,
        arguments: tuple[str, ...],
        environment: Mapping[str, str],
        *,
        stdout: IO[bytes] | int,
        stderr: IO[bytes],
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603
            [self.directory / name, *arguments],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        )


def packaged_programs() -> Programs:
    """Return the programs of the wheel, which read and write all our archives."""
    me = ServiceAccount(os.geteuid(), os.getegid(), borrowed=False)
    return _examine(postgres_programs(me, Path(os.devnull)))


def programs_for(server_version: int, *, encrypted: bool) -> Programs:
    """Return programs for a server of this version (`server_version_num`), over TLS if `encrypted`. Raises
    RefusedError.

    They are those of HEARTHPAY_PG_PROGRAMS; otherwise the packaged ones, or over TLS, which these don't support, the
    machine's own.
    """
    requested = server_version // 10000
    if chosen := os.environ.get(VARIABLE):
        return _suitable(_examine(Path(chosen)), requested)
    if not encrypted:
        return _suitable(packaged_programs(), requested)
    found = [_examine(place) for place in _installed()]
    fitting = [programs for programs in found if programs.major >= requested]
    if not fitting:
        raise RefusedError(
            f"the server is reached over TLS, which the packaged pg_dump does not speak: install PostgreSQL's client "
            f"programs, version {requested} or newer, or name their directory in {VARIABLE}"
        )
    return min(fitting, key=lambda programs: programs.major)


def _installed() -> list[Path]:
    places = [path / "bin" for path in _SYSTEM.iterdir()] if _SYSTEM.is_dir() else []
    if (found := shutil.which("pg_dump")) is not None:
        places.append(Path(found).parent)
    return [place for place in places if (place / "pg_dump").exists()]


def _suitable(programs: Programs, requested: int) -> Programs:
    if programs.major < requested:
        raise RefusedError(
            f"pg_dump in {programs.directory} is of PostgreSQL {programs.version}, too old for a server of "
            f"{requested}: name newer programs in {VARIABLE}"
        )
    return programs


def _examine(directory: Path) -> Programs:
    try:
        finished = subprocess.run(  # noqa: S603
            [directory / "pg_dump", "--version"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise RefusedError(f"{directory / 'pg_dump'} does not run: {error}") from None
    match = _VERSION.search(finished)
    if match is None:
        raise RefusedError(f"{directory / 'pg_dump'} does not say its version: {finished.strip()}")
    return Programs(directory, int(match[1]), match[0].removeprefix("(PostgreSQL) "))


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _failure(name: str, status: int, report: IO[bytes]) -> BackupError:
    report.seek(0)
    report_end = report.read().decode(errors="replace").strip()[-_LONGEST_REPORT:]
    return BackupError(f"{name} failed ({status}): {report_end or 'it said nothing'}")
