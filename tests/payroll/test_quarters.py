"""The household's quarters: by pay date and tax year, without what was voided, and without wages of other payrolls."""

import datetime
from collections import Counter
from decimal import Decimal
from uuid import UUID

import pytest

from hearthpay.database.session import Database
from hearthpay.payroll.ledger.quarters import (
    read_prior_gross,
    read_quarters,
    read_taxed_months,
    read_taxed_quarters,
)
from tests.http.api import Account
from tests.payroll.test_thresholds_as_paid import Family, family_in, lines_of

DAY = datetime.date


@pytest.fixture
async def family(account: Account) -> Family:
    return await family_in(account, "CA", threshold_basis="assume_crossed")


async def test_each_year_has_its_own_quarters_and_a_void_leaves_them(
    family: Family, owner_database: Database
) -> None:
    rosa = await family.hire("Diaz")
    last_year = await family.run("2025-12-30", {rosa: 1000})
    this_year = await family.run("2026-01-05", {rosa: 700})
    spring = await family.run("2026-04-02", {rosa: 300})
    await family.void(await family.run("2026-01-06", {rosa: 90}))
    line = {"code": "US-SS-EE", "subject_wages": 400, "taxable_wages": 400, "amount": 24.8}
    prior = {"tax_year": 2025, "source": "before", "as_of": "2025-06-30", "gross_pay": 400, "lines": [line]}
    entered = await family.account.live.post(f"/employees/{rosa}/prior-wages", prior)
    assert entered.status_code == 201, entered.text
    household, employee = UUID(family.employer_id), UUID(rosa)

    async with owner_database.transaction(None) as session:
        paid = {
            years: [
                (each.employee_id, each.work_state, each.year, each.quarter, each.cents)
                for each in await read_quarters(session, household, first_year=years[0], last_year=years[1])
            ]
            for years in ((2025, 2025), (2025, 2026), (2026, 2026), (2024, 2024))
        }
        of_2025 = (employee, "CA", 2025, 4, 100_000)
        of_2026 = [(employee, "CA", 2026, 1, 70_000), (employee, "CA", 2026, 2, 30_000)]
        assert paid == {
            (2025, 2025): [of_2025],
            (2025, 2026): [of_2025, *of_2026],
            (2026, 2026): of_2026,
            (2024, 2024): [],
        }

        for year, payrolls in ((2025, {4: last_year}), (2026, {1: this_year, 2: spring}), (2024, {})):
            taxed = await read_taxed_quarters(session, household, state="CA", year=year)
            assert {each.quarter for each in taxed} == payrolls.keys()
            assert all(each.code.startswith("CA-") and each.employee_id == employee for each in taxed)
            for each in taxed:
                assert Decimal(each.amount) / 100 == lines_of(payrolls[each.quarter])[each.code], (year, each)
        assert await read_taxed_quarters(session, household, state="NY", year=2026) == []

        spans = {
            (DAY(2025, 12, 30), DAY(2025, 12, 30)): (last_year,),
            (DAY(2026, 1, 1), DAY(2026, 3, 31)): (this_year,),
            (DAY(2026, 1, 5), DAY(2026, 4, 2)): (this_year, spring),
            (DAY(2026, 4, 3), DAY(2026, 12, 31)): (),
        }
        for (first, last), payrolls in spans.items():
            expected: Counter[str] = Counter()
            for payroll in payrolls:
                expected.update(
                    {code: int(amount * 100) for code, amount in lines_of(payroll).items() if amount}
                )
            found: Counter[str] = Counter()
            for each in await read_taxed_months(session, household, first=first, last=last):
                assert each.month.day == 1
                assert first.replace(day=1) <= each.month <= last
                found[each.code] += each.amount
            assert found == expected, (first, last)

        assert await read_prior_gross(session, household, 2025) == {employee: 40_000}
        assert await read_prior_gross(session, household, 2026) == {}


async def test_the_wages_of_another_household_are_not_in_the_quarters(
    account: Account, family: Family, owner_database: Database
) -> None:
    other = await family_in(account, "CA", threshold_basis="assume_crossed")
    line = {"code": "US-SS-EE", "subject_wages": 400, "taxable_wages": 400, "amount": 24.8}
    prior = {"tax_year": 2026, "source": "before", "as_of": "2026-01-02", "gross_pay": 400, "lines": [line]}
    for each in (family, other):
        rosa = await each.hire("Diaz")
        await each.run("2026-01-05", {rosa: 700})
        entered = await each.account.live.post(f"/employees/{rosa}/prior-wages", prior)
        assert entered.status_code == 201, entered.text
    household = UUID(family.employer_id)
    async with owner_database.transaction(None) as session:
        (paid,) = await read_quarters(session, household, first_year=2026, last_year=2026)
        taxed = await read_taxed_quarters(session, household, state="CA", year=2026)
        months = await read_taxed_months(session, household, first=DAY(2026, 1, 1), last=DAY(2026, 1, 31))
        before = await read_prior_gross(session, household, 2026)
    assert paid.cents == 70_000
    assert {each.employee_id for each in taxed} == before.keys() == {paid.employee_id}
    (social_security,) = [each.amount for each in months if each.code == "US-SS-EE"]
    assert social_security == 4_340


async def test_earlier_wages_that_were_entered_again_count_once(
    family: Family, owner_database: Database
) -> None:
    rosa = await family.hire("Diaz")
    for gross in (400, 500):
        line = {"code": "US-SS-EE", "subject_wages": gross, "taxable_wages": gross, "amount": gross * 0.062}
        prior = {
            "tax_year": 2026,
            "source": "before",
            "as_of": "2026-06-30",
            "gross_pay": gross,
            "lines": [line],
        }
        entered = await family.account.live.post(f"/employees/{rosa}/prior-wages", prior)
        assert entered.status_code == 201, entered.text
    async with owner_database.transaction(None) as session:
        assert await read_prior_gross(session, UUID(family.employer_id), 2026) == {UUID(rosa): 50_000}
