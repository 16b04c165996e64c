"""Reports read from a streaming replica, and always show what was written before they were asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import date

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.permissions import SCOPES
from hearthpay.accounts import service as accounts
from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.address import DatabaseAddressError
from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.replica import ReadReplica, ReplicaSettings, ReplicaSettingsError
from hearthpay.database.session import Database, Tenant
from hearthpay.http.metrics import metrics_of
from tests.conftest import plain_url
from tests.database.household import add_household, add_organization
from tests.database.paying import hire, week
from tests.database.streaming_replica import Replica, streaming_replica

PATIENT, IMPATIENT = 20.0, 0.0


@pytest.fixture(scope="module")
def replica(server: EmbeddedServer) -> Iterator[Replica]:
    with streaming_replica(server) as made:
        yield made


class Reads:
    """Reads by one process, and which server each was answered by."""

    def __init__(self, database: Database, url: str, max_lag: float) -> None:
        self.by_replica: list[bool] = []
        self._reader = ReadReplica(database, ReplicaSettings(url, max_lag), self.by_replica.append)

    async def names(self, tenant: Tenant) -> list[str]:
        async def work(session: AsyncSession) -> list[str]:
            return list(await session.scalars(text("SELECT first_name FROM employers")))

        return await self._reader.read(tenant, work)

    async def is_standby(self, tenant: Tenant) -> bool:
        async def work(session: AsyncSession) -> bool:
            return bool(await session.scalar(text("SELECT pg_is_in_recovery()")))

        return await self._reader.read(tenant, work)

    async def close(self) -> None:
        await self._reader.dispose()


@asynccontextmanager
async def reads(database: Database, url: str, max_lag: float) -> AsyncIterator[Reads]:
    made = Reads(database, url, max_lag)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def tenant(database: Database, owner_connection: object) -> Tenant:
    return add_household(owner_connection, add_organization(owner_connection, "Smith")).tenant


async def test_a_replica_that_has_everything_is_read(
    database: Database, replica: Replica, tenant: Tenant
) -> None:
    async with reads(database, replica.service_url, PATIENT) as process:
        assert await process.is_standby(tenant)
        assert len(await process.names(tenant)) == 1
        assert process.by_replica == [True, True]


async def test_row_security_holds_on_the_replica(
    database: Database, replica: Replica, tenant: Tenant, owner_connection: object
) -> None:
    other = add_household(owner_connection, add_organization(owner_connection, "Jones")).tenant

    async def ids(session: AsyncSession) -> list[object]:
        return list(await session.scalars(text("SELECT organization_id FROM employers")))

    reader = ReadReplica(database, ReplicaSettings(replica.service_url, PATIENT))
    assert await reader.read(tenant, ids) == [tenant.organization_id]
    assert await reader.read(other, ids) == [other.organization_id]
    await reader.dispose()


async def test_what_was_just_written_is_read_although_the_replica_is_behind(
    database: Database, replica: Replica, tenant: Tenant
) -> None:
    async with reads(database, replica.service_url, IMPATIENT) as process:
        replica.stop_applying()
        try:
            async with database.transaction(tenant) as session:
                await session.execute(text("UPDATE employers SET first_name = 'Renamed'"))
            assert await process.names(tenant) == ["Renamed"]
            assert await process.names(tenant) == ["Renamed"]  # and it isn't asked for a while
        finally:
            replica.apply_again()
        assert process.by_replica == [False, False]
    async with reads(database, replica.service_url, PATIENT) as process:
        assert await process.names(tenant) == ["Renamed"]
        assert process.by_replica == [True]


async def test_a_server_of_its_own_is_not_taken_for_a_replica(
    database: Database, server: EmbeddedServer, tenant: Tenant
) -> None:
    async with reads(database, plain_url(server.service_url()), PATIENT) as process:
        assert not await process.is_standby(tenant)
        assert process.by_replica == [False]


async def test_work_that_turns_out_to_write_is_done_on_the_primary(
    database: Database, replica: Replica, tenant: Tenant
) -> None:
    async def work(session: AsyncSession) -> str | None:
        changed = text("UPDATE employers SET first_name = 'Changed' RETURNING first_name")
        return await session.scalar(changed)

    by_replica: list[bool] = []
    reader = ReadReplica(database, ReplicaSettings(replica.service_url, PATIENT), by_replica.append)
    assert await reader.read(tenant, work) == "Changed"
    assert by_replica == [False]
    await reader.dispose()


async def test_reports_of_the_api_are_read_from_the_replica(
    database: Database, owner_database: Database, replica: Replica, clock: FixedClock
) -> None:
    async with owner_database.transaction(None) as session:
        organization = await accounts.create_organization(session, clock, "Smith")
        key = await accounts.create_key(session, clock, organization, mode="live", scopes=SCOPES)
    app = create_app(database, clock, AppSettings(replica=ReplicaSettings(replica.service_url, PATIENT)))
    headers = {"Authorization": f"Bearer {key.text}"}
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://test/api/v1", headers=headers, timeout=60
    ) as client:
        ids = await hire(client)
        household = {"employer_id": ids["employer_id"]}
        for number in range(2):
            ran = await client.post("/payroll/run", json=week(ids, number))
            assert ran.status_code == 200, ran.text
            told = await client.get("/reports/state-wages", params={"state": "TX", "year": 2026, **household})
            gross = told.json()["data"]["totals"]["gross_wages"]
            assert gross == 1000 * (number + 1)
        span = {"from": date(2026, 1, 1).isoformat(), "to": date(2026, 12, 31).isoformat()}
        for path, query in (
            ("/reports/tax-liability", span),
            ("/tax-calendar", span),
            ("/reports/estimated-tax", {"year": 2026}),
        ):
            told = await client.get(path, params={**query, **household})
            assert told.status_code == 200, told.text
    counted = metrics_of(app).exposition().decode()
    assert 'hearthpay_report_reads_total{server="replica"} 5.0' in counted
    assert 'server="primary"' not in counted
    await app.state.runtime.replica.dispose()


async def test_a_replica_that_is_gone_is_not_missed(
    database: Database, server: EmbeddedServer, tenant: Tenant
) -> None:
    with streaming_replica(server) as own:
        async with reads(database, own.service_url, PATIENT) as process:
            assert await process.is_standby(tenant)
            own.stop()
            assert not await process.is_standby(tenant)
            assert process.by_replica == [True, False]


def test_settings_of_a_replica() -> None:
    url = "postgresql://payroll_service@replica.example.com/payroll"
    assert ReplicaSettings.of({}) is None
    assert ReplicaSettings.of({"DATABASE_REPLICA_URL": url}) == ReplicaSettings(url, 1.0)
    given = {"DATABASE_REPLICA_URL": url, "DATABASE_REPLICA_MAX_LAG": "0.25"}
    assert ReplicaSettings.of(given) == ReplicaSettings(url, 0.25)
    assert "replica.example.com" not in repr(ReplicaSettings(url))
    for seconds in ("-1", "61", "soon", "nan"):
        with pytest.raises(
            ReplicaSettingsError, match="DATABASE_REPLICA_MAX_LAG must be a number of seconds"
        ):
            ReplicaSettings.of(given | {"DATABASE_REPLICA_MAX_LAG": seconds})
    with pytest.raises(DatabaseAddressError):
        ReplicaSettings.of({"DATABASE_REPLICA_URL": "mysql://x/y"})
