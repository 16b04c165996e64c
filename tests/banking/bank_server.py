"""A bank's SFTP server on this machine: asyncssh's own, which can lose its connections at a chosen request."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncssh

USER = "household"
PASSWORD = "correct horse"
_REQUESTS = (
    "mkdir",
    "open",
    "write",
    "fsync",
    "close",
    "rename",
    "posix_rename",
    "remove",
    "stat",
    "scandir",
)


@dataclass
class Fault:
    """Where the server fails: at the request of this number, before it is carried out or right after."""

    at: int | None = None
    after: bool = False
    posix_rename: bool = True
    locked: str | None = None
    requests: list[str] = field(default_factory=list)

    def strikes(self, request: str) -> bool:
        self.requests.append(request)
        return len(self.requests) - 1 == self.at


class BankFiles(asyncssh.SFTPServer):
    """The files of one session, below the server's directory."""

    def __init__(self, chan: asyncssh.SSHServerChannel[bytes], root: Path, fault: Fault) -> None:
        super().__init__(chan, chroot=str(root).encode())
        self._fault = fault
        self._lost = chan.get_connection().abort

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return self._failing(name, found) if name in _REQUESTS else found

    def _failing(self, name: str, request: Callable[..., Any]) -> Callable[..., Any]:
        def carry_out(*values: Any) -> Any:
            strikes = self._fault.strikes(name)
            if strikes and not self._fault.after:
                self._lost()
                raise asyncssh.SFTPConnectionLost("struck")
            if name == "open" and self._fault.locked and self._fault.locked.encode() in values[0]:
                raise asyncssh.SFTPPermissionDenied("not for you")
            if name == "posix_rename" and not self._fault.posix_rename:
                raise asyncssh.SFTPOpUnsupported("only the plain rename")
            answer = request(*values)
            if strikes:
                self._lost()
            return answer

        return carry_out


class Door(asyncssh.SSHServer):
    """Lets the household in by password; a key is checked against the authorized ones."""

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, PASSWORD)


@dataclass
class Bank:
    """A running server, and what a client needs."""

    root: Path
    port: int
    known_hosts: Path
    key: Path
    fault: Fault


@contextlib.asynccontextmanager
async def running_bank(home: Path, passphrase: str | None = None) -> AsyncIterator[Bank]:
    """Run the server on a free port of the loopback, with new keys in `home`."""
    root = home / "bank"
    root.mkdir()
    host_key = asyncssh.generate_private_key("ssh-ed25519")
    user_key = asyncssh.generate_private_key("ssh-ed25519")
    with warnings.catch_warnings(action="ignore"):  # few rounds are enough for a key that nobody attacks
        user_key.write_private_key(home / "key", passphrase=passphrase, rounds=4)
    user_key.write_public_key(home / "authorized")
    fault = Fault()
    server = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_factory=Door,
        server_host_keys=[host_key],
        authorized_client_keys=str(home / "authorized"),
        sftp_factory=lambda chan: BankFiles(chan, root, fault),
        encryption_algs=["aes128-gcm@openssh.com"],  # one call a packet, where the usual one takes four
    )
    known = home / "known_hosts"
    known.write_text(f"[127.0.0.1]:{server.get_port()} {host_key.export_public_key().decode()}")
    try:
        yield Bank(root, server.get_port(), known, home / "key", fault)
    finally:
        server.close()
        await server.wait_closed()
