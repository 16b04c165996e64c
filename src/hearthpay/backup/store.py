"""The directory of backups: each in its own dated directory, complete or not there at all.

A backup in progress has a name that begins with a dot and is locked by its writer. A killed writer leaves such a
directory behind; it never counts as a backup, and the next writer removes it.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import itertools
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hearthpay.backup.errors import BackupError, RefusedError
from hearthpay.backup.manifest import MANIFEST, BackupKind, Manifest, read_manifest

_UNFINISHED: Final = ".unfinished-"
_NAME: Final = re.compile(r"hearthpay-\d{8}T\d{6}Z-(?:logical|full|incremental)(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class StoredBackup:
    """A backup in its directory."""

    path: Path
    manifest: Manifest


@contextmanager
def draft(store: Path) -> Iterator[Path]:
    """Yield a private directory for writing a backup; what is left of it is removed at the end of the block."""
    try:
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(store)
        made = store / f"{_UNFINISHED}{os.getpid()}-{os.urandom(4).hex()}"
        made.mkdir(mode=0o700)
        lock = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise RefusedError(f"{store} cannot hold a backup: {error.strerror}") from None
    try:
        with contextlib.suppress(
            OSError
        ):  # a file system without locks: then nothing there is swept up either
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(lock)


def publish(made: Path, kind: BackupKind, taken_at: datetime.datetime) -> Path:
    """Give a complete draft its name, durably; return its location."""
    base = f"hearthpay-{taken_at.astimezone(datetime.UTC):%Y%m%dT%H%M%SZ}-{kind}"
    for directory in [made, *(path for path in made.rglob("*") if path.is_dir())]:
        _sync(directory)
    for number in itertools.count(1):
        target = made.parent / (base if number == 1 else f"{base}.{number}")
        if not target.exists():
            break
    made.rename(target)
    _sync(made.parent)
    return target


def backups(store: Path) -> list[StoredBackup]:
    """Return every backup of the directory, oldest first; raises RefusedError if a manifest can't be read."""
    try:
        found = [path for path in store.iterdir() if _NAME.fullmatch(path.name) and path.is_dir()]
    except OSError as error:
        raise RefusedError(f"{store} cannot be read: {error.strerror}") from None
    stored = [StoredBackup(path, read_manifest(path)) for path in found]
    return sorted(stored, key=lambda each: (each.manifest.taken_at, each.manifest.id))


def chosen(path: Path) -> StoredBackup:
    """Return the backup at `path`, or the newest of those in it. Raises RefusedError."""
    if (path / MANIFEST).exists() or _NAME.fullmatch(path.name):
        return StoredBackup(path, read_manifest(path))
    found = backups(path)
    if not found:
        raise RefusedError(f"{path} holds no backup")
    return found[-1]


def chain(backup: StoredBackup) -> list[StoredBackup]:
    """Return the backup with everything it builds on, the full one first; raises BackupError if one is missing."""
    links = [backup]
    neighbours: dict[object, StoredBackup] = {}
    if backup.manifest.parent is not None:
        neighbours = {each.manifest.id: each for each in backups(backup.path.resolve().parent)}
    while (parent := links[0].manifest.parent) is not None:
        if parent not in neighbours:
            raise BackupError(
                f"{links[0].path.name} holds only what changed since {links[0].manifest.parent_name}, "
                f"which is not in {backup.path.resolve().parent}: put it there"
            )
        links.insert(0, neighbours.pop(parent))
    return links


def _sweep(store: Path) -> None:
    """Remove what killed writers have left."""
    for path in store.glob(f"{_UNFINISHED}*"):
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(descriptor)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
