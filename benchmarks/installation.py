"""A throw-away installation: its own PostgreSQL in a temporary directory, an account and a key."""

import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from hearthpay.access.permissions import SCOPES
from hearthpay.accounts import service as accounts
from hearthpay.clock import SystemClock
from hearthpay.database.session import Database
from hearthpay.database.startup import Addresses, open_database
from hearthpay.security.tenant_seal import TenantSeal

#: Load comes from one key, and one household has everybody. A limit is kept: counting is part of every request.
_ROOM: Final = {"requests_per_day": 1_000_000_000, "employees_per_household": None}


@dataclass(frozen=True, slots=True)
class Installation:
    """`database` and `service_url` act as the service's role, `owner_url` as the owner of the tables."""

    database: Database
    service_url: str
    owner_url: str
    owner: str
    seal: TenantSeal
    organization_id: UUID
    key: str
    key_id: UUID


@asynccontextmanager
async def installation() -> AsyncIterator[Installation]:
    """Set up, and take down without a trace."""
    print("Starting a private PostgreSQL …", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-bench-"))
    try:
        async with open_database(folder, Addresses()) as opened:
            assert opened.embedded is not None
            clock = SystemClock()
            async with opened.as_operator() as operator, operator.transaction(None) as session:
                organization = await accounts.create_organization(session, clock, "Benchmark")
                await accounts.lift_limits(session, organization, _ROOM)
                key = await accounts.create_key(session, clock, organization, mode="live", scopes=SCOPES)
            yield Installation(
                database=opened.database,
                service_url=opened.embedded.service_url(),
                owner_url=opened.owner_url,
                owner=opened.installation.owner,
                seal=opened.installation.seal,
                organization_id=organization.id,
                key=key.text,
                key_id=key.id,
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
