"""A household in every state can pay someone: the preview equals the run, and every sum is the sum of its lines."""

from itertools import cycle

from hearthpay.taxes.jurisdictions import STATES
from tests.cases import every_case
from tests.http.api import Account, NewAccount
from tests.payroll.test_run import exact
from tests.worlds.households import add_employee, add_household, payroll_of
from tests.worlds.town import as_run


async def test_a_household_can_pay_someone(new_account: NewAccount):
    # More households than the plan of one organization allows.
    accounts = [await new_account(name) for name in ("Lopez family", "Smith family")]
    with every_case() as case:
        for state, account in zip(STATES, cycle(accounts), strict=False):
            with case(state):
                await _pays_someone(account, state)


async def _pays_someone(account: Account, state: str) -> None:
    employer_id = await add_household(account.live, state=state)
    employee_id = await add_employee(account.live, employer_id)
    body = payroll_of(employer_id, employee_id)
    body["employees"][0]["bonus"] = 125.5
    previewed = exact(await account.live.post("/payroll/preview", body))
    ran = exact(await account.live.post("/payroll/run", body))
    assert ran["employees"] == previewed["employees"]
    assert ran["totals"] == previewed["totals"]
    read = exact(await account.live.get(f"/payroll/{ran['payroll_id']}"))
    assert as_run(read) == ran["employees"]
    (paycheck,) = ran["employees"]
    for payer in ("employee", "employer"):
        taxes = dict(paycheck[f"{payer}_taxes"])
        total = taxes.pop("total")
        assert total == sum(taxes.values())
        assert total == sum(line["amount"] for line in paycheck["lines"] if line["payer"] == payer)
    assert paycheck["net_pay"] == paycheck["gross_pay"] - paycheck["employee_taxes"]["total"]
    codes = {line["code"] for line in paycheck["lines"]}
    assert f"{state}-SUI-ER" in codes
