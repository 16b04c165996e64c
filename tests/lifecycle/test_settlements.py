"""Wages whose debit came back late stay open until the household has paid them, in parts or at once, in any order."""

from __future__ import annotations

from datetime import date
from itertools import permutations
from uuid import UUID

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.database.session import Database
from hearthpay.doctor.examination import count_wrong, examine
from hearthpay.doctor.exposure import OpenCase, open_cases
from hearthpay.doctor.reconciliation import reconcile
from hearthpay.payroll.payday.settlements import Settlement, settle_wages
from tests.lifecycle.forging import send_back
from tests.lifecycle.test_available_actions import at, entry_for, run
from tests.worlds.town import Family, Town, rows

PART = 10_000
ORDERS = [
    order
    for order in permutations(("debit", "deposit", "part", "rest"))
    if order.index("debit") < min(order.index("part"), order.index("rest"))
]
"""Nothing can be settled before the debit is back."""

_OWED = """
    SELECT coalesce(sum(amount) FILTER (WHERE kind <> 'debit'), 0)
           - coalesce(sum(amount) FILTER (WHERE kind = 'debit'), 0)
           - coalesce((SELECT sum(amount) FROM wage_settlements WHERE payroll_id = %s), 0)
      FROM bank_entries WHERE payroll_id = %s AND status IN ('pending', 'sent', 'settled')
"""


class Debtor:
    """A household whose wages have left, and what the register says that it owes."""

    def __init__(self, family: Family, town: Town, database: Database, owner: psycopg.Connection) -> None:
        self.family, self.town, self.database, self.owner = family, town, database, owner
        self.payroll_id = ""

    async def pay(self) -> None:
        self.payroll_id = await run(self.family, employees=[entry_for(self.family.employee_id)])
        for day in ("2026-11-20", "2026-11-25", "2026-11-27"):
            await at(self.town, day)
        await at(self.town, "2026-12-01", 8)

    async def comes_back(self, kind: str, day: int) -> None:
        send_back(self.town, self.owner, self.payroll_id, kind, "R10" if kind == "debit" else "R02")
        await at(self.town, f"2026-12-{day:02}", 9)

    async def settle(
        self, amount: int | None, *, day: date | None = None, by: str = "the household"
    ) -> Settlement:
        [(organization,)] = rows(
            self.owner, "SELECT organization_id FROM payrolls WHERE id = %s", self.payroll_id
        )
        actor = Actor.operator(organization, sandbox=False, request_id="settling-test")
        now, today = self.town.clock.now(), self.town.clock.today()
        async with self.database.transaction(None) as session:
            return await settle_wages(
                session, actor, UUID(self.payroll_id), amount, day or today, by, now, today
            )

    async def open(self, *, examined: bool = True) -> list[OpenCase]:
        """What is open, after holding it against the entries themselves: where examined, nothing else is wrong."""
        now = self.town.clock.now()
        async with self.database.transaction(None) as session:
            cases = await open_cases(session, now)
            found = await examine(session, now, lambda *_: None) if examined else []
            compared = await reconcile(session, self.town.ring, now)
        assert count_wrong(found) == 0, [each.differences for each in found if each.found]
        assert compared.wrong == ()
        [(owed,)] = rows(self.owner, _OWED, self.payroll_id, self.payroll_id)
        said = {"wages_not_collected": 1, "settled_too_much": -1}
        assert sum(said.get(case.kind, 0) * case.amount for case in cases) == owed
        return cases


@pytest.fixture
def debtor(
    family: Family, town: Town, owner_database: Database, owner_connection: psycopg.Connection
) -> Debtor:
    return Debtor(family, town, owner_database, owner_connection)


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
async def test_sums_hold_after_any_order(debtor: Debtor, order: tuple[str, ...]) -> None:
    await debtor.pay()

    async def owed() -> int:
        cases = await debtor.open(examined=False)
        return sum(case.amount for case in cases if case.kind == "wages_not_collected")

    for day, step in enumerate(order, start=2):
        if step in ("debit", "deposit"):
            await debtor.comes_back("credit" if step == "deposit" else "debit", day)
            continue
        before = await owed()
        requested = PART if step == "part" else None
        if before < (requested or 1):
            with pytest.raises(Refusal):
                await debtor.settle(requested)
            continue
        done = await debtor.settle(requested)
        assert done.still_owed == before - done.amount == await owed()
    await debtor.open()


async def test_settled_in_parts_it_is_open_until_the_last(debtor: Debtor) -> None:
    await debtor.pay()
    with pytest.raises(Refusal, match="owes nothing"):
        await debtor.settle(None)
    await debtor.comes_back("debit", 2)
    [case] = await debtor.open()
    assert (case.kind, str(case.employer_id)) == ("wages_not_collected", debtor.family.employer_id)
    for amount, day, by, field in (
        (case.amount + 1, None, "Bo", "amount"),
        (0, None, "Bo", "amount"),
        (None, date(2026, 11, 30), "Bo", "received"),
        (None, date(2026, 12, 9), "Bo", "received"),
        (None, None, "  ", "told_by"),
    ):
        with pytest.raises(Refusal, match=field):
            await debtor.settle(amount, day=day, by=by)
    part = await debtor.settle(PART)
    [rest] = await debtor.open()
    assert rest.amount == part.still_owed == case.amount - PART
    await debtor.settle(None)
    assert await debtor.open() == []
    audited = rows(
        debtor.owner, "SELECT details ->> 'amount' FROM audit_log WHERE action = 'payroll.settle' ORDER BY id"
    )
    assert len(audited) == 2
    with pytest.raises(Refusal, match="owes nothing"):
        await debtor.settle(None)
