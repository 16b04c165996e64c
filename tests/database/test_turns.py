"""Turns: a bystander waits for one chunk of each organization with much to do, never for all that it has."""

from collections.abc import Sequence
from dataclasses import dataclass

from hearthpay.database.turns import Turns

CHUNK = 10


@dataclass
class Line:
    """Rows that wait, the oldest first, by the organization whose they are."""

    waiting: list[str]

    async def take(self, turns: Turns[str], chunk: int = CHUNK) -> Sequence[str]:
        async def claim(resting: list[str]) -> Sequence[str]:
            claimed = [each for each in self.waiting if each not in resting][:chunk]
            for each in claimed:
                self.waiting.remove(each)
            return claimed

        return await turns.take(chunk, claim, lambda row: row)


async def test_a_bystander_waits_for_one_chunk_of_each_other() -> None:
    turns, line = Turns[str](), Line(["A"] * 1_000 + ["B"] * 1_000 + ["bystander"])
    chunks = [await line.take(turns) for _ in range(3)]
    assert chunks == [["A"] * 10, ["B"] * 10, ["bystander"]]


async def test_the_next_bystander_waits_no_longer_than_the_first() -> None:
    """A line that never ends: whoever comes is served within a round of it."""
    turns, line = Turns[str](), Line(["A"] * 10_000)
    for number in range(20):
        line.waiting.append(f"bystander {number}")
        served = [*await line.take(turns), *await line.take(turns)]
        assert f"bystander {number}" in served


async def test_everything_is_served_and_nobody_alone_waits_for_others() -> None:
    turns, line = Turns[str](), Line(["A"] * 35)
    assert [len(await line.take(turns)) for _ in range(5)] == [10, 10, 10, 5, 0]


async def test_many_with_little_each_are_served_by_age() -> None:
    turns, line = Turns[str](), Line([str(number) for number in range(35)])
    served = [each for _ in range(4) for each in await line.take(turns)]
    assert served == [str(number) for number in range(35)]


async def test_where_a_chunk_is_small_every_row_is_a_turn() -> None:
    """Mail is claimed by fives: of ten organizations with much to send, each is served before one is again."""
    turns, line = Turns[str](), Line([each for each in "ABCDEFGHIJ" for _ in range(100)] + ["bystander"])
    served: list[str] = []
    chunks = 0
    while "bystander" not in served:
        served += await line.take(turns, 5)
        chunks += 1
    assert chunks == 11
