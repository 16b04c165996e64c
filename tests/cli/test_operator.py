"""The operator's commands on an embedded database of their own."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.security.key_ring import KEY_FILE
from tests.worlds.commands import hearthpay


@pytest.fixture
def data_dir() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-operator-"))
    yield folder
    EmbeddedServer(folder).stop()
    shutil.rmtree(folder, ignore_errors=True)


def test_keys_and_the_vault_on_an_empty_machine(data_dir: Path):
    where = ("--data-dir", str(data_dir))
    created = hearthpay("keys", "create", "--organization", "Lopez", "--mode", "test", *where)
    assert created.returncode == 0, created.stderr
    assert created.stdout.startswith(b"hp_test_")
    listed = hearthpay("keys", "list", "--organization", "Lopez", *where).stdout.decode()
    assert "active" in listed
    assert created.stdout.decode().strip() not in listed
    key_id = listed.split()[0]
    assert hearthpay("keys", "revoke", key_id, *where).returncode == 0
    assert "revoked" in hearthpay("keys", "list", "--organization", "Lopez", *where).stdout.decode()

    first = hearthpay("vault", "rotate", *where)
    assert first.returncode == 0, first.stderr
    assert b"Re-encrypted 0 secrets" in first.stdout
    keys = (data_dir / KEY_FILE).read_text()
    assert hearthpay("vault", "rotate", *where).returncode == 0
    assert len((data_dir / KEY_FILE).read_text()) > len(keys)  # a new key stands beside the old one


@pytest.mark.parametrize(
    "arguments",
    [
        ("keys", "create", "--organization", "X", "--mode", "production"),
        ("keys", "create", "--organization", "X", "--mode", "test", "--employer", "nobody"),
        ("keys", "revoke", "nothing"),
        ("households", "threshold-basis", "nobody", "as_paid"),
        ("households", "assign-sui-rate", "nobody", "--year", "2026", "--state", "CA", "--rate", "0.02"),
    ],
)
def test_bad_arguments_are_refused_before_anything_starts(arguments):
    result = hearthpay(*arguments, "--data-dir", "/nonexistent/hearthpay")
    assert result.returncode == 2
    assert b"Traceback" not in result.stderr
