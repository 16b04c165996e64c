"""The system accounts that root uses: for PostgreSQL, which refuses root, and for the web process."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_PREFERRED = ("hearthpay", "postgres")
_LAST_RESORT = "nobody"
_SETPRIV_PLACES = ("/usr/bin/setpriv", "/bin/setpriv")

WEB_ACCOUNT = "hearthpay-web"
"""The account of the web process if root starts the service. It is never shared: another account could read the
vault's keys.
"""


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """A user and its group; `borrowed` if the current process is root and must change to it."""

    uid: int
    gid: int
    borrowed: bool
    groups: tuple[int, ...] = ()
    """Additional groups of the account."""

    def popen_arguments(self, command: Sequence[str | Path]) -> dict[str, Any]:
        """Return the arguments with which `subprocess` starts `command` as this account, `args` among them.

        A borrowed account is taken on by `setpriv`, where the machine has one: to change the account itself, Python
        copies the whole process first, tens of milliseconds for a large one.
        """
        if self.borrowed and (prefix := _setpriv(self.uid, self.gid, self.groups)):
            return {"args": [*prefix, *command]}
        return {"args": list(command), **self.process_options()}

    def process_options(self) -> dict[str, Any]:
        """Return the options with which `subprocess` itself takes on this account."""
        return (
            {"user": self.uid, "group": self.gid, "extra_groups": list(self.groups)} if self.borrowed else {}
        )

    def can(self, test: str, path: Path) -> bool:
        """Return the kernel's result of `test <test> <path>` (such as `-x`) for this account."""
        return self.can_all((test, path))

    def can_all(self, *tests: tuple[str, Path]) -> bool:
        """Return whether all of these tests succeed for this account, in one process."""
        script = " && ".join(f'test "${{{at}}}" "${{{at + 1}}}"' for at in range(1, 2 * len(tests), 2))
        operands = [operand for test, path in tests for operand in (test, str(path))]
        command = ["/bin/sh", "-c", script, "sh", *operands]
        return subprocess.run(**self.popen_arguments(command), cwd="/", check=False).returncode == 0

    def own(self, path: Path) -> None:
        """Give a file or directory to this account."""
        if self.borrowed:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def account_for(existing: Path) -> ServiceAccount:
    """Return the account that owns `existing`, or the one to give it to if it doesn't exist yet.

    Raises PermissionError if the data belongs to another user and the current user isn't root.
    """
    me = os.geteuid()
    owner = existing.stat().st_uid if existing.exists() else None
    if me != 0:
        if owner not in (None, me):
            raise PermissionError(
                f"{existing} belongs to the user with the number {owner}: start as that user or as root"
            )
        return ServiceAccount(me, os.getegid(), borrowed=False)
    if owner:
        return ServiceAccount(owner, existing.stat().st_gid, borrowed=True)
    entry = _unprivileged_user()
    return ServiceAccount(entry.pw_uid, entry.pw_gid, borrowed=True)


@cache
def _setpriv(uid: int, gid: int, groups: tuple[int, ...]) -> tuple[str, ...]:
    """Return the command that runs another one as this account; empty if no `setpriv` of this machine can.

    That of BusyBox, for one, does not know the options.
    """
    member_of = f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups"
    for place in _SETPRIV_PLACES:
        prefix = (place, f"--reuid={uid}", f"--regid={gid}", member_of, "--")
        with contextlib.suppress(OSError):
            tried = subprocess.run([*prefix, "/bin/sh", "-c", ":"], cwd="/", capture_output=True, check=False)  # noqa: S603
            if tried.returncode == 0:
                return prefix
    return ()


def _unprivileged_user() -> pwd.struct_passwd:
    for name in _PREFERRED:
        if (entry := _find(name)) is not None:
            return entry
    _make(_PREFERRED[0])
    for name in (_PREFERRED[0], _LAST_RESORT):
        if (entry := _find(name)) is not None:
            return entry
    raise PermissionError(
        "PostgreSQL does not run as root, and there is no other user: start as an ordinary user"
    )


def web_user() -> pwd.struct_passwd | None:
    """Return the user for the web process, created if missing; None if it can't be created."""
    if _find(WEB_ACCOUNT) is None:
        _make(WEB_ACCOUNT)
    return _find(WEB_ACCOUNT)


def name_of(uid: int) -> str | None:
    """Return the name of the user with this number, if it has one."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def _make(name: str) -> None:
    """Add a system user, if the machine has a program for that."""
    if useradd := shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin"):
        subprocess.run(  # noqa: S603
            [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", name],
            check=False,
            capture_output=True,
        )


def _find(name: str) -> pwd.struct_passwd | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return entry if entry.pw_uid != 0 else None
