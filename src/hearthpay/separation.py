"""If root starts the service, the web is served by a separate process, as a user with no other rights.

Root's process keeps what needs root: it starts the database, watches it and the worker, and ends the three in order.
The web process is started with the listening socket; what it must know, and nothing else, comes through a pipe. The
open pipe shows that root's process is running: when it closes, however root's process has ended, the web process ends
too.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

import orjson
import structlog
import uvicorn

import hearthpay
from hearthpay.banking.gateways.address import PASSPHRASE_VARIABLE, PASSWORD_VARIABLE
from hearthpay.banking.originator import BANK_VARIABLE
from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.service_account import WEB_ACCOUNT, ServiceAccount, web_user
from hearthpay.database.startup import (
    DIRECT_VARIABLE,
    OWNER_VARIABLE,
    SERVICE_VARIABLE,
    WORKER_VARIABLE,
    RoleDatabase,
)
from hearthpay.security.key_ring import KEY_FILE, KEYS_VARIABLE, KeyRingError, give_key_file
from hearthpay.security.seal_file import SEAL_FILE_VARIABLE

_NOT_THE_WEBS: Final = frozenset(
    {
        *(OWNER_VARIABLE, SERVICE_VARIABLE, WORKER_VARIABLE, DIRECT_VARIABLE, SEAL_FILE_VARIABLE),
        *(BANK_VARIABLE, PASSWORD_VARIABLE, PASSPHRASE_VARIABLE),
    }
)
_NO_NEW_PRIVILEGES: Final = 38  # PR_SET_NO_NEW_PRIVS of prctl(2)

_log = structlog.get_logger(__name__)


class StaysRootError(Exception):
    """The web can't be served by another user here; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class WebOrder:
    """What root's process sends to the web process. It contains secrets, and is sent only through a pipe."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str
    listener: int
    """The number of the listening socket, which the process inherits."""
    host: str
    database_url: str
    role: str
    seal: str
    key_file: str | None
    direct_deposit: bool
    keeps_mail: bool

    def __repr__(self) -> str:
        return f"WebOrder(uid={self.uid})"

    def write(self) -> bytes:
        """Return one line."""
        return orjson.dumps(asdict(self), option=orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def read(cls, line: bytes) -> Self:
        """Return the order written by `write`."""
        values: dict[str, Any] = orjson.loads(line)
        return cls(**values | {"groups": tuple(values["groups"])})


@dataclass(frozen=True, slots=True)
class WebUser:
    """The user that runs the web process, and the key file it may read."""

    account: ServiceAccount
    home: str
    key_file: Path | None

    def order(
        self,
        service: RoleDatabase,
        listener: socket.socket,
        host: str,
        *,
        direct_deposit: bool,
        keeps_mail: bool,
    ) -> WebOrder:
        """Return what the user's process must know."""
        assert service.seal is not None
        return WebOrder(
            uid=self.account.uid,
            gid=self.account.gid,
            groups=self.account.groups,
            home=self.home,
            listener=listener.fileno(),
            host=host,
            database_url=service.url,
            role=service.role,
            seal=service.seal.entry(),
            key_file=None if self.key_file is None else str(self.key_file),
            direct_deposit=direct_deposit,
            keeps_mail=keeps_mail,
        )


def lesser_user(embedded: EmbeddedServer | None, environment: Mapping[str, str]) -> WebUser:
    """Return the user for the web process, once it can access all that it needs. Root only. Raises StaysRootError."""
    try:
        return _lesser_user(embedded, environment)
    except OSError as error:  # a container may take root's right to be somebody else
        raise StaysRootError(f"root may not become the user {WEB_ACCOUNT} here: {error.strerror}") from error


def _lesser_user(embedded: EmbeddedServer | None, environment: Mapping[str, str]) -> WebUser:
    if sys.platform != "linux":
        raise StaysRootError("only Linux is supported: start the service as an ordinary user")
    entry = web_user()
    if entry is None or entry.pw_gid == 0:
        raise StaysRootError(f"add a system user {WEB_ACCOUNT} with a group of its own")
    groups: tuple[int, ...] = ()
    if embedded is not None:
        server = embedded.account()
        if entry.pw_uid == server.uid or server.gid == 0:
            raise StaysRootError(
                f"PostgreSQL must run as another user than {WEB_ACCOUNT}, and not in root's group"
            )
        groups = (server.gid,)
    account = ServiceAccount(entry.pw_uid, entry.pw_gid, borrowed=True, groups=groups)
    for test, path in (("-x", sys.executable), *(("-r", module) for module in _programs())):
        if not account.can(test, Path(path)):
            raise StaysRootError(
                f"the user {WEB_ACCOUNT} cannot read {path}: install Python and Hearthpay where every user may read "
                "them, such as below /opt"
            )
    if embedded is None:
        return WebUser(account, entry.pw_dir, None)
    if not account.can("-w", embedded.socket):
        raise StaysRootError(
            f"the user {WEB_ACCOUNT} cannot reach {embedded.socket}: let root own the data directory"
        )
    if KEYS_VARIABLE in environment:
        return WebUser(account, entry.pw_dir, None)
    key_file = embedded.data_dir / KEY_FILE
    try:
        give_key_file(key_file, account.uid, account.gid)
    except KeyRingError as error:
        raise StaysRootError(f"{error}: let root own it") from None
    return WebUser(account, entry.pw_dir, key_file)


def _programs() -> tuple[str, ...]:
    """Return one file each of Python, of the installed libraries, and of our own code."""
    return tuple(module.__file__ or "" for module in (os, uvicorn, hearthpay))


@asynccontextmanager
async def web_process(order: WebOrder, within: float) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the web process for the length of the block; when told to stop it has `within` seconds to end."""
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_THE_WEBS}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hearthpay.web_process"),
        stdin=asyncio.subprocess.PIPE,
        env=environment | {"HOME": order.home},
        pass_fds=(order.listener,),
    )
    assert process.stdin is not None
    try:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the process itself reports its end
            process.stdin.write(order.write())
            await process.stdin.drain()
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(process.wait(), within)
            except TimeoutError:
                _log.warning("web_process_killed", reason="it did not stop in time")
                process.kill()
                await process.wait()


def become(order: WebOrder) -> None:
    """Make this process the order's user for good. Raises OSError or RuntimeError if that fails."""
    os.setgroups(order.groups)
    os.setresgid(order.gid, order.gid, order.gid)
    os.setresuid(order.uid, order.uid, order.uid)
    # Nothing that this process ever starts gets more rights either, whatever set-user-id program it finds.
    if ctypes.CDLL(None, use_errno=True).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    if (os.getresuid(), os.getresgid()) != ((order.uid,) * 3, (order.gid,) * 3):
        raise RuntimeError("the process has another user than it asked for")
    for back in (os.setuid, os.setgid):
        with contextlib.suppress(PermissionError):
            back(0)
            raise RuntimeError("the process can become root again")
    os.chdir("/")
