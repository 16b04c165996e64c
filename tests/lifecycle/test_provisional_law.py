"""Paid by figures that stood in, and made right once the year's own are published."""

from collections import defaultdict
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from hearthpay.database.session import Database
from hearthpay.employers.assigned_rates import assign_sui_rate
from hearthpay.payroll.years.rule_changes import settle_rule_changes
from hearthpay.taxes.rulebook import rulebook_of
from tests.http.api import Account, data, refusal
from tests.lifecycle.test_year_end import differences
from tests.payroll.test_run import exact
from tests.worlds.households import add_employee, add_household
from tests.worlds.rule_editions import edition, published, unpublished_program
from tests.worlds.town import Town

RATES = (
    published("CA-SDI-EE", rate="0.011"),
    published("NC-SUI-ER", rate="0.012", wage_base="35100"),
    published("NJ-FLI-EE", rate="0.0031"),
    published("WA-SUI-ER", rate="0.0123"),
)


async def household(account: Account, state: str) -> tuple[str, str]:
    employer_id = await add_household(account.live, state=state)
    return employer_id, await add_employee(account.live, employer_id, work_state=state)


def week(employer_id: str, employee_id: str, pay_date: str, **entry: Any) -> dict[str, Any]:
    return {
        "employer_id": employer_id,
        "pay_period_start": (date.fromisoformat(pay_date) - timedelta(days=6)).isoformat(),
        "pay_period_end": pay_date,
        "pay_date": pay_date,
        "pay_frequency": "weekly",
        "employees": [
            {"employee_id": employee_id, "regular_hours": 40, "payment_method": "check", **entry},
        ],
    }


def line(payroll: dict[str, Any], code: str) -> dict[str, Any]:
    [found] = [each for each in payroll["employees"][0]["lines"] if each["code"] == code]
    return found


async def test_a_rate_that_is_published_later_is_settled_by_the_next_paycheck(
    account: Account, town: Town, owner_database: Database, tmp_path: Path
):
    employer_id, rosa = await household(account, "CA")
    town.go_to("2027-01-15", 10)
    paid = []
    for day in ("2027-01-05", "2027-01-12"):
        body = week(employer_id, rosa, day)
        assert "CA-SDI-EE" in exact(await account.live.post("/payroll/preview", body))["provisional"]
        paid.append(exact(await account.live.post("/payroll/run", body)))
    gross = paid[0]["employees"][0]["gross_pay"]
    before = line(paid[0], "CA-SDI-EE")["amount"]
    assert before == (gross * Decimal("0.013")).quantize(Decimal("0.01"), ROUND_HALF_UP)
    assert await differences(town, owner_database) == []

    with edition(tmp_path, *RATES):
        assert await differences(town, owner_database) == ["year_editions"]
        assert await settle_rule_changes(town.worker) == 1
        assert await settle_rule_changes(town.worker) == 0
        assert await differences(town, owner_database) == []
        town.go_to("2027-01-20", 10)
        body = week(employer_id, rosa, "2027-01-19")
        preview = exact(await account.live.post("/payroll/preview", body))
        third = exact(await account.live.post("/payroll/run", body))
        assert third["employees"] == preview["employees"]
        assert "CA-SDI-EE" not in third.get("provisional", [])
        right = (gross * Decimal("0.011")).quantize(Decimal("0.01"), ROUND_HALF_UP)
        assert line(third, "CA-SDI-EE")["amount"] == right - 2 * (before - right)
        assert line(third, "CA-SDI-EE")["ytd_amount"] == 3 * right
        assert await differences(town, owner_database) == []
        # The next one has nothing left to settle, and a void brings back what it takes away at the rate in force.
        town.go_to("2027-01-27", 10)
        fourth = exact(await account.live.post("/payroll/run", week(employer_id, rosa, "2027-01-26")))
        assert line(fourth, "CA-SDI-EE")["amount"] == right
        assert (
            data(await account.live.post(f"/payroll/{paid[0]['payroll_id']}/void", {"reason": "twice"}))[
                "status"
            ]
            == "voided"
        )
        assert await differences(town, owner_database) == []
        town.go_to("2027-02-03", 10)
        fifth = exact(await account.live.post("/payroll/run", week(employer_id, rosa, "2027-02-02")))
        assert line(fifth, "CA-SDI-EE")["ytd_amount"] == 4 * right
        assert await differences(town, owner_database) == []
    # What was withheld for income tax stands.
    read = exact(await account.live.get(f"/payroll/{paid[1]['payroll_id']}"))
    assert line(read, "US-FIT") == line(paid[1], "US-FIT")
    assert read["provisional"] == paid[1]["provisional"]


@pytest.mark.parametrize(("state", "code"), [("NC", "NC-SUI-ER"), ("NJ", "NJ-FLI-EE"), ("WA", "WA-SUI-ER")])
async def test_the_year_comes_out_by_the_published_figures(
    account: Account, town: Town, owner_database: Database, tmp_path: Path, state: str, code: str
):
    employer_id, rosa = await household(account, state)
    subject: dict[str, Decimal] = defaultdict(Decimal)
    last: dict[str, Any] = {}

    async def pay(day: str, bonus: int) -> None:
        nonlocal last
        town.go_to(day, 12)
        last = exact(await account.live.post("/payroll/run", week(employer_id, rosa, day, bonus=bonus)))
        subject[code] += last["employees"][0]["gross_pay"]

    await pay("2027-01-08", 0)
    await pay("2027-01-15", 20_000)
    with edition(tmp_path, *RATES):
        await settle_rule_changes(town.worker)
        await pay("2027-01-22", 20_000)
        await pay("2027-01-29", 1_000)
        law = rulebook_of(2027).state(state).contributions_by_code(town.clock.today())[code]
        taxed = (
            subject[code] if law.wage_base is None else min(subject[code], Decimal(law.wage_base).scaleb(-2))
        )
        due = (taxed * Decimal(law.rate).scaleb(-9)).quantize(Decimal("0.01"), ROUND_HALF_UP)
        assert abs(line(last, code)["ytd_amount"] - due) <= Decimal("0.02")
        assert await differences(town, owner_database) == []


async def test_a_rate_that_was_assigned_stands(
    account: Account, town: Town, owner_database: Database, tmp_path: Path
):
    employer_id, rosa = await household(account, "WA")
    async with owner_database.transaction(None) as session:
        notice = {"tax_year": 2027, "state": "WA", "rate": Decimal("0.02")}
        await assign_sui_rate(session, UUID(employer_id), **notice)
    town.go_to("2027-01-08", 12)
    first = exact(await account.live.post("/payroll/run", week(employer_id, rosa, "2027-01-08")))
    assert "WA-SUI-ER" not in first["provisional"]
    with edition(tmp_path, *RATES):
        await settle_rule_changes(town.worker)
        town.go_to("2027-01-15", 12)
        second = exact(await account.live.post("/payroll/run", week(employer_id, rosa, "2027-01-15")))
        assert line(second, "WA-SUI-ER")["amount"] == line(first, "WA-SUI-ER")["amount"]
        assert await differences(town, owner_database) == []


async def test_what_nobody_can_know_refuses_preview_and_run_alike_and_names_line_and_agency(
    account: Account, town: Town, counts: Any, tmp_path: Path
):
    employer_id, rosa = await household(account, "CA")
    town.go_to("2027-01-08", 12)
    body = week(employer_id, rosa, "2027-01-08")
    with edition(tmp_path, ("2027/states/CA.toml", unpublished_program("CA-NEW-EE", "ca-edd", "2027-01-01"))):
        before = counts()
        for path in ("/payroll/preview", "/payroll/run"):
            error = refusal(await account.live.post(path, body), 400, "tax_year_not_final")
            assert error["details"]["lines"] == ["CA-NEW-EE"]
            assert len(error["details"]["agencies"]) == 1
            assert error["details"]["agencies"][0] in error["message"]
        assert counts() == before
        # Elsewhere, and before it begins, everybody is paid.
        elsewhere = await household(account, "TX")
        assert (await account.live.post("/payroll/run", week(*elsewhere, "2027-01-08"))).is_success
        assert (await account.live.post("/payroll/run", week(employer_id, rosa, "2026-12-31"))).is_success
