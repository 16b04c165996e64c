"""What no program of ours can write: as a superuser's slip, or a disk's, would leave it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg


@contextmanager
def without_triggers(owner: psycopg.Connection) -> Iterator[None]:
    """For the length of the block the database's guards against the owner's own writes are off."""
    owner.execute("SET session_replication_role = replica")
    try:
        yield
    finally:
        owner.execute("RESET session_replication_role")
