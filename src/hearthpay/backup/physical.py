"""A physical backup: the embedded server's files, all or only what changed, for databases of gigabytes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from hearthpay.backup.errors import BackupError, RefusedError
from hearthpay.backup.manifest import StoredFile
from hearthpay.backup.programs import Programs
from hearthpay.backup.progress import Pace, Tell
from hearthpay.backup.source import BackupSource, Connection
from hearthpay.database.service_account import ServiceAccount

CLUSTER: Final = "cluster"

_MANIFEST: Final = "backup_manifest"
_SEGMENT: Final = 16 * 2**20
_SEGMENTS_PER_FILE: Final = 0x100000000 // _SEGMENT
_NO_SUMMARIES: Final = re.compile("WAL summar(?:ies|ization)")
_OTHER_PAST: Final = re.compile("timeline|system identifier")


def copy_cluster(
    source: BackupSource, programs: Programs, target: Path, parent: Path | None, tell: Tell
) -> None:
    """Copy the server's files into the directory, or what changed since the backup in `parent`.

    Raises RefusedError if an incremental copy isn't possible, BackupError if copying fails.
    """
    cluster = target / CLUSTER
    pace = Pace(tell, "copying the database")
    arguments = [] if parent is None else [f"--incremental={parent / CLUSTER / _MANIFEST}"]
    with source.program_environment(encrypted=False) as environment:
        try:
            programs.run(
                "pg_basebackup",
                f"--pgdata={cluster}",
                "--wal-method=stream",
                "--checkpoint=fast",
                "--manifest-checksums=SHA256",
                "--no-password",
                *arguments,
                environment=environment,
                watch=lambda: pace.note(lambda: _size(cluster)),
            )
        except BackupError as error:
            if parent is not None and _NO_SUMMARIES.search(str(error)):
                raise RefusedError(
                    "the server has no record of all changes since that backup (it keeps ten days): make a new one "
                    "with --physical"
                ) from error
            if parent is not None and _OTHER_PAST.search(str(error)):
                raise RefusedError(
                    "that backup is of another past than this database's: make a new one with --physical"
                ) from error
            raise


def check_cluster(directory: Path, files: Sequence[StoredFile]) -> None:
    """Compare what was written with what the server says it sent; raises BackupError if they differ."""
    path = directory / CLUSTER / _MANIFEST
    content = path.read_bytes()
    signed, mark, _ = content.rpartition(b'"Manifest-Checksum"')
    manifest = orjson.loads(content)
    if not mark or hashlib.sha256(signed).hexdigest() != manifest["Manifest-Checksum"]:
        raise BackupError("the server's own manifest is damaged")
    written = {file.path: file for file in files}
    for sent in manifest["Files"]:
        name = sent["Path"] if "Path" in sent else bytes.fromhex(sent["Encoded-Path"]).decode()
        file = written.get(f"{CLUSTER}/{name}")
        if file is None:
            raise BackupError(f"{name} was sent but not written")
        if (file.size, file.sha256) != (sent["Size"], sent["Checksum"]):
            raise BackupError(f"{name} was written with another content than was sent")
    for stretch in manifest["WAL-Ranges"]:
        for name in _segments(stretch):
            if f"{CLUSTER}/pg_wal/{name}" not in written:
                raise BackupError(f"the log {name} is missing, without which the copy does not start")


def combine(
    chain: Sequence[Path], programs: Programs, data: Path, account: ServiceAccount, tell: Tell
) -> None:
    """Combine a full backup and its incremental ones into a data directory, for a server run by the account.

    The server that starts there gets a new timeline: its history diverges from the original server's, and later
    incremental backups must not mix the two.
    """
    pace = Pace(tell, "putting the database together")
    programs.run(
        "pg_combinebackup",
        *(str(path / CLUSTER) for path in chain),
        f"--output={data}",
        environment={"LC_ALL": "C"},
        watch=lambda: pace.note(lambda: _size(data)),
    )
    (data / "recovery.signal").touch(mode=0o600)
    with (data / "postgresql.auto.conf").open("a", encoding="utf-8") as settings:
        # There is no log but the backup's own; nobody may connect until it is replayed.
        settings.write("restore_command = 'false'\nhot_standby = 'off'\n")
    for path in (data, *data.rglob("*")):
        account.own(path)


def forget_recovery(connection: Connection) -> None:
    """Remove the settings under which `combine` had the server start."""
    for setting in ("restore_command", "hot_standby"):
        connection.execute(f"ALTER SYSTEM RESET {setting}".encode())


def _segments(stretch: dict[str, Any]) -> list[str]:
    first, last = (_position(stretch[name]) // _SEGMENT for name in ("Start-LSN", "End-LSN"))
    if _position(stretch["End-LSN"]) % _SEGMENT == 0:
        last -= 1  # it ends where the next one would begin
    return [
        f"{stretch['Timeline']:08X}{number // _SEGMENTS_PER_FILE:08X}{number % _SEGMENTS_PER_FILE:08X}"
        for number in range(first, last + 1)
    ]


def _position(text: str) -> int:
    high, low = text.split("/")
    return (int(high, 16) << 32) + int(low, 16)


def _size(directory: Path) -> int:
    total = 0
    for path in directory.rglob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total
