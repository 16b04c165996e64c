"""The same boundaries once more where a pooler drops what it is told, and where nobody gave the service its login."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import POOLER_VARIABLE
from tests.database.poolers import NO_PGBOUNCER, PGBOUNCER

ROOT = Path(__file__).parents[2]


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("way", ["forgetful", "session", "transaction"])
def test_nobody_sees_more_through_a_pooler_on_the_owners_login(way: str) -> None:
    """Every route, every conversation, every build without WHERE: on the owner's login, whose `options` are lost."""
    if way != "forgetful" and PGBOUNCER is None:
        pytest.skip(NO_PGBOUNCER)
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/boundary", "-q", "-m", "not long", "-p", "no:cacheprovider"],
        cwd=ROOT,
        env={**os.environ, POOLER_VARIABLE: way},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-5000:]
