"""What the environment tells `hearthpay serve` about links, mail and keys: taken, or refused in plain words."""

import os
from pathlib import Path

import pytest

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.server import public_url_of, sign_up_open_of
from tests.worlds.commands import hearthpay_says


@pytest.mark.parametrize(
    ("value", "address"),
    [
        (None, None),
        ("", None),
        ("https://pay.example.com", "https://pay.example.com"),
        (" https://pay.example.com/ ", "https://pay.example.com"),
        ("http://localhost:8000", "http://localhost:8000"),
    ],
)
def test_the_public_address(value: str | None, address: str | None) -> None:
    assert public_url_of({} if value is None else {"HEARTHPAY_PUBLIC_URL": value}) == address


@pytest.mark.parametrize(
    "value",
    [
        "pay.example.com",
        "ftp://pay.example.com",
        "https://",
        "https://a.example?x=1",
        "https://a.example/pay",
        "https://somebody@a.example",
        "https://a..example",
        "https://payé.example",
    ],
)
def test_what_is_no_address_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="HEARTHPAY_PUBLIC_URL must be an address"):
        public_url_of({"HEARTHPAY_PUBLIC_URL": value})


def refused(data_dir: Path, **environment: str) -> str:
    """What `hearthpay serve` says before it ends, unsuccessfully."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "HEARTHPAY_KEYS")
    }
    asked = ("serve", "--port", "0", "--data-dir", data_dir)
    result = hearthpay_says(*asked, environment=kept | environment, timeout=60)
    assert result.returncode == 1, result.stdout
    assert "Traceback" not in result.stderr
    return result.stderr


def test_mail_without_an_address_to_link_to_stops_the_service_before_it_starts(tmp_path: Path) -> None:
    assert public_url_of({"SMTP_URL": "", "MAIL_FROM": "payroll@example.com"}) is None
    told = refused(tmp_path, SMTP_URL="smtp://me:secret@mail.example.com", MAIL_FROM="payroll@example.com")
    assert told.startswith("hearthpay: HEARTHPAY_PUBLIC_URL is not set")
    assert "secret" not in told
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_ones_own_needs_keys(server: EmbeddedServer, tmp_path: Path) -> None:
    told = refused(tmp_path, DATABASE_URL=server.owner_url())
    assert told.startswith("hearthpay: HEARTHPAY_KEYS is not set")


@pytest.mark.parametrize(("word", "is_open"), [("", True), ("open", True), (" Closed ", False)])
def test_sign_up_is_open_unless_it_is_closed(word: str, is_open: bool):
    assert sign_up_open_of({"HEARTHPAY_SIGN_UP": word}) is is_open


def test_another_word_is_refused():
    with pytest.raises(ValueError, match="HEARTHPAY_SIGN_UP must be open or closed"):
        sign_up_open_of({"HEARTHPAY_SIGN_UP": "maybe"})
