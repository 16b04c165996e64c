"""Households that pay what waits for a threshold once the wages paid have reached it, and back to the first dollar."""

from decimal import Decimal
from typing import Any

import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine, open_taxes
from tests.http.api import Account
from tests.payroll.conftest import add_employee, add_household
from tests.payroll.test_run import exact

D = Decimal


class Family:
    """A household that pays by check, and what its paychecks come to."""

    def __init__(self, account: Account, employer_id: str, state: str) -> None:
        self.account, self.employer_id, self.state = account, employer_id, state
        self.day = 0

    async def hire(self, name: str, **changes: Any) -> str:
        return await add_employee(
            self.account.live,
            self.employer_id,
            last_name=name,
            email=None,
            work_state=self.state,
            start_date="2025-01-01",
            federal_withholding={"elected": False},
            state_withholding={},
            **changes,
        )

    def order(self, pay_date: str, wages: dict[str, float], **changes: Any) -> dict[str, Any]:
        self.day += 1
        start = f"2025-0{1 + self.day // 28}-{1 + self.day % 28:02d}"
        return {
            "employer_id": self.employer_id,
            "pay_period_start": start,
            "pay_period_end": start,
            "pay_date": pay_date,
            "pay_frequency": "weekly",
            "employees": [
                {"employee_id": employee, "other_earnings": amount} for employee, amount in wages.items()
            ],
        } | changes

    async def run(self, pay_date: str, wages: dict[str, float], **changes: Any) -> dict[str, Any]:
        order = self.order(pay_date, wages, **changes)
        preview = exact(await self.account.live.post("/payroll/preview", order))
        ran = exact(await self.account.live.post("/payroll/run", order))
        assert ran["employees"] == preview["employees"]
        return ran

    async def void(self, payroll: dict[str, Any]) -> None:
        response = await self.account.live.post(f"/payroll/{payroll['payroll_id']}/void", {})
        assert response.status_code == 200, response.text

    async def choose(self, basis: str) -> dict[str, Any]:
        caller = self.account.live
        path = f"/api/v1/employers/{self.employer_id}"
        response = await caller.client.patch(path, json={"threshold_basis": basis}, headers=caller.headers())
        assert response.status_code == 200, response.text
        return response.json()["data"]


def lines_of(payroll: dict[str, Any], employee: int = 0) -> dict[str, Decimal]:
    return {line["code"]: line["amount"] for line in payroll["employees"][employee]["lines"]}


def year_of(payroll: dict[str, Any], employee: int = 0) -> dict[str, Decimal]:
    return {line["code"]: line["ytd_amount"] for line in payroll["employees"][employee]["lines"]}


async def family_in(account: Account, state: str, **changes: Any) -> Family:
    employer_id = await add_household(account.live, state=state, **{"threshold_basis": "as_paid"} | changes)
    return Family(account, employer_id, state)


@pytest.fixture
async def texans(account: Account) -> Family:
    return await family_in(account, "TX")


class Doctor:
    def __init__(self, database: Database, clock: FixedClock) -> None:
        self.database, self.clock = database, clock

    async def finds(self) -> dict[str, list[Any]]:
        async with self.database.transaction(None) as session:
            results = await examine(session, self.clock.now(), lambda *_: None)
        return {each.name: list(each.differences) for each in results if each.found}

    async def open(self) -> dict[tuple[str, str], Decimal]:
        async with self.database.transaction(None) as session:
            return {
                (str(each.employee_id), each.code): D(each.amount) for each in await open_taxes(session)
            }


@pytest.fixture
def doctor(owner_database: Database, clock: FixedClock) -> Doctor:
    return Doctor(owner_database, clock)


async def test_nothing_is_charged_below_and_all_of_it_with_the_payroll_that_crosses(
    texans: Family, doctor: Doctor
):
    rosa = await texans.hire("Diaz")
    first = await texans.run("2026-01-30", {rosa: 600})
    assert {code: amount for code, amount in lines_of(first).items() if amount} == {}
    assert first["employees"][0]["net_pay"] == 600
    [told] = [each for each in first["employees"][0]["warnings"] if "Not charged" in each]
    for part in ("1,000.00 in a quarter", "3,000.00 in a year", "back to the first dollar"):
        assert part in told
    second = await texans.run("2026-04-01", {rosa: 900})  # another quarter
    assert lines_of(second)["US-FUTA"] == 0
    third = await texans.run("2026-06-30", {rosa: 100})
    assert lines_of(third)["US-FUTA"] == D("9.60")  # 0.6 % of 1,600: the year's first dollar
    assert lines_of(third)["TX-SUI-ER"] == D("43.20")
    assert lines_of(third)["US-SS-EE"] == 0
    fourth = await texans.run("2026-07-03", {rosa: 1400})  # the year reaches 3,000
    assert lines_of(fourth)["US-SS-EE"] == lines_of(fourth)["US-SS-ER"] == D("186.00")
    assert lines_of(fourth)["US-MED-EE"] == D("43.50")
    assert year_of(fourth)["US-FUTA"] == D("18.00")
    assert await doctor.finds() == {}
