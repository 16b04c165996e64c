"""A rotation ends with every row under the new key, whoever reads, writes, locks or kills meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.sealing_keys import keys_in_use
from hearthpay.database.session import Database
from hearthpay.database.vault_rotation import RotationResult, rotate
from hearthpay.database.vault_store import read_secret, store_secret
from hearthpay.security.key_ring import KEY_FILE, EncryptionKey, KeyRing, add_key, open_key_file
from hearthpay.security.vault_cipher import SecretOwner
from hearthpay.security.vault_numbers import parse_number
from tests.database.household import Household, add_employee
from tests.security.conftest import Clerk
from tests.worlds.commands import start

Sessions = Callable[[], AbstractAsyncContextManager[AsyncSession]]
Numbers = dict[SecretOwner, str]


@pytest.fixture
def sessions(owner_database: Database) -> Sessions:
    return lambda: owner_database.transaction(None)


def quiet(done: int, total: int) -> None:
    """Nobody watches."""


async def fill(
    database: Database,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    household: Household,
    count: int,
) -> Numbers:
    """Give `count` new employees a number each."""
    columns = {
        "organization_id": household.organization_id,
        "employer_id": household.employer_id,
        "sandbox": household.sandbox,
    }
    numbers: Numbers = {}
    async with database.transaction(household.tenant) as session:
        for index in range(count):
            person = SecretOwner(
                household.organization_id,
                household.employer_id,
                household.sandbox,
                "employee",
                add_employee(owner, columns),
            )
            number = parse_number("bank_account", f"{77_000_000 + index}")
            await store_secret(session, ring, clerk, person, number)
            numbers[person] = number.reveal()
    return numbers


async def read_all(
    database: Database, ring: KeyRing, clerk: Clerk, household: Household, numbers: Numbers
) -> Numbers:
    async with database.transaction(household.tenant) as session:
        return {
            person: (await read_secret(session, ring, clerk, person, "bank_account", purpose="test")).reveal()
            for person in numbers
        }


def with_new_key(ring: KeyRing) -> KeyRing:
    return KeyRing((EncryptionKey.generate(), *(ring.find(key_id) for key_id in ring.ids)))


def rotate_and_die(owner_url: str, key_file: Path, batches: int) -> None:
    """Start a rotation in a process of its own, and kill that after some batches."""
    with start(owner_url, key_file, module="tests.security.rotator") as process:
        assert process.stdout is not None
        for _ in range(batches):
            assert process.stdout.readline()
        process.kill()


async def test_every_row_moves_to_the_new_key_and_the_old_one_can_go(
    database: Database,
    sessions: Sessions,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
    joneses: Household,
) -> None:
    numbers = await fill(database, owner, ring, clerk, smiths, 25)
    others = await fill(database, owner, ring, clerk, joneses, 3)
    before = owner.execute("SELECT ciphertext, nonce FROM vault").fetchall()
    new = with_new_key(ring)
    seen: list[tuple[int, int]] = []
    result = await rotate(sessions, new, lambda done, total: seen.append((done, total)), batch=10)
    assert result == RotationResult(28, (), {})
    assert seen == [(10, 28), (20, 28), (28, 28)]
    only_new = KeyRing((new.newest,))
    assert await read_all(database, only_new, clerk, smiths, numbers) == numbers
    assert await read_all(database, only_new, clerk, joneses, others) == others
    assert owner.execute("SELECT FROM vault WHERE rotated_at IS NULL").rowcount == 0
    assert not {*before} & {*owner.execute("SELECT ciphertext, nonce FROM vault").fetchall()}
    trail = owner.execute(
        "SELECT organization_id, actor_kind, sum((details->>'rows')::int), min(details->>'key_id') "
        "FROM audit_log WHERE action = 'vault.rotate' GROUP BY 1, 2 ORDER BY 3 DESC"
    ).fetchall()
    assert trail == [
        (smiths.organization_id, "operator", 25, new.newest.id),
        (joneses.organization_id, "operator", 3, new.newest.id),
    ]
    assert await rotate(sessions, new, quiet) == RotationResult(0, (), {})


async def test_reading_and_writing_go_on_during_a_rotation(
    database: Database,
    sessions: Sessions,
    owner: psycopg.Connection,
    clerk: Clerk,
    smiths: Household,
    tmp_path: Path,
) -> None:
    """The service has read the key file before the rotation, and is not restarted."""
    service = open_key_file(tmp_path / KEY_FILE)
    numbers = await fill(database, owner, service, clerk, smiths, 60)
    replaced = list(numbers)[::7]
    done = asyncio.Event()
    readings = 0

    async def keep_reading() -> None:
        nonlocal readings
        while not done.is_set():
            assert await read_all(database, service, clerk, smiths, numbers) == numbers
            readings += 1

    async def write() -> None:
        for person in replaced:
            async with database.transaction(smiths.tenant) as session:
                await store_secret(
                    session, service, clerk, person, parse_number("bank_account", numbers[person])
                )

    async def turn() -> RotationResult:
        try:
            return await rotate(sessions, add_key(tmp_path / KEY_FILE), quiet, batch=3)
        finally:
            done.set()

    _, _, result = await asyncio.gather(keep_reading(), write(), turn())
    assert readings > 0
    assert result.unreadable == ()
    assert await read_all(database, service, clerk, smiths, numbers) == numbers
    final = await rotate(sessions, open_key_file(tmp_path / KEY_FILE), quiet)
    assert final.remaining == {}
    assert await read_all(database, service, clerk, smiths, numbers) == numbers


async def test_a_killed_rotation_is_resumed(
    database: Database,
    sessions: Sessions,
    server: EmbeddedServer,
    owner: psycopg.Connection,
    clerk: Clerk,
    smiths: Household,
    tmp_path: Path,
) -> None:
    ring = open_key_file(tmp_path / KEY_FILE)
    numbers = await fill(database, owner, ring, clerk, smiths, 300)
    new = add_key(tmp_path / KEY_FILE)
    for batches in (2, 5):
        await asyncio.to_thread(rotate_and_die, server.owner_url(), tmp_path / KEY_FILE, batches)
        assert await read_all(database, ring, clerk, smiths, numbers) == numbers
    async with sessions() as session:
        half_way = await keys_in_use(session)
    assert half_way[new.newest.id] >= 70
    assert half_way[new.ids[1]] > 0
    result = await rotate(sessions, new, quiet)
    assert result.remaining == {}
    # The killed process' transaction may have committed its last batch after its last report.
    assert result.rotated == 300 - half_way[new.newest.id]
    assert await read_all(database, KeyRing((new.newest,)), clerk, smiths, numbers) == numbers


async def test_rotations_share_the_work(
    database: Database,
    sessions: Sessions,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
) -> None:
    numbers = await fill(database, owner, ring, clerk, smiths, 80)
    new = with_new_key(ring)
    results = await asyncio.gather(*(rotate(sessions, new, quiet, batch=5) for _ in range(2)))
    assert sum(result.rotated for result in results) == 80
    assert await read_all(database, KeyRing((new.newest,)), clerk, smiths, numbers) == numbers


async def test_a_locked_row_is_passed_over_and_reported(
    database: Database,
    sessions: Sessions,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
) -> None:
    await fill(database, owner, ring, clerk, smiths, 5)
    new = with_new_key(ring)
    with owner.transaction():
        owner.execute("SELECT FROM vault ORDER BY id LIMIT 1 FOR UPDATE")
        assert await rotate(sessions, new, quiet, batch=2) == RotationResult(4, (), {ring.newest.id: 1})
    assert await rotate(sessions, new, quiet) == RotationResult(1, (), {})


async def test_one_bad_row_holds_back_no_other(
    database: Database,
    sessions: Sessions,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
) -> None:
    await fill(database, owner, ring, clerk, smiths, 9)
    ids: list[UUID] = [row[0] for row in owner.execute("SELECT id FROM vault ORDER BY id")]
    owner.execute("UPDATE vault SET nonce = '\\x000102030405060708090a0b' WHERE id = %s", (ids[0],))
    owner.execute("ALTER TABLE vault DISABLE TRIGGER current_key_only")
    owner.execute("UPDATE vault SET key_id = 'lost' WHERE id = %s", (ids[4],))
    owner.execute("ALTER TABLE vault ENABLE TRIGGER current_key_only")
    before = owner.execute("SELECT * FROM vault WHERE id = ANY(%s)", ([ids[0], ids[4]],)).fetchall()
    new = with_new_key(ring)
    result = await rotate(sessions, new, quiet, batch=1)
    assert result == RotationResult(7, (ids[0], ids[4]), {ring.newest.id: 1, "lost": 1})
    assert owner.execute("SELECT * FROM vault WHERE id = ANY(%s)", ([ids[0], ids[4]],)).fetchall() == before
