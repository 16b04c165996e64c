"""Physical backups: a full one and what changed since, put together again."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from hearthpay.backup.creation import How, MadeBackup, make_backup
from hearthpay.backup.errors import RefusedError
from hearthpay.backup.restore import Restored, restore_into_directory
from hearthpay.clock import SystemClock
from hearthpay.database.embedded import EmbeddedServer
from tests.backup.conftest import Installation, ask, cli
from tests.conftest import plain_url

NAMES = "SELECT name FROM organizations ORDER BY name"


def make(installation: Installation, store: Path, how: How, *, drilled: bool = False) -> MadeBackup:
    clock = SystemClock()
    return make_backup(installation.data_dir, None, store, how, clock, lambda _: None, drilled=drilled)


def restore(installation: Installation, backup: Path, target: Path) -> Restored:
    return restore_into_directory(
        backup, target, installation.ring, SystemClock(), lambda _: None, keep_keys=True
    )


def found(installation: Installation, name: str) -> None:
    with psycopg.connect(plain_url(installation.server.owner_url())) as connection:
        connection.execute("INSERT INTO organizations (id, name) VALUES (new_id(), %s)", (name,))
        connection.execute(
            "INSERT INTO audit_log (id, organization_id, actor_kind, action, details) "
            "SELECT new_id(), id, 'operator', 'organization.create', '{}' FROM organizations WHERE name = %s",
            (name,),
        )


@pytest.mark.timeout(900)
def test_a_chain_is_restored_and_nothing_of_it_may_be_missing(
    installation: Installation, place: Path
) -> None:
    store = place / "store"
    full = make(installation, store, "full")
    found(installation, "Between")
    first = make(installation, store, "incremental")
    found(installation, "Later")
    second = make(installation, store, "incremental", drilled=True)  # of the whole chain
    assert [each.manifest.parent for each in (full, first, second)] == [
        None,
        full.manifest.id,
        first.manifest.id,
    ]
    assert first.manifest.size < full.manifest.size

    apart = place / "apart"
    first.path.rename(apart)
    with pytest.raises(RefusedError, match=f"since {first.path.name}, which is not in"):
        restore(installation, second.path, place / "new")
    with pytest.raises(RefusedError, match=f"{first.path.name}.*--physical"):
        make(installation, store, "incremental")
    apart.rename(first.path)

    page = full.path / "cluster" / "PG_VERSION"
    page.write_bytes(b"17\n")
    with pytest.raises(RefusedError, match=f"{full.path.name} is damaged: cluster/PG_VERSION"):
        restore(installation, second.path, place / "new")
    assert not (place / "new").exists()
    page.write_bytes(b"18\n")

    restored = restore(installation, store, place / "new")
    assert restored.backup.path == second.path
    assert restored.differing == 0, [(each.name, each.differences) for each in restored.checks if each.found]
    server = EmbeddedServer(place / "new")
    server.start()
    try:
        assert ask(server.owner_url(), NAMES) == [("Between",), ("Later",), ("Payday",)]
        assert ask(server.owner_url(), "SELECT resumed_at FROM restorations") == [(None,)]
        # Its future is another than the one of the server that was backed up.
        with pytest.raises(RefusedError, match="make a new one with --physical"):
            make_backup(place / "new", None, store, "incremental", SystemClock(), lambda _: None)
    finally:
        server.stop()


def test_a_given_server_is_backed_up_by_what_it_holds_alone(installation: Installation, place: Path) -> None:
    result = cli("backup", place / "store", "--physical", DATABASE_URL=installation.server.owner_url())
    assert result.returncode == 2
    assert "its own tools" in result.stderr
