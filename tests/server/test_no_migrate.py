"""Hosts that hold one role's login: `migrate` once with the owner's, then `serve` and `worker` with --no-migrate."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.migrations import newest_revision
from hearthpay.security.key_ring import EncryptionKey
from hearthpay.security.tenant_seal import TenantSeal
from tests.conftest import plain_url
from tests.server.test_serve import Service, add_household, run
from tests.worlds.commands import hearthpay_says

REFUSED = 1


class Hosts:
    """The settings of the owner's machine, of an API host and of a worker's, for one database."""

    def __init__(self, server: EmbeddedServer, folder: Path) -> None:
        self.seal_file = folder / "seal"
        known = {name: value for name, value in os.environ.items() if not name.startswith("DATABASE_")}
        keys = {"HEARTHPAY_KEYS": EncryptionKey.generate().entry()}
        seal = {"HEARTHPAY_SEAL_FILE": str(self.seal_file)}
        self.owner = known | {"DATABASE_URL": plain_url(server.owner_url())} | seal
        self.api = known | {"DATABASE_SERVICE_URL": plain_url(server.service_url())} | seal | keys
        self.worker = known | {"DATABASE_WORKER_URL": plain_url(server.worker_url())} | keys

    def migrate(self) -> str:
        done = hearthpay_says("migrate", environment=self.owner)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refusal(self, *command: str, **changes: str) -> str:
        """The one line in which a host refuses to start."""
        role = self.worker if command[0] == "worker" else self.api
        done = hearthpay_says(*command, "--no-migrate", environment=role | changes)
        assert done.returncode == REFUSED, done.stdout
        (line,) = done.stderr.splitlines()
        return line


@pytest.fixture
def hosts(server: EmbeddedServer, empty_tables: None, tmp_path: Path) -> Hosts:
    return Hosts(server, tmp_path)


@contextmanager
def revision(server: EmbeddedServer, named: str) -> Iterator[None]:
    """The schema says that it is of another version."""
    with psycopg.connect(plain_url(server.owner_url()), autocommit=True) as owner:
        owner.execute("UPDATE alembic_version SET version_num = %s", (named,))
        try:
            yield
        finally:
            owner.execute("UPDATE alembic_version SET version_num = %s", (newest_revision(),))


def test_migrate_says_that_there_is_nothing_to_do_and_writes_the_seal_privately(hosts: Hosts) -> None:
    said = hosts.migrate()
    assert f"The schema is up to date ({newest_revision()}). Nothing to do." in said
    assert f"Wrote the tenant seal to {hosts.seal_file}." in said
    assert stat.S_IMODE(hosts.seal_file.stat().st_mode) == 0o600
    assert f"{hosts.seal_file} has this tenant seal." in hosts.migrate()


def test_an_api_host_serves_and_a_worker_works_without_the_owners_login(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts.migrate()
    made = ("keys", "create", "--organization", "Lopez family", "--mode", "live")
    key = hearthpay_says(*made, environment=hosts.owner).stdout.strip()
    for name in [each for each in os.environ if each.startswith("DATABASE_")]:
        monkeypatch.delenv(name)
    for name, value in hosts.api.items():
        monkeypatch.setenv(name, value)
    service = Service(None, "--no-migrate", "--no-worker")
    try:
        service.wait_until_ready()
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=f"{service.address}/api/v1", headers=headers, timeout=30) as client:
            household = add_household(client)
            assert run(client, household, 1).status_code == 200
        worked = hearthpay_says("worker", "--once", "--no-migrate", environment=hosts.worker)
        assert worked.returncode == 0, worked.stderr
        assert service.stop() == 0
    finally:
        service.kill()


def test_a_schema_of_another_version_is_refused_with_the_command_to_run(
    hosts: Hosts, server: EmbeddedServer
) -> None:
    hosts.migrate()
    for command in (("serve", "--no-worker"), ("worker", "--once")):
        with revision(server, "0063"):
            refused = hosts.refusal(*command)
            assert "(0063) is older than this program" in refused
            assert refused.endswith("run `hearthpay migrate` with the owner's login first")
        with revision(server, "9999"):
            assert "(9999) is newer than this program" in hosts.refusal(*command)


def test_a_host_is_refused_that_lacks_what_it_needs(hosts: Hosts) -> None:
    assert "HEARTHPAY_SEAL_FILE is not set" in hosts.refusal("serve", "--no-worker", HEARTHPAY_SEAL_FILE="")
    assert "`hearthpay migrate` writes it" in hosts.refusal("serve", "--no-worker")
    hosts.migrate()
    assert "DATABASE_WORKER_URL is not set" in hosts.refusal("serve")
    assert "DATABASE_SERVICE_URL is not set" in hosts.refusal("serve", "--no-worker", DATABASE_SERVICE_URL="")
    swapped = hosts.worker["DATABASE_WORKER_URL"]
    refused = hosts.refusal("serve", "--no-worker", DATABASE_SERVICE_URL=swapped)
    assert refused.endswith("must log in as hearthpay_service, not as hearthpay_worker")
    hosts.seal_file.chmod(0o644)
    assert "can be read by others" in hosts.refusal("serve", "--no-worker")
    hosts.seal_file.write_text(TenantSeal(TenantSeal.new_secret()).entry())
    hosts.seal_file.chmod(0o600)
    assert "the tenant seal is another database's" in hosts.refusal("serve", "--no-worker")


def test_a_host_is_refused_whose_keys_lack_the_current_one(hosts: Hosts) -> None:
    hosts.migrate()
    worked = hearthpay_says("worker", "--once", "--no-migrate", environment=hosts.worker)
    assert worked.returncode == 0, worked.stderr
    other = EncryptionKey.generate().entry()
    assert "encrypts now and this process does not have it" in hosts.refusal(
        "serve", "--no-worker", HEARTHPAY_KEYS=other
    )
