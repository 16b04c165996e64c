"""How files reach the bank and come back: one protocol, whatever lies between."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import re
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final, Protocol

LARGEST_FILE: Final = 64 * 2**20
"""Bytes that an incoming file may have; a year's returns of a large service are far below."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_UNFINISHED: Final = (".part", ".tmp", ".filepart", ".partial")


class GatewayError(Exception):
    """A file did not pass; the message names the file and no secret."""


class GatewayConflictError(GatewayError):
    """Another content has this name: one of the two files is wrong, and none is sent."""


class GatewayUnavailableError(GatewayError):
    """The way to the bank is closed for the moment: the same call may be made again later."""


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file that the bank has left for us."""

    name: str
    content: bytes = field(repr=False)


class BankGateway(Protocol):
    """A way to one bank. Every call may be repeated after a failure or a crash."""

    async def deliver(self, name: str, content: bytes) -> None:
        """Hand the file to the bank, whole or not at all, and once however often this is called.

        The same name with the same content again does nothing, even when the bank has taken the file away since.
        Raises GatewayConflictError where the name was used for another content, GatewayUnavailableError where the
        call should be made again, ValueError for a name that is no plain file name.
        """
        ...

    async def pick_up(self) -> list[IncomingFile]:
        """Return the files that wait, in the order of their names; they wait until they are acknowledged.

        A file whose name says that it is still being written is left alone.
        """
        ...

    async def acknowledge(self, name: str, content: bytes | None = None) -> None:
        """Put a file that has been taken in out of the way; a second time does nothing.

        With `content`, only while the file still holds it: raises GatewayConflictError where the bank has replaced
        the file since it was picked up. Raises GatewayError for a name that was never there.
        """
        ...


class Files(Protocol):
    """The few things a gateway does with files; paths are relative to its base and use slashes.

    A missing file raises FileNotFoundError, and any other failure a GatewayError.
    """

    async def prepare(self, directories: tuple[str, ...]) -> None:
        """Make the directories that are missing."""
        ...

    async def names(self, directory: str) -> list[str]:
        """Return the names of the plain files in a directory."""
        ...

    async def read(self, path: str) -> bytes:
        """Return a file's content."""
        ...

    async def write(self, path: str, content: bytes) -> None:
        """Write a new file and return when it would survive a loss of power."""
        ...

    async def claim(self, source: str, target: str) -> bool:
        """Give the file another name, in one step, unless that name is taken; tell whether it was free."""
        ...

    async def move(self, source: str, target: str) -> None:
        """Give the file another name in one step."""
        ...

    async def remove(self, path: str) -> None:
        """Remove a file; one that is gone already is well."""
        ...


class FileStore(Protocol):
    """Where the files are."""

    def session(self) -> AbstractAsyncContextManager[Files]:
        """Open the way to the files for one piece of work; raises GatewayError where that fails."""
        ...


@dataclass(frozen=True, slots=True)
class Directories:
    """Where files lie, relative to the gateway's base.

    The bank reads `outbox` and writes `inbox`. What has been taken in goes to `done`. `sent` is ours alone: files
    on their way out, and a receipt for every file that was ever delivered. All four must lie in one file system.
    """

    outbox: str = "outbox"
    inbox: str = "inbox"
    done: str = "done"
    sent: str = "sent"


class DirectoryGateway:
    """A gateway over directories that the bank shares with us.

    A delivery is a file written to `sent`, then a receipt that names it, then its move to `outbox`. The receipt
    can be made only once, and the file that it names can be moved only once; so the bank finds a whole file, once,
    wherever a process is killed and however many of them try.
    """

    def __init__(self, store: FileStore, directories: Directories = Directories()) -> None:
        self._store: Final = store
        self._directories: Final = directories

    async def deliver(self, name: str, content: bytes) -> None:
        """See `BankGateway.deliver`."""
        if _NAME.fullmatch(name) is None or name.endswith(_UNFINISHED):
            raise ValueError(f"{name!r} is no name for a bank file")
        digest = hashlib.sha256(content).hexdigest()
        async with self._session() as files:
            receipt = await _read(files, self._receipt(name)) or await self._stage(
                files, name, content, digest
            )
            known, staged = _parse_receipt(name, receipt)
            if known != digest:
                raise GatewayConflictError(f"{name} was delivered before with another content")
            await self._release(files, name, staged)

    async def pick_up(self) -> list[IncomingFile]:
        """See `BankGateway.pick_up`."""
        inbox = self._directories.inbox
        waiting = []
        async with self._session() as files:
            for name in sorted(await files.names(inbox)):
                content = await _read(files, f"{inbox}/{name}") if _is_finished(name) else None
                # None also where another process has acknowledged it since the names were listed.
                if content is not None:
                    waiting.append(IncomingFile(name, content))
        return waiting

    async def acknowledge(self, name: str, content: bytes | None = None) -> None:
        """See `BankGateway.acknowledge`."""
        if "/" in name or "\\" in name or not _is_finished(name):
            raise ValueError(f"{name!r} is no name of an incoming file")
        source = f"{self._directories.inbox}/{name}"
        async with self._session() as files:
            found = await _read(files, source)
            taken = await files.names(self._directories.done)
            if found is None:
                if name not in taken:
                    raise GatewayError(f"{name} is not among the incoming files")
                return
            if content is not None and found != content:
                raise GatewayConflictError(f"{name} has been replaced since it was picked up")
            with contextlib.suppress(FileNotFoundError):
                await files.move(source, f"{self._directories.done}/{_free_name(name, taken)}")

    @contextlib.asynccontextmanager
    async def _session(self) -> AsyncIterator[Files]:
        each = self._directories
        async with self._store.session() as files:
            await files.prepare((each.outbox, each.inbox, each.done, each.sent))
            yield files

    def _receipt(self, name: str) -> str:
        return f"{self._directories.sent}/{name}.receipt"

    async def _stage(self, files: Files, name: str, content: bytes, digest: str) -> bytes:
        """Lay the file ready and claim its receipt; return the receipt, whoever made it."""
        sent, attempt = self._directories.sent, uuid.uuid4().hex
        staged, draft = f"{name}.{attempt}.part", f"{sent}/{name}.{attempt}.draft"
        statement = f"{digest} {staged}\n".encode("ascii")
        if name not in await files.names(self._directories.outbox):
            await files.write(f"{sent}/{staged}", content)
            await files.write(draft, statement)
            with contextlib.suppress(FileNotFoundError):
                if await files.claim(draft, self._receipt(name)):
                    return statement
        # Another process was faster, and may have swept up after it: its file is the one that goes.
        receipt = await _read(files, self._receipt(name))
        if receipt is None:
            raise GatewayConflictError(f"{name} lies in the outbox, and was not delivered by this service")
        return receipt

    async def _release(self, files: Files, name: str, staged: str) -> None:
        """Move the staged file out, and sweep up what attempts that were cut off have left."""
        sent = self._directories.sent
        # Missing, it has gone out before: there is only one such file, and it moves only this way.
        with contextlib.suppress(FileNotFoundError):
            await files.move(f"{sent}/{staged}", f"{self._directories.outbox}/{name}")
        leftover = re.compile(rf"{re.escape(name)}\.[0-9a-f]{{32}}\.(?:part|draft)")
        for found in await files.names(sent):
            if leftover.fullmatch(found):
                await files.remove(f"{sent}/{found}")


async def _read(files: Files, path: str) -> bytes | None:
    try:
        return await files.read(path)
    except FileNotFoundError:
        return None


def _free_name(name: str, taken: list[str]) -> str:
    """Return the name, or the next free one where the bank has used a name again."""
    numbered = (f"{name}.{count}" for count in itertools.count(2))
    return name if name not in taken else next(free for free in numbered if free not in taken)


def _is_finished(name: str) -> bool:
    return not name.startswith(".") and not name.endswith(_UNFINISHED)


def _parse_receipt(name: str, content: bytes) -> tuple[str, str]:
    match = re.fullmatch(
        rf"([0-9a-f]{{64}}) ({re.escape(name)}\.[0-9a-f]{{32}}\.part)\n", content.decode("latin-1")
    )
    if match is None:
        raise GatewayError(f"the receipt of {name} is damaged: find out whether the bank has the file")
    return match[1], match[2]
