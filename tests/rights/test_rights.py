"""Whatever gives somebody more than was given to him, or hides what was, is told by the law whose right it is.

What was given before anything was recorded in full is noted by the upgrade as it stands, and held from then on. What
went with a sandbox household that was emptied or deleted is missed by nobody.

In one file, since the world of these tests takes longer to make than they take.
"""

import importlib.util
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hearthpay.access.actor import Actor
from hearthpay.database import migrations
from hearthpay.database.session import Tenant
from hearthpay.doctor.checks import CHECKS_BY_ID
from hearthpay.doctor.examination import CheckResult, examine
from hearthpay.doctor.proofs import PROOFS_BY_ID
from hearthpay.doctor.record_checks import HIDDEN, RECORDS
from hearthpay.employers.sandbox import delete_sandbox, reset_sandbox
from tests.cases import every_case
from tests.rights.damage import DAMAGE
from tests.rights.every_table import EXEMPT, tables_read
from tests.rights.world import Household
from tests.worlds.tables import EMPTIED, OWN_TABLES

LAWS = {**CHECKS_BY_ID, **PROOFS_BY_ID}
AS_IF_NOTHING_HAD_BEEN_RECORDED = (
    "DELETE FROM security_alerts",
    "DELETE FROM member_invitations",
    "ALTER TABLE audit_log DISABLE TRIGGER USER",
    "DELETE FROM audit_log",
    "DELETE FROM audit_seals",
    "ALTER TABLE audit_log ENABLE TRIGGER USER",
    "DELETE FROM person_events",
)
NOTED = (
    "member_rights",
    "key_rights",
    "agent_rights",
    "linked_rights",
    "audit_begins",
    "account_history",
    "account_ways_in",
    "account_sessions",
    "operator_rights",
    "authorizations_given",
    "standing_given",
    "debits_authorized",
    "autopilot_terms",
    "documents_issued",
)
"""The laws of what the upgrade notes."""
NEEDS_EARLIER_ROWS = {
    "an invitation that offers more",
    "a membership deleted",
    "in force again",
    "let in again",
    "signing in taken out",
    "the last sign-in taken out",
    "an old password put back",
    "details blanked",
    "addresses blanked",
}
"""What only shows against rows from before, or damages such rows."""


def _migration() -> ModuleType:
    (path,) = (Path(migrations.__file__).parent / "versions").glob("*_rights_given.py")
    spec = importlib.util.spec_from_file_location("rights_given", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RIGHTS = _migration().RIGHTS


async def findings_after(world: Household, *damage: str, law: str | None = None) -> dict[str, CheckResult]:
    """The laws that are broken once the statements have done their damage, which is rolled back; or of one law."""
    books = world.books
    async with books.owner.transaction(None) as session:
        connection = await session.connection()
        for statement in damage:
            changed = await connection.exec_driver_sql(statement)
            assert changed.rowcount != 0, f"nothing to damage: {statement}"
        laws = tuple(LAWS.values()) if law is None else (LAWS[law],)
        results = await examine(session, books.clock.now(), lambda *_: None, laws, ring=books.ring)
        await session.rollback()
    return {result.name: result for result in results if result.found}


async def test_what_was_given_by_rights_is_sound(world: Household) -> None:
    found = await findings_after(world)
    assert {name: result.differences for name, result in found.items()} == {}


async def test_what_nobody_gave_is_told(world: Household) -> None:
    with every_case() as case:
        for law, damages in DAMAGE.items():
            for name, damage in damages.items():
                with case(f"{law}: {name}"):
                    found = await findings_after(world, *damage, law=law)
                    assert law in found
                    assert all(
                        difference.recorded != difference.expected for difference in found[law].differences
                    )
                    assert "me@example.com" not in str(found[law].differences)


# Given before the upgrade.


async def test_what_was_given_before_is_not_told(world: Household) -> None:
    without = await findings_after(world, *AS_IF_NOTHING_HAD_BEEN_RECORDED)
    assert set(NOTED) - without.keys() == {"debits_authorized"}
    noted = await findings_after(world, *AS_IF_NOTHING_HAD_BEEN_RECORDED, *RIGHTS)
    assert {name: noted[name].differences for name in noted.keys() & set(NOTED)} == {}


async def test_what_is_damaged_after_the_upgrade_is_told(world: Household) -> None:
    with every_case() as case:
        for law in NOTED:
            for name, damage in DAMAGE[law].items():
                if name in NEEDS_EARLIER_ROWS:
                    continue
                with case(f"{law}: {name}"):
                    since = (*AS_IF_NOTHING_HAD_BEEN_RECORDED, *RIGHTS, *damage)
                    assert law in await findings_after(world, *since, law=law)


# Gone with a household of the sandbox.


@pytest.mark.parametrize("clear", [reset_sandbox, delete_sandbox])
async def test_what_went_with_its_household_is_not_missed(
    world: Household, clear: Callable[..., Awaitable[Any]]
) -> None:
    books = world.books
    households = world.connection.execute(
        "SELECT id, organization_id FROM employers e WHERE sandbox ORDER BY id"
    ).fetchall()
    gone = 0
    for household, organization in households:
        actor = Actor.operator(organization, sandbox=True, request_id="r")
        async with books.owner.transaction(Tenant(organization, True, household)) as session:
            cleared = await clear(session, actor, household)
            gone += cleared.payrolls_removed
            results = await examine(session, books.clock.now(), lambda *_: None, ring=books.ring)
            await session.rollback()
        wrong = {each.name: each.differences for each in results if each.found and each.name in DAMAGE}
        assert wrong == {}
    assert gone > 0


@pytest.mark.completeness
async def test_every_table_has_a_law_or_a_reason(world: Household) -> None:
    tables = {*EMPTIED, *OWN_TABLES}
    assert sorted(tables - await tables_read(world)) == sorted(EXEMPT)
    assert all(len(reason) > 20 and reason.endswith(".") for reason in EXEMPT.values())


# Versions of records.


def test_every_record_that_is_kept_has_its_laws(world: Household) -> None:
    kept = world.connection.execute(
        "SELECT tgrelid::regclass::text, tgargs FROM pg_trigger WHERE tgname = 'keep_version'"
    ).fetchall()
    arguments = {table: bytes(told).decode().rstrip("\0").split("\0") for table, told in kept}
    assert {table: key for table, (key, *_) in arguments.items()} == {
        table: key for table, (key, _) in RECORDS.items()
    }
    hidden = {table: set(each[3].strip("{}").split(",")) - {""} for table, each in arguments.items()}
    assert set.union(*hidden.values()) == set(HIDDEN)
    for table, (_, _, named, _) in arguments.items():
        assert set(named.strip("{}").split(",")) & set(HIDDEN) == hidden[table], table


async def test_what_the_service_writes_of_itself_needs_no_entry(world: Household) -> None:
    found = await findings_after(
        world,
        "UPDATE invitations SET status = 'expired' WHERE status = 'pending'",
        "INSERT INTO escrow_accounts (organization_id, employer_id, sandbox, employee_id) "
        "SELECT organization_id, employer_id, sandbox, id FROM employees e "
        "WHERE NOT EXISTS (SELECT FROM escrow_accounts a WHERE a.employee_id = e.id)",
        "INSERT INTO credentials (id, person_id, kind, secret, nonce, key_id, created_at) "
        "SELECT new_id(), p.id, 'totp', decode(repeat('00', 32), 'hex'), decode(repeat('00', 12), 'hex'), k.id, now() "
        "FROM people p, vault_keys k WHERE k.status = 'current'",
        law="records_changed",
    )
    assert found == {}
