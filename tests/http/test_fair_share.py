"""An organization's requests share its places; nobody else waits for them."""

import asyncio
from uuid import uuid4

import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.http import fair_share
from hearthpay.http.fair_share import LONGEST_QUEUE, FairShare, share_of
from hearthpay.http.statuses import status_of

ONE, OTHER = uuid4(), uuid4()


async def test_only_its_share_is_worked_on_in_the_order_of_asking() -> None:
    shares = FairShare(2)
    working = most = 0
    done = []

    async def work(number: int) -> None:
        nonlocal working, most
        async with shares.place(ONE):
            working += 1
            most = max(most, working)
            await asyncio.sleep(0.001)
            working -= 1
            done.append(number)

    await asyncio.gather(*(work(number) for number in range(20)))
    assert most == 2
    assert done == sorted(done)
    assert not shares._shares


async def test_another_organization_does_not_wait() -> None:
    shares = FairShare(1)
    async with shares.place(ONE), asyncio.timeout(1), shares.place(OTHER):
        pass


async def test_who_gives_up_leaves_its_place_to_the_next() -> None:
    shares = FairShare(1)
    entered = asyncio.Event()

    async def enter() -> None:
        async with shares.place(ONE):
            entered.set()

    async with shares.place(ONE):
        impatient = asyncio.create_task(enter())
        patient = asyncio.create_task(enter())
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.gather(impatient, return_exceptions=True)
    late = asyncio.create_task(enter())
    late.cancel()  # at the moment at which the place is handed on
    async with asyncio.timeout(1):
        await patient
    async with asyncio.timeout(1), shares.place(ONE):
        pass


async def test_the_queue_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_share, "WAIT_AT_MOST", 0.05)
    shares = FairShare(1)
    async with shares.place(ONE):

        async def wait() -> None:
            async with shares.place(ONE):
                pass

        answers = await asyncio.gather(*(wait() for _ in range(LONGEST_QUEUE + 1)), return_exceptions=True)
    assert all(isinstance(answer, Refusal) and status_of(answer) == 429 for answer in answers)
    async with asyncio.timeout(1), shares.place(ONE):
        pass


def test_the_setting_is_read_strictly() -> None:
    assert share_of({"HEARTHPAY_REQUESTS_AT_ONCE": "9"}) == 9
    with pytest.raises(ValueError, match="HEARTHPAY_REQUESTS_AT_ONCE"):
        share_of({"HEARTHPAY_REQUESTS_AT_ONCE": "none"})
