"""Reports of the real ledger: moves, voids in a later quarter, thresholds crossed late, prior wages, rehires."""

import random
from decimal import Decimal
from typing import Any

import psycopg

from tests.http.api import Account, data
from tests.payroll.test_run import exact
from tests.payroll.test_thresholds_as_paid import Family, family_in

D = Decimal
NOTHING = D(0)
_LINES = (
    "SELECT l.code, extract(quarter FROM p.pay_date)::int, sum(l.subject_wages), sum(l.taxable_wages), sum(l.amount) "
    "FROM paycheck_lines l JOIN paychecks c ON c.id = l.paycheck_id JOIN payrolls p ON p.id = c.payroll_id "
    "GROUP BY 1, 2"
)


async def wages(family: Family, state: str, quarter: int | None = None) -> dict[str, Any]:
    query = {"state": state, "year": 2026} | ({} if quarter is None else {"quarter": quarter})
    return exact(await family.account.live.get("/reports/state-wages", **query))


async def liability(family: Family, first: str, last: str) -> dict[str, Any]:
    return exact(await family.account.live.get("/reports/tax-liability", **{"from": first, "to": last}))


def by_line(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {line["code"]: line for line in report["totals"]["lines"]}


async def test_random_households(account: Account, owner_connection: psycopg.Connection):
    dice = random.Random(20261122)
    family = await family_in(account, "CA")
    people = [await family.hire(name) for name in ("Diaz", "Ruiz", "Cruz")]
    standing: list[dict[str, Any]] = []
    for month in range(1, 12):
        if dice.random() < 0.4:
            mover, state = dice.choice(people), dice.choice(("NY", "CA", "TX"))
            path = f"/api/v1/employees/{mover}"
            response = await account.live.client.patch(
                path, json={"work_state": state}, headers=account.live.headers()
            )
            assert response.status_code == 200, response.text
        paid = {
            employee: dice.choice((90, 1200, 4800)) for employee in dice.sample(people, dice.randint(1, 3))
        }
        standing.append(await family.run(f"2026-{month:02d}-16", paid))
        if dice.random() < 0.3:
            await family.void(standing.pop(dice.randrange(len(standing))))

    ledger: dict[tuple[str, int], tuple[Decimal, ...]] = {
        (code, quarter): tuple(D(cents) / 100 for cents in sums)
        for code, quarter, *sums in owner_connection.execute(_LINES)
    }
    gross = NOTHING
    for state in ("CA", "NY", "TX"):
        year, quarters = (
            await wages(family, state),
            [await wages(family, state, each) for each in range(1, 5)],
        )
        gross += year["totals"]["gross_wages"]
        for what in ("gross_wages", "subject_wages", "excess_wages", "taxable_wages"):
            assert year["totals"][what] == sum(each["totals"][what] for each in quarters)
            for report in (year, *quarters):
                assert report["totals"][what] == sum(each[what] for each in report["employees"])
        for number, report in enumerate(quarters, start=1):
            lines = by_line(report)
            for code, line in lines.items():
                sums = (line["subject_wages"], line["taxable_wages"], line["amount"])
                assert sums == ledger[code, number]
                assert line["subject_wages"] == line["excess_wages"] + line["taxable_wages"]
            of_state = {code for code, each in ledger if each == number and code.startswith(f"{state}-")}
            assert all(not any(ledger[code, number]) for code in of_state - lines.keys())
    assert gross == sum(payroll["totals"]["gross_pay"] for payroll in standing)

    whole = await liability(family, "2026-01-01", "2026-12-31")
    taxes = sum(
        line["amount"]
        for payroll in standing
        for paycheck in payroll["employees"]
        for line in paycheck["lines"]
    )
    assert whole["totals"]["total"] == taxes == sum(sums[2] for sums in ledger.values())
    months = [
        (await liability(family, f"2026-{each:02d}-01", f"2026-{each:02d}-28"))["totals"]["total"]
        for each in range(1, 13)
    ]
    assert months == [each["amount"] for each in whole["totals"]["months"]]
    assert whole["totals"]["total"] == sum(months)


async def test_a_void_in_a_later_quarter_changes_the_quarter_of_the_payroll(account: Account):
    family = await family_in(account, "TX", threshold_basis="assume_crossed")
    rosa = await family.hire("Diaz")
    march = await family.run("2026-03-20", {rosa: 6000})
    await family.run("2026-05-20", {rosa: 5000})
    assert by_line(await wages(family, "TX", 2))["TX-SUI-ER"]["taxable_wages"] == 3000
    await family.void(march)
    first, second = await wages(family, "TX", 1), await wages(family, "TX", 2)
    assert first["employees"] == []
    assert (second["totals"]["taxable_wages"], second["totals"]["excess_wages"]) == (3000, 2000)
    # What the void left below the wage base is charged with the next paycheck, and is told as such.
    await family.run("2026-08-20", {rosa: 1000})
    third = await wages(family, "TX", 3)
    assert (third["totals"]["taxable_wages"], third["totals"]["excess_wages"]) == (3000, -2000)
    assert "below zero" in third["remarks"][0]
    assert (await wages(family, "TX"))["totals"]["excess_wages"] == 0
    told = await liability(family, "2026-01-01", "2026-12-31")
    assert {each["agency"]: each["months"][2]["amount"] for each in told["agencies"]} == dict.fromkeys(
        (each["agency"] for each in told["agencies"]), 0
    )


async def test_wages_before_a_threshold_are_charged_in_the_quarter_that_crosses_it(account: Account):
    family = await family_in(account, "TX")
    rosa = await family.hire("Diaz")
    await family.run("2026-03-20", {rosa: 900})
    first = await wages(family, "TX", 1)
    assert (first["totals"]["subject_wages"], first["totals"]["excess_wages"]) == (900, 900)
    await family.run("2026-05-20", {rosa: 1100})
    first, second = await wages(family, "TX", 1), await wages(family, "TX", 2)
    assert first["totals"]["taxable_wages"] == 0
    assert second["totals"]["taxable_wages"] == 2000
    assert second["totals"]["excess_wages"] == -900
    assert by_line(second)["TX-SUI-ER"]["amount"] == D("54")


async def test_prior_wages_are_told_and_left_out(account: Account):
    family = await family_in(account, "TX", threshold_basis="assume_crossed")
    rosa = await family.hire("Diaz")
    sui = {"code": "TX-SUI-ER", "subject_wages": 8000, "taxable_wages": 8000, "amount": 216}
    told = {"tax_year": 2026, "source": "Former", "as_of": "2026-06-30", "gross_pay": 8000, "lines": [sui]}
    entered = await account.live.post(f"/employees/{rosa}/prior-wages", told)
    assert entered.status_code == 201, entered.text
    assert (await wages(family, "TX"))["employees"] == []
    await family.run("2026-07-20", {rosa: 2500})
    report = await wages(family, "TX", 3)
    assert report["totals"]["gross_wages"] == 2500
    assert (report["totals"]["taxable_wages"], report["totals"]["excess_wages"]) == (1000, 1500)
    assert report["prior_wages_left_out"] == 8000
    assert "8,000.00" in report["remarks"][0]


async def test_a_person_of_two_records_is_one_row(account: Account, owner_connection: psycopg.Connection):
    family = await family_in(account, "TX", threshold_basis="assume_crossed")
    first = await family.hire("Diaz")
    await family.run("2026-02-20", {first: 1000})
    data(await account.live.post(f"/employees/{first}/terminate", {}))
    again = await family.hire("Diaz")
    owner_connection.execute(
        "UPDATE employees SET person_id = %s WHERE id IN (%s, %s)", (first, first, again)
    )
    await family.run("2026-03-20", {again: 500})
    report = await wages(family, "TX", 1)
    assert [(each["employee_id"], each["gross_wages"]) for each in report["employees"]] == [(first, 1500)]
