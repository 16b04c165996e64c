"""Test clocks take turns: far advances of one organization keep another waiting for one turn, whatever they cost."""

from dataclasses import replace

import pytest

from hearthpay.mail.notices import NotificationSettings
from hearthpay.worker import household_time
from hearthpay.worker.household_time import advance_clocks
from tests.http.api import NewAccount
from tests.sandbox.households import Lab

INSTANTS = 3
FAR = "2028-11-01"


async def _turn(lab: Lab, instants: int = INSTANTS) -> int:
    """Let the worker take one turn; return how many instants it led a household on."""
    progress = await advance_clocks(
        *(lab.worker, lab.ring, lab.clock, NotificationSettings(sends=True), lambda: False),
        slice_seconds=3600,
        instants=instants,
    )
    return progress.done


async def _other(lab: Lab, new_account: NewAccount, name: str) -> Lab:
    account = await new_account(name)
    return replace(lab, caller=account.test, organization_id=account.organization_id)


async def _moved(lab: Lab, employer_id: str) -> bool:
    return bool((await lab.now(employer_id))["status"] == "ready")


async def test_three_far_advances_keep_another_organization_waiting_for_one_turn(
    lab: Lab, new_account: NewAccount
) -> None:
    for far in [await lab.household(None) for _ in range(3)]:
        await lab.ask(far, FAR)
    await _turn(lab)
    bystander = await _other(lab, new_account, "Bystander")
    theirs = await bystander.household(None)
    await bystander.ask(theirs, "2026-11-21")
    work = 0
    turns = 0
    while not await _moved(bystander, theirs):
        work += await _turn(lab)
        turns += 1
    assert turns <= 2, "theirs, and at most one of the others"
    assert work <= 2 * INSTANTS, "and a turn is so much work, however far an advance goes"


async def test_a_year_takes_turns_of_so_many_instants_each(lab: Lab, new_account: NewAccount) -> None:
    """Two organizations that both advance far have every second turn, and of one the households do."""
    far = [await lab.household(None) for _ in range(2)]
    other = await _other(lab, new_account, "Others")
    also_far = await other.household(None)
    for whose, employer_id in ((lab, far[0]), (lab, far[1]), (other, also_far)):
        await whose.ask(employer_id, FAR)
    before = {each: (await lab.now(each))["now"] for each in far} | {
        also_far: (await other.now(also_far))["now"]
    }
    order = []
    for _ in range(6):
        assert await _turn(lab) == INSTANTS
        for each in before:
            now = (await (other if each == also_far else lab).now(each))["now"]
            if now != before[each]:
                order.append(each)
                before[each] = now
    assert [each == also_far for each in order] in ([True, False] * 3, [False, True] * 3)
    assert [each for each in order if each != also_far][:2] in (far, far[::-1])


async def test_who_deletes_households_and_makes_new_ones_overtakes_nobody(
    lab: Lab, new_account: NewAccount
) -> None:
    """Without households an organization has no turn to remember; it still joins at the end of the line."""
    bystander = await _other(lab, new_account, "Bystander")
    theirs = await bystander.household(None)
    await bystander.ask(theirs, FAR)
    assert await _turn(lab) == INSTANTS
    for _ in range(3):
        quick = await lab.household(None)
        await lab.ask(quick, "2026-11-21")
        before = (await bystander.now(theirs))["now"]
        while not await _moved(lab, quick):
            await _turn(lab)
        assert (await bystander.now(theirs))["now"] > before, "they have had a turn in between"
        path = f"/api/v1/employers/{quick}"
        deleted = await lab.caller.client.delete(path, headers=lab.caller.headers())
        assert deleted.status_code == 200, deleted.text


@pytest.mark.completeness
def test_a_turn_is_short() -> None:
    """Both bounds of a turn, by time and by work, are there; a year is many turns."""
    assert household_time.INSTANTS_OF_TURN * 20 < 365
    assert household_time.SLICE_SECONDS <= 2
