"""A database that allows more than its schema: `serve` refuses it in a line, and every command says what mends it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from hearthpay.database.embedded import ROLES, EmbeddedServer
from tests.server.test_no_migrate import Hosts
from tests.worlds.commands import hearthpay_says

MENDS = "REVOKE SELECT ON table vault FROM PUBLIC"


@pytest.fixture
def hosts(server: EmbeddedServer, empty_tables: None, tmp_path: Path) -> Hosts:
    return Hosts(server, tmp_path)


@pytest.fixture
def open_vault(hosts: Hosts, owner_connection: psycopg.Connection) -> Iterator[None]:
    """Anyone on the server may ask for the vault, and a guard and an index are gone."""
    hosts.migrate()
    owner_connection.execute("GRANT SELECT ON vault TO PUBLIC")
    owner_connection.execute("ALTER TABLE agent_grants DISABLE TRIGGER ended_for_good")
    owner_connection.execute("ALTER INDEX household_dues_rules_idx RENAME TO mine")
    yield
    owner_connection.execute(MENDS)
    owner_connection.execute("ALTER TABLE agent_grants ENABLE TRIGGER ended_for_good")
    owner_connection.execute("ALTER INDEX mine RENAME TO household_dues_rules_idx")


def test_serve_refuses_it_and_the_worker_works_and_says_so(hosts: Hosts, open_vault: None) -> None:
    line = hosts.refusal("serve", "--no-worker")
    assert line.startswith("hearthpay: the database allows more than its schema, so nothing is served: ")
    assert f"right table vault to PUBLIC: the right is SELECT, must be not given ({MENDS})" in line
    assert "trigger ended_for_good on agent_grants: it is off, must be on" in line
    assert "household_dues_rules_idx" not in line
    served = hearthpay_says("serve", "--port", "0", "--no-worker", environment=hosts.owner | hosts.api)
    assert (served.returncode, MENDS in served.stderr) == (1, True), served.stderr

    worked = hearthpay_says("worker", "--once", "--no-migrate", environment=hosts.worker)
    assert worked.returncode == 0, worked.stderr
    assert '"code":"right_additional"' in worked.stderr
    assert "household_dues_rules_idx" in worked.stderr


def test_migrate_and_the_doctor_list_it(hosts: Hosts, open_vault: None) -> None:
    migrated = hearthpay_says("migrate", environment=hosts.owner)
    assert migrated.returncode == 1
    assert (
        f"  LOOSER right table vault to PUBLIC: the right is SELECT, must be not given ({MENDS})"
        in migrated.stdout
    )
    assert (
        "  WRONG  index household_dues_rules_idx on household_dues: it is missing, must be "
        in migrated.stdout
    )
    assert "  ADDED  index mine on household_dues: " in migrated.stdout

    doctor = hearthpay_says("doctor", environment=hosts.owner)
    assert doctor.returncode == 1
    assert "WRONG   schema" in doctor.stdout
    assert (
        f"        right table vault to PUBLIC: the right is SELECT, must be not given ({MENDS})"
        in doctor.stdout
    )
    assert "ADDED   index mine on household_dues" in doctor.stdout


def test_a_role_that_bypasses_row_security_is_refused_by_every_command(
    hosts: Hosts, owner_connection: psycopg.Connection
) -> None:
    hosts.migrate()
    owner_connection.execute(f"ALTER ROLE {ROLES.service} BYPASSRLS")
    try:
        assert "must not be able to bypass row-level security" in hosts.refusal("serve", "--no-worker")
    finally:
        owner_connection.execute(f"ALTER ROLE {ROLES.service} NOBYPASSRLS")
