"""What `hearthpay serve` has before it listens: the database as the service's role, the keys, and the owner's duties.

With the owner's login it migrates, checks all keys and offers the first owner's link. Without it (`--no-migrate`) it
only checks that all is ready.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from hearthpay.clock import Clock
from hearthpay.database.catalog.inspection import require_tight_schema
from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.role_login import open_as_service, require_current_key
from hearthpay.database.startup import (
    WORKER_VARIABLE,
    Addresses,
    OpenedDatabase,
    RoleDatabase,
    ServiceLoginError,
    open_database,
)
from hearthpay.people.first_owner import offer_first_owner
from hearthpay.process import key_ring_of, supervised
from hearthpay.security.key_ring import KeyRing, load_key_ring
from hearthpay.security.seal_file import SEAL_FILE_VARIABLE, SealFileError, read_seal_file, seal_file_of


@dataclass(frozen=True, slots=True)
class ServingDatabase:
    """The service's database and what belongs to it."""

    service: RoleDatabase
    ring: KeyRing
    embedded: EmbeddedServer | None
    first_owner: str | None
    """The path of the one-time link for the first owner; None if someone can already sign in, or nobody may ask."""

    @property
    def data_dir(self) -> Path | None:
        """The directory of the embedded database, if there is one."""
        return None if self.embedded is None else self.embedded.data_dir


@asynccontextmanager
async def open_and_migrate(
    data_dir: Path | None, addresses: Addresses, clock: Clock
) -> AsyncIterator[ServingDatabase]:
    """Open the database as its owner, with the newest schema.

    Raises as `open_database`, LooserSchemaError and KeyRingError.
    """
    async with open_database(data_dir, addresses) as opened, supervised(opened):
        await require_tight_schema(opened.database)
        ring = await key_ring_of(opened)
        yield ServingDatabase(opened.service, ring, opened.embedded, await _first_owner_link(opened, clock))


@asynccontextmanager
async def open_migrated(addresses: Addresses, *, with_worker: bool) -> AsyncIterator[ServingDatabase]:
    """Open the database with the service's login alone; `with_worker` asks for the worker's as well.

    Raises as `open_as_service`, LooserSchemaError, SealFileError and KeyRingError.
    """
    if with_worker and addresses.worker is None:
        raise ServiceLoginError(
            f"{WORKER_VARIABLE} is not set: start with --no-worker, or let the worker log in"
        )
    path = seal_file_of(os.environ)
    if path is None:
        raise SealFileError(
            f"{SEAL_FILE_VARIABLE} is not set: it names the file that `hearthpay migrate` writes"
        )
    async with open_as_service(addresses, read_seal_file(path)) as service:
        await require_tight_schema(service.database)
        ring = load_key_ring(None, os.environ)
        await require_current_key(service.database, ring)
        yield ServingDatabase(service, ring, embedded=None, first_owner=None)


async def _first_owner_link(opened: OpenedDatabase, clock: Clock) -> str | None:
    async with opened.as_operator() as operator, operator.transaction(None) as session:
        token = await offer_first_owner(session, clock)
    return None if token is None else f"/welcome/{token.text}"
