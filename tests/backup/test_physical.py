"""Physical backups: a full one and what changed since, put together again."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson

from hearthpay.database.embedded import EmbeddedServer
from tests.backup.conftest import Installation, ask, back_up, cli

NOTES = "SELECT name FROM organizations ORDER BY name"


def test_a_chain_is_restored_and_nothing_of_it_may_be_missing(
    installation: Installation, place: Path
) -> None:
    shelf, where = place / "shelf", ("--data-dir", installation.data_dir)
    full = back_up(shelf, installation.data_dir, "--physical")
    assert cli("organizations", "create", "Between", *where).returncode == 0
    first = back_up(shelf, installation.data_dir, "--incremental")
    assert cli("organizations", "create", "Later", *where).returncode == 0
    second = back_up(shelf, installation.data_dir, "--incremental")
    manifests = [orjson.loads((path / "manifest.json").read_bytes()) for path in (full, first, second)]
    assert [each["kind"] for each in manifests] == ["full", "incremental", "incremental"]
    assert [each["parent"] for each in manifests] == [None, manifests[0]["id"], manifests[1]["id"]]
    for each in manifests[1:]:
        assert sum(file["size"] for file in each["files"]) < sum(
            file["size"] for file in manifests[0]["files"]
        )

    keys = ("--keys", installation.keys)
    apart = place / "apart"
    first.rename(apart)
    missing = cli("restore", second, "--data-dir", place / "new", *keys)
    assert (missing.returncode, f"since {first.name}, which is not in" in missing.stderr) == (2, True)
    refused = cli("backup", shelf, "--incremental", *where)
    assert (refused.returncode, first.name in refused.stderr) == (2, True), refused.stderr
    apart.rename(first)

    page = next(path for path in (full / "cluster" / "base").rglob("*") if path.is_file())
    kept = page.read_bytes()
    page.write_bytes(b"\0" + kept[1:] if kept[0] else b"\1" + kept[1:])
    damaged = cli("restore", second, "--data-dir", place / "new", *keys)
    assert (damaged.returncode, f"{full.name} is damaged" in damaged.stderr) == (2, True)
    assert not (place / "new").exists()
    page.write_bytes(kept)

    result = cli("restore", shelf, "--data-dir", place / "new", *keys)
    assert result.returncode == 0, result.stderr
    assert second.name in result.stdout
    assert "The books are right." in result.stdout
    restored = EmbeddedServer(place / "new")
    restored.start()
    try:
        assert ask(restored.owner_url(), NOTES) == [("Between",), ("Later",), ("Payday",)]
        assert ask(restored.owner_url(), "SELECT resumed_at FROM restorations") == [(None,)]
        # Its future is another than the one of the server that was backed up.
        other = cli("backup", shelf, "--incremental", "--data-dir", place / "new")
        assert (other.returncode, "make a new one with --physical" in other.stderr) == (2, True)
        shutil.rmtree(second)
        assert cli("backup", shelf, "--physical", "--data-dir", place / "new").returncode == 0
    finally:
        restored.stop()


def test_a_given_server_is_backed_up_by_what_it_holds_alone(installation: Installation, place: Path) -> None:
    result = cli("backup", place / "shelf", "--physical", DATABASE_URL=installation.server.owner_url())
    assert result.returncode == 2
    assert "its own tools" in result.stderr
