"""A sandbox household that was emptied or deleted took its papers, mails and enrollments along: nobody misses them."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hearthpay.access.actor import Actor
from hearthpay.database.session import Tenant
from hearthpay.doctor.examination import examine
from hearthpay.employers.sandbox import delete_sandbox, reset_sandbox
from tests.rights.damage import DAMAGE
from tests.rights.world import Household


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
