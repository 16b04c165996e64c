"""What was given before anything was recorded in full is noted by the upgrade as it stands, and held from then on."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from hearthpay.database import migrations
from tests.rights.damage import DAMAGE
from tests.rights.test_rights import findings_after
from tests.rights.world import Household

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


async def test_what_was_given_before_is_not_told(world: Household) -> None:
    without = await findings_after(world, *AS_IF_NOTHING_HAD_BEEN_RECORDED)
    assert set(NOTED) - without.keys() == {"debits_authorized"}
    noted = await findings_after(world, *AS_IF_NOTHING_HAD_BEEN_RECORDED, *RIGHTS)
    assert {name: noted[name].differences for name in noted.keys() & set(NOTED)} == {}


@pytest.mark.parametrize(
    ("law", "damage"),
    [
        pytest.param(law, damage, id=f"{law}: {name}")
        for law in NOTED
        for name, damage in DAMAGE[law].items()
        if name not in NEEDS_EARLIER_ROWS
    ],
)
async def test_what_is_damaged_after_the_upgrade_is_told(
    world: Household, law: str, damage: tuple[str, ...]
) -> None:
    found = await findings_after(world, *AS_IF_NOTHING_HAD_BEEN_RECORDED, *RIGHTS, *damage)
    assert law in found, sorted(found)
