"""Payments and filings of a household that really pays somebody: by the API, to the cent, and what is refused."""

from datetime import date
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import text

from hearthpay.access.actor import Actor
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties.service import mark_duty
from hearthpay.employers.models import Employer
from hearthpay.filing.service import balances_of_household
from tests.duties.test_service import by_key, pay
from tests.http.api import Account, data, fields, refusal
from tests.worlds.households import add_employee
from tests.worlds.made_in_turn import MadeInTurn

Q3, I3 = "CA/wages-quarterly/2026-Q3", "US/estimated-tax/2026-I3"
YEAR = {"from": "2026-01-01", "to": "2026-12-31"}


def payment(household: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "employer_id": household["id"],
        "agency": "ca-edd",
        "account_type": "sui",
        "state_code": "CA",
        "period": "2026-Q3",
        "amount": 10.5,
        "paid_on": "2026-10-28",
        "method": "bank_account",
        "confirmation": "0-418-229-305",
    } | changes


def filing(household: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"employer_id": household["id"], "key": Q3, "filed_on": "2026-10-27"} | changes


async def record(account: Account, path: str, body: dict[str, Any]) -> dict[str, Any]:
    return data(await account.live.post(path, body), 201)


@pytest.fixture
async def paid(account: Account, household: dict[str, Any], made_in_turn: MadeInTurn) -> dict[str, Any]:
    """The household, which paid somebody in July, August and October."""

    async def make() -> str:
        rosa = await add_employee(account.live, household["id"])
        for month, monday in ((7, 6), (8, 3), (10, 5)):
            await pay(account, household, rosa, monday, month)
        return rosa

    return household | {"employee_id": await made_in_turn.get("paid", make)}


async def test_a_payment_is_told_with_what_is_open(account: Account, paid: dict[str, Any]) -> None:
    owed = (await by_key(account))[Q3]["amount"]
    told = await record(account, "/tax-payments", payment(paid))
    assert told["payment"] | {"id": "", "recorded_at": ""} == {
        "id": "",
        "employer_id": paid["id"],
        "agency": "EDD",
        "agency_name": "California Employment Development Department",
        "account_type": "sui",
        "state_code": "CA",
        "period": "2026-Q3",
        "period_start": "2026-07-01",
        "period_end": "2026-09-30",
        "key": Q3,
        "amount": 10.5,
        "paid_on": "2026-10-28",
        "method": "bank_account",
        "confirmation": "0-418-229-305",
        "status": "recorded",
        "recorded_at": "",
        "reversed_at": None,
    }
    left = round(owed - 10.5, 2)
    assert told["balance"] == {
        "owed": owed,
        "paid": 10.5,
        "open": left,
        "status": "late",
        "next_step": "file_and_pay",
        "due_date": "2026-11-02",
    }
    rest = payment(paid, agency="EDD", state_code=None, amount=left, confirmation=None)
    told = await record(account, "/tax-payments", rest)
    assert (told["balance"]["open"], told["balance"]["status"]) == (0, "paid")
    item = (await by_key(account))[Q3]
    assert (item["paid"], item["open"], item["payment_status"]) == (owed, 0, "paid")
    assert (item["done"], item["filed_on"], item["next_step"]) == (False, None, "file")
    listed = data(await account.live.get("/tax-payments", employer_id=paid["id"]))
    assert [each["amount"] for each in listed] == [left, 10.5]


async def test_a_filing_keeps_the_figures_as_they_were(account: Account, paid: dict[str, Any]) -> None:
    before = (await by_key(account))[Q3]
    told = await record(account, "/filings", filing(paid, confirmation="0-418-229-304"))
    assert (told["key"], told["filed_on"], told["status"]) == (Q3, "2026-10-27", "filed")
    assert told["figures"]["total"] == before["amount"]
    assert sum(line["amount"] for line in told["figures"]["lines"]) == pytest.approx(before["amount"])
    item = (await by_key(account))[Q3]
    assert (item["filed_on"], item["done"], item["next_step"]) == ("2026-10-27", False, "pay")
    await record(account, "/tax-payments", payment(paid, amount=before["amount"]))
    item = (await by_key(account))[Q3]
    assert (item["done"], item["done_on"], item["next_step"]) == (True, "2026-10-28", "none")
    refusal(await account.live.post("/filings", filing(paid)), 400, "invalid_state")

    # A payroll of the quarter that is run late opens it by the difference, and the return is to be amended.
    await pay(account, paid, paid["employee_id"], 17, 8)
    item = (await by_key(account))[Q3]
    late = round(item["amount"] - before["amount"], 2)
    assert (item["done"], item["open"], item["next_step"]) == (False, late, "pay")
    await record(account, "/tax-payments", payment(paid, amount=late, paid_on="2026-11-20"))
    assert (await by_key(account))[Q3]["next_step"] == "amend"
    amended = await record(account, "/filings", filing(paid, filed_on="2026-11-20"))
    assert amended["figures"]["total"] == item["amount"]
    assert (await by_key(account))[Q3]["next_step"] == "none"
    listed = data(await account.live.get("/filings"))
    assert [each["figures"]["total"] for each in listed] == [item["amount"], before["amount"]]


async def test_what_is_reversed_is_open_again(account: Account, paid: dict[str, Any]) -> None:
    before = (await by_key(account))[Q3]
    told = await record(account, "/tax-payments", payment(paid, amount=before["amount"]))
    filed = await record(account, "/filings", filing(paid))
    reverse = f"/tax-payments/{told['payment']['id']}/reverse"
    back = data(await account.live.post(reverse, {}))
    assert (back["payment"]["status"], back["balance"]["open"]) == ("reversed", before["amount"])
    again = await account.live.post(f"/filings/{filed['id']}/reverse", {})
    assert data(again)["status"] == "reversed"
    assert (await by_key(account))[Q3] == before
    for path in (reverse, f"/filings/{filed['id']}/reverse"):
        refusal(await account.live.post(path, {}), 400, "invalid_state")
    (listed,) = data(await account.live.get("/tax-payments"))
    assert (listed["status"], listed["amount"]) == ("reversed", before["amount"])
    (listed,) = data(await account.live.get("/filings"))
    assert listed["status"] == "reversed"
    nothing = "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11"
    for path in (f"/tax-payments/{nothing}/reverse", f"/filings/{nothing}/reverse"):
        refusal(await account.live.post(path, {}), 404, "not_found")


async def test_the_row_of_a_reversal_is_no_payment(
    account: Account, paid: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    told = await record(account, "/tax-payments", payment(paid))
    data(await account.live.post(f"/tax-payments/{told['payment']['id']}/reverse", {}))
    row = owner_connection.execute(
        "SELECT id, amount FROM tax_payments WHERE reverses IS NOT NULL"
    ).fetchone()
    assert row is not None
    assert row[1] == -1050
    refused = await account.live.post(f"/tax-payments/{row[0]}/reverse", {})
    refusal(refused, 404, "not_found")


@pytest.mark.parametrize("confirmation", ["270646150293847", "1234567890", "0-418-229-304"])
async def test_a_confirmation_number_of_digits_is_kept(
    account: Account, paid: dict[str, Any], confirmation: str
) -> None:
    """As IRS Direct Pay and EFTPS give them: fifteen digits."""
    told = await record(account, "/tax-payments", payment(paid, confirmation=confirmation))
    assert told["payment"]["confirmation"] == confirmation


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"agency": "ca-ftb"}, "agency"),
        ({"agency": "DELETE"}, "agency"),
        ({"state_code": "NY"}, "state_code"),
        ({"state_code": "XX"}, "state_code"),
        ({"account_type": "withholding"}, "account_type"),
        ({"account_type": "payroll"}, "account_type"),
        ({"period": "2026-Q5"}, "period"),
        ({"period": "2026-M07"}, "period"),
        ({"period": "2022-Q3", "paid_on": "2022-10-28"}, "period"),
        ({"period": "2027-Q1"}, "period"),
        ({"amount": 0}, "amount"),
        ({"amount": -1}, "amount"),
        ({"amount": 1.005}, "amount"),
        ({"paid_on": "2026-11-21"}, "paid_on"),
        ({"paid_on": "2026-06-30"}, "paid_on"),
        ({"method": "gold"}, "method"),
        ({"confirmation": ""}, "confirmation"),
        ({"confirmation": "123-45-6789"}, "confirmation"),
    ],
)
async def test_refused_payments(
    account: Account, household: dict[str, Any], changes: dict[str, Any], field: str
) -> None:
    response = await account.live.post("/tax-payments", payment(household, **changes))
    assert field in fields(refusal(response, 400, "validation_error"))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"key": "CA/wages-quarterly/2026-Q9"}, "key"),
        ({"key": "'; DROP TABLE filings"}, "key"),
        ({"key": I3}, "key"),
        ({"filed_on": "2026-11-21"}, "filed_on"),
        ({"filed_on": "2026-06-30"}, "filed_on"),
    ],
)
async def test_refused_filings(
    account: Account, paid: dict[str, Any], changes: dict[str, Any], field: str
) -> None:
    response = await account.live.post("/filings", filing(paid, **changes))
    assert field in fields(refusal(response, 400, "validation_error"))


async def test_the_same_payment_sent_twice_counts_once(account: Account, paid: dict[str, Any]) -> None:
    body = payment(paid)
    first = await account.live.post("/tax-payments", body, idempotency_key="paid the EDD")
    second = await account.live.post("/tax-payments", body, idempotency_key="paid the EDD")
    assert first.content == second.content
    assert second.headers["Idempotent-Replayed"] == "true"
    assert len(data(await account.live.get("/tax-payments"))) == 1
    other = await account.live.post("/tax-payments", body | {"amount": 11}, idempotency_key="paid the EDD")
    refusal(other, 409, "idempotency_conflict")


async def test_lists_go_on_behind_a_cursor(account: Account, paid: dict[str, Any]) -> None:
    for amount in (1, 2, 3):
        await record(account, "/tax-payments", payment(paid, amount=amount))
    first = await account.live.get("/tax-payments", limit=2)
    cursor = first.json()["meta"]["next_cursor"]
    assert [each["amount"] for each in data(first)] == [3, 2]
    last = await account.live.get("/tax-payments", limit=2, cursor=cursor)
    assert [each["amount"] for each in data(last)] == [1]
    assert last.json()["meta"]["next_cursor"] is None


async def test_the_report_tells_what_was_paid_of_each_agency(account: Account, paid: dict[str, Any]) -> None:
    before = data(await account.live.get("/reports/tax-liability", **YEAR))
    assert [(each["paid"], each["open"]) for each in before["agencies"]] == [
        (0, each["total"]) for each in before["agencies"]
    ]
    await record(account, "/tax-payments", payment(paid))
    irs = {"agency": "IRS", "account_type": "estimated_tax", "state_code": None, "amount": 5000}
    await record(account, "/tax-payments", payment(paid, **irs, period="2026-I3", paid_on="2026-09-14"))
    after = data(await account.live.get("/reports/tax-liability", **YEAR))
    found = {each["agency"]: (each["total"], each["paid"], each["open"]) for each in after["agencies"]}
    total = {each["agency"]: each["total"] for each in before["agencies"]}
    edd = total["EDD"]
    assert found == {
        "IRS": (total["IRS"], 5000, round(total["IRS"] - 5000, 2)),
        "EDD": (edd, 10.5, round(edd - 10.5, 2)),
    }
    assert after["totals"]["paid"] == 5010.5
    assert after["totals"]["open"] == round(after["totals"]["total"] - 5010.5, 2)
    # Another quarter's report has nothing of it.
    fourth = data(
        await account.live.get("/reports/tax-liability", **{"from": "2026-10-01", "to": "2026-12-31"})
    )
    assert fourth["totals"]["paid"] == 0


async def test_what_is_kept_aside_leaves_out_what_was_marked_as_done(
    account: Account, paid: dict[str, Any], owner_database: Database, clock: FixedClock
) -> None:
    told = await by_key(account)
    await record(account, "/tax-payments", payment(paid, agency="IRS", account_type="estimated-tax",
                 state_code=None, period="2026-I3", paid_on="2026-09-14"))  # fmt: skip
    async with owner_database.transaction(None) as session:
        employer = await session.get_one(Employer, UUID(paid["id"]))
        actor = Actor.operator(employer.organization_id, sandbox=False, request_id="req_ledger")
        await mark_duty(session, actor, clock, employer, key=Q3, done_on=date(2026, 10, 28))
        irs, edd = await balances_of_household(session, actor, clock, employer)
    federal = round(100 * sum(item["amount"] or 0 for key, item in told.items() if key.startswith("US/est")))
    assert (irs.agency.name, irs.owed, irs.paid, irs.keep_aside) == ("IRS", federal, 1050, federal - 1050)
    fourth = round(100 * told["CA/wages-quarterly/2026-Q4"]["amount"])
    assert (edd.keep_aside, edd.late, edd.next_due) == (fourth, 0, date(2027, 2, 1))


async def test_the_worker_reads_what_its_reminders_need_and_writes_nothing(
    account: Account, paid: dict[str, Any], worker_database: Database
) -> None:
    await record(account, "/tax-payments", payment(paid))
    async with worker_database.transaction(None) as session:
        assert await session.scalar(text("SELECT amount FROM tax_payments")) == 1050
    for statement in (
        "SELECT confirmation FROM tax_payments",
        "SELECT actor_id FROM filings",
        "UPDATE tax_payments SET amount = 1",
        "DELETE FROM filings",
    ):
        with pytest.raises(Exception, match="permission denied"):
            async with worker_database.transaction(None) as session:
                await session.execute(text(statement))
