"""Exchanging files with the bank: one protocol for every transport."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import re
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, Literal, Protocol

LARGEST_FILE: Final = 64 * 2**20
"""The largest incoming file, in bytes; a year's returns of a large service are far smaller."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_LONGEST_SHOWN: Final = 120
_LONGEST_KEPT: Final = 200
_UNFINISHED: Final = (".part", ".tmp", ".filepart", ".partial")


class GatewayError(Exception):
    """A file wasn't transferred; the message names the file and no secret."""


class GatewayConflictError(GatewayError):
    """This name has other content: one of the two files is wrong, and neither is sent."""


class GatewayUnavailableError(GatewayError):
    """The bank can't be reached at the moment; the same call may be repeated later."""


class GatewayFileError(GatewayError):
    """This file can't be read, while others can; the message says why, without its name."""


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file that the bank has left for us.

    `name` is as it stands there, bytes that are no UTF-8 as lone surrogates. `problem`: why it couldn't be opened;
    it has no content then.
    """

    name: str
    content: bytes = field(repr=False)
    problem: str | None = None

    @property
    def printable_name(self) -> str:
        """The name to show and to store: no two names have the same."""
        return printable(self.name)


@dataclass(frozen=True, slots=True)
class PickedUp:
    """What lies in the inbox: the files to read, and in words what else lies there and holds nothing.

    `unfinished`: the printable names of files that are still being written.
    """

    files: tuple[IncomingFile, ...] = ()
    others: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A name in a directory: a plain file, a link that leads to one, or something else."""

    name: str
    kind: Literal["file", "link", "other"]


class BankGateway(Protocol):
    """A connection to one bank. Every call may be repeated after a failure or a crash."""

    async def deliver(self, name: str, content: bytes) -> None:
        """Deliver the file to the bank, completely or not at all, and once however often this is called.

        Repeating it with the same name and content does nothing, even after the bank has removed the file. Raises
        GatewayConflictError if the name was used for other content, GatewayUnavailableError if the call should be
        repeated, ValueError for a name that isn't a plain file name.
        """
        ...

    async def pick_up(self) -> PickedUp:
        """Return what lies in the inbox, by name; it stays until it is acknowledged.

        A file that can't be opened is returned with its problem, and keeps no other from being read. Files whose name
        says that they are still being written are left alone. Raises GatewayUnavailableError.
        """
        ...

    async def acknowledge(self, name: str, content: bytes | None = None) -> None:
        """Move a processed file to `done`; repeating it does nothing.

        With `content`, only while the file still has it: raises GatewayConflictError if the bank has replaced the
        file since it was picked up. Raises GatewayError for a name that never existed.
        """
        ...


class Files(Protocol):
    """The file operations that a gateway needs; paths are relative to its base and use slashes.

    A missing file raises FileNotFoundError, any other failure a GatewayError.
    """

    async def prepare(self, directories: tuple[str, ...]) -> None:
        """Create the missing directories."""
        ...

    async def names(self, directory: str) -> list[str]:
        """Return the names of the plain files in a directory."""
        ...

    async def listing(self, directory: str) -> list[ListedFile]:
        """Return everything in a directory but itself and its parent."""
        ...

    async def read(self, path: str) -> bytes:
        """Return a file's content; raises GatewayFileError for one that can't be read."""
        ...

    async def write(self, path: str, content: bytes) -> None:
        """Write a new file and return once it would survive a power failure."""
        ...

    async def claim(self, source: str, target: str) -> bool:
        """Rename the file in one step unless the name is taken; return whether it was free."""
        ...

    async def move(self, source: str, target: str) -> None:
        """Rename the file in one step."""
        ...

    async def remove(self, path: str) -> None:
        """Remove a file; a missing one is no error."""
        ...


class FileStore(Protocol):
    """Where the files are."""

    def session(self) -> AbstractAsyncContextManager[Files]:
        """Connect to the files for one piece of work; raises GatewayError if that fails."""
        ...


@dataclass(frozen=True, slots=True)
class Directories:
    """The directories of files, relative to the gateway's base.

    The bank reads `outbox` and writes `inbox`. Processed files go to `done`. `sent` is private: outgoing files, and a
    receipt for every file that was ever delivered. All four must be on one file system.
    """

    outbox: str = "outbox"
    inbox: str = "inbox"
    done: str = "done"
    sent: str = "sent"


class DirectoryGateway:
    """A gateway over directories shared with the bank.

    A delivery is a file written to `sent`, then a receipt that names it, then its move to `outbox`. The receipt can
    be created only once, and its file moved only once; so the bank gets one complete file, wherever a process is
    killed and however many of them try.
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

    async def pick_up(self) -> PickedUp:
        """See `BankGateway.pick_up`."""
        inbox = self._directories.inbox
        files: list[IncomingFile] = []
        others: list[str] = []
        unfinished: list[str] = []
        async with self._session() as there:
            for listed in sorted(await there.listing(inbox), key=attrgetter("name")):
                name = listed.name
                if name.startswith(".") or (listed.kind == "other" and name in self._own):
                    continue
                if listed.kind == "other":
                    others.append(f"{printable(name)} is no file")
                elif name.endswith(_UNFINISHED):
                    unfinished.append(printable(name))
                elif listed.kind == "link":
                    files.append(IncomingFile(name, b"", "it is a link, which is not followed"))
                elif not _is_plain(name):
                    files.append(IncomingFile(name, b"", "its name leads to another directory"))
                else:
                    found = await _open(there, name, f"{inbox}/{name}")
                    # None if another process has acknowledged it since the names were listed.
                    files += [found] if found is not None else []
        return PickedUp(tuple(files), tuple(others), tuple(unfinished))

    async def acknowledge(self, name: str, content: bytes | None = None) -> None:
        """See `BankGateway.acknowledge`."""
        if not _is_plain(name) or not _is_finished(name):
            raise ValueError(f"{printable(name)!r} is no name of an incoming file")
        source, shown = f"{self._directories.inbox}/{name}", printable(name)
        async with self._session() as files:
            try:
                found = await _read(files, source)
            except GatewayFileError:
                if content is not None:
                    raise GatewayConflictError(f"{shown} has been replaced since it was picked up") from None
                found = b""
            taken = await files.names(self._directories.done)
            kept = _kept_name(name)
            if found is None:
                if kept not in taken:
                    raise GatewayError(f"{shown} is not among the incoming files")
                return
            if content is not None and found != content:
                raise GatewayConflictError(f"{shown} has been replaced since it was picked up")
            with contextlib.suppress(FileNotFoundError):
                await files.move(source, f"{self._directories.done}/{_free_name(kept, taken)}")

    @property
    def _own(self) -> frozenset[str]:
        """The names in the inbox that lead to our other directories, where these lie below it."""
        each = self._directories
        inbox = () if each.inbox == "." else tuple(each.inbox.split("/"))
        paths = [tuple(path.split("/")) for path in (each.outbox, each.done, each.sent)]
        return frozenset(
            path[len(inbox)] for path in paths if len(path) > len(inbox) and path[: len(inbox)] == inbox
        )

    @contextlib.asynccontextmanager
    async def _session(self) -> AsyncIterator[Files]:
        each = self._directories
        async with self._store.session() as files:
            await files.prepare((each.outbox, each.inbox, each.done, each.sent))
            yield files

    def _receipt(self, name: str) -> str:
        return f"{self._directories.sent}/{name}.receipt"

    async def _stage(self, files: Files, name: str, content: bytes, digest: str) -> bytes:
        """Stage the file and claim its receipt; return the receipt, which another process may have created."""
        sent, attempt = self._directories.sent, uuid.uuid4().hex
        staged, draft = f"{name}.{attempt}.part", f"{sent}/{name}.{attempt}.draft"
        statement = f"{digest} {staged}\n".encode("ascii")
        if name not in await files.names(self._directories.outbox):
            await files.write(f"{sent}/{staged}", content)
            await files.write(draft, statement)
            with contextlib.suppress(FileNotFoundError):
                if await files.claim(draft, self._receipt(name)):
                    return statement
        # Another process was faster, and may have cleaned up after it: its file is the one that is sent.
        receipt = await _read(files, self._receipt(name))
        if receipt is None:
            raise GatewayConflictError(f"{name} lies in the outbox, and was not delivered by this service")
        return receipt

    async def _release(self, files: Files, name: str, staged: str) -> None:
        """Move the staged file out, and remove what interrupted attempts have left."""
        sent = self._directories.sent
        # If it is missing, it was sent before: there is only one such file, and it moves only this way.
        with contextlib.suppress(FileNotFoundError):
            await files.move(f"{sent}/{staged}", f"{self._directories.outbox}/{name}")
        leftover = re.compile(rf"{re.escape(name)}\.[0-9a-f]{{32}}\.(?:part|draft)")
        for found in await files.names(sent):
            if leftover.fullmatch(found):
                await files.remove(f"{sent}/{found}")


def printable(name: str) -> str:
    """Return the name in printable characters, the same for no other name; a long one is cut, with its digest."""
    raw = name.encode("utf-8", "surrogateescape")
    shown = "".join(
        each if each.isprintable() and each != "\\" else each.encode("unicode_escape").decode("ascii")
        for each in raw.decode("utf-8", "surrogateescape")
    )
    if len(shown) <= _LONGEST_SHOWN:
        return shown
    return f"{shown[: _LONGEST_SHOWN - 20]}…{hashlib.sha256(raw).hexdigest()[:16]}"


def _is_plain(name: str) -> bool:
    return "/" not in name and "\0" not in name and name not in ("", ".", "..")


def _kept_name(name: str) -> str:
    """Return the name in `done`: another one where the number of a name used again would make it too long."""
    raw = name.encode("utf-8", "surrogateescape")
    if len(raw) <= _LONGEST_KEPT:
        return name
    beginning = re.sub(r"[^A-Za-z0-9._-]", "_", name[:_LONGEST_SHOWN])
    return f"{beginning}.{hashlib.sha256(raw).hexdigest()}"


async def _open(files: Files, name: str, path: str) -> IncomingFile | None:
    try:
        content = await _read(files, path)
    except GatewayFileError as error:
        return IncomingFile(name, b"", str(error))
    return None if content is None else IncomingFile(name, content)


async def _read(files: Files, path: str) -> bytes | None:
    try:
        return await files.read(path)
    except FileNotFoundError:
        return None


def _free_name(name: str, taken: list[str]) -> str:
    """Return the name, or the next free one if the bank has reused a name."""
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
