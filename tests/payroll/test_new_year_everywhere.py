"""The first week and the first month of 2027 are paid in every jurisdiction, by the rules as they are."""

import tomllib
from datetime import datetime
from decimal import Decimal
from itertools import cycle
from typing import Any

from hearthpay.clock import FixedClock
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import RULES
from tests.cases import every_case
from tests.http.api import Account, NewAccount
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


async def test_preview_and_run_answer_alike_over_the_new_year(
    new_account: NewAccount, clock: FixedClock
) -> None:
    # More households than the plan of one organization allows.
    accounts = [await new_account(name) for name in ("Lopez family", "Smith family")]
    households = {}
    for state, account in zip(STATES, cycle(accounts), strict=False):
        employer_id = await add_household(account.live, state=state)
        employee_id = await add_employee(account.live, employer_id, work_state=state)
        households[state] = account, employer_id, employee_id
    gross = dict.fromkeys(STATES, Decimal(0))
    with every_case() as case:
        for day, hours, period in (("2027-01-02", 40, WEEK), ("2027-02-01", 160, MONTH)):
            go_to(clock, day)
            for state in STATES:
                with case(state, day):
                    account, *paying = households[state]
                    body: dict[str, Any] = payroll_of(*paying, **period)
                    body["employees"][0]["regular_hours"] = hours
                    paycheck = await _paid_as_previewed(account, state, body)
                    gross[state] += paycheck["gross_pay"]
                    assert paycheck["ytd"]["gross_pay"] == gross[state]


async def _paid_as_previewed(account: Account, state: str, body: dict[str, Any]) -> dict[str, Any]:
    """Preview and run a payroll of one employee; return the paycheck."""
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
    paycheck: dict[str, Any]
    [paycheck] = ran["employees"]
    lines = {line["code"] for line in paycheck["lines"]}
    assert set(ran["provisional"]) == lines & stand_ins(state)
    assert paycheck["net_pay"] == paycheck["gross_pay"] - paycheck["employee_taxes"]["total"] > 0
    return paycheck
