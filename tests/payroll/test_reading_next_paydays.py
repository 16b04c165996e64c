"""Next paydays as they are read from a household's payrolls."""

from datetime import date
from typing import Any
from uuid import UUID

from hearthpay.database.session import Database, Tenant
from hearthpay.payroll.next_payday import NextPayday, read_next_paydays
from tests.http.api import Account, data
from tests.worlds.households import add_employee, add_household, payroll_of


async def next_paydays(database: Database, account: Account, *employers: str) -> dict[str, list[NextPayday]]:
    async with database.transaction(Tenant(account.organization_id, False)) as session:
        found = await read_next_paydays(session, [UUID(each) for each in employers])
    return {str(employer): list(paydays) for employer, paydays in found.items()}


async def run(account: Account, order: dict[str, Any]) -> str:
    return str(data(await account.live.post("/payroll/run", order))["payroll_id"])


async def test_nobody_has_a_next_payday_before_the_first_payroll_or_after_a_bonus_alone(
    account: Account, employer_id: str, employee_id: str, database: Database
):
    assert await next_paydays(database, account, employer_id) == {}
    bonus = [{"employee_id": employee_id, "bonus": 100, "payment_method": "check"}]
    await run(account, payroll_of(employer_id, employee_id, employees=bonus))
    assert await next_paydays(database, account, employer_id) == {}


async def test_the_next_payday_follows_the_first_payroll_and_moves_back_with_a_void(
    account: Account, employer_id: str, employee_id: str, database: Database
):
    await account.live.patch(f"/employees/{employee_id}", {"pay_frequency": "weekly"})
    await run(account, payroll_of(employer_id, employee_id))
    second = await run(
        account,
        payroll_of(
            employer_id,
            employee_id,
            pay_period_start="2026-11-16",
            pay_period_end="2026-11-22",
            pay_date="2026-11-27",
        ),
    )
    (due,) = (await next_paydays(database, account, employer_id))[employer_id]
    assert due == NextPayday(
        date(2026, 11, 23),
        date(2026, 11, 29),
        "weekly",
        date(2026, 12, 4),
        (UUID(employee_id),),
        ("Rosa Diaz",),
    )
    data(await account.live.post(f"/payroll/{second}/void", {}))
    (due,) = (await next_paydays(database, account, employer_id))[employer_id]
    assert (due.start, due.end, due.pay_date) == (
        date(2026, 11, 16),
        date(2026, 11, 22),
        date(2026, 11, 27),
    )


async def test_employees_who_are_paid_together_share_a_payday_and_others_have_their_own(
    account: Account, employer_id: str, employee_id: str, database: Database
):
    together = await add_employee(account.live, employer_id, first_name="Ben", pay_frequency="weekly")
    alone = await add_employee(account.live, employer_id, first_name="Cem", pay_frequency="monthly")
    left = await add_employee(account.live, employer_id, first_name="Dana", pay_frequency="weekly")
    await account.live.patch(f"/employees/{employee_id}", {"pay_frequency": "weekly"})
    entries = [
        {"employee_id": each, "regular_hours": 10, "payment_method": "check"}
        for each in (employee_id, together, left)
    ]
    await run(account, payroll_of(employer_id, employee_id, employees=entries))
    month = {
        "pay_period_start": "2026-10-01",
        "pay_period_end": "2026-10-31",
        "pay_date": "2026-11-20",
        "pay_frequency": "monthly",
    }
    await run(account, payroll_of(employer_id, alone, **month))
    data(await account.live.post(f"/employees/{left}/terminate", {"end_date": "2026-11-15"}))
    other = await add_household(account.live, first_name="Other")
    found = await next_paydays(database, account, employer_id, other)
    assert list(found) == [employer_id]
    assert [(each.frequency, set(each.employees)) for each in found[employer_id]] == [
        ("weekly", {UUID(employee_id), UUID(together)}),
        ("monthly", {UUID(alone)}),
    ]
