"""The household's own unemployment rate takes the place of the new-employer rate, year by year and state by state."""

from decimal import Decimal
from uuid import UUID

import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.database.session import Database
from hearthpay.employers.assigned_rates import assign_sui_rate
from tests.http.api import Account
from tests.payroll.test_run import exact
from tests.worlds.households import payroll_of


async def unemployment(account: Account, employer_id: str, employee_id: str) -> dict:
    data = exact(await account.live.post("/payroll/preview", payroll_of(employer_id, employee_id)))
    return next(line for line in data["employees"][0]["lines"] if line["code"] == "CA-SUI-ER")


async def test_the_assigned_rate_is_used(
    account: Account, owner_database: Database, employer_id, employee_id
):
    assert (await unemployment(account, employer_id, employee_id))["rate"] == Decimal("0.034")
    for rate in (Decimal("0.05"), Decimal("0.021")):
        async with owner_database.transaction(None) as session:
            await assign_sui_rate(session, UUID(employer_id), tax_year=2026, state="CA", rate=rate)
        line = await unemployment(account, employer_id, employee_id)
        assert line["rate"] == rate
        assert line["amount"] == (Decimal("1140") * rate).quantize(Decimal("0.01"))


async def test_a_rate_of_another_year_or_state_is_not(
    account: Account, owner_database: Database, employer_id, employee_id
):
    async with owner_database.transaction(None) as session:
        await assign_sui_rate(session, UUID(employer_id), tax_year=2025, state="CA", rate=Decimal("0.05"))
        await assign_sui_rate(session, UUID(employer_id), tax_year=2026, state="NY", rate=Decimal("0.06"))
    assert (await unemployment(account, employer_id, employee_id))["rate"] == Decimal("0.034")


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("rate", {"rate": Decimal("2.7")}),
        ("rate", {"rate": Decimal("NaN")}),
        ("rate", {"rate": Decimal("-0.01")}),
        ("rate", {"rate": Decimal("0.0123456789")}),
        ("state", {"state": "ZZ"}),
        ("tax_year", {"tax_year": 26}),
    ],
)
async def test_an_impossible_notice_is_refused(owner_database: Database, employer_id, field, change):
    notice = {"tax_year": 2026, "state": "CA", "rate": Decimal("0.02")} | change
    async with owner_database.transaction(None) as session:
        with pytest.raises(Refusal) as refusal:
            await assign_sui_rate(session, UUID(employer_id), **notice)
    assert refusal.value.details[0].field == field


async def test_every_notice_leaves_an_audit_row(owner_connection, owner_database: Database, employer_id):
    async with owner_database.transaction(None) as session:
        await assign_sui_rate(session, UUID(employer_id), tax_year=2026, state="CA", rate=Decimal("0.02"))
    row = owner_connection.execute(
        "SELECT actor_kind, details->>'sui_rate' FROM audit_log WHERE action = 'employer.assign_sui_rate'"
    ).fetchone()
    assert row == ("operator", "0.02")
