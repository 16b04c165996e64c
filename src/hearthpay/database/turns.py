"""Turns in a queue whose rows are claimed in chunks: however much one organization has waiting, others come next.

Rows are claimed by their age. An organization that had a large part of a full chunk rests: the next chunks are claimed
from the others, until they have nothing left that is due; then the line begins again. So one chunk of each
organization with much to do comes before anyone else, and not all of it.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

_LARGE_PART: Final = 10
"""More than the tenth part of a chunk is a large one."""

_Whose = TypeVar("_Whose")
_Row = TypeVar("_Row")


class Turns(Generic[_Whose]):
    """Those who rest. Each process remembers its own: what one of them claims, others skip."""

    def __init__(self) -> None:
        self._resting: Final[set[_Whose]] = set()

    async def take(
        self,
        chunk: int,
        claim: Callable[[list[_Whose]], Awaitable[Sequence[_Row]]],
        whose: Callable[[_Row], _Whose],
    ) -> Sequence[_Row]:
        """Return the next `chunk`: what `claim` returns when told whose rows to leave.

        If nobody else has anything due, it is claimed from all.
        """
        rows = await claim(list(self._resting))
        if not rows and self._resting:
            self._resting.clear()
            rows = await claim([])
        if len(rows) < chunk:
            self._resting.clear()
        else:
            served = Counter(map(whose, rows))
            self._resting.update(each for each, number in served.items() if number * _LARGE_PART > chunk)
        return rows
