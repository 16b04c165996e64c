"""Capped taxes follow the wages of the year: after voids, failures, late payrolls and changes of the rate."""

import importlib
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import text

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine, open_taxes
from hearthpay.employers.assigned_rates import assign_sui_rate
from tests.http.api import Account
from tests.payroll.test_run import exact
from tests.worlds.households import add_employee, add_household
from tests.worlds.town import as_run

D = Decimal


class Texan:
    """A household in Texas with one employee, paid by check week after week."""

    def __init__(self, account: Account, employer_id: str, employee_id: str) -> None:
        self.account = account
        self.employer_id = employer_id
        self.employee_id = employee_id
        self.week = 0

    def order(self, wages: str, **changes: Any) -> dict[str, Any]:
        self.week += 1
        start = f"2026-{self.week:02d}-01"
        return {
            "employer_id": self.employer_id,
            "pay_period_start": start,
            "pay_period_end": start,
            "pay_date": start,
            "pay_frequency": "monthly",
            "employees": [
                {"employee_id": self.employee_id, "other_earnings": float(wages), "payment_method": "check"}
            ],
        } | changes

    async def run(self, wages: str, **changes: Any) -> dict[str, Any]:
        return exact(await self.account.live.post("/payroll/run", self.order(wages, **changes)))

    async def void(self, payroll: dict[str, Any]) -> None:
        response = await self.account.live.post(f"/payroll/{payroll['payroll_id']}/void", {})
        assert response.status_code == 200, response.text


def of_year(payroll: dict[str, Any]) -> dict[str, Decimal]:
    return {line["code"]: line["ytd_amount"] for line in payroll["employees"][0]["lines"]}


@pytest.fixture
async def texan(account: Account) -> Texan:
    employer_id = await add_household(account.live, state="TX")
    employee_id = await add_employee(
        account.live,
        employer_id,
        work_state="TX",
        start_date="2026-01-01",
        federal_withholding={"elected": False},
        state_withholding={},
    )
    return Texan(account, employer_id, employee_id)


async def test_a_void_moves_the_other_wages_up_below_the_cap(texan: Texan):
    first = await texan.run("8000")
    await texan.run("8000")
    await texan.void(first)
    preview = exact(await texan.account.live.post("/payroll/preview", texan.order("100")))
    texan.week -= 1
    after = await texan.run("100")
    assert after["employees"] == preview["employees"]
    year = of_year(after)
    assert year["US-FUTA"] == D("42.00")
    assert year["TX-SUI-ER"] == D("218.70")
    [line] = [each for each in after["employees"][0]["lines"] if each["code"] == "US-FUTA"]
    assert (line["taxable_wages"], line["amount"]) == (D("7000.00"), D("42.00"))
    assert any("US-FUTA 42.00" in warning for warning in after["employees"][0]["warnings"])


async def test_the_households_share_comes_at_once_and_the_employees_as_far_as_net_pay_reaches(texan: Texan):
    first = await texan.run("150000")
    await texan.run("150000")
    await texan.void(first)
    after = await texan.run("100")
    paycheck = after["employees"][0]
    assert of_year(after)["US-SS-ER"] == D("9306.20")
    assert paycheck["net_pay"] == 0
    [carried] = [each for each in paycheck["carried"] if each["code"] == "US-SS-EE"]
    assert of_year(after)["US-SS-EE"] + carried["amount"] == D("9306.20")
    assert "earlier_wages_carried" in [each["code"] for each in paycheck["warning_codes"]]
    read = exact(await texan.account.live.get(f"/payroll/{after['payroll_id']}"))
    assert as_run(read) == after["employees"]
    for wages in ("4000", "20000"):
        after = await texan.run(wages)
    assert "carried" not in after["employees"][0]
    assert of_year(after)["US-SS-EE"] == of_year(after)["US-SS-ER"] == D("10794.20")  # 6.2 % of 174,100
    assert of_year(after)["US-MED-EE"] == D("2524.45")


async def test_what_was_charged_too_much_comes_back_with_the_next_paycheck(texan: Texan):
    """The Additional Medicare Tax on wages above 200,000 was due only while both payrolls stood."""
    first = await texan.run("150000")
    second = await texan.run("100000")
    assert of_year(second)["US-ADDMED-EE"] == D("450.00")
    await texan.void(first)
    after = await texan.run("1000")
    assert of_year(after)["US-ADDMED-EE"] == 0
    paycheck = after["employees"][0]
    assert paycheck["employee_taxes"]["medicare"] == D("14.50") - 450
    assert any("US-ADDMED-EE 450.00" in warning for warning in paycheck["warnings"])


async def test_households_taxes_may_come_back_too(texan: Texan):
    first = await texan.run("8000")
    second = await texan.run("8000")
    await texan.void(first)
    third = await texan.run("100")
    await texan.void(second)
    after = await texan.run("50")
    assert of_year(after)["US-FUTA"] == D("0.90")
    assert of_year(after)["TX-SUI-ER"] == D("4.05")
    assert after["employees"][0]["employer_taxes"]["total"] < 0
    await texan.void(third)
    assert of_year(await texan.run("10"))["US-FUTA"] == D("0.36")


async def test_the_doctor_tells_what_a_void_leaves_open_and_finds_a_year_that_forgot_it(
    texan: Texan, owner_database: Database, clock: FixedClock
):
    first = await texan.run("8000")
    await texan.run("8000")
    await texan.void(first)
    forget = "UPDATE year_balances SET owed = '{}'"
    async with owner_database.transaction(None) as session:
        still = {each.code: each.amount for each in await open_taxes(session, clock.now())}
        sound = await examine(session, clock.now(), lambda *_: None)
        await session.execute(text(forget))
        wrong = await examine(session, clock.now(), lambda *_: None)
        await session.rollback()
    assert still == {
        "US-FUTA": "42.00",
        "TX-SUI-ER": "189.00",
    }  # 1,000 above the base of 9,000 was taxed: 7,000 is due
    assert [each.name for each in sound if each.found] == []
    found = {
        each.name: {(one.what, one.recorded, one.expected) for one in each.differences} for each in wrong
    }
    assert found["year_caps"] == {
        ("taxable wages of US-FUTA in 2026", "0.00", "7000.00"),
        ("taxable wages of TX-SUI-ER in 2026", "1000.00", "8000.00"),
    }
    assert ("tax of US-FUTA in 2026", "0.00", "42.00") in found["year_taxes"]


async def test_the_doctor_tells_what_a_paycheck_after_a_void_did_not_charge(
    texan: Texan, owner_database: Database, clock: FixedClock
):
    """Not even where it is still noted as owed: the household's lines are charged at once."""
    first = await texan.run("8000")
    await texan.run("8000")
    await texan.void(first)
    await texan.run("100")
    uncharged = (
        (
            "UPDATE paychecks c SET line_amounts[array_position(s.codes, 'US-FUTA')] = 0 FROM line_sets s "
            "WHERE s.id = c.line_set_id AND c.line_subject_wages[array_position(s.codes, 'US-FUTA')] = 10000"
        ),
        "UPDATE year_balances SET amounts[array_position(codes, 'US-FUTA')] = 0, owed = '{\"US-FUTA\": 4200}'",
    )
    async with owner_database.transaction(None) as session:
        for statement in uncharged:
            await (await session.connection()).exec_driver_sql(statement)
        results = {
            each.name: each.differences for each in await examine(session, clock.now(), lambda *_: None)
        }
        await session.rollback()
    assert results["year_lines"] == results["year_caps"] == results["year_taxes"] == ()
    [difference] = results["year_owed"]
    assert (difference.what, difference.recorded, difference.expected) == (
        "owed of US-FUTA in 2026",
        "42.00",
        "0.00",
    )


async def test_books_of_the_version_before_are_put_right_by_the_next_paycheck(
    texan: Texan, owner_database: Database, owner_connection: psycopg.Connection, clock: FixedClock
):
    """They know neither subject wages nor what is owed; the wages are read from the lines."""
    first = await texan.run("8000")
    await texan.run("8000")
    await texan.void(first)
    owner_connection.execute("UPDATE year_balances SET owed = '{}', subject_wages = NULL")
    year = of_year(await texan.run("100"))
    assert year["US-FUTA"] == D("42.00")
    assert year["TX-SUI-ER"] == D("218.70")
    async with owner_database.transaction(None) as session:
        assert [
            each.name for each in await examine(session, clock.now(), lambda *_: None) if each.found
        ] == []


async def test_a_move_leaves_nothing_behind(texan: Texan):
    """What a void leaves open in Texas is charged with a paycheck in California."""
    first = await texan.run("9000")
    await texan.run("9000")
    caller = texan.account.live
    response = await caller.client.patch(
        f"/api/v1/employees/{texan.employee_id}", json={"work_state": "CA"}, headers=caller.headers()
    )
    assert response.status_code == 200, response.text
    await texan.void(first)
    after = await texan.run("1000")
    lines = {line["code"]: line for line in after["employees"][0]["lines"]}
    assert (lines["TX-SUI-ER"]["taxable_wages"], lines["TX-SUI-ER"]["amount"]) == (D("9000"), D("243"))
    assert lines["CA-SUI-ER"]["amount"] == D("34.00")
    assert "TX-SUI-ER" not in of_year(await texan.run("1000"))


async def test_a_rate_that_changed_applies_to_the_paychecks_run_under_it(
    texan: Texan, owner_database: Database
):
    """The second payroll moves up below the base at the rate of its own run."""
    first = await texan.run("8000")
    await texan.run("8000")
    async with owner_database.transaction(None) as session:
        employer = UUID(texan.employer_id)
        await assign_sui_rate(session, employer, tax_year=2026, state="TX", rate=D("0.01"))
    await texan.void(first)
    assert of_year(await texan.run("5000"))["TX-SUI-ER"] == D("226.00")  # 2.7 % of 8,000 and 1 % of 1,000


async def test_the_quarterly_thresholds_taken_for_crossed_are_named_until_they_are(texan: Texan):
    def told(payroll: dict[str, Any]) -> list[str]:
        return [warning for warning in payroll["employees"][0]["warnings"] if "first dollar" in warning]

    [warning] = told(await texan.run("600"))
    assert "Federal unemployment (FUTA) 1,000.00" in warning
    assert "unemployment insurance 1,000.00" in warning
    assert told(await texan.run("400")) == []


async def test_the_migration_reads_the_subject_wages_from_the_lines(
    texan: Texan, owner_connection: psycopg.Connection
):
    module = importlib.import_module("hearthpay.database.migrations.versions.0014_years_by_subject_wages")
    first = await texan.run("8000")
    await texan.run("8000")
    await texan.void(first)
    kept = "SELECT employee_id, tax_year, codes, subject_wages FROM year_balances"
    before = owner_connection.execute(kept).fetchall()
    owner_connection.execute("UPDATE year_balances SET subject_wages = NULL")
    fill = module.BALANCES[module.BALANCES.index("UPDATE year_balances") : module.BALANCES.index("GRANT")]
    owner_connection.execute(fill)
    assert owner_connection.execute(kept).fetchall() == before
    assert before[0][3][before[0][2].index("US-FUTA")] == 800_000
