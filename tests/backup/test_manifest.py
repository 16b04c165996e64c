"""A backup's files are compared with its manifest, each once, however many there are."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from hearthpay.backup.errors import BackupError
from hearthpay.backup.manifest import MANIFEST, Manifest, Origin, StoredFile, stored_files, verify_files

FILES = 50
ORIGIN = Origin(
    embedded=True,
    server_version=180000,
    system_identifier="1",
    database="hearthpay",
    owner="hearthpay_owner",
    roles=(),
    schema_revision=None,
)


class CountedFiles(tuple[StoredFile, ...]):
    """A manifest's files, which note how often all of them are gone through."""

    passes = 0

    def __iter__(self) -> Iterator[StoredFile]:
        CountedFiles.passes += 1
        return super().__iter__()


@pytest.fixture
def backup(tmp_path: Path) -> tuple[Path, Manifest]:
    directory = tmp_path / "backup"
    for number in range(FILES):
        path = directory / f"cluster/base/{number % 5}" / str(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([number]) * number)
    files = CountedFiles(stored_files(directory, lambda _: None))
    (directory / MANIFEST).write_bytes(b"{}")
    taken_at = datetime.datetime(2026, 11, 20, 15, tzinfo=datetime.UTC)
    manifest = Manifest(
        id=uuid4(),
        kind="full",
        taken_at=taken_at,
        program="1",
        programs="18.1",
        origin=ORIGIN,
        parent=None,
        parent_name=None,
        rows={},
        keys=(),
        files=files,
    )
    return directory, manifest


def test_the_files_are_not_counted_again_for_each_of_them(backup: tuple[Path, Manifest]) -> None:
    directory, manifest = backup
    CountedFiles.passes = 0
    verify_files(directory, manifest, lambda _: None)
    assert 1 <= CountedFiles.passes <= 2  # a large cluster has tens of thousands of files


def test_what_the_manifest_does_not_tell_is_refused(backup: tuple[Path, Manifest]) -> None:
    directory, manifest = backup

    def refusal(changed: Manifest = manifest) -> str:
        with pytest.raises(BackupError) as refused:
            verify_files(directory, changed, lambda _: None)
        return str(refused.value)

    assert "is missing" in refusal(replace(manifest, files=(*manifest.files, StoredFile("z", 0, ""))))
    assert "does not know" in refusal(replace(manifest, files=tuple(manifest.files)[1:]))
    (directory / "cluster" / "link").symlink_to(directory / MANIFEST)
    assert "is no plain file" in refusal()
    (directory / "cluster" / "link").unlink()
    (directory / "cluster" / "base" / "1" / "1").write_bytes(b"\x02")
    assert "another content" in refusal()
