"""A disk that fills up: refused truly, not ready, and back as soon as there is room."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from hearthpay.clock import FixedClock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.readiness import require_ready
from hearthpay.database.startup import Addresses, open_database
from tests.database.paying import findings, hire, new_client, week

CLOCK = FixedClock(datetime(2026, 11, 20, 15, 0, tzinfo=UTC))


@pytest.fixture
def small_disk() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", "size=200m,mode=755", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        folder.rmdir()
        pytest.skip("a small disk cannot be mounted here: that takes root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
    shutil.rmtree(folder, ignore_errors=True)


def fill(folder: Path) -> Path:
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return filler


async def test_a_full_disk_is_told_and_passes(small_disk: Path) -> None:
    async with (
        open_database(small_disk / "data", Addresses()) as opened,
        new_client(opened, CLOCK, "Smith") as client,
    ):
        people = [await hire(client) for _ in range(4)]
        # The log goes on in a new segment, which is made whole: the server dies where it can make none.
        async with opened.as_operator() as operator, operator.transaction(None) as session:
            await session.execute(text("SELECT pg_switch_wal()"))
        assert (await client.post("/payroll/run", json=week(people[0], 0))).status_code == 200
        filler = fill(small_disk)
        with pytest.raises(DatabaseUnavailable, match="disk of the database's server is full"):
            await require_ready(opened.database)
        paid, seen = [1, 0, 0, 0], set()
        for number in range(40):  # a page that was there already may take a few rows still
            who = number % 4
            answer = await client.post("/payroll/run", json=week(people[who], paid[who]))
            seen.add(answer.status_code)
            if answer.status_code == 200:
                paid[who] += 1
            else:
                assert (answer.status_code, "Retry-After" in answer.headers) == (503, True), answer.text
                assert "disk is full" in answer.json()["error"]["message"]
        assert 503 in seen
        filler.unlink()
        await require_ready(opened.database)
        for who in range(4):
            assert (await client.post("/payroll/run", json=week(people[who], paid[who]))).status_code == 200
        assert await findings(opened, CLOCK) == []
