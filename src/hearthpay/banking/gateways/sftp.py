"""A bank gateway over SFTP, which most banks use; the server must prove its identity."""

from __future__ import annotations

import contextlib
import posixpath
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, cast

import asyncssh

from hearthpay.banking.gateways.gateway import (
    LARGEST_FILE,
    Directories,
    DirectoryGateway,
    GatewayError,
    GatewayFileError,
    GatewayUnavailableError,
    ListedFile,
    printable,
)

DEFAULT_PORT: Final = 22
_TIMEOUT_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class SftpServer:
    """The bank's server and the login: by `key` (a private key's file), by `password`, or both.

    `known_hosts` is the file with the server's public key, in OpenSSH's format. None trusts any server, for tests on
    this machine only.
    """

    host: str
    user: str
    known_hosts: Path | None
    port: int = DEFAULT_PORT
    base: str = "."
    key: Path | None = None
    key_passphrase: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)


class SftpFiles:
    """Files in one directory of an SFTP server, over one open connection."""

    def __init__(self, sftp: asyncssh.SFTPClient, server: SftpServer) -> None:
        self._sftp: Final = sftp
        self._server: Final = server

    async def prepare(self, directories: tuple[str, ...]) -> None:
        """Create the missing directories; for one that is there, asking so is one request in place of four."""
        with _translated(self._server):
            for directory in directories:
                if not await self._sftp.isdir(self._path(directory)):
                    await self._sftp.makedirs(self._path(directory), exist_ok=True)

    async def names(self, directory: str) -> list[str]:
        """Return the names of the plain files in a directory."""
        with _translated(self._server):
            return [name for name, kind in await self._entries(directory) if kind == "file"]

    async def listing(self, directory: str) -> list[ListedFile]:
        """Return everything in a directory; a link counts as one only if it leads to a file."""
        with _translated(self._server):
            found = []
            for name, kind in await self._entries(directory):
                lost = kind == "link" and not await self._leads_to_file(f"{directory}/{name}")
                found.append(ListedFile(name, "other" if lost else kind))
            return found

    async def _leads_to_file(self, path: str) -> bool:
        try:
            return await self._sftp.isfile(self._path(path))
        except (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection):
            raise
        except asyncssh.SFTPError:  # a link to itself, for example
            return False

    async def _entries(self, directory: str) -> list[tuple[str, Literal["file", "link", "other"]]]:
        # Asked in bytes, as the answer is: a name needs not be UTF-8.
        entries = await self._sftp.readdir(self._path(directory))
        named = [(cast("bytes", each.filename).decode("utf-8", "surrogateescape"), each) for each in entries]
        return [(name, _kind_of(each.attrs)) for name, each in named if name not in (".", "..")]

    async def read(self, path: str) -> bytes:
        """Return a file's content."""
        with _translated(self._server):
            try:
                async with self._sftp.open(self._path(path), "rb") as file:
                    content = cast("bytes", await file.read(LARGEST_FILE + 1))
            except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection):
                raise
            except asyncssh.SFTPError as error:
                raise GatewayFileError(f"it cannot be read: {error.reason}") from error
        if len(content) > LARGEST_FILE:
            raise GatewayFileError(f"it is larger than {LARGEST_FILE} bytes")
        return content

    async def write(self, path: str, content: bytes) -> None:
        """Write a new file; it is flushed to the server's disk if the server supports that."""
        with _translated(self._server):
            async with self._sftp.open(self._path(path), "xb") as file:
                await file.write(content)
                with contextlib.suppress(asyncssh.SFTPOpUnsupported):
                    await file.fsync()

    async def claim(self, source: str, target: str) -> bool:
        """Rename unless the name is taken: the plain rename of SFTP 3 never replaces a file."""
        with _translated(self._server):
            try:
                await self._sftp.rename(self._path(source), self._path(target))
            except (asyncssh.SFTPFileAlreadyExists, asyncssh.SFTPFailure):
                if await self._sftp.exists(self._path(target)):
                    return False
                raise
            return True

    async def move(self, source: str, target: str) -> None:
        """Rename in one step; by the plain rename if the server has no other."""
        with _translated(self._server):
            try:
                await self._sftp.posix_rename(self._path(source), self._path(target))
            except asyncssh.SFTPOpUnsupported:
                await self._move_plainly(self._path(source), self._path(target))

    async def _move_plainly(self, source: bytes, target: bytes) -> None:
        try:
            await self._sftp.rename(source, target)
        except (asyncssh.SFTPFileAlreadyExists, asyncssh.SFTPFailure):
            # Servers check the target first: an existing one doesn't mean that there was a source.
            if await self._sftp.exists(source):
                raise
            raise asyncssh.SFTPNoSuchFile(printable(source.decode("utf-8", "surrogateescape"))) from None

    async def remove(self, path: str) -> None:
        """Remove a file if it exists."""
        with _translated(self._server), contextlib.suppress(asyncssh.SFTPNoSuchFile):
            await self._sftp.remove(self._path(path))

    def _path(self, path: str) -> bytes:
        return posixpath.join(self._server.base, path).encode("utf-8", "surrogateescape")


class SftpStore:
    """The bank's server; each piece of work logs in again, since bank sessions don't last."""

    def __init__(self, server: SftpServer) -> None:
        if server.key is None and server.password is None:
            raise ValueError("an SFTP gateway needs a key or a password")
        self._server: Final = server

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[SftpFiles]:
        """Log in, after the server has proved its identity."""
        async with contextlib.AsyncExitStack() as stack:
            with _translated(self._server):
                connection = await stack.enter_async_context(_connect(self._server))
                sftp = await stack.enter_async_context(connection.start_sftp_client())
            yield SftpFiles(sftp, self._server)


@contextlib.contextmanager
def _translated(server: SftpServer) -> Iterator[None]:
    try:
        yield
    except asyncssh.SFTPNoSuchFile as error:
        raise FileNotFoundError(error.reason) from error
    except asyncssh.HostKeyNotVerifiable as error:
        raise GatewayError(f"{server.host} did not prove to be the bank's server: {error.reason}") from error
    except asyncssh.PermissionDenied as error:
        raise GatewayError(f"{server.host} did not let {server.user} in") from error
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        raise GatewayError(f"the key for {server.host} cannot be read: {error}") from error
    except (asyncssh.Error, OSError) as error:
        raise GatewayUnavailableError(f"{server.host} could not be used: {error}") from error


def _kind_of(attrs: asyncssh.SFTPAttrs) -> Literal["file", "link", "other"]:
    if attrs.permissions is None or stat.S_ISREG(attrs.permissions):
        return "file"
    return "link" if stat.S_ISLNK(attrs.permissions) else "other"


def _connect(server: SftpServer) -> AbstractAsyncContextManager[asyncssh.SSHClientConnection]:
    """Use only what is stated here: no agent, key or configuration of this account."""
    return asyncssh.connect(
        server.host,
        server.port,
        config=None,
        agent_path=None,
        username=server.user,
        client_keys=[str(server.key)] if server.key else None,
        passphrase=server.key_passphrase,
        password=server.password,
        known_hosts=str(server.known_hosts) if server.known_hosts else None,
        connect_timeout=_TIMEOUT_SECONDS,
        login_timeout=_TIMEOUT_SECONDS,
        keepalive_interval=_TIMEOUT_SECONDS,
    )


def sftp_gateway(server: SftpServer, directories: Directories = Directories()) -> DirectoryGateway:  # noqa: B008
    """Return a gateway to the bank's server; raises ValueError without a key and a password."""
    return DirectoryGateway(SftpStore(server), directories)
