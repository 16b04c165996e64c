"""The owner's connections, with the plans of their statements kept.

The doctor has a hundred checks, whose plans take several times as long to make as to run where tables are small. The
service's connections keep too few of them prepared.
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio
from sqlalchemy import event

from hearthpay.database.embedded import OWNER_ROLE, EmbeddedServer
from hearthpay.database.migrations import read
from hearthpay.database.session import Database

_PREPARED = 1_000
_OPTIONS = "options=-c%20plan_cache_mode%3Dforce_generic_plan&prepare_threshold=1"


@pytest_asyncio.fixture(scope="session")
async def owner_pool(server: EmbeddedServer) -> AsyncIterator[Database]:
    """The owner's connections, kept open through the run; tests ask for `owner_database`."""
    url = server.owner_url()
    with_plans = f"{url}{'&' if '?' in url else '?'}{_OPTIONS}"
    pool = Database(with_plans, role=OWNER_ROLE, seal=read(url).seal, pool_size=2)

    def keep_all(connection: Any, _: object) -> None:
        connection.driver_connection.prepared_max = _PREPARED

    event.listen(pool._engine.sync_engine, "connect", keep_all)
    yield pool
    await pool.dispose()
