"""Any sequence of ordinary changes and pressed links: no mailbox gets what it did not have a week before, no link adds
anything, and no freeze gets longer.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import psycopg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.service import update_employee
from hearthpay.employers.commands import ChangeEmployer
from hearthpay.employers.service import update_employer
from hearthpay.people.context import PeopleContext
from hearthpay.people.former_addresses import TOLD_FOR
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from tests.alerts.readers import Alerted, Tell
from tests.alerts.test_table import press, standing
from tests.alerts.thefts import enter_account
from tests.web.rows.world import World

_SETTINGS: Final[dict[str, Any]] = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}
_STEPS: Final = st.lists(
    st.tuples(
        st.sampled_from(("household", "employee", "account", "wait", "press", "press")), st.integers(0, 5)
    ),
    min_size=4,
    max_size=10,
)
_TWICE: Final = (("household", 1), ("household", 2))
"""An address that was set for a minute, before anything else."""
_WAITS: Final = (1, 20, 26, 24 * 5, 24 * 7, 24 * 8)
_NUMBERS: Final = ("household", "employee")


class _Search:
    """A household and an employee, the addresses that they had, and the links that were sent."""

    def __init__(self, world: World, ring: KeyRing, clock: FixedClock, alerted: Tell) -> None:
        self.world, self.ring, self.clock, self.alerted = world, ring, clock, alerted
        self.links: list[Alerted] = []
        self.had: dict[str, list[tuple[datetime, str | None]]] = {
            place: [(clock.now(), address)] for place, address in self.addresses().items()
        }

    def addresses(self) -> dict[str, str | None]:
        row = self.world.connection.execute(
            "SELECT h.email, e.email FROM employers h JOIN employees e ON e.employer_id = h.id WHERE h.id = %s",
            (self.world.household_id,),
        ).fetchone()
        assert row is not None
        return dict(zip(_NUMBERS, row, strict=True))

    def frozen_until(self) -> datetime | None:
        row = self.world.connection.execute(
            "SELECT frozen_until FROM employers WHERE id = %s", (self.world.household_id,)
        ).fetchone()
        assert row is not None
        return row[0] if row[0] is not None and row[0] > self.clock.now() else None

    def a_week_ago(self, place: str) -> int:
        """Which of the place's addresses was in force then, or is its first."""
        then = self.clock.now() - TOLD_FOR
        return max((i for i, (since, _) in enumerate(self.had[place]) if since <= then), default=0)

    async def run(self, steps: Sequence[tuple[str, int]]) -> None:
        for step, number in steps:
            self.clock.advance(timedelta(minutes=7))
            try:
                if step == "press":
                    await self._press(number)
                else:
                    await self._change(step, number)
            except Refusal:
                continue
            self.links += [each for each in await self.alerted() if "/stop/" in each.text]

    async def _change(self, step: str, number: int) -> None:
        world, clock = self.world, self.clock
        if step == "wait":
            clock.advance(timedelta(hours=_WAITS[number]))
            return
        if step == "account":
            await enter_account(world, self.ring, f"5555{number}{len(self.links):04}")
            return
        address = f"{step}{number % 3}.{world.household_id.hex}@example.com"
        async with world.people_context.database.transaction(world.actor.tenant) as session:
            if step == "household":
                changes = ChangeEmployer(email=address)
                await update_employer(session, world.actor, clock, world.household_id, changes)
            else:
                change = ChangeEmployee(email=None if number == 5 else address)
                await update_employee(session, world.actor, clock, world.employee_id, change)
        now = self.addresses()[step]
        if now != self.had[step][-1][1]:
            self.had[step].append((clock.now(), now))

    async def _press(self, number: int) -> None:
        if not self.links:
            return
        mail = self.links[-1 - number % len(self.links)]  # among the latest
        before, frozen, could = self.addresses(), self.frozen_until(), standing(self.world.connection)
        await press(self.world.people_context, mail)
        for place, address in self.addresses().items():
            if address != before[place]:
                allowed = self.a_week_ago(place)
                assert address == self.had[place][allowed][1], (place, self.had[place], address)
                del self.had[place][allowed + 1 :]
        after = standing(self.world.connection)
        assert {name for name in after if after[name] - could[name]} == set(), "a link adds nothing"
        now = self.frozen_until()
        assert frozen is None or now == frozen, "no freeze gets longer"
        assert now is None or now <= self.clock.now() + timedelta(days=1)


@settings(max_examples=12, **_SETTINGS)
@given(steps=_STEPS)
async def test_no_sequence_gives_a_mailbox_more(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
    alerted: Tell,
    steps: list[tuple[str, int]],
) -> None:
    owner_connection.execute("DELETE FROM security_alerts")
    world = await World.make(people_context, owner_connection, maria, email="home@example.com")
    clock.advance(timedelta(days=8))
    await _Search(world, ring, clock, alerted).run([*_TWICE, *steps])
