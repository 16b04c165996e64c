"""A logical backup: the rows and the schema of one moment, portable to another machine and another PostgreSQL.

Its schema is for people to read. It is in the dialect of its server, so a restore takes only the rows, into a schema
that this program's migrations have created (`hearthpay.backup.bare_tables`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Final

import psycopg

from hearthpay.backup.bare_tables import bare_tables
from hearthpay.backup.errors import BackupError
from hearthpay.backup.programs import Programs
from hearthpay.backup.progress import Pace, Tell
from hearthpay.backup.source import BackupSource, Connection

DUMP: Final = "database.dump"

_COPY: Final = re.compile(rb"COPY (.+?) \(.*\) FROM stdin;\n")
_END: Final = b"\\.\n"
_ROWS: Final = ("--data-only", "--no-owner", "--file=-")
_CHUNK: Final = 1 << 20
_SEQUENCE: Final = re.compile(rb"SELECT pg_catalog\.setval\(.+\);\n")
_OF_THE_SESSION: Final = re.compile(
    rb"(?:--.*|SET \w+ = .*;|SELECT pg_catalog\.set_config\('search_path', '', false\);|\\(?:un)?restrict \w+)?\n"
)
"""Comments and settings; some are psql's own, some are of newer servers. None is needed."""


def dump(
    source: BackupSource,
    connection: Connection,
    programs: Programs,
    snapshot: str,
    target: Path,
    tell: Tell,
    *,
    within: float,
) -> None:
    """Write the dump of the snapshot into the directory, `within` so many seconds. Raises BackupError if it fails.

    `connection` has the open transaction that exported the snapshot.
    """
    path = target / DUMP
    pace = Pace(tell, "writing the dump")
    ends = time.monotonic() + within

    def watch() -> None:
        if time.monotonic() > ends:  # pg_dump itself waits without a limit
            raise BackupError(f"the dump was not finished within {within:g} seconds, and was ended")
        pace.note(path.stat().st_size if path.exists() else 0)

    with source.program_environment(encrypted=bool(connection.pgconn.ssl_in_use)) as environment:
        programs.run(
            "pg_dump",
            "--format=custom",
            "--no-owner",
            # The owner of a given server bypasses nothing; it was checked before that the policies show every
            # row to it.
            "--enable-row-security",
            "--lock-wait-timeout=60s",
            "--no-password",
            f"--snapshot={snapshot}",
            f"--file={path}",
            environment=environment,
            watch=watch,
        )
    path.chmod(0o600)


def check_dump(directory: Path, programs: Programs, rows: Mapping[str, int], tell: Tell) -> None:
    """Read the dump to its end and count each table's rows; raises BackupError if the counts differ."""
    pace = Pace(tell, "checking the dump")
    found: dict[str, int] = {}
    done = 0
    with programs.reading("pg_restore", *_ROWS, str(directory / DUMP)) as script:
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
    """Load the dump's rows into the schema of its revision, in the transaction that created the schema.

    Rows that the migrations wrote are replaced. Raises BackupError if the server refuses any row.
    """
    try:
        connection.execute("SET LOCAL client_encoding = 'UTF8'")
        with bare_tables(connection, tell):
            _copy_rows(connection, programs, str(directory / DUMP), tell)
    except psycopg.Error as error:
        raise BackupError(f"the server refused the backup: {str(error).strip().splitlines()[0]}") from None


def _copy_rows(connection: Connection, programs: Programs, archive: str, tell: Tell) -> None:
    """Yield an archive's data: settings, rows for COPY, and sequence values; raises BackupError for anything else."""
    pace = Pace(tell, "restoring rows")
    done = 0
    with programs.reading("pg_restore", *_ROWS, archive) as script:
        for line in script:
            if (match := _COPY.fullmatch(line)) is not None:
                if match[1] == b"public.alembic_version":  # the migrations have written it
                    for _ in _rows(script):
                        pass
                    continue
                with connection.cursor() as cursor, cursor.copy(line.rstrip(b";\n")) as copy:
                    for chunk in _rows(script):
                        copy.write(chunk)
                        done += len(chunk)
                        pace.note(done)
            elif _SEQUENCE.fullmatch(line):
                connection.execute(line)
            elif not _OF_THE_SESSION.fullmatch(line):
                raise BackupError(
                    f"the dump holds more than rows: {line[:80].decode(errors='replace').strip()}"
                )


def _rows(script: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines up to the end of a COPY's rows, many at a time."""
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
