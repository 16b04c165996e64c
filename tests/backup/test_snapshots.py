"""A backup's snapshot ends by itself, so that a forgotten one doesn't keep vacuum and migrations waiting."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from hearthpay.backup import creation, logical
from hearthpay.backup.errors import BackupError
from hearthpay.backup.programs import packaged_programs
from hearthpay.backup.source import open_source
from hearthpay.database.embedded import EmbeddedServer
from tests.conftest import plain_url


def silent(_line: str) -> None:
    """Backups tell how far they are."""


def test_the_server_ends_a_forgotten_snapshot(
    server: EmbeddedServer, owner_connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(creation, "SNAPSHOT_SECONDS", 1)
    with pytest.raises(errors.IdleInTransactionSessionTimeout):
        forget_a_snapshot(plain_url(server.owner_url()), owner_connection)


def forget_a_snapshot(url: str, observer: psycopg.Connection) -> None:
    """Hold a snapshot until the server has ended it, and then ask for more."""
    alive = "SELECT count(backend_xmin) FROM pg_stat_activity WHERE pid = %s"
    with (
        psycopg.connect(url, autocommit=True) as connection,
        creation.exported_snapshot(connection),
    ):
        pid = connection.info.backend_pid
        assert observer.execute(alive, (pid,)).fetchone() == (1,)
        time.sleep(1.5)
        assert observer.execute(alive, (pid,)).fetchone() == (0,)
        connection.execute("SELECT 1")


@pytest.mark.skipif(os.name != "posix", reason="the packaged programs are for POSIX systems")
def test_a_dump_that_takes_too_long_is_ended(server: EmbeddedServer, tmp_path: Path) -> None:
    with (
        open_source(None, plain_url(server.owner_url())) as source,
        source.connect() as connection,
        creation.exported_snapshot(connection) as snapshot,
        pytest.raises(BackupError, match="was not finished within 0 seconds"),
    ):
        logical.dump(source, connection, packaged_programs(), snapshot, tmp_path, silent, within=0)
