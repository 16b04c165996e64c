"""Bank files under rotation: re-encrypted with the numbers, read before and after, and counted among what remains."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from uuid import UUID

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.database.sealing_keys import keys_in_use
from hearthpay.database.session import Database
from hearthpay.database.vault_rotation import RotationResult, rotate
from hearthpay.security.file_seal import SealedFile, open_file, seal_file
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from hearthpay.security.vault_cipher import UnreadableSecretError

Sessions = Callable[[], AbstractAsyncContextManager[AsyncSession]]


@pytest.fixture
def sessions(owner_database: Database) -> Sessions:
    return lambda: owner_database.transaction(None)


def store(owner: psycopg.Connection, ring: KeyRing, count: int) -> dict[UUID, bytes]:
    contents: dict[UUID, bytes] = {}
    for day in range(1, count + 1):
        file_id, name, content = uuid7(), f"file-{day}.ach", os.urandom(500)
        sealed = seal_file(ring.newest, file_id, name, content)
        owner.execute(
            "INSERT INTO bank_files VALUES (%s, %s, make_date(2026, 11, %s), 'built', 1, 0, 0, %s, %s, %s, %s, now())",
            (file_id, name, day, b"\0" * 32, sealed.ciphertext, sealed.nonce, sealed.key_id),
        )
        contents[file_id] = content
    return contents


def read(owner: psycopg.Connection, ring: KeyRing) -> dict[UUID, bytes]:
    rows = owner.execute("SELECT id, name, sealed_content, nonce, key_id FROM bank_files").fetchall()
    return {file_id: open_file(ring, file_id, name, SealedFile(*sealed)) for file_id, name, *sealed in rows}


async def test_every_file_is_readable_with_the_new_key_alone(
    owner: psycopg.Connection, sessions: Sessions
) -> None:
    old, new = EncryptionKey.generate(), EncryptionKey.generate()
    contents = store(owner, KeyRing((old,)), 5)
    seen: list[tuple[int, int]] = []
    result = await rotate(sessions, KeyRing((new, old)), lambda done, total: seen.append((done, total)))
    assert result == RotationResult(5, (), {})
    assert seen[-1] == (5, 5)
    assert read(owner, KeyRing((new,))) == contents
    async with sessions() as session:
        assert await keys_in_use(session) == {new.id: 5}
    again = await rotate(sessions, KeyRing((new, old)), lambda *_: None)
    assert again.rotated == 0


async def test_a_file_that_cannot_be_read_stays_and_is_named(
    owner: psycopg.Connection, sessions: Sessions
) -> None:
    old, new = EncryptionKey.generate(), EncryptionKey.generate()
    first, *others = store(owner, KeyRing((old,)), 3)
    owner.execute("UPDATE bank_files SET sealed_content = sha256(sealed_content) WHERE id = %s", (first,))
    result = await rotate(sessions, KeyRing((new, old)), lambda *_: None)
    assert result == RotationResult(len(others), (first,), {old.id: 1})


def test_a_file_opens_only_as_itself() -> None:
    ring, file_id = KeyRing((EncryptionKey.generate(),)), uuid7()
    sealed = seal_file(ring.newest, file_id, "a.ach", b"content")
    assert open_file(ring, file_id, "a.ach", sealed) == b"content"
    changed = bytes((*sealed.ciphertext[:-1], sealed.ciphertext[-1] ^ 1))
    tampered = SealedFile(changed, sealed.nonce, sealed.key_id)
    short = SealedFile(sealed.ciphertext, sealed.nonce[:4], sealed.key_id)
    for other_id, name, other in (
        (uuid7(), "a.ach", sealed),
        (file_id, "b.ach", sealed),
        (file_id, "a.ach", tampered),
        (file_id, "a.ach", short),
    ):
        with pytest.raises(UnreadableSecretError):
            open_file(ring, other_id, name, other)
