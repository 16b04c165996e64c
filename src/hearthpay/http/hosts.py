"""Which hosts a request may name: the installation's own, this machine's, and names of a private network.

If HEARTHPAY_PUBLIC_URL is set, `KnownHosts` answers only to that host and this machine, so no link and no cached
response can be made for a stranger's name. Without it the service can't know its name; what others keep or follow
(`oauth` metadata) is then made only for this machine and private names.
"""

import functools
import ipaddress
import re
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from hearthpay.access.refusal import Refusal
from hearthpay.http.errors import error_response
from hearthpay.http.runtime import runtime_of
from hearthpay.http.statuses import HttpRefusal

_MISDIRECTED: Final = 421
"""RFC 9110, section 15.5.20."""

_PROBES: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""What an orchestrator requests by the machine's address in its own network; none of these responses names a host."""

_USUAL_PORTS: Final = (None, 80, 443)
_HOST: Final = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?", re.ASCII)
_LONGEST_ADDRESS: Final = 45  # an IPv6 address whose end is written as IPv4
_PRIVATE_ENDS: Final = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
"""RFC 6761, RFC 6762, RFC 8375, ICANN's resolution 2024.07.29.06; home routers use `.lan`."""

_PRIVATE_NETWORKS: Final = tuple(
    ipaddress.ip_network(each)
    for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10")
)
"""RFC 1918, RFC 3927, RFC 4193, RFC 4291."""


class HostName(NamedTuple):
    """A host as a request or an address names it: in lower case, without brackets and without the trailing dot."""

    name: str
    port: int | None

    @property
    def address(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        """The name as an IP address; an IPv4 address written as IPv6 counts as IPv4."""
        return _address_of(self.name) if len(self.name) <= _LONGEST_ADDRESS else None

    @property
    def is_loopback(self) -> bool:
        """Whether it is this machine."""
        return self.name == "localhost" if self.address is None else self.address.is_loopback

    @property
    def is_private(self) -> bool:
        """Whether it belongs to a private network: a private address, or a name that no public zone has."""
        if self.address is not None:
            return any(self.address in network for network in _PRIVATE_NETWORKS)
        return "." not in self.name or self.name.endswith(_PRIVATE_ENDS)

    def is_of(self, own: "HostName") -> bool:
        """Return whether it is the same host as our own, by its port or one that a proxy takes for the default."""
        return self.name == own.name and self.port in (own.port, *_USUAL_PORTS)


@functools.lru_cache(maxsize=1_024)
def _address_of(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(name)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def place_of_host(header: str) -> HostName | None:
    """Return the host that a `Host` header names; None if it isn't a host."""
    found = _HOST.fullmatch(header.lower())
    if found is None:
        return None
    name, port = found["name"], None if found["port"] is None else int(found["port"])
    if name.startswith("["):
        place = HostName(name[1:-1], port)
        return place if place.address is not None else None
    place = HostName(name.removesuffix("."), port)
    if place.address is None and (not all(place.name.split(".")) or _ends_in_number(place.name)):
        return None
    return place


def place_of_address(address: str) -> HostName | None:
    """Return the host of a web address; None if there is none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    return place_of_host(parts.netloc)


def is_known_host(request: Request) -> bool:
    """Return whether the request's single `Host` is one that the service creates addresses for, or this machine.

    With HEARTHPAY_PUBLIC_URL that is its host and this machine; without it, this machine and private names.
    """
    place = _requested_host(request)
    if place is None:
        return False
    public = runtime_of(request).public_url
    if place.is_loopback:
        return True
    if public is None:
        return place.is_private
    own = place_of_address(public)
    return own is not None and place.is_of(own)


class KnownHosts:
    """ASGI middleware: requests for foreign hosts get 421. Used only if the installation's address is known."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "http":
            request = Request(scope, receive, send)
            if not (is_known_host(request) or _is_probe(request)):
                await error_response(request, misdirected())(scope, receive, send)
                return
        await self.app(scope, receive, send)


def misdirected() -> Refusal:
    """Return the refusal of a request that names a foreign host (421)."""
    return HttpRefusal(
        "invalid_state",
        "This is not the address of the service. Use the one that HEARTHPAY_PUBLIC_URL names, or localhost.",
        status=_MISDIRECTED,
    )


def _requested_host(request: Request) -> HostName | None:
    hosts = request.headers.getlist("host")
    return place_of_host(hosts[0]) if len(hosts) == 1 else None


def _is_probe(request: Request) -> bool:
    place = _requested_host(request)
    return (
        request.scope["path"] in _PROBES
        and place is not None
        and place.address is not None
        and place.is_private
    )


def _ends_in_number(name: str) -> bool:
    """Return whether browsers treat a name as an IPv4 address, however it is written (the URL standard)."""
    last = name.rsplit(".", 1)[-1]
    return last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last) is not None
