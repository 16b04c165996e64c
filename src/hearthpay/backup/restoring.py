"""Restores a backup into a new data directory or an empty database, whole or not at all, and proves it.

What was restored is older than the world: what was paid since then is not in it. So it comes up with real money held
(`hearthpay.database.restorations`), from the first moment on in which anybody else can open it.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from alembic.script import ScriptDirectory
from uuid_utils.compat import uuid7

from hearthpay.backup import inventory, logical, physical
from hearthpay.backup.errors import BackupError, RefusedError
from hearthpay.backup.manifest import Manifest, verify_files
from hearthpay.backup.needed_keys import require_keys, try_keys
from hearthpay.backup.programs import packaged_programs
from hearthpay.backup.roles import prepare_roles, take_over
from hearthpay.backup.shelf import StoredBackup, chain, chosen
from hearthpay.backup.source import BackupSource, Connection
from hearthpay.backup.telling import Pace, Tell
from hearthpay.clock import Clock
from hearthpay.database import migrations, restorations
from hearthpay.database.embedded import RESTORING, EmbeddedServer
from hearthpay.database.migrations import migrate
from hearthpay.database.service_account import account_for
from hearthpay.database.session import Database
from hearthpay.doctor.examination import CheckResult, count_wrong, examine, open_for_reading
from hearthpay.doctor.reconciliation import Reconciliation, reconcile
from hearthpay.security.key_ring import KEY_FILE, KeyRing, copy_key_ring

_OURS: Final = 18
"""The embedded server's major version: the only one whose files it can take over."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What is there now, and what was found in it."""

    backup: StoredBackup
    rows: Mapping[str, int]
    checks: tuple[CheckResult, ...]
    reconciliation: Reconciliation | None
    """None where nothing is sealed and there are no keys."""
    open_matters: Mapping[str, int]
    """Cents of what is open, by kind and row, as of the moment of the backup."""

    @property
    def open_otherwise(self) -> tuple[str, ...]:
        """What is open in another way than at the backup, by kind and row; an older backup does not tell."""
        if self.backup.manifest.open_matters is None:
            return ()
        changed = self.backup.manifest.open_matters.items() ^ self.open_matters.items()
        return tuple(sorted({matter for matter, _ in changed}))

    @property
    def differing(self) -> int:
        """How many figures and bank entries differ from what they must be; what was open at the backup does not."""
        findings = 0 if self.reconciliation is None else len(self.reconciliation.wrong)
        return findings + count_wrong(self.checks) + len(self.open_otherwise)


def restore_into_directory(
    backup: Path, data_dir: Path, ring: KeyRing | None, clock: Clock, tell: Tell, *, keep_keys: bool
) -> Restored:
    """Restore into a new data directory for the embedded server; with `keep_keys`, the ring is put into it.

    Raises BackupError, EmbeddedServerError, KeyRingError, MigrationError, psycopg's errors and OSError; then there is
    nothing in the directory.
    """
    stored = chosen(backup)
    target = data_dir.expanduser().resolve()
    links = _examined(stored, ring, tell, empty=lambda: _require_empty_directory(target))
    with _staging(target) as staging:
        server = EmbeddedServer(staging)
        if stored.manifest.kind != "logical":
            home = staging / "server"
            account = account_for(home)
            staging.mkdir(mode=0o700)
            home.mkdir(mode=0o700)
            account.own(home)
            physical.combine([link.path for link in links], packaged_programs(), home / "data", account, tell)
        try:
            tell("starting the database …")
            server.start()
            source = BackupSource(server.owner_url(), server)
            with source.connect() as connection:
                if stored.manifest.kind == "logical":
                    _load(connection, stored, ring, clock.now(), tell)
                else:
                    physical.forget_recovery(connection)
                    with connection.transaction():
                        _hold(connection, stored, clock.now())
                        try_keys(connection, ring)
            restored = _prove(source, stored, ring, tell)
        finally:
            server.stop()
        if ring is not None and keep_keys:
            copy_key_ring(ring, staging / KEY_FILE)
        _put_in_place(staging, target)
    return restored


def restore_into_database(
    backup: Path, database_url: str, ring: KeyRing | None, clock: Clock, tell: Tell
) -> Restored:
    """Restore a logical backup into the empty database of the URL, in one transaction.

    Raises BackupError, MigrationError, psycopg's errors and OSError. What is found only once it is there, by the newest
    schema's migration and the examination, does not undo it.
    """
    stored = chosen(backup)
    if stored.manifest.kind != "logical":
        raise RefusedError(
            f"{stored.path.name} holds the embedded server's files: restore it into a data directory, with --data-dir"
        )
    source = BackupSource(database_url, None)
    with source.connect() as connection:

        def require_empty() -> None:
            if not inventory.is_empty(connection):
                raise RefusedError("the database is not empty: restore into a new one")

        _examined(stored, ring, tell, empty=require_empty)
        _load(connection, stored, ring, clock.now(), tell)
    return _prove(source, stored, ring, tell)


def _examined(
    stored: StoredBackup, ring: KeyRing | None, tell: Tell, *, empty: Callable[[], None]
) -> list[StoredBackup]:
    """Everything that can be found out before anything is written; return the backup after all it builds upon."""
    manifest = stored.manifest
    revision = manifest.origin.schema_revision
    known = {
        each.revision for each in ScriptDirectory(str(Path(migrations.__file__).parent)).walk_revisions()
    }
    if revision not in known:
        raise RefusedError(
            f"{stored.path.name} has the schema {revision}, which this program does not know: it was made by a newer "
            f"one ({manifest.program}), restore it with that"
        )
    if manifest.kind != "logical" and manifest.origin.server_version // 10000 != _OURS:
        raise RefusedError(
            f"{stored.path.name} holds files of PostgreSQL {manifest.origin.server_version // 10000}; this is {_OURS}"
        )
    empty()
    require_keys(manifest, ring)
    try:
        links = chain(stored)
        for link in links:
            verify_files(link.path, link.manifest, tell)
    except BackupError as error:
        raise RefusedError(str(error)) from None
    return links


def _require_empty_directory(target: Path) -> None:
    try:
        found = next(target.iterdir(), None)
    except FileNotFoundError:
        return
    except OSError as error:
        raise RefusedError(f"{target} cannot be restored into: {error.strerror}") from None
    if found is not None and found.name == RESTORING:
        raise RefusedError(
            f"{target} holds a restore that was not finished: remove it, or name another directory"
        )
    if found is not None:
        raise RefusedError(f"{target} is not empty: restore into a new directory")


@contextmanager
def _staging(target: Path) -> Iterator[Path]:
    """A data directory in the data directory; what is left of it at the end of the block is removed."""
    made = not target.exists()
    if made:
        target.mkdir(mode=0o700, parents=True)
    staging = target / RESTORING
    account = account_for(target / "server")
    if account.borrowed and not account.can("-x", target):
        os.chown(target, -1, account.gid)
        target.chmod(0o710)
    try:
        yield staging
    finally:
        _remove(staging)
        if made:
            with contextlib.suppress(OSError):  # it is in use now
                target.rmdir()


def _remove(staging: Path) -> None:
    note = staging / "socket-dir"
    if note.exists():
        shutil.rmtree(note.read_text().strip(), ignore_errors=True)
    shutil.rmtree(staging, ignore_errors=True)


def _put_in_place(staging: Path, target: Path) -> None:
    """Move what was put together to where it is used, the server last: from then on it is there."""
    for name in (KEY_FILE, "programs", "server"):
        if (staging / name).exists():
            (staging / name).rename(target / name)
    descriptor = os.open(target, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _load(
    connection: Connection, stored: StoredBackup, ring: KeyRing | None, now: datetime.datetime, tell: Tell
) -> None:
    """Make everything in one transaction, which ends with real money held."""
    origin = stored.manifest.origin
    with connection.transaction():
        made = prepare_roles(connection, origin)
        logical.load(connection, packaged_programs(), stored.path, tell)
        take_over(connection, origin, made)
        _hold(connection, stored, now)
        _compare(stored.manifest, inventory.rows(connection))
        try_keys(connection, ring)
    connection.execute("ANALYZE")


def _hold(connection: Connection, stored: StoredBackup, now: datetime.datetime) -> None:
    connection.execute(restorations.TABLE)
    connection.execute(
        restorations.INSERT,
        {"id": uuid7(), "backup": stored.path.name, "taken_at": stored.manifest.taken_at, "restored_at": now},
    )


def _compare(manifest: Manifest, rows: Mapping[str, int]) -> None:
    for table, expected in manifest.rows.items():
        found = rows.get(table, 0) - (table == "restorations")  # this very restore
        if found != expected:
            raise BackupError(f"{found} rows of {table} were restored, of {expected}")


def _prove(source: BackupSource, stored: StoredBackup, ring: KeyRing | None, tell: Tell) -> Restored:
    """Bring the schema to this program's, and examine the books and the bank's files."""
    tell("bringing the schema up to date …")
    installation = migrate(source.owner_url)
    assert installation is not None
    with source.connect() as connection:
        rows = inventory.rows(connection)
        matters = inventory.open_matters(connection, stored.manifest.taken_at) or {}
    checks, reconciliation = asyncio.run(
        _examine(source.owner_url, installation.owner, ring, stored.manifest.taken_at, tell)
    )
    return Restored(stored, rows, checks, reconciliation, matters)


async def _examine(
    owner_url: str, owner: str, ring: KeyRing | None, taken_at: datetime.datetime, tell: Tell
) -> tuple[tuple[CheckResult, ...], Reconciliation | None]:
    pace = Pace(tell, "examining")
    database: Database = open_for_reading(owner_url, owner)
    try:
        async with database.transaction(None) as session:
            checks = await examine(
                session,
                taken_at,  # what has come due since then waits, and rightly so
                lambda done, total, name: pace.say(f"{name} ({done + 1} of {total})"),
                ring=ring,
            )
            if ring is None:
                return tuple(checks), None
            compared = await reconcile(
                session, ring, taken_at, lambda done, total: pace.say(f"the bank's files ({done} of {total})")
            )
            return tuple(checks), compared
    finally:
        await database.dispose()
