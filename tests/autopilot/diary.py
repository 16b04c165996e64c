"""What a household asked of Autopilot and got, and when: noted as it was answered, beside the books and not in them."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

FOREVER = datetime.datetime.max.replace(tzinfo=datetime.UTC)


class Wish(NamedTuple):
    """Something that changed an enrollment: pause, resume, skip, disable, or `void` of a payroll that waited."""

    at: datetime.datetime
    what: str
    skip_through: datetime.date | None
    voided: tuple[str, ...] = ()


@dataclass
class Diary:
    """Of one employee: wishes by enrollment, payrolls that were run by hand, and when the employee had left."""

    employee_id: str
    wishes: dict[str, list[Wish]] = field(default_factory=dict)
    by_hand: set[str] = field(default_factory=set)
    left: list[tuple[datetime.datetime, bool]] = field(default_factory=list)
    returned: list[datetime.datetime] = field(default_factory=list)

    def was_gone(self, at: datetime.datetime) -> bool:
        """Whether the employee did not work for the household at the instant."""
        spans = pairwise([*self.left, (FOREVER, False)])
        return any(gone and start < at <= end for (start, gone), (end, _) in spans)

    def skipped_through(self, enrollment: str, at: datetime.datetime) -> datetime.date | None:
        """Return the day through which periods were to be skipped, as it stood before the instant."""
        asked = [wish.skip_through for wish in self.wishes.get(enrollment, []) if wish.at < at]
        return asked[-1] if asked else None

    def voided(self) -> Iterator[str]:
        """Every payroll that a wish voided."""
        for wishes in self.wishes.values():
            for wish in wishes:
                yield from wish.voided
