"""What is shown of a number that was stored while fewer of its digits were shown: the worker stores it again."""

from __future__ import annotations

import psycopg
import pytest

from hearthpay.banking.number_endings import renew_number_endings
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.doctor.proofs import vault_numbers
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from tests.banking.families import Family, add_family, connect_employee, connect_household, details, rows

SHOWN = "SELECT owner_kind, kind, last_four FROM vault ORDER BY owner_kind DESC, kind"
OF_ACCOUNTS = "SELECT employee_id IS NULL, status = 'replaced', last_four FROM bank_accounts ORDER BY id"


@pytest.fixture
async def family(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing, clock: FixedClock
) -> Family:
    """A family with accounts of six and seven digits, as an earlier version stored them; one was replaced."""
    family = add_family(owner)
    for number in ("654321", "7654321"):
        await connect_household(owner_database, ring, family, clock.now(), details(number))
    await connect_employee(owner_database, ring, family, clock.now(), details("123456"))
    owner.execute("UPDATE vault SET last_four = right(last_four, 3) WHERE kind = 'bank_account'")
    owner.execute("UPDATE bank_accounts SET last_four = right(last_four, 3)")
    return family


def _endings(owner: psycopg.Connection, kind: str) -> list[str]:
    return [shown for _, each, shown in rows(owner, SHOWN) if each == kind]


async def test_kept_rows_show_four_digits_after_the_workers_job(
    family: Family, owner: psycopg.Connection, worker_database: Database, ring: KeyRing
) -> None:
    assert _endings(owner, "bank_account") == ["321", "456"]
    log = rows(owner, "SELECT count(*) FROM audit_log")[0][0]
    assert await renew_number_endings(worker_database, ring, lambda: False, chunk=1) == (2, 0)
    assert _endings(owner, "bank_account") == ["4321", "3456"]
    assert _endings(owner, "bank_routing") == ["0021", "0021"]
    # The number of the account that was replaced is gone.
    assert rows(owner, OF_ACCOUNTS) == [(True, True, "321"), (True, False, "4321"), (False, False, "3456")]
    assert rows(owner, "SELECT count(*) FROM audit_log")[0][0] == log + 2
    assert rows(
        owner, "SELECT DISTINCT details ->> 'purpose' FROM audit_log WHERE action = 'vault.read'"
    ) == [("vault.display",)]
    assert await renew_number_endings(worker_database, ring, lambda: False) == (0, 0)


async def test_a_number_that_the_ring_cannot_read_stays_and_keeps_nothing_back(
    family: Family, owner: psycopg.Connection, worker_database: Database, ring: KeyRing
) -> None:
    other = KeyRing((EncryptionKey.generate(),))
    assert await renew_number_endings(worker_database, other, lambda: False, chunk=1) == (0, 2)
    assert await renew_number_endings(worker_database, ring, lambda: True) == (0, 0)
    assert _endings(owner, "bank_account") == ["321", "456"]


async def test_the_doctor_knows_both_endings_and_no_third(
    family: Family, owner: psycopg.Connection, owner_database: Database, ring: KeyRing
) -> None:
    async with owner_database.transaction(None) as session:
        assert await vault_numbers(session, ring) == []
    owner.execute("UPDATE vault SET last_four = '999' WHERE last_four = '456'")
    async with owner_database.transaction(None) as session:
        assert len(await vault_numbers(session, ring)) == 2
