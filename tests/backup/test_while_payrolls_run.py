"""A backup taken while payrolls run through the real service: one moment of it, with right books."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearthpay.database.embedded import EmbeddedServer
from tests.backup.conftest import ask, back_up, cli, made_place
from tests.server.test_serve import Service, add_household, client_of, create_key, run

HOUSEHOLDS = 3
DAYS = 28


@pytest.fixture
def place() -> Iterator[Path]:
    made = made_place()
    yield made
    EmbeddedServer(made / "data").stop()
    shutil.rmtree(made)


class Families:
    """Each pays day after day, and notes what was answered and when."""

    def __init__(self, service: Service, key: str, most: int) -> None:
        self.answered: list[tuple[float, str]] = []
        self.trouble: list[str] = []
        self._service, self._key, self._most = service, key, most
        self._done = threading.Event()
        self._threads = [threading.Thread(target=self._pay) for _ in range(HOUSEHOLDS)]

    def __enter__(self) -> Families:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()

    def _pay(self) -> None:
        paid = 0
        while not self._done.is_set() and paid < self._most:
            with client_of(self._service, self._key) as client:
                household = add_household(client)
                for day in range(1, DAYS + 1):
                    if self._done.is_set():
                        return
                    response = run(client, household, day)
                    if response.status_code != 200:
                        self.trouble.append(response.text)
                        return
                    self.answered.append((time.monotonic(), response.json()["data"]["payroll_id"]))
                    paid += 1


def backed_up_under_load(place: Path, how: list[tuple[str, ...]], most: int) -> None:
    data = place / "data"
    key = create_key(data)
    service = Service(data)
    backups: list[tuple[float, float, Path]] = []
    try:
        with Families(service, key, most) as families:
            while len(families.answered) < HOUSEHOLDS:
                assert not families.trouble
                time.sleep(0.05)
            for arguments in how:
                began = time.monotonic()
                made = back_up(place / "store", data, *arguments)
                backups.append((began, time.monotonic(), made))
        assert families.trouble == []
    finally:
        assert service.stop() == 0
    for number, (began, ended, made) in enumerate(backups):
        target = place / f"restored-{number}"
        result = cli("restore", made, "--data-dir", target)
        assert result.returncode == 0, result.stderr + result.stdout
        assert cli("doctor", "--data-dir", target).returncode == 0
        server = EmbeddedServer(target)
        server.start()
        try:
            held = {str(each) for (each,) in ask(server.owner_url(), "SELECT id FROM payrolls")}
        finally:
            server.stop()
        assert {each for at, each in families.answered if at < began} <= held
        later = {each for at, each in families.answered if at > ended + 1}
        assert not later & held
        assert {each for at, each in families.answered if began < at < ended}, "nothing was paid meanwhile"


@pytest.mark.long
def test_a_backup_of_a_running_service_is_one_moment_of_it(place: Path) -> None:
    backed_up_under_load(place, [()], most=400)


@pytest.mark.long
def test_backups_of_every_kind_under_load(place: Path) -> None:
    backed_up_under_load(
        place, [(), ("--physical",), ("--incremental",), ("--incremental",), ()], most=10_000
    )
