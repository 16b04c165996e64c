"""Planted numbers and keys turn up nowhere: not in logs, audit rows, error texts, or the server's own files."""

from __future__ import annotations

import logging
import traceback
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import structlog
from structlog.testing import capture_logs

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.session import Database
from hearthpay.database.vault_rotation import rotate
from hearthpay.database.vault_store import read_secret, store_secret
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from hearthpay.security.vault_numbers import NumberKind, SecretNumber, parse_number
from tests.database.household import Household
from tests.security.conftest import Clerk, employee_of

PLANTED: dict[NumberKind, str] = {
    "ssn": "536228145",
    "itin": "912734486",
    "bank_routing": "322271627",
    "bank_account": "90817263544536271",
}


async def test_planted_secrets_turn_up_nowhere(
    database: Database,
    owner_database: Database,
    owner: psycopg.Connection,
    server: EmbeddedServer,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    new = KeyRing((EncryptionKey.generate(), ring.newest))
    person = employee_of(smiths)
    reports: list[str] = []

    async def attempt(
        number: SecretNumber | None,
        kind: NumberKind,
        *,
        keys: KeyRing = ring,
        stranger: bool = False,
        purpose: str = "w2",
    ) -> None:
        """Store, or without a number read, and note what goes wrong as a log would."""
        whose = replace(person, id=uuid4()) if stranger else person
        try:
            async with database.transaction(smiths.tenant) as session:
                if number is not None:
                    await store_secret(session, keys, clerk, whose, number)
                else:
                    await read_secret(session, keys, clerk, whose, kind, purpose=purpose)
        except Exception as error:  # whatever it is, its text is what is tested
            structlog.get_logger().error("failed", exc_info=error)
            logging.getLogger("test").exception("failed")
            reports.append("".join(traceback.format_exception(error)) + repr(error))

    with caplog.at_level(logging.DEBUG), capture_logs() as logged:
        for kind, digits in PLANTED.items():
            number = parse_number(kind, digits)
            await attempt(number, kind)
            await attempt(None, kind)
            await attempt(number, kind, stranger=True)
            await attempt(None, kind, stranger=True)
            await attempt(None, kind, keys=KeyRing((EncryptionKey.generate(),)))
            await attempt(None, kind, keys=KeyRing((EncryptionKey(ring.newest.id, b"1" * 31 + b"2"),)))
            await attempt(None, kind, purpose=f"for {digits}")
            await attempt(SecretNumber("ein", digits), "ein")  # an employee has none: a check refuses it
            await attempt(SecretNumber(kind, f"{digits}{digits}"), kind)  # too long for the table
            try:
                parse_number(kind, f"{digits}-{digits}")
            except ValueError as error:
                reports.append("".join(traceback.format_exception(error, limit=0)))
        assert (await rotate(lambda: owner_database.transaction(None), new, lambda *_: None)).rotated == 4
    assert len(reports) == 8 * len(PLANTED)

    tables = [
        name
        for (name,) in owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    ]
    assert "vault" in tables
    rows = [
        line for table in tables for (line,) in owner.execute(f"SELECT t::text FROM {table} t").fetchall()
    ]
    shown = capfd.readouterr()
    texts = "\n".join(
        [*reports, *rows, caplog.text, *map(repr, caplog.records), repr(logged), shown.out, shown.err]
    )
    owner.execute("CHECKPOINT")
    files = [path for path in (server.data_dir / "server").rglob("*") if path.is_file()]
    assert any(path.parent.name == "pg_wal" for path in files)
    keys = [key.entry().split(":")[1] for key in (new.newest, ring.newest)]
    for secret in (*PLANTED.values(), *keys):
        assert secret not in texts
        assert find(secret, files) == []


def find(secret: str, files: list[Path]) -> list[Path]:
    return [path for path in files if secret.encode() in _content(path)]


def _content(path: Path) -> bytes:
    """Nothing where the server has taken the file away meanwhile."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def test_the_search_would_find_what_is_there(owner: psycopg.Connection, server: EmbeddedServer) -> None:
    owner.execute("INSERT INTO organizations (id, name) VALUES (new_id(), 'planted 271828182')")
    owner.execute("CHECKPOINT")
    assert find("271828182", [path for path in (server.data_dir / "server").rglob("*") if path.is_file()])
