"""Creates a backup: a consistent copy while the service runs, verified before it gets its name."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from psycopg import IsolationLevel
from uuid_utils.compat import uuid7

from hearthpay import __version__
from hearthpay.backup import inventory, logical, physical
from hearthpay.backup.errors import BackupError, RefusedError
from hearthpay.backup.manifest import Manifest, stored_files, verify_files, write_manifest
from hearthpay.backup.programs import Programs, packaged_programs, programs_for
from hearthpay.backup.progress import Tell
from hearthpay.backup.required_keys import needed_keys, ring_at_hand
from hearthpay.backup.restore import drill
from hearthpay.backup.source import BackupSource, Connection, open_source
from hearthpay.backup.store import StoredBackup, backups, chain, draft, publish
from hearthpay.clock import Clock
from hearthpay.database.embedded import EmbeddedServerError
from hearthpay.database.migrations import MigrationError, knows
from hearthpay.security.key_ring import copy_key_ring

How = Literal["logical", "full", "incremental"]

SNAPSHOT_SECONDS: Final = 12 * 3600
"""The longest that a backup holds its snapshot."""


@dataclass(frozen=True, slots=True)
class MadeBackup:
    """A finished backup, and the keys to store separately from it."""

    path: Path
    manifest: Manifest
    drilled: bool
    """Whether it was restored as a test before it got its name."""
    keys_in: str
    """Where the key ring is read from: a file or the variable."""
    keys_copied_to: Path | None
    keys_missing: tuple[str, ...]
    """Needed keys that are not in that ring: what they encrypted is lost unless they are found."""


def make_backup(
    data_dir: Path | None,
    database_url: str | None,
    store: Path,
    how: How,
    clock: Clock,
    tell: Tell,
    *,
    keys_to: Path | None = None,
    drilled: bool = True,
) -> MadeBackup:
    """Back up the URL's database, or the embedded one, into a new directory in `store`.

    `keys_to` gets a copy of the key ring, elsewhere. With `drilled`, the backup is restored next to itself before it
    gets its name. Raises BackupError, MigrationError, EmbeddedServerError, KeyRingError, psycopg's errors and
    OSError; then there is no new backup.
    """
    store = store.expanduser().resolve()
    if database_url and how != "logical":
        raise RefusedError(
            "physical backups are of the embedded database: back up the files of your own server with its own tools, "
            "or its contents with `hearthpay backup DIR`"
        )
    if keys_to is not None:
        keys_to = keys_to.expanduser().resolve()
        if keys_to.is_relative_to(store):
            raise RefusedError(f"the keys must lie apart from what they open: {keys_to} is in {store}")
    with open_source(data_dir, database_url) as source:
        home = None if source.embedded is None else source.embedded.data_dir
        if home is not None and store.is_relative_to(home):
            raise RefusedError(f"{store} is in the data directory, and would be lost with it")
        ring, keys_in = ring_at_hand(home)
        if keys_to is not None:
            if ring is None:
                raise RefusedError(f"there are no keys to copy: {keys_in} is not there")
            copy_key_ring(ring, keys_to)
        taken_at = clock.now()  # before the snapshot: all that was done by then is in it
        with draft(store) as made:
            with source.connect() as connection, exported_snapshot(connection) as snapshot:
                manifest = _describe(source, connection, how, taken_at)
                if drilled and not knows(manifest.origin.schema_revision):
                    raise RefusedError(
                        f"this program is older than the database's schema ({manifest.origin.schema_revision}), and "
                        "cannot restore it as a drill: use the newer program, or --no-drill"
                    )
                secrets = inventory.secrets_by_key(connection)
                manifest = replace(manifest, keys=needed_keys(secrets, ring))
                if how == "logical":
                    manifest = _dump(source, connection, snapshot, made, manifest, tell)
                else:
                    manifest = _copy(source, store, how, made, manifest, tell)
                write_manifest(made, manifest)
                verify_files(made, manifest, tell)
            if drilled:
                _drill(made, clock, tell)
            path = publish(made, manifest.kind, manifest.taken_at)
    held = set() if ring is None else set(ring.ids)
    missing = tuple(key for key in secrets if key not in held) if ring is not None else ()
    if ring is None and home is not None:
        missing = tuple(secrets)
    return MadeBackup(path, manifest, drilled, keys_in, keys_to, missing)


def _drill(made: Path, clock: Clock, tell: Tell) -> None:
    try:
        drill(made, clock, tell)
    except (BackupError, EmbeddedServerError, MigrationError) as error:
        raise BackupError(
            f"what was written cannot be restored, so it was removed (--no-drill keeps it untried): {error}"
        ) from error


@contextmanager
def exported_snapshot(connection: Connection) -> Iterator[str]:
    """A transaction with a snapshot, and the snapshot's name for pg_dump.

    The server ends it after SNAPSHOT_SECONDS: a forgotten snapshot keeps vacuum from removing rows, and a migration
    from changing tables.
    """
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    with connection.transaction():
        for setting in ("statement_timeout", "idle_in_transaction_session_timeout"):
            connection.execute("SELECT set_config(%s, %s, true)", (setting, f"{SNAPSHOT_SECONDS}s"))
        row = connection.execute("SELECT pg_export_snapshot()").fetchone()
        assert row is not None
        yield str(row[0])


def _describe(
    source: BackupSource, connection: Connection, how: How, taken_at: datetime.datetime
) -> Manifest:
    return Manifest(
        id=uuid7(),
        kind=how,
        taken_at=taken_at,
        program=__version__,
        programs="",
        origin=inventory.origin(connection, embedded=source.embedded is not None),
        parent=None,
        parent_name=None,
        rows=inventory.rows(connection),
        keys=(),
        files=(),
        open_matters=inventory.open_matters(connection, taken_at),
    )


def _dump(
    source: BackupSource, connection: Connection, snapshot: str, made: Path, manifest: Manifest, tell: Tell
) -> Manifest:
    programs = programs_for(manifest.origin.server_version, encrypted=bool(connection.pgconn.ssl_in_use))
    logical.dump(source, connection, programs, snapshot, made, tell, within=SNAPSHOT_SECONDS)
    logical.check_dump(made, programs, manifest.rows, tell)
    return replace(manifest, programs=programs.version, files=stored_files(made, tell))


def _copy(
    source: BackupSource, store: Path, how: How, made: Path, manifest: Manifest, tell: Tell
) -> Manifest:
    programs: Programs = packaged_programs()
    parent = _parent(store, manifest) if how == "incremental" else None
    physical.copy_cluster(source, programs, made, None if parent is None else parent.path, tell)
    files = stored_files(made, tell)
    physical.check_cluster(made, files)
    return replace(
        manifest,
        programs=programs.version,
        files=files,
        parent=None if parent is None else parent.manifest.id,
        parent_name=None if parent is None else parent.path.name,
    )


def _parent(store: Path, manifest: Manifest) -> StoredBackup:
    """Return the newest physical backup of the same server whose own chain is complete."""
    found = [each for each in backups(store) if each.manifest.kind != "logical"]
    if not found:
        raise RefusedError(f"{store} holds no physical backup yet: make one with --physical first")
    newest = found[-1]
    if newest.manifest.origin.system_identifier != manifest.origin.system_identifier:
        raise RefusedError(f"{newest.path.name} is of another database: make a new one with --physical")
    try:
        chain(newest)
    except BackupError as error:
        raise RefusedError(f"{error}, or make a new one with --physical") from None
    return newest
