"""Chunks that are worked on at the same time: how many, when they end, and what an error or a cancellation does."""

import asyncio

import pytest

from hearthpay.database.chunks import in_chunks


class Work:
    """So many full chunks, then an empty one; counts how many are worked on at the same time."""

    def __init__(self, chunks: int) -> None:
        self.left = chunks
        self.done = self.now = self.most = 0

    async def one(self, more) -> bool:
        if not self.left:
            return False
        self.left -= 1
        more()
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        self.done += 1
        return True


def never() -> bool:
    return False


@pytest.mark.parametrize("at_once", [1, 2, 3])
async def test_every_chunk_is_done_with_so_many_at_a_time(at_once):
    work = Work(20)
    await in_chunks(work.one, stopping=never, at_once=at_once)
    assert (work.done, work.most) == (20, at_once)


async def test_no_second_chunk_begins_before_the_first_is_claimed():
    calls = []

    async def nothing_due(more) -> bool:
        calls.append(1)
        await asyncio.sleep(0)
        return False

    await in_chunks(nothing_due, stopping=never)
    assert calls == [1]


async def test_stopping_ends_between_chunks():
    work = Work(20)
    await in_chunks(work.one, stopping=lambda: work.done >= 3)
    assert 3 <= work.done <= 4
    assert work.now == 0


async def test_after_an_error_the_other_chunk_is_finished_and_none_begins():
    begun, finished = [], []

    async def one(more) -> bool:
        number = len(begun)
        begun.append(number)
        if number == 0:
            more()
            await asyncio.sleep(0)
            raise RuntimeError("the first chunk")
        for _ in range(5):
            await asyncio.sleep(0)
        finished.append(number)
        return True

    with pytest.raises(RuntimeError, match="the first chunk"):
        await in_chunks(one, stopping=never)
    assert (begun, finished) == ([0, 1], [1])


async def test_a_cancellation_reaches_every_chunk():
    canceled = []

    async def one(more) -> bool:
        more()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            canceled.append(1)
            raise
        return True

    task = asyncio.create_task(in_chunks(one, stopping=never))
    for _ in range(5):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert canceled == [1, 1]
