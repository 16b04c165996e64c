"""An older program beside the schema of a newer one: every program says so in one line, and touches nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from tests.conftest import plain_url
from tests.database.poolers import free_port
from tests.worlds.commands import hearthpay_says
from tests.worlds.installations import install

# What a newer landing may do: another name for what every program of today reads first, and roles of other policies.
_NEWER = """
UPDATE alembic_version SET version_num = '9999';
ALTER TABLE installation RENAME TO installations;
ALTER POLICY worker ON payrolls RENAME TO clockwork;
DROP POLICY tenant ON vault;
"""
_STATE = (
    "SELECT md5(string_agg(p::text, ' ' ORDER BY p::text)) FROM pg_policies p",
    "SELECT md5(string_agg(relname || coalesce(relacl::text, ''), ' ' ORDER BY oid)) FROM pg_class",
    "SELECT md5(string_agg(datname || coalesce(datacl::text, ''), ' ' ORDER BY oid)) FROM pg_database",
)


@pytest.fixture(scope="module")
def newer() -> Iterator[EmbeddedServer]:
    place = Path(tempfile.mkdtemp(prefix="hearthpay-newer-"))
    place.chmod(0o755)
    server = install(place / "data")
    server.start()
    try:
        with psycopg.connect(plain_url(server.owner_url()), autocommit=True) as owner:
            owner.execute(_NEWER)
        yield server
    finally:
        server.stop()
        shutil.rmtree(place)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("migrate",), 1),
        (("serve", "--port", "{port}"), 1),
        (("serve", "--no-worker", "--port", "{port}"), 1),
        (("worker",), 1),
        (("worker", "--once"), 1),
        (("doctor",), 1),
        (("audit",), 1),
        (("organizations", "list"), 1),
        (("resume-after-restore",), 1),
        (("backup", "{shelf}"), 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_an_older_program_says_in_a_line_that_it_is_older(
    arguments: tuple[str, ...], status: int, newer: EmbeddedServer, tmp_path: Path
) -> None:
    before = _state(newer)
    command = [each.format(port=free_port(), shelf=tmp_path / "shelf") for each in arguments]
    finished = hearthpay_says(
        *command, environment={**os.environ, "HEARTHPAY_DATA_DIR": str(newer.data_dir)}, timeout=120
    )
    assert finished.returncode == status, finished.stderr
    [line] = [each for each in finished.stderr.splitlines() if each.strip()]
    assert line.startswith("hearthpay: this program is older than the database's schema (9999)")
    assert "Traceback" not in finished.stdout
    assert _state(newer) == before


def _state(server: EmbeddedServer) -> list[object]:
    with psycopg.connect(plain_url(server.owner_url())) as owner:
        return [owner.execute(query.encode()).fetchone() for query in _STATE]
