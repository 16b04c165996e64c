"""Where an agent's answer may be sent: its own addresses, exactly, except for the port on the person's own machine.

RFC 8252 allows a program on the machine to listen on any free port (section 7.3); OAuth 2.1 compares everything else as
text. Anything that a browser would run instead of opening is refused. A host is spelled so that browsers read it as
we do: an address must lead where the page says.
"""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import SplitResult, urlsplit

_LONGEST: Final = 500
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_WEB: Final = ("http", "https")
_NEVER: Final = frozenset(
    {"javascript", "data", "vbscript", "file", "filesystem", "blob", "about", "view-source", "intent"}
    | {"ftp", "ws", "wss", "mailto", "tel", "sms"}
)
"""Schemes that a browser runs or shows itself, passes to whatever they name, or uses to send something."""
_HOST: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|[0-9a-f:.]*:[0-9a-f:.]*")


def refused_redirect(uri: str) -> str | None:
    """Return why an answer is never sent to this address; None if it may be."""
    parts = _split(uri)
    if parts is None or not parts.scheme or len(uri) > _LONGEST:
        return "is not an address"
    if not all(ord(" ") < ord(each) < ord("\x7f") and each != "\\" for each in uri):
        return "must be spelled in plain ASCII, without spaces and backslashes"
    if "#" in uri:
        return "must not have a fragment"
    if parts.scheme in _NEVER:
        return "is no place to send an answer to"
    if parts.username is not None or parts.password is not None:
        return "must not have a user name"
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        return "must use https, unless it is on the same machine"
    if parts.scheme in _WEB and not _HOST.fullmatch(parts.hostname or ""):
        return "must name a host"
    return None


def is_registered(uri: str, registered: Iterable[str]) -> bool:
    """Return whether the agent has registered this address; on the local machine, with any port."""
    return any(uri == each or _same_but_port(uri, each) for each in registered)


def place_of(uri: str) -> str:
    """Return where the answer goes: the host, or for a program on the person's machine the scheme that opens it.

    The part after such a scheme is up to the program, and may look like anybody's host.
    """
    parts = urlsplit(uri)
    return parts.hostname or "" if parts.scheme in _WEB else f"{parts.scheme}:"


def is_on_the_same_machine(uri: str) -> bool:
    """Return whether the answer stays on the person's machine: with a program that listens there, or that the scheme
    opens.
    """
    parts = urlsplit(uri)
    return parts.scheme not in _WEB or parts.hostname in _LOOPBACK


def source_of(uri: str) -> str:
    """Return the address as a content security policy names it."""
    parts = urlsplit(uri)
    if parts.scheme in _WEB:
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
