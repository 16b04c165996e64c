"""The lookup of an API key's credential, remembered for a few seconds.

The lookup goes through the SQL function `authenticate_api_key`, the only way to see a key before its organization is
known. It compares SHA-256 hashes inside an index, so its duration reveals nothing about the key. The result is
remembered for five seconds, so a revoked key is refused, and a changed plan applies, at most five seconds later.

The last use of a key is recorded at most every quarter of an hour, outside of the requests.
"""

import asyncio
import datetime
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, NamedTuple, cast
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from hearthpay.access.plans import Terms, terms_of
from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.statements import column_list
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.security.api_keys import ApiKey, Mode, hash_of

REMEMBERED_FOR: Final = datetime.timedelta(seconds=5)
_NO_TIME: Final = datetime.timedelta(0)
NOTED_EVERY: Final = datetime.timedelta(minutes=15)
_REMEMBERED_AT_MOST: Final = 4096
_NOTED_AT_ONCE: Final = 2


class _LookupRow(NamedTuple):
    key_id: UUID
    organization_id: UUID
    employer_id: UUID | None
    mode: str
    scopes: list[str]
    employer_sandbox: bool | None
    plan: str
    lifted_limits: dict[str, int | None]
    expires_at: datetime.datetime | None
    confined: bool
    last_used_at: datetime.datetime | None


_LOOKUP: Final = query(
    _LookupRow,
    "SELECT {columns} FROM authenticate_api_key(:key_hash)",
    columns=column_list(_LookupRow._fields),
)
_NOTE_USE: Final = text("SELECT note_api_key_use(:key_hash, :used_at)")

_log = structlog.get_logger("hearthpay.http")


@dataclass(frozen=True, slots=True)
class Credential:
    """A key in force: whose it is, what it may do, the household it remembers, its organization's plan.

    `confined` keys reach only that household; from `expires_at` the key is no longer in force.
    """

    key_id: UUID
    organization_id: UUID
    mode: Mode
    scopes: frozenset[str]
    employer_id: UUID | None
    employer_sandbox: bool | None
    terms: Terms
    expires_at: datetime.datetime | None = None
    confined: bool = False


class KeyLookup:
    """Credentials by key, from the database or from a bounded short-lived memory."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._remembered: OrderedDict[bytes, tuple[datetime.datetime, Credential]] = OrderedDict()
        self._noting: set[asyncio.Task[None]] = set()

    def remembered(self, presented: str) -> Credential | None:
        """Return the credential of a key's text, if it was found in force a few seconds ago, and still is."""
        entry = self._remembered.get(hash_of(presented))
        if entry is None:
            return None
        now = self._clock.now()
        return _in_force(entry[1], now) if _is_recent(entry[0], now) else None

    async def find(self, key: ApiKey) -> Credential | None:
        """Return the credential of `key`; None if it was never issued, is revoked or has expired.

        Raises DatabaseUnavailable, and what `terms_of` raises.
        """
        key_hash = key.hash
        now = self._clock.now()
        entry = self._remembered.get(key_hash)
        if entry is not None and _is_recent(entry[0], now):
            return _in_force(entry[1], now)
        self._remembered.pop(key_hash, None)
        credential = _in_force(await self._look_up(key_hash, now), now)
        if credential is not None:
            self._remembered[key_hash] = (now, credential)
            while len(self._remembered) > _REMEMBERED_AT_MOST:
                self._remembered.popitem(last=False)
        return credential

    async def _look_up(self, key_hash: bytes, now: datetime.datetime) -> Credential | None:
        async with self._database.transaction(None) as session:
            row = await fetch_optional(session, _LOOKUP, {"key_hash": key_hash})
        if row is None:
            return None
        if row.last_used_at is None or now - row.last_used_at >= NOTED_EVERY:
            self._note_use(key_hash, now)
        return Credential(
            key_id=row.key_id,
            organization_id=row.organization_id,
            mode=cast(Mode, row.mode),
            scopes=frozenset(row.scopes),
            employer_id=row.employer_id,
            employer_sandbox=row.employer_sandbox,
            terms=terms_of(row.plan, row.lifted_limits),
            expires_at=row.expires_at,
            confined=row.confined,
        )

    def _note_use(self, key_hash: bytes, now: datetime.datetime) -> None:
        """Have the use recorded; if others are being recorded, a later lookup will do it."""
        if len(self._noting) >= _NOTED_AT_ONCE:
            return
        task = asyncio.create_task(self._write_use(key_hash, now))
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)

    async def _write_use(self, key_hash: bytes, now: datetime.datetime) -> None:
        try:
            async with self._database.transaction(None) as session:
                await session.execute(_NOTE_USE, {"key_hash": key_hash, "used_at": now})
        except (DatabaseUnavailable, SQLAlchemyError) as error:
            _log.warning("the use of a key was not noted", cause=type(error).__name__)

    async def settle(self) -> None:
        """Wait until pending uses are written."""
        await asyncio.gather(*self._noting)


def _is_recent(looked_up: datetime.datetime, now: datetime.datetime) -> bool:
    return _NO_TIME <= now - looked_up < REMEMBERED_FOR


def _in_force(credential: Credential | None, now: datetime.datetime) -> Credential | None:
    if credential is None or (credential.expires_at is not None and credential.expires_at <= now):
        return None
    return credential
