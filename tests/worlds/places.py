"""Where tests keep what they write: in memory where there is room, so that a commit waits for no disk.

The servers are set up as ever and sync as ever. No test cuts the power, so what a disk would keep is not tested
by any of them; on a plain disk a commit takes some milliseconds, and the suite makes tens of thousands.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MEMORY = Path("/dev/shm")
_DISK = Path("/tmp")
_ROOM = 4 << 30
_LIFELINE = "lifeline"


def choose_place() -> Path:
    """Make the folder of this test run, and have temporary files of all its processes go there."""
    parent = _MEMORY if _has_room(_MEMORY) else _DISK
    place = Path(tempfile.mkdtemp(prefix="hearthpay-tests-", dir=parent))
    place.chmod(0o755)  # the servers' account passes through
    os.environ["TMPDIR"] = tempfile.tempdir = str(place)
    os.environ["XDG_STATE_HOME"] = str(
        place / "state"
    )  # services of this run are found by its commands alone
    os.mkfifo(place / _LIFELINE)
    os.open(place / _LIFELINE, os.O_RDWR)  # for as long as this process lives
    return place


@contextmanager
def run_of_tests(place: Path) -> Iterator[int]:
    """A stream that ends when the process that chose the place has ended, as the input of one that ends with it."""
    stream = os.open(place / _LIFELINE, os.O_RDONLY)
    try:
        yield stream
    finally:
        os.close(stream)


def leave_place(place: Path) -> None:
    """Give the room back."""
    shutil.rmtree(place, ignore_errors=True)


def _has_room(folder: Path) -> bool:
    """Whether programs may be run there, and some servers find room."""
    try:
        status = os.statvfs(folder)
    except OSError:
        return False
    return not status.f_flag & os.ST_NOEXEC and status.f_bavail * status.f_frsize >= _ROOM
