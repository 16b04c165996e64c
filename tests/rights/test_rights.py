"""Whatever gives somebody more than was given to him, or hides what was, is told by the law whose right it is."""

import pytest

from hearthpay.doctor.examination import CheckResult, examine
from tests.rights.damage import DAMAGE
from tests.rights.world import Household


async def findings_after(world: Household, *damage: str) -> dict[str, CheckResult]:
    """The laws that are broken once the statements have done their damage, which is rolled back."""
    books = world.books
    async with books.owner.transaction(None) as session:
        connection = await session.connection()
        for statement in damage:
            changed = await connection.exec_driver_sql(statement)
            assert changed.rowcount != 0, f"nothing to damage: {statement}"
        results = await examine(session, books.clock.now(), lambda *_: None, ring=books.ring)
        await session.rollback()
    return {result.name: result for result in results if result.found}


async def test_what_was_given_by_rights_is_sound(world: Household) -> None:
    found = await findings_after(world)
    assert {name: result.differences for name, result in found.items()} == {}


@pytest.mark.parametrize(
    ("law", "damage"),
    [
        pytest.param(law, damage, id=f"{law}: {name}")
        for law, damages in DAMAGE.items()
        for name, damage in damages.items()
    ],
)
async def test_what_nobody_gave_is_told(world: Household, law: str, damage: tuple[str, ...]) -> None:
    found = await findings_after(world, *damage)
    assert law in found, {name: result.differences for name, result in found.items()}
    assert all(difference.recorded != difference.expected for difference in found[law].differences)
