"""`python -m tests.worlds.own_default …` is `hearthpay …` whose default data directory is no real installation's.

Root's is /var/lib/hearthpay: its process has a /var/lib of its own, the directory that TEST_VAR_LIB names. That of
others is below XDG_DATA_HOME. `… recorded DIRECTORY` only keeps the record of a service there, until its input ends.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import sys
from functools import cache
from pathlib import Path

from hearthpay.database.running_services import recorded_as_running

_NEW_MOUNTS = 0x20000  # CLONE_NEWNS of unshare(2)
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000  # MS_… of mount(2)


def environment_in(home: Path) -> dict[str, str]:
    """The environment of a user of whom there is nothing but this home."""
    (home / "data").mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "TMPDIR", "LANG")}
    return kept | {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "TEST_VAR_LIB": str(home / "data"),
    }


def default_directory(home: Path) -> tuple[Path, Path]:
    """The default data directory as its user calls it, and where it really is."""
    real = home / "data" / "hearthpay"
    return (Path("/var/lib/hearthpay") if os.geteuid() == 0 else real), real


@cache
def is_possible() -> bool:
    """Whether a process of ours may have a /var/lib of its own; not for root in most containers."""
    if os.geteuid() != 0:
        return True
    if sys.platform != "linux":
        return False
    child = os.fork()
    if not child:
        os._exit(ctypes.CDLL(None).unshare(_NEW_MOUNTS) and 1)
    return os.waitpid(child, 0)[1] == 0


def _mount_own() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    source = os.environ.pop("TEST_VAR_LIB").encode()
    if (
        libc.unshare(_NEW_MOUNTS)
        or libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None)
        or libc.mount(source, b"/var/lib", None, _BIND, None)
    ):
        raise OSError(ctypes.get_errno(), "cannot have a /var/lib of its own")


if __name__ == "__main__":
    if os.geteuid() == 0:
        _mount_own()
    if sys.argv[1] == "recorded":
        with recorded_as_running(Path(sys.argv[2]) if sys.argv[2] else None, "127.0.0.1", 8001):
            print("recorded", flush=True)
            sys.stdin.read()
    else:
        runpy.run_module("hearthpay.cli", run_name="__main__", alter_sys=True)
