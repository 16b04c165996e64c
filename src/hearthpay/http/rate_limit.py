"""Rate limits: how many requests each API key may make per UTC day.

One process counts in its own memory. Several processes, or machines, share one count only through Redis or Valkey
(`RATE_LIMIT_URL`); without it each counts separately, and a key gets its limit from each of them.

While that server can't be reached the API continues: the processes count separately until it is back, and log it.
Households must be able to pay wages; a few extra requests do no harm.

The same server counts failed attempts (`http/shared_attempts.py`).
"""

import asyncio
import datetime
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar, cast
from urllib.parse import urlsplit
from uuid import UUID

import structlog

from hearthpay.clock import Clock

if TYPE_CHECKING:
    from limits.aio.storage import RedisStorage
    from limits.aio.storage.redis.valkey import ValkeyBridge
    from valkey.asyncio import Valkey

SCHEMES: Final = ("redis", "rediss", "redis+unix", "valkey", "valkeys", "valkey+unix")
"""What `RATE_LIMIT_URL` may begin with; the `s` is TLS, `+unix` a socket."""

RATE_LIMIT_KEY: Final = "hearthpay.rate_limit"
"""The ASGI scope key for the headers of an authenticated request's `Allowance`, read by the middleware."""

DAY_SECONDS: Final = 86_400
ANSWER_WITHIN: Final = 0.25
"""Timeout of a request for the shared count, in seconds; on one network it takes less than a millisecond."""
PAUSE_AFTER_FAILURE: Final = 5.0
"""Seconds before a server that failed is tried again, so that an outage doesn't slow every request down."""

_KEPT_SECONDS: Final = 2 * DAY_SECONDS  # a count's name holds its day, so keeping it longer does no harm
_Answer = TypeVar("_Answer")
_log = structlog.get_logger("hearthpay.rate_limit")


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a key has left after a request: of `limit` a day, which resets in `reset` seconds."""

    limit: int
    spent: int
    reset: int

    @property
    def exceeded(self) -> bool:
        """Whether this request was one too many."""
        return self.spent > self.limit

    @property
    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """The headers that inform the client; every authenticated response has them."""
        return (
            (b"ratelimit-limit", b"%d" % self.limit),
            (b"ratelimit-remaining", b"%d" % max(0, self.limit - self.spent)),
            (b"ratelimit-reset", b"%d" % self.reset),
        )


class SharedCounts:
    """Counts in Redis or Valkey, the same for every process that uses the same URL.

    `failures` are what the storage raises if its server can't be reached or refuses.
    """

    def __init__(self, storage: "RedisStorage", failures: tuple[type[Exception], ...]) -> None:
        self._storage = storage
        self._failures: tuple[type[Exception], ...] = (*failures, OSError)  # TimeoutError among them
        self._silent_until = 0.0

    async def increment(self, name: str) -> int | None:
        """Add one for `name`; return the new count, or None while the server can't be reached (logged)."""
        return await self._ask(lambda: self._storage.incr(name, _KEPT_SECONDS))

    async def run(self, script: str, names: Sequence[str], values: Sequence[str]) -> list[bytes] | None:
        """Run a Lua script with these keys and arguments, at once and alone; None as `increment`."""
        client = cast("Valkey", cast("ValkeyBridge", self._storage.bridge).get_connection())
        keys = [self._storage.bridge.prefixed_key(name) for name in names]
        return await self._ask(lambda: client.register_script(script)(keys, values))

    async def _ask(self, question: Callable[[], Awaitable[_Answer]]) -> _Answer | None:
        loop = asyncio.get_running_loop()
        if loop.time() < self._silent_until:
            return None
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                return await question()
        except self._failures as error:
            if loop.time() >= self._silent_until:  # of many requests that waited, one tells
                self._silent_until = loop.time() + PAUSE_AFTER_FAILURE
                _log.warning(
                    "rate limits are counted in this process: their server cannot be reached",
                    cause=str(error) or type(error).__name__,
                    next_try_in_seconds=PAUSE_AFTER_FAILURE,
                )
            return None


class RateLimits:
    """Counts each key's requests of the current UTC day."""

    def __init__(self, clock: Clock, shared: SharedCounts | None = None) -> None:
        self._clock = clock
        self.shared: Final = shared
        self._day: datetime.date | None = None
        # The memory storage of the library `limits` walks through all its keys on every hit: with 20,000
        # keys, two milliseconds each. A calendar day needs only a counter that is emptied at midnight.
        self._counts: Counter[UUID] = Counter()

    async def spend(self, key_id: UUID, limit: int | None) -> Allowance | None:
        """Count one request of the key against `limit` a day; None if it has no limit."""
        if limit is None:
            return None
        now = self._clock.now()
        today = now.date()
        shared = None if self.shared is None else await self.shared.increment(f"{today}/{key_id}")
        if today != self._day:
            self._day = today
            self._counts.clear()
        # The shared count is recorded here too: if its server fails, this process continues from it.
        spent = self._counts[key_id] + 1 if shared is None else shared
        self._counts[key_id] = spent
        return Allowance(limit, spent, DAY_SECONDS - (now.hour * 3600 + now.minute * 60 + now.second))


def rate_limits(clock: Clock, url: str | None = None) -> RateLimits:
    """Return rate limits counted at `url` (`redis://…`, `valkey://…`; None: in this process's memory).

    Nothing is connected yet. Raises ValueError, without repeating the URL and its password, for one that can't reach
    a server, or if the optional dependencies `hearthpay[redis]` are not installed.
    """
    if url is None:
        return RateLimits(clock)
    if url.partition("://")[0] not in SCHEMES:
        raise ValueError(
            f"RATE_LIMIT_URL must begin with one of {', '.join(f'{known}://' for known in SCHEMES)}"
        )
    try:
        from limits.aio.storage import RedisStorage
        from limits.errors import ConfigurationError, StorageError
        from valkey.exceptions import ValkeyError
    except ImportError:
        raise ValueError("RATE_LIMIT_URL needs more packages: pip install 'hearthpay[redis]'") from None
    try:
        address = urlsplit(url)
        if not (address.path if address.scheme.endswith("+unix") else address.port):
            raise ValueError("it would be taken for a server on this machine")
        # One client supports both kinds of server.
        storage = RedisStorage(
            f"async+{url}", wrap_exceptions=True, implementation="valkey", key_prefix="hearthpay"
        )
    except (ConfigurationError, ValueError):
        raise ValueError(
            "RATE_LIMIT_URL needs a host with a port, or the path of a socket, such as redis://host:6379/0"
        ) from None
    return RateLimits(clock, SharedCounts(storage, (StorageError, ValkeyError)))
