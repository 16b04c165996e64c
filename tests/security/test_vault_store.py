"""A number comes back to whom it belongs, on record, and to nobody else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import errors
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from hearthpay.database.session import Database, Tenant
from hearthpay.database.vault_store import SecretMissingError, last_four, read_secret, store_secret
from hearthpay.security.key_ring import EncryptionKey, KeyRing, UnknownKeyError
from hearthpay.security.vault_cipher import SecretOwner, UnreadableSecretError
from hearthpay.security.vault_numbers import NumberKind, parse_number
from tests.conftest import plain_url
from tests.database.household import Household
from tests.database.sealing import enter
from tests.security.conftest import Clerk, add_empty_household, employee_of, employer_of

SSN = parse_number("ssn", "536-22-8145")
EIN = parse_number("ein", "12-3456789")


async def keep(
    database: Database,
    ring: KeyRing,
    clerk: Clerk,
    household: Household,
    *texts: tuple[NumberKind, str],
    owner: SecretOwner | None = None,
) -> None:
    async with database.transaction(household.tenant) as session:
        for kind, written in texts:
            await store_secret(
                session, ring, clerk, owner or employee_of(household), parse_number(kind, written)
            )


async def read(
    database: Database, ring: KeyRing, clerk: Clerk, household: Household, kind: NumberKind
) -> str:
    async with database.transaction(household.tenant) as session:
        number = await read_secret(session, ring, clerk, employee_of(household), kind, purpose="document.w2")
    return number.reveal()


async def test_an_agencys_number_is_kept_with_its_registration_and_goes_with_it(
    database: Database, owner: psycopg.Connection, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    (registration,) = owner.execute("SELECT id FROM state_registrations").fetchone() or ()
    place = replace(employer_of(smiths), kind="registration", id=registration)
    longest = "WH-" + "1" * 37
    async with database.transaction(smiths.tenant) as session:
        for written in ("7", longest):
            await store_secret(session, ring, clerk, place, parse_number("state_account", written))
        number = await read_secret(
            session, ring, clerk, place, "state_account", purpose="registration.reveal"
        )
    assert number.reveal() == longest
    assert owner.execute("SELECT last_four, registration_id FROM vault").fetchall() == [
        ("1111", registration)
    ]
    owner.execute("DELETE FROM state_registrations")
    assert owner.execute("SELECT FROM vault").rowcount == 0


async def test_round_trip(
    database: Database, owner: psycopg.Connection, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    texts: list[tuple[NumberKind, str]] = [
        ("ssn", "536-22-8145"),
        ("bank_routing", "121000358"),
        ("bank_account", "00123456789012345"),
    ]
    await keep(database, ring, clerk, smiths, *texts)
    await keep(
        database,
        ring,
        clerk,
        smiths,
        ("ein", "12-3456789"),
        ("ssn", "401-33-9876"),
        owner=employer_of(smiths),
    )
    for kind, written in texts:
        assert await read(database, ring, clerk, smiths, kind) == written.replace("-", "")
    async with database.transaction(smiths.tenant) as session:
        assert await last_four(session, employee_of(smiths), "ssn") == "8145"
        assert await last_four(session, employer_of(smiths), "ssn") == "9876"
        assert await last_four(session, employee_of(smiths), "itin") is None
        ein = await read_secret(
            session, ring, clerk, employer_of(smiths), "ein", purpose="document.schedule_h"
        )
    assert ein.reveal() == "123456789"
    rows = owner.execute("SELECT length(nonce), key_id, id, rotated_at FROM vault").fetchall()
    assert {(row[0], row[1], row[2].version, row[3]) for row in rows} == {(12, ring.newest.id, 7, None)}


async def test_every_deed_is_on_record_and_none_that_was_undone(
    database: Database, owner: psycopg.Connection, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    await keep(database, ring, clerk, smiths, ("ssn", "536-22-8145"))
    await read(database, ring, clerk, smiths, "ssn")
    async with database.transaction(smiths.tenant) as session:
        await last_four(session, employee_of(smiths), "ssn")

    async def change_my_mind() -> None:
        async with database.transaction(smiths.tenant) as session:
            await read_secret(session, ring, clerk, employee_of(smiths), "ssn", purpose="undone")
            raise LookupError

    with pytest.raises(LookupError):
        await change_my_mind()
    rows = owner.execute(
        "SELECT action, actor_kind, actor_id, employer_id, sandbox, subject_id, request_id, details "
        "FROM audit_log WHERE action LIKE 'vault.%' ORDER BY id"
    ).fetchall()
    who = ("user", clerk.id, smiths.employer_id, False, smiths.employee_id, "req_vault")
    assert rows == [
        ("vault.store", *who, {"owner_kind": "employee", "kind": "ssn"}),
        ("vault.read", *who, {"owner_kind": "employee", "kind": "ssn", "purpose": "document.w2"}),
    ]


@pytest.mark.parametrize(
    "purpose", ["", "W2", "w2 for 536-22-8145", "n536228145", "a12.b345", "x" * 65, "w2\n"]
)
async def test_a_purpose_cannot_smuggle_a_number(
    purpose: str, database: Database, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    await keep(database, ring, clerk, smiths, ("ssn", "536-22-8145"))
    with pytest.raises(ValueError, match="a purpose is") as refusal:
        async with database.transaction(smiths.tenant) as session:
            await read_secret(session, ring, clerk, employee_of(smiths), "ssn", purpose=purpose)
    assert "8145" not in str(refusal.value)


async def test_a_new_number_takes_the_old_ones_place(
    database: Database, owner: psycopg.Connection, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    await keep(database, ring, clerk, smiths, ("bank_account", "11112222"))
    await keep(database, ring, clerk, smiths, ("bank_account", "33334444"))
    assert await read(database, ring, clerk, smiths, "bank_account") == "33334444"
    assert owner.execute("SELECT last_four, rotated_at >= created_at FROM vault").fetchall() == [
        ("4444", True)
    ]


async def test_equal_numbers_do_not_look_equal(
    database: Database, owner: psycopg.Connection, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    await keep(database, ring, clerk, smiths, ("ssn", "536-22-8145"))
    await keep(database, ring, clerk, smiths, ("ssn", "536-22-8145"), owner=employer_of(smiths))
    assert len(set(owner.execute("SELECT ciphertext FROM vault").fetchall())) == 2


async def test_a_missing_number_is_said_to_be_missing(
    database: Database, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    with pytest.raises(SecretMissingError, match="holds no ssn of employee"):
        await read(database, ring, clerk, smiths, "ssn")


@pytest.mark.parametrize(
    "change",
    [
        "ciphertext = set_byte(ciphertext, 0, get_byte(ciphertext, 0) # 1)",
        "ciphertext = set_byte(ciphertext, length(ciphertext) - 1, get_byte(ciphertext, length(ciphertext) - 1) # 128)",
        "ciphertext = substr(ciphertext, 1, length(ciphertext) - 1)",
        "nonce = set_byte(nonce, 11, get_byte(nonce, 11) # 1)",
        "kind = 'itin'",
    ],
)
async def test_a_changed_row_is_refused(
    change: str, database: Database, owner: psycopg.Connection, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    await keep(database, ring, clerk, smiths, ("ssn", "536-22-8145"))
    owner.execute(f"UPDATE vault SET {change}")
    with pytest.raises(UnreadableSecretError):
        await read(database, ring, clerk, smiths, "itin" if "itin" in change else "ssn")
    assert owner.execute("SELECT FROM audit_log WHERE action = 'vault.read'").rowcount == 0


@pytest.mark.parametrize("foreign", ["another kind", "another owner", "another household", "a sandbox"])
async def test_a_ciphertext_swapped_between_rows_is_refused(
    foreign: str,
    database: Database,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
    joneses: Household,
) -> None:
    sandbox = add_empty_household(owner, smiths.organization_id, sandbox=True)
    await keep(database, ring, clerk, smiths, ("ssn", "536-22-8145"))
    match foreign:
        case "another kind":
            await keep(database, ring, clerk, smiths, ("bank_routing", "121000358"))
        case "another owner":
            await keep(database, ring, clerk, smiths, ("ssn", "401-33-9876"), owner=employer_of(smiths))
        case "another household":
            await keep(database, ring, clerk, joneses, ("ssn", "401-33-9876"))
        case "a sandbox":
            await keep(database, ring, clerk, sandbox, ("ssn", "401-33-9876"))
    moved = owner.execute(
        "UPDATE vault SET (ciphertext, nonce) = (SELECT ciphertext, nonce FROM vault ORDER BY id DESC LIMIT 1) "
        "WHERE id = (SELECT min(id::text)::uuid FROM vault)"
    )
    assert moved.rowcount == 1
    with pytest.raises(UnreadableSecretError):
        await read(database, ring, clerk, smiths, "ssn")


async def test_another_key_of_the_same_id_is_refused(
    database: Database, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    await keep(database, ring, clerk, smiths, ("ssn", "536-22-8145"))
    with pytest.raises(UnreadableSecretError):
        await read(
            database, KeyRing((EncryptionKey(ring.newest.id, b"0" * 31 + b"1"),)), clerk, smiths, "ssn"
        )


async def test_a_missing_key_is_named(
    database: Database, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    await keep(database, ring, clerk, smiths, ("ssn", "536-22-8145"))
    with pytest.raises(UnknownKeyError, match=ring.newest.id):
        await read(database, KeyRing((EncryptionKey.generate(),)), clerk, smiths, "ssn")


async def test_other_tenants_see_and_change_nothing(
    database: Database,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
    joneses: Household,
) -> None:
    await keep(database, ring, clerk, smiths, ("ssn", "536-22-8145"))
    second = add_empty_household(owner, smiths.organization_id)
    strangers = [
        None,
        joneses.tenant,
        Tenant(smiths.organization_id, sandbox=True),
        Tenant(smiths.organization_id, False, second.employer_id),
    ]
    for tenant in strangers:
        async with database.transaction(tenant) as session:
            assert await last_four(session, employee_of(smiths), "ssn") is None
            with pytest.raises(SecretMissingError):
                await read_secret(session, ring, clerk, employee_of(smiths), "ssn", purpose="theft")
        with pytest.raises(DBAPIError) as refusal:
            async with database.transaction(tenant) as session:
                await store_secret(session, ring, clerk, employee_of(smiths), SSN)
        assert isinstance(refusal.value.orig, errors.InsufficientPrivilege)
    async with database.transaction(Tenant(smiths.organization_id, False, smiths.employer_id)) as session:
        assert await last_four(session, employee_of(smiths), "ssn") == "8145"


async def test_a_number_needs_its_owner(
    database: Database, ring: KeyRing, clerk: Clerk, smiths: Household, joneses: Household
) -> None:
    wrong = [
        (replace(employee_of(smiths), id=uuid4()), SSN),
        (replace(employee_of(smiths), id=joneses.employee_id), SSN),
        (replace(employer_of(smiths), id=joneses.employer_id), EIN),
        (employee_of(smiths), EIN),
    ]
    for owner, number in wrong:
        with pytest.raises(IntegrityError):
            async with database.transaction(smiths.tenant) as session:
                await store_secret(session, ring, clerk, owner, number)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM vault",
        "TRUNCATE vault",
        "UPDATE vault SET owner_id = employer_id, owner_kind = 'employer'",
        "UPDATE vault SET kind = 'itin'",
        "UPDATE vault SET organization_id = organization_id",
        "UPDATE vault SET created_at = now()",
    ],
)
async def test_the_service_can_only_replace_a_number(
    statement: str, database: Database, ring: KeyRing, clerk: Clerk, smiths: Household, server
) -> None:
    await keep(database, ring, clerk, smiths, ("ssn", "536-22-8145"))
    with psycopg.connect(plain_url(server.service_url())) as service:
        enter(service, smiths.organization_id)
        assert service.execute("SELECT FROM vault").rowcount == 1
        with pytest.raises(errors.InsufficientPrivilege, match="permission denied"):
            service.execute(statement)


async def test_a_number_goes_with_its_owner(
    database: Database, owner: psycopg.Connection, ring: KeyRing, clerk: Clerk, smiths: Household
) -> None:
    await keep(database, ring, clerk, smiths, ("ssn", "536-22-8145"))
    for table in ("paychecks", "employees"):
        owner.execute(f"DELETE FROM {table}")
    assert owner.execute("SELECT FROM vault").rowcount == 0


async def test_a_number_goes_with_its_sandbox_household(
    database: Database,
    owner: psycopg.Connection,
    ring: KeyRing,
    clerk: Clerk,
    smiths: Household,
) -> None:
    sandbox = add_empty_household(owner, smiths.organization_id, sandbox=True)
    await keep(database, ring, clerk, sandbox, ("ssn", "536-22-8145"))
    await keep(database, ring, clerk, sandbox, ("ein", "12-3456789"), owner=employer_of(sandbox))
    await keep(database, ring, clerk, smiths, ("ssn", "401-33-9876"))
    async with database.transaction(sandbox.tenant) as session:
        await session.execute(
            text("SELECT clear_sandbox_household(:household, false)"), {"household": sandbox.employer_id}
        )
    assert owner.execute("SELECT owner_id FROM vault").fetchall() == [(smiths.employee_id,)]


def test_nobody_else_decrypts() -> None:
    """The vault one number at a time, a bank file's many at once, rotation, the digits shown, and who looks at keys or
    proves numbers."""
    source = Path(__file__).parents[2] / "src" / "hearthpay"
    users = {path.stem for path in source.rglob("*.py") if re.search(r"\bunseal\b", path.read_text())}
    looking = {"sealing_keys", "required_keys", "proofs", "reconciliation"}
    assert users == {"vault_cipher", "vault_store", "vault_rotation", "vault_endings", "files"} | looking
    decrypting = {path.stem for path in source.rglob("*.py") if ".decrypt(" in path.read_text()}
    assert decrypting == {"vault_cipher", "file_seal", "content_seal", "required_keys"}
