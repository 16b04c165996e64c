"""Papers wait in turn by organization, and none is drawn for somebody who has gone."""

import asyncio
import threading
from uuid import uuid4

import pytest

from hearthpay.documents.drawing import DrawingQueue

OURS, THEIRS, BYSTANDER = uuid4(), uuid4(), uuid4()


class Table:
    """A queue with one thread, held up until everything waits, and what it drew in which order."""

    def __init__(self) -> None:
        self.queue = DrawingQueue(at_once=1)
        self.drawn: list[str] = []
        self._open = threading.Event()
        self.first = self.queue.submit(OURS, self._open.wait)

    def draw(self, name: str) -> str:
        self.drawn.append(name)
        return name

    def begin(self) -> None:
        self._open.set()


def test_a_bystander_waits_for_one_paper_of_each_organization() -> None:
    table = Table()
    asked = [
        table.queue.submit(whose, lambda name=name: table.draw(name))  # type: ignore[misc]
        for whose, name in [
            *((OURS, f"ours {number}") for number in range(100)),
            *((THEIRS, f"theirs {number}") for number in range(100)),
            (BYSTANDER, "stub"),
        ]
    ]
    table.begin()
    assert asked[-1].result(timeout=60) == "stub"
    for each in asked:
        each.result(timeout=60)
    assert table.drawn[:5] == ["ours 0", "theirs 0", "stub", "ours 1", "theirs 1"]
    assert len(table.drawn) == 201


def test_what_a_drawing_raises_is_its_askers_and_the_next_is_drawn() -> None:
    table = Table()

    def fail() -> None:
        raise ValueError("a figure is missing")

    failing, next_one = table.queue.submit(OURS, fail), table.queue.submit(OURS, lambda: table.draw("next"))
    table.begin()
    with pytest.raises(ValueError, match="a figure is missing"):
        failing.result(timeout=60)
    assert next_one.result(timeout=60) == "next"


async def test_nothing_is_drawn_for_who_has_gone() -> None:
    table = Table()
    gone = asyncio.ensure_future(
        asyncio.wrap_future(table.queue.submit(OURS, lambda: table.draw("for nobody")))
    )
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    stays = table.queue.submit(OURS, lambda: table.draw("for somebody"))
    table.begin()
    assert await asyncio.wrap_future(stays) == "for somebody"
    assert table.drawn == ["for somebody"]
