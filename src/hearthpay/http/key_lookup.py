"""Finding the credential of an API key, remembered for a few seconds.

The lookup goes through the SQL function `authenticate_api_key`, the only way to see a key before its
organization is known. It compares SHA-256 hashes inside an index: how long that takes tells nothing about the
key. What it found is remembered for five seconds, so a revoked key is refused, and
a changed plan holds, five seconds later at the latest.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, cast
from uuid import UUID

from sqlalchemy import text

from hearthpay.clock import Clock
from hearthpay.database.session import Database
from hearthpay.http.plans import Terms, terms_of
from hearthpay.security.api_keys import ApiKey, Mode

REMEMBERED_FOR: Final = timedelta(seconds=5)
_REMEMBERED_AT_MOST: Final = 4096
_LOOKUP: Final = text("SELECT * FROM authenticate_api_key(:key_hash)")


@dataclass(frozen=True, slots=True)
class Credential:
    """A key that is in force: whose it is, what it may do, the household it remembers, its organization's plan."""

    key_id: UUID
    organization_id: UUID
    mode: Mode
    scopes: frozenset[str]
    employer_id: UUID | None
    employer_sandbox: bool | None
    terms: Terms


class KeyLookup:
    """Credentials by key, from the database or from a bounded short-lived memory."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._remembered: OrderedDict[bytes, tuple[datetime, Credential]] = OrderedDict()

    async def find(self, key: ApiKey) -> Credential | None:
        """The credential of `key`; None where it was never issued or is revoked.

        Raises DatabaseUnavailable, and what `terms_of` raises.
        """
        key_hash = key.hash
        now = self._clock.now()
        entry = self._remembered.get(key_hash)
        if entry is not None and timedelta(0) <= now - entry[0] < REMEMBERED_FOR:
            return entry[1]
        self._remembered.pop(key_hash, None)
        credential = await self._look_up(key_hash)
        if credential is not None:
            self._remembered[key_hash] = (now, credential)
            while len(self._remembered) > _REMEMBERED_AT_MOST:
                self._remembered.popitem(last=False)
        return credential

    async def _look_up(self, key_hash: bytes) -> Credential | None:
        async with self._database.transaction(None) as session:
            row = (await session.execute(_LOOKUP, {"key_hash": key_hash})).one_or_none()
        if row is None:
            return None
        return Credential(
            key_id=row.key_id,
            organization_id=row.organization_id,
            mode=cast(Mode, row.mode),
            scopes=frozenset(row.scopes),
            employer_id=row.employer_id,
            employer_sandbox=row.employer_sandbox,
            terms=terms_of(row.plan, row.lifted_limits),
        )
