"""An installation with real households on their payday, to be backed up; and a place for what is made of it."""

from __future__ import annotations

import asyncio
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest
from benchmarks.payday_data import Payday, make_payday

from hearthpay.banking.gateways.folder import folder_gateway
from hearthpay.clock import FixedClock
from hearthpay.database.embedded import ROLES, EmbeddedServer
from hearthpay.database.file_lock import exclusively
from hearthpay.database.session import Database
from hearthpay.payroll.payday.bank_day import Bank
from hearthpay.security.key_ring import KEY_FILE, KeyRing, open_key_file
from hearthpay.worker.duties import worker_duties
from hearthpay.worker.duty import Progress, perform
from tests.conftest import plain_url
from tests.worlds.commands import hearthpay_says
from tests.worlds.installations import install
from tests.worlds.originator import ORIGINATOR

HOUSEHOLDS = 4
_MAKING_SECONDS = 240.0


@dataclass(frozen=True, slots=True)
class Installation:
    """An embedded database with a payday in it, and its keys."""

    server: EmbeddedServer
    payday: Payday
    ring: KeyRing

    @property
    def data_dir(self) -> Path:
        return self.server.data_dir

    @property
    def keys(self) -> Path:
        return self.data_dir / KEY_FILE


def made_place() -> Path:
    """A directory that the server's account may pass through, as a directory below /var/lib is."""
    place = Path(tempfile.mkdtemp(prefix="hearthpay-backup-"))
    place.chmod(0o755)
    return place


@pytest.fixture(scope="package")
def installation() -> Iterator[Installation]:
    """A copy of the one that is made for the whole run."""
    made, payday = _made()
    place = made_place()
    subprocess.run(["cp", "--archive", "--no-target-directory", str(made), str(place / "data")], check=True)
    server = EmbeddedServer(place / "data")
    server.start()
    try:
        yield Installation(server, payday, open_key_file(server.data_dir / KEY_FILE))
    finally:
        server.stop()
        shutil.rmtree(place)


@cache
def _made() -> tuple[Path, Payday]:
    """The one that is copied; the processes of a parallel run share it, and whoever comes first makes it."""
    home = Path(tempfile.gettempdir()) / "payday"
    home.mkdir(mode=0o755, exist_ok=True)
    data_dir, done = home / "data", home / "payday.pickle"
    with exclusively(home / "lock", timeout=_MAKING_SECONDS):
        if not done.exists():
            server = install(data_dir)
            server.start()
            try:
                ring = open_key_file(data_dir / KEY_FILE)
                urls = server.owner_url(), server.service_url()
                payday = asyncio.run(make_payday(*urls, ring, households=HOUSEHOLDS, history=2))
                asyncio.run(keep_bank_day(server, ring, home / "bank", payday.due_at))
            finally:
                server.stop()
            for mark in ("start.lock", "users.lock"):
                (data_dir / mark).unlink()
            done.write_bytes(pickle.dumps(payday))
    return data_dir, pickle.loads(done.read_bytes())


@pytest.fixture
def place() -> Iterator[Path]:
    made = made_place()
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="package")
def logical_said(installation: Installation) -> Iterator[str]:
    """What `hearthpay backup` says of a logical backup of the installation, with its place as the first word."""
    store = made_place()
    result = cli("backup", store, "--data-dir", installation.data_dir)
    assert result.returncode == 0, result.stderr
    yield result.stdout
    shutil.rmtree(store)


@pytest.fixture(scope="package")
def logical(logical_said: str) -> Path:
    """A logical backup of the installation, for those who only read it."""
    return Path(logical_said.split()[0])


def cli(
    *arguments: str | Path, user: int | None = None, at: datetime | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `hearthpay` to its end; as this user, its clock may begin `at` an instant."""
    if user is None:
        return hearthpay_says(*arguments, environment={**os.environ, **environment}, folder="/", at=at)
    return subprocess.run(
        [sys.executable, "-m", "hearthpay.cli", *map(str, arguments)],
        env={**os.environ, **environment},
        user=user,
        group=user,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )


def back_up(store: Path, data_dir: Path, *more: str | Path) -> Path:
    """Make a backup; returns where it is."""
    result = cli("backup", store, *more, "--data-dir", data_dir)
    assert result.returncode == 0, result.stderr
    return Path(result.stdout.split()[0])


def rewrite_manifest(backup: Path, **changes: Any) -> None:
    """Write the manifest anew, with its checksum right again."""
    from hearthpay.backup.manifest import _digest

    path = backup / "manifest.json"
    content = orjson.loads(path.read_bytes())
    del content["sha256"]
    content |= changes
    path.write_bytes(orjson.dumps(content | {"sha256": _digest(content)}))


async def keep_bank_day(
    server: EmbeddedServer, ring: KeyRing, bank: Path | None, now: datetime
) -> tuple[dict[str, Progress], tuple[str, ...]]:
    """Have a worker do all its duties at this time; returns what it did, and what the bank has then."""
    there = None if bank is None else Bank(ORIGINATOR, folder_gateway(bank))
    database = Database(server.worker_url(), role=ROLES.worker)
    try:
        duties = worker_duties(database, ring, there, FixedClock(now))
        done = {duty.name: await perform(duty, stopping=asyncio.Event()) for duty in duties}
    finally:
        await database.dispose()
    outbox = Path() if bank is None else bank / "outbox"
    return done, tuple(sorted(path.name for path in outbox.glob("*.ach")))


def ask(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(plain_url(url), autocommit=True) as connection:
        return connection.execute(query.encode()).fetchall()
