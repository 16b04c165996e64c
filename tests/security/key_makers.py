"""What processes do that race for a file of keys; apart, so that they import no more than keys need."""

from __future__ import annotations

from pathlib import Path

from hearthpay.security.key_ring import add_key, open_key_file


def first_key(path: Path) -> str:
    return open_key_file(path).ids[0]


def another_key(path: Path) -> str:
    return add_key(path).newest.id
