"""Running services are found by their own user alone, and only while they run."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearthpay.database.running_services import recorded_as_running, records_directory, running_services


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory of records."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return records_directory()


def test_a_service_is_found_while_it_runs(directory: Path) -> None:
    assert running_services() == []
    with recorded_as_running(Path("/srv/one"), "127.0.0.1", 8000), recorded_as_running(None, "::1", 8001):
        by_url, one = running_services()
        assert (one.data_dir, one.address, one.pid) == ("/srv/one", "127.0.0.1:8000", os.getpid())
        assert (by_url.data_dir, by_url.address) == (None, "[::1]:8001")
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        for record in directory.iterdir():
            assert stat.S_IMODE(record.stat().st_mode) == 0o600
            assert set(json.loads(record.read_text())) == {"pid", "machine", "data_dir", "address"}
    assert running_services() == []
    assert list(directory.iterdir()) == []


def _plant(directory: Path, **changes: object) -> tuple[Path, int]:
    """A record that is held, as that of a service; returns the descriptor that holds it."""
    with recorded_as_running(Path("/srv/one"), "127.0.0.1", 8000):
        (record,) = directory.iterdir()
        values = json.loads(record.read_text()) | changes
    planted = directory / "serve-planted.json"
    planted.write_text(json.dumps(values))
    descriptor = os.open(planted, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return planted, descriptor


@pytest.mark.parametrize(
    "changes",
    [{"machine": "another-host"}, {"pid": 2**22 + 1}, {"pid": "none"}],
    ids=["machine", "pid", "unreadable"],
)
def test_a_record_of_elsewhere_is_passed_over(directory: Path, changes: dict[str, object]) -> None:
    planted, descriptor = _plant(directory, **changes)
    assert running_services() == []
    assert planted.exists(), "it is held: whoever holds it removes it"
    os.close(descriptor)


def test_a_record_that_nobody_holds_is_removed(directory: Path) -> None:
    planted, descriptor = _plant(directory)
    assert [each.data_dir for each in running_services()] == ["/srv/one"]
    os.close(descriptor)
    assert running_services() == []
    assert not planted.exists()


def test_a_link_is_not_followed(directory: Path, tmp_path: Path) -> None:
    planted, descriptor = _plant(directory)
    planted.rename(tmp_path / "kept.json")
    planted.symlink_to(tmp_path / "kept.json")
    assert running_services() == []
    os.close(descriptor)


def test_a_directory_that_others_may_write_is_not_used(directory: Path) -> None:
    _, descriptor = _plant(directory)
    directory.chmod(0o777)
    assert running_services() == []
    with recorded_as_running(Path("/srv/two"), "127.0.0.1", 8000):
        assert len(list(directory.iterdir())) == 1, "nothing is recorded there either, and the service runs"
    os.close(descriptor)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize("of", ["directory", "record"])
def test_what_another_user_owns_is_not_believed(directory: Path, of: str) -> None:
    planted, descriptor = _plant(directory)
    os.chown(directory if of == "directory" else planted, 65534, 65534)
    assert running_services() == []
    os.close(descriptor)
