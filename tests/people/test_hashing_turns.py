"""However many passwords one network sends, another's waits for few of them."""

import asyncio
import threading

from hearthpay.people.hashing_queue import THREADS, HashingQueue


async def test_each_client_has_its_turn() -> None:
    turns, done, gate = HashingQueue(), [], threading.Event()

    async def check(client: str, number: int) -> None:
        await turns.run(client, gate.wait)
        done.append((client, number))

    flood = [asyncio.create_task(check("stranger", number)) for number in range(50)]
    await asyncio.sleep(0)
    hers = asyncio.create_task(check("known", 0))
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*flood, hers)
    assert done.index(("known", 0)) <= THREADS + 2
    assert len(done) == 51


async def test_whoever_leaves_keeps_nobody_waiting() -> None:
    turns, gate = HashingQueue(), threading.Event()
    under_way = [asyncio.create_task(turns.run("a", gate.wait)) for _ in range(THREADS)]
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(turns.run("b", gate.wait)) for _ in range(3)]
    await asyncio.sleep(0)
    for task in waiting[:2]:
        task.cancel()
    gate.set()
    await asyncio.gather(*under_way, waiting[2])
    assert await turns.run("c", lambda: 1) == 1
    assert turns._under_way == 0


async def test_a_hash_that_fails_gives_its_turn_on() -> None:
    turns = HashingQueue()

    def fail() -> None:
        raise ValueError

    outcomes = await asyncio.gather(*(turns.run("a", fail) for _ in range(9)), return_exceptions=True)
    assert all(isinstance(each, ValueError) for each in outcomes)
    assert await turns.run("a", lambda: 2) == 2
