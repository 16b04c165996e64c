"""What a household asked of Autopilot and got, and when: noted as it was answered, beside the books and not in them."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from hearthpay.clock import BUSINESS_TIME

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

    def last_day(self, at: datetime.datetime) -> datetime.date | None:
        """The last day of work of an employee who had left by the instant; leaving once more keeps the first day."""
        left: datetime.datetime | None = None
        for when, gone in self.left:
            if when < at:
                left = (left or when) if gone else None
        return None if left is None else left.astimezone(BUSINESS_TIME).date()

    def skipped_through(self, enrollment: str, at: datetime.datetime) -> datetime.date | None:
        """Return the day through which periods were to be skipped, as it stood before the instant."""
        asked = [wish.skip_through for wish in self.wishes.get(enrollment, []) if wish.at < at]
        return asked[-1] if asked else None

    def voided(self) -> Iterator[str]:
        """Every payroll that a wish voided."""
        for wishes in self.wishes.values():
            for wish in wishes:
                yield from wish.voided
