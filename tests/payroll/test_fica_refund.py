"""Repaying Social Security and Medicare of a year whose wages stay below the threshold."""

from decimal import Decimal
from typing import Any

import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from tests.http.api import Account
from tests.payroll.test_run import exact
from tests.payroll.test_thresholds_as_paid import Doctor, Family, family_in, lines_of, year_of

D = Decimal
FICA = {"US-SS-EE", "US-SS-ER", "US-MED-EE", "US-MED-ER"}


@pytest.fixture
async def family(account: Account) -> Family:
    return await family_in(account, "TX", threshold_basis="assume_crossed")


@pytest.fixture
def doctor(owner_database: Database, clock: FixedClock) -> Doctor:
    return Doctor(owner_database, clock)


def refund(family: Family, *employees: str, **changes: Any) -> dict[str, Any]:
    return {
        "employer_id": family.employer_id,
        "pay_period_start": "2026-01-01",
        "pay_period_end": "2026-12-31",
        "pay_date": "2026-12-31",
        "pay_frequency": "weekly",
        "notes": "fica-refund",
        "employees": [{"employee_id": employee} for employee in employees],
    } | changes


async def repay(family: Family, *employees: str, **changes: Any) -> dict[str, Any]:
    order = refund(family, *employees, **changes)
    preview = exact(await family.account.live.post("/payroll/preview", order))
    ran = exact(await family.account.live.post("/payroll/run", order))
    assert ran["employees"] == preview["employees"]
    return ran


async def refused(family: Family, order: dict[str, Any]) -> dict[str, Any]:
    for path in ("/payroll/preview", "/payroll/run"):
        response = await family.account.live.post(path, order)
        assert response.status_code == 400, response.text
    return response.json()["error"]


async def test_both_shares_come_back_and_nothing_else(family: Family, doctor: Doctor):
    rosa = await family.hire("Diaz")
    await family.run("2026-02-02", {rosa: 1999.99})
    await family.run("2026-05-04", {rosa: 1000})
    ran = await repay(family, rosa)
    paycheck = ran["employees"][0]
    assert {line["code"] for line in paycheck["lines"]} == FICA
    assert lines_of(ran)["US-SS-EE"] == lines_of(ran)["US-SS-ER"] == D("-186.00")
    assert paycheck["net_pay"] == D("186.00") + D("43.50")
    assert paycheck["employer_taxes"]["total"] == D("-229.50")
    assert ran["totals"]["total_net_pay"] == D("229.50")
    assert not any(year_of(ran).values())
    [told] = paycheck["warnings"]
    assert "2,999.99 stay below 3,000.00" in told
    assert "receipt" in told
    assert await doctor.finds() == {}
    assert await doctor.open() == {}


async def test_a_later_paycheck_that_reaches_the_threshold_charges_all_again(family: Family, doctor: Doctor):
    rosa = await family.hire("Diaz")
    await family.run("2026-02-02", {rosa: 2500})
    await repay(family, rosa)
    below = await family.run("2026-12-30", {rosa: 499})
    assert (lines_of(below)["US-SS-EE"], lines_of(below)["US-FUTA"]) == (0, D("2.99"))
    assert await doctor.finds() == {}
    crossing = await family.run("2026-12-31", {rosa: 1000})
    assert year_of(crossing)["US-SS-EE"] == year_of(crossing)["US-SS-ER"] == D("247.94")
    assert await doctor.finds() == {}
    await family.void(crossing)
    assert await doctor.open() == {}  # what it had made up is undone with it
    assert await doctor.finds() == {}


async def test_a_refund_can_be_voided(family: Family, doctor: Doctor):
    rosa = await family.hire("Diaz")
    await family.run("2026-02-02", {rosa: 2500})
    ran = await repay(family, rosa)
    await family.void(ran)
    assert await doctor.open() == {}
    assert await doctor.finds() == {}
    after = await family.run("2026-12-30", {rosa: 100})
    assert year_of(after)["US-SS-EE"] == D("161.20")
    assert await doctor.finds() == {}
    assert lines_of(await repay(family, rosa))["US-SS-EE"] == D("-161.20")
    assert await doctor.finds() == {}


async def test_the_refund_belongs_to_the_year_of_the_wages(family: Family, doctor: Doctor):
    rosa = await family.hire("Diaz")
    await family.run("2025-02-03", {rosa: 2000})
    await family.run("2026-02-02", {rosa: 50})
    year = {"pay_period_start": "2025-01-01", "pay_period_end": "2025-12-31", "pay_date": "2026-11-20"}
    ran = await repay(family, rosa, **year)
    assert ran["rulebook"]["tax_year"] == 2025
    assert lines_of(ran)["US-SS-EE"] == D("-124.00")
    assert await doctor.finds() == {}
    assert year_of(await family.run("2026-02-03", {rosa: 50}))["US-SS-EE"] == D("6.20")
    assert await doctor.finds() == {}


async def test_it_is_refused_where_the_tax_is_due_or_the_year_runs(family: Family):
    rosa, lena, new = [await family.hire(name) for name in ("Diaz", "Kim", "New")]
    await family.run("2026-02-02", {rosa: 3000, lena: 2999.99})
    error = await refused(family, refund(family, rosa))
    assert error["code"] == "invalid_state"
    assert (error["details"]["wages"], error["details"]["threshold"]) == (3000, 3000)
    assert "reach the threshold" in error["message"]
    error = await refused(family, refund(family, new))
    assert "nothing to repay" in error["message"]
    error = await refused(family, refund(family, lena, pay_date="2026-11-30"))
    assert "not over" in error["message"]
    assert (await refused(family, refund(family, lena, rosa)))["details"]["employee_id"] == rosa
    caller = family.account.live
    ended = await caller.post(f"/employees/{lena}/terminate", {"end_date": "2026-11-20"})
    assert ended.status_code == 200, ended.text
    assert lines_of(await repay(family, lena, pay_date="2026-11-30"))["US-SS-EE"] == D("-186.00")
    error = await refused(family, refund(family, lena))
    assert "nothing to repay" in error["message"]


@pytest.mark.parametrize(
    ("field", "entry"),
    [
        ("regular_hours", {"regular_hours": 1}),
        ("overtime_hours", {"overtime_hours": 1}),
        ("bonus", {"bonus": 0.01}),
        ("other_earnings", {"other_earnings": 5}),
        ("payment_method", {"payment_method": "direct_deposit"}),
        ("voluntary_set_aside", {"voluntary_set_aside": {"amount": 1}}),
    ],
)
async def test_it_pays_nothing_else(family: Family, field: str, entry: dict[str, Any]):
    rosa = await family.hire("Diaz")
    await family.run("2026-02-02", {rosa: 100})
    error = await refused(family, refund(family, rosa, employees=[{"employee_id": rosa} | entry]))
    assert f"employees[0].{field}" in str(error)


async def test_its_period_lies_in_one_year(family: Family):
    rosa = await family.hire("Diaz")
    error = await refused(
        family, refund(family, rosa, pay_period_start="2025-12-31", pay_period_end="2026-12-30")
    )
    assert "pay_period_end" in str(error)


async def test_wages_of_another_payroll_count_and_what_it_withheld_is_not_ours_to_repay(
    family: Family, doctor: Doctor
):
    rosa = await family.hire("Diaz")
    await family.run("2026-05-04", {rosa: 1000})
    line = {"code": "US-SS-EE", "subject_wages": 1900, "taxable_wages": 1900, "amount": 117.80}
    prior = {"tax_year": 2026, "source": "before", "as_of": "2026-03-31", "gross_pay": 1900, "lines": [line]}
    response = await family.account.live.post(f"/employees/{rosa}/prior-wages", prior)
    assert response.status_code == 201, response.text
    ran = await repay(family, rosa)
    assert lines_of(ran)["US-SS-EE"] == D("-62.00")
    assert year_of(ran)["US-SS-EE"] == D("117.80")
    assert await doctor.finds() == {}
    more = {**prior, "source": "elsewhere", "gross_pay": 100, "lines": [line | {"subject_wages": 100}]}
    response = await family.account.live.post(f"/employees/{rosa}/prior-wages", more)
    assert response.status_code == 201, response.text
    assert (await doctor.open())[rosa, "US-SS-ER"] == D("62.00")
    assert await doctor.finds() == {}


async def test_where_thresholds_count_as_paid_a_refund_settles_what_no_paycheck_does(
    account: Account, doctor: Doctor
):
    family = await family_in(account, "TX")
    rosa = await family.hire("Diaz")
    first = await family.run("2026-02-02", {rosa: 2900})
    await family.run("2026-02-03", {rosa: 400})
    await family.void(first)
    assert (await doctor.open())[rosa, "US-SS-EE"] == D("-204.60")
    ran = await repay(family, rosa)
    assert ran["employees"][0]["net_pay"] == D("204.60") + D("47.85")
    assert {code for _, code in await doctor.open()} == {"US-FUTA", "TX-SUI-ER"}
    assert await doctor.finds() == {}
