"""Whatever happens to a payroll: its money adds up to nothing left over, and something can end it."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.return_handling import mark_returned
from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine
from hearthpay.doctor.exposure import open_cases
from hearthpay.payroll.payday import bank_day
from hearthpay.payroll.payday.bank_outcomes import apply_returns
from hearthpay.payroll.payday.due_work import work_due
from tests.http.api import data
from tests.worlds.households import add_employee
from tests.worlds.town import Family, Town, new_family, rows

# In and out as the bank's entries say, held as the books do: wages of what is being collected, set-asides that stand.
_ACCOUNT = """
    SELECT p.id, p.status, coalesce(m.collected, 0), coalesce(m.to_collect, 0), coalesce(m.out, 0),
           coalesce(m.held, 0) + coalesce(s.set_aside, 0)
           + CASE WHEN p.status = 'pending_funding' THEN coalesce(s.wages, 0) ELSE 0 END
      FROM payrolls p
      LEFT JOIN (SELECT payroll_id,
                        sum(amount) FILTER (WHERE kind = 'debit' AND status IN ('sent', 'settled')) AS collected,
                        sum(amount) FILTER (WHERE kind = 'debit' AND status = 'pending') AS to_collect,
                        sum(amount) FILTER (WHERE kind <> 'debit' AND status IN ('sent', 'settled')) AS out,
                        sum(amount) FILTER (WHERE kind <> 'debit' AND status = 'pending') AS held
                   FROM bank_entries GROUP BY payroll_id) m ON m.payroll_id = p.id
      LEFT JOIN (SELECT c.payroll_id, sum(c.set_aside) AS set_aside, sum(c.net_pay) AS wages FROM paychecks c
                  WHERE c.payment_method = 'direct_deposit' AND c.reverses IS NULL
                    AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id) GROUP BY c.payroll_id) s
        ON s.payroll_id = p.id
     WHERE p.employer_id = %s
"""
_LEFT = "SELECT id FROM bank_entries WHERE employer_id = %s AND kind = %s AND status IN ('sent', 'settled') ORDER BY id"
_UNDER_WAY = "SELECT count(*) FROM bank_entries WHERE employer_id = %s AND status IN ('pending', 'sent')"

_WRITTEN = (
    "bank_accounts",
    "bank_entries",
    "bank_files",
    "payrolls",
    "paychecks",
    "paycheck_remedies",
    "payroll_transitions",
    "mail_outbox",
    "worker_problems",
    "worker_counts",
)
"""What a bank day writes."""

#: An organization may have three sandbox households.
_FAMILIES = itertools.count()

_RETURNS = st.tuples(
    st.just("return"),
    st.sampled_from(["debit", "debit", "credit", "refund", "payout"]),
    st.sampled_from(["R01", "R02", "R10"]),
    st.integers(0, 3),
)
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("days"), st.integers(1, 3)),
        st.tuples(st.just("days"), st.integers(1, 3)),
        _RETURNS,
        st.tuples(st.just("fail"), st.sampled_from(["household", "employees"])),
        st.tuples(st.just("connect"), st.sampled_from(["household", "employees"])),
        st.tuples(st.sampled_from(["revoke", "authorize", "void"])),
        st.tuples(
            st.just("remedy"),
            st.integers(0, 1),
            st.sampled_from(["pay_by_check", "wait_for_account", "refund"]),
        ),
    ),
    min_size=4,
    max_size=12,
)


class Journey:
    """A household with two employees by direct deposit and one by check, and everything that can befall them."""

    def __init__(
        self,
        town: Town,
        family: Family,
        employees: list[str],
        owner: psycopg.Connection,
        *,
        whole: bool = False,
    ) -> None:
        self.town, self.family, self.employees, self.owner = town, family, employees, owner
        self.numbers = iter(range(10_000))
        self.whole = whole
        self.idle = 0
        """Rounds that were to end at once and went on nonetheless, as `whole` asks for."""

    async def step(self, what: str, *how: Any) -> None:
        await getattr(self, f"_{what}")(*how)

    async def _days(self, count: int) -> None:
        for _ in range(count):
            for hour in (8, 15):
                day = self.town.clock.today() + timedelta(days=hour == 8)
                self.town.go_to(day.isoformat(), hour)
                await (self._whole_round() if self.whole else self.town.work())

    async def _whole_round(self) -> None:
        """Take all steps of the bank day even if it finds nothing due: then none of them changes anything."""
        found = []

        async def asked(session: AsyncSession, now: datetime) -> bool:
            found.append(await work_due(session, now))
            return True

        before = self._written()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bank_day, "work_due", asked)
            report = await self.town.work()
        if found == [False]:
            self.idle += 1
            assert self._written() == before
            assert (report.funded, report.completed, report.delivered, report.problems) == (0, 0, (), ())

    def _written(self) -> list[tuple[Any, ...]]:
        return [
            row for table in _WRITTEN for row in rows(self.owner, f"SELECT t::text FROM {table} t ORDER BY 1")
        ]

    async def _return(self, kind: str, code: str, which: int) -> None:
        found = rows(self.owner, _LEFT, self.family.employer_id, kind)
        if not found:
            return
        [entry] = found[which % len(found)]
        now = self.town.clock.now()
        async with self.town.worker.transaction(None) as session:
            returned = await mark_returned(session, now, {entry: code})
            await apply_returns(session, returned, self.town.clock.today(), now)

    async def _fail(self, whose: str) -> None:
        null = "IS NULL" if whose == "household" else "IS NOT NULL"
        self.owner.execute(
            "UPDATE bank_accounts SET status = 'failed' WHERE employer_id = %s AND status = 'active' "
            f"AND employee_id {null}",
            (self.family.employer_id,),
        )

    async def _connect(self, whose: str) -> None:
        number = f"55550{next(self.numbers):04}"
        people = () if whose == "household" else self.employees
        await self.town.connect(self.family.caller, self.family.employer_id, *people, account=number)

    async def _revoke(self) -> None:
        self.owner.execute(
            "UPDATE ach_authorizations SET revoked_at = authorized_at WHERE employer_id = %s",
            (self.family.employer_id,),
        )

    async def _authorize(self) -> None:
        path = f"/employers/{self.family.employer_id}/debit-authorization"
        data(await self.family.caller.post(path, {"confirm_ach_debit": True}))

    async def _void(self) -> None:
        """Whatever says that it can be voided can be."""
        for detail in await self.payrolls():
            answer = await self.family.caller.post(f"/payroll/{detail['payroll_id']}/void", {})
            assert answer.status_code == (200 if "void" in detail["actions"] else 400), answer.text

    async def _remedy(self, which: int, action: str) -> None:
        for detail in await self.payrolls():
            for employee in detail["employees"]:
                if employee["employee_id"] != self.employees[which]:
                    continue
                body = {"action": action}
                if action == "wait_for_account":
                    body["until"] = (self.town.clock.today() + timedelta(days=3)).isoformat()
                path = f"/payroll/{detail['payroll_id']}/paychecks/{self.employees[which]}/remedy"
                answer = await self.family.caller.post(path, body)
                decided = employee.get("remedy", {})
                same = decided.get("action") == action and decided.get("until") == body.get("until")
                allowed = action in employee.get("remedies", ()) or same
                assert answer.status_code == (200 if allowed else 400), answer.text

    async def payrolls(self) -> list[dict[str, Any]]:
        listed = data(await self.family.caller.get("/payrolls", employer_id=self.family.employer_id))
        return [data(await self.family.caller.get(f"/payroll/{each['payroll_id']}")) for each in listed]

    async def holds(self, owner_database: Database, *, books: bool) -> set[str]:
        """Nothing is left over, the books are right, and whatever waits can be ended; returns what is open."""
        async with owner_database.transaction(None) as session:
            cases = [
                case
                for case in await open_cases(session, self.town.clock.now())
                if str(case.employer_id) == self.family.employer_id
            ]
            found = await examine(session, self.town.clock.now(), lambda *_: None) if books else []
        wrong = {each.name: each.differences for each in found if each.found and each.name != "open_money"}
        assert wrong == {}
        for payroll_id, status, collected, to_collect, out, held in rows(
            self.owner, _ACCOUNT, self.family.employer_id
        ):
            owed = sum(
                case.amount for case in cases if case.kind == "wages_not_collected" and case.id == payroll_id
            )
            assert collected + to_collect + owed - out - held == 0, (payroll_id, status)
        details = {detail["payroll_id"]: detail for detail in await self.payrolls()}
        for case in cases:
            detail = details.get(str(case.payroll_id), {})
            if case.kind == "debit_waits":
                assert "void" in detail["actions"]
            if case.kind == "deposit_waits":
                [employee] = [
                    each for each in detail["employees"] if UUID(each["employee_id"]) == case.employee_id
                ]
                assert "refund" in employee["remedies"]
        return {case.kind for case in cases}


async def travel(
    steps: list[tuple[Any, ...]],
    ending: str,
    town: Town,
    caller: Any,
    owner_connection: psycopg.Connection,
    owner_database: Database,
    *,
    thorough: bool = False,
) -> None:
    """Take the steps, look after each, and end whatever is open; a thorough look proves the books each time, and
    that a bank day that finds nothing due has nothing to do.
    """
    town.go_to("2026-11-20", 10)
    family = await new_family(town, caller)
    second = await add_employee(caller, family.employer_id, first_name="Ines")
    third = await add_employee(caller, family.employer_id, first_name="Eva")
    await town.connect(caller, family.employer_id, second, account="333344445555")
    deposit = family.order()["employees"][0]
    entries = [
        deposit | {"voluntary_set_aside": {"amount": 40}},
        deposit | {"employee_id": second},
        deposit | {"employee_id": third, "payment_method": "check"},
    ]
    data(await caller.post("/payroll/run", family.order(employees=entries)))
    later = {"pay_period_start": "2026-11-23", "pay_period_end": "2026-11-29"}
    data(await caller.post("/payroll/run", family.order("2026-12-04", employees=entries, **later)))
    journey = Journey(town, family, [family.employee_id, second], owner_connection, whole=thorough)
    for step in [*steps, ("days", 1)]:
        await journey.step(*step)
        await journey.holds(owner_database, books=thorough)
    if ending == "connect":
        await journey.step("connect", "household")
        await journey.step("connect", "employees")
        await journey.step("authorize")
    else:
        await _refuse(journey)
        await journey.step("connect", "household")
        await journey.step("days", 8)  # what was being collected is funded by now
        await _refuse(journey)
    await journey.step("days", 14 if ending == "connect" else 6)
    assert await journey.holds(owner_database, books=True) <= {"wages_not_collected", "set_aside_overdrawn"}
    assert rows(owner_connection, _UNDER_WAY, family.employer_id) == [(0,)]
    for detail in await journey.payrolls():
        assert detail["status"] in ("completed", "failed", "voided")


async def _refuse(journey: Journey) -> None:
    """Take back whatever has not left, without any other account of an employee."""
    await journey.step("void")
    for which in (0, 1):
        await journey.step("remedy", which, "refund")


_SETTINGS = {
    "deadline": None,
    "derandomize": True,
    "phases": (Phase.explicit, Phase.generate),  # an example takes seconds: shrinking one would take minutes
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}


@settings(max_examples=3, **_SETTINGS)
@given(steps=_STEPS, ending=st.sampled_from(["connect", "refuse"]))
async def test_money_adds_up_and_every_payroll_can_be_ended(
    steps: list[tuple[Any, ...]],
    ending: str,
    town: Town,
    account: Any,
    owner_connection: psycopg.Connection,
    owner_database: Database,
):
    await travel(steps, ending, town, account.test, owner_connection, owner_database)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(max_examples=60, **_SETTINGS)
@given(steps=_STEPS, ending=st.sampled_from(["connect", "refuse"]))
async def test_money_adds_up_in_many_journeys(
    steps: list[tuple[Any, ...]],
    ending: str,
    town: Town,
    new_account: Any,
    owner_connection: psycopg.Connection,
    owner_database: Database,
):
    caller = (await new_account(f"Family {next(_FAMILIES)}")).test
    await travel(steps, ending, town, caller, owner_connection, owner_database, thorough=True)


async def test_a_bank_day_that_finds_nothing_due_leaves_nothing_undone(
    family: Family, sandbox_family: Family, town: Town, owner_connection: psycopg.Connection
):
    for each in (family, sandbox_family):
        later = {"pay_period_start": "2026-11-23", "pay_period_end": "2026-11-29"}
        data(await each.caller.post("/payroll/run", each.order()))
        data(await each.caller.post("/payroll/run", each.order("2026-12-04", **later)))
    journey = Journey(town, family, [family.employee_id], owner_connection, whole=True)
    for step in (
        ("days", 3),
        ("return", "debit", "R01", 0),
        ("days", 2),
        ("fail", "employees"),
        ("days", 3),
        ("connect", "employees"),
        ("days", 3),
        ("return", "credit", "R02", 0),
        ("days", 5),
    ):
        await journey.step(*step)
    assert journey.idle >= 12
