"""The to-dos of a household over the API: each thing once, with what is open, until it is done."""

from typing import Any

from hearthpay.clock import FixedClock
from tests.http.api import Account, data
from tests.worlds.households import add_employee, payroll_of

Household = dict[str, Any]


async def to_dos(account: Account, household: Household, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data(
        await account.live.get("/to-dos", employer_id=household["id"], **query)
    )
    return found


def by_kind(found: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    kinds: dict[str, list[dict[str, Any]]] = {}
    for each in found:
        kinds.setdefault(each["kind"], []).append(each)
    return kinds


async def test_a_household_without_anybody_is_all_clear(account: Account, household: Household) -> None:
    assert await to_dos(account, household, due_within=150) == []


async def test_an_open_payment_is_listed_until_it_is_recorded_as_paid(
    account: Account, household: Household, clock: FixedClock
) -> None:
    rosa = await add_employee(account.live, household["id"])
    data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))
    items = data(await account.live.get("/tax-calendar", employer_id=household["id"]))["items"]
    estimated = next(
        each for each in items if each["amount"] and each["agency"] == "Internal Revenue Service"
    )
    found = {each["id"]: each for each in await to_dos(account, household, due_within=150)}
    row = next(each for each in found.values() if each["subject"]["object_id"] == estimated["key"])
    assert row["kind"] == "pay_taxes"
    assert row["amount"] == estimated["open"]
    assert row["due_on"] == estimated["due_date"]
    assert row["title"].startswith(f"Pay the IRS ${estimated['open']:,.2f}, due January 15, 2027")
    assert row["link"].endswith(f"/app/{household['id']}/calendar/{row['id']}")
    data(
        await account.live.post(
            "/tax-payments",
            {
                "employer_id": household["id"],
                "agency": "IRS",
                "account_type": "estimated-tax",
                "period": estimated["period"],
                "amount": estimated["open"],
                "paid_on": str(clock.today()),
                "method": "bank_account",
            },
        ),
        201,
    )
    assert row["id"] not in {each["id"] for each in await to_dos(account, household, due_within=150)}


async def test_a_number_that_several_accounts_share_is_one_to_do(
    account: Account, household: Household
) -> None:
    rosa = await add_employee(account.live, household["id"])
    data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))
    (edd,) = by_kind(await to_dos(account, household))["register"]
    assert edd["title"] == "Register with the EDD"
    assert edd["due_on"] is None
    rows = data(await account.live.get("/state-registrations", employer_id=household["id"]))["items"]
    assert len([row for row in rows if row["status"] == "required"]) > 1


async def test_no_payment_is_listed_twice(account: Account, household: Household) -> None:
    rosa = await add_employee(account.live, household["id"])
    data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))
    found = await to_dos(account, household, due_within=150)
    assert len({each["id"] for each in found}) == len(found)
    items = [
        each["subject"]["object_id"] for each in found if each["subject"]["object_type"] == "calendar_item"
    ]
    assert len(set(items)) == len(items)
    assert len(items) > 3
