"""The system accounts that root uses: for PostgreSQL, which refuses root, and for the web process."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PREFERRED = ("hearthpay", "postgres")
_LAST_RESORT = "nobody"

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

    def process_options(self) -> dict[str, Any]:
        """Return the arguments with which `subprocess` starts a program as this account."""
        return (
            {"user": self.uid, "group": self.gid, "extra_groups": list(self.groups)} if self.borrowed else {}
        )

    def can(self, test: str, path: Path) -> bool:
        """Return the kernel's result of `test <test> <path>` (such as `-x`) for this account."""
        command = ["/bin/sh", "-c", 'test "$1" "$2"', "sh", test, str(path)]
        finished = subprocess.run(command, cwd="/", check=False, **self.process_options())  # noqa: S603
        return finished.returncode == 0

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
