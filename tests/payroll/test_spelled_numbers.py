"""How amounts are spelled, digit by digit: a client that compares texts sees no difference from one day to the next."""

from decimal import Decimal
from uuid import UUID

from hearthpay.payroll.ledger.payrolls import read_payroll
from tests.http.api import Account
from tests.worlds.households import add_employee, payroll_of
from tests.worlds.keys import ring
from tests.worlds.town import Family, Town, app, family, town

__all__ = ["app", "family", "ring", "town"]


async def test_what_was_left_out_is_a_bare_zero_until_it_is_read_back(account: Account, employer_id):
    amounts = []
    for number, more in enumerate([{}, {"bonus": 0, "other_earnings": 0}]):
        employee_id = await add_employee(account.live, employer_id, last_name=f"Diaz {number}")
        entry = {"employee_id": employee_id, "regular_hours": 40, "payment_method": "check"}
        body = payroll_of(employer_id, employee_id, employees=[entry | more])
        previewed = await account.live.post("/payroll/preview", body)
        ran = await account.live.post("/payroll/run", body)
        read = await account.live.get(f"/payroll/{ran.json()['data']['payroll_id']}")
        amounts.append([each.text.partition('"bonus":')[2][:30] for each in (previewed, ran, read)])
    bare, exact = '0,"other_earnings":0}', '0.00,"other_earnings":0.00}'
    for found, expected in zip(amounts, [(bare, bare, exact), (exact, exact, exact)], strict=True):
        assert [each[: len(spelled)] for each, spelled in zip(found, expected, strict=True)] == list(expected)


async def test_an_estimate_is_spelled_shortly_and_kept_exactly(family: Family, town: Town):
    previewed = await family.caller.post("/payroll/preview", family.order("2026-12-11"))
    ran = await family.caller.post("/payroll/run", family.order("2026-12-11"))
    payroll_id = ran.json()["data"]["payroll_id"]
    read = await family.caller.get(f"/payroll/{payroll_id}")
    assert '"gross_pay":1140.00,' in previewed.text
    for answer in (ran, read):
        assert '"gross_pay":1140.0,' in answer.text
        assert '"rate":0.062,' in answer.text
        assert '"regular_hours":40.0,' in answer.text
    async with town.worker.transaction(None) as session:
        stored = await read_payroll(session, UUID(payroll_id))
    assert stored is not None
    assert stored.estimate is not None
    assert str(stored.estimate.answer["totals"]["gross_pay"]) == "1140.00"
    assert {
        type(line["amount"]) for each in stored.estimate.answer["employees"] for line in each["lines"]
    } == {Decimal}
