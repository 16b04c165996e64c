"""Keys come whole or not at all, from a file that only its owner can read, and never get into a message."""

from __future__ import annotations

import base64
import os
import pickle
import stat
import traceback
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from hearthpay.security.key_ring import (
    KEY_FILE,
    KEYS_VARIABLE,
    EncryptionKey,
    KeyRing,
    KeyRingError,
    UnknownKeyError,
    add_key,
    load_key_ring,
    open_key_file,
)
from tests.security.key_makers import another_key, first_key

SECRET = base64.b64encode(bytes(range(100, 132))).decode()
OTHER = base64.b64encode(bytes(range(32))).decode()
SHORT = base64.b64encode(bytes(range(200, 216))).decode()


def from_variable(text: str) -> KeyRing:
    return load_key_ring(None, {KEYS_VARIABLE: text})


def test_the_first_key_is_the_current_one() -> None:
    ring = from_variable(f"new:{SECRET}, old:{OTHER}")
    assert ring.ids == ("new", "old")
    assert ring.newest.id == "new"
    assert ring.find("old").entry() == f"old:{OTHER}"
    with pytest.raises(UnknownKeyError, match="'older' is not in the key ring"):
        ring.find("older")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "entry 1: must be written id:base64key"),
        (SECRET, "entry 1: must be written id:base64key"),
        (f"{SECRET}:a", "entry 1: the id must be"),
        (f"{SECRET.rstrip('=')}:a", "entry 1: the id must be"),
        (f":{SECRET}", "entry 1: the id must be"),
        (f"a:{SECRET},", "entry 2: must be written"),
        (f"a:{SECRET},a:{OTHER}", "entry 2: the id is that of an earlier entry"),
        (f"a:{SECRET[:-2]}", "entry 1: the key is not base64"),
        (f"a:{SECRET[:-2]}é=", "entry 1: the key is not base64"),
        (f"a:{SECRET[:10]} {SECRET[10:]}", "entry 1: the key is not base64"),
        (f"a:{SHORT}", "entry 1: the key has 16 bytes instead of 32"),
        (f"a:{base64.b64encode(bytes(32)).decode()}", "entry 1: the key is a placeholder"),
    ],
)
def test_a_malformed_ring_is_refused_without_repeating_it(text: str, message: str) -> None:
    with pytest.raises(KeyRingError, match=message) as refusal:
        from_variable(text)
    report = "".join(traceback.format_exception(refusal.value, limit=0))
    for secret in (SECRET, OTHER, SHORT):
        assert secret[:10] not in report


def test_a_given_database_needs_given_keys() -> None:
    with pytest.raises(KeyRingError, match="HEARTHPAY_KEYS is not set"):
        load_key_ring(None, {})


def test_given_keys_go_before_the_file(tmp_path: Path) -> None:
    assert load_key_ring(tmp_path, {KEYS_VARIABLE: f"a:{SECRET}"}).ids == ("a",)
    assert list(tmp_path.iterdir()) == []


def test_a_key_and_a_ring_hide_themselves() -> None:
    ring = from_variable(f"a:{SECRET}")
    for shown in (repr(ring), str(ring), repr(ring.newest), str(ring.newest), repr(vars(ring))):
        assert SECRET[:10] not in shown
        assert str(bytes(range(100, 132)))[2:12] not in shown
    with pytest.raises(TypeError):
        pickle.dumps(ring.newest)


def test_generated_keys_differ() -> None:
    keys = [EncryptionKey.generate() for _ in range(50)]
    assert len({key.id for key in keys}) == len({key.entry().split(":")[1] for key in keys}) == 50


def test_the_key_file_is_made_once_and_private(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        ring = load_key_ring(tmp_path, {})
    finally:
        os.umask(previous)
    path = tmp_path / KEY_FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = load_key_ring(tmp_path, {})
    assert again.newest.entry() == ring.newest.entry()
    assert [entry.name for entry in tmp_path.iterdir()] == [KEY_FILE]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o700, 0o644, 0o666, 0o620])
def test_a_key_file_that_others_could_read_is_refused(mode: int, tmp_path: Path) -> None:
    key = open_key_file(tmp_path / KEY_FILE).newest.entry().split(":")[1]
    (tmp_path / KEY_FILE).chmod(mode)
    with pytest.raises(KeyRingError, match=f"has the mode {mode:04o}") as refusal:
        open_key_file(tmp_path / KEY_FILE)
    assert key not in str(refusal.value)
    with pytest.raises(KeyRingError):
        add_key(tmp_path / KEY_FILE)


def test_only_a_regular_file_is_a_key_file(tmp_path: Path) -> None:
    open_key_file(tmp_path / "elsewhere")
    (tmp_path / KEY_FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(KeyRingError, match="cannot be read"):
        open_key_file(tmp_path / KEY_FILE)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(KeyRingError, match="cannot be read"):
        open_key_file(tmp_path / "dangling")
    (tmp_path / "directory").mkdir(mode=0o600)
    with pytest.raises(KeyRingError, match="not a regular file"):
        open_key_file(tmp_path / "directory")
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(KeyRingError, match="not a regular file"):
        open_key_file(tmp_path / "pipe")
    with pytest.raises(KeyRingError, match="cannot be used"):
        open_key_file(tmp_path / "missing" / KEY_FILE)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe", b"k1\n", f"k1:{SHORT}\n".encode()])
def test_a_damaged_key_file_is_reported_and_never_replaced(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / KEY_FILE
    path.touch(mode=0o600)
    path.write_bytes(content)
    with pytest.raises(KeyRingError) as refusal:
        open_key_file(path)
    assert SHORT[:10] not in str(refusal.value)
    assert path.read_bytes() == content


def test_an_added_key_becomes_the_current_one_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / KEY_FILE
    first = open_key_file(path)
    running = open_key_file(path)
    second = add_key(path)
    assert second.ids == (second.newest.id, first.newest.id)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    # A process which has read the file before learns of the key when it meets the id.
    assert running.ids == first.ids
    assert running.find(second.newest.id).entry() == second.newest.entry()
    assert running.newest.id == second.newest.id
    with pytest.raises(UnknownKeyError):
        running.find("never")


def test_processes_that_start_together_share_one_key_and_lose_none(tmp_path: Path) -> None:
    path = tmp_path / KEY_FILE
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as processes:
        assert len(set(processes.map(first_key, [path] * 8))) == 1
        added = list(processes.map(another_key, [path] * 8))
    assert set(added) < set(open_key_file(path).ids)
    assert len(open_key_file(path).ids) == 9
