"""The sums by month are those of the lines, whatever was paid, voided or repaid, in whatever order and state."""

import datetime
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.payroll.ledger.federal_year import read_federal_months, read_last_paychecks
from hearthpay.payroll.ledger.months import read_household_months
from hearthpay.payroll.ledger.paychecks import read_year
from hearthpay.payroll.ledger.quarters import read_quarters, read_taxed_months, read_taxed_quarters
from tests.http.api import Account
from tests.payroll.test_fica_refund import refund
from tests.payroll.test_thresholds_as_paid import Doctor, Family, family_in

DAY = datetime.date
_PAID = (
    "FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id JOIN paycheck_lines l ON l.paycheck_id = c.id "
    "WHERE c.employer_id = %(employer)s AND "
)
LINES = (
    "SELECT c.employee_id, l.code, l.category, c.tax_year, extract(month FROM p.pay_date)::int, sum(l.amount)::bigint, "
    "coalesce(sum(l.subject_wages) FILTER (WHERE c.gross_pay <> 0), 0)::bigint, sum(l.taxable_wages)::bigint "
    f"{_PAID} c.tax_year BETWEEN 2025 AND 2026 GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 4, 5, 2"
)
WAGES = (
    "SELECT c.employee_id, c.work_state, c.tax_year, extract({part} FROM p.pay_date)::int, sum(c.gross_pay)::bigint "
    "FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id WHERE c.employer_id = %(employer)s "
    "AND c.tax_year BETWEEN 2025 AND 2026 GROUP BY 1, 2, 3, 4 ORDER BY 1, {order}"
)
QUARTERS = (
    "SELECT c.employee_id, extract(quarter FROM p.pay_date)::int, l.code, max(l.name), max(l.payer), max(l.agency), "
    "max(l.category), sum(l.subject_wages)::bigint, sum(l.taxable_wages)::bigint, sum(l.amount)::bigint "
    f"{_PAID} c.tax_year = 2026 AND l.code LIKE 'US-%%' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
)
MONTHS = (
    "SELECT date_trunc('month', p.pay_date)::date, l.agency, l.code, max(l.name), max(l.payer), max(l.category), "
    f"sum(l.amount)::bigint {_PAID} p.pay_date BETWEEN %(first)s AND %(last)s "
    "GROUP BY 1, 2, 3 HAVING sum(l.amount) <> 0 ORDER BY 2, 3, 1"
)

who = st.integers(0, 1)
days = st.sampled_from(("2025-11-28", "2025-12-31", "2026-01-02", "2026-01-30", "2026-02-01", "2026-04-01"))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("run"), st.sets(who, min_size=1), days, st.integers(50, 9_000)),
        st.tuples(st.just("void"), st.integers(0, 20)),
        st.tuples(st.just("move"), who, st.sampled_from(("CA", "TX"))),
        st.tuples(st.just("refund"), who, st.sampled_from((2025, 2026))),
    ),
    min_size=4,
    max_size=10,
)


async def _take(family: Family, people: list[str], step: tuple[Any, ...], paid: list[dict[str, Any]]) -> None:
    """Do a step; what the service refuses changes nothing."""
    caller = family.account.live
    if step[0] == "run":
        _, payees, day, dollars = step
        paid.append(await family.run(day, {people[each]: dollars for each in sorted(payees)}))
    elif step[0] == "void":
        if paid:
            await caller.post(f"/payroll/{paid[step[1] % len(paid)]['payroll_id']}/void", {})
    elif step[0] == "move":
        moved = await caller.client.patch(
            f"/api/v1/employees/{people[step[1]]}", json={"work_state": step[2]}, headers=caller.headers()
        )
        assert moved.status_code == 200, moved.text
    else:
        _, payee, year = step
        span = {
            "pay_period_start": f"{year}-01-01",
            "pay_period_end": f"{year}-12-31",
            "pay_date": "2026-11-20",
        }
        repaid = await caller.post("/payroll/run", refund(family, people[payee], **span))
        if repaid.is_success:
            paid.append(repaid.json()["data"])


async def _compare(household: UUID, owner: Database, connection: psycopg.Connection) -> int:
    def by_lines(query: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return connection.execute(query, {"employer": household} | parameters).fetchall()

    spans = ((DAY(2025, 12, 1), DAY(2026, 4, 30)), (DAY(2025, 12, 31), DAY(2026, 1, 30)))
    years = {"first_year": 2025, "last_year": 2026}
    async with owner.transaction(None) as session:
        ledger_months, wages = await read_household_months(session, household, **years)
        lines = [
            (month.employee_id, code, category, month.year, month.month, *cents)
            for month in ledger_months
            for code, category, *cents in zip(
                month.lines.codes,
                month.lines.categories,
                month.amounts,
                month.subject_wages,
                month.taxable_wages,
                strict=True,
            )
        ]
        quarters = await read_quarters(session, household, **years)
        taxed = await read_taxed_quarters(session, household, state="US", year=2026)
        months = [
            await read_taxed_months(session, household, first=first, last=last) for first, last in spans
        ]
        for year in (2025, 2026):
            await _compare_federal_year(session, household, year)
    assert lines == by_lines(LINES)
    assert wages == by_lines(WAGES.format(part="month", order="3, 4, 2"))
    assert quarters == by_lines(WAGES.format(part="quarter", order="2, 3, 4"))
    assert taxed == by_lines(QUARTERS)
    assert months == [by_lines(MONTHS, first=first, last=last) for first, last in spans]
    return len(lines)


async def _compare_federal_year(session: AsyncSession, household: UUID, year: int) -> None:
    """Check the federal sums by month, and everyone's last paycheck, against all paychecks of the year."""
    posted = await read_year(session, household, year)
    reversed_ids = {each.reverses for each in posted}
    standing = [each for each in posted if each.reverses is None and each.id not in reversed_ids]
    cents: dict[tuple[UUID, int, str], tuple[int, int]] = {}
    for each in standing:
        for line in each.paycheck.lines:
            place = (each.paycheck.employee_id, each.pay_date.month, line.code)
            amount, subject = cents.get(place, (0, 0))
            cents[place] = (amount + line.amount, subject + line.subject_wages)
    found: dict[tuple[UUID, int, str], tuple[int, int]] = {}
    for month in await read_federal_months(session, household, year):
        for code, charged in month.amounts.items():
            place = (month.employee_id, month.month, code)
            amount, subject = found.get(place, (0, 0))
            found[place] = (amount + charged, subject + month.subject_wages[code])
    assert {place: sums for place, sums in found.items() if any(sums)} == {
        place: sums for place, sums in cents.items() if place[2].startswith("US-") and any(sums)
    }
    last: dict[UUID, Any] = {}
    for each in sorted(standing, key=lambda each: (each.pay_date, each.id)):
        if not each.paycheck.is_refund:
            last[each.paycheck.employee_id] = each
    assert {
        each.employee_id: (
            each.id,
            each.pay_date,
            each.pay_frequency,
            each.work_state,
            [*zip(each.codes, each.subject_wages, each.amounts, strict=True)],
        )
        for each in await read_last_paychecks(session, household, year)
    } == {
        employee_id: (
            each.id,
            each.pay_date,
            each.pay_frequency,
            each.paycheck.work_state,
            [(line.code, line.subject_wages, line.amount) for line in each.paycheck.lines],
        )
        for employee_id, each in last.items()
    }


_AT_RANDOM: Final = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}
_given = given(sequence=steps)


async def _months_are_those_of_the_lines(
    sequence: list[tuple[Any, ...]],
    account: Account,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    family = await family_in(account, "CA", threshold_basis="assume_crossed")
    people = [await family.hire("Diaz"), await family.hire("Lopez")]
    paid: list[dict[str, Any]] = []
    for step in sequence:
        await _take(family, people, step, paid)
    await _compare(UUID(family.employer_id), owner_database, owner_connection)
    found = await Doctor(owner_database, clock).finds()
    assert found.keys() & {"month_totals", "month_lines"} == set()


test_after_any_runs_voids_moves_and_refunds_the_months_are_those_of_the_lines = settings(
    max_examples=5, **_AT_RANDOM
)(_given(_months_are_those_of_the_lines))
test_after_any_runs_voids_moves_and_refunds_the_months_are_those_of_the_lines_for_long = pytest.mark.long(
    settings(max_examples=10, **_AT_RANDOM)(_given(_months_are_those_of_the_lines))
)


async def test_a_refund_and_a_second_state_are_apart_from_the_months_other_paychecks(
    account: Account, owner_database: Database, owner_connection: psycopg.Connection
) -> None:
    family = await family_in(account, "CA", threshold_basis="assume_crossed")
    people = [await family.hire("Diaz"), await family.hire("Lopez")]
    paid: list[dict[str, Any]] = []
    for step in (
        ("run", {0, 1}, "2025-12-31", 700),
        ("run", {0}, "2026-04-01", 600),
        ("move", 0, "TX"),
        ("run", {0}, "2026-04-01", 500),
        ("refund", 0, 2025),
        ("refund", 1, 2025),
        ("void", 4),
    ):
        await _take(family, people, step, paid)
    assert len(paid) == 5
    assert await _compare(UUID(family.employer_id), owner_database, owner_connection) > 20
    kept = owner_connection.execute(
        "SELECT tax_year, month::text, work_state, refund, gross_pay FROM month_balances WHERE employee_id = %s "
        "ORDER BY 1, 2, 3, 4",
        (people[0],),
    ).fetchall()
    assert kept == [
        (2025, "2025-12-01", "CA", False, 70_000),
        (2025, "2026-11-01", "TX", True, 0),
        (2026, "2026-04-01", "CA", False, 60_000),
        (2026, "2026-04-01", "TX", False, 50_000),
    ]
