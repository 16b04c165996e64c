"""Data directories with a migrated database in them, for tests of what stands on it and not of how it is made.

One is made for the whole run and copied for each who asks, in a fraction of the time that PostgreSQL's `initdb` and
the migrations take. How a service sets itself up from nothing is tested in `tests/server`, `tests/database` and
`tests/cli/test_operator.py`, by tests that take none of these.
"""

import subprocess
import tempfile
from functools import cache
from pathlib import Path

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.file_lock import exclusively
from hearthpay.database.migrations import migrate

_MAKING_SECONDS = 120.0


def install(data_dir: Path) -> EmbeddedServer:
    """Put a migrated database into a directory that holds nothing yet; the server is not started."""
    subprocess.run(["cp", "--archive", "--no-target-directory", str(_made()), str(data_dir)], check=True)
    return EmbeddedServer(data_dir)


@cache
def _made() -> Path:
    """The one that is copied; the processes of a parallel run share it, and whoever comes first makes it."""
    place = Path(tempfile.gettempdir()) / "installation"
    place.mkdir(mode=0o755, exist_ok=True)
    data_dir, done = place / "data", place / "done"
    with exclusively(place / "lock", timeout=_MAKING_SECONDS):
        if not done.exists():
            server = EmbeddedServer(data_dir)
            server.start()
            try:
                migrate(server.owner_url())
            finally:
                server.stop()
            for mark in ("start.lock", "users.lock"):
                (data_dir / mark).unlink()
            done.touch()
    return data_dir
