"""A bank gateway over local directories, as used by a bank's transfer program or a mounted share."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final, Literal, ParamSpec, TypeVar

from hearthpay.banking.gateways.gateway import (
    LARGEST_FILE,
    Directories,
    DirectoryGateway,
    GatewayFileError,
    GatewayUnavailableError,
    ListedFile,
)

_P = ParamSpec("_P")
_T = TypeVar("_T")


class FolderStore:
    """Files in one directory; each rename is durable before the call returns."""

    def __init__(self, base: Path) -> None:
        self._base: Final = base

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[FolderStore]:
        """Nothing needs to be opened."""
        yield self

    async def prepare(self, directories: tuple[str, ...]) -> None:
        """Create the missing directories, readable by this account only."""
        await _in_thread(self._prepare, directories)

    async def names(self, directory: str) -> list[str]:
        """Return the names of the plain files in a directory."""
        return await _in_thread(self._names, directory)

    async def listing(self, directory: str) -> list[ListedFile]:
        """Return everything in a directory; a link counts as one only if it leads to a file."""
        return await _in_thread(self._listing, directory)

    async def read(self, path: str) -> bytes:
        """Return a file's content."""
        return await _in_thread(self._read, path)

    async def write(self, path: str, content: bytes) -> None:
        """Write a new file and flush it to disk."""
        await _in_thread(self._write, path, content)

    async def claim(self, source: str, target: str) -> bool:
        """Rename unless the name is taken."""
        return await _in_thread(self._claim, source, target)

    async def move(self, source: str, target: str) -> None:
        """Rename."""
        await _in_thread(self._move, source, target)

    async def remove(self, path: str) -> None:
        """Remove a file if it exists."""
        await _in_thread(self._remove, path)

    def _prepare(self, directories: tuple[str, ...]) -> None:
        for directory in directories:
            (self._base / directory).mkdir(mode=0o700, parents=True, exist_ok=True)

    def _names(self, directory: str) -> list[str]:
        with os.scandir(self._base / directory) as entries:
            return [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]

    def _listing(self, directory: str) -> list[ListedFile]:
        with os.scandir(self._base / directory) as entries:
            return [ListedFile(entry.name, _kind_of(entry)) for entry in entries]

    def _read(self, path: str) -> bytes:
        try:
            # Whatever has taken the file's place since it was listed is neither followed nor waited for.
            descriptor = os.open(self._base / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor is no path
                content = file.read(LARGEST_FILE + 1)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise GatewayFileError(f"it cannot be read: {error.strerror}") from error
        if len(content) > LARGEST_FILE:
            raise GatewayFileError(f"it is larger than {LARGEST_FILE} bytes")
        return content

    def _write(self, path: str, content: bytes) -> None:
        descriptor = os.open(self._base / path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor is no path
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self._settle(path)

    def _claim(self, source: str, target: str) -> bool:
        # A hard link, unlike a rename, never replaces an existing name.
        try:
            (self._base / target).hardlink_to(self._base / source)
        except FileExistsError:
            return False
        (self._base / source).unlink()
        self._settle(target)
        return True

    def _move(self, source: str, target: str) -> None:
        (self._base / source).rename(self._base / target)
        self._settle(target)
        self._settle(source)

    def _remove(self, path: str) -> None:
        (self._base / path).unlink(missing_ok=True)

    def _settle(self, path: str) -> None:
        """Flush the directory's entry for this path to disk."""
        descriptor = os.open((self._base / path).parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _kind_of(entry: os.DirEntry[str]) -> Literal["file", "link", "other"]:
    if entry.is_file(follow_symlinks=False):
        return "file"
    try:
        return "link" if entry.is_symlink() and entry.is_file() else "other"
    except OSError:  # a link to itself, for example
        return "other"


async def _in_thread(call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run blocking work in a thread; whatever the disk refuses may be tried again."""
    try:
        return await asyncio.to_thread(call, *args, **kwargs)
    except (FileNotFoundError, GatewayFileError):
        raise
    except OSError as error:
        raise GatewayUnavailableError(f"the bank's folder cannot be used: {error.strerror}") from error


def folder_gateway(base: Path, directories: Directories = Directories()) -> DirectoryGateway:  # noqa: B008 - frozen
    """Return a gateway over the directories in `base`, which are created on first use."""
    return DirectoryGateway(FolderStore(base), directories)
