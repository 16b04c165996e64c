"""A payroll run with its commit, against the very same SQL sent bare by psycopg.

One run is recorded as the driver gets it: every statement with its parameters. It is then sent again and again with
new ids and another pay period, on a psycopg connection with the same session settings, with the same
transaction boundaries; runs and replays take turns with the same employees, so both meet the same tables.
"""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from statistics import median
from typing import Any
from uuid import UUID

import psycopg
from sqlalchemy import Engine, event, text
from uuid_utils.compat import uuid7

from benchmarks.installation import Installation
from benchmarks.report import Aim, Row, spread
from hearthpay.access.actor import Actor
from hearthpay.access.permissions import SCOPES
from hearthpay.access.plans import terms_of
from hearthpay.clock import SystemClock
from hearthpay.database.embedded import ROLES
from hearthpay.database.session import Database
from hearthpay.employees.commands import AddEmployee
from hearthpay.employees.service import create_employee
from hearthpay.employers.commands import CreateEmployer
from hearthpay.employers.service import create_employer
from hearthpay.payroll.commands import EmployeePay, Order
from hearthpay.payroll.service import run_payroll

EMPLOYEES = 10
PAIRS = 20
"""Runs of one employee, and as many replays: forty weeks of a year."""
WARM_PAIRS = 10
FIRST_WEEK = date(2026, 1, 5)
AIM = Aim(0.6, at_least=True)

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Statement = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Recording:
    """The statements of one run, and what in their parameters belongs to that run alone."""

    statements: list[Statement]
    employee_id: UUID
    week: date
    ids: frozenset[UUID]

    def again(self, employee_id: UUID, week: date) -> list[Statement]:
        """The statements for another employee and week, with new ids."""
        new: dict[object, object] = {old: uuid7() for old in self.ids}
        new[self.employee_id] = employee_id
        new[self.week] = week
        new[_end_of(self.week)] = _end_of(week)
        return [
            (sql, {name: _replaced(value, new) for name, value in values.items()})
            for sql, values in self.statements
        ]


async def measure(installation: Installation) -> list[Row]:
    count = EMPLOYEES * PAIRS
    print(f"Payroll runs: {count} runs in turns with {count} bare replays of their SQL …", flush=True)
    clock = SystemClock()
    actor = Actor(
        kind="key",
        id=installation.key_id,
        organization_id=installation.organization_id,
        mode="live",
        scopes=frozenset(SCOPES),
        request_id=str(uuid7()),
        terms=terms_of("professional", {"employees_per_household": None}),
    )
    async with installation.database.transaction(actor.tenant) as session:
        employer = await create_employer(
            session,
            actor,
            clock,
            CreateEmployer(first_name="Maria", last_name="Lopez", email="maria@example.com", state="CA"),
        )
        employees = [
            (await create_employee(session, actor, clock, _new_employee(employer.id, number))).employee
            for number in range(EMPLOYEES + 2)
        ]

    async def run(employee_id: UUID, week: date) -> float:
        order = _order(employer.id, employee_id, week)
        started = time.perf_counter()
        async with installation.database.transaction(actor.tenant) as session:
            await run_payroll(session, actor, clock, order, direct_deposit_enabled=False)
        return time.perf_counter() - started

    spare = Database(installation.service_url, role=ROLES.service, seal=installation.seal, pool_size=1)
    try:
        async with spare.transaction(None) as session:
            pooled = await (await session.connection()).get_raw_connection()
            bare = pooled.driver_connection
            assert isinstance(bare, psycopg.AsyncConnection)
            await bare.rollback()  # from here on the connection is psycopg's alone

            earlier, first, *measured = employees
            await run(earlier.id, FIRST_WEEK)  # stores the names of the lines, which later runs find
            with _recording() as statements:
                await run(first.id, FIRST_WEEK)
            known = {installation.organization_id, installation.key_id, employer.id, first.id}
            recording = Recording(statements, first.id, FIRST_WEEK, frozenset(_ids_in(statements) - known))
            runs: list[float] = []
            replays: list[float] = []
            for number in range(1, WARM_PAIRS + 1):  # both prepare their statements after a few
                await run(first.id, _week(2 * number - 1))
                await _replay(bare, recording.again(first.id, _week(2 * number)))
            for employee in measured:
                for number in range(PAIRS):
                    weeks = _week(2 * number), _week(2 * number + 1)
                    if number % 2 == 0:
                        runs.append(await run(employee.id, weeks[0]))
                        replays.append(await _replay(bare, recording.again(employee.id, weeks[1])))
                    else:
                        replays.append(await _replay(bare, recording.again(employee.id, weeks[0])))
                        runs.append(await run(employee.id, weeks[1]))
    finally:
        await spare.dispose()
    await _check(installation, 2 + 2 * (WARM_PAIRS + count))
    ratio = median(replays) / median(runs)
    print(f"  {len(recording.statements)} statements a run, BEGIN and COMMIT besides")
    print(
        f"  the middle half of the runs lies within {spread(runs):.0%}, of the replays within {spread(replays):.0%}"
    )
    return [
        Row(
            "Payroll run with commit, one employee",
            f"{median(runs) * 1e3:.2f} ms",
            f"its SQL, bare psycopg: {median(replays) * 1e3:.2f} ms",
            ratio,
            AIM,
            ratio,
        )
    ]


async def _replay(connection: psycopg.AsyncConnection[Any], statements: list[Statement]) -> float:
    started = time.perf_counter()
    for sql, values in statements:
        cursor = await connection.execute(sql.encode(), values)
        if cursor.description is not None:
            await cursor.fetchall()
    await connection.commit()
    return time.perf_counter() - started


async def _check(installation: Installation, payrolls: int) -> None:
    """Make sure that every replay wrote what a run writes; RuntimeError where it did not."""
    owner = Database(installation.owner_url, role=installation.owner, pool_size=1)
    counts = text(
        "SELECT (SELECT count(*) FROM payrolls), (SELECT count(*) FROM paychecks), "
        "(SELECT count(*) FROM audit_log WHERE action = 'payroll.run'), "
        "(SELECT count(*) FILTER (WHERE lines = most) FROM "
        "(SELECT count(*) AS lines, max(count(*)) OVER () AS most FROM paycheck_lines GROUP BY paycheck_id) AS p)"
    )
    try:
        async with owner.transaction(None) as session:
            found = (await session.execute(counts)).one()
    finally:
        await owner.dispose()
    if set(found) != {payrolls}:
        raise RuntimeError(f"the runs and replays should have left {payrolls} payrolls, not {tuple(found)}")


@contextmanager
def _recording() -> Iterator[list[Statement]]:
    """Collects what SQLAlchemy hands to the driver, on any engine, for the length of the block."""
    statements: list[Statement] = []

    def record(_1: object, _2: object, sql: str, values: Mapping[str, Any], _3: object, _4: bool) -> None:
        statements.append((sql, values))

    event.listen(Engine, "before_cursor_execute", record)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", record)


def _ids_in(statements: list[Statement]) -> set[UUID]:
    """Every id among the parameters, also within the texts of arrays."""
    found: set[UUID] = set()
    for _, values in statements:
        for value in values.values():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, UUID):
                    found.add(item)
                elif isinstance(item, str):
                    found |= {UUID(text) for text in _UUID.findall(item)}
    return found


def _replaced(value: object, new: Mapping[object, object]) -> object:
    if isinstance(value, list):
        return [_replaced(item, new) for item in value]
    if isinstance(value, str):
        for old, replacement in new.items():
            value = value.replace(str(old), str(replacement))
        return value
    return new.get(value, value) if isinstance(value, UUID | date) else value


def _week(number: int) -> date:
    return FIRST_WEEK + timedelta(days=7 * number)


def _end_of(week: date) -> date:
    return week + timedelta(days=6)


def _new_employee(employer_id: UUID, number: int) -> AddEmployee:
    return AddEmployee(
        employer_id=employer_id,
        first_name="Rosa",
        last_name=f"Diaz {number}",
        pay_rate=Decimal("28.50"),
        pay_frequency="weekly",
        start_date=date(2025, 12, 1),
        state_withholding={"filing_status": "head_of_household", "regular_allowances": 2},
    )


def _order(employer_id: UUID, employee_id: UUID, week: date) -> Order:
    return Order(
        employer_id=employer_id,
        pay_period_start=week,
        pay_period_end=_end_of(week),
        pay_date=_end_of(week),
        pay_frequency="weekly",
        employees=(EmployeePay(employee_id=employee_id, regular_hours=Decimal(38)),),
    )
