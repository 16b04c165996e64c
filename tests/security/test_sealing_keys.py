"""One key encrypts at a time, everywhere: the database says which, and refuses what another has encrypted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from hearthpay.database.sealing_keys import (
    ForeignKeyRingError,
    KeyInUseError,
    key_for_writing,
    keys_and_uses,
    keys_in_use,
    make_newest_current,
    release_key,
    require_keys_for,
)
from hearthpay.database.session import Database
from hearthpay.database.vault_rotation import rotate
from hearthpay.database.vault_store import read_secret, store_secret
from hearthpay.http.database_failures import sqlstate_of
from hearthpay.security.content_seal import mail_place, seal_content
from hearthpay.security.key_ring import (
    KEY_FILE,
    EncryptionKey,
    KeyRing,
    KeyRingError,
    OutdatedKeyRingError,
    add_key,
    open_key_file,
    remove_key,
)
from hearthpay.security.vault_numbers import parse_number
from tests.database.household import Household
from tests.security.conftest import Clerk, employee_of
from tests.security.test_vault_rotation import quiet

SSN = parse_number("ssn", "536-22-8145")


async def keep(database: Database, ring: KeyRing, clerk: Clerk, household: Household) -> None:
    async with database.transaction(household.tenant) as session:
        await store_secret(session, ring, clerk, employee_of(household), SSN)


async def read(database: Database, ring: KeyRing, clerk: Clerk, household: Household) -> str:
    async with database.transaction(household.tenant) as session:
        number = await read_secret(session, ring, clerk, employee_of(household), "ssn", purpose="test")
    return number.reveal()


def statuses(owner: psycopg.Connection) -> dict[str, str]:
    return dict(owner.execute("SELECT id, status FROM vault_keys").fetchall())


async def test_a_server_that_runs_on_writes_under_the_new_key(
    database: Database,
    owner_database: Database,
    owner: psycopg.Connection,
    clerk: Clerk,
    smiths: Household,
    tmp_path: Path,
) -> None:
    """It wrote under the old key on, and said "saved" after that key was gone."""
    path = tmp_path / KEY_FILE
    running = open_key_file(path)
    old = running.newest.id
    await keep(database, running, clerk, smiths)
    new = add_key(path)
    await rotate(lambda: owner_database.transaction(None), new, quiet)
    async with owner_database.transaction(None) as session:
        await release_key(session, old)
    remove_key(path, old)
    await keep(database, running, clerk, smiths)
    assert owner.execute("SELECT key_id FROM vault").fetchall() == [(new.newest.id,)]
    assert await read(database, open_key_file(path), clerk, smiths) == SSN.reveal()
    assert statuses(owner) == {old: "removed", new.newest.id: "current"}


async def test_a_process_without_the_new_key_writes_nothing(
    database: Database,
    owner_database: Database,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
) -> None:
    await keep(database, ring, clerk, smiths)
    new = KeyRing((EncryptionKey.generate(), ring.newest))
    await rotate(lambda: owner_database.transaction(None), new, quiet)
    before = owner.execute("SELECT ciphertext, key_id FROM vault").fetchall()
    with pytest.raises(OutdatedKeyRingError, match="restart this process with a HEARTHPAY_KEYS"):
        await keep(database, ring, clerk, smiths)
    assert owner.execute("SELECT ciphertext, key_id FROM vault").fetchall() == before
    await keep(database, new, clerk, smiths)


async def test_the_newest_key_of_an_environment_waits_for_the_rotation(
    database: Database, owner: psycopg.Connection, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    """Deployed to one process after the other, a new key is used by none before all have it."""
    await keep(database, ring, clerk, smiths)
    await keep(database, KeyRing((EncryptionKey.generate(), ring.newest)), clerk, smiths)
    assert owner.execute("SELECT key_id FROM vault").fetchall() == [(ring.newest.id,)]


@pytest.mark.parametrize("table", ["vault", "mail_outbox", "idempotency_keys", "bank_files"])
async def test_code_that_forgets_to_ask_is_refused(
    table: str, database: Database, owner: psycopg.Connection, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    await keep(database, ring, clerk, smiths)
    other = EncryptionKey.generate()
    sealed = seal_content(other, mail_place(smiths.employee_id), b"content")
    values = {"c": sealed.ciphertext, "n": sealed.nonce, "k": sealed.key_id}
    change = {
        "vault": "UPDATE vault SET ciphertext = :c, nonce = :n, key_id = :k",
        "idempotency_keys": "UPDATE idempotency_keys SET body = :c, nonce = :n, key_id = :k",
        "mail_outbox": "UPDATE mail_outbox SET status = 'queued', finished_at = NULL, content = :c, nonce = :n, "
        "key_id = :k",
        "bank_files": "INSERT INTO bank_files (id, name, cut_off, status, entries, debit_total, credit_total, sha256, "
        "sealed_content, nonce, key_id, created_at) VALUES (uuidv7(), 'a', '2026-11-20', 'built', 1, 0, 0, "
        "sha256(''), :c, :n, :k, now())",
    }[table]
    with pytest.raises(psycopg.Error) as refused:
        owner.execute(change.replace(":c", "%(c)s").replace(":n", "%(n)s").replace(":k", "%(k)s"), values)
    assert refused.value.sqlstate == "HP001"
    if table != "bank_files":  # nor may the service
        with pytest.raises(DBAPIError) as again:
            async with database.transaction(smiths.tenant) as session:
                await session.execute(text(change), values)
        assert sqlstate_of(again.value) == "HP001"


async def test_a_rotation_waits_for_the_writers_under_way_and_misses_none(
    database: Database,
    owner_database: Database,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
) -> None:
    new = KeyRing((EncryptionKey.generate(), ring.newest))
    async with database.transaction(smiths.tenant) as session:
        await store_secret(session, ring, clerk, employee_of(smiths), SSN)
        rotation = asyncio.create_task(rotate(lambda: owner_database.transaction(None), new, quiet))
        done, _ = await asyncio.wait({rotation}, timeout=0.5)
        assert not done
    assert (await rotation).remaining == {}
    assert owner.execute("SELECT key_id FROM vault").fetchall() == [(new.newest.id,)]


async def test_a_key_in_use_is_not_removed(
    database: Database,
    owner_database: Database,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
) -> None:
    await keep(database, ring, clerk, smiths)
    old = ring.newest
    new = KeyRing((EncryptionKey.generate(), old))
    async with owner_database.transaction(None) as session:
        with pytest.raises(KeyInUseError, match="is the one that encrypts"):
            await release_key(session, old.id)
        await make_newest_current(session, new)
    for place in ("vault", "mail_outbox", "idempotency_keys"):
        for table in ("mail_outbox", "idempotency_keys"):
            owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER current_key_only")
        if place == "mail_outbox":
            owner.execute("DELETE FROM vault")
            owner.execute(
                "UPDATE mail_outbox SET status = 'queued', finished_at = NULL, content = 'x', "
                "nonce = substr(sha256(''), 1, 12), key_id = %s",
                (old.id,),
            )
        elif place == "idempotency_keys":
            owner.execute("DELETE FROM invitations; DELETE FROM mail_outbox")
            owner.execute(
                "UPDATE idempotency_keys SET body = 'x', nonce = substr(sha256(''), 1, 12), key_id = %s",
                (old.id,),
            )
        for table in ("mail_outbox", "idempotency_keys"):
            owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER current_key_only")
        async with owner_database.transaction(None) as session:
            with pytest.raises(KeyInUseError, match="1 rows are still encrypted"):
                await release_key(session, old.id)
            assert await keys_in_use(session) == {old.id: 1}
    owner.execute("DELETE FROM idempotency_keys")
    async with owner_database.transaction(None) as session:
        await release_key(session, old.id)
    assert statuses(owner)[old.id] == "removed"


async def test_a_replaced_key_never_encrypts_again(owner_database: Database) -> None:
    first, second = EncryptionKey.generate(), EncryptionKey.generate()
    async with owner_database.transaction(None) as session:
        await make_newest_current(session, KeyRing((first,)))
        await make_newest_current(session, KeyRing((second, first)))
        assert (await key_for_writing(session, KeyRing((first, second)))).id == second.id
        with pytest.raises(KeyRingError, match="has been replaced before"):
            await make_newest_current(session, KeyRing((first, second)))
        await make_newest_current(session, KeyRing((second, first)))  # again changes nothing


async def test_the_first_writers_at_once_agree_on_one_key(
    database: Database, owner: psycopg.Connection, smiths: Household
) -> None:
    keys = [EncryptionKey.generate() for _ in range(6)]

    async def ask(key: EncryptionKey) -> str:
        others = tuple(other for other in keys if other is not key)
        async with database.transaction(smiths.tenant) as session:
            return (await key_for_writing(session, KeyRing((key, *others)))).id

    assert len({*await asyncio.gather(*(ask(key) for key in keys))}) == 1
    assert list(statuses(owner).values()) == ["current"]


async def test_the_start_refuses_keys_of_another_database(
    database: Database,
    owner_database: Database,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
) -> None:
    await keep(database, ring, clerk, smiths)
    async with owner_database.transaction(None) as session:
        await require_keys_for(session, ring)
        foreign = KeyRing((EncryptionKey.generate(),))
        with pytest.raises(ForeignKeyRingError, match=f"lacks the key '{ring.newest.id}'"):
            await require_keys_for(session, foreign)
        same_id = KeyRing((EncryptionKey(ring.newest.id, EncryptionKey.generate().proof * 2),))
        with pytest.raises(ForeignKeyRingError, match="is not the one of this id"):
            await require_keys_for(session, same_id)
        with pytest.raises(OutdatedKeyRingError):
            await key_for_writing(session, same_id)
    new = KeyRing((EncryptionKey.generate(), ring.newest))
    await rotate(lambda: owner_database.transaction(None), new, quiet)
    async with owner_database.transaction(None) as session:
        with pytest.raises(ForeignKeyRingError, match=f"lacks the key '{new.newest.id}'"):
            await require_keys_for(session, ring)
    owner.execute("DELETE FROM vault")
    async with owner_database.transaction(None) as session:
        with pytest.raises(OutdatedKeyRingError):
            await require_keys_for(session, ring)
        await require_keys_for(session, new)


async def test_a_database_from_before_proofs_is_tried_with_one_number(
    database: Database,
    owner_database: Database,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
) -> None:
    """As the migration leaves it: the keys in use are known by their ids, and none is current."""
    await keep(database, ring, clerk, smiths)
    owner.execute("UPDATE vault_keys SET proof = NULL, status = 'known'")
    same_id = KeyRing((EncryptionKey(ring.newest.id, EncryptionKey.generate().proof * 2),))
    stranger = KeyRing((EncryptionKey.generate(),))
    with pytest.raises(DBAPIError) as refused:
        async with database.transaction(smiths.tenant) as session:
            await key_for_writing(session, stranger)
    assert sqlstate_of(refused.value) == "HP001"
    async with owner_database.transaction(None) as session:
        with pytest.raises(ForeignKeyRingError, match="is not the one of this id"):
            await require_keys_for(session, same_id)
    async with owner_database.transaction(None) as session:
        await require_keys_for(session, ring)
    assert statuses(owner) == {ring.newest.id: "current"}
    async with owner_database.transaction(None) as session:
        uses = await keys_and_uses(session, ring)
    assert [(use.key_id, use.status, use.rows, use.in_ring) for use in uses] == [
        (ring.newest.id, "current", 1, True)
    ]


async def test_the_service_sees_no_key_and_changes_none(database: Database, smiths: Household) -> None:
    for statement in ("SELECT * FROM vault_keys", "UPDATE vault_keys SET status = 'current'"):
        with pytest.raises(DBAPIError) as refused:
            async with database.transaction(smiths.tenant) as session:
                await session.execute(text(statement))
        assert sqlstate_of(refused.value) == "42501"


def test_a_key_file_keeps_its_newest_key(tmp_path: Path) -> None:
    path = tmp_path / KEY_FILE
    first = open_key_file(path).newest.id
    second = add_key(path).newest.id
    with pytest.raises(KeyRingError, match="is the newest"):
        remove_key(path, second)
    with pytest.raises(KeyRingError, match="is not in the key ring"):
        remove_key(path, "other")
    assert remove_key(path, first).ids == (second,)
    assert open_key_file(path).ids == (second,)
