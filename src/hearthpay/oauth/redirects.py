"""Where an agent's answer may be sent: its own addresses, exactly, but for the port on the person's own machine.

RFC 8252 lets a program on the machine listen on whatever port is free (section 7.3); OAuth 2.1 compares everything
else as text. What a browser would run instead of opening is no address.
"""

from collections.abc import Iterable
from typing import Final
from urllib.parse import SplitResult, urlsplit

_LONGEST: Final = 500
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_NEVER: Final = frozenset({"javascript", "data", "vbscript", "file", "blob", "about", "ftp", "ws", "wss"})


def refused_redirect(uri: str) -> str | None:
    """Return why an answer is never sent to this address; None where it may be."""
    parts = _split(uri)
    if parts is None or not parts.scheme:
        return "is not an address"
    if len(uri) > _LONGEST or any(ord(each) <= ord(" ") or ord(each) == 127 for each in uri):
        return "is not an address"
    if "#" in uri:
        return "must not have a fragment"
    if parts.scheme in _NEVER:
        return "is no place to send an answer to"
    if parts.username is not None or parts.password is not None:
        return "must not have a user name"
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        return "must use https, unless it is on the same machine"
    if parts.scheme in ("http", "https") and not parts.hostname:
        return "must name a host"
    return None


def is_registered(uri: str, registered: Iterable[str]) -> bool:
    """Return whether the agent has told this address; on the machine itself, any port of it."""
    return any(uri == each or _same_but_port(uri, each) for each in registered)


def place_of(uri: str) -> str:
    """Return what a person is told of where the answer goes: the host, or the program on her machine."""
    parts = urlsplit(uri)
    return parts.hostname or f"{parts.scheme}:"


def source_of(uri: str) -> str:
    """Return how a content policy names the address."""
    parts = urlsplit(uri)
    if parts.scheme in ("http", "https"):
        return f"{parts.scheme}://{parts.netloc}"
    return f"{parts.scheme}:"


def _same_but_port(uri: str, registered: str) -> bool:
    ours, theirs = _split(uri), _split(registered)
    if ours is None or theirs is None or theirs.scheme != "http" or theirs.hostname not in _LOOPBACK:
        return False
    return (ours.scheme, ours.hostname, ours.path, ours.query) == (
        theirs.scheme,
        theirs.hostname,
        theirs.path,
        theirs.query,
    ) and ours.username is None


def _split(uri: str) -> SplitResult | None:
    try:
        parts = urlsplit(uri)
        parts.port  # noqa: B018 - it is read only when asked for
    except ValueError:
        return None
    return parts
