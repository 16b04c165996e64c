"""Connection limits: how many connections may be open, which one is closed for a new one, and what was cut.

A connection costs a file descriptor. When these run out nobody can connect any more, not even a health check. So
there are never more connections than descriptors, and the longest silent connection makes room for a new one.
"""

import asyncio
import functools
import ipaddress
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import structlog

from hearthpay.http.metrics import CutReason, Metrics

CONNECTIONS_VARIABLE: Final = "HEARTHPAY_MAX_CONNECTIONS"
PER_ADDRESS_VARIABLE: Final = "HEARTHPAY_MAX_CONNECTIONS_PER_ADDRESS"
PROXIES_VARIABLE: Final = "HEARTHPAY_TRUSTED_PROXIES"

_MOST_DESCRIPTORS: Final = 65_536
_LONGEST_QUEUE: Final = 2_048
_TELL_EVERY: Final = 10.0  # seconds; a flood of cut connections is one log line, not thousands
_LOOK_EVERY: Final = 0.25  # of the time an answer may wait to be read
_SHARED_PREFIX: Final = 64  # bits of an IPv6 address: one subscriber has all addresses below them

_log = structlog.get_logger("hearthpay.http")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections may be open at once, in total and from one address.

    The second number doesn't apply to `proxies`, through which many clients come; they are also trusted about who a
    request comes from (`X-Forwarded-For`, `X-Forwarded-Proto`).
    """

    total: int = 4_000
    per_address: int = 200
    proxies: tuple[Network, ...] = (
        ipaddress.IPv4Network("127.0.0.1/32"),
        ipaddress.IPv6Network("::1/128"),
    )
    plain: bool = False
    """Whether connections are uvicorn's own, which keep `total`, by refusing, and no limit per address."""


def connection_limits(environment: Mapping[str, str]) -> ConnectionLimits:
    """Return the limits that the settings name; raises ValueError for an invalid one."""
    usual = ConnectionLimits()
    return ConnectionLimits(
        _number(environment, CONNECTIONS_VARIABLE, usual.total),
        _number(environment, PER_ADDRESS_VARIABLE, usual.per_address),
        _networks(environment.get(PROXIES_VARIABLE, "")) or usual.proxies,
    )


def _number(environment: Mapping[str, str], variable: str, usual: int) -> int:
    text = environment.get(variable, "").strip() or str(usual)
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 1_000_000):
        raise ValueError(f"{variable} must be a whole number from 1 to 1000000, not {text!r}")
    return int(text)


def _networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise ValueError(
            f"{PROXIES_VARIABLE} must list addresses or networks such as 10.0.0.5,10.1.0.0/16: {error}"
        ) from None


def raise_descriptor_limit() -> int | None:
    """Raise this process's limit of open files as far as allowed; return the limit, None if there is none."""
    if sys.platform == "win32":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    requested = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= requested:
        return soft if soft != resource.RLIM_INFINITY else None
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (requested, hard))
    except (ValueError, OSError):  # macOS names a hard limit that it does not grant
        return soft
    return requested


def room_within(limits: ConnectionLimits, descriptors: int | None) -> int:
    """Return how many connections there is room for: the limit, or less if the process may not open that many files."""
    if descriptors is None:
        return limits.total
    own = descriptors // 8  # the database's connections, files, the listening socket
    return max(1, min(limits.total, descriptors - own - queue_within(descriptors)))


def queue_within(descriptors: int | None) -> int:
    """Return how many connections may wait to be accepted.

    All waiting connections are accepted at once, before the limiter sees the first of them, so there must be
    descriptors for all. If the queue is too short, the system drops new connections, and their clients try again a
    second later.
    """
    return _LONGEST_QUEUE if descriptors is None else min(_LONGEST_QUEUE, descriptors // 4)


class LimitedConnection(Protocol):
    """A connection, as the limiter sees it."""

    def unsent(self) -> int:
        """Return how many bytes are waiting for the client to read them."""

    def cut(self) -> None:
        """End the connection at once, whatever is still to be sent."""


class ConnectionLimiter:
    """Counts the connections of one server; not shared between event loops."""

    def __init__(
        self,
        limits: ConnectionLimits = ConnectionLimits(),
        *,
        descriptors: int | None = None,
        read_within: float = 30.0,
        metrics: Metrics | None = None,
    ) -> None:
        """Enforce `limits` with at most `descriptors` open files; a response must be read in `read_within` seconds."""
        self._room = room_within(limits, descriptors)
        self._per_address = limits.per_address
        self._read_within = read_within
        self._metrics = metrics
        self._inside: dict[LimitedConnection, str | None] = {}
        self._silent: dict[LimitedConnection, None] = {}  # in the order in which they fell silent
        self._of_address: Counter[str] = Counter()
        self._unread_since: dict[LimitedConnection, float] = {}
        self._looking: asyncio.TimerHandle | None = None
        self._untold: Counter[CutReason] = Counter()
        self._telling: asyncio.TimerHandle | None = None
        self._counted_as = functools.lru_cache(4_096)(functools.partial(_counted_as, limits.proxies))

    def enter(self, visitor: LimitedConnection, host: str | None) -> bool:
        """Admit a connection; if there is no room, close the longest silent one for it.

        False if it can't be admitted: its address has too many, or all others are active.
        """
        address = None if host is None else self._counted_as(host)
        if address is not None and self._of_address[address] >= self._per_address:
            self.note("address")
            return False
        if len(self._inside) >= self._room:
            self.note("full")
            longest = next(iter(self._silent), None)
            if longest is None:
                return False
            self.leave(longest)
            longest.cut()
        self._inside[visitor] = address
        self._silent[visitor] = None
        if address is not None:
            self._of_address[address] += 1
        if self._looking is None:
            self._look_again()
        return True

    def leave(self, visitor: LimitedConnection) -> None:
        """Remove a connection; removing it again does nothing."""
        if visitor not in self._inside:
            return
        address = self._inside.pop(visitor)
        self._silent.pop(visitor, None)
        self._unread_since.pop(visitor, None)
        if address is not None:
            self._of_address[address] -= 1
            if not self._of_address[address]:
                del self._of_address[address]

    def at_work(self, visitor: LimitedConnection) -> None:
        """Record that a request of the connection has arrived."""
        self._silent.pop(visitor, None)

    def silent(self, visitor: LimitedConnection) -> None:
        """Record that the connection's requests are answered; from now on it can be closed to make room."""
        if visitor in self._inside:
            self._silent[visitor] = None

    def note(self, reason: CutReason) -> None:
        """Count a connection that is cut, and soon log all of them together."""
        if self._metrics is not None:
            self._metrics.count_cut(reason)
        self._untold[reason] += 1
        if self._telling is None:
            self._log_cut_connections()
            self._telling = asyncio.get_running_loop().call_later(_TELL_EVERY, self._tell_again)

    def _log_cut_connections(self) -> None:
        _log.warning("connections cut", open=len(self._inside), reasons=dict(self._untold))
        self._untold.clear()

    def _tell_again(self) -> None:
        self._telling = None
        if self._untold:
            self._log_cut_connections()
            self._telling = asyncio.get_running_loop().call_later(_TELL_EVERY, self._tell_again)

    def _look_again(self) -> None:
        pause = self._read_within * _LOOK_EVERY
        self._looking = asyncio.get_running_loop().call_later(pause, self._look)

    def _look(self) -> None:
        """Cut connections with unread data, open or closing: a closed one lives until all is sent."""
        now = asyncio.get_running_loop().time()
        for visitor in list(self._inside):
            if not visitor.unsent():
                self._unread_since.pop(visitor, None)
            elif now - self._unread_since.setdefault(visitor, now) >= self._read_within:
                self.note("unread")
                self.leave(visitor)
                visitor.cut()
        if self._inside:
            self._look_again()
        else:
            self._looking = None


def _counted_as(proxies: tuple[Network, ...], host: str) -> str | None:
    """Return the name under which a client's connections are counted; None for a proxy's, and without an address."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if any(address in network for network in proxies):
        return None
    return shared_by(address)


def network_of(host: str) -> str:
    """Return the address range of the subscriber at an address, as text; for anything else, its beginning."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host[:64]
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return shared_by(address)


def shared_by(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """Return the address range of one subscriber: an IPv4 address, or the 64-bit network of an IPv6 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.IPv6Network((address, _SHARED_PREFIX), strict=False))
