"""What is kept as overdue and due soon is what the books say, or it is noted as outdated; it is never just wrong."""

import asyncio
import contextlib
import datetime
import re
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.doctor.dues_checks import household_dues
from hearthpay.duties import dues_records
from hearthpay.duties.dues import compute_dues, rules_fingerprint
from hearthpay.duties.dues_records import renew_dues
from hearthpay.duties.service import choose_filing, mark_duty, note_closing
from hearthpay.employers.models import Employer
from tests.duties.test_service import items, pay
from tests.filing.test_service import Q3, filing, payment
from tests.http.api import MARIA, Account, account, app, client, counts, data, household, new_account, new_key
from tests.worlds.households import add_employee

__all__ = ["account", "app", "client", "counts", "household", "new_account", "new_key"]

DAY = datetime.date
_FIGURES = "overdue_since, overdue_count, overdue_cents, week_count, week_cents, next_due, payday_to_run, computed_on"


class Books:
    """A household that pays by check and what it does; each step may be refused, and then changes nothing."""

    def __init__(
        self, account: Account, household: dict[str, Any], owner: Database, clock: FixedClock
    ) -> None:
        self.account, self.household, self.owner, self.clock = account, household, owner, clock
        self.employees: list[str] = []
        self.payrolls: list[str] = []
        self.recorded: list[tuple[str, str]] = []

    async def step(self, name: str, number: int) -> None:
        with contextlib.suppress(Refusal):
            await getattr(self, name)(number)

    async def hire(self, number: int) -> None:
        name = f"Diaz{len(self.employees)}"
        self.employees.append(
            await add_employee(self.account.live, self.household["id"], last_name=name, email=None)
        )

    async def run(self, number: int) -> None:
        monday = DAY(2026, 6, 1) + datetime.timedelta(weeks=number)
        entry = {
            "employee_id": self.employees[number % len(self.employees)],
            "regular_hours": 40,
            "payment_method": "check",
        }
        order = {
            "employer_id": self.household["id"],
            "pay_period_start": monday.isoformat(),
            "pay_period_end": (monday + datetime.timedelta(days=6)).isoformat(),
            "pay_date": (monday + datetime.timedelta(days=9)).isoformat(),
            "pay_frequency": "weekly",
            "notes": "catch-up",
            "employees": [entry],
        }
        ran = await self.account.live.post("/payroll/run", order)
        if ran.is_success:
            self.payrolls.append(ran.json()["data"]["payroll_id"])

    async def void(self, number: int) -> None:
        if self.payrolls:
            await self.account.live.post(f"/payroll/{self.payrolls[number % len(self.payrolls)]}/void", {})

    async def pay(self, number: int) -> None:
        paid = await self.account.live.post(
            "/tax-payments", payment(self.household, amount=number + 1, paid_on="2026-11-01")
        )
        if paid.is_success:
            self.recorded.append(("tax-payments", paid.json()["data"]["payment"]["id"]))

    async def file(self, number: int) -> None:
        filed = await self.account.live.post("/filings", filing(self.household))
        if filed.is_success:
            self.recorded.append(("filings", filed.json()["data"]["id"]))

    async def reverse(self, number: int) -> None:
        if self.recorded:
            ledger, recorded = self.recorded[number % len(self.recorded)]
            await self.account.live.post(f"/{ledger}/{recorded}/reverse", {})

    async def change(self, number: int) -> None:
        await self._patch(
            f"/api/v1/employees/{self.employees[number % len(self.employees)]}",
            ({"work_state": "TX"}, {"work_state": "CA"}, {"pay_rate": 20 + number})[number % 3],
        )

    async def choose_basis(self, number: int) -> None:
        await self._patch(
            f"/api/v1/employers/{self.household['id']}",
            {"threshold_basis": ("as_paid", "assume_crossed")[number % 2]},
        )

    async def end(self, number: int) -> None:
        employee = self.employees[number % len(self.employees)]
        await self.account.live.post(f"/employees/{employee}/terminate", {"end_date": "2026-11-15"})

    async def mark(self, number: int) -> None:
        day = None if number % 3 == 0 else DAY(2026, 11, 3)
        await self._act(mark_duty, key=Q3, done_on=day)

    async def choose(self, number: int) -> None:
        frequency = (None, "annual", "quarterly")[number % 3]
        await self._act(choose_filing, jurisdiction="CA", account="sui", since_year=2026, frequency=frequency)

    async def close(self, number: int) -> None:
        day = None if number % 2 else DAY(2026, 9, 30)
        await self._act(note_closing, jurisdiction="CA", account="sui", closed_on=day)

    async def _patch(self, path: str, body: dict[str, Any]) -> None:
        caller = self.account.live
        await caller.client.patch(path, json=body, headers=caller.headers())

    async def _act(self, service: Any, **facts: Any) -> None:
        async with self.owner.transaction(None) as session:
            employer = await session.get_one(Employer, UUID(self.household["id"]))
            actor = Actor("operator", None, employer.organization_id, "live", frozenset(), "r")
            await service(session, actor, self.clock, employer, **facts)

    async def found(self) -> list[Any]:
        async with self.owner.transaction(None) as session:
            return await household_dues(session, None)


steps = st.lists(
    st.tuples(
        st.sampled_from(
            (
                "run", "run", "void", "pay", "file", "reverse", "change", "choose_basis", "end", "mark", "choose",
                "close", "hire",
            )
        ),
        st.integers(0, 23),
    ),
    min_size=4,
    max_size=9,
)  # fmt: skip


EVERY_STEP: Final = [
    (name, number)
    for number, name in enumerate(
        (
            "run", "pay", "file", "reverse", "change", "choose_basis", "mark", "choose", "close", "hire", "run",
            "void", "end",
        )
    )
]  # fmt: skip
_AT_RANDOM: Final = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}
_given = given(sequence=steps)


async def _figures_are_right_or_noted(
    sequence: list[tuple[str, int]],
    account: Account,
    owner_database: Database,
    worker_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    books = Books(account, data(await account.live.post("/employers", MARIA), 201), owner_database, clock)
    await books.hire(0)
    for name, number in (("run", 1), *sequence):
        await renew_dues(worker_database, clock)
        assert owner_connection.execute("SELECT count(*) FROM outdated_dues").fetchall() == [(0,)]
        await books.step(name, number)
        assert await books.found() == []
    await renew_dues(worker_database, clock)
    assert await books.found() == []


test_after_any_change_the_figures_are_right_or_noted_as_outdated = settings(max_examples=2, **_AT_RANDOM)(
    example(sequence=EVERY_STEP)(_given(_figures_are_right_or_noted))
)
test_after_any_change_the_figures_are_right_or_noted_as_outdated_for_long = pytest.mark.long(
    settings(max_examples=12, **_AT_RANDOM)(_given(_figures_are_right_or_noted))
)


def _tables_with_a_note(connection: psycopg.Connection) -> set[str]:
    return {
        name
        for (name,) in connection.execute(
            "SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger WHERE tgname LIKE 'outdate_dues%'"
        )
    }


NO_NOTE = {
    "month_balances": "sums of paychecks",
    "line_sets": "names of the lines of paychecks, which never change",
    "payroll_entries": "of payrolls, written with them",
    "household_dues": "the figures themselves",
}
"""What is read for the figures and changes only with a table that leaves a note."""


async def test_every_table_that_the_figures_are_calculated_from_leaves_a_note(
    account: Account,
    household: dict[str, Any],
    owner_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    rosa = await add_employee(account.live, household["id"])
    await pay(account, household, rosa, 6, 7)
    seen: list[str] = []
    engine = owner_database._engine.sync_engine
    listener = lambda *arguments: seen.append(arguments[2])  # noqa: E731
    event.listen(engine, "before_cursor_execute", listener)
    try:
        async with owner_database.transaction(None) as session:
            employer = await session.get_one(Employer, UUID(household["id"]))
            assert (await compute_dues(session, employer, DAY(2026, 11, 20))).overdue_count
    finally:
        event.remove(engine, "before_cursor_execute", listener)
    tables = {
        name for (name,) in owner_connection.execute("SELECT relname FROM pg_class WHERE relkind = 'r'")
    }
    read = {each for sql in seen for each in re.findall(r"(?:FROM|JOIN) (\w+)", sql)} & tables
    assert {"employees", "payrolls", "vault", "filings", "insurance_policies"} <= read
    assert read - _tables_with_a_note(owner_connection) - NO_NOTE.keys() == set()


@pytest.fixture
async def kept(
    account: Account,
    household: dict[str, Any],
    worker_database: Database,
    clock: FixedClock,
) -> dict[str, Any]:
    """A household whose figures are kept: it paid somebody in July, August and October, and filed nothing."""
    rosa = await add_employee(account.live, household["id"])
    for month, monday in ((7, 6), (8, 3), (10, 5)):
        await pay(account, household, rosa, monday, month)
    assert await renew_dues(worker_database, clock) == (1, 0, 0)
    return household | {"employee_id": rosa}


def figures(connection: psycopg.Connection) -> tuple[Any, ...]:
    [row] = connection.execute(f"SELECT {_FIGURES} FROM household_dues").fetchall()
    return row


async def test_figures_name_what_is_overdue_and_due_this_week(
    account: Account, kept: dict[str, Any], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    since, count, cents, *_, computed_on = figures(owner_connection)
    found = await items(account, **{"from": "2025-01-01", "to": "2026-11-19"})
    late = [
        item
        for item in found
        if item["kind"] not in ("election", "notice")
        and (
            item["next_step"] in ("pay", "file", "file_and_pay")
            if item["kind"] in ("payment", "return", "report")
            else item["done_on"] is None
        )
        and (item["kind"] != "payment" or item["amount"] is not None)
    ]
    assert computed_on == clock.today()
    assert (since, count) == (DAY.fromisoformat(min(item["due_date"] for item in late)), len(late))
    assert cents == round(100 * sum(max(item["open"] or 0, 0) for item in late)) > 0


async def test_a_household_is_calculated_again_when_it_changes_and_each_day(
    account: Account,
    kept: dict[str, Any],
    worker_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    assert await renew_dues(worker_database, clock) == (0, 0, 0)
    before = figures(owner_connection)
    owed = data(await account.live.post("/tax-payments", payment(kept, amount=5.0)), 201)
    assert owed["balance"]["paid"] == 5.0
    assert figures(owner_connection) == before, "it is outdated, and noted as such"
    assert owner_connection.execute("SELECT count(*) FROM outdated_dues").fetchall() == [(1,)]
    assert await renew_dues(worker_database, clock) == (1, 0, 0)
    assert figures(owner_connection)[2] == before[2] - 500
    clock.advance(datetime.timedelta(days=1))
    assert await renew_dues(worker_database, clock) == (1, 0, 0)
    assert figures(owner_connection)[-1] == clock.today()


async def test_figures_by_other_rules_are_calculated_again(
    kept: dict[str, Any], worker_database: Database, owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    for other in ("0", "z"):
        owner_connection.execute("UPDATE household_dues SET rules = %s, overdue_count = 77", (other,))
        assert await renew_dues(worker_database, clock) == (1, 0, 0)
        assert figures(owner_connection)[1] != 77
    assert owner_connection.execute("SELECT rules FROM household_dues").fetchall() == [(rules_fingerprint(),)]


async def test_a_household_that_cannot_be_calculated_has_no_figures_and_holds_nobody_back(
    account: Account,
    kept: dict[str, Any],
    worker_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    other = data(
        await account.live.post(
            "/employers", {"first_name": "Ana", "last_name": "Ng", "state": "NY", "email": "ng@example.com"}
        ),
        201,
    )
    owner_connection.execute(
        "INSERT INTO filing_choices SELECT new_id(), organization_id, id, sandbox, 'CA', 'sui', 2026, 'nonsense', "
        "now(), now() FROM employers WHERE id = %s",
        (kept["id"],),
    )
    assert await renew_dues(worker_database, clock) == (1, 1, 0)
    found = owner_connection.execute(
        "SELECT employer_id::text, computed_on, failed_on FROM household_dues ORDER BY failed_on"
    ).fetchall()
    assert found == [(kept["id"], None, clock.today()), (other["id"], clock.today(), None)]
    assert await renew_dues(worker_database, clock) == (0, 0, 0), "it is not tried again at once"
    clock.advance(datetime.timedelta(days=1))
    assert await renew_dues(worker_database, clock) == (1, 1, 0)


async def test_many_households_take_several_rounds_and_two_workers_share_them(
    account: Account, worker_database: Database, owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    for number in range(5):
        data(
            await account.live.post(
                "/employers",
                {"first_name": "Ana", "last_name": f"Ng{number}", "state": "NY", "email": "ng@example.com"},
            ),
            201,
        )
    assert await renew_dues(worker_database, clock, chunk=2) == (2, 0, 1)
    rounds = await asyncio.gather(*(renew_dues(worker_database, clock, chunk=3) for _ in range(2)))
    assert sum(done for done, _, _ in rounds) >= 3
    while (await renew_dues(worker_database, clock))[0]:
        pass
    waiting = "SELECT count(*) FROM household_dues WHERE computed_on IS NULL"
    assert owner_connection.execute(waiting).fetchall() == [(0,)]


async def test_a_change_during_the_calculation_leaves_its_note(
    account: Account,
    kept: dict[str, Any],
    worker_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def changed_meanwhile(*arguments: Any) -> Any:
        found = await compute_dues(*arguments)
        data(await account.live.post("/tax-payments", payment(kept, amount=7.0)), 201)
        return found

    clock.advance(datetime.timedelta(days=1))
    monkeypatch.setattr(dues_records, "compute_dues", changed_meanwhile)
    assert await renew_dues(worker_database, clock) == (1, 0, 0)
    assert owner_connection.execute("SELECT count(*) FROM outdated_dues").fetchall() == [(1,)]


async def test_the_next_payday_follows_the_last_payroll_and_goes_when_it_is_voided(
    account: Account,
    household: dict[str, Any],
    worker_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    books = Books(account, household, worker_database, clock)
    await books.hire(1)
    data(await account.live.patch(f"/employees/{books.employees[0]}", {"pay_frequency": "weekly"}))
    for week, expected in ((22, DAY(2026, 11, 18)), (23, DAY(2026, 11, 25))):
        await books.run(week)
        await renew_dues(worker_database, clock)
        assert figures(owner_connection)[-2] == expected
    await account.live.post(f"/payroll/{books.payrolls[-1]}/void", {})
    await renew_dues(worker_database, clock)
    assert figures(owner_connection)[-2] == DAY(2026, 11, 18)
    await books.end(0)
    await renew_dues(worker_database, clock)
    assert figures(owner_connection)[-2] is None
