"""`manifest.json`: what a backup is, what it holds and what it needs. It is written last and read strictly."""

from __future__ import annotations

import datetime
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast
from uuid import UUID

import orjson

from hearthpay.backup.errors import BackupError, RefusedError
from hearthpay.backup.progress import Pace, Tell

MANIFEST: Final = "manifest.json"
FORMAT: Final = 1
"""Incremented when older programs can no longer restore what is written."""

BackupKind = Literal["logical", "full", "incremental"]

_KINDS: Final = ("logical", "full", "incremental")
_CHUNK: Final = 1 << 20
_LARGEST: Final = 200_000_000


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the backup; its path is relative and uses slashes."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class NeededKey:
    """A key without which a number of secrets in the backup can't be read."""

    id: str
    secrets: int
    probe: str | None
    """An empty value encrypted with the key, to recognize it; None if the key wasn't available."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What was backed up."""

    embedded: bool
    server_version: int
    """In the format of `server_version_num`."""
    system_identifier: str | None
    """The embedded server's cluster id; None for other servers."""
    database: str
    owner: str
    """The login that owns the schema; policies name it."""
    roles: tuple[str, ...]
    """The other roles that the schema's rights and policies name."""
    schema_revision: str | None


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything known of a backup."""

    id: UUID
    kind: BackupKind
    taken_at: datetime.datetime
    program: str
    programs: str
    """The version of the PostgreSQL programs that wrote it."""
    origin: Origin
    parent: UUID | None
    parent_name: str | None
    rows: Mapping[str, int]
    """Rows by table: exact for a logical backup, for others as of the start of the copy."""
    keys: tuple[NeededKey, ...]
    files: tuple[StoredFile, ...]
    open_matters: Mapping[str, int] | None = None
    """Open amounts at the time of the backup, in cents by kind and row; None if the backup doesn't record them."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest into its backup's directory and flush it to disk."""
    content = orjson.loads(orjson.dumps({"format": FORMAT, **_fields(manifest)}))
    content["sha256"] = _digest(content)
    with (directory / MANIFEST).open("xb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_manifest(directory: Path) -> Manifest:
    """Return the manifest of the backup in this directory; raises RefusedError if it is missing or unusable."""
    path = directory / MANIFEST
    try:
        if path.stat().st_size > _LARGEST:
            raise RefusedError(f"{path} is too large for a manifest")
        content = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        raise RefusedError(f"{directory} is no backup: it has no {MANIFEST}") from None
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}") from None
    except orjson.JSONDecodeError:
        raise RefusedError(f"{path} is damaged: it is not JSON") from None
    if not isinstance(content, dict) or not isinstance(content.get("format"), int):
        raise RefusedError(f"{path} is no backup's manifest")
    if content["format"] > FORMAT:
        raise RefusedError(
            f"{directory.name} was made by a newer program ({content.get('program')}, format {content['format']}): "
            "restore it with that one"
        )
    if content.pop("sha256", None) != _digest(content):
        raise RefusedError(f"{path} is damaged: its own checksum differs")
    try:
        return _parse(content)
    except (KeyError, TypeError, ValueError) as error:
        raise RefusedError(f"{path} is damaged: {error}") from None


def stored_files(directory: Path, tell: Tell) -> tuple[StoredFile, ...]:
    """Return every file of the directory except the manifest, with its size and SHA-256 as read from disk."""
    pace = Pace(tell, "reading what was written")
    total = 0
    found = []
    for name, path in _files(directory):
        digest, size = _hash(path)
        total += size
        found.append(StoredFile(name, size, digest))
        pace.note(total)
    return tuple(found)


def verify_files(directory: Path, manifest: Manifest, tell: Tell) -> None:
    """Compare every file with the manifest; raises BackupError for one that is missing, changed or unknown."""
    pace = Pace(tell, f"checking {directory.name}")
    requested = {file.path: file for file in manifest.files}
    done, total = 0, manifest.size
    for name, path in _files(directory):
        file = requested.pop(name, None)
        if file is None:
            raise BackupError(f"{directory.name} holds {name}, which its manifest does not know")
        try:
            digest, size = _hash(path)
        except OSError as error:
            raise BackupError(f"{path} cannot be read: {error.strerror}") from None
        if (size, digest) != (file.size, file.sha256):
            raise BackupError(
                f"{directory.name} is damaged: {name} has another content than when it was written"
            )
        done += size
        pace.note(done, total)
    if requested:
        raise BackupError(f"{directory.name} is incomplete: {min(requested)} is missing")


def _files(directory: Path, below: str = "") -> Iterator[tuple[str, Path]]:
    """Yield each file in order, except the manifest: its name within the backup, and its path.

    A physical backup has more than a thousand files, whose names are joined here once.
    """
    try:
        with os.scandir(directory) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except PermissionError:  # what lies in it counts as missing
        return
    for entry in entries:
        name = below + entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _files(directory / entry.name, f"{name}/")
        elif not entry.is_file(follow_symlinks=False):
            raise BackupError(f"{entry.path} is no plain file: a backup has no others")
        elif name != MANIFEST:
            yield name, directory / entry.name


def _hash(path: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _fields(manifest: Manifest) -> dict[str, Any]:
    return {name: getattr(manifest, name) for name in Manifest.__slots__}


def _parse(content: Mapping[str, Any]) -> Manifest:
    origin = content["origin"]
    if content["kind"] not in _KINDS:
        raise ValueError(f"the kind {content['kind']!r} is unknown")
    parent = content["parent"]
    return Manifest(
        id=UUID(content["id"]),
        kind=cast("BackupKind", content["kind"]),
        taken_at=datetime.datetime.fromisoformat(content["taken_at"]),
        program=str(content["program"]),
        programs=str(content["programs"]),
        origin=Origin(**{**origin, "roles": tuple(origin["roles"])}),
        parent=None if parent is None else UUID(parent),
        parent_name=content["parent_name"],
        rows={str(table): int(count) for table, count in content["rows"].items()},
        keys=tuple(NeededKey(**key) for key in content["keys"]),
        files=tuple(StoredFile(**file) for file in content["files"]),
        open_matters=None
        if content.get("open_matters") is None
        else {str(matter): int(cents) for matter, cents in content["open_matters"].items()},
    )
