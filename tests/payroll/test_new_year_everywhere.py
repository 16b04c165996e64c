"""The first week and the first month of 2027 are paid in every jurisdiction, by the rules as they are."""

import tomllib
from datetime import datetime
from typing import Any

import pytest

from hearthpay.clock import FixedClock
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import RULES
from tests.http.api import Account
from tests.payroll.test_run import exact
from tests.worlds.households import add_employee, add_household, payroll_of
from tests.worlds.town import as_run

WEEK = {
    "pay_period_start": "2026-12-21",
    "pay_period_end": "2026-12-27",
    "pay_date": "2027-01-01",
    "pay_frequency": "weekly",
}
MONTH = {
    "pay_period_start": "2027-01-01",
    "pay_period_end": "2027-01-31",
    "pay_date": "2027-01-31",
    "pay_frequency": "monthly",
}


def go_to(clock: FixedClock, day: str) -> None:
    clock.advance(datetime.fromisoformat(f"{day}T17:00:00+00:00") - clock.now())


def stand_ins(state: str) -> set[str]:
    """The lines of 2027 that the files of the federation, the state and its localities call provisional."""
    found = set()
    for name in ("us.toml", f"states/{state}.toml", f"local/{state}.toml"):
        path = RULES / "2027" / name
        law = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
        for table in law.get("finality", []):
            if table["status"] == "provisional":
                found |= set(table["codes"])
    return found


@pytest.mark.parametrize("state", STATES)
async def test_preview_and_run_answer_alike_over_the_new_year(
    account: Account, clock: FixedClock, state: str
) -> None:
    employer_id = await add_household(account.live, state=state)
    employee_id = await add_employee(account.live, employer_id, work_state=state)
    gross = []
    for day, hours, period in (("2027-01-02", 40, WEEK), ("2027-02-01", 160, MONTH)):
        go_to(clock, day)
        body: dict[str, Any] = payroll_of(employer_id, employee_id, **period)
        body["employees"][0]["regular_hours"] = hours
        preview = await account.live.post("/payroll/preview", body)
        assert preview.status_code == 200, preview.text
        run = await account.live.post("/payroll/run", body)
        assert run.status_code == 200, run.text
        previewed, ran = exact(preview), exact(run)
        assert ran["rulebook"]["tax_year"] == 2027
        for told in ("employees", "totals", "rulebook", "provisional", "limitations"):
            assert ran.get(told) == previewed.get(told), told
        read = exact(await account.live.get(f"/payroll/{ran['payroll_id']}"))
        assert as_run(read) == ran["employees"]
        assert read.get("provisional") == ran.get("provisional")
        # Every line that stands in for a figure to come is named, and no other.
        [paycheck] = ran["employees"]
        lines = {line["code"] for line in paycheck["lines"]}
        assert set(ran["provisional"]) == lines & stand_ins(state)
        assert paycheck["net_pay"] == paycheck["gross_pay"] - paycheck["employee_taxes"]["total"] > 0
        gross.append(paycheck["gross_pay"])
        assert paycheck["ytd"]["gross_pay"] == sum(gross)
