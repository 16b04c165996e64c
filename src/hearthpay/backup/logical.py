"""A logical backup: the rows and the schema of one moment, portable to another machine and a newer PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Final

import psycopg

from hearthpay.backup.errors import BackupError
from hearthpay.backup.programs import Programs
from hearthpay.backup.source import BackupSource, Connection
from hearthpay.backup.telling import Pace, Tell

DUMP: Final = "database.dump"

_COPY: Final = re.compile(rb"COPY (.+?) \(.*\) FROM stdin;\n")
_END: Final = b"\\.\n"
_SCRIPT: Final = ("--no-owner", "--file=-")
_CHUNK: Final = 1 << 20
_NOT_FOR_SERVERS: Final = re.compile(
    r"^(?:\\(?:un)?restrict [A-Za-z0-9]+|SET transaction_timeout = 0;)\n", re.MULTILINE
)
"""psql's own, and a setting that servers before PostgreSQL 17 do not know."""


def dump(
    source: BackupSource, connection: Connection, programs: Programs, snapshot: str, target: Path, tell: Tell
) -> None:
    """Write the dump of the snapshot into the directory. BackupError if it fails.

    `connection` is the one whose open transaction has exported the snapshot.
    """
    path = target / DUMP
    pace = Pace(tell, "writing the dump")
    with source.program_environment(encrypted=bool(connection.pgconn.ssl_in_use)) as environment:
        programs.run(
            "pg_dump",
            "--format=custom",
            "--no-owner",
            # The owner of a given server bypasses nothing; that the policies show him all was made sure before.
            "--enable-row-security",
            "--lock-wait-timeout=60s",
            "--no-password",
            f"--snapshot={snapshot}",
            f"--file={path}",
            environment=environment,
            watch=lambda: pace.note(path.stat().st_size if path.exists() else 0),
        )
    path.chmod(0o600)


def check_dump(directory: Path, programs: Programs, rows: Mapping[str, int], tell: Tell) -> None:
    """Read the dump to its end and count each table's rows in it; BackupError where they are others."""
    pace = Pace(tell, "checking the dump")
    found: dict[str, int] = {}
    done = 0
    with programs.reading("pg_restore", "--section=data", *_SCRIPT, str(directory / DUMP)) as script:
        table, count = None, 0
        for line in script:
            done += len(line)
            if table is None:
                if (match := _COPY.fullmatch(line)) is not None:
                    table, count = match[1].decode(), 0
            elif line == _END:
                found[table] = count
                table = None
                pace.note(done)
            else:
                count += 1
    for name, expected in rows.items():
        held = found.get(f"public.{name}", 0)
        if held != expected:
            raise BackupError(f"the dump holds {held} rows of {name}, of {expected}")


def load(connection: Connection, programs: Programs, directory: Path, tell: Tell) -> None:
    """Make the dump's schema and rows in the connection's transaction. BackupError if the server refuses any of it."""
    archive = str(directory / DUMP)
    before = _session(connection)
    try:
        _run_section(connection, programs, "pre-data", archive)
        _copy_rows(connection, programs, archive, tell)
        tell("building indexes and checking references …")
        _run_section(connection, programs, "post-data", archive)
        for name, value in before.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    except psycopg.Error as error:
        raise BackupError(f"the server refused the backup: {str(error).strip().splitlines()[0]}") from None


def _session(connection: Connection) -> dict[str, str]:
    """Return what a script changes for the session and what comes after must not inherit."""
    settings = {}
    for name in ("search_path", "row_security", "client_min_messages", "check_function_bodies"):
        row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
        assert row is not None
        settings[name] = row[0]
    return settings


def _run_section(connection: Connection, programs: Programs, section: str, archive: str) -> None:
    with programs.reading("pg_restore", f"--section={section}", *_SCRIPT, archive) as script:
        statements = script.read().splitlines(keepends=True)
    _execute(connection, statements)


def _copy_rows(connection: Connection, programs: Programs, archive: str, tell: Tell) -> None:
    """The section of the data holds nothing but settings, rows for COPY, and the places of sequences."""
    pace = Pace(tell, "restoring rows")
    done = 0
    statements: list[bytes] = []
    with programs.reading("pg_restore", "--section=data", *_SCRIPT, archive) as script:
        for line in script:
            if _COPY.fullmatch(line) is None:
                statements.append(line)
                continue
            _execute(connection, statements)
            statements = []
            with connection.cursor() as cursor, cursor.copy(line.rstrip(b";\n")) as copy:
                for chunk in _rows(script):
                    copy.write(chunk)
                    done += len(chunk)
                    pace.note(done)
        _execute(connection, statements)


def _rows(script: IO[bytes]) -> Iterator[bytes]:
    """The lines up to the end of a COPY's rows, many at a time."""
    gathered: list[bytes] = []
    size = 0
    for line in script:
        if line == _END:
            break
        gathered.append(line)
        size += len(line)
        if size >= _CHUNK:
            yield b"".join(gathered)
            gathered, size = [], 0
    else:
        raise BackupError("the dump ends in the middle of a table")
    yield b"".join(gathered)


def _execute(connection: Connection, lines: list[bytes]) -> None:
    statements = _NOT_FOR_SERVERS.sub("", b"".join(lines).decode("utf-8"))
    if statements.strip():
        connection.execute(statements.encode())
