"""Restores a backup into a new data directory or an empty database, completely or not at all, and verifies it.

Restored data is older than reality: what was paid since then is missing. So real money is on hold
(`hearthpay.database.restorations`) from the first moment at which anybody else can open the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uuid_utils.compat import uuid7

from hearthpay.backup import inventory, logical, physical
from hearthpay.backup.errors import BackupError, RefusedError
from hearthpay.backup.manifest import Manifest, read_manifest, verify_files
from hearthpay.backup.programs import packaged_programs
from hearthpay.backup.progress import Pace, Tell
from hearthpay.backup.required_keys import require_keys, try_keys
from hearthpay.backup.source import BackupSource, Connection
from hearthpay.backup.store import StoredBackup, chain, chosen, draft
from hearthpay.clock import Clock
from hearthpay.database import restorations
from hearthpay.database.embedded import RESTORING, EmbeddedServer
from hearthpay.database.migrations import OLDEST_SERVER, knows, migrate, migrating
from hearthpay.database.service_account import account_for
from hearthpay.database.session import Database
from hearthpay.doctor.examination import CheckResult, count_wrong, examine, open_for_reading
from hearthpay.doctor.reconciliation import Reconciliation, reconcile
from hearthpay.security.key_ring import KEY_FILE, KeyRing, copy_key_ring

_OURS: Final = 18
"""The embedded server's major version: the only one whose files it can use."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored, and what was found in it."""

    backup: StoredBackup
    rows: Mapping[str, int]
    checks: tuple[CheckResult, ...]
    reconciliation: Reconciliation | None
    """None if nothing is encrypted and there are no keys."""
    open_matters: Mapping[str, int]
    """Open amounts in cents, by kind and row, as of the backup."""

    @property
    def open_otherwise(self) -> tuple[str, ...]:
        """What is open in a different way than at the backup, by kind and row; older backups don't record it."""
        if self.backup.manifest.open_matters is None:
            return ()
        changed = self.backup.manifest.open_matters.items() ^ self.open_matters.items()
        return tuple(sorted({matter for matter, _ in changed}))

    @property
    def differing(self) -> int:
        """How many figures and bank entries differ from what they must be; what was open at the backup doesn't
        count.
        """
        findings = 0 if self.reconciliation is None else len(self.reconciliation.wrong)
        return findings + count_wrong(self.checks) + len(self.open_otherwise)


def restore_into_directory(
    backup: Path, data_dir: Path, ring: KeyRing | None, clock: Clock, tell: Tell, *, keep_keys: bool
) -> Restored:
    """Restore into a new data directory for the embedded server; with `keep_keys`, copy the ring into it.

    Raises BackupError, EmbeddedServerError, KeyRingError, MigrationError, psycopg's errors and OSError; then the
    directory is empty.
    """
    stored = chosen(backup)
    target = data_dir.expanduser().resolve()
    links = _examined(stored, ring, tell, empty=lambda: _require_empty_directory(target))
    with _staging(target) as staging:
        server = EmbeddedServer(staging)
        try:
            source = _raise(server, links, ring, clock.now(), tell, opens=True)
            restored = _prove(source, stored, ring, tell)
        finally:
            server.stop()
        if ring is not None and keep_keys:
            copy_key_ring(ring, staging / KEY_FILE)
        _put_in_place(staging, target)
    return restored


def drill(made: Path, clock: Clock, tell: Tell) -> None:
    """Restore the unnamed backup and upgrade its schema as a test; then remove it all.

    Nothing encrypted is opened, so no key is needed. It happens next to the backup, or in the temporary directory if
    the account that runs PostgreSQL can't reach the backup. Raises BackupError, EmbeddedServerError, MigrationError,
    psycopg's errors and OSError.
    """
    tell("restoring it as a drill …")
    stored = StoredBackup(made, read_manifest(made))
    links = chain(stored)
    account = account_for(made / "drill")
    reachable = not account.borrowed or account.can("-x", made.parent)
    with (
        draft(made.parent if reachable else Path(tempfile.gettempdir())) as place,
        _staging(place) as staging,
    ):
        server = EmbeddedServer(staging)
        try:
            source = _raise(server, links, None, clock.now(), tell, opens=False)
            migrate(source.owner_url)
            with source.connect() as connection:
                inventory.rows(connection)
        finally:
            server.stop()


def _raise(
    server: EmbeddedServer,
    links: Sequence[StoredBackup],
    ring: KeyRing | None,
    now: datetime.datetime,
    tell: Tell,
    *,
    opens: bool,
) -> BackupSource:
    """Start a server with the backup, the last of the chain, in the staging directory of `server`.

    With `opens`, one secret of each key is decrypted with the ring.
    """
    stored = links[-1]
    logically = stored.manifest.kind == "logical"
    if not logically:
        home = server.data_dir / "server"
        account = account_for(home)
        server.data_dir.mkdir(mode=0o700)
        home.mkdir(mode=0o700)
        account.own(home)
        physical.combine([link.path for link in links], packaged_programs(), home / "data", account, tell)
    tell("starting the database …")
    server.start()
    source = BackupSource(server.owner_url(), server)
    if logically:
        _load(source, stored, now, tell, try_with=(ring,) if opens else ())
        return source
    with source.connect() as connection:
        physical.forget_recovery(connection)
        with connection.transaction():
            _hold(connection, stored, now)
            if opens:
                try_keys(connection, ring)
    return source


def restore_into_database(
    backup: Path, database_url: str, ring: KeyRing | None, clock: Clock, tell: Tell
) -> Restored:
    """Restore a logical backup into the empty database of the URL, in one transaction.

    Raises BackupError, MigrationError, psycopg's errors and OSError. Problems found only afterward, by the migration
    to the newest schema and the examination, don't undo it.
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

        _require_fitting_server(connection)
        _examined(stored, ring, tell, empty=require_empty)
    _load(source, stored, clock.now(), tell, try_with=(ring,))
    return _prove(source, stored, ring, tell)


def _examined(
    stored: StoredBackup, ring: KeyRing | None, tell: Tell, *, empty: Callable[[], None]
) -> list[StoredBackup]:
    """Check everything that can be checked before writing; return the backup's chain, the full backup first."""
    manifest = stored.manifest
    revision = manifest.origin.schema_revision
    if not knows(revision):
        raise RefusedError(
            f"{stored.path.name} has the schema {revision}, which this program does not know: it was made by a newer "
            f"one ({manifest.program}), restore it with that"
        )
    if manifest.kind != "logical" and manifest.origin.server_version // 10000 != _OURS:
        raise RefusedError(
            f"{stored.path.name} holds files of PostgreSQL {manifest.origin.server_version // 10000}; this is {_OURS}"
        )
    written_by = int(manifest.programs.partition(".")[0])
    if written_by > _OURS:
        raise RefusedError(
            f"{stored.path.name} was written by PostgreSQL {manifest.programs}'s programs; those here read archives of "
            f"up to {_OURS}: restore it with a newer Hearthpay, or back up again with programs of {_OURS}"
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


def _require_fitting_server(connection: Connection) -> None:
    """Raise RefusedError for what the migrations would refuse after everything was read."""
    row = connection.execute(
        "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')"
    ).fetchone()
    assert row is not None
    version, encoding = row
    if version < OLDEST_SERVER:
        raise RefusedError(
            f"Hearthpay needs PostgreSQL {OLDEST_SERVER // 10000} or newer; this server is {version // 10000}"
        )
    if encoding != "UTF8":
        raise RefusedError(f"Hearthpay needs a database in UTF8; this one is in {encoding}")


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
    """Yield a data directory inside the data directory; what is left of it is removed at the end of the block."""
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
    """Move the result to its final place, the server last: from then on it exists."""
    for name in (KEY_FILE, "programs", "server"):
        if (staging / name).exists():
            (staging / name).rename(target / name)
    descriptor = os.open(target, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _load(
    source: BackupSource,
    stored: StoredBackup,
    now: datetime.datetime,
    tell: Tell,
    *,
    try_with: Sequence[KeyRing | None],
) -> None:
    """Create the schema of the backup's revision and fill it, in one transaction that ends with real money on hold.

    Each ring of `try_with` decrypts one secret of each key; None if nothing may be encrypted.
    """
    revision = stored.manifest.origin.schema_revision
    assert revision is not None, "a known one"
    with migrating(source.owner_url) as migration:
        connection = migration.driver
        if not inventory.is_empty(connection):
            raise RefusedError("the database is not empty: restore into a new one")
        tell("making the schema …")
        migration.upgrade(revision)
        logical.load(connection, packaged_programs(), stored.path, tell)
        _hold(connection, stored, now)
        _compare(stored.manifest, inventory.rows(connection))
        for ring in try_with:
            try_keys(connection, ring)
    with source.connect() as connection:
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
    """Upgrade the schema to this program's, and examine the books and the bank's files."""
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
