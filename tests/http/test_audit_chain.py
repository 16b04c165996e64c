"""The audit log's chain: every row is sealed, also those that many transactions write at once, and nobody waits."""

import asyncio
from uuid import UUID, uuid4

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database import audit
from hearthpay.database.session import Database, Tenant
from hearthpay.doctor.evidence_checks import audit_chain
from hearthpay.doctor.examination import examine
from tests.http.api import Account


class Held:
    """A transaction that has written its row, and stays open until it is released."""

    def __init__(self) -> None:
        self.written = asyncio.Event()
        self.release = asyncio.Event()


async def write(database: Database, tenant: Tenant, action: str, held: Held | None = None) -> None:
    """Write a row in a transaction of its own."""
    async with database.transaction(tenant) as session:
        await audit.record(
            session,
            actor_kind="operator",
            actor_id=None,
            organization_id=tenant.organization_id,
            employer_id=None,
            sandbox=None,
            action=action,
            subject_id=uuid4(),
            request_id=None,
            details={},
        )
        if held is not None:
            held.written.set()
            await held.release.wait()


def chain(owner: psycopg.Connection, organization: UUID) -> list[tuple[int, int]]:
    """Number and rows of each seal."""
    return owner.execute(
        "SELECT number, cardinality(audit_ids) FROM audit_seals WHERE organization_id = %s ORDER BY number",
        (organization,),
    ).fetchall()


def waiting(owner: psycopg.Connection) -> int:
    row = owner.execute("SELECT count(*) FROM audit_unsealed").fetchone()
    assert row is not None
    return int(row[0])


async def found(owner_database: Database, clock: FixedClock) -> int:
    async with owner_database.transaction(None) as session:
        (result,) = await examine(session, clock.now(), lambda *_: None, [audit_chain])
    return result.found


@pytest.fixture
def tenant(account: Account) -> Tenant:
    return Tenant(account.organization_id, sandbox=False)


async def test_who_comes_while_the_chain_is_held_waits_for_nobody(
    tenant: Tenant,
    database: Database,
    owner_database: Database,
    worker_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    before = len(chain(owner_connection, tenant.organization_id))
    held = Held()
    holder = asyncio.create_task(write(database, tenant, "test.holds", held))
    await held.written.wait()
    await asyncio.wait_for(write(database, tenant, "test.passes"), 5)
    assert waiting(owner_connection) == 1
    assert await found(owner_database, clock) == 0
    held.release.set()
    await holder
    assert waiting(owner_connection) == 1
    await write(database, tenant, "test.seals_both")
    assert waiting(owner_connection) == 0
    assert chain(owner_connection, tenant.organization_id)[before:] == [(before + 1, 1), (before + 2, 2)]
    assert await found(owner_database, clock) == 0
    assert await audit.seal_pending(worker_database) == 0


async def test_many_at_once_leave_one_unbroken_chain(
    tenant: Tenant,
    database: Database,
    owner_database: Database,
    worker_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    await asyncio.gather(*(write(database, tenant, f"test.row_{number}") for number in range(60)))
    assert await found(owner_database, clock) == 0
    assert await audit.seal_pending(worker_database) == 0
    assert waiting(owner_connection) == 0
    assert await found(owner_database, clock) == 0
    sealed = chain(owner_connection, tenant.organization_id)
    assert [number for number, _ in sealed] == list(range(1, len(sealed) + 1))
    rows = owner_connection.execute("SELECT count(*) FROM audit_log").fetchone()
    assert rows is not None
    assert sum(count for _, count in sealed) >= 60
    assert rows[0] >= 60


async def test_the_worker_seals_what_nobody_else_does(
    tenant: Tenant,
    database: Database,
    owner_database: Database,
    worker_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    held = Held()
    holder = asyncio.create_task(write(database, tenant, "test.holds", held))
    await held.written.wait()
    await write(database, tenant, "test.last")
    held.release.set()
    await holder
    assert waiting(owner_connection) == 1
    assert await audit.seal_pending(worker_database) == 0
    assert waiting(owner_connection) == 0
    assert await found(owner_database, clock) == 0


async def test_a_row_that_goes_before_it_is_sealed_is_missed(
    tenant: Tenant,
    database: Database,
    owner_database: Database,
    worker_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    held = Held()
    holder = asyncio.create_task(write(database, tenant, "test.holds", held))
    await held.written.wait()
    await write(database, tenant, "test.removed")
    held.release.set()
    await holder
    owner_connection.execute("DELETE FROM audit_log WHERE action = 'test.removed'")
    assert await found(owner_database, clock) == 1
    assert await audit.seal_pending(worker_database) == 0
    assert waiting(owner_connection) == 0
    assert await found(owner_database, clock) == 1


async def test_nobody_but_the_owner_may_touch_the_seals(database: Database, tenant: Tenant) -> None:
    for statement in (
        "SELECT FROM audit_seals",
        "DELETE FROM audit_unsealed",
        "SELECT seal_waiting_audit_log()",
    ):
        with pytest.raises(Exception, match="permission denied"):
            async with database.transaction(tenant) as session:
                await (await session.connection()).exec_driver_sql(statement)


async def test_much_that_waits_is_sealed_in_bounded_pieces(
    tenant: Tenant,
    database: Database,
    owner_database: Database,
    worker_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    """A run that came upon a million rows would have sealed them all, and answered nobody."""
    organization = tenant.organization_id
    before = len(chain(owner_connection, organization))
    with owner_connection.transaction():
        owner_connection.execute("ALTER TABLE audit_log DISABLE TRIGGER seal_written")
        owner_connection.execute(
            "WITH rows AS (INSERT INTO audit_log (id, organization_id, actor_kind, action, details) "
            "SELECT new_id(), %s, 'system', 'test.waits', '{}' FROM generate_series(1, 2500) RETURNING id) "
            "INSERT INTO audit_unsealed SELECT id, %s FROM rows",
            (organization, organization),
        )
        owner_connection.execute("ALTER TABLE audit_log ENABLE TRIGGER seal_written")
    await write(database, tenant, "test.comes_upon_them")
    assert waiting(owner_connection) == 1_500
    assert await found(owner_database, clock) == 0
    assert await audit.seal_pending(worker_database) == 500
    assert await audit.seal_pending(worker_database) == 0
    assert chain(owner_connection, organization)[before:] == [
        (before + 1, 1_001),
        (before + 2, 1_000),
        (before + 3, 500),
    ]
    assert await found(owner_database, clock) == 0
